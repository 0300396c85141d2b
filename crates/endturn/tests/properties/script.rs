//! Random scripts for both sides of a connection.
//!
//! The simplest variant of everything stands first, so that a failing script shrinks towards it.

use proptest::{collection::vec, option, prelude::*};
use serde::{Deserialize, Serialize};

/// All that a run depends on, but for the order in which the runtime polls what is ready.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) reads: Reads,
    pub(crate) agent: AgentLimits,
    pub(crate) client: ClientLimits,
    pub(crate) actions: Vec<Action>,
}

/// In which pieces a connection is handed what has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    Chunks,
    Lines,
    Pieces(usize),
}

/// In milliseconds, zero is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AgentLimits {
    pub(crate) grace_period: u64,
    pub(crate) max_duration: u64,
    pub(crate) request: u64,
    pub(crate) cascade: bool,
}

/// In milliseconds, zero is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClientLimits {
    pub(crate) prompt: u64,
    pub(crate) cancel: u64,
    pub(crate) request: u64,
    pub(crate) updates: Updates,
}

/// What the client's update handler does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Updates {
    Returns,
    Sleeps(u64),
    /// Makes a request of its own.
    Asks,
    Panics,
}

/// What the user does, one after the other.
///
/// An index counts back from the newest call, so that removing an earlier action does not change its meaning.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Wait(u64),
    /// Lets everything that is ready have its turn, a few times.
    Yield(u8),
    /// Waits for a call to return.
    Await(usize),
    Prompt {
        session: Session,
        program: Program,
        way: Way,
    },
    /// Cancels the signal of a prompt or another call.
    Signal(usize),
    /// `Client::cancel`.
    Cancel(Session),
    /// Drops the future of a prompt or another call.
    Leave(usize),
    New(Reply),
    Close(Session, Reply),
    /// The user closes the connection.
    HangUp,
    /// The agent shuts down in good order.
    ShutDown,
    /// The agent is gone at once.
    Kill,
}

/// One of a few sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Session(pub(crate) u8);

impl Session {
    pub(crate) const ALL: [Self; 3] = [Self(0), Self(1), Self(2)];

    pub(crate) fn name(self) -> String {
        format!("session-{}", self.0)
    }
}

/// How a prompt is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Waited,
    /// With a signal that is cancelled already.
    Cancelled,
    Detached,
    /// As any other request, which is how a client can prompt a busy session.
    Raw,
}

/// What a prompt handler does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) end: Ending,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Step {
    Updates(u8),
    /// Sleeps through cancels.
    Sleep(u64),
    WaitForCancel,
    /// Registers a callback, which may panic.
    OnCancel {
        panics: bool,
    },
    /// Asks the client, and waits.
    Ask(Ask),
    /// Asks on a task that does not end with the handler.
    AskElsewhere(Ask),
    /// Starts a task that does not end with the handler, and sends updates at this interval.
    SendElsewhere {
        every: u64,
        updates: u8,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) what: Question,
    pub(crate) reply: Reply,
    /// When the caller drops the call.
    pub(crate) leaves: Option<u64>,
    /// When the caller cancels the call and goes on waiting.
    pub(crate) signals: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Question {
    Permission,
    /// The same, as a request that a timeout applies to.
    Impatient,
    /// Something that the client has no handler for.
    File,
}

/// What the handler of a request other than a prompt does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reply {
    Returns,
    Later(u64),
    Refuses,
    Fails,
    Panics,
    Hangs,
}

/// How a prompt handler ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ending {
    EndTurn,
    MaxTokens,
    MaxTurnRequests,
    Refusal,
    Cancelled,
    Fails,
    Refuses,
    Panics,
    Hangs,
}

/// Which clock a script runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clock {
    /// Nothing takes time but what says so, and hanging is harmless.
    Paused,
    /// Times are short, and every turn and call has a limit.
    Real,
}

