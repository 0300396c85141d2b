//! Requests other than prompts where they arrive, to the millisecond.

use super::{
    Court,
    facts::{Facts, Incoming, code},
    race::Race,
};
use crate::trace::{End, Finish};

/// What ends such a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cause {
    Finished,
    RequestCancel,
    /// Nobody handles its method.
    Unknown,
    Lost,
    /// It is a question, and its turn was cancelled.
    TurnCancelled,
}

/// What could end a request.
pub(super) fn race(facts: &Facts<'_>, request: &Incoming<'_>) -> Race<Cause> {
    let mut race = Race::new();
    if request.method == "fs/read_text_file" {
        race.seen(Some(request.read), Cause::Unknown);
    }
    race.seen(request.finishes.map(|(at, _)| at), Cause::Finished);
    race.seen(request.cancelled, Cause::RequestCancel);
    race.timed(facts.lost.map(|lost| lost.at), Cause::Lost);
    race
}

pub(super) fn judge(
    court: &mut Court,
    facts: &Facts<'_>,
    request: &Incoming<'_>,
    race: &Race<Cause>,
) {
    let label = request.label;
    let Some(at) = race.at() else {
        return;
    };
    let winners = race.winners();
    let rule = match winners[0] {
        Cause::RequestCancel => "cancel-received",
        Cause::TurnCancelled => "permissions",
        Cause::Finished | Cause::Unknown => "always-answered",
        Cause::Lost => match facts.end {
            End::Agent => "lost",
            End::Client => "settled",
        },
    };
    if !winners.contains(&Cause::Finished)
        && let Some((begins, _)) = request.begins
    {
        let dropped = request.gone.is_some_and(|gone| gone.at == at);
        court.require(rule, begins.place, dropped, || {
            format!("the handler of {label} is not dropped at {at} ms")
        });
    }
    let Some((moment, answer)) = request.answer() else {
        let lost = winners.contains(&Cause::Lost) || facts.is_lost_by(at);
        court.require("always-answered", request.read.place, lost, || {
            format!("{label} is not answered, it ended at {at} ms")
        });
        return;
    };
    let fits = winners.iter().any(|cause| match cause {
        Cause::Finished => match request.finishes {
            Some((_, Finish::Returns(_))) => {
                code(answer).is_none() && !super::order::is_cancelled_outcome(answer)
            }
            Some((_, Finish::Refuses(error))) => code(answer) == Some(*error),
            Some((_, Finish::Fails | Finish::Panics)) | None => code(answer) == Some(-32603),
        },
        Cause::RequestCancel => code(answer) == Some(-32800),
        Cause::Unknown => code(answer) == Some(-32601),
        Cause::TurnCancelled => super::order::is_cancelled_outcome(answer),
        Cause::Lost => false,
    });
    court.require(rule, moment.place, fits && moment.at == at, || {
        format!("{label} ended at {at} ms by {winners:?}, and is answered otherwise or not then")
    });
}
