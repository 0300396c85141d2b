//! What the five flows share: two processes, and a trace of what passes between them.
//!
//! Each flow is one program that is both ends.
//! Started by hand it is the client, and starts itself a second time as the agent.
//! Everything that passes between the two is recorded, and printed when the flow is over: line by line, and as a diagram.

#![allow(dead_code, reason = "each flow uses its part")]

mod diagram;
mod trace;

use std::{env, error::Error, time::Duration};

use endturn::{
    Agent, Client,
    agent::AgentBuilder,
    client::ClientBuilder,
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, InitializeRequest, NewSessionRequest, NewSessionResponse, PromptRequest,
            SessionId, TextContent,
        },
    },
    transport::{self, AgentCommand},
};

use diagram::diagram;
use trace::Trace;

pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// The argument that makes a flow's program the agent.
const AGENT: &str = "agent";

/// A session with the agent of this flow, from the client's side.
pub(crate) struct Flow {
    pub(crate) client: Client,
    session: SessionId,
    trace: Trace,
}

/// Plays a flow: starts the agent, has the client do its part, and shows what passed between the two.
pub(crate) async fn play(
    agent: impl FnOnce(AgentBuilder) -> AgentBuilder,
    client: ClientBuilder,
    script: impl AsyncFnOnce(&Flow) -> Result,
) -> Result {
    if env::args().nth(1).as_deref() == Some(AGENT) {
        let builder = Agent::builder()
            .on_new_session(|_request, _cx| async { Ok(NewSessionResponse::new("session-1")) });
        agent(builder).build().serve(transport::stdio()?).await?;
        return Ok(());
    }

    let (process, transport) = AgentCommand::new(env::current_exe()?).arg(AGENT).spawn()?;
    let trace = Trace::default();
    let client = client.connect(trace.record(transport));
    client
        .initialize(InitializeRequest::new(ProtocolVersion::V1))
        .await?;
    let session = client.new_session(NewSessionRequest::new("/")).await?;
    let flow = Flow {
        client,
        session: session.session_id,
        trace,
    };
    script(&flow).await?;
    let Flow { client, trace, .. } = flow;
    drop(client);
    let status = process.stop().await?;
    if !status.success() {
        return Err(format!("the agent ended with {status}").into());
    }

    let trace = trace.entries();
    for entry in &trace {
        println!("{entry}");
    }
    print!("\n{}", diagram(&trace));
    Ok(())
}

impl Flow {
    /// What every flow asks its agent for.
    pub(crate) fn request(&self) -> PromptRequest {
        let text = ContentBlock::Text(TextContent::new("Do a long task"));
        PromptRequest::new(self.session.clone(), vec![text])
    }

    /// Puts something that happens at the client into the trace, beside the messages.
    pub(crate) fn note(&self, text: &str) {
        self.trace.note(text);
    }

    /// Puts into the trace which time passed at the agent before its answer, after a message of the client.
    pub(crate) fn note_wait(&self, since: &str, limit: Duration, what: &str) {
        let text = format!("{what} of {limit:?} passes");
        assert!(self.trace.note_wait(since, limit, &text), "too early");
    }

    /// Waits until the agent's first update has passed.
    pub(crate) async fn first_update(&self) {
        self.trace.until("session/update").await;
    }

    /// Waits until the answer to the prompt has passed, also when nobody else waits for it any more.
    pub(crate) async fn prompt_answered(&self) {
        self.trace.until_answered("session/prompt").await;
    }
}
