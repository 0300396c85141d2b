//! Agents that break the contract.

use super::BadTrace;

pub(super) fn traces() -> Vec<BadTrace> {
    let mut traces = turns();
    traces.extend(limits());
    traces.extend(updates_and_questions());
    traces.extend(ends());
    traces
}

fn turns() -> Vec<BadTrace> {
    vec![
        BadTrace::new(
            "one-turn",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             1 a <-- prompt-2 s
           - 1 a --> error prompt-2 -32600 sessionId s
           + 1 a begins prompt-2
           + 1 a finishes prompt-2 end_turn
           + 1 a gone prompt-2
           + 1 a --> stopped prompt-2 end_turn",
        ),
        BadTrace::new(
            "one-turn",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             1 a <-- prompt-2 t
           - 1 a begins prompt-2
           + 1 a --> error prompt-2 -32600 sessionId t",
        ),
        BadTrace::new(
            "wire-order",
            "0 a <-- prompt-1 s
             0 a <-- cancel s
             0 a told s
           - 0 a begins prompt-1 cancelled
           + 0 a begins prompt-1
             0 a finishes prompt-1 end_turn
             0 a gone prompt-1
             0 a --> stopped prompt-1 cancelled",
        ),
        BadTrace::new(
            "wire-order",
            "0 c calls prompt-1 s
             0 c --> prompt-1 s
           - 0 a <-- prompt-1 s
             1 c signals prompt-1
             1 c --> cancel s
             1 a <-- cancel s
           + 1 a <-- prompt-1 s
             1 a told s
             2 c <-- stopped prompt-1 cancelled
             2 c returned prompt-1 cancelled",
        ),
        BadTrace::new(
            "one-answer",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             5 a finishes prompt-1 end_turn
             5 a gone prompt-1
             5 a --> stopped prompt-1 end_turn
           + 5 a --> stopped prompt-1 end_turn",
        ),
        BadTrace::new(
            "one-answer",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             5 a finishes prompt-1 end_turn
             5 a gone prompt-1
           - 5 a --> stopped prompt-1 end_turn
           + 5 a --> stopped prompt-1 cancelled",
        ),
        BadTrace::new(
            "cancelled-answer",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             2 a <-- cancel s
             2 a told s
             5 a finishes prompt-1 end_turn
             5 a gone prompt-1
           - 5 a --> stopped prompt-1 cancelled
           + 5 a --> stopped prompt-1 end_turn",
        ),
        BadTrace::new(
            "cancelled-answer",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             2 a <-- cancel s
             2 a told s
             5 a finishes prompt-1 end_turn
             5 a gone prompt-1
           - 5 a --> stopped prompt-1 cancelled
           + 5 a --> stopped prompt-1 cancelled bare",
        ),
        BadTrace::new(
            "cancelled-answer",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             2 a notices prompt-1 SessionCancel
             2 a finishes prompt-1 fails
           - 5 a --> stopped prompt-1 cancelled
           + 5 a --> error prompt-1 -32603",
        )
        .by_order_only(),
        BadTrace::new(
            "cancel-signal",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             0 a waits prompt-1
             2 a <-- cancel s
             2 a told s
           - 2 a notices prompt-1 SessionCancel
           + 9 a notices prompt-1 SessionCancel",
        ),
        BadTrace::new(
            "cancel-signal",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             0 a registers prompt-1
             2 a <-- cancel s
             2 a called prompt-1
           + 2 a called prompt-1
             2 a told s",
        ),
        BadTrace::new(
            "cancel-handler",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             2 a <-- cancel s
             2 a told s
             3 a <-- cancel s
           - 3 a told s",
        ),
        BadTrace::new(
            "idle-cancel",
            "0 a <-- cancel s
             0 a told s
             1 a <-- prompt-1 s
             1 a begins prompt-1
             2 a finishes prompt-1 end_turn
             2 a gone prompt-1
           - 2 a --> stopped prompt-1 end_turn
           + 2 a --> stopped prompt-1 cancelled",
        ),
        BadTrace::new(
            "free-before-answer",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             0 a finishes prompt-1 end_turn
             0 a gone prompt-1
             0 a --> stopped prompt-1 end_turn
             0 a <-- prompt-2 s
           - 0 a begins prompt-2
           + 0 a --> error prompt-2 -32600 sessionId s",
        ),
        BadTrace::new(
            "panic",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             1 a finishes prompt-1 panics
             1 a gone prompt-1
           - 1 a --> error prompt-1 -32603
           + 1 a --> stopped prompt-1 end_turn",
        ),
        BadTrace::new(
            "always-answered",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             1 a finishes prompt-1 fails
             1 a gone prompt-1
           - 1 a --> error prompt-1 -32603",
        ),
    ]
}

