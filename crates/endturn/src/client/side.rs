//! What a client does with what comes in, and the prompts it has open: drives the machines of the core.

use std::{borrow::Cow, collections::HashMap, sync::Weak, time::Duration};

use endturn_core::{
    request::incoming,
    turn::{
        agent::CancelCause,
        client::{self, GiveUp, Input, Output, Settlement, Turn},
    },
    wire::Id,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::{sync::oneshot, time::Instant};

use super::{
    Client, Handle,
    inbox::{self, Inboxes, Item},
};
use crate::{
    connection::{
        After, BoxFuture, Connection, Handler, Incoming, Key, Reply, Side, State, answer_error,
        cancel_call, decode,
    },
    error::{Error, Lost},
    schema::v1::{
        self, AGENT_METHOD_NAMES, CLIENT_METHOD_NAMES, CancelNotification, SessionId,
        SessionNotification,
    },
};

pub(super) type UpdateHandler =
    Box<dyn Fn(SessionNotification, Client) -> BoxFuture<()> + Send + Sync>;
type StrayHandler = Box<dyn Fn(&str) + Send + Sync>;

/// What a program has registered.
pub(super) struct Handlers {
    pub(super) update: Option<UpdateHandler>,
    pub(super) requests: HashMap<&'static str, Handler<Client>>,
    pub(super) stray: Option<StrayHandler>,
    pub(super) request_timeout: Duration,
    pub(super) prompt_timeout: Duration,
    pub(super) cancel_timeout: Duration,
}

impl Default for Handlers {
    fn default() -> Self {
        Self {
            update: None,
            requests: HashMap::new(),
            stray: None,
            request_timeout: Duration::from_secs(60),
            prompt_timeout: Duration::ZERO,
            cancel_timeout: Duration::ZERO,
        }
    }
}

/// The client's end of a connection.
pub(super) struct ClientSide {
    pub(super) handlers: Handlers,
    /// For the handlers; weak, so that a program that drops its client ends the connection.
    handle: Weak<Handle>,
}

impl ClientSide {
    pub(super) fn new(handlers: Handlers, handle: Weak<Handle>) -> Self {
        Self { handlers, handle }
    }

    /// The client for a handler; `None` when the program has dropped it.
    pub(super) fn client(&self) -> Option<Client> {
        let handle = self.handle.upgrade()?;
        Some(Client { handle })
    }
}

/// The client's tables.
#[derive(Default)]
pub(super) struct Tables {
    /// Which session a prompt belongs to.
    prompts: HashMap<i64, SessionId>,
    sessions: HashMap<SessionId, Prompts>,
    pub(super) inboxes: Inboxes,
}

/// The unanswered prompts of one session, oldest first.
///
/// At most one of them is waited for; the others were given up and still owe an answer.
#[derive(Default)]
struct Prompts(Vec<Open>);

/// A prompt that has not been answered.
struct Open {
    id: i64,
    turn: Turn,
    reply: Option<oneshot::Sender<PromptReply>>,
    /// The session whose update handler waits for this prompt, if one does.
    from: Option<SessionId>,
    prompt_deadline: Option<Instant>,
    cancel_deadline: Option<Instant>,
}

/// What the caller of a prompt is told.
pub(super) enum PromptReply {
    Answered(Reply),
    TimedOut,
    CancelTimedOut,
    Lost(Lost),
}

/// How many prompts that were given up a session remembers, to tell their late updates from the next turn's.
///
/// An agent that owes more answers than this does not answer at all, and what it sends cannot be told apart anyway.
const GIVEN_UP_KEPT: usize = 8;

/// What the client keeps about an incoming request.
pub(super) struct Work {
    /// A question to the user, which a cancelled turn settles.
    question: Option<(Question, SessionId)>,
}

/// What a user can be asked.
#[derive(Clone, Copy)]
enum Question {
    Permission,
    Elicitation,
}

impl Question {
    fn of(method: &str) -> Option<Self> {
        if method == CLIENT_METHOD_NAMES.session_request_permission {
            Some(Self::Permission)
        } else if method == CLIENT_METHOD_NAMES.elicitation_create {
            Some(Self::Elicitation)
        } else {
            None
        }
    }

    /// The answer to a question of a cancelled turn: neither consent nor refusal.
    fn cancelled(self) -> serde_json::Value {
        match self {
            Self::Permission => serde_json::json!({ "outcome": { "outcome": "cancelled" } }),
            Self::Elicitation => serde_json::json!({ "action": "cancel" }),
        }
    }
}

/// What a timer of a prompt is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    Prompt,
    Cancel,
}

