//! A client, an agent and two pipes, in every interleaving.
//!
//! The client makes up to three prompts on one session.
//! It makes the next one as soon as no earlier one occupies the session, so also while the agent still owes the answer to one that its caller has left.
//! Its user may cancel, drop the prompt, or run out of patience at any moment, and any timer may fire at any moment, whether it was ever started or not.
//! The agent applies what it reads in wire order; its handlers may send updates and finish in any way at any time, and go on trying after they were dropped.
//!
//! The drivers here are models of those in the SDK, reduced to what has to do with the order of things.
//! Where they know something that the machines do not tell them, it stands in the world as a fact of its own, and most of the checks compare the two.

mod agent;
mod client;
mod pipe;

use endturn_core::{session, turn};

use crate::explore::{Model, Violation};
use crate::machines::{Apply, Every as _};
use pipe::Pipe;
use turn::agent::Finish;
use turn::client::GiveUp;

const MAX_PROMPTS: usize = 3;

/// The machines that the two drivers drive: the real ones, or mutants of them.
#[derive(Clone, Copy)]
pub(crate) struct Machines<'a> {
    pub(crate) agent: Apply<'a, turn::agent::Turn>,
    pub(crate) client: Apply<'a, turn::client::Turn>,
    pub(crate) session: Apply<'a, session::Session>,
    pub(crate) occupies_session: &'a dyn Fn(turn::client::Turn) -> bool,
}

impl Machines<'static> {
    pub(crate) const REAL: Self = Self {
        agent: &turn::agent::apply,
        client: &turn::client::apply,
        session: &session::apply,
        occupies_session: &turn::client::Turn::occupies_session,
    };
}

/// What may happen in a world.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scenario {
    pub(crate) prompts: usize,
    /// How many updates each handler sends at most.
    pub(crate) updates: u8,
    /// Whether the client may close the session, once.
    pub(crate) close: bool,
    /// Whether the agent may shut down.
    pub(crate) shutdown: bool,
    /// Whether the connection may be lost; each end notices on its own, and may still read what is on its way.
    pub(crate) loss: bool,
    /// Whether the agent knows `$/cancel_request`, which ACP leaves to it.
    pub(crate) knows_cancel_request: bool,
}

/// A client and an agent in a scenario.
pub(crate) struct Pair<'a> {
    pub(crate) machines: Machines<'a>,
    pub(crate) scenario: Scenario,
}

/// Everything there is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    slots: [Slot; MAX_PROMPTS],
    /// For each prompt the prompt itself and two kinds of cancel, and one close.
    to_agent: Pipe<ToAgent, 10>,
    /// For each of three prompts an update and an answer, or for each of two prompts two updates and an answer; and the answer to the close.
    to_client: Pipe<ToClient, 7>,
    session: session::Session,
    close: Close,
    client_is_lost: bool,
    agent_is_lost: bool,
}

/// A message of the client. Prompts are known by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ToAgent {
    Prompt(u8),
    /// The number is not on the wire: it says which turn the client means.
    SessionCancel(u8),
    CancelRequest(u8),
    Close,
}

/// A message of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ToClient {
    /// The number is not on the wire: it says which turn the handler belongs to.
    Update(u8),
    Answer(u8),
    CloseAnswer,
}

/// The place of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Slot {
    Unused,
    Open(Exchange),
    /// Over at both ends, with nothing on the wire, and proved to stay so: see [`Pair::retire`].
    Retired,
}

