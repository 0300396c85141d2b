//! Calls at the end that makes them, to the millisecond: what their callers are told, and when the peer is told to stop.

use super::{
    Court,
    agent::{Asked, Turn},
    client::Prompt,
    facts::{Facts, Outgoing, number, outcome, turn_of},
    race::{Moment, Race},
};
use crate::trace::{End, Kind, Outcome};

/// What happens to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    Answered,
    Lost,
    /// The caller dropped it.
    Left,
    TimedOut,
    CancelTimedOut,
    /// Its own signal was cancelled, and the caller waits on.
    Signalled,
    /// The turn in whose handler it was made was cancelled, and the handler waits on.
    TurnCancelled,
    TurnOver,
}

impl Cause {
    /// Whether it ends the call without a word to the peer.
    fn is_silent(self) -> bool {
        matches!(self, Self::Answered | Self::Lost)
    }

    /// Whether the caller goes on waiting.
    fn waits_on(self) -> bool {
        matches!(self, Self::Signalled | Self::TurnCancelled)
    }

    fn rule(self, end: End, kind: Kind) -> &'static str {
        match (self, kind, end) {
            (Self::Answered, Kind::Plain, _) => "always-answered",
            (Self::Answered, Kind::Prompt | Kind::Detached, _) => "answer-last",
            (Self::Lost, _, End::Agent) => "lost",
            (Self::Lost, _, End::Client) => "settled",
            (Self::Left, Kind::Plain, _) => "give-up",
            (Self::Left, Kind::Prompt | Kind::Detached, _) => "drop",
            (Self::TimedOut, Kind::Plain, _) => "request-timeout",
            (Self::TimedOut, Kind::Prompt | Kind::Detached, _) => "prompt-timeout",
            (Self::CancelTimedOut, _, _) => "cancel-timeout",
            (Self::Signalled, _, _) => "keep-waiting",
            (Self::TurnCancelled | Self::TurnOver, _, _) => "nested",
        }
    }
}

pub(super) fn judge_agent(court: &mut Court, facts: &Facts<'_>, turns: &[Turn<'_>], cascade: bool) {
    for call in &facts.outgoing {
        let mut turns = turns.iter();
        let turn = turns.find(|turn| number(turn.request.label) == turn_of(call.label));
        // A turn that began in the instant of the loss is not judged.
        let Some(turn) = turn else {
            continue;
        };
        let mut causes = causes(facts, call);
        causes.settled_at(&turn.race, call.calls, Cause::TurnOver);
        match turn.asked {
            Asked::Yes(at, _) if cascade && call.calls < at => {
                causes.seen(Some(at), Cause::TurnCancelled);
            }
            Asked::Perhaps if cascade => causes.timed(turn.race.at(), Cause::TurnCancelled),
            Asked::Yes(..) | Asked::Perhaps | Asked::No => {}
        }
        judge_call(court, facts, call, &causes);
    }
}

pub(super) fn judge_client(court: &mut Court, facts: &Facts<'_>, prompts: &[Prompt<'_>]) {
    for call in &facts.outgoing {
        if matches!(call.returned, Some((_, Outcome::Busy))) {
            continue;
        }
        let mut causes = causes(facts, call);
        let mut prompts = prompts.iter();
        if let Some(prompt) = prompts.find(|prompt| prompt.call.label == call.label) {
            causes.timed(prompt.cancel_timeout, Cause::CancelTimedOut);
        }
        judge_call(court, facts, call, &causes);
    }
}

/// What can happen to any call.
fn causes(facts: &Facts<'_>, call: &Outgoing<'_>) -> Race<Cause> {
    let mut causes = Race::new();
    causes.seen(call.answer.map(|(at, _)| at), Cause::Answered);
    causes.seen(call.left, Cause::Left);
    let lost = facts.lost.map(|lost| lost.at.max(call.calls.at));
    causes.timed(lost, Cause::Lost);
    let limit = (call.limit > 0).then_some(call.calls.at + call.limit);
    causes.timed(limit, Cause::TimedOut);
    if call.kind == Kind::Plain {
        // The call's own task has to be polled first, so its place is not known.
        causes.timed(call.signals.map(|at| at.at), Cause::Signalled);
    }
    causes
}