impl Clock {
    /// A time to wait.
    fn time(self) -> BoxedStrategy<u64> {
        match self {
            // Round times make things coincide, the others keep them apart.
            Self::Paused => prop_oneof![(0..6u64).prop_map(|tens| tens * 10), 1..120u64].boxed(),
            Self::Real => (0..4u64).boxed(),
        }
    }

    /// A limit, which may be off.
    fn limit(self) -> BoxedStrategy<u64> {
        match self {
            Self::Paused => prop_oneof![2 => Just(0), 1 => 20..200u64, 1 => Just(50)].boxed(),
            Self::Real => prop_oneof![2 => Just(0), 1 => 1..6u64].boxed(),
        }
    }

    /// A limit that something hanging depends on.
    fn grace_period(self) -> BoxedStrategy<u64> {
        match self {
            Self::Paused => prop_oneof![Just(0), 10..150u64, Just(50)].boxed(),
            Self::Real => (1..10u64).boxed(),
        }
    }
}

pub(crate) fn script(clock: Clock) -> impl Strategy<Value = Script> {
    let actions = vec(scene(clock), 1..12).prop_map(|scenes| scenes.concat());
    (reads(), agent_limits(clock), client_limits(clock), actions).prop_map(
        |(reads, agent, client, actions)| Script {
            reads,
            agent,
            client,
            actions,
        },
    )
}

fn reads() -> impl Strategy<Value = Reads> {
    prop_oneof![
        Just(Reads::Chunks),
        Just(Reads::Lines),
        (1..300usize).prop_map(Reads::Pieces),
    ]
}

fn agent_limits(clock: Clock) -> impl Strategy<Value = AgentLimits> {
    (
        clock.grace_period(),
        clock.limit(),
        clock.limit(),
        prop::bool::weighted(0.8),
    )
        .prop_map(
            |(grace_period, max_duration, request, cascade)| AgentLimits {
                grace_period,
                max_duration,
                request,
                cascade,
            },
        )
}

fn client_limits(clock: Clock) -> impl Strategy<Value = ClientLimits> {
    let updates = prop_oneof![
        3 => Just(Updates::Returns),
        2 => clock.time().prop_map(Updates::Sleeps),
        1 => Just(Updates::Asks),
        1 => Just(Updates::Panics),
    ];
    (clock.limit(), clock.limit(), clock.limit(), updates).prop_map(
        |(prompt, cancel, request, updates)| ClientLimits {
            prompt,
            cancel,
            request,
            updates,
        },
    )
}

/// Mostly one action; sometimes a few whose coincidence would be too rare.
fn scene(clock: Clock) -> impl Strategy<Value = Vec<Action>> {
    prop_oneof![
        20 => action(clock).prop_map(|action| vec![action]),
        3 => crossing(clock),
        1 => stubborn(clock),
        1 => (session(), program(clock), 0..12u8).prop_map(|(session, program, times)| {
            vec![prompt(session, program), Action::Yield(times), Action::ShutDown]
        }),
    ]
}

/// A turn is stopped while its end is on the way, and another one follows.
fn crossing(clock: Clock) -> impl Strategy<Value = Vec<Action>> {
    let quick = || {
        vec((1..4u8).prop_map(Step::Updates), 0..2).prop_map(|steps| Program {
            steps,
            end: Ending::EndTurn,
        })
    };
    let stop: [fn(Session) -> Action; 3] =
        [Action::Cancel, |_| Action::Leave(0), |_| Action::Signal(0)];
    let stop = prop_oneof![3 => Just(stop[0]), 2 => Just(stop[1]), 1 => Just(stop[2])];
    let pause = prop_oneof![Just(Action::Await(0)), clock.time().prop_map(Action::Wait)];
    (session(), quick(), 0..12u8, stop, pause, quick()).prop_map(
        |(session, first, times, stop, pause, second)| {
            vec![
                prompt(session, first),
                Action::Yield(times),
                stop(session),
                pause,
                prompt(session, second),
            ]
        },
    )
}

