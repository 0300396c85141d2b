//! The explorer is itself a piece of evidence, so it is tested first.

mod explore;

use explore::{Model, Violation, explore};

/// A counter that goes up by one or two, and from some points back to the start.
struct Counter {
    limit: u8,
    forbidden: Option<u8>,
    returns: fn(u8) -> bool,
}

#[derive(Debug, Clone, Copy)]
enum Event {
    One,
    Two,
    Return,
}

impl Model for Counter {
    type State = u8;
    type Event = Event;

    fn start(&self) -> u8 {
        0
    }

    fn events(&self, &state: &u8) -> Vec<Event> {
        let mut events = Vec::new();
        if state < self.limit {
            events.extend([Event::One, Event::Two]);
        }
        if (self.returns)(state) {
            events.push(Event::Return);
        }
        events
    }

    fn step(&self, &state: &u8, event: Event) -> Result<u8, Violation> {
        let next = match event {
            Event::One => state + 1,
            Event::Two => state + 2,
            Event::Return => 0,
        };
        if self.forbidden == Some(next) {
            return Err(Violation {
                rule: "small",
                says: "the counter stays small",
            });
        }
        Ok(next)
    }
}

const HOMELESS: Violation = Violation {
    rule: "home",
    says: "there is always a way home",
};

#[test]
fn every_state_and_every_transition_is_met_once() {
    let explored = explore(&Counter {
        limit: 4,
        forbidden: None,
        returns: |_| true,
    })
    .unwrap();

    assert_eq!(
        explored.states().copied().collect::<Vec<_>>(),
        [0, 1, 2, 3, 4, 5]
    );
    assert_eq!(explored.size(), (6, 14));
    assert!(
        explored
            .require_way_to(|&state| state == 0, HOMELESS)
            .is_ok()
    );
}

#[test]
fn a_violation_is_reported_with_the_shortest_path_to_it() {
    let Err(found) = explore(&Counter {
        limit: 9,
        forbidden: Some(5),
        returns: |_| true,
    }) else {
        panic!("five can be reached");
    };

    assert_eq!(
        found.to_string(),
        "small: not so: the counter stays small\n   1. One\n   2. Two\n   3. Two\n      in 3"
    );
}

#[test]
fn a_state_that_cannot_reach_its_goal_is_reported_with_the_path_to_it() {
    let counter = Counter {
        limit: 4,
        forbidden: None,
        returns: |state| state != 5,
    };
    let Err(found) = explore(&counter)
        .unwrap()
        .require_way_to(|&state| state == 0, HOMELESS)
    else {
        panic!("there is no way from five");
    };

    assert_eq!(found.violation, HOMELESS);
    assert_eq!(found.path, ["One", "Two", "Two"]);
}
