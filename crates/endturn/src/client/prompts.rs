//! The prompts a client has open: drives the turn machine of the core.
//!
//! # Whose is what arrives
//!
//! An update or a question names a session, not a turn.
//! As long as a session has one unanswered prompt, it is that one's.
//! A session has two when the first was given up and the next one is on the wire; then what arrives may be the end of the old turn or the beginning of the new one, and is *undecided* until one of these tells:
//!
//! - The old prompt is answered: an agent runs one turn of a session at a time, so all of it was the old turn's.
//! - The new prompt is answered with a response: the agent has moved on, so all of it was the new turn's. An error `-32600` says the opposite.
//! - Neither comes for a while: the agent does not answer what it was told to stop, as many do not, and all of it is taken for the new turn's.

use std::{collections::VecDeque, time::Duration};

use endturn_core::turn::client::{self, GiveUp, Input, Output, Settlement, Turn};
use tokio::{sync::oneshot, time::Instant};

use super::{
    inbox::Item,
    side::{ClientSide, Handlers, settle_questions},
    turn::Watcher,
};
use crate::{
    connection::{After, Connection, Map, Reply, State, cancel_call},
    error::{Error, Lost},
    request::check_prompt,
    schema::v1::{AGENT_METHOD_NAMES, CancelNotification, ErrorCode, PromptRequest, SessionId},
};

/// The unanswered prompts of all sessions.
#[derive(Default)]
pub(super) struct Prompts {
    /// Which session a prompt belongs to.
    by_id: Map<i64, SessionId>,
    sessions: Map<SessionId, Session>,
    /// Prompts that were given up, oldest first; those that were answered since may still stand here.
    given_up: VecDeque<i64>,
}

/// The unanswered prompts of one session.
#[derive(Default)]
struct Session {
    /// Oldest first. At most one of them is waited for; the others were given up and still owe an answer.
    open: Vec<Open>,
    /// What may belong to either kind.
    undecided: Vec<Item>,
}

/// A prompt that has not been answered.
struct Open {
    id: i64,
    turn: Turn,
    reply: Option<oneshot::Sender<PromptReply>>,
    /// Where the caller wants to see the turn's updates.
    watcher: Option<Watcher>,
    /// The session whose update handler waits for this prompt, if one does.
    from: Option<SessionId>,
    deadlines: Vec<(Instant, Limit)>,
}

/// What the caller of a prompt is told.
pub(super) enum PromptReply {
    Answered(Reply),
    TimedOut,
    CancelTimedOut,
    Lost(Lost),
}

/// What a timer of a prompt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    /// The prompt timeout.
    Prompt,
    /// The cancel timeout.
    Cancel,
    /// How long what arrives may stay undecided.
    Undecided,
}

/// What to do with something that arrived.
pub(super) enum Verdict {
    Decided(Output),
    Undecided,
}

/// How long an agent gets to answer a prompt that was given up, once the next one is on the wire.
///
/// An agent that answers at all does so at once; one that does not shall not delay the next turn by more than a user notices once.
const UNDECIDED_LIMIT: Duration = Duration::from_secs(2);

/// How many prompts that were given up a connection remembers.
///
/// An agent that owes more answers than this does not answer at all, and there is an end to what it can make us keep.
const GIVEN_UP_KEPT: usize = 1024;

/// Takes a session for a prompt that is about to be written.
pub(super) fn reserve(
    handlers: &Handlers,
    state: &mut State<ClientSide>,
    request: &PromptRequest,
    reply: oneshot::Sender<PromptReply>,
    watcher: Option<Watcher>,
    from: Option<SessionId>,
) -> Result<i64, Error> {
    let agent = state.peer.as_ref().ok_or_else(Error::not_initialized)?;
    check_prompt(request, agent)?;
    let session = &request.session_id;
    if state.side.prompts.occupant(session).is_some() {
        return Err(Error::busy(session.clone()));
    }
    let id = state.calls.next_id();
    if from.is_some() {
        state.side.inboxes.hold_open();
    }
    let prompts = &mut state.side.prompts;
    prompts.by_id.insert(id, session.clone());
    let session_prompts = prompts.sessions.entry(session.clone()).or_default();
    session_prompts.open.push(Open {
        id,
        turn: Turn::Unsent,
        reply: Some(reply),
        watcher,
        from,
        deadlines: Vec::new(),
    });
    start_timer(state, id, handlers.prompt_timeout, Limit::Prompt);
    Ok(id)
}

