//! One session of the agent's, and what can be done in it.

use std::{cell::RefCell, convert::Infallible, path::Path};

use endturn::{
    Client, Error,
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, InitializeRequest, LoadSessionRequest, NewSessionRequest, PromptRequest,
            PromptResponse, ResumeSessionRequest, SessionConfigKind, SessionConfigOption,
            SessionConfigOptionValue, SessionId, SessionModeState, SetSessionConfigOptionRequest,
            SetSessionModeRequest, TextContent,
        },
    },
};

use super::{
    outcome::Trouble,
    show::{CancelCause, Event, Opened, Show},
    turn::Turn,
};
use crate::args::{RunArgs, Setting};

/// A session that is open.
pub(super) struct Session<'a> {
    client: &'a Client,
    show: &'a Show,
    id: SessionId,
    modes: RefCell<Option<SessionModeState>>,
    options: RefCell<Vec<SessionConfigOption>>,
}

/// What went wrong during a call.
pub(super) fn during(method: &'static str) -> impl Fn(Error) -> Trouble {
    move |error| Trouble::Call { method, error }
}

/// Shakes hands with the agent.
pub(super) async fn initialize(client: &Client) -> Result<(), Trouble> {
    let hello = client.initialize(InitializeRequest::new(ProtocolVersion::V1));
    hello.await.map(drop).map_err(during("initialize"))
}

impl<'a> Session<'a> {
    /// Opens a session as the arguments want it.
    pub(super) async fn open(
        client: &'a Client,
        show: &'a Show,
        args: &RunArgs,
        cwd: &Path,
    ) -> Result<Self, Trouble> {
        let agent = client.agent().map_err(during("initialize"))?;
        let (id, modes, options, opened) = match args.resume.as_deref() {
            None => {
                show.expect_session();
                let opening = client.new_session(NewSessionRequest::new(cwd));
                let new = opening.await.map_err(during("session/new"))?;
                (new.session_id, new.modes, new.config_options, Opened::New)
            }
            Some(id) if agent.supports_load_session() => {
                let opening = client.load_session(LoadSessionRequest::new(id.to_owned(), cwd));
                let old = opening.await.map_err(during("session/load"))?;
                let id = SessionId::new(id);
                (id, old.modes, old.config_options, Opened::Loaded)
            }
            Some(id) if agent.supports_resume_session() => {
                let opening = client.resume_session(ResumeSessionRequest::new(id.to_owned(), cwd));
                let old = opening.await.map_err(during("session/resume"))?;
                let id = SessionId::new(id);
                (id, old.modes, old.config_options, Opened::Resumed)
            }
            Some(_) => {
                return Err(Trouble::Missing {
                    message: "the agent can neither load nor resume sessions".to_owned(),
                    hint: "leave --resume out to open a new session".to_owned(),
                });
            }
        };
        show.tell_session(Event::Session {
            id: id.clone(),
            agent: agent.info().cloned(),
            version: ProtocolVersion::V1,
            opened,
            modes: modes.clone(),
            options: options.clone(),
        });
        let session = Self {
            client,
            show,
            id,
            modes: RefCell::new(modes),
            options: RefCell::new(options.unwrap_or_default()),
        };
        if let Some(mode) = &args.mode {
            session.set_mode(mode).await?;
        }
        for setting in &args.set {
            session.set(setting).await?;
        }
        Ok(session)
    }

    pub(super) fn modes(&self) -> Option<SessionModeState> {
        self.modes.borrow().clone()
    }

    pub(super) fn options(&self) -> Vec<SessionConfigOption> {
        self.options.borrow().clone()
    }

    /// Puts the session into a mode, if the agent has it.
    pub(super) async fn set_mode(&self, mode: &str) -> Result<(), Trouble> {
        let modes = self.modes();
        let modes = modes.map_or_else(Vec::new, |modes| modes.available_modes);
        if !modes.iter().any(|known| *known.id.0 == *mode) {
            let ids = modes.iter().map(|mode| mode.id.to_string());
            return Err(missing(&format!("mode `{mode}`"), "modes", ids.collect()));
        }
        let request = SetSessionModeRequest::new(self.id.clone(), mode.to_owned());
        let setting = self.client.set_mode(request);
        setting.await.map_err(during("session/set_mode"))?;
        if let Some(modes) = &mut *self.modes.borrow_mut() {
            modes.current_mode_id = mode.to_owned().into();
        }
        self.show.tell(Event::Mode(mode.to_owned().into()));
        Ok(())
    }

    /// Sets a config option, if the agent has it; what its values are, the agent knows best.
    pub(super) async fn set(&self, setting: &Setting) -> Result<(), Trouble> {
        let Setting { key, value } = setting;
        let options = self.options();
        let Some(option) = options.iter().find(|option| *option.id.0 == **key) else {
            let ids = options.iter().map(|option| option.id.to_string());
            let what = format!("config option `{key}`");
            return Err(missing(&what, "config options", ids.collect()));
        };
        let value = match (&option.kind, switch(value)) {
            (SessionConfigKind::Boolean(_), Some(on)) => SessionConfigOptionValue::boolean(on),
            (SessionConfigKind::Boolean(_), None) => {
                return Err(Trouble::Missing {
                    message: format!("`{key}` is on or off, and `{value}` is neither"),
                    hint: "write true or false".to_owned(),
                });
            }
            (SessionConfigKind::Select(_) | _, _) => {
                SessionConfigOptionValue::value_id(value.clone())
            }
        };
        let request = SetSessionConfigOptionRequest::new(self.id.clone(), key.clone(), value);
        let setting = self.client.set_config_option(request);
        let answer = setting.await.map_err(during("session/set_config_option"))?;
        self.options.replace(answer.config_options.clone());
        self.show.tell(Event::Options(answer.config_options));
        Ok(())
    }

    /// Runs one turn.
    pub(super) async fn prompt(
        &self,
        text: &str,
        turn: &Turn,
        args: &RunArgs,
    ) -> Result<PromptResponse, Trouble> {
        let text = ContentBlock::Text(TextContent::new(text));
        let request = PromptRequest::new(self.id.clone(), vec![text]);
        let running = turn.begin();
        let prompt = self.client.prompt(request, &running.stop);
        tokio::select! {
            // The prompt comes first: it is sent when it is polled, and the time counts from there.
            biased;
            answer = prompt => answer.map_err(during("session/prompt")),
            never = cancel_in_time(turn, args) => match never {},
        }
    }
}

/// Cancels the turn when its time is over; there is nothing to wait for after that.
async fn cancel_in_time(turn: &Turn, args: &RunArgs) -> Infallible {
    if let Some(delay) = args.cancel_after {
        tokio::time::sleep(delay).await;
        turn.cancel(CancelCause::CancelAfter);
    }
    std::future::pending().await
}

fn missing(what: &str, kind: &str, known: Vec<String>) -> Trouble {
    let hint = if known.is_empty() {
        format!("this agent has no {kind}")
    } else {
        format!("its {kind} are: {}", known.join(", "))
    };
    let message = format!("the agent has no {what}");
    Trouble::Missing { message, hint }
}

/// Whether a word means on or off.
fn switch(word: &str) -> Option<bool> {
    match word {
        "true" | "on" | "yes" => Some(true),
        "false" | "off" | "no" => Some(false),
        _ => None,
    }
}
