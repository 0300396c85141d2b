//! The turn contract as executable rules.
//!
//! Beside each machine stands an observer who knows nothing of its states.
//! The observer keeps a record of *facts*, of what came in and what went out, and every rule is a statement about one step and these facts.
//! The environment is as hostile as can be: any input may come in any state, any number of times.
//! Facts are few and counts stop at the first violation, so the product of machine and observer is finite and can be explored to the end.

pub(crate) mod agent;
pub(crate) mod client;
pub(crate) mod incoming;
pub(crate) mod outgoing;
pub(crate) mod session;

use std::{fmt::Debug, hash::Hash};

use crate::explore::{Counterexample, Explored, Model, Violation, explore};
use crate::machines::{Apply, Every as _, Machine};

/// What one kind of machine has to keep.
pub(crate) trait Contract: Machine + 'static {
    type Facts: Copy + Eq + Hash + Debug + Default;

    const START: Self;
    const RULES: &'static [Rule<Self>];

    /// Nothing may make this unreachable.
    const GOAL: Goal<Self>;

    /// What the facts are after the machine put out `output` for `input`.
    fn record(facts: Self::Facts, input: Self::Input, output: Self::Output) -> Self::Facts;
}

/// One rule of the contract, as far as it concerns one step.
pub(crate) struct Rule<C: Contract> {
    /// Its name in the contract.
    pub(crate) id: &'static str,
    pub(crate) says: &'static str,
    pub(crate) when: fn(&Step<C>) -> bool,
    pub(crate) then: fn(&Step<C>) -> bool,
}

/// A rule about what remains possible.
pub(crate) struct Goal<C: Contract> {
    pub(crate) id: &'static str,
    pub(crate) says: &'static str,
    pub(crate) reached: fn(&C::Facts) -> bool,
}

/// One input to a machine, as its observer sees it.
pub(crate) struct Step<C: Contract> {
    pub(crate) before: C::Facts,
    pub(crate) input: C::Input,
    pub(crate) output: C::Output,
    pub(crate) after: C::Facts,
    /// What the machine says of itself after the step.
    pub(crate) state: C,
}

/// A machine together with its observer.
pub(crate) struct Observed<'a, C: Contract> {
    apply: Apply<'a, C>,
}

impl<'a, C: Contract> Observed<'a, C> {
    pub(crate) fn new(apply: Apply<'a, C>) -> Self {
        Self { apply }
    }

    pub(crate) fn observe(&self, &(state, before): &(C, C::Facts), input: C::Input) -> Step<C> {
        let (state, output) = (self.apply)(state, input);
        Step {
            before,
            input,
            output,
            after: C::record(before, input, output),
            state,
        }
    }
}

impl<C: Contract> Model for Observed<'_, C> {
    type State = (C, C::Facts);
    type Event = C::Input;

    fn start(&self) -> Self::State {
        (C::START, C::Facts::default())
    }

    fn events(&self, _: &Self::State) -> Vec<C::Input> {
        C::Input::every().to_vec()
    }

    fn step(&self, state: &Self::State, input: C::Input) -> Result<Self::State, Violation> {
        let step = self.observe(state, input);
        match C::RULES.iter().find(|rule| rule.is_broken_by(&step)) {
            Some(rule) => Err(Violation {
                rule: rule.id,
                says: rule.says,
            }),
            None => Ok((step.state, step.after)),
        }
    }
}

impl<C: Contract> Rule<C> {
    fn is_broken_by(&self, step: &Step<C>) -> bool {
        (self.when)(step) && !(self.then)(step)
    }
}

/// Explores a machine with its observer, and holds it to all its rules.
pub(crate) fn check<C: Contract>(
    apply: Apply<'_, C>,
) -> Result<Explored<Observed<'_, C>>, Counterexample> {
    let explored = explore(&Observed::new(apply))?;
    let unreachable = Violation {
        rule: C::GOAL.id,
        says: C::GOAL.says,
    };
    explored.require_way_to(|(_, facts)| (C::GOAL.reached)(facts), unreachable)?;
    Ok(explored)
}