impl Side for ClientSide {
    type State = Tables;
    type Work = Work;
    type Timer = (i64, Limit);

    fn request(connection: &Connection<Self>, id: Id, method: &str, params: Option<&RawValue>) {
        if let Err(error) = request(connection, &id, method, params) {
            answer_error(connection, &id, &error);
        }
    }

    fn notification(connection: &Connection<Self>, method: &str, params: Option<&RawValue>) {
        if method == CLIENT_METHOD_NAMES.session_update {
            update(connection, params);
        } else {
            tracing::debug!(method, "ignored a notification that nobody handles");
        }
    }

    fn answer(connection: &Connection<Self>, id: i64, outcome: Result<&RawValue, &RawValue>) {
        let reply = Reply::from_wire(outcome);
        let known = connection.apply(|state, _| {
            let session = state.side.prompts.get(&id).cloned();
            if let Some(session) = &session {
                answered(state, session, id, reply);
            }
            session.is_some()
        });
        if !known {
            tracing::debug!(id, "discarded an answer that nobody waits for");
        }
        inbox::start_waiting(connection);
    }

    fn cancel_request(_: &Connection<Self>, state: &mut State<Self>, after: &mut After, key: Key) {
        state.cancel_incoming(after, key);
    }

    fn expired(
        connection: &Connection<Self>,
        state: &mut State<Self>,
        after: &mut After,
        (id, limit): Self::Timer,
    ) {
        let input = match limit {
            Limit::Prompt => Input::GiveUp(GiveUp::PromptTimeout),
            Limit::Cancel => Input::CancelExpired,
        };
        if let Some(session) = state.side.prompts.get(&id).cloned() {
            prompt_input(connection.side(), state, after, &session, id, input);
        }
    }

    fn ended(_: &mut State<Self>, _: &Work) {}

    fn forget(incoming: Incoming<Self>, after: &mut After) {
        incoming.abandon(after, CancelCause::ConnectionLost);
    }

    fn lost(state: &mut State<Self>, reason: &Lost) {
        state.side.prompts.clear();
        for (_, prompts) in state.side.sessions.drain() {
            for open in prompts.0 {
                open.lose(reason);
            }
        }
    }

    fn stray(connection: &Connection<Self>, line: &[u8]) {
        // No answer: an agent that prints logs among its messages would only be confused by one.
        if let Some(show) = &connection.side().handlers.stray {
            show(&String::from_utf8_lossy(line));
        }
    }

    async fn ready(connection: &Connection<Self>) {
        inbox::ready(connection).await;
    }
}

/// A request of the agent: to its handler, behind the updates that came before it.
fn request(
    connection: &Connection<ClientSide>,
    id: &Id,
    method: &str,
    params: Option<&RawValue>,
) -> Result<(), v1::Error> {
    let side = connection.side();
    let Some((&method, handle)) = side.handlers.requests.get_key_value(method) else {
        return Err(v1::Error::method_not_found().data(serde_json::json!({ "method": method })));
    };
    let Some(client) = side.client() else {
        return Err(v1::Error::internal_error());
    };
    let handler = handle(params, client)?;
    let session = session_of(params);
    let question = Question::of(method).zip(session.clone());

    let ready = connection.apply(|state, _| {
        if let Some((question, session)) = &question
            && state.side.input_of_owner(session, Input::Question) == Output::AnswerCancelled
        {
            state.outbox.answer(id, Ok(&question.cancelled()));
            return None;
        }
        let key = state.open(id.clone(), Work { question })?.key;
        let run = Box::pin(connection.clone().run_request(key, method, handler));
        match &session {
            Some(session) => state
                .side
                .inboxes
                .push_if_busy(session, Item::Request(key, run)),
            None => Some(Item::Request(key, run)),
        }
    });
    if let Some(Item::Request(key, run)) = ready {
        connection.spawn(key, run);
    }
    Ok(())
}

/// The session that a request is about.
fn session_of(params: Option<&RawValue>) -> Option<SessionId> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "sessionId")]
        session_id: Cow<'a, str>,
    }
    let params: Params<'_> = serde_json::from_str(params?.get()).ok()?;
    Some(SessionId::new(params.session_id.into_owned()))
}