fn judge_call(court: &mut Court, facts: &Facts<'_>, call: &Outgoing<'_>, causes: &Race<Cause>) {
    // An answer that follows a `$/cancel_request` cannot have come before the reason for that.
    let first = call.cancels.first();
    let follows = matches!((first, call.answer), (Some(cancel), Some((at, _))) if *cancel < at);
    let reasons = causes.without(|cause| follows && *cause == Cause::Answered);
    cancel_request(court, facts, call, &reasons);
    let waits_on = reasons.winners().iter().any(|cause| cause.waits_on());
    let ends = if waits_on { causes } else { &reasons };
    let ends = ends.without(|cause| cause.waits_on());
    let (Some(at), winners) = (ends.at(), ends.winners()) else {
        return;
    };
    if call.kind == Kind::Detached {
        return;
    }
    let rule = winners[0].rule(facts.end, call.kind);
    let Some((returned, got)) = call.returned else {
        // A caller that left before it was told is told nothing.
        court.require(rule, call.calls.place, call.left.is_some(), || {
            format!(
                "{} ended at {at} ms by {winners:?}, and does not return",
                call.label
            )
        });
        return;
    };
    let fits = winners.iter().any(|cause| match cause {
        Cause::Answered => {
            let answer = call.answer.map(|(_, answer)| outcome(answer));
            answer.as_ref() == Some(got) && returned.at == answer_due(facts, call, at)
        }
        Cause::Lost => *got == Outcome::Lost && returned.at == at,
        Cause::TimedOut => *got == Outcome::TimedOut && returned.at == at,
        Cause::CancelTimedOut => *got == Outcome::CancelTimedOut && returned.at == at,
        Cause::TurnOver => *got == Outcome::TurnOver && returned.at == at,
        Cause::Left | Cause::Signalled | Cause::TurnCancelled => false,
    });
    court.require(rule, returned.place, fits, || {
        format!(
            "{} ended at {at} ms by {winners:?}, and returns otherwise or not then",
            call.label
        )
    });
}

/// When an answer that came at this time reaches the caller: for a prompt, when the updates before it are handled.
fn answer_due(facts: &Facts<'_>, call: &Outgoing<'_>, at: u64) -> u64 {
    if call.kind == Kind::Plain {
        return at;
    }
    let answered = call.answer.map(|(answered, _)| answered);
    let updates = facts.notes("session/update", false);
    let updates =
        updates.filter(|note| note.session == call.session && Some(note.moment) < answered);
    let handled = updates.filter_map(|note| facts.handled(note.update));
    handled
        .map(|handled| handled.at)
        .max()
        .unwrap_or(at)
        .max(at)
}

/// One `$/cancel_request` at the first reason for one, and none without.
fn cancel_request(court: &mut Court, facts: &Facts<'_>, call: &Outgoing<'_>, causes: &Race<Cause>) {
    let cancels: Vec<u64> = call.cancels.iter().map(|cancel| cancel.at).collect();
    let place = call.cancels.first().unwrap_or(&call.calls).place;
    let (Some(at), winners) = (causes.at(), causes.winners()) else {
        return;
    };
    let rule = winners[0].rule(facts.end, call.kind);
    let silent = winners.iter().any(|cause| cause.is_silent());
    let loud = winners.iter().any(|cause| !cause.is_silent());
    let kept = (loud && call.wrote.is_some() && cancels == [at])
        || ((silent || call.wrote.is_none()) && cancels.is_empty());
    court.require(rule, place, kept, || {
        let reason = if loud {
            "at the first reason"
        } else {
            "without a reason"
        };
        let label = call.label;
        format!("{label}: {winners:?} at {at} ms, $/cancel_request at {cancels:?}, {reason}")
    });
}

impl Race<Cause> {
    /// Something that follows from the end of another race, but not before it exists itself.
    fn settled_at<C: Copy>(&mut self, other: &Race<C>, exists: Moment, cause: Cause) {
        if other.is_over(exists) {
            self.seen(Some(exists), cause);
        } else if let Some(end) = other.end() {
            self.seen(Some(end), cause);
        } else {
            self.timed(other.at(), cause);
        }
    }
}