fn limits() -> Vec<BadTrace> {
    vec![
        BadTrace::new(
            "grace-period",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
            20 a <-- cancel s
            20 a told s
           - 70 a gone prompt-1
           - 70 a --> stopped prompt-1 cancelled bare
           + 71 a gone prompt-1
           + 71 a --> stopped prompt-1 cancelled bare",
        )
        .grace_period(50),
        BadTrace::new(
            "grace-period",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
            20 a <-- cancel s
            20 a told s
            70 a --> stopped prompt-1 cancelled bare
           - 70 a gone prompt-1
           + 90 a gone prompt-1",
        )
        .grace_period(50),
        BadTrace::new(
            "max-duration",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
           - 50 a gone prompt-1
           - 50 a --> error prompt-1 -32800 maxPromptDuration PT0.05S
           + 50 a gone prompt-1
           + 50 a --> error prompt-1 -32800",
        )
        .max_duration(50),
        BadTrace::new(
            "max-duration",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
            20 a <-- cancel s
            20 a told s
            50 a gone prompt-1
           - 50 a --> stopped prompt-1 cancelled bare
           + 50 a --> error prompt-1 -32800 maxPromptDuration PT0.05S",
        )
        .max_duration(50),
        BadTrace::new(
            "request-cancel",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             5 a <-- withdraw prompt-1
           - 5 a --> error prompt-1 -32800
             5 a gone prompt-1
           + 9 a --> error prompt-1 -32800",
        ),
        BadTrace::new(
            "cancel-received",
            "0 a <-- new-1
             0 a begins new-1
             5 a <-- withdraw new-1
           - 5 a gone new-1
           - 5 a --> error new-1 -32800
           + 7 a finishes new-1 done
           + 7 a gone new-1
           + 7 a --> done new-1",
        ),
        BadTrace::new(
            "close-cancels",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             5 a <-- close-2 s
             5 a told s
           + 5 a begins close-2
           + 5 a finishes close-2 done
           + 5 a gone close-2
           + 5 a --> done close-2
             7 a finishes prompt-1 end_turn
             7 a gone prompt-1
             7 a --> stopped prompt-1 cancelled
           - 7 a begins close-2
           - 7 a finishes close-2 done
           - 7 a gone close-2
           - 7 a --> done close-2",
        ),
        BadTrace::new(
            "close-cancels",
            "0 a <-- close-1 s
             0 a told s
             0 a begins close-1
             5 a <-- prompt-2 s
           - 5 a --> error prompt-2 -32600 sessionId s
           + 5 a begins prompt-2",
        ),
    ]
}

fn updates_and_questions() -> Vec<BadTrace> {
    vec![
        BadTrace::new(
            "update-order",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             0 a sends 1.0.0
             0 a sent 1.0.0
             0 a sends 1.0.1
             0 a sent 1.0.1
           - 0 a --> update 1.0.0 s
             0 a --> update 1.0.1 s
           + 0 a --> update 1.0.0 s
             0 a finishes prompt-1 end_turn
             0 a gone prompt-1
             0 a --> stopped prompt-1 end_turn",
        )
        .by_order_only(),
        BadTrace::new(
            "update-order",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             0 a sends 1.0.0
             0 a sent 1.0.0
           - 0 a --> update 1.0.0 s
             0 a finishes prompt-1 end_turn
             0 a gone prompt-1
             0 a --> stopped prompt-1 end_turn",
        ),
        BadTrace::new(
            "late-update",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             0 a sends 1.0.0
             0 a sent 1.0.0
           - 0 a --> update 1.0.0 s
             0 a finishes prompt-1 end_turn
             0 a gone prompt-1
             0 a --> stopped prompt-1 end_turn
           + 0 a --> update 1.0.0 s",
        )
        .by_order_only(),
        BadTrace::new(
            "late-update",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             0 a finishes prompt-1 end_turn
             0 a gone prompt-1
             0 a sends 1.0.0
           - 0 a refused 1.0.0
           + 0 a sent 1.0.0
           + 0 a --> update 1.0.0 s
             0 a --> stopped prompt-1 end_turn",
        ),
        BadTrace::new(
            "final-updates",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             0 a <-- cancel s
             0 a told s
             3 a sends 1.0.0
           - 3 a sent 1.0.0
           - 3 a --> update 1.0.0 s
           + 3 a refused 1.0.0",
        ),
        BadTrace::new(
            "nested",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             1 a calls ask-1.0 s plain 0
             1 a --> ask-1.0 s
             5 a <-- cancel s
             5 a told s
           - 5 a --> withdraw ask-1.0
             6 a <-- chosen ask-1.0 cancelled
             6 a returned ask-1.0 done",
        ),
        BadTrace::new(
            "nested",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             1 a calls ask-1.0 s plain 0
             1 a --> ask-1.0 s
             5 a finishes prompt-1 end_turn
             5 a gone prompt-1
           - 5 a --> withdraw ask-1.0
             5 a --> stopped prompt-1 end_turn
           + 5 a --> withdraw ask-1.0
             5 a returned ask-1.0 turn-over",
        )
        .by_order_only(),
    ]
}

fn ends() -> Vec<BadTrace> {
    vec![
        BadTrace::new(
            "lost",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             5 a lost
           - 5 a gone prompt-1
             5 a served
           + 9 a gone prompt-1",
        ),
        BadTrace::new(
            "lost",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             5 a lost
             5 a gone prompt-1
           + 5 a --> stopped prompt-1 cancelled bare",
        ),
        BadTrace::new(
            "shutdown",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             5 a shuts-down
             6 a finishes prompt-1 end_turn
             6 a gone prompt-1
           - 6 a --> stopped prompt-1 cancelled
           + 6 a --> stopped prompt-1 end_turn
             6 a served",
        ),
        BadTrace::new(
            "shutdown",
            "0 a <-- prompt-1 s
             0 a begins prompt-1
             5 a shuts-down
             6 a <-- new-2
           - 6 a --> error new-2 -32600
           + 6 a begins new-2",
        ),
    ]
}
