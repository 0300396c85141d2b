//! The methods of the agent.

use std::sync::Arc;

use endturn::{
    Agent, HandlerResult, PromptContext, RequestContext,
    agent::AgentBuilder,
    schema::v1::{
        AvailableCommand, CloseSessionRequest, CloseSessionResponse, ContentBlock,
        DeleteSessionRequest, DeleteSessionResponse, Error, Implementation, ListSessionsRequest,
        ListSessionsResponse, LoadSessionRequest, LoadSessionResponse, NewSessionRequest,
        NewSessionResponse, PromptRequest, PromptResponse, ResumeSessionRequest,
        ResumeSessionResponse, SetSessionConfigOptionRequest, SetSessionConfigOptionResponse,
        SetSessionModeRequest, SetSessionModeResponse,
    },
};
use serde_json::json;
use tokio::sync::oneshot;

use super::{
    run,
    script::Script,
    sessions::{Mode, Sessions, Setting, Speaker},
};

/// The scripted agent's sessions, and whether it says by itself which commands it has.
#[derive(Debug, Default)]
pub(super) struct Scripted {
    pub(super) sessions: Arc<Sessions>,
    pub(super) tells_commands: bool,
}

/// A builder whose handlers are the methods of an agent, and which offers what they make possible.
pub(super) fn builder(agent: Scripted) -> AgentBuilder {
    let agent = Arc::new(agent);
    /// A handler that calls one method of the agent.
    macro_rules! call {
        ($method:ident) => {{
            let agent = Arc::clone(&agent);
            move |request, cx| {
                let agent = Arc::clone(&agent);
                async move { agent.$method(request, cx).await }
            }
        }};
    }
    let info = Implementation::new("endturn-scripted", env!("CARGO_PKG_VERSION"));
    Agent::builder()
        .info(info.title("Scripted agent".to_owned()))
        .on_new_session(call!(new_session))
        .on_load_session(call!(load_session))
        .on_resume_session(call!(resume_session))
        .on_list_sessions(call!(list_sessions))
        .on_delete_session(call!(delete_session))
        .on_close_session(call!(close_session))
        .on_set_mode(call!(set_mode))
        .on_set_config_option(call!(set_config_option))
        .on_prompt(call!(prompt))
}

impl Scripted {
    async fn new_session(
        &self,
        request: NewSessionRequest,
        cx: RequestContext,
    ) -> HandlerResult<NewSessionResponse> {
        let booleans = cx.client()?.supports_boolean_config_options();
        let (id, settings) = self.sessions.open(request.cwd);
        if self.tells_commands {
            tell_commands(&cx, &id.0);
        }
        Ok(NewSessionResponse::new(id)
            .modes(settings.modes())
            .config_options(settings.options(booleans)))
    }

    async fn load_session(
        &self,
        request: LoadSessionRequest,
        cx: RequestContext,
    ) -> HandlerResult<LoadSessionResponse> {
        let booleans = cx.client()?.supports_boolean_config_options();
        let id = request.session_id;
        let (settings, history) = self.sessions.reopen(&id, request.cwd)?;
        let session = cx.session(id);
        for said in history {
            match said.speaker {
                Speaker::User => session.send_user_message_part(said.id, said.text).await?,
                Speaker::Agent => session.send_message_part(said.id, said.text).await?,
            }
        }
        if self.tells_commands {
            tell_commands(&cx, &session.session_id().0);
        }
        Ok(LoadSessionResponse::new()
            .modes(settings.modes())
            .config_options(settings.options(booleans)))
    }

    async fn resume_session(
        &self,
        request: ResumeSessionRequest,
        cx: RequestContext,
    ) -> HandlerResult<ResumeSessionResponse> {
        let booleans = cx.client()?.supports_boolean_config_options();
        let (settings, _) = self.sessions.reopen(&request.session_id, request.cwd)?;
        if self.tells_commands {
            tell_commands(&cx, &request.session_id.0);
        }
        Ok(ResumeSessionResponse::new()
            .modes(settings.modes())
            .config_options(settings.options(booleans)))
    }

