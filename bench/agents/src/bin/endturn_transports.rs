//! A client and an agent on endturn, for what the way between them costs.
//!
//! `memory` has both in one task's reach, `process` starts the minimal agent as a child.
//! It prints the time of an empty turn (p50, in microseconds) and the updates per second of a flood.

use std::{error::Error, time::Instant};

use endturn::{
    Agent, Client,
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, InitializeRequest, NewSessionRequest, NewSessionResponse, PromptRequest,
            PromptResponse, SessionId, StopReason, TextContent,
        },
    },
    transport::{self, AgentCommand},
};

const TURNS: usize = 5_000;
const UPDATES: usize = 200_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("process") {
        let agent = std::env::current_exe()?.with_file_name("endturn_minimal");
        let (agent, transport) = AgentCommand::new(agent).spawn()?;
        measure(&connect(transport)).await?;
        agent.stop().await?;
        return Ok(());
    }
    let (near, far) = transport::memory();
    let agent = Agent::builder()
        .on_new_session(|_request, _cx| async { Ok(NewSessionResponse::new("session-1")) })
        .on_prompt(|request, cx| async move {
            if let Some(ContentBlock::Text(text)) = request.prompt.first()
                && text.text.starts_with("flood")
            {
                let text = "x".repeat(40);
                for _ in 0..UPDATES {
                    cx.send_message(text.as_str()).await?;
                }
            }
            Ok(PromptResponse::new(StopReason::EndTurn))
        })
        .build();
    tokio::spawn(async move { agent.serve(far).await });
    measure(&connect(near)).await
}

fn connect(transport: transport::Transport) -> Client {
    Client::builder()
        .on_update(|_notification, _client| async {})
        .connect(transport)
}

async fn measure(client: &Client) -> Result<(), Box<dyn Error>> {
    let initialize = InitializeRequest::new(ProtocolVersion::V1);
    client.initialize(initialize).await?;
    let session = client.new_session(NewSessionRequest::new("/work")).await?;
    let mut times = Vec::with_capacity(TURNS);
    for _ in 0..TURNS {
        let start = Instant::now();
        turn(client, &session.session_id, "end end_turn").await?;
        times.push(start.elapsed());
    }
    times.sort();
    let start = Instant::now();
    let flood = format!("flood {UPDATES} 40");
    turn(client, &session.session_id, &flood).await?;
    let rate = UPDATES as f64 / start.elapsed().as_secs_f64();
    println!("{} {rate}", times[TURNS / 2].as_secs_f64() * 1e6);
    Ok(())
}

async fn turn(client: &Client, session: &SessionId, script: &str) -> Result<(), endturn::Error> {
    let text = ContentBlock::Text(TextContent::new(script));
    let request = PromptRequest::new(session.clone(), vec![text]);
    client.prompt(request, None).await?;
    Ok(())
}
