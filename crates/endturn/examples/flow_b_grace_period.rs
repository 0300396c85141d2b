//! Flow B: a handler ignores `session/cancel`, so its turn is ended without it when the grace period has passed.
//!
//! `cargo run -p endturn --example flow_b_grace_period`

mod flows;

use std::{future, time::Duration};

use endturn::{CancellationSignal, Client, schema::v1::StopReason};

/// Much less than the default of 60 s, so that there is something to see.
const GRACE_PERIOD: Duration = Duration::from_millis(200);

#[tokio::main(flavor = "current_thread")]
async fn main() -> flows::Result {
    flows::play(
        |agent| {
            agent
                .cancel_grace_period(GRACE_PERIOD)
                .on_prompt(|_request, cx| async move {
                    cx.send_message("Working...").await?;
                    // Nothing in here looks at the context, so nothing ends it.
                    future::pending().await
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
            flow.note_wait("session/cancel", GRACE_PERIOD, "grace period");
            Ok(())
        },
    )
    .await
}