    async fn list_sessions(
        &self,
        request: ListSessionsRequest,
        _cx: RequestContext,
    ) -> HandlerResult<ListSessionsResponse> {
        let cursor = request.cursor.as_deref();
        let page = self.sessions.list(request.cwd.as_deref(), cursor);
        Ok(page.map_err(|reason| invalid("cursor", reason))?)
    }

    async fn delete_session(
        &self,
        request: DeleteSessionRequest,
        _cx: RequestContext,
    ) -> HandlerResult<DeleteSessionResponse> {
        self.sessions.delete(&request.session_id);
        Ok(DeleteSessionResponse::new())
    }

    async fn close_session(
        &self,
        request: CloseSessionRequest,
        _cx: RequestContext,
    ) -> HandlerResult<CloseSessionResponse> {
        self.sessions.close(&request.session_id)?;
        Ok(CloseSessionResponse::new())
    }

    async fn set_mode(
        &self,
        request: SetSessionModeRequest,
        _cx: RequestContext,
    ) -> HandlerResult<SetSessionModeResponse> {
        let id = &request.mode_id.0;
        let mode =
            Mode::of(id).ok_or_else(|| invalid("modeId", &format!("there is no mode `{id}`")));
        self.sessions.settings(&request.session_id)?;
        let mode = mode?;
        self.sessions
            .choose(&request.session_id, |settings| settings.mode = mode)?;
        Ok(SetSessionModeResponse::new())
    }

    async fn set_config_option(
        &self,
        request: SetSessionConfigOptionRequest,
        cx: RequestContext,
    ) -> HandlerResult<SetSessionConfigOptionResponse> {
        self.sessions.settings(&request.session_id)?;
        let setting = Setting::requested(&request.config_id.0, &request.value)
            .map_err(|(field, reason)| invalid(field, &reason))?;
        let settings = self
            .sessions
            .choose(&request.session_id, |settings| settings.set(setting))?;
        let booleans = cx.client()?.supports_boolean_config_options();
        Ok(SetSessionConfigOptionResponse::new(
            settings.options(booleans),
        ))
    }

    async fn prompt(
        &self,
        request: PromptRequest,
        cx: PromptContext,
    ) -> HandlerResult<PromptResponse> {
        let text = text(&request);
        self.sessions.prompted(&request.session_id, &text)?;
        let Script { blocking, steps } = text
            .parse()
            .map_err(|error: super::InvalidScript| invalid("prompt", &error.to_string()))?;
        if !blocking {
            return run::run(steps, &cx, &self.sessions).await;
        }
        let sessions = Arc::clone(&self.sessions);
        cx.run_blocking(move |cx| cx.wait(run::run(steps, cx.as_async(), &sessions)))
            .await
    }
}

/// An error that names the parameter that is at fault, in the form in which the SDK reports unreadable ones.
fn invalid(field: &str, reason: &str) -> Error {
    Error::invalid_params().data(json!({ "field": field, "reason": reason }))
}

/// Sends the commands of a session right after the answer to the request that opens it.
///
/// Only with that answer the client learns of a new session.
fn tell_commands(cx: &RequestContext, session: &str) {
    let (open, answered) = oneshot::channel::<()>();
    // The callback is never called but dropped with the request, whose answer has its place on the wire by then.
    cx.on_cancel(move || drop(open));
    let session = cx.session(session.to_owned());
    tokio::spawn(async move {
        // That the other end is dropped is what is waited for.
        answered.await.ok();
        let help = AvailableCommand::new("help", "List the steps of a script");
        // A connection that is lost needs no commands.
        session.send_commands(vec![help]).await.ok();
    });
}

/// The text of a prompt; what is not text cannot be part of a script.
fn text(request: &PromptRequest) -> String {
    let mut text = String::new();
    for block in &request.prompt {
        if let ContentBlock::Text(block) = block {
            text.push_str(&block.text);
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}
