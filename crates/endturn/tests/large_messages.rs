//! What a large message leaves behind on the heap.
//!
//! One test in a program of its own, because the allocator counts for all of it.

mod common;

use common::{client_of, prompt, stopped};
use endturn::{
    Agent,
    schema::v1::{PromptResponse, StopReason},
};
use peak_alloc::PeakAlloc;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

const MEBIBYTE: usize = 1024 * 1024;

#[tokio::test]
async fn what_a_large_message_has_needed_is_given_back() {
    let agent = Agent::builder()
        .on_prompt(|_, _| async { Ok(PromptResponse::new(StopReason::EndTurn)) })
        .build();
    let mut client = client_of(agent).await;
    for (size, kept) in [(MEBIBYTE, 2 * MEBIBYTE), (16 * MEBIBYTE, MEBIBYTE / 4)] {
        // The client's buffers have grown when the first small turn is over.
        client.send(prompt(1, "a", "small")).await;
        assert_eq!(client.receive().await, stopped(1, "end_turn"));
        let before = HEAP.current_usage();

        client.send(prompt(2, "a", &"x".repeat(size))).await;
        assert_eq!(client.receive().await, stopped(2, "end_turn"));
        // The agent reads on behind its answer only when it is asked something else.
        client.send(prompt(3, "a", "small")).await;
        assert_eq!(client.receive().await, stopped(3, "end_turn"));
        let after = HEAP.current_usage() - before.min(HEAP.current_usage());
        assert!(
            after <= kept + MEBIBYTE / 4,
            "{after} bytes are kept at once"
        );

        for id in 4..40 {
            client.send(prompt(id, "a", "small")).await;
            assert_eq!(client.receive().await, stopped(id, "end_turn"));
        }
        let after = HEAP.current_usage() - before.min(HEAP.current_usage());
        assert!(after <= MEBIBYTE / 4, "{after} bytes are kept for good");
    }
}
