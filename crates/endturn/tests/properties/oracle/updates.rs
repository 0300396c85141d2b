//! Updates at the agent: whoever sends one while the turn is open gets it through, and nobody else does.

use super::{
    Court,
    agent::{Asked, Turn},
    facts::{Facts, number, turn_of},
};
use crate::trace::Event;

pub(super) fn judge(court: &mut Court, facts: &Facts<'_>, turns: &[Turn<'_>]) {
    for (sends, event) in &facts.events {
        let Event::Sends { update } = event else {
            continue;
        };
        let mut turns = turns.iter();
        let turn = turns.find(|turn| number(turn.request.label) == turn_of(update));
        let Some(turn) = turn else {
            continue;
        };
        let was_sent = facts
            .events
            .iter()
            .any(|(_, event)| matches!(event, Event::Sent { update: sent } if sent == update));
        if turn.race.is_open(*sends) {
            let rule = match turn.asked {
                Asked::Yes(at, _) if at < *sends => "final-updates",
                Asked::Yes(..) | Asked::Perhaps | Asked::No => "update-order",
            };
            court.require(rule, sends.place, was_sent, || {
                format!("update {update} is refused, and its turn is open")
            });
        } else if turn.race.is_over(*sends) {
            court.require("late-update", sends.place, !was_sent, || {
                format!("update {update} is accepted, and its turn is over")
            });
        }
    }
}
