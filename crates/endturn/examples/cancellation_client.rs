//! A client that cancels a turn from outside of it, after a second and a half.
//!
//! ```text
//! cargo run --example cancellation_client
//! cargo run --example cancellation_client -- my-agent --with arguments
//! ```

use std::{env, error::Error, io::Write as _, time::Duration};

use endturn::{
    CancellationSignal, Client,
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionUpdate,
            TextContent,
        },
    },
    transport::AgentCommand,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (agent, transport) = agent_command().spawn()?;
    let client = Client::builder()
        .on_update(|notification, _client| async move { show(&notification.update) })
        .connect(transport);
    client
        .initialize(InitializeRequest::new(ProtocolVersion::V1))
        .await?;
    let session = client
        .new_session(NewSessionRequest::new(env::current_dir()?))
        .await?;

    // The turn runs in the background, with a signal that can stop it.
    let stop = CancellationSignal::new();
    let text = ContentBlock::Text(TextContent::new("Do a long task"));
    let request = PromptRequest::new(session.session_id, vec![text]);
    let answer = tokio::spawn(client.prompt(request, &stop));

    tokio::time::sleep(Duration::from_millis(1500)).await;
    stop.cancel();

    // The turn ends with its answer, not with the cancel.
    let response = answer.await??;
    println!("\nStop reason: {:?}", response.stop_reason);

    drop(client);
    agent.stop().await?;
    Ok(())
}

/// The command given as arguments, or the other example.
fn agent_command() -> AgentCommand {
    let mut arguments = env::args_os().skip(1);
    match arguments.next() {
        Some(program) => AgentCommand::new(program).args(arguments),
        None => AgentCommand::new("cargo").args([
            "run",
            "--quiet",
            "--package",
            "endturn",
            "--example",
            "cancellation_agent",
        ]),
    }
}

fn show(update: &SessionUpdate) {
    if let SessionUpdate::AgentMessageChunk(chunk) = update
        && let ContentBlock::Text(text) = &chunk.content
    {
        print!("{}", text.text);
        // Nothing of this is worth waiting for a whole line.
        std::io::stdout().flush().ok();
    }
}
