//! Several things could end something, and the first one does.

/// A place in a trace, and when that was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) at: u64,
    pub(crate) place: usize,
}

/// A race between causes.
///
/// Some causes stand in the trace and have a place there; a limit that passes is known by its time only, and when it coincides with others, any of them may be first.
#[derive(Debug, Clone)]
pub(crate) struct Race<C> {
    runners: Vec<Runner<C>>,
}

#[derive(Debug, Clone, Copy)]
struct Runner<C> {
    at: u64,
    place: Option<usize>,
    cause: C,
}

impl<C: Copy> Race<C> {
    pub(crate) fn new() -> Self {
        Self {
            runners: Vec::new(),
        }
    }

    /// Something that stands in the trace.
    pub(crate) fn seen(&mut self, moment: Option<Moment>, cause: C) {
        self.runners.extend(moment.map(|moment| Runner {
            at: moment.at,
            place: Some(moment.place),
            cause,
        }));
    }

    /// Something that happens at a time.
    pub(crate) fn timed(&mut self, at: Option<u64>, cause: C) {
        self.runners.extend(at.map(|at| Runner {
            at,
            place: None,
            cause,
        }));
    }

    /// When it is decided; `None` if that never happens.
    pub(crate) fn at(&self) -> Option<u64> {
        self.runners.iter().map(|runner| runner.at).min()
    }

    /// All that may have been first.
    pub(crate) fn winners(&self) -> Vec<C> {
        let Some(at) = self.at() else {
            return Vec::new();
        };
        let first = self.first_place(at);
        let may_win = |runner: &&Runner<C>| {
            runner.at == at && (runner.place.is_none() || runner.place == first)
        };
        let winners = self.runners.iter().filter(may_win);
        winners.map(|runner| runner.cause).collect()
    }

    /// Whether it is decided for certain at this moment.
    pub(crate) fn is_over(&self, moment: Moment) -> bool {
        let Some(at) = self.at() else {
            return false;
        };
        let seen = self.first_place(at);
        moment.at > at || (moment.at == at && seen.is_some_and(|place| place < moment.place))
    }

    /// Whether it is open for certain at this moment.
    pub(crate) fn is_open(&self, moment: Moment) -> bool {
        let Some(at) = self.at() else {
            return true;
        };
        let mut now = self.runners.iter().filter(|runner| runner.at == at);
        moment.at < at
            || (moment.at == at
                && now.all(|runner| runner.place.is_some_and(|place| moment.place < place)))
    }

    /// Its end, if there is no doubt about it.
    pub(crate) fn end(&self) -> Option<Moment> {
        let at = self.at()?;
        let mut now = self.runners.iter().filter(|runner| runner.at == at);
        let certain = now.all(|runner| runner.place.is_some());
        let place = self.first_place(at).filter(|_| certain)?;
        Some(Moment { at, place })
    }

    /// The same without some of the causes.
    pub(crate) fn without(&self, left_out: impl Fn(&C) -> bool) -> Self {
        let kept = self.runners.iter();
        Self {
            runners: kept
                .filter(|runner| !left_out(&runner.cause))
                .copied()
                .collect(),
        }
    }

    fn first_place(&self, at: u64) -> Option<usize> {
        let now = self.runners.iter().filter(|runner| runner.at == at);
        now.filter_map(|runner| runner.place).min()
    }
}
