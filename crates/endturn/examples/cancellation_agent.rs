//! An agent whose handler looks between its steps whether it shall stop.
//!
//! `cargo run --example cancellation_client` starts it and cancels it; by itself it waits for a client on standard input.

use std::{error::Error, time::Duration};

use endturn::{
    Agent, HandlerResult, PromptContext,
    schema::v1::{Implementation, NewSessionResponse, PromptResponse, StopReason},
    transport,
};

const STEPS: u32 = 10;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = Agent::builder()
        .info(Implementation::new("cancellation_agent", "1.0.0"))
        .on_new_session(|_request, _cx| async { Ok(NewSessionResponse::new("session-1")) })
        .on_prompt(|_request, cx| long_task(cx))
        .build();
    agent.serve(transport::stdio()?).await?;
    Ok(())
}

async fn long_task(cx: PromptContext) -> HandlerResult<PromptResponse> {
    for step in 1..=STEPS {
        if cx.is_cancelled() {
            // Nobody will look at the rest, so there is no point in doing it.
            cx.send_message(format!("[Cancelled at step {step}]"))
                .await?;
            break;
        }
        cx.send_message(format!("Step {step}/{STEPS}... ")).await?;
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    // A turn that was cancelled is answered `cancelled`, whatever stands here.
    Ok(PromptResponse::new(StopReason::EndTurn))
}
