//! The turns at an agent, to the millisecond.

use super::{
    Court,
    facts::{Facts, Incoming, code, number, stop_reason},
    incoming,
    race::{Moment, Race},
};
use crate::{
    script::AgentLimits,
    trace::{Event, Finish},
};

/// A prompt that was taken.
pub(super) struct Turn<'a> {
    pub(super) request: &'a Incoming<'a>,
    /// What could end it.
    pub(super) race: Race<Cause>,
    pub(super) asked: Asked,
    /// Whether a cancel for its session came when there was no turn.
    idle_cancel: bool,
}

/// What ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Finished,
    RequestCancel,
    GracePeriod,
    MaxDuration,
    Lost,
}

/// Whether a turn was asked to stop before its end, when, and how.
#[derive(Debug, Clone, Copy)]
pub(super) enum Asked {
    No,
    /// At the same instant as its end, so that nobody can tell.
    Perhaps,
    Yes(Moment, By),
}

#[derive(Debug, Clone, Copy)]
pub(super) enum By {
    Cancel,
    Close,
    ShutDown,
}

/// A `session/close` that was taken.
struct Close<'a> {
    request: &'a Incoming<'a>,
    race: Race<incoming::Cause>,
}

pub(super) fn judge<'a>(
    court: &mut Court,
    facts: &'a Facts<'a>,
    limits: &AgentLimits,
) -> Vec<Turn<'a>> {
    let closes = facts.incoming.iter();
    let closes = closes.filter(|request| request.is_close() && !request.is_rejected());
    let closes: Vec<Close<'_>> = closes
        .map(|request| Close {
            request,
            race: incoming::race(facts, request),
        })
        .collect();
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for request in &facts.incoming {
        if facts.is_lost_by(request.read.at) {
            continue;
        }
        if facts.shuts_down.is_some_and(|down| down < request.read) {
            court.require(
                "shutdown",
                request.read.place,
                request.is_rejected(),
                || format!("{} is taken although the agent shuts down", request.label),
            );
        } else if request.is_prompt() {
            admission(court, request, &turns, &closes);
            if !request.is_rejected() {
                turns.push(Turn::new(facts, limits, request, &turns, &closes));
            }
        } else if !request.is_rejected() {
            incoming::judge(court, facts, request, &incoming::race(facts, request));
        }
    }
    for turn in &turns {
        turn.judge(court, facts, limits);
        signals(court, facts, turn);
    }
    for close in &closes {
        close_waits(court, close, &turns);
    }
    told_of_cancels(court, facts, &closes);
    shut_down(court, facts);
    turns
}

/// Whether a session takes a prompt.
fn admission(court: &mut Court, request: &Incoming<'_>, turns: &[Turn<'_>], closes: &[Close<'_>]) {
    let Incoming { label, read, .. } = request;
    let earlier = || {
        let turns = turns.iter();
        turns.filter(|turn| turn.request.session == request.session)
    };
    let closing = || {
        let closes = closes.iter();
        closes
            .filter(|close| close.request.session == request.session && close.request.read < *read)
    };
    if earlier().any(|turn| turn.race.is_open(*read)) {
        let (kept, answer) = (request.is_rejected(), request.answer());
        let session = answer.and_then(|(_, answer)| answer.pointer("/error/data/sessionId"));
        let named = session == Some(&request.session.into());
        let touched = request.begins.is_some();
        court.require("one-turn", read.place, kept && named && !touched, || {
            format!("{label} is a second turn of its session, or the refusal does not name it")
        });
    } else if closing().any(|close| close.race.is_open(*read)) {
        court.require("close-cancels", read.place, request.is_rejected(), || {
            format!("{label} is taken although its session is being closed")
        });
    } else if earlier().all(|turn| turn.race.is_over(*read))
        && closing().all(|close| close.race.is_over(*read))
    {
        let rule = match earlier().next() {
            Some(_) => "free-before-answer",
            None => "one-turn",
        };
        court.require(rule, read.place, !request.is_rejected(), || {
            format!("{label} finds a session busy that is free")
        });
    }
}

