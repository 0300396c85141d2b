//! Putting an agent together.

use std::{sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};

use super::{
    Agent, PromptContext, RequestContext,
    side::{Handlers, PromptHandler},
};
use crate::{
    blocking,
    capabilities::PROTOCOL_VERSION,
    connection::{BoxFuture, decode, handler, notification_handler},
    error::HandlerResult,
    request::{NotifiesAgent, ToAgent},
    schema::v1::{
        AGENT_METHOD_NAMES, AgentCapabilities, AuthMethod, CancelNotification, Implementation,
        InitializeRequest, InitializeResponse, PromptRequest, PromptResponse,
    },
};

/// Collects an agent's handlers and limits; made by [`Agent::builder`].
///
/// Handlers run concurrently, each on a task of its own, and never hold up the connection: a cancel reaches a turn whatever its handler does.
/// A handler that panics has its request answered with error `-32603`; the connection and all other requests go on.
/// A request without a handler is answered `-32601`, except `initialize`, which has a default.
/// Registering a handler a second time replaces the first.
///
/// ```
/// use std::time::Duration;
///
/// use endturn::{Agent, schema::v1::*};
///
/// let agent = Agent::builder()
///     .info(Implementation::new("my-agent", "1.0"))
///     .auth_methods([AuthMethod::Agent(AuthMethodAgent::new("key", "API key"))])
///     .on_authenticate(|_request, _cx| async { Ok(AuthenticateResponse::new()) })
///     .on_new_session(|_request, _cx| async { Ok(NewSessionResponse::new("session-1")) })
///     .on_prompt_blocking(|_request, cx| {
///         cx.send_message("Hello.")?;
///         Ok(PromptResponse::new(StopReason::EndTurn))
///     })
///     .on_cancel(|cancel| async move { eprintln!("{} is to stop", cancel.session_id) })
///     .cancel_grace_period(Duration::from_secs(10))
///     .max_prompt_duration(Duration::from_secs(30 * 60))
///     .request_timeout(Duration::from_secs(30))
///     .line_limit(16 * 1024 * 1024)
///     .cascade_cancel(false)
///     .build();
/// ```
#[derive(Default)]
#[must_use]
pub struct AgentBuilder {
    handlers: Handlers,
}

impl AgentBuilder {
    /// The agent's name and version, sent in the default answer to `initialize`.
    ///
    /// Without it, the client is not told who it talks to.
    ///
    /// Source: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization).
    pub fn info(mut self, info: Implementation) -> Self {
        self.handlers.info = Some(info);
        self
    }

    /// What the agent offers in the default answer to `initialize`, instead of what its handlers show.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::AgentCapabilities};
    ///
    /// // Nothing, whatever there is a handler for.
    /// let builder = Agent::builder().capabilities(AgentCapabilities::new());
    /// ```
    ///
    /// Source: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization#agent-capabilities).
    pub fn capabilities(self, capabilities: AgentCapabilities) -> Self {
        self.adjust_capabilities(move |_derived| capabilities.clone())
    }

