//! What holds under any interleaving: only causes and effects count here, and the order of the wire.

use std::collections::HashMap;

use super::{
    Court,
    facts::{Facts, Incoming, Note, Outgoing, code, number, outcome, stop_reason, turn_of},
    race::Moment,
};
use crate::trace::{End, Event, Kind, Outcome};

pub(super) fn judge(court: &mut Court, facts: &Facts<'_>) {
    requests(court, facts);
    match facts.end {
        End::Agent => {
            noticed_cancels(court, facts);
            updates(court, facts);
            sessions(court, facts);
            nested(court, facts);
        }
        End::Client => {
            cancels(court, facts);
            answers(court, facts);
            given_up(court, facts);
            questions(court, facts);
        }
    }
}

fn requests(court: &mut Court, facts: &Facts<'_>) {
    for (moment, line) in &facts.strays {
        court.require("ids", moment.place, false, || {
            format!("{line} is about no request that is open")
        });
    }
    for request in &facts.incoming {
        let answers = &request.answers;
        if let Some((first, _)) = answers.first() {
            court.require("ids", first.place, true, String::new);
            court.require("one-answer", first.place, answers.len() == 1, || {
                format!("{} is answered {} times", request.label, answers.len())
            });
        }
    }
    for call in &facts.outgoing {
        let rule = match (facts.end, call.kind) {
            (End::Agent, _) => "nested",
            (End::Client, Kind::Plain) => "give-up",
            (End::Client, Kind::Prompt | Kind::Detached) => "drop",
        };
        if let Some(second) = call.cancels.get(1) {
            court.require(rule, second.place, false, || {
                format!("{} is cancelled twice", call.label)
            });
        }
        let done = call.returned.is_some() || call.left.is_some();
        court.require(
            "settled",
            call.calls.place,
            done || call.is_detached(),
            || format!("{} never returns", call.label),
        );
    }
}

/// A handler that was told of a cancel has its turn answered as cancelled.
fn noticed_cancels(court: &mut Court, facts: &Facts<'_>) {
    for (moment, event) in &facts.events {
        let Event::Notices { turn, cause } = event else {
            continue;
        };
        let asked = ["SessionCancel", "SessionClose", "Shutdown", "GracePeriod"];
        let request = facts.prompts().find(|request| request.label == turn);
        let answer = request.and_then(Incoming::answer);
        if let Some((_, answer)) = answer.filter(|_| asked.contains(&cause.as_str())) {
            let kept = stop_reason(answer) == Some("cancelled");
            court.require("cancelled-answer", moment.place, kept, || {
                format!("{turn} knew that it was cancelled, and its answer is another")
            });
        }
    }
}

fn updates(court: &mut Court, facts: &Facts<'_>) {
    let mut latest: HashMap<&str, u32> = HashMap::new();
    let mut written: HashMap<&str, Moment> = HashMap::new();
    let turn = |update: &str| {
        let mut prompts = facts.prompts();
        prompts.find(|request| number(request.label) == turn_of(update))
    };
    for Note { moment, update, .. } in facts.notes("session/update", true) {
        let answered = turn(update).and_then(Incoming::answer);
        let late = answered.is_some_and(|(answer, _)| answer < *moment);
        court.require("late-update", moment.place, !late, || {
            format!("update {update} is behind the answer")
        });
        let (sender, place) = update.rsplit_once('.').unwrap_or_default();
        let place: u32 = place.parse().unwrap_or_default();
        let ordered = latest.insert(sender, place).is_none_or(|last| last < place);
        let once = written.insert(update, *moment).is_none();
        court.require("update-order", moment.place, ordered && once, || {
            format!("update {update} is not in order")
        });
    }
    for (moment, event) in &facts.events {
        let Event::Sent { update } = event else {
            continue;
        };
        let answered = turn(update).and_then(Incoming::answer);
        if let Some((answer, _)) = answered {
            let place = written.get(update.as_str());
            let kept = place.is_some_and(|place| *place < answer);
            court.require("update-order", moment.place, kept, || {
                format!("update {update} was accepted and is not before the answer")
            });
        }
    }
}

