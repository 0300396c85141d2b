//! What an agent does with what comes in.

use std::{collections::HashMap, sync::Arc, time::Duration};

use endturn_core::wire::Id;
use serde::Deserialize;
use serde_json::value::RawValue;
use tracing::Instrument as _;

use super::{
    PromptContext, RequestContext, close,
    turns::{self, Limit, Sessions, Turn},
    usual::{self, Usual},
};
use crate::{
    capabilities::{ClientPeer, PROTOCOL_VERSION},
    connection::{
        After, BoxFuture, Connection, Handler, Incoming, Key, Limits, NotificationHandler, Side,
        State, answer_error, catch_panic, decode, method_not_found, too_early,
    },
    error::{HandlerResult, Lost},
    schema::v1::{
        self, AGENT_METHOD_NAMES, AgentAuthCapabilities, AgentCapabilities, AuthMethod,
        CancelNotification, Implementation, InitializeResponse, PromptRequest, PromptResponse,
        SessionCapabilities, SessionId,
    },
};

type Turning = BoxFuture<HandlerResult<PromptResponse>>;

/// What runs turns.
pub(super) enum PromptHandler {
    Typed(Box<dyn Fn(PromptRequest, PromptContext) -> Turning + Send + Sync>),
    /// Reads the parameters in its own way, before there is a turn.
    Raw(PromptReader),
}

type PromptReader = Box<dyn Fn(Option<&RawValue>) -> Result<Turner, v1::Error> + Send + Sync>;

/// Runs one turn.
type Turner = Box<dyn FnOnce(PromptContext) -> Turning + Send>;
pub(super) type CancelHandler = Box<dyn Fn(CancelNotification) -> BoxFuture<()> + Send + Sync>;

/// What a program has registered, shared by all connections.
pub(super) struct Handlers {
    pub(super) info: Option<Implementation>,
    /// Makes what the agent offers of what the handlers show.
    pub(super) adjust_capabilities:
        Box<dyn Fn(AgentCapabilities) -> AgentCapabilities + Send + Sync>,
    pub(super) auth_methods: Vec<AuthMethod>,
    pub(super) requests: HashMap<&'static str, Handler<RequestContext>>,
    pub(super) notifications: HashMap<&'static str, NotificationHandler<()>>,
    pub(super) prompt: Option<PromptHandler>,
    pub(super) cancel: Option<CancelHandler>,
    pub(super) cancel_grace_period: Duration,
    pub(super) max_prompt_duration: Duration,
    pub(super) limits: Limits,
    pub(super) request_timeout: Duration,
    pub(super) cascade_cancel: bool,
}

impl Default for Handlers {
    fn default() -> Self {
        Self {
            info: None,
            adjust_capabilities: Box::new(|derived| derived),
            auth_methods: Vec::new(),
            requests: HashMap::new(),
            notifications: HashMap::new(),
            prompt: None,
            cancel: None,
            cancel_grace_period: Duration::from_secs(60),
            max_prompt_duration: Duration::ZERO,
            limits: Limits::default(),
            request_timeout: Duration::from_secs(60),
            cascade_cancel: true,
        }
    }
}

impl Handlers {
    /// The answer to `initialize`, for a program that has no handler of its own.
    fn introduction(&self) -> InitializeResponse {
        InitializeResponse::new(PROTOCOL_VERSION)
            .agent_info(self.info.clone())
            .auth_methods(self.auth_methods.clone())
            .agent_capabilities((self.adjust_capabilities)(self.offers()))
    }

    /// Whether somebody wants to see every `session/cancel` as it came.
    fn taps_cancels(&self) -> bool {
        let method = AGENT_METHOD_NAMES.session_cancel;
        self.notifications.contains_key(method)
    }