/// An update: into the inbox of its session, unless it belongs to a turn that was given up.
fn update(connection: &Connection<ClientSide>, params: Option<&RawValue>) {
    if connection.side().handlers.update.is_none() {
        return;
    }
    let notification: SessionNotification = match decode(params) {
        Ok(notification) => notification,
        Err(error) => {
            tracing::warn!(%error, "skipped an update that cannot be read");
            return;
        }
    };
    let size = params.map_or(0, |params| params.get().len());
    let delivered = connection.apply(|state, _| {
        let session = notification.session_id.clone();
        let deliver = state.side.input_of_owner(&session, Input::Update) == Output::Deliver;
        if deliver {
            let item = Item::Update(Box::new(notification), size);
            state.side.inboxes.push(&session, item);
        }
        deliver
    });
    if delivered {
        inbox::start_waiting(connection);
    } else {
        tracing::debug!("discarded an update of a turn that was given up");
    }
}

/// The session whose update handler is running on this task.
pub(super) fn handling_session() -> Option<SessionId> {
    inbox::HANDLING.try_with(SessionId::clone).ok()
}

/// Takes a session for a prompt that is about to be written.
pub(super) fn reserve(
    side: &ClientSide,
    state: &mut State<ClientSide>,
    session: &SessionId,
    reply: oneshot::Sender<PromptReply>,
    from: Option<SessionId>,
) -> Result<i64, Error> {
    let prompts = state.side.sessions.entry(session.clone()).or_default();
    if prompts.0.iter().any(|open| open.turn.occupies_session()) {
        return Err(Error::busy(session.clone()));
    }
    let id = state.calls.next_id();
    let prompt_deadline = deadline(side.handlers.prompt_timeout);
    if let Some(at) = prompt_deadline {
        state.timers.insert(at, (id, Limit::Prompt));
    }
    if from.is_some() {
        state.side.inboxes.hold_open();
    }
    prompts.0.push(Open {
        id,
        turn: Turn::Unsent,
        reply: Some(reply),
        from,
        prompt_deadline,
        cancel_deadline: None,
    });
    state.side.prompts.insert(id, session.clone());
    Ok(id)
}

/// Puts a reserved prompt on the wire; `None` if there is no room yet.
pub(super) fn write_prompt(
    side: &ClientSide,
    state: &mut State<ClientSide>,
    after: &mut After,
    session: &SessionId,
    id: i64,
    params: &[u8],
) -> Option<Result<(), Error>> {
    if !state.side.prompts.contains_key(&id) {
        // It was settled while it waited.
        return Some(Ok(()));
    }
    if !state.outbox.has_room() {
        return None;
    }
    let method = AGENT_METHOD_NAMES.session_prompt;
    if let Err(error) = state.outbox.request(id, method, params) {
        return Some(Err(Error::invalid_input(method, error)));
    }
    prompt_input(side, state, after, session, id, Input::Written);
    Some(Ok(()))
}

/// Cancels the turn that a session has, if it has one.
pub(super) fn cancel_session(connection: &Connection<ClientSide>, session: &SessionId) {
    connection.apply(|state, after| {
        let occupant = state.side.sessions.get(session).and_then(|prompts| {
            let mut open = prompts.0.iter();
            open.find(|open| open.turn.occupies_session())
        });
        if let Some(id) = occupant.map(|open| open.id) {
            prompt_input(connection.side(), state, after, session, id, Input::Cancel);
        }
    });
}

/// Applies an input to a prompt and carries out what comes of it; a prompt that is settled ignores it.
pub(super) fn prompt_input(
    side: &ClientSide,
    state: &mut State<ClientSide>,
    after: &mut After,
    session: &SessionId,
    id: i64,
    input: Input,
) {
    let Some(open) = state.side.find(session, id) else {
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
        Output::SendCancel => {
            open.cancel_deadline = deadline(side.handlers.cancel_timeout);
            if let Some(at) = open.cancel_deadline {
                state.timers.insert(at, (id, Limit::Cancel));
            }
            let cancel = CancelNotification::new(session.clone());
            let written = state
                .outbox
                .notification(AGENT_METHOD_NAMES.session_cancel, &cancel);
            debug_assert!(written.is_ok(), "a session id always serialises");
            settle_questions(state, after, session);
        }
        Output::Abandon => abandon(state, after, session, id, None),
        Output::AbandonAndSettle(settlement) => {
            abandon(state, after, session, id, Some(settlement));
        }
        Output::WithdrawAndSettle(settlement) | Output::Settle(settlement) => {
            open.tell(settlement);
        }
    }
    if next == Turn::Ended {
        state.remove_prompt(session, id);
    }
}