/// A turn that does not end when it is told to.
fn stubborn(clock: Clock) -> impl Strategy<Value = Vec<Action>> {
    (session(), clock.time(), clock.limit()).prop_map(|(session, before, after)| {
        let program = Program {
            steps: Vec::new(),
            end: Ending::Hangs,
        };
        vec![
            prompt(session, program),
            Action::Wait(before),
            Action::Signal(0),
            Action::Wait(after),
        ]
    })
}

fn prompt(session: Session, program: Program) -> Action {
    Action::Prompt {
        session,
        program,
        way: Way::Waited,
    }
}

fn action(clock: Clock) -> impl Strategy<Value = Action> {
    prop_oneof![
        12 => clock.time().prop_map(Action::Wait),
        4 => (1..12u8).prop_map(Action::Yield),
        6 => (0..3usize).prop_map(Action::Await),
        24 => (session(), program(clock), way())
            .prop_map(|(session, program, way)| Action::Prompt { session, program, way }),
        9 => (0..3usize).prop_map(Action::Signal),
        6 => session().prop_map(Action::Cancel),
        6 => (0..3usize).prop_map(Action::Leave),
        4 => reply(clock).prop_map(Action::New),
        4 => (session(), reply(clock)).prop_map(|(session, reply)| Action::Close(session, reply)),
        1 => prop_oneof![Just(Action::HangUp), Just(Action::ShutDown), Just(Action::Kill)],
    ]
}

fn session() -> impl Strategy<Value = Session> {
    prop_oneof![4 => Just(Session(0)), 2 => Just(Session(1)), 1 => Just(Session(2))]
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![
        6 => Just(Way::Waited),
        1 => Just(Way::Cancelled),
        1 => Just(Way::Detached),
        2 => Just(Way::Raw),
    ]
}

fn program(clock: Clock) -> impl Strategy<Value = Program> {
    (vec(step(clock), 0..5), ending()).prop_map(|(steps, end)| Program { steps, end })
}

fn step(clock: Clock) -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..4u8).prop_map(Step::Updates),
        3 => clock.time().prop_map(Step::Sleep),
        3 => Just(Step::WaitForCancel),
        2 => prop::bool::weighted(0.2).prop_map(|panics| Step::OnCancel { panics }),
        3 => ask(clock).prop_map(Step::Ask),
        1 => ask(clock).prop_map(Step::AskElsewhere),
        1 => (clock.time(), 1..6u8)
            .prop_map(|(every, updates)| Step::SendElsewhere { every, updates }),
    ]
}

fn ask(clock: Clock) -> impl Strategy<Value = Ask> {
    let what = prop_oneof![
        4 => Just(Question::Permission),
        2 => Just(Question::Impatient),
        1 => Just(Question::File),
    ];
    (
        what,
        reply(clock),
        option::weighted(0.2, clock.time()),
        option::weighted(0.2, clock.time()),
    )
        .prop_map(|(what, reply, leaves, signals)| Ask {
            what,
            reply,
            leaves,
            signals,
        })
}

fn reply(clock: Clock) -> impl Strategy<Value = Reply> {
    prop_oneof![
        3 => Just(Reply::Returns),
        3 => clock.time().prop_map(Reply::Later),
        1 => Just(Reply::Refuses),
        1 => Just(Reply::Fails),
        1 => Just(Reply::Panics),
        3 => Just(Reply::Hangs),
    ]
}

fn ending() -> impl Strategy<Value = Ending> {
    prop_oneof![
        6 => Just(Ending::EndTurn),
        1 => Just(Ending::MaxTokens),
        1 => Just(Ending::MaxTurnRequests),
        1 => Just(Ending::Refusal),
        1 => Just(Ending::Cancelled),
        1 => Just(Ending::Fails),
        1 => Just(Ending::Refuses),
        1 => Just(Ending::Panics),
        3 => Just(Ending::Hangs),
    ]
}