    /// What the registered handlers make possible.
    fn offers(&self) -> AgentCapabilities {
        let names = &AGENT_METHOD_NAMES;
        let handles = |method| self.requests.contains_key(method);
        let session = SessionCapabilities::new()
            .list(handles(names.session_list).then(Default::default))
            .delete(handles(names.session_delete).then(Default::default))
            .resume(handles(names.session_resume).then(Default::default))
            .close(handles(names.session_close).then(Default::default));
        #[cfg(feature = "unstable_session_fork")]
        let session = session.fork(handles(names.session_fork).then(Default::default));
        #[cfg(feature = "unstable_session_archive")]
        let session = session.archive(
            (handles(names.session_archive) && handles(names.session_unarchive))
                .then(Default::default),
        );
        #[cfg(feature = "unstable_session_status")]
        let session = session.status(handles(names.session_status).then(Default::default));
        #[cfg(feature = "unstable_session_options")]
        let session = session.options(handles(names.session_options).then(Default::default));
        #[cfg(feature = "unstable_session_set_title")]
        let session = session.title(handles(names.session_set_title).then(Default::default));
        let auth =
            AgentAuthCapabilities::new().logout(handles(names.logout).then(Default::default));
        #[cfg(feature = "unstable_auth_status")]
        let auth = auth.status(handles(names.auth_status).then(Default::default));
        let offers = AgentCapabilities::new()
            .load_session(handles(names.session_load))
            .session_capabilities(session)
            .auth(auth);
        #[cfg(feature = "unstable_llm_providers")]
        let offers = offers.providers(
            (handles(names.providers_list)
                && handles(names.providers_set)
                && handles(names.providers_disable))
            .then(Default::default),
        );
        offers
    }
}

/// The agent's end of a connection.
pub(super) struct AgentSide {
    pub(super) handlers: Arc<Handlers>,
}

/// What the agent keeps about an incoming request.
pub(super) enum Work {
    Turn(Turn),
    /// `session/close`, for this session.
    Close(SessionId),
    Request,
}

impl AgentSide {
    pub(super) fn new(handlers: Arc<Handlers>) -> Self {
        Self { handlers }
    }
}

impl Side for AgentSide {
    const NAME: &'static str = "agent";

    type State = Sessions;
    type Work = Work;
    type Timer = (Key, Limit);
    type Peer = ClientPeer;

    const WAITS_FOR_INITIALIZE: bool = true;

    fn shortcut(connection: &Connection<Self>, line: &[u8]) -> bool {
        let handlers = &connection.side().handlers;
        match (usual::read(line), &handlers.prompt) {
            (Some(Usual::Prompt(id, request)), Some(PromptHandler::Typed(handle))) => {
                let session = request.session_id.clone();
                start_turn(connection, &id, session, |context| handle(request, context));
            }
            (Some(Usual::Cancel(notification)), _) if !handlers.taps_cancels() => {
                cancel(connection, notification);
            }
            (Some(Usual::Prompt(..) | Usual::Cancel(_)) | None, _) => return false,
        }
        true
    }

    fn request(connection: &Connection<Self>, id: Id, method: &str, params: Option<&RawValue>) {
        let result = if method == AGENT_METHOD_NAMES.session_prompt {
            prompt(connection, &id, params)
        } else {
            request(connection, &id, method, params)
        };
        match result {
            Err(error) if method == AGENT_METHOD_NAMES.initialize => {
                answer_error(connection, &id, &error);
            }
            Err(error) => refuse(connection, &id, error),
            Ok(()) => {}
        }
    }

    fn notification(connection: &Connection<Self>, method: &str, params: Option<&RawValue>) {
        let handler = connection.side().handlers.notifications.get(method);
        if let Some(handle) = handler {
            match handle(params, ()) {
                Ok(told) => tell(method, told),
                Err(error) => tracing::warn!(method, %error, "ignored an unreadable notification"),
            }
        }
        if method != AGENT_METHOD_NAMES.session_cancel {
            if handler.is_none() {
                tracing::debug!(method, "ignored a notification that nobody handles");
            }
            return;
        }
        match decode::<CancelNotification>(params) {
            Ok(notification) => cancel(connection, notification),
            Err(error) => tracing::warn!(%error, "ignored a session/cancel that cannot be read"),
        }
    }

    fn answer(_: &Connection<Self>, id: i64, _: Result<&RawValue, &RawValue>) {
        tracing::debug!(id, "discarded an answer that nobody waits for");
    }

    fn cancel_request(
        connection: &Connection<Self>,
        state: &mut State<Self>,
        after: &mut After,
        key: Key,
    ) {
        match state.requests.get_mut(key).map(|incoming| &incoming.work) {
            Some(Work::Turn(_)) => turns::cancel_request(connection.side(), state, after, key),
            Some(Work::Close(_) | Work::Request) => state.cancel_incoming(after, key),
            None => {}
        }
    }

    fn expired(connection: &Connection<Self>, (key, limit): Self::Timer) {
        turns::expired(connection, key, limit);
    }

    fn ended(state: &mut State<Self>, work: &Work) {
        turns::ended(state, work);
    }

