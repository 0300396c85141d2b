//! Flow C: nobody cancels a turn, but it takes longer than the agent allows.
//!
//! `cargo run -p endturn --example flow_c_maximum_duration`

mod flows;

use std::{future, time::Duration};

use endturn::Client;

/// A real agent would allow hours; by default there is no limit.
const MAXIMUM_DURATION: Duration = Duration::from_millis(200);

#[tokio::main(flavor = "current_thread")]
async fn main() -> flows::Result {
    flows::play(
        |agent| {
            agent
                .max_prompt_duration(MAXIMUM_DURATION)
                .on_prompt(|_request, _cx| future::pending())
        },
        Client::builder(),
        async |flow| {
            let answer = flow.client.prompt(flow.request(), None).await;
            let error = answer.expect_err("a turn that is too long is an error");
            assert!(error.is_cancelled(), "{error}");
            flow.note_wait("session/prompt", MAXIMUM_DURATION, "maximum duration");
            Ok(())
        },
    )
    .await
}
