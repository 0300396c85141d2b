//! The minimal agent with one of endturn's features in use, for what that feature costs.
//!
//! `--log=off` and `--log=info` install a subscriber for its events, `--blocking` runs turns in blocking handlers.

use std::{
    error::Error,
    io,
    sync::atomic::{AtomicU64, Ordering},
};

use bench_script::Step;
use endturn::{
    Agent, HandlerResult, PromptContext, blocking,
    schema::v1::{ContentBlock, NewSessionResponse, PromptRequest, PromptResponse, StopReason},
    transport,
};
use tracing_subscriber::EnvFilter;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let argument = std::env::args().nth(1).unwrap_or_default();
    if let Some(level) = argument.strip_prefix("--log=") {
        tracing_subscriber::fmt()
            .with_env_filter(EnvFilter::new(level))
            .with_writer(io::stderr)
            .init();
    }
    let sessions = AtomicU64::new(0);
    let agent = Agent::builder().on_new_session(move |_request, _cx| {
        let number = sessions.fetch_add(1, Ordering::Relaxed) + 1;
        async move { Ok(NewSessionResponse::new(format!("session-{number}"))) }
    });
    let agent = if argument == "--blocking" {
        agent.on_prompt_blocking(blocking_prompt)
    } else {
        agent.on_prompt(prompt)
    };
    agent.build().serve(transport::stdio()?).await?;
    Ok(())
}

/// The text, which is all that these jobs send.
fn text(request: &PromptRequest) -> &str {
    match request.prompt.first() {
        Some(ContentBlock::Text(text)) => &text.text,
        Some(_) | None => "",
    }
}

async fn prompt(request: PromptRequest, cx: PromptContext) -> HandlerResult<PromptResponse> {
    for step in bench_script::steps(text(&request)) {
        match step {
            Step::Say(text) => cx.send_message(text).await?,
            Step::Flood { count, bytes } => {
                let text = "x".repeat(bytes);
                for _ in 0..count {
                    if cx.is_cancelled() {
                        break;
                    }
                    cx.send_message(text.as_str()).await?;
                }
            }
            Step::Wait => cx.cancelled().await,
            Step::Steps { .. } | Step::End => {}
        }
    }
    Ok(PromptResponse::new(StopReason::EndTurn))
}

fn blocking_prompt(
    request: PromptRequest,
    cx: blocking::PromptContext,
) -> HandlerResult<PromptResponse> {
    for step in bench_script::steps(text(&request)) {
        match step {
            Step::Say(text) => cx.send_message(text)?,
            Step::Flood { count, bytes } => {
                let text = "x".repeat(bytes);
                for _ in 0..count {
                    if cx.is_cancelled() {
                        break;
                    }
                    cx.send_message(text.as_str())?;
                }
            }
            Step::Wait => cx.cancelled(),
            Step::Steps { .. } | Step::End => {}
        }
    }
    Ok(PromptResponse::new(StopReason::EndTurn))
}