/// Puts a reserved prompt on the wire; `None` if there is no room yet.
pub(super) fn write(
    handlers: &Handlers,
    state: &mut State<ClientSide>,
    after: &mut After,
    id: i64,
    params: &[u8],
) -> Option<Result<(), Error>> {
    if state.side.prompts.find(id).is_none() {
        // It was settled while it waited.
        return Some(Ok(()));
    }
    if !state.outbox.has_room() {
        return None;
    }
    let method = AGENT_METHOD_NAMES.session_prompt;
    if let Err(error) = state.outbox.request(id, method, params) {
        return Some(Err(Error::unwritable(method, &error)));
    }
    apply(handlers, state, after, id, Input::Written);
    if state.side.prompts.owes_answers(id) {
        start_timer(state, id, UNDECIDED_LIMIT, Limit::Undecided);
    }
    Some(Ok(()))
}

/// Cancels the turn that a session has, if it has one.
pub(super) fn cancel(connection: &Connection<ClientSide>, session: &SessionId) {
    connection.apply(|state, after| {
        if let Some(id) = state.side.prompts.occupant(session) {
            let handlers = &connection.side().handlers;
            apply(handlers, state, after, id, Input::Cancel);
        }
    });
}

/// A timer is due.
pub(super) fn expired(
    handlers: &Handlers,
    state: &mut State<ClientSide>,
    after: &mut After,
    id: i64,
    limit: Limit,
) {
    match limit {
        Limit::Prompt => {
            let timeout = Input::GiveUp(GiveUp::PromptTimeout);
            apply(handlers, state, after, id, timeout);
        }
        Limit::Cancel => apply(handlers, state, after, id, Input::CancelExpired),
        Limit::Undecided => moved_on(state, id),
    }
}

/// Applies an input to a prompt and carries out what comes of it; a prompt that is settled ignores it.
pub(super) fn apply(
    handlers: &Handlers,
    state: &mut State<ClientSide>,
    after: &mut After,
    id: i64,
    input: Input,
) {
    let Some(open) = state.side.prompts.find(id) else {
        return;
    };
    let (next, output) = client::apply(open.turn, input);
    open.turn = next;
    match output {
        Output::Ignore
        | Output::Deliver
        | Output::Discard
        | Output::Ask
        | Output::AnswerCancelled
        | Output::Withdraw => {}
        Output::SendCancel => send_cancel(handlers, state, after, id),
        Output::Abandon => abandon(state, after, id, None),
        Output::AbandonAndSettle(settlement) => abandon(state, after, id, Some(settlement)),
        Output::WithdrawAndSettle(settlement) | Output::Settle(settlement) => {
            open.tell(settlement);
        }
    }
    if next == Turn::Ended {
        remove(state, id);
    }
}

fn send_cancel(handlers: &Handlers, state: &mut State<ClientSide>, after: &mut After, id: i64) {
    let Some(session) = state.side.prompts.by_id.get(&id).cloned() else {
        return;
    };
    start_timer(state, id, handlers.cancel_timeout, Limit::Cancel);
    let method = AGENT_METHOD_NAMES.session_cancel;
    let cancel = CancelNotification::new(session.clone());
    let written = state.outbox.notification(method, &cancel);
    debug_assert!(written.is_ok(), "a session id always serialises");
    settle_questions(state, after, &session);
}

/// Gives a prompt up that is on the wire.
fn abandon(
    state: &mut State<ClientSide>,
    after: &mut After,
    id: i64,
    settlement: Option<Settlement>,
) {
    cancel_call(&mut state.outbox, id);
    stop_timers(state, id);
    let Some(session) = state.side.prompts.by_id.get(&id).cloned() else {
        return;
    };
    settle_questions(state, after, &session);
    discard_undecided(state, after, &session);
    if let Some(open) = state.side.prompts.find(id) {
        match settlement {
            Some(settlement) => open.tell(settlement),
            None => drop(open.reply.take()),
        }
        open.watcher = None;
        if open.from.take().is_some() {
            state.side.inboxes.let_go();
        }
    }
    state.side.prompts.given_up.push_back(id);
    if state.side.prompts.given_up.len() > GIVEN_UP_KEPT
        && let Some(oldest) = state.side.prompts.given_up.pop_front()
    {
        remove(state, oldest);
    }
}