/// A prompt, seen from both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Exchange {
    client: turn::client::Turn,
    request: Request,
    caller: Caller,

    at_agent: AtAgent,
    updates_left: u8,
    /// Whether the turn was asked to stop before it was answered.
    was_asked_to_stop: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Request {
    Unwritten,
    Withdrawn,
    Written,
    /// `$/cancel_request` is on the wire too.
    GivenUp,
    /// Its answer was read.
    Answered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Caller {
    Waiting,
    /// Waits, and `session/cancel` was sent.
    WaitingCancelled,
    Left,
    Told,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum AtAgent {
    Unknown,
    Rejected,
    Turn {
        turn: turn::agent::Turn,
        handler: Handler,
        is_answered: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Handler {
    Running,
    /// Its end was decided over its head; it does not know, and goes on.
    Dropped,
    Finished,
}

/// Where the request to close the session is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Close {
    Unsent,
    OnItsWay,
    /// It waits for the end of the turn.
    Waiting,
    HandlerRuns,
    Answered,
}

/// One thing that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// The user makes the next prompt.
    Prompt,
    Cancel(u8),
    GiveUp(u8, GiveUp),
    CancelTimeout(u8),
    /// There is room for the prompt in the client's outgoing buffer.
    Written(u8),
    /// The client asks for the session to be closed.
    Close,
    ClientReads,
    ClientIsLost,

    GracePeriod(u8),
    MaxDuration(u8),
    Finish(u8, Finish),
    /// A handler wants to send an update.
    Update(u8),
    /// The close handler is done.
    Closed,
    Shutdown,
    AgentReads,
    AgentIsLost,
}

type Checked<T = ()> = Result<T, Violation>;

/// Demands that something holds.
fn require(holds: bool, rule: &'static str, says: &'static str) -> Checked {
    if holds {
        Ok(())
    } else {
        Err(Violation { rule, says })
    }
}

/// What should not have happened.
fn forbid(rule: &'static str, says: &'static str) -> Checked {
    require(false, rule, says)
}

impl Model for Pair<'_> {
    type State = World;
    type Event = Event;

    fn start(&self) -> World {
        World {
            slots: [Slot::Unused; MAX_PROMPTS],
            to_agent: Pipe::empty(),
            to_client: Pipe::empty(),
            session: session::Session::Free,
            close: Close::Unsent,
            client_is_lost: false,
            agent_is_lost: false,
        }
    }

    fn events(&self, world: &World) -> Vec<Event> {
        let mut events = Vec::new();
        self.events_at_client(world, &mut events);
        self.events_at_agent(world, &mut events);
        events
    }

    fn step(&self, world: &World, event: Event) -> Checked<World> {
        let mut next = world.clone();
        self.happen(&mut next, event)?;
        if next == *world {
            return Ok(next);
        }
        self.retire(&mut next)?;
        next.check_rest()?;
        Ok(next)
    }
}

impl Pair<'_> {
    fn happen(&self, world: &mut World, event: Event) -> Checked {
        use turn::{agent, client};

        match event {
            Event::Prompt => {
                world.open_next_slot(self.scenario.updates);
                Ok(())
            }
            Event::Cancel(n) => self.client_turn(world, n, client::Input::Cancel),
            Event::GiveUp(n, why) => self.give_up(world, n, why),
            Event::CancelTimeout(n) => self.client_turn(world, n, client::Input::CancelExpired),
            Event::Written(n) => self.write_prompt(world, n),
            Event::Close => self.send_close(world),
            Event::ClientReads => self.client_reads(world),
            Event::ClientIsLost => self.lose_client(world),

            Event::GracePeriod(n) => self.agent_turn(world, n, agent::Input::GraceExpired),
            Event::MaxDuration(n) => self.agent_turn(world, n, agent::Input::DurationExpired),
            Event::Finish(n, finish) => self.finish(world, n, finish),
            Event::Update(n) => self.agent_turn(world, n, agent::Input::Update),
            Event::Closed => self.closed(world),
            Event::Shutdown => self.shut_down(world),
            Event::AgentReads => self.agent_reads(world),
            Event::AgentIsLost => self.lose_agent(world),
        }
    }

    /// Forgets each prompt that is over at both ends, and of which nothing is on the wire.
    ///
    /// Whatever could still happen to it is tried out first, and has to change nothing; so a world that has forgotten it behaves as one that remembers.
    /// This keeps three prompts tractable.
    fn retire(&self, world: &mut World) -> Checked {
        for n in 0..MAX_PROMPTS {
            if let Slot::Open(exchange) = world.slots[n]
                && world.is_over(as_number(n), &exchange)
            {
                self.require_inert(&exchange)?;
                world.slots[n] = Slot::Retired;
            }
        }
        Ok(())
    }

    fn require_inert(&self, exchange: &Exchange) -> Checked {
        self.require_inert_at_client(exchange.client)?;
        match exchange.at_agent {
            AtAgent::Unknown | AtAgent::Rejected => Ok(()),
            AtAgent::Turn { turn, .. } => self.require_inert_at_agent(turn),
        }
    }

    fn require_inert_at_client(&self, turn: turn::client::Turn) -> Checked {
        use turn::client::{Input, Output};

        for &input in Input::every() {
            let (next, output) = (self.machines.client)(turn, input);
            // An update or a question belongs to the session now.
            let inert = matches!(
                output,
                Output::Ignore | Output::Discard | Output::Deliver | Output::Ask
            );
            require(
                next == turn && inert,
                "settled",
                "a turn that is over at the client stays so",
            )?;
        }
        Ok(())
    }

    fn require_inert_at_agent(&self, turn: turn::agent::Turn) -> Checked {
        use turn::agent::{Input, Output};

        for &input in Input::every() {
            let (next, output) = (self.machines.agent)(turn, input);
            let inert = matches!(output, Output::Ignore | Output::Discard);
            let rule = if input == Input::Update {
                "late-update"
            } else {
                "one-answer"
            };
            require(
                next == turn && inert,
                rule,
                "a turn that is over at the agent stays so",
            )?;
        }
        Ok(())
    }
}