    /// What the agent offers in the default answer to `initialize`, made from what its handlers show.
    ///
    /// Handlers show which methods there are, and not what may stand in a prompt, for example:
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::PromptCapabilities};
    ///
    /// let builder = Agent::builder().adjust_capabilities(|derived| {
    ///     derived.prompt_capabilities(PromptCapabilities::new().image(true))
    /// });
    /// ```
    ///
    /// Source: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization#agent-capabilities).
    pub fn adjust_capabilities(
        mut self,
        adjust: impl Fn(AgentCapabilities) -> AgentCapabilities + Send + Sync + 'static,
    ) -> Self {
        self.handlers.adjust_capabilities = Box::new(adjust);
        self
    }

    /// The ways in which the user can [authenticate](Self::on_authenticate), sent in the default answer to `initialize`; none by default.
    ///
    /// Source: [Authentication](https://agentclientprotocol.com/protocol/v1/authentication).
    pub fn auth_methods(mut self, methods: impl IntoIterator<Item = AuthMethod>) -> Self {
        self.handlers.auth_methods = methods.into_iter().collect();
        self
    }

    /// Handles `initialize`.
    ///
    /// ```
    /// use endturn::{Agent, capabilities::PROTOCOL_VERSION, schema::v1::InitializeResponse};
    ///
    /// let builder = Agent::builder().on_initialize(|request, _cx| async move {
    ///     eprintln!("the client is {:?}", request.client_info);
    ///     Ok(InitializeResponse::new(PROTOCOL_VERSION))
    /// });
    /// ```
    ///
    /// By default it is answered with the [`info`](Self::info), the [ways to authenticate](Self::auth_methods), and the [capabilities](Self::adjust_capabilities) that the registered handlers make possible.
    /// What the client offers is known from here on, whatever the handler does.
    /// The answer names protocol version 1 in any case, the only one that this library speaks: an agent that does not speak what the client asks for answers with what it speaks, and the client decides.
    ///
    /// Source: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization).
    pub fn on_initialize<F, Fut>(self, handle: F) -> Self
    where
        F: Fn(InitializeRequest, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<InitializeResponse>> + Send + 'static,
    {
        self.on(
            AGENT_METHOD_NAMES.initialize,
            move |request, cx: RequestContext| {
                let response = handle(request, cx);
                async move {
                    let mut response = response.await?;
                    if response.protocol_version != PROTOCOL_VERSION {
                        let version = response.protocol_version;
                        tracing::warn!(%version, "initialize is answered with the version in use");
                        response.protocol_version = PROTOCOL_VERSION;
                    }
                    Ok(response)
                }
            },
        )
    }

    /// Handles the same with a blocking function; see [`on_initialize`](Self::on_initialize) and [`blocking`](crate::blocking).
    pub fn on_initialize_blocking<F>(self, handle: F) -> Self
    where
        F: Fn(InitializeRequest, blocking::RequestContext) -> HandlerResult<InitializeResponse>
            + Send
            + Sync
            + 'static,
    {
        let handle = Arc::new(handle);
        self.on_initialize(move |request, cx| {
            let cx = blocking::RequestContext::new(cx);
            blocking::on_thread(Arc::clone(&handle), request, cx)
        })
    }

    /// Handles `session/prompt`: one call is one turn.
    ///
    /// A session has at most one turn; a prompt for a busy one is answered `-32600` and the handler does not see it.
    /// Once the turn is cancelled it is answered `cancelled`, whatever the handler returns; see [`PromptContext`] for how it learns of that.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::{PromptResponse, StopReason}};
    ///
    /// let builder = Agent::builder().on_prompt(|request, cx| async move {
    ///     cx.send_message(format!("{} blocks", request.prompt.len())).await?;
    ///     Ok(PromptResponse::new(StopReason::EndTurn))
    /// });
    /// ```
    ///
    /// Source: [Prompt turn](https://agentclientprotocol.com/protocol/v1/prompt-turn).
    pub fn on_prompt<F, Fut>(mut self, handle: F) -> Self
    where
        F: Fn(PromptRequest, PromptContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<PromptResponse>> + Send + 'static,
    {
        let handle = Arc::new(handle);
        self.handlers.prompt = Some(PromptHandler::Typed(Box::new(move |request, context| {
            let handle = Arc::clone(&handle);
            Box::pin(async move { handle(request, context).await })
        })));
        self
    }

    /// Handles `session/prompt` with parameters of any type, as [`on_request_raw`](Self::on_request_raw) does for other methods; the rest is as for [`on_prompt`](Self::on_prompt), which it replaces.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::{PromptResponse, StopReason}};
    /// use serde_json::Value;
    ///
    /// let builder = Agent::builder().on_prompt_raw(|params: Value, cx| async move {
    ///     cx.send_message(format!("{:?}", params.get("anythingNew"))).await?;
    ///     Ok(PromptResponse::new(StopReason::EndTurn))
    /// });
    /// ```
    pub fn on_prompt_raw<P, F, Fut>(mut self, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P, PromptContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<PromptResponse>> + Send + 'static,
    {
        let handle = Arc::new(handle);
        self.handlers.prompt = Some(PromptHandler::Raw(Box::new(move |params| {
            let params: P = decode(params)?;
            let handle = Arc::clone(&handle);
            Ok(Box::new(move |context| {
                Box::pin(async move { handle(params, context).await })
            }))
        })));
        self
    }

    /// Handles the same with a blocking function; see [`on_prompt`](Self::on_prompt) and [`blocking`](crate::blocking).
    pub fn on_prompt_blocking<F>(self, handle: F) -> Self
    where
        F: Fn(PromptRequest, blocking::PromptContext) -> HandlerResult<PromptResponse>
            + Send
            + Sync
            + 'static,
    {
        let handle = Arc::new(handle);
        self.on_prompt(move |request, cx| {
            let cx = blocking::PromptContext::new(cx);
            blocking::on_thread(Arc::clone(&handle), request, cx)
        })
    }

    /// Handles any other request of the client, by its type: one of the protocol's, or an extension.
    ///
    /// ```
    /// use endturn::{Agent, schema::v1::{AuthenticateRequest, AuthenticateResponse}};
    ///
    /// let builder = Agent::builder().on_request(|request: AuthenticateRequest, _cx| async move {
    ///     println!("{}", request.method_id);
    ///     Ok(AuthenticateResponse::new())
    /// });
    /// ```
    ///
    /// What an extension wants to be announced in `initialize` is added with [`adjust_capabilities`](Self::adjust_capabilities).
    pub fn on_request<Q, F, Fut>(self, handle: F) -> Self
    where
        Q: ToAgent + DeserializeOwned + Send + 'static,
        Q::Response: Serialize,
        F: Fn(Q, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<Q::Response>> + Send + 'static,
    {
        self.on(Q::METHOD, handle)
    }

    /// Handles the same with a blocking function; see [`on_request`](Self::on_request) and [`blocking`](crate::blocking).
    pub fn on_request_blocking<Q, F>(self, handle: F) -> Self
    where
        Q: ToAgent + DeserializeOwned + Send + 'static,
        Q::Response: Serialize,
        F: Fn(Q, blocking::RequestContext) -> HandlerResult<Q::Response> + Send + Sync + 'static,
    {
        let handle = Arc::new(handle);
        self.on_request(move |request, cx| {
            let cx = blocking::RequestContext::new(cx);
            blocking::on_thread(Arc::clone(&handle), request, cx)
        })
    }

    /// Handles the requests of a method by its name, with parameters of any type: [`Value`](serde_json::Value) or [`Box<RawValue>`](serde_json::value::RawValue) for all that is in them.
    ///
    /// ```
    /// use endturn::Agent;
    /// use serde_json::{Value, json};
    ///
    /// let builder = Agent::builder().on_request_raw("_example.com/echo", |params: Value, _cx| async move {
    ///     Ok(json!({ "echo": params }))
    /// });
    /// ```
    ///
    /// An answer to `initialize` is sent as the handler gives it, with any version.
    ///
    /// # Panics
    ///
    /// If the method is `session/prompt`, which has [a method of its own](Self::on_prompt_raw).
    #[track_caller]
    pub fn on_request_raw<P, R, F, Fut>(self, method: &'static str, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize + 'static,
        F: Fn(P, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<R>> + Send + 'static,
    {
        let prompt = AGENT_METHOD_NAMES.session_prompt;
        assert_ne!(method, prompt, "use `on_prompt_raw`");
        self.on(method, handle)
    }

    /// Handles a notification of the client, by its type.
    ///
    /// Each runs on a task of its own, so nothing is promised about the order of two of them.
    ///
    /// ```
    /// use endturn::{Agent, request::{NotifiesAgent, Notification}};
    ///
    /// #[derive(serde::Serialize, serde::Deserialize)]
    /// struct ThemeChanged {
    ///     dark: bool,
    /// }
    ///
    /// impl Notification for ThemeChanged {
    ///     const METHOD: &'static str = "_example.com/theme_changed";
    /// }
    /// impl NotifiesAgent for ThemeChanged {}
    ///
    /// let builder = Agent::builder().on_notification(|theme: ThemeChanged| async move {
    ///     println!("dark: {}", theme.dark);
    /// });
    /// ```
    pub fn on_notification<N, F, Fut>(self, handle: F) -> Self
    where
        N: NotifiesAgent + DeserializeOwned + Send + 'static,
        F: Fn(N) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.on_notification_raw(N::METHOD, handle)
    }

    /// Handles the notifications of a method by its name; see [`on_notification`](Self::on_notification).
    ///
    /// One for `session/cancel` sees what came, and [`on_cancel`](Self::on_cancel) what it means.
    ///
    /// ```
    /// use endturn::Agent;
    /// use serde_json::Value;
    ///
    /// let builder = Agent::builder().on_notification_raw("session/cancel", |params: Value| async move {
    ///     println!("cancelled because of {}", params["_meta"]["example.com/reason"]);
    /// });
    /// ```
    pub fn on_notification_raw<P, F, Fut>(mut self, method: &'static str, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        F: Fn(P) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let handle = notification_handler(move |params, ()| handle(params));
        self.handlers.notifications.insert(method, handle);
        self
    }

    /// Is told of every `session/cancel`, also of one for an idle or unknown session, and of every `session/close`.
    ///
    /// Nothing depends on it: the turn is cancelled, and its context says so, before this handler runs.
    /// It is for agents that keep work of their own beyond the turn.
    ///
    /// Source: [Cancellation](https://agentclientprotocol.com/protocol/v1/prompt-turn#cancellation).
    pub fn on_cancel<F, Fut>(mut self, handle: F) -> Self
    where
        F: Fn(CancelNotification) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let handle = Arc::new(handle);
        self.handlers.cancel = Some(Box::new(move |notification| -> BoxFuture<()> {
            let handle = Arc::clone(&handle);
            Box::pin(async move { handle(notification).await })
        }));
        self
    }

    /// How long a handler may go on after `session/cancel` until its turn is ended without it; zero is for ever.
    ///
    /// The default is 60 s: long enough for a handler that tidies up, short enough for a user who waits.
    /// The time starts with the first `session/cancel` of the turn.
    /// When it has passed, the handler is dropped and the prompt is answered `cancelled`.
    ///
    /// Policy of this SDK: the protocol wants every cancelled prompt to be answered, and one turn per session, but says nothing about a handler that never returns; its session would be busy for ever.
    pub fn cancel_grace_period(mut self, limit: Duration) -> Self {
        self.handlers.cancel_grace_period = limit;
        self
    }

    /// How long one turn may take; zero, the default, is for ever.
    ///
    /// The time starts when the prompt is read.
    /// When it has passed, the handler is dropped and the prompt is answered with error `-32800`, whose data is `{"maxPromptDuration": "PT30M"}`; or `cancelled`, if the turn was being cancelled.
    /// It is off by default because a turn that waits for a person is not a fault.
    ///
    /// Policy of this SDK.
    pub fn max_prompt_duration(mut self, limit: Duration) -> Self {
        self.handlers.max_prompt_duration = limit;
        self
    }

    /// How long a request to the client may take; zero is for ever, the default is 60 s.
    ///
    /// When it has passed, the client is sent one `$/cancel_request` and the call fails with a [timeout](crate::Error::is_timeout).
    /// Requests that are [open-ended](crate::request::Request::OPEN_ENDED) are exempt, since a person answers them or a process has to end: permissions, elicitations, and the wait for the exit of a command. They end with their turn.
    ///
    /// Policy of this SDK.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.handlers.request_timeout = limit;
        self
    }

    /// How long a line from the client may be, in bytes; the default is 64 MiB.
    ///
    /// That is room for some images in one message, and an end to what a broken peer can make this side hold.
    /// A longer line is dropped up to its end and answered with error `-32600`; the connection goes on.
    ///
    /// Policy of this SDK.
    pub fn line_limit(mut self, bytes: usize) -> Self {
        self.handlers.limits.line = bytes;
        self
    }

    /// Whether `session/cancel` also cancels the requests to the client that the turn's handler has open; on by default.
    ///
    /// Each is sent one `$/cancel_request`, and the handler keeps waiting for its answer.
    /// Switched off, they run on until they are answered or the turn ends.
    ///
    /// Source: [Cancellation](https://agentclientprotocol.com/protocol/v1/cancellation); that it can be switched off is policy of this SDK.
    pub fn cascade_cancel(mut self, on: bool) -> Self {
        self.handlers.cascade_cancel = on;
        self
    }

    /// The finished agent.
    #[must_use]
    pub fn build(self) -> Agent {
        Agent {
            handlers: Arc::new(self.handlers),
        }
    }

    pub(super) fn on<P, R, F, Fut>(mut self, method: &'static str, handle: F) -> Self
    where
        P: DeserializeOwned + Send + 'static,
        R: Serialize,
        F: Fn(P, RequestContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = HandlerResult<R>> + Send + 'static,
    {
        self.handlers
            .requests
            .insert(method, handler(method, handle));
        self
    }
}