/// The agent has answered a prompt: its caller is told when the updates before the answer are handled.
pub(super) fn answered(
    state: &mut State<ClientSide>,
    after: &mut After,
    id: i64,
    answer: Reply,
) -> bool {
    let Some(session) = state.side.prompts.by_id.get(&id).cloned() else {
        return false;
    };
    let Some(open) = state.side.prompts.find(id) else {
        return false;
    };
    let (_, output) = client::apply(open.turn, Input::Answer);
    if output != Output::Settle(Settlement::Answered) || is_rejection(&answer) {
        discard_undecided(state, after, &session);
    } else {
        moved_on(state, id);
    }
    let Some(mut open) = remove(state, id) else {
        return true;
    };
    let Some(caller) = open.reply.take() else {
        return true;
    };
    // An update handler that prompts its own session is itself what the answer would wait for.
    let waits_for_itself = open.from.as_ref() == Some(&session);
    let item = Item::Answer(caller, PromptReply::Answered(answer));
    let ready = if waits_for_itself {
        Some(item)
    } else {
        state.side.inboxes.push_if_busy(&session, item)
    };
    if let Some(Item::Answer(caller, answer)) = ready {
        drop(caller.send(answer));
    }
    true
}

/// Whether an agent refused a prompt because it still has another one.
fn is_rejection(answer: &Reply) -> bool {
    match answer {
        Reply::Error(error) => error.code == ErrorCode::InvalidRequest,
        Reply::Result(_) | Reply::Lost(_) | Reply::TurnOver { .. } => false,
    }
}

/// Keeps something until it is clear whose it is.
pub(super) fn keep_undecided(state: &mut State<ClientSide>, session: &SessionId, item: Item) {
    let too_much = state.side.inboxes.hold(&item);
    let prompts = &mut state.side.prompts;
    if let Some(waiting) = prompts.sessions.get_mut(session) {
        waiting.undecided.push(item);
    }
    // There is an end to what may be held back; an agent that sends this much is at work on something.
    if too_much && let Some(id) = prompts.occupant(session) {
        moved_on(state, id);
    }
}

/// The agent works on this prompt, so what is undecided is its turn's, and the older ones will not be answered.
fn moved_on(state: &mut State<ClientSide>, id: i64) {
    let Some(session) = state.side.prompts.by_id.get(&id).cloned() else {
        return;
    };
    for older in state.side.prompts.given_up_of(&session) {
        remove(state, older);
    }
    let Some(waiting) = state.side.prompts.sessions.get_mut(&session) else {
        return;
    };
    let undecided = std::mem::take(&mut waiting.undecided);
    let watcher = state.side.prompts.watcher_of(id);
    for mut item in undecided {
        item.watch(watcher.as_ref());
        state.side.inboxes.release(&item);
        state.side.inboxes.push(&session, item);
    }
}

/// What is undecided belonged to a turn that was given up.
fn discard_undecided(state: &mut State<ClientSide>, after: &mut After, session: &SessionId) {
    let Some(waiting) = state.side.prompts.sessions.get_mut(session) else {
        return;
    };
    let undecided = std::mem::take(&mut waiting.undecided);
    let mut questions = false;
    for item in undecided {
        state.side.inboxes.release(&item);
        questions |= matches!(item, Item::Request(..));
        after.discard(item);
    }
    if questions {
        settle_questions(state, after, session);
    }
}

/// Forgets a prompt: it is answered, or will never be.
fn remove(state: &mut State<ClientSide>, id: i64) -> Option<Open> {
    stop_timers(state, id);
    let prompts = &mut state.side.prompts;
    let session = prompts.by_id.remove(&id)?;
    let waiting = prompts.sessions.get_mut(&session)?;
    let place = waiting.open.iter().position(|open| open.id == id)?;
    let open = waiting.open.remove(place);
    if waiting.open.is_empty() && waiting.undecided.is_empty() {
        prompts.sessions.remove(&session);
    }
    if open.from.is_some() {
        state.side.inboxes.let_go();
    }
    Some(open)
}

/// Starts a limit of a prompt, unless it is zero or beyond what the clock can tell.
fn start_timer(state: &mut State<ClientSide>, id: i64, limit: Duration, of: Limit) {
    let at = Instant::now().checked_add(limit);
    let Some(at) = at.filter(|_| !limit.is_zero()) else {
        return;
    };
    if let Some(open) = state.side.prompts.find(id) {
        open.deadlines.push((at, of));
        state.timers.insert(at, (id, of));
    }
}