impl<'a> Turn<'a> {
    fn new(
        facts: &Facts<'_>,
        limits: &AgentLimits,
        request: &'a Incoming<'a>,
        earlier: &[Turn<'_>],
        closes: &[Close<'_>],
    ) -> Self {
        let mut race = Race::new();
        race.seen(request.finishes.map(|(at, _)| at), Cause::Finished);
        race.seen(request.cancelled, Cause::RequestCancel);
        let passes = |limit: u64, from: u64| (limit > 0).then_some(from + limit);
        let duration = passes(limits.max_duration, request.read.at);
        race.timed(duration, Cause::MaxDuration);
        race.timed(facts.lost.map(|lost| lost.at), Cause::Lost);

        let cancels = facts.notes("session/cancel", false);
        let cancels = cancels.filter(|note| note.session == request.session);
        let cancels: Vec<Moment> = cancels.map(|note| note.moment).collect();
        let first = cancels.iter().find(|at| **at > request.read);
        let closed = closes
            .iter()
            .map(|close| close.request)
            .find(|close| close.session == request.session && close.read > request.read);
        let asked = [
            first.map(|at| (*at, By::Cancel)),
            closed.map(|close| (close.read, By::Close)),
            facts.shuts_down.map(|at| (at, By::ShutDown)),
        ];
        let asked = asked.into_iter().flatten().min_by_key(|(at, _)| *at);
        let asked = match asked {
            Some((at, by)) if race.is_open(at) => Asked::Yes(at, by),
            Some((at, _)) if !race.is_over(at) => Asked::Perhaps,
            Some(_) | None => Asked::No,
        };
        if let Asked::Yes(at, _) = asked {
            race.timed(passes(limits.grace_period, at.at), Cause::GracePeriod);
        }
        let idle_cancel = cancels.iter().any(|at| {
            let mut turns = earlier.iter();
            *at < request.read
                && turns.all(|turn| {
                    turn.request.session != request.session
                        || turn.race.is_over(*at)
                        || *at < turn.request.read
                })
        });
        Self {
            request,
            race,
            asked,
            idle_cancel,
        }
    }

    fn judge(&self, court: &mut Court, facts: &Facts<'_>, limits: &AgentLimits) {
        let Incoming { label, read, .. } = self.request;
        let (Some(at), winners) = (self.race.at(), self.race.winners()) else {
            return;
        };
        if let (Asked::Yes(asked, _), Some((begins, knows))) = (self.asked, self.request.begins)
            && asked < begins
        {
            court.require("wire-order", begins.place, knows, || {
                format!("{label} begins behind its cancel and does not know of it")
            });
        }
        let rule = self.rule(winners[0]);
        if !winners.contains(&Cause::Finished)
            && let Some((begins, _)) = self.request.begins
        {
            let dropped = self.request.gone.is_some_and(|gone| gone.at == at);
            court.require(rule, begins.place, dropped, || {
                format!("the handler of {label} is not dropped at {at} ms")
            });
        }
        let Some((moment, answer)) = self.request.answer() else {
            let lost = winners.contains(&Cause::Lost) || facts.is_lost_by(at);
            let rule = if lost { "lost" } else { "always-answered" };
            court.require(rule, read.place, lost, || {
                format!("{label} is not answered, it ended at {at} ms")
            });
            return;
        };
        court.require("always-answered", moment.place, true, String::new);
        court.require(rule, moment.place, moment.at == at, || {
            format!("{label} ended at {at} ms, by {winners:?}, and is answered later or sooner")
        });
        let fits = winners
            .iter()
            .any(|cause| self.fits(*cause, answer, limits));
        court.require(rule, moment.place, fits, || {
            format!("{label} ended by {winners:?}, and is answered otherwise")
        });
    }

    /// The rule that says how a turn is answered that ended so.
    fn rule(&self, cause: Cause) -> &'static str {
        match cause {
            Cause::RequestCancel => "request-cancel",
            Cause::GracePeriod => "grace-period",
            Cause::MaxDuration => "max-duration",
            Cause::Lost => "lost",
            Cause::Finished => match (self.asked, self.request.finishes) {
                (Asked::Yes(_, By::Close), _) => "close-cancels",
                (Asked::Yes(_, By::ShutDown), _) => "shutdown",
                (Asked::Yes(at, By::Cancel), _)
                    if self.request.begins.is_some_and(|(begins, _)| at < begins) =>
                {
                    "wire-order"
                }
                (Asked::Yes(_, By::Cancel) | Asked::Perhaps, _) => "cancelled-answer",
                (Asked::No, Some((_, Finish::Panics))) => "panic",
                (Asked::No, _) if self.idle_cancel => "idle-cancel",
                (Asked::No, _) => "one-answer",
            },
        }
    }

    /// Whether an answer is the one for a turn that ended so.
    fn fits(&self, cause: Cause, answer: &serde_json::Value, limits: &AgentLimits) -> bool {
        let finish = self.request.finishes.map(|(_, finish)| finish);
        let keeps_meta = || {
            let kept = answer.pointer("/result/_meta/call");
            !matches!(finish, Some(Finish::Returns(_))) || kept == Some(&self.request.label.into())
        };
        let cancelled = stop_reason(answer) == Some("cancelled");
        let own = match (cause, finish) {
            (Cause::Finished, Some(Finish::Returns(reason))) => {
                stop_reason(answer) == Some(reason) && keeps_meta()
            }
            (Cause::Finished, Some(Finish::Refuses(error))) => code(answer) == Some(*error),
            (Cause::Finished, Some(Finish::Fails | Finish::Panics) | None) => {
                code(answer) == Some(-32603)
            }
            (Cause::RequestCancel, _) => {
                code(answer) == Some(-32800) && answer.pointer("/error/data").is_none()
            }
            (Cause::MaxDuration, _) => {
                let limit = answer.pointer("/error/data/maxPromptDuration");
                let limit = limit.and_then(|limit| milliseconds(limit.as_str()?));
                code(answer) == Some(-32800) && limit == Some(limits.max_duration)
            }
            (Cause::GracePeriod, _) => false,
            // What ended in the instant of the loss may have ended by anything.
            (Cause::Lost, _) => false,
        };
        let asked = cancelled && (cause != Cause::Finished || keeps_meta());
        match self.asked {
            Asked::No => own,
            Asked::Perhaps => own || asked,
            Asked::Yes(..) => asked,
        }
    }
}

/// A duration such as `PT0.05S`; scripts know no longer ones.
fn milliseconds(iso: &str) -> Option<u64> {
    let seconds = iso.strip_prefix("PT")?.strip_suffix('S')?;
    let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, ""));
    let fraction: u64 = format!("{fraction:0<3}").parse().ok()?;
    Some(whole.parse::<u64>().ok()? * 1000 + fraction)
}