    fn forget(incoming: Incoming<Self>, after: &mut After) {
        turns::forget(incoming, after);
    }

    fn lost(state: &mut State<Self>, _: &Lost, _: &mut After) {
        state.side = Sessions::default();
    }

    fn unreadable(connection: &Connection<Self>, _: &[u8], _: &'static str, error: &v1::Error) {
        answer_error(connection, &Id::Null, error);
    }

    async fn ready(_: &Connection<Self>) {}
}

/// Answers a request that has no handler or cannot be read; before `initialize`, that is what is wrong with it.
fn refuse(connection: &Connection<AgentSide>, id: &Id, error: v1::Error) {
    let error = connection.apply(|state, _| match state.peer {
        Some(_) => error,
        None => too_early(),
    });
    answer_error(connection, id, &error);
}

/// A prompt, in whatever form.
fn prompt(
    connection: &Connection<AgentSide>,
    id: &Id,
    params: Option<&RawValue>,
) -> Result<(), v1::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Session {
        session_id: SessionId,
    }
    match &connection.side().handlers.prompt {
        None => return Err(method_not_found(AGENT_METHOD_NAMES.session_prompt)),
        Some(PromptHandler::Typed(handle)) => {
            let request: PromptRequest = decode(params)?;
            let session = request.session_id.clone();
            start_turn(connection, id, session, |context| handle(request, context));
        }
        Some(PromptHandler::Raw(read)) => {
            let session = decode::<Session>(params)?.session_id;
            start_turn(connection, id, session, read(params)?);
        }
    }
    Ok(())
}

/// Starts a turn, or refuses it.
fn start_turn(
    connection: &Connection<AgentSide>,
    id: &Id,
    session: SessionId,
    handle: impl FnOnce(PromptContext) -> Turning,
) {
    let Some(started) = turns::start(connection, id, &session) else {
        return;
    };
    let span = tracing::debug_span!("turn", %session, request = %id);
    let context = PromptContext::new(connection.clone(), &started, session);
    let run = turns::run(connection.clone(), started, handle(context));
    // Entering a span that nobody looks at would still be work for every poll of the handler.
    if span.is_disabled() {
        connection.spawn(run.key(), run);
    } else {
        connection.spawn(run.key(), run.instrument(span));
    }
}

/// Runs the handler of any other request.
fn request(
    connection: &Connection<AgentSide>,
    id: &Id,
    method: &str,
    params: Option<&RawValue>,
) -> Result<(), v1::Error> {
    let handlers = &connection.side().handlers;
    if method == AGENT_METHOD_NAMES.initialize {
        // Before any later message is read, which may need it.
        let client = ClientPeer::new(decode(params)?);
        connection.apply(|state, _| state.peer = Some(client));
    }
    let Some((&method, handle)) = handlers.requests.get_key_value(method) else {
        if method == AGENT_METHOD_NAMES.initialize {
            let response = handlers.introduction();
            connection.apply(|state, _| state.outbox.answer(id, Ok(&response)));
            return Ok(());
        }
        return Err(method_not_found(method));
    };
    if method == AGENT_METHOD_NAMES.session_close {
        return close::close(connection, id, params, handle);
    }
    let Some(started) = connection.apply(|state, _| state.open(id.clone(), Work::Request)) else {
        return Ok(());
    };
    let context = RequestContext::new(connection.clone(), &started, method);
    match handle(params, context) {
        Ok(handler) => {
            let run = connection.clone().run_request(started.key, method, handler);
            connection.spawn(started.key, run);
            Ok(())
        }
        Err(error) => {
            connection.apply(|state, _| state.requests.remove(started.key));
            Err(error)
        }
    }
}

/// `session/cancel`: the turn first, then whoever wants to be told.
fn cancel(connection: &Connection<AgentSide>, notification: CancelNotification) {
    turns::cancel(connection, &notification.session_id);
    tell_cancel_handler(connection, notification);
}

pub(super) fn tell_cancel_handler(
    connection: &Connection<AgentSide>,
    notification: CancelNotification,
) {
    if let Some(handle) = &connection.side().handlers.cancel {
        tell(AGENT_METHOD_NAMES.session_cancel, handle(notification));
    }
}

/// Runs the handler of a notification on a task of its own.
fn tell(method: &str, told: BoxFuture<()>) {
    let method = method.to_owned();
    tokio::spawn(async move {
        if catch_panic(told).await.is_err() {
            tracing::error!(method, "a notification's handler panicked");
        }
    });
}
