//! Questions at a client: a turn that is cancelled or given up has none.
//!
//! For a cancelled turn the protocol says so.
//! A turn that was given up is treated alike, because nobody is left who could use the answer.

use super::{
    Court,
    client::{End, Prompt},
    facts::{Facts, Incoming},
    incoming::{self, Cause},
    race::{Moment, Race},
};

pub(super) fn judge(court: &mut Court, facts: &Facts<'_>, prompts: &[Prompt<'_>]) {
    for question in &facts.incoming {
        if facts.is_lost_by(question.read.at) {
            continue;
        }
        let mut race = incoming::race(facts, question);
        let session = prompts.iter();
        let session = session.filter(|prompt| prompt.call.session == question.session);
        let session: Vec<&Prompt<'_>> = session.collect();
        if question.method == "session/request_permission" {
            for prompt in &session {
                later_stops(&mut race, question, prompt);
            }
            earlier_stops(&mut race, question, &session);
        }
        incoming::judge(court, facts, question, &race);
    }
}

/// A stop that finds the question open.
fn later_stops(race: &mut Race<Cause>, question: &Incoming<'_>, prompt: &Prompt<'_>) {
    let read = question.read;
    if prompt.call.answer.is_some_and(|(at, _)| at < read) {
        return;
    }
    // When it stands on the wire it was decided a little earlier, so only its time is known.
    let cancel = prompt.cancel.filter(|at| *at > read);
    race.timed(cancel.map(|at| at.at), Cause::TurnCancelled);
    let early = prompt.left().is_some_and(|left| left < read);
    let given_up = prompt.given_up().filter(|at| *at >= read.at && !early);
    race.timed(given_up, Cause::TurnCancelled);
}

/// Stops that came before the question: they count until the turn is answered.
///
/// A turn that was given up may still ask while the next one is on the wire, and then nobody can tell at once whose question it is.
/// When the old turn is answered it was the old one's, since an agent runs one turn of a session at a time.
fn earlier_stops(race: &mut Race<Cause>, question: &Incoming<'_>, session: &[&Prompt<'_>]) {
    let read = question.read;
    let is_open = |prompt: &&&Prompt<'_>| {
        let answered = prompt.call.answer.map(|(at, _)| at);
        prompt.call.wrote.is_some()
            && prompt.call.calls < read
            && answered.is_none_or(|at| at > read)
    };
    let (stopped, live): (Vec<&&Prompt<'_>>, Vec<&&Prompt<'_>>) =
        session.iter().filter(is_open).partition(|prompt| {
            let cancelled = prompt.cancel.is_some_and(|at| at < read);
            let given_up = prompt.given_up().is_some_and(|at| at < read.at);
            cancelled || given_up || prompt.left().is_some_and(|at| at < read)
        });
    if !stopped.is_empty() && live.is_empty() {
        race.seen(Some(read), Cause::TurnCancelled);
    }
    for prompt in stopped {
        race.seen(prompt.call.answer.map(|(at, _)| at), Cause::TurnCancelled);
    }
}

impl Prompt<'_> {
    /// When it was given up, if it was on the wire then.
    fn given_up(&self) -> Option<u64> {
        let given_up = self.race.winners().contains(&End::GivenUp);
        self.race
            .at()
            .filter(|_| given_up && self.call.wrote.is_some())
    }

    /// The same, if its caller dropped it.
    fn left(&self) -> Option<Moment> {
        self.call
            .left
            .filter(|left| Some(left.at) == self.given_up())
    }
}
