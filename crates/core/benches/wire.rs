//! The steps that every incoming byte goes through: cutting lines, and telling what a line is.
//!
//! `cargo bench -p endturn-core`

use divan::{Bencher, black_box, counter::BytesCount};
use endturn_core::wire::{Lines, classify};

const PROMPT: &str = r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":"Explain this repository"}]}}"#;
const UPDATE: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}}}"#;
const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"session-1"}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"stopReason":"end_turn"}}"#;

fn main() {
    divan::main();
}

#[divan::bench(args = ["prompt", "update", "cancel", "answer"])]
fn classify_a_line(bencher: Bencher<'_, '_>, kind: &str) {
    let line = match kind {
        "prompt" => PROMPT,
        "update" => UPDATE,
        "cancel" => CANCEL,
        _ => ANSWER,
    };
    bencher.bench(|| classify(black_box(line.as_bytes())).is_ok());
}

#[divan::bench(args = [1, 300])]
fn cut_lines(bencher: Bencher<'_, '_>, count: usize) {
    let chunk = format!("{UPDATE}\n").repeat(count);
    let mut lines = Lines::new(usize::MAX);
    bencher
        .counter(BytesCount::new(chunk.len()))
        .bench_local(|| {
            lines.buffer().extend_from_slice(chunk.as_bytes());
            let mut cut = 0;
            while lines.next().is_some() {
                cut += 1;
            }
            assert_eq!(cut, count);
        });
}