/// Gives a prompt up that is on the wire.
fn abandon(
    state: &mut State<ClientSide>,
    after: &mut After,
    session: &SessionId,
    id: i64,
    settlement: Option<Settlement>,
) {
    cancel_call(&mut state.outbox, id);
    settle_questions(state, after, session);
    state.stop_timers(session, id);
    if let Some(open) = state.side.find(session, id) {
        match settlement {
            Some(settlement) => open.tell(settlement),
            None => drop(open.reply.take()),
        }
    }
    if let Some(oldest) = state.side.surplus(session) {
        state.remove_prompt(session, oldest);
    }
}

/// The agent has answered a prompt: its caller is told when the updates before the answer are handled.
fn answered(state: &mut State<ClientSide>, session: &SessionId, id: i64, answer: Reply) {
    let Some(mut open) = state.remove_prompt(session, id) else {
        return;
    };
    let (_, output) = client::apply(open.turn, Input::Answer);
    if output != Output::Settle(Settlement::Answered) {
        return;
    }
    let Some(caller) = open.reply.take() else {
        return;
    };
    let answer = PromptReply::Answered(answer);
    // An update handler that prompts its own session is itself what the answer would wait for.
    let waits_for_itself = open.from.as_ref() == Some(session);
    let item = Item::Answer(caller, answer);
    let ready = if waits_for_itself {
        Some(item)
    } else {
        state.side.inboxes.push_if_busy(session, item)
    };
    if let Some(Item::Answer(caller, answer)) = ready {
        drop(caller.send(answer));
    }
}

/// Answers the session's open questions as cancelled and drops their handlers.
fn settle_questions(state: &mut State<ClientSide>, after: &mut After, session: &SessionId) {
    let open: Vec<(Key, Question)> = state
        .requests
        .iter_mut()
        .filter_map(|(key, open)| match &open.work.question {
            Some((question, of)) if of == session => Some((key, *question)),
            Some(_) | None => None,
        })
        .collect();
    for (key, question) in open {
        let (_, output) =
            incoming::apply(incoming::Request::Running, incoming::Input::TurnCancelled);
        if output == incoming::Output::SettleCancelled {
            let cause = CancelCause::SessionCancel;
            state.interrupt(after, key, cause, Ok(&question.cancelled()));
        }
    }
}

/// The moment a limit that starts now has passed; `None` if it is off, or beyond what the clock can tell.
fn deadline(limit: Duration) -> Option<Instant> {
    if limit.is_zero() {
        return None;
    }
    Instant::now().checked_add(limit)
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

impl Tables {
    fn find(&mut self, session: &SessionId, id: i64) -> Option<&mut Open> {
        let mut open = self.sessions.get_mut(session)?.0.iter_mut();
        open.find(|open| open.id == id)
    }

    /// What becomes of something that arrived for a session: its oldest unanswered prompt decides.
    ///
    /// An agent runs one turn of a session at a time, so until it has answered that prompt, what it sends is about that turn.
    fn input_of_owner(&self, session: &SessionId, input: Input) -> Output {
        let oldest = self
            .sessions
            .get(session)
            .and_then(|prompts| prompts.0.first());
        client::apply(oldest.map_or(Turn::Ended, |open| open.turn), input).1
    }

    /// The oldest prompt of a session that was given up, if there are more of them than are kept.
    fn surplus(&self, session: &SessionId) -> Option<i64> {
        let prompts = self.sessions.get(session)?;
        let mut given_up = prompts
            .0
            .iter()
            .filter(|open| !open.turn.occupies_session());
        let oldest = given_up.next()?.id;
        (given_up.count() >= GIVEN_UP_KEPT).then_some(oldest)
    }
}

impl State<ClientSide> {
    /// Forgets a prompt: it is answered, or will never be.
    fn remove_prompt(&mut self, session: &SessionId, id: i64) -> Option<Open> {
        self.stop_timers(session, id);
        self.side.prompts.remove(&id)?;
        let prompts = self.side.sessions.get_mut(session)?;
        let place = prompts.0.iter().position(|open| open.id == id)?;
        let open = prompts.0.remove(place);
        if prompts.0.is_empty() {
            self.side.sessions.remove(session);
        }
        if open.from.is_some() {
            self.side.inboxes.let_go();
        }
        Some(open)
    }

    fn stop_timers(&mut self, session: &SessionId, id: i64) {
        let Some(open) = self.side.find(session, id) else {
            return;
        };
        let deadlines = [
            (open.prompt_deadline.take(), Limit::Prompt),
            (open.cancel_deadline.take(), Limit::Cancel),
        ];
        for (at, limit) in deadlines {
            if let Some(at) = at {
                self.timers.remove(at, (id, limit));
            }
        }
    }
}
