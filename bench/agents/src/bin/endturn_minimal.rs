//! An agent of a few lines on endturn, as its README shows one.
//!
//! `--multi` runs it on a multi-thread runtime, everything else on one thread.

use std::{
    error::Error,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use bench_script::Step;
use endturn::{
    Agent, HandlerResult, PromptContext,
    schema::v1::{ContentBlock, NewSessionResponse, PromptRequest, PromptResponse, StopReason},
    transport,
};

fn main() -> Result<(), Box<dyn Error>> {
    let mut runtime = if std::env::args().any(|argument| argument == "--multi") {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    runtime.enable_all().build()?.block_on(serve())
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let sessions = AtomicU64::new(0);
    let agent = Agent::builder()
        .on_new_session(move |_request, _cx| {
            let number = sessions.fetch_add(1, Ordering::Relaxed) + 1;
            async move { Ok(NewSessionResponse::new(format!("session-{number}"))) }
        })
        .on_prompt(prompt)
        .build();
    agent.serve(transport::stdio()?).await?;
    Ok(())
}

async fn prompt(request: PromptRequest, cx: PromptContext) -> HandlerResult<PromptResponse> {
    for block in &request.prompt {
        if let ContentBlock::Text(text) = block {
            for step in bench_script::steps(&text.text) {
                run(step, &cx).await?;
            }
        }
    }
    Ok(PromptResponse::new(StopReason::EndTurn))
}

async fn run(step: Step<'_>, cx: &PromptContext) -> HandlerResult<()> {
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
        Step::Steps { count, pause } => steps(count, pause, cx).await?,
        Step::Wait => cx.cancelled().await,
        Step::End => {}
    }
    Ok(())
}

async fn steps(count: u64, pause: Duration, cx: &PromptContext) -> HandlerResult<()> {
    for step in 1..=count {
        if cx.is_cancelled() {
            break;
        }
        cx.send_message(format!("Step {step}/{count}... ")).await?;
        tokio::time::sleep(pause).await;
    }
    Ok(())
}