/// A session whose last answer can be read takes the next prompt, and a close is answered behind the turn it ended.
fn sessions(court: &mut Court, facts: &Facts<'_>) {
    for (place, request) in facts.incoming.iter().enumerate() {
        let of_session = |other: &&Incoming<'_>| {
            other.session == request.session && (other.is_prompt() || other.is_close())
        };
        let mut earlier = facts.incoming[..place].iter().filter(of_session);
        if request.is_prompt() && facts.shuts_down.is_none_or(|down| request.read < down) {
            let mut answers = earlier.clone().map(Incoming::answer);
            let free = answers.all(|answer| answer.is_some_and(|(at, _)| at < request.read));
            if free && earlier.next().is_some() {
                let kept = !request.is_rejected();
                court.require("free-before-answer", request.read.place, kept, || {
                    format!("{} finds its session busy", request.label)
                });
            }
        } else if request.is_close()
            && !request.is_rejected()
            && request.cancelled.is_none()
            && let Some((closed, _)) = request.answer()
        {
            for prompt in earlier.filter(|other| other.is_prompt()) {
                let kept = prompt.answer().is_some_and(|(at, _)| at < closed);
                court.require("close-cancels", closed.place, kept, || {
                    format!("{} is answered before {}", request.label, prompt.label)
                });
            }
        }
    }
}

/// No question outlives its turn.
fn nested(court: &mut Court, facts: &Facts<'_>) {
    for turn in facts.prompts() {
        let Some((answered, _)) = turn.answer() else {
            continue;
        };
        for call in facts.questions_of(turn.label) {
            let Some(wrote) = call.wrote else {
                continue;
            };
            court.require("nested", wrote.place, wrote < answered, || {
                format!("{} is asked behind its turn's answer", call.label)
            });
            if call.answer.is_none() {
                let withdrawn = call.cancels.first().is_some_and(|at| *at < answered);
                court.require("nested", answered.place, withdrawn, || {
                    format!("{} is open and its turn is over", call.label)
                });
            }
        }
    }
}

/// Every `session/cancel` belongs to a turn, was asked for, and is the only one.
fn cancels(court: &mut Court, facts: &Facts<'_>) {
    for note in facts.notes("session/cancel", true) {
        let owner = facts.prompt_cancelled_by(note);
        let asked = owner.is_some_and(|prompt| {
            facts.events.iter().any(|(moment, event)| {
                *moment < note.moment
                    && match prompt.stopped_by(event) {
                        Stop::Signal => true,
                        // It may have been called before the prompt was written.
                        Stop::Session => prompt.calls < *moment,
                        Stop::Nothing => false,
                    }
            })
        });
        court.require("one-cancel", note.moment.place, asked, || {
            "nobody asked for this cancel, or there is nothing to cancel".to_owned()
        });
        let mut others = facts.notes("session/cancel", true);
        let second = others.any(|other| {
            other.moment < note.moment
                && facts.prompt_cancelled_by(other).map(|prompt| prompt.calls)
                    == owner.map(|prompt| prompt.calls)
        });
        court.require("one-cancel", note.moment.place, !second, || {
            "the turn is cancelled twice".to_owned()
        });
    }
}

/// A prompt gives the agent's answer, behind the updates that came before it.
fn answers(court: &mut Court, facts: &Facts<'_>) {
    for prompt in facts
        .outgoing
        .iter()
        .filter(|call| call.kind == Kind::Prompt)
    {
        let Some((returned, got)) = prompt.returned else {
            continue;
        };
        let (Outcome::Answered(_) | Outcome::Error(_)) = got else {
            continue;
        };
        let Some((answered, answer)) = prompt.answer else {
            court.require("signal", returned.place, false, || {
                format!("{} returns an answer that never came", prompt.label)
            });
            continue;
        };
        court.require("signal", returned.place, outcome(answer) == *got, || {
            format!("{} does not give the agent's answer", prompt.label)
        });
        court.require("drop", returned.place, prompt.cancels.is_empty(), || {
            format!("{} gives an answer and was given up", prompt.label)
        });
        for note in facts.updates_of(prompt.label) {
            if note.moment < answered {
                let handled = facts.handled(note.update);
                let kept = handled.is_some_and(|handled| handled < returned);
                court.require("answer-last", returned.place, kept, || {
                    format!("update {} is not handled", note.update)
                });
            }
        }
    }
}

/// Nothing that comes for a turn that was given up is handled.
fn given_up(court: &mut Court, facts: &Facts<'_>) {
    for prompt in &facts.outgoing {
        let gone = prompt.left.or(prompt.timed_out());
        let Some(gone) = gone.filter(|_| prompt.kind == Kind::Prompt) else {
            continue;
        };
        for note in facts.updates_of(prompt.label) {
            if gone < note.moment {
                let kept = !facts.begun(note.update);
                court.require("quarantine", note.moment.place, kept, || {
                    format!("update {} is handled, its turn was given up", note.update)
                });
            }
        }
    }
}

