//! Clients that break the contract.

use super::BadTrace;

pub(super) fn traces() -> Vec<BadTrace> {
    let mut traces = cancels();
    traces.extend(given_up());
    traces.extend(other_calls());
    traces
}

fn cancels() -> Vec<BadTrace> {
    vec![
        BadTrace::new(
            "signal",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             5 c signals prompt-1
           - 5 c --> cancel s
             9 c <-- stopped prompt-1 end_turn
             9 c returned prompt-1 end_turn",
        ),
        BadTrace::new(
            "signal",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             9 c <-- stopped prompt-1 cancelled
           - 9 c returned prompt-1 cancelled
           + 9 c returned prompt-1 end_turn",
        )
        .by_order_only(),
        BadTrace::new(
            "one-cancel",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             5 c signals prompt-1
             5 c --> cancel s
             6 c cancels s
           + 6 c --> cancel s
             9 c <-- stopped prompt-1 cancelled
             9 c returned prompt-1 cancelled",
        )
        .by_order_only(),
        BadTrace::new(
            "one-cancel",
            "0 c calls prompt-1 s
             0 c signals prompt-1
           + 0 c --> cancel s
             0 c --> prompt-1 s
           - 0 c --> cancel s
             9 c <-- stopped prompt-1 cancelled
             9 c returned prompt-1 cancelled",
        )
        .by_order_only(),
        BadTrace::new(
            "one-cancel",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             4 c <-- stopped prompt-1 end_turn
             4 c returned prompt-1 end_turn
             5 c signals prompt-1
           + 5 c --> cancel s",
        ),
        BadTrace::new(
            "permissions",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             1 c <-- ask-1.0 s
             1 c begins ask-1.0
             5 c signals prompt-1
             5 c --> cancel s
           - 5 c --> chosen ask-1.0 cancelled
           - 5 c gone ask-1.0
           + 6 c finishes ask-1.0 done
           + 6 c gone ask-1.0
           + 6 c --> chosen ask-1.0 selected
             9 c <-- stopped prompt-1 cancelled
             9 c returned prompt-1 cancelled",
        ),
        BadTrace::new(
            "permissions",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             5 c signals prompt-1
             5 c --> cancel s
             6 c <-- ask-1.0 s
           - 6 c --> chosen ask-1.0 cancelled
           + 6 c begins ask-1.0
           + 6 c finishes ask-1.0 done
           + 6 c gone ask-1.0
           + 6 c --> chosen ask-1.0 selected
             9 c <-- stopped prompt-1 cancelled
             9 c returned prompt-1 cancelled",
        )
        .by_order_only(),
        BadTrace::new(
            "answer-last",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             1 c <-- update 1.0.0 s
             1 c <-- stopped prompt-1 end_turn
             1 c begins update-1.0.0
           + 1 c returned prompt-1 end_turn
             7 c finishes update-1.0.0 done
           - 7 c returned prompt-1 end_turn",
        ),
        BadTrace::new(
            "answer-last",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             1 c <-- update 1.0.0 s
             1 c <-- stopped prompt-1 end_turn
           - 1 c begins update-1.0.0
           - 1 c finishes update-1.0.0 done
             1 c returned prompt-1 end_turn",
        )
        .by_order_only(),
    ]
}

fn given_up() -> Vec<BadTrace> {
    vec![
        BadTrace::new(
            "drop",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             5 c left prompt-1
           - 5 c --> withdraw prompt-1
             6 c <-- error prompt-1 -32800",
        ),
        BadTrace::new(
            "drop",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             5 c left prompt-1
             5 c --> withdraw prompt-1
           + 5 c --> withdraw prompt-1
             6 c <-- error prompt-1 -32800",
        )
        .by_order_only(),
        BadTrace::new(
            "prompt-timeout",
            "0 c calls prompt-1 s prompt 50
             0 c --> prompt-1 s
            50 c --> withdraw prompt-1
           - 50 c returned prompt-1 timed-out
           + 51 c returned prompt-1 timed-out",
        ),
        BadTrace::new(
            "prompt-timeout",
            "0 c calls prompt-1 s prompt 50
             0 c --> prompt-1 s
           - 50 c --> withdraw prompt-1
            50 c returned prompt-1 timed-out",
        ),
        BadTrace::new(
            "cancel-timeout",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
            10 c signals prompt-1
            10 c --> cancel s
           - 40 c --> withdraw prompt-1
           - 40 c returned prompt-1 cancel-timed-out
           + 60 c <-- stopped prompt-1 cancelled
           + 60 c returned prompt-1 cancelled",
        )
        .cancel_timeout(30),
        BadTrace::new(
            "quarantine",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             5 c left prompt-1
             5 c --> withdraw prompt-1
             6 c calls prompt-2 s
             6 c --> prompt-2 s
             7 c <-- update 1.0.0 s
           + 7 c begins update-1.0.0
           + 7 c finishes update-1.0.0 done
             8 c <-- error prompt-1 -32800
             9 c <-- stopped prompt-2 end_turn
             9 c returned prompt-2 end_turn",
        ),
        BadTrace::new(
            "one-turn",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             5 c calls prompt-2 s
           - 5 c returned prompt-2 busy
           + 5 c --> prompt-2 s
           + 6 c <-- error prompt-2 -32600
           + 6 c returned prompt-2 -32600
             9 c <-- stopped prompt-1 end_turn
             9 c returned prompt-1 end_turn",
        ),
        BadTrace::new(
            "settled",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
             5 c lost
           - 5 c returned prompt-1 lost",
        )
        .by_order_only(),
        BadTrace::new(
            "settled",
            "0 c calls new-1
             0 c --> new-1
             5 c lost
           - 5 c returned new-1 lost
           + 9 c returned new-1 lost",
        ),
    ]
}

fn other_calls() -> Vec<BadTrace> {
    vec![
        BadTrace::new(
            "request-timeout",
            "0 c calls new-1 s plain 50
             0 c --> new-1
           - 50 c --> withdraw new-1
           - 50 c returned new-1 timed-out
           + 60 c <-- done new-1
           + 60 c returned new-1 done",
        ),
        BadTrace::new(
            "give-up",
            "0 c calls new-1
             0 c --> new-1
             5 c left new-1
           - 5 c --> withdraw new-1",
        ),
        BadTrace::new(
            "give-up",
            "0 c calls new-1
             0 c --> new-1
             5 c left new-1
             5 c --> withdraw new-1
           + 5 c --> withdraw new-1",
        ),
        BadTrace::new(
            "keep-waiting",
            "0 c calls new-1
             0 c --> new-1
             5 c signals new-1
           - 5 c --> withdraw new-1
           - 6 c <-- error new-1 -32800
           - 6 c returned new-1 -32800
           + 6 c <-- done new-1
           + 6 c returned new-1 done",
        ),
        BadTrace::new(
            "ids",
            "0 a <-- new-1
             0 a begins new-1
             5 a finishes new-1 done
             5 a gone new-1
             5 a --> done new-1
           + 5 a --> done new-2",
        ),
    ]
}
