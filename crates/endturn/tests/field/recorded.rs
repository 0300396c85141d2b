//! Recorded conversations, played against both ends; each test is named after its recording.

use endturn::schema::v1::StopReason;
use serde_json::json;

use crate::{
    replay::{Transcript, against_agent, against_client, answers, updates},
    support::stopped,
};

/// The recording of this name.
macro_rules! transcript {
    ($name:literal, $class:literal) => {
        Transcript::read(
            include_str!(concat!("transcripts/", $name, ".jsonl")),
            $class,
        )
    };
}

#[tokio::test(start_paused = true)]
async fn t01_cancel_answered_end_turn() {
    let recording = transcript!("01-cancel-answered-end_turn", "C05");
    let heard = against_agent(&recording, None).await;
    assert_eq!(updates(&heard), [(900, "tool_call")]);
    assert_eq!(answers(&heard), [(5026, stopped(3, "cancelled"))]);

    // What the agent says is what the caller gets, though it is wrong.
    let played = against_client(&recording).await;
    let [turn] = &played.prompts[..] else {
        panic!("one prompt")
    };
    assert_eq!(
        turn.answer.as_ref().unwrap().stop_reason,
        StopReason::EndTurn
    );
    assert_eq!(
        (turn.at, &turn.seen[..]),
        (5026, &["tool_call".to_owned()][..])
    );
}

#[tokio::test(start_paused = true)]
async fn t03_cancel_answered_32800() {
    let recording = transcript!("03-cancel-answered-32800", "C06");
    let heard = against_agent(&recording, None).await;
    assert_eq!(heard, [(1010, stopped(5, "cancelled"))]);

    let played = against_client(&recording).await;
    let error = played.prompts[0].answer.as_ref().unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    assert_eq!(error.code(), Some(-32800));
    assert_eq!(played.prompts[0].at, 1010);
}

#[tokio::test(start_paused = true)]
async fn t05_answer_withheld_until_cancel() {
    let recording = transcript!("05-answer-withheld-until-cancel", "C07");
    // The work was done with the last update; what followed was the fault.
    let heard = against_agent(&recording, Some((1600, StopReason::EndTurn))).await;
    assert_eq!(
        updates(&heard),
        [
            (400, "usage_update"),
            (1500, "agent_message_chunk"),
            (1510, "agent_message_chunk"),
            (1520, "agent_message_chunk"),
            (1600, "usage_update"),
        ]
    );
    // Nobody has to press Stop for the answer, and a Stop that comes later changes nothing.
    assert_eq!(answers(&heard), [(1600, stopped(147, "end_turn"))]);

    let played = against_client(&recording).await;
    let turn = &played.prompts[0];
    assert_eq!(
        turn.answer.as_ref().unwrap().stop_reason,
        StopReason::Cancelled
    );
    assert_eq!(turn.at, 13650);
    let expected = ["usage_update", "", "Retur", "ning.", "usage_update"];
    assert_eq!(turn.seen, expected);
}

#[tokio::test(start_paused = true)]
async fn t07_second_prompt_rejected_32600() {
    let recording = transcript!("07-second-prompt-rejected-32600", "C10");
    let heard = against_agent(&recording, None).await;
    assert_eq!(updates(&heard), [(5312, "tool_call")]);
    let answers = answers(&heard);
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert_eq!((answers[0].0, &answers[0].1["id"]), (5371, &json!(2)));
    assert_eq!(answers[0].1["error"]["code"], -32600);
    assert_eq!(answers[1], (19949, stopped(1, "end_turn")));

    let played = against_client(&recording).await;
    let [first, second] = &played.prompts[..] else {
        panic!("two prompts")
    };
    assert!(second.answer.as_ref().unwrap_err().is_busy());
    assert_eq!(second.at, 5371);
    assert_eq!(
        first.answer.as_ref().unwrap().stop_reason,
        StopReason::EndTurn
    );
    assert_eq!(
        (first.at, &first.seen[..]),
        (19949, &["tool_call".to_owned()][..])
    );
}

#[tokio::test(start_paused = true)]
async fn t08_cancel_overtakes_prompt() {
    let recording = transcript!("08-cancel-overtakes-prompt", "C02");
    let heard = against_agent(&recording, None).await;
    // The second cancel found no turn, so the prompt behind it runs to its end.
    assert_eq!(
        answers(&heard),
        [
            (700, stopped(1, "cancelled")),
            (9000, stopped(2, "end_turn"))
        ]
    );
    assert_eq!(updates(&heard), [(1500, "agent_message_chunk")]);

    // And it was not sent at all: that is looked at while the recording plays.
    let played = against_client(&recording).await;
    let [first, second] = &played.prompts[..] else {
        panic!("two prompts")
    };
    assert_eq!(
        first.answer.as_ref().unwrap().stop_reason,
        StopReason::Cancelled
    );
    assert_eq!((first.at, first.seen.len()), (700, 0));
    assert_eq!(
        second.answer.as_ref().unwrap().stop_reason,
        StopReason::EndTurn
    );
    assert_eq!(
        (second.at, &second.seen[..]),
        (9000, &["..".to_owned()][..])
    );
}

#[tokio::test(start_paused = true)]
async fn t09_updates_after_end_turn() {
    let recording = transcript!("09-updates-after-end_turn", "C13");
    let heard = against_agent(&recording, None).await;
    assert_eq!(updates(&heard), [(2000, "agent_message_chunk")]);
    assert_eq!(heard.last(), Some(&(2400, stopped(4, "end_turn"))));

    // The client's turn ends with its answer; what follows is the session's, and is shown.
    let played = against_client(&recording).await;
    let turn = &played.prompts[0];
    assert_eq!(
        turn.answer.as_ref().unwrap().stop_reason,
        StopReason::EndTurn
    );
    assert_eq!((turn.at, &turn.seen[..]), (2400, &["I'll".to_owned()][..]));
    let all = [
        "I'll",
        "tool_call",
        "tool_call_update",
        "Done.",
        "of the next turn",
    ];
    assert_eq!(played.seen, all);
}

#[tokio::test(start_paused = true)]
async fn t12_usage_update_null() {
    let recording = transcript!("12-usage_update-null", "W7");
    // An agent of this SDK cannot say it: its updates have types.
    let heard = against_agent(&recording, None).await;
    assert_eq!(updates(&heard), [(900, "agent_message_chunk")]);
    assert_eq!(answers(&heard), [(950, stopped(2, "end_turn"))]);

    let played = against_client(&recording).await;
    let turn = &played.prompts[0];
    assert_eq!(
        turn.answer.as_ref().unwrap().stop_reason,
        StopReason::EndTurn
    );
    assert_eq!((turn.at, &turn.seen[..]), (950, &["hi".to_owned()][..]));
}

#[tokio::test(start_paused = true)]
async fn t14_stdout_text_and_string_protocol_version() {
    let recording = transcript!("14-stdout-text-and-string-protocolVersion", "W1");
    let heard = against_agent(&recording, None).await;
    let [(at, answer)] = &heard[..] else {
        panic!("one answer: {heard:?}")
    };
    assert_eq!((at, &answer["id"]), (&0, &json!(1)));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");

    let played = against_client(&recording).await;
    assert_eq!(played.stray, ["Loaded cached credentials."]);
    let error = played.requests[0].as_ref().unwrap_err();
    assert_eq!(error.code(), Some(-32602));
}
