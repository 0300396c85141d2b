//! The prompts at a client, to the millisecond.

use super::{
    Court,
    facts::{Facts, Outgoing},
    race::{Moment, Race},
};
use crate::trace::{Event, Kind, Outcome};

/// A prompt that the client has sent.
pub(super) struct Prompt<'a> {
    pub(super) call: &'a Outgoing<'a>,
    /// What could end it, as the client sees it.
    pub(super) race: Race<End>,
    /// The `session/cancel` for it, on the wire.
    pub(super) cancel: Option<Moment>,
    /// When its caller has waited long enough after the cancel.
    pub(super) cancel_timeout: Option<u64>,
}

/// How a prompt ends at the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Answered,
    GivenUp,
    Lost,
}

pub(super) fn judge<'a>(
    court: &mut Court,
    facts: &'a Facts<'a>,
    cancel_timeout: u64,
) -> Vec<Prompt<'a>> {
    let mut prompts: Vec<Prompt<'a>> = Vec::new();
    for call in &facts.outgoing {
        if call.kind == Kind::Plain {
            continue;
        }
        let is_busy = matches!(call.returned, Some((_, Outcome::Busy)));
        admission(court, facts, call, &prompts);
        if !is_busy {
            prompts.push(Prompt::new(facts, call, cancel_timeout));
        }
    }
    for prompt in &prompts {
        prompt.cancelled(court, facts);
    }
    prompts
}

/// A session takes one prompt at a time, and the next as soon as that is answered or given up.
fn admission(court: &mut Court, facts: &Facts<'_>, call: &Outgoing<'_>, prompts: &[Prompt<'_>]) {
    if facts.is_lost_by(call.calls.at) {
        return;
    }
    let is_busy = matches!(call.returned, Some((at, Outcome::Busy)) if at.at == call.calls.at);
    let earlier = || {
        let prompts = prompts.iter();
        prompts.filter(|prompt| prompt.call.session == call.session)
    };
    let place = call.calls.place;
    if earlier().any(|prompt| prompt.race.is_open(call.calls)) {
        let kept = is_busy && call.wrote.is_none();
        court.require("one-turn", place, kept, || {
            format!("{} is sent to a session that has a prompt", call.label)
        });
    } else if earlier().all(|prompt| prompt.race.is_over(call.calls)) {
        court.require("one-turn", place, !is_busy, || {
            format!("{} finds its session busy, and it is free", call.label)
        });
    }
}

impl<'a> Prompt<'a> {
    fn new(facts: &Facts<'_>, call: &'a Outgoing<'a>, cancel_timeout: u64) -> Self {
        let mut race = Race::new();
        race.seen(call.answer.map(|(at, _)| at), End::Answered);
        race.seen(call.left, End::GivenUp);
        let limit = (call.limit > 0).then_some(call.calls.at + call.limit);
        race.timed(limit, End::GivenUp);
        race.timed(facts.lost.map(|lost| lost.at), End::Lost);

        let mut cancels = facts.notes("session/cancel", true);
        let cancel = cancels.find(|note| {
            let owner = facts.prompt_cancelled_by(note);
            owner.is_some_and(|owner| owner.label == call.label)
        });
        let cancel = cancel.map(|note| note.moment);
        let cancel_timeout = cancel
            .filter(|_| cancel_timeout > 0)
            .map(|cancel| cancel.at + cancel_timeout);
        race.timed(cancel_timeout, End::GivenUp);
        Self {
            call,
            race,
            cancel,
            cancel_timeout,
        }
    }

    /// Whoever wants the turn to stop has `session/cancel` sent in that instant, unless the turn is over.
    fn cancelled(&self, court: &mut Court, facts: &Facts<'_>) {
        let Outgoing {
            label,
            calls,
            session,
            ..
        } = self.call;
        let cancels = facts.events.iter().filter(|(at, event)| {
            at > calls && matches!(event, Event::Cancels { session: of } if of == session)
        });
        let cancels = cancels.map(|(at, _)| *at);
        let wanted = cancels.chain(self.call.signals).min();
        let place = self.cancel.unwrap_or(*calls).place;
        let sent = self.cancel.map(|at| at.at);
        match wanted.filter(|at| !self.race.is_over(*at)) {
            // A prompt may also end in the instant in which it is cancelled.
            Some(at) if self.race.at() == Some(at.at) => {
                court.require(
                    "signal",
                    place,
                    sent.is_none() || sent == Some(at.at),
                    || {
                        format!(
                            "{label} is cancelled at {at:?}, and session/cancel comes at {sent:?}"
                        )
                    },
                );
            }
            Some(at) => court.require("signal", place, sent == Some(at.at), || {
                format!("{label} is cancelled at {at:?}, and session/cancel comes at {sent:?}")
            }),
            None => court.require("one-cancel", place, sent.is_none(), || {
                format!(
                    "nobody cancelled {label} before its end, and session/cancel comes at {sent:?}"
                )
            }),
        }
    }
}