/// A question that comes behind a cancel is answered without asking.
fn questions(court: &mut Court, facts: &Facts<'_>) {
    for note in facts.notes("session/cancel", true) {
        let Some(prompt) = facts.prompt_cancelled_by(note) else {
            continue;
        };
        for question in facts.questions(note.session) {
            let late = question.read < note.moment
                || prompt.answer.is_some_and(|(at, _)| at < question.read);
            if late {
                continue;
            }
            // If the caller has left too, it may be withdrawn before it is known whose it is.
            let given_up = prompt.left.or(prompt.timed_out()).is_some();
            let kept = question.begins.is_none()
                && question.answer().is_none_or(|(_, answer)| {
                    is_cancelled_outcome(answer) || (given_up && code(answer) == Some(-32800))
                });
            court.require("permissions", question.read.place, kept, || {
                format!("{} is asked although its turn is cancelled", question.label)
            });
        }
    }
}

pub(super) fn is_cancelled_outcome(answer: &serde_json::Value) -> bool {
    answer.pointer("/result/outcome/outcome") == Some(&"cancelled".into())
}

/// How an event stops a prompt.
enum Stop {
    Signal,
    Session,
    Nothing,
}

impl Outgoing<'_> {
    fn stopped_by(&self, event: &Event) -> Stop {
        if let Event::Signals { call } = event
            && call == self.label
        {
            return Stop::Signal;
        }
        if let Event::Cancels { session } = event
            && session == self.session
        {
            return Stop::Session;
        }
        Stop::Nothing
    }

    /// When its caller was told that there was no answer in time.
    fn timed_out(&self) -> Option<Moment> {
        let timed_out = self
            .returned
            .filter(|(_, outcome)| matches!(outcome, Outcome::TimedOut | Outcome::CancelTimedOut));
        timed_out.map(|(moment, _)| moment)
    }

    fn is_detached(&self) -> bool {
        self.kind == Kind::Detached
    }
}

impl<'a> Facts<'a> {
    pub(super) fn prompts(&self) -> impl Iterator<Item = &Incoming<'a>> {
        self.incoming.iter().filter(|request| request.is_prompt())
    }

    /// The permission requests of a session.
    pub(super) fn questions(&self, session: &str) -> impl Iterator<Item = &Incoming<'a>> {
        let all = self.incoming.iter();
        all.filter(move |request| {
            request.session == session && request.method == "session/request_permission"
        })
    }

    /// The prompt that a `session/cancel` is for: the last one before it on the wire.
    pub(super) fn prompt_cancelled_by(&self, note: &Note<'_>) -> Option<&Outgoing<'a>> {
        let prompts = self.outgoing.iter().filter(|call| {
            call.kind != Kind::Plain
                && call.session == note.session
                && call.wrote.is_some_and(|wrote| wrote < note.moment)
        });
        prompts.max_by_key(|call| call.wrote)
    }

    /// What a turn's handler asked the client.
    pub(super) fn questions_of(&self, prompt: &str) -> impl Iterator<Item = &Outgoing<'a>> {
        let turn = number(prompt);
        let calls = self.outgoing.iter();
        calls.filter(move |call| turn_of(call.label) == turn)
    }

    /// The updates of a turn, as the client read them.
    pub(super) fn updates_of(&self, prompt: &str) -> impl Iterator<Item = &Note<'a>> {
        let turn = number(prompt);
        let updates = self.notes("session/update", false);
        updates.filter(move |note| turn_of(note.update) == turn)
    }

    /// When the update handler was done with an update.
    pub(super) fn handled(&self, update: &str) -> Option<Moment> {
        let mut events = self.events.iter();
        let handled = events.find(|(_, event)| {
            matches!(event, Event::Finishes { request, .. } if is_update(request, update))
        });
        handled.map(|(moment, _)| *moment)
    }

    /// Whether the update handler was called for an update.
    fn begun(&self, update: &str) -> bool {
        let mut events = self.events.iter();
        events.any(|(_, event)| {
            matches!(event, Event::Begins { request, .. } if is_update(request, update))
        })
    }
}

fn is_update(request: &str, update: &str) -> bool {
    request.strip_prefix("update ") == Some(update)
}
