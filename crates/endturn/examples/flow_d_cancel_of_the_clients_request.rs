//! Flow D: the client drops a prompt that it no longer wants to hear of, and `$/cancel_request` ends the turn at once.
//!
//! `cargo run -p endturn --example flow_d_cancel_of_the_clients_request`

mod flows;

use std::future;

use endturn::Client;

#[tokio::main(flavor = "current_thread")]
async fn main() -> flows::Result {
    flows::play(
        |agent| {
            agent.on_prompt(|_request, cx| async move {
                cx.send_message("Working...").await?;
                // The handler is dropped here.
                future::pending().await
            })
        },
        Client::builder(),
        async |flow| {
            let mut prompt = flow.client.prompt(flow.request(), None);
            tokio::select! {
                answer = &mut prompt => return Err(format!("too early: {answer:?}").into()),
                () = flow.first_update() => {}
            }
            flow.note("drop(prompt)");
            drop(prompt);
            // The client discards this answer. It is waited for here so that it stands in the trace.
            flow.prompt_answered().await;
            Ok(())
        },
    )
    .await
}
