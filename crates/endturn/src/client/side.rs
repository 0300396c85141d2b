//! What a client does with what comes in.

use std::{borrow::Cow, collections::HashMap, sync::Weak, time::Duration};

use endturn_core::{
    request::incoming,
    turn::{
        agent::CancelCause,
        client::{Input, Output},
    },
    wire::Id,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{
    Client, Handle, chunk,
    inbox::{self, Inboxes, Item},
    prompts::{self, Limit, Prompts, Verdict},
    states::States,
    updates,
};
use crate::{
    capabilities::AgentPeer,
    connection::{
        After, BoxFuture, Connection, Handler, Incoming, Key, Limits, NotificationHandler, Reply,
        Side, State, answer_error, method_not_found,
    },
    error::Lost,
    schema::v1::{
        self, CLIENT_METHOD_NAMES, ClientCapabilities, ElicitationCapabilities,
        ElicitationFormCapabilities, ElicitationUrlCapabilities, FileSystemCapabilities,
        Implementation, InitializeRequest, SessionId, SessionNotification,
    },
};

pub(super) type UpdateHandler =
    Box<dyn Fn(SessionNotification, Client) -> BoxFuture<()> + Send + Sync>;
type StrayHandler = Box<dyn Fn(&str, &'static str) + Send + Sync>;

/// What a program has registered.
pub(super) struct Handlers {
    pub(super) update: Option<UpdateHandler>,
    /// The update handler blocks the thread that it runs on.
    pub(super) update_blocks: bool,
    /// The states of the sessions are kept.
    pub(super) tracks_sessions: bool,
    pub(super) info: Option<Implementation>,
    /// Makes what the client offers of what the handlers show.
    pub(super) adjust_capabilities:
        Box<dyn Fn(ClientCapabilities) -> ClientCapabilities + Send + Sync>,
    pub(super) requests: HashMap<&'static str, Handler<Client>>,
    pub(super) notifications: HashMap<&'static str, NotificationHandler<Client>>,
    pub(super) unknown_update: Option<NotificationHandler<Client>>,
    pub(super) stray: Option<StrayHandler>,
    pub(super) limits: Limits,
    pub(super) request_timeout: Duration,
    pub(super) prompt_timeout: Duration,
    pub(super) cancel_timeout: Duration,
}

impl Default for Handlers {
    fn default() -> Self {
        Self {
            update: None,
            update_blocks: false,
            tracks_sessions: false,
            info: None,
            adjust_capabilities: Box::new(|derived| derived),
            requests: HashMap::new(),
            notifications: HashMap::new(),
            unknown_update: None,
            stray: None,
            limits: Limits::default(),
            request_timeout: Duration::from_secs(60),
            prompt_timeout: Duration::ZERO,
            cancel_timeout: Duration::ZERO,
        }
    }
}

impl Handlers {
    /// Completes a request to initialize with what the caller did not say.
    pub(super) fn introduce(&self, mut request: InitializeRequest) -> InitializeRequest {
        if request.client_capabilities == ClientCapabilities::default() {
            request.client_capabilities = (self.adjust_capabilities)(self.offers());
        }
        if request.client_info.is_none() {
            request.client_info.clone_from(&self.info);
        }
        request
    }

    /// What the registered handlers make possible.
    fn offers(&self) -> ClientCapabilities {
        let names = &CLIENT_METHOD_NAMES;
        let handles = |method| self.requests.contains_key(method);
        let files = FileSystemCapabilities::new()
            .read_text_file(handles(names.fs_read_text_file))
            .write_text_file(handles(names.fs_write_text_file));
        let terminal = [
            names.terminal_create,
            names.terminal_output,
            names.terminal_wait_for_exit,
            names.terminal_kill,
            names.terminal_release,
        ];
        let elicitation = handles(names.elicitation_create).then(|| {
            let pages = self.notifications.contains_key(names.elicitation_complete);
            ElicitationCapabilities::new()
                .form(ElicitationFormCapabilities::new())
                .url(pages.then(ElicitationUrlCapabilities::new))
        });
        ClientCapabilities::new()
            .fs(files)
            .terminal(terminal.into_iter().all(handles))
            .elicitation(elicitation)
    }

    /// Whether every update has to be looked at as it came.
    fn taps_updates(&self) -> bool {
        self.notifications
            .contains_key(CLIENT_METHOD_NAMES.session_update)
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
    pub(super) prompts: Prompts,
    pub(super) inboxes: Inboxes,
    pub(super) states: States,
}

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

impl Side for ClientSide {
    const NAME: &'static str = "client";

    type State = Tables;
    type Work = Work;
    type Timer = (i64, Limit);
    type Peer = AgentPeer;

    /// What an agent may ask before `initialize` is answered is its own affair.
    const WAITS_FOR_INITIALIZE: bool = false;

    fn shortcut(connection: &Connection<Self>, line: &[u8]) -> bool {
        let handlers = &connection.side().handlers;
        if handlers.taps_updates() || !updates::wants_updates(connection) {
            return false;
        }
        let Some(notification) = chunk::read(line) else {
            return false;
        };
        updates::deliver_update(connection, notification, line.len());
        true
    }

    fn request(connection: &Connection<Self>, id: Id, method: &str, params: Option<&RawValue>) {
        if let Err(error) = request(connection, &id, method, params) {
            answer_error(connection, &id, &error);
        }
    }

    fn notification(connection: &Connection<Self>, method: &str, params: Option<&RawValue>) {
        let handler = connection.side().handlers.notifications.get(method);
        if let Some(handle) = handler {
            updates::notify(connection, method, handle, params);
        }
        if method == CLIENT_METHOD_NAMES.session_update {
            updates::update(connection, params);
        } else if handler.is_none() {
            tracing::debug!(method, "ignored a notification that nobody handles");
        }
    }

    fn answer(connection: &Connection<Self>, id: i64, outcome: Result<&RawValue, &RawValue>) {
        let reply = Reply::from_wire(outcome);
        let known = inbox::apply(connection, |state, after| {
            prompts::answered(state, after, id, reply)
        });
        if !known {
            tracing::debug!(id, "discarded an answer that nobody waits for");
        }
    }

    fn cancel_request(_: &Connection<Self>, state: &mut State<Self>, after: &mut After, key: Key) {
        state.cancel_incoming(after, key);
    }

    fn expired(connection: &Connection<Self>, (id, limit): Self::Timer) {
        let handlers = &connection.side().handlers;
        inbox::apply(connection, |state, after| {
            prompts::expired(handlers, state, after, id, limit);
        });
    }

    fn ended(_: &mut State<Self>, _: &Work) {}

    fn forget(incoming: Incoming<Self>, after: &mut After) {
        incoming.abandon(after, CancelCause::ConnectionLost);
    }

    fn lost(state: &mut State<Self>, reason: &Lost, after: &mut After) {
        state.side.prompts.lose(reason, after);
    }

    fn unreadable(connection: &Connection<Self>, line: &[u8], advice: &'static str, _: &v1::Error) {
        // No answer: an agent that prints logs among its messages would only be confused by one.
        if let Some(show) = &connection.side().handlers.stray {
            show(&String::from_utf8_lossy(line), advice);
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
        return Err(method_not_found(method));
    };
    let Some(client) = side.client() else {
        return Err(v1::Error::internal_error());
    };
    let handler = handle(params, client)?;
    let session = session_of(params);
    let question = Question::of(method).zip(session.clone());

    let ready = inbox::apply(connection, |state, _| {
        let verdict = match &session {
            Some(session) if question.is_some() => {
                state.side.prompts.verdict(session, Input::Question)
            }
            Some(_) | None => Verdict::Decided(Output::Ask),
        };
        if let (Some((question, _)), Verdict::Decided(Output::AnswerCancelled)) =
            (&question, &verdict)
        {
            state.outbox.answer(id, Ok(&question.cancelled()));
            return None;
        }
        let key = state.open(id.clone(), Work { question })?.key;
        let run = connection.clone().run_request(key, method, handler);
        let item = Item::Request(key, Box::pin(run));
        match (&session, verdict) {
            (None, _) => Some(item),
            (Some(session), Verdict::Decided(_)) => state.side.inboxes.push_if_busy(session, item),
            (Some(session), Verdict::Undecided) => {
                prompts::keep_undecided(state, session, item);
                None
            }
        }
    });
    if let Some(Item::Request(key, run)) = ready {
        connection.spawn(key, run);
    }
    Ok(())
}

/// The session that a request is about.
pub(super) fn session_of(params: Option<&RawValue>) -> Option<SessionId> {
    #[derive(Deserialize)]
    struct Params<'a> {
        #[serde(borrow, rename = "sessionId")]
        session_id: Cow<'a, str>,
    }
    let params: Params<'_> = serde_json::from_str(params?.get()).ok()?;
    Some(SessionId::new(params.session_id.into_owned()))
}

/// The session whose update handler is running on this task.
pub(super) fn handling_session() -> Option<SessionId> {
    inbox::HANDLING.try_with(SessionId::clone).ok()
}

/// Answers the session's open questions as cancelled and drops their handlers.
pub(super) fn settle_questions(
    state: &mut State<ClientSide>,
    after: &mut After,
    session: &SessionId,
) {
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
