//! Flow A: the user stops a turn with `session/cancel`, and still gets the agent's answer.
//!
//! `cargo run -p endturn --example flow_a_turn_cancel`

mod flows;

use endturn::{
    CancellationSignal, Client,
    schema::v1::{PromptResponse, StopReason},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> flows::Result {
    flows::play(
        |agent| {
            agent.on_prompt(|_request, cx| async move {
                cx.send_message("Working...").await?;
                cx.cancelled().await;
                // There may be something left to say.
                cx.send_message("Stopped half way.").await?;
                // The turn is answered `cancelled`, whatever stands here.
                Ok(PromptResponse::new(StopReason::EndTurn))
            })
        },
        Client::builder(),
        async |flow| {
            let stop = CancellationSignal::new();
            let answer = tokio::spawn(flow.client.prompt(flow.request(), &stop));
            flow.first_update().await;
            flow.note("stop.cancel()");
            stop.cancel();
            assert_eq!(answer.await??.stop_reason, StopReason::Cancelled);
            Ok(())
        },
    )
    .await
}