fn stop_timers(state: &mut State<ClientSide>, id: i64) {
    let Some(open) = state.side.prompts.find(id) else {
        return;
    };
    for (at, limit) in std::mem::take(&mut open.deadlines) {
        state.timers.remove(at, (id, limit));
    }
}

impl Open {
    /// Tells the caller, if it is still there, that there will be no answer.
    fn tell(&mut self, settlement: Settlement) {
        let reply = match settlement {
            Settlement::TimedOut => PromptReply::TimedOut,
            Settlement::CancelTimedOut => PromptReply::CancelTimedOut,
            Settlement::Lost => PromptReply::Lost(Lost::Closed),
            Settlement::Answered => unreachable!("an answer has a text"),
        };
        if let Some(caller) = self.reply.take() {
            drop(caller.send(reply));
        }
    }

    fn lose(mut self, reason: &Lost) {
        let (_, output) = client::apply(self.turn, Input::Lost);
        let told = matches!(
            output,
            Output::Settle(Settlement::Lost) | Output::WithdrawAndSettle(Settlement::Lost)
        );
        if let Some(caller) = self.reply.take().filter(|_| told) {
            drop(caller.send(PromptReply::Lost(reason.clone())));
        }
    }
}

impl Prompts {
    fn find(&mut self, id: i64) -> Option<&mut Open> {
        let session = self.by_id.get(&id)?;
        let mut open = self.sessions.get_mut(session)?.open.iter_mut();
        open.find(|open| open.id == id)
    }

    /// The prompt that a session is taken by.
    fn occupant(&self, session: &SessionId) -> Option<i64> {
        let mut open = self.sessions.get(session)?.open.iter();
        let occupant = open.find(|open| open.turn.occupies_session())?;
        Some(occupant.id)
    }

    /// Where the updates of a session's turn are to be seen, if its caller wants to see them.
    pub(super) fn watcher(&self, session: &SessionId) -> Option<&Watcher> {
        let mut open = self.sessions.get(session)?.open.iter();
        let turn = open.find(|open| matches!(open.turn, Turn::Active | Turn::Cancelling))?;
        turn.watcher.as_ref()
    }

    /// Whether the caller of any turn wants to see its updates.
    pub(super) fn are_watched(&self) -> bool {
        let mut open = self.sessions.values().flat_map(|session| &session.open);
        open.any(|open| open.watcher.is_some())
    }

    fn watcher_of(&mut self, id: i64) -> Option<Watcher> {
        self.find(id)?.watcher.clone()
    }

    /// The prompts of a session that were given up.
    fn given_up_of(&self, session: &SessionId) -> Vec<i64> {
        let open = self.sessions.get(session).map(|session| &session.open);
        open.into_iter()
            .flatten()
            .filter(|open| open.turn == Turn::Quarantined)
            .map(|open| open.id)
            .collect()
    }

    /// Whether the session of this prompt has others that were given up.
    fn owes_answers(&self, id: i64) -> bool {
        let session = self.by_id.get(&id);
        session.is_some_and(|session| !self.given_up_of(session).is_empty())
    }

    /// What becomes of something that arrived for a session.
    pub(super) fn verdict(&self, session: &SessionId, input: Input) -> Verdict {
        let open = self.sessions.get(session).map(|session| &session.open);
        let on_the_wire = open.into_iter().flatten().filter(|open| match open.turn {
            Turn::Active | Turn::Cancelling | Turn::Quarantined => true,
            Turn::Unsent | Turn::UnsentCancelled | Turn::Ended => false,
        });
        let mut outputs = on_the_wire.map(|open| client::apply(open.turn, input).1);
        // Without a turn on the wire it is the session's.
        let none = client::apply(Turn::Ended, input).1;
        let first = outputs.next().unwrap_or(none);
        if outputs.all(|output| output == first) {
            Verdict::Decided(first)
        } else {
            Verdict::Undecided
        }
    }

    /// Settles all prompts with the news that the connection is gone.
    pub(super) fn lose(&mut self, reason: &Lost, after: &mut After) {
        self.by_id.clear();
        self.given_up.clear();
        for (_, session) in self.sessions.drain() {
            for open in session.open {
                open.lose(reason);
            }
            for item in session.undecided {
                after.discard(item);
            }
        }
    }
}