impl World {
    fn open_next_slot(&mut self, updates: u8) {
        let unused = self.slots.iter_mut().find(|slot| **slot == Slot::Unused);
        *unused.expect("the scenario has room for the prompt") = Slot::Open(Exchange {
            client: turn::client::Turn::Unsent,
            request: Request::Unwritten,
            caller: Caller::Waiting,
            at_agent: AtAgent::Unknown,
            updates_left: updates,
            was_asked_to_stop: false,
        });
    }

    fn exchanges(&self) -> impl Iterator<Item = (u8, &Exchange)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(n, slot)| match slot {
                Slot::Open(exchange) => Some((as_number(n), exchange)),
                Slot::Unused | Slot::Retired => None,
            })
    }

    fn exchange(&mut self, n: u8) -> &mut Exchange {
        match &mut self.slots[usize::from(n)] {
            Slot::Open(exchange) => exchange,
            Slot::Unused | Slot::Retired => panic!("prompt {n} is not open"),
        }
    }

    fn connection_lives(&self) -> bool {
        !self.client_is_lost && !self.agent_is_lost
    }

    fn is_over(&self, n: u8, exchange: &Exchange) -> bool {
        let names_it_to_agent = |message| match message {
            ToAgent::Prompt(m) | ToAgent::SessionCancel(m) | ToAgent::CancelRequest(m) => m == n,
            ToAgent::Close => false,
        };
        let names_it_to_client = |message| match message {
            ToClient::Update(m) | ToClient::Answer(m) => m == n,
            ToClient::CloseAnswer => false,
        };
        let over_at_client = self.client_is_lost
            || matches!(exchange.request, Request::Withdrawn | Request::Answered);
        over_at_client
            && exchange.is_over_at_agent(self.agent_is_lost)
            && !self.to_agent.iter().any(names_it_to_agent)
            && !self.to_client.iter().any(names_it_to_client)
    }

    /// At rest, with no message on its way and no handler at work, nothing waits for anything.
    ///
    /// Each step that is not the user's or a timer's takes a message off the wire, ends a handler or sends one of its few updates.
    /// So however these steps are ordered, the world comes to rest, and what holds at rest is what all schedules come to.
    fn check_rest(&self) -> Checked {
        if !self.connection_lives() || !self.is_at_rest() {
            return Ok(());
        }
        require(
            self.exchanges().next().is_none(),
            "always-answered",
            "at rest, every prompt is answered and every caller told",
        )?;
        require(
            matches!(self.close, Close::Unsent | Close::Answered),
            "close-cancels",
            "at rest, a close is answered",
        )?;
        require(
            self.session == session::Session::Free,
            "free-before-answer",
            "at rest, the session is free",
        )
    }

    fn is_at_rest(&self) -> bool {
        let is_busy = |(_, exchange): (u8, &Exchange)| {
            exchange.request == Request::Unwritten || exchange.handler() == Some(Handler::Running)
        };
        self.to_agent.is_empty()
            && self.to_client.is_empty()
            && self.close != Close::HandlerRuns
            && !self.exchanges().any(is_busy)
    }

    /// Whether all prompts that were made are answered, or their connection is lost.
    pub(crate) fn is_settled(&self) -> bool {
        let closing_is_over = matches!(self.close, Close::Unsent | Close::Answered);
        !self.connection_lives() || (self.exchanges().next().is_none() && closing_is_over)
    }
}

impl Exchange {
    fn handler(&self) -> Option<Handler> {
        match self.at_agent {
            AtAgent::Turn { handler, .. } => Some(handler),
            AtAgent::Unknown | AtAgent::Rejected => None,
        }
    }

    fn is_over_at_agent(&self, agent_is_lost: bool) -> bool {
        match self.at_agent {
            AtAgent::Unknown => agent_is_lost || self.request == Request::Withdrawn,
            AtAgent::Rejected => true,
            AtAgent::Turn { is_answered, .. } => agent_is_lost || is_answered,
        }
    }
}

fn as_number(index: usize) -> u8 {
    u8::try_from(index).expect("there are few prompts")
}
