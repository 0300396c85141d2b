//! Breadth-first exploration of everything that a model can do.
//!
//! A model that breaks a rule yields a [`Counterexample`] with the shortest path to the violation; one that breaks none yields its whole state space, for questions about what remains possible.
//! States are met in an order that depends on the model alone, so counts and paths are the same in every run.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::{fmt, rc::Rc};

/// Something with finitely many states.
pub(crate) trait Model {
    type State: Clone + Eq + Hash + fmt::Debug;
    type Event: Copy + fmt::Debug;

    fn start(&self) -> Self::State;

    /// What can happen next.
    fn events(&self, state: &Self::State) -> Vec<Self::Event>;

    /// What becomes of the state, or which rule is broken.
    fn step(&self, state: &Self::State, event: Self::Event) -> Result<Self::State, Violation>;
}

/// A rule of the contract, and how it was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) rule: &'static str,
    pub(crate) says: &'static str,
}

/// A violation, and the shortest way to bring it about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counterexample {
    pub(crate) violation: Violation,
    pub(crate) path: Vec<String>,
    last_state: String,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}: not so: {}",
            self.violation.rule, self.violation.says
        )?;
        for (number, event) in self.path.iter().enumerate() {
            writeln!(f, "{:>4}. {event}", number + 1)?;
        }
        write!(f, "      in {}", self.last_state)
    }
}

/// Explores a model until it breaks a rule, or to the end.
pub(crate) fn explore<M: Model>(model: &M) -> Result<Explored<M>, Counterexample> {
    let mut explored = Explored::starting_from(model.start());
    let mut next = 0;
    while let Some(state) = explored.states.get(next).cloned() {
        for event in model.events(&state) {
            match model.step(&state, event) {
                Ok(target) if target == *state => explored.loops += 1,
                Ok(target) => explored.add(next, event, target),
                Err(violation) => {
                    return Err(explored.counterexample(violation, next, Some(event)));
                }
            }
        }
        explored.edges_end.push(explored.edges.len());
        next += 1;
    }
    Ok(explored)
}

/// The whole state space of a model.
pub(crate) struct Explored<M: Model> {
    /// In the order of discovery; a state is known by its place in this list.
    states: Vec<Rc<M::State>>,
    places: HashMap<Rc<M::State>, u32, BuildHasherDefault<Multiplier>>,
    /// From where, and by which event, each state but the first was discovered.
    discovered: Vec<Option<(u32, M::Event)>>,
    /// The number of transitions that change nothing.
    loops: usize,
    /// The targets of all other transitions, grouped by the state they start from.
    edges: Vec<u32>,
    /// Where the group of each state ends.
    edges_end: Vec<usize>,
}

impl<M: Model> Explored<M> {
    fn starting_from(state: M::State) -> Self {
        let state = Rc::new(state);
        Self {
            states: vec![Rc::clone(&state)],
            places: [(state, 0)].into_iter().collect(),
            discovered: vec![None],
            loops: 0,
            edges: Vec::new(),
            edges_end: Vec::new(),
        }
    }

    fn add(&mut self, source: usize, event: M::Event, target: M::State) {
        if let Some(&place) = self.places.get(&target) {
            self.edges.push(place);
            return;
        }
        let place = as_place(self.states.len());
        let target = Rc::new(target);
        self.states.push(Rc::clone(&target));
        self.places.insert(target, place);
        self.discovered.push(Some((as_place(source), event)));
        self.edges.push(place);
    }

    /// The numbers of states and of transitions.
    pub(crate) fn size(&self) -> (usize, usize) {
        (self.states.len(), self.loops + self.edges.len())
    }

    pub(crate) fn states(&self) -> impl Iterator<Item = &M::State> {
        self.states.iter().map(Rc::as_ref)
    }

    /// Demands that from every state there is a way to a goal.
    pub(crate) fn require_way_to(
        &self,
        is_goal: impl Fn(&M::State) -> bool,
        violation: Violation,
    ) -> Result<(), Counterexample> {
        let mut has_way: Vec<bool> = self.states().map(is_goal).collect();
        while self.spread_to_sources(&mut has_way) {}
        match has_way.iter().position(|has_way| !has_way) {
            Some(stuck) => Err(self.counterexample(violation, stuck, None)),
            None => Ok(()),
        }
    }

    /// Marks each state that has a marked successor; says whether there were any.
    ///
    /// Most transitions lead to states that were discovered later, so going backwards needs few rounds.
    fn spread_to_sources(&self, marked: &mut [bool]) -> bool {
        let mut spread = false;
        for place in (0..marked.len()).rev() {
            if !marked[place] && self.successors(place).iter().any(|&s| marked[s as usize]) {
                marked[place] = true;
                spread = true;
            }
        }
        spread
    }

    fn successors(&self, place: usize) -> &[u32] {
        let start = place
            .checked_sub(1)
            .map_or(0, |previous| self.edges_end[previous]);
        &self.edges[start..self.edges_end[place]]
    }

    fn counterexample(
        &self,
        violation: Violation,
        place: usize,
        last_event: Option<M::Event>,
    ) -> Counterexample {
        let mut path: Vec<String> = last_event
            .iter()
            .map(|event| format!("{event:?}"))
            .collect();
        let mut at = place;
        while let Some((source, event)) = self.discovered[at] {
            path.push(format!("{event:?}"));
            at = source as usize;
        }
        path.reverse();
        Counterexample {
            violation,
            path,
            last_state: format!("{:?}", self.states[place]),
        }
    }
}

fn as_place(index: usize) -> u32 {
    u32::try_from(index).expect("a model has fewer than four billion states")
}

/// A hasher for states of many small parts, several times as fast as the standard one; nobody attacks these tables.
#[derive(Default)]
struct Multiplier(u64);

impl Hasher for Multiplier {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_isize(&mut self, value: isize) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
