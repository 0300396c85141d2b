//! A client without an async runtime that cancels a turn from another thread, after a second and a half.
//!
//! ```text
//! cargo run --example blocking_client
//! cargo run --example blocking_client -- my-agent --with arguments
//! ```

use std::{env, error::Error, io::Write as _, thread, time::Duration};

use endturn::{
    CancellationSignal,
    blocking::Client,
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionUpdate,
            TextContent,
        },
    },
    transport::AgentCommand,
};

fn main() -> Result<(), Box<dyn Error>> {
    let (agent, client) = Client::builder()
        .on_update(|notification, _client| show(&notification.update))
        .spawn(&agent_command())?;
    client.initialize(InitializeRequest::new(ProtocolVersion::V1))?;
    let session = client.new_session(NewSessionRequest::new(env::current_dir()?))?;

    // The turn runs on a thread of its own, with a signal that can stop it.
    let stop = CancellationSignal::new();
    let text = ContentBlock::Text(TextContent::new("Do a long task"));
    let request = PromptRequest::new(session.session_id, vec![text]);
    let answer = thread::scope(|threads| {
        let turn = threads.spawn(|| client.prompt(request, &stop));
        thread::sleep(Duration::from_millis(1500));
        stop.cancel();
        turn.join()
    });

    // The turn ends with its answer, not with the cancel.
    let response = answer.expect("a prompt does not panic on a thread")?;
    println!("\nStop reason: {:?}", response.stop_reason);

    drop(client);
    agent.stop()?;
    Ok(())
}

/// The command given as arguments, or the agent among the examples.
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