/// Whoever waits for a cancel is told in the same instant, and every callback is called once.
fn signals(court: &mut Court, facts: &Facts<'_>, turn: &Turn<'_>) {
    let label = turn.request.label;
    let end = turn.race.at().unwrap_or(u64::MAX);
    let asked = match turn.asked {
        Asked::Yes(at, _) => Some(at),
        Asked::No | Asked::Perhaps => None,
    };
    let is_interrupted = !turn.race.winners().contains(&Cause::Finished);
    for (moment, event) in &facts.events {
        if let Event::Waits { turn: waits } = event
            && waits == label
            && let Some(asked) = asked
        {
            let due = asked.at.max(moment.at);
            let noticed = facts.events.iter().any(|(at, event)| {
                at.at == due
                    && at > moment
                    && matches!(event, Event::Notices { turn, .. } if turn == label)
            });
            court.require("cancel-signal", moment.place, noticed || due == end, || {
                format!("{label} waits for a cancel and is not told at {due} ms")
            });
        } else if let Event::Notices {
            turn: noticed,
            cause,
        } = event
            && noticed == label
        {
            let known = asked.is_some_and(|asked| asked < *moment) || end == moment.at;
            court.require("cancel-signal", moment.place, known, || {
                format!("{label} is told of {cause}, which did not happen")
            });
        } else if let Event::Registers {
            turn: registers,
            callback: which,
        } = event
            && registers == label
        {
            let calls = facts.events.iter().filter(|(_, event)| {
                matches!(event, Event::Called { turn, callback } if turn == label && callback == which)
            });
            let calls: Vec<u64> = calls.map(|(at, _)| at.at).collect();
            let due = match asked {
                Some(asked) => vec![asked.at.max(moment.at)],
                None if is_interrupted => vec![end],
                None => Vec::new(),
            };
            // When it coincides with the end, nobody can tell which was first.
            let unclear = matches!(turn.asked, Asked::Perhaps) || turn.race.winners().len() > 1;
            let kept = calls == due || (unclear && calls.len() <= 1);
            court.require("cancel-signal", moment.place, kept, || {
                format!("callback {which} of {label} is called at {calls:?}, not at {due:?}")
            });
        }
    }
}

/// The close handler runs when the turn has ended.
fn close_waits(court: &mut Court, close: &Close<'_>, turns: &[Turn<'_>]) {
    let Incoming { label, read, .. } = close.request;
    let open = turns.iter().filter(|turn| {
        turn.request.session == close.request.session
            && turn.request.read < *read
            && turn.race.is_open(*read)
    });
    for turn in open {
        if let (Some((begins, _)), Some(end)) = (close.request.begins, turn.race.at()) {
            court.require("close-cancels", begins.place, begins.at >= end, || {
                format!(
                    "{label} is handled while {} runs",
                    number(turn.request.label)
                )
            });
        }
    }
}

/// The agent's own handler is told of every cancel and every close.
fn told_of_cancels(court: &mut Court, facts: &Facts<'_>, closes: &[Close<'_>]) {
    let before_end = |at: &Moment| !facts.is_lost_by(at.at);
    let read = facts.notes("session/cancel", false).map(|note| note.moment);
    let closed = closes.iter().map(|close| close.request.read);
    let causes: Vec<Moment> = read.chain(closed).filter(before_end).collect();
    let told = facts
        .events
        .iter()
        .filter(|(at, event)| before_end(at) && matches!(event, Event::ToldOfCancel { .. }));
    let told = told.count();
    if let Some(last) = causes.last() {
        court.require("cancel-handler", last.place, told == causes.len(), || {
            format!(
                "the cancel handler ran {told} times for {} cancels",
                causes.len()
            )
        });
    }
}

/// An agent that shuts down answers what it has taken before it goes.
fn shut_down(court: &mut Court, facts: &Facts<'_>) {
    let Some(down) = facts.shuts_down else {
        return;
    };
    let mut events = facts.events.iter();
    let ends = events.find(|(_, event)| matches!(event, Event::Lost | Event::Served));
    if let Some((served, Event::Served)) = ends {
        let taken = facts.incoming.iter();
        let mut taken = taken.filter(|request| request.read < down);
        let kept = taken.all(|request| request.answer().is_some_and(|(at, _)| at < *served));
        court.require("shutdown", served.place, kept, || {
            "the agent goes and leaves a request without an answer".to_owned()
        });
    }
}
