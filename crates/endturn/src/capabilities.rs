//! What the other side offers, as agreed on by `initialize`.
//!
//! Optional parts of the protocol are offered in `initialize` and may be used only then.
//! What this side offers follows from its handlers; what the other side offers is an [`AgentPeer`] or a [`ClientPeer`], from [`Client::agent`](crate::Client::agent) or [`RequestContext::client`](crate::RequestContext::client).
//!
//! Nobody has to look before calling: a request that the peer does not offer fails at once with an error that [says so](crate::Error::is_capability), and nothing is sent.
//! The methods here are for programs that do something else then.
//! For a peer that has more than it says, [`Client::request_raw`](crate::Client::request_raw) and [`RequestContext::request_raw`](crate::RequestContext::request_raw) do not look at what it offers.
//!
//! Source: [Initialization](https://agentclientprotocol.com/protocol/v1/initialization).

use std::sync::Arc;

use crate::{
    error::Error,
    schema::{
        ProtocolVersion,
        v1::{
            AgentCapabilities, AuthMethod, ClientCapabilities, Implementation, InitializeRequest,
            InitializeResponse, McpServer, Meta, SystemPrompt, SystemPromptMode,
        },
    },
};

/// The protocol version that this library speaks.
pub const PROTOCOL_VERSION: ProtocolVersion = ProtocolVersion::V1;

/// The agent at the other end: who it is and what it offers, as it said in its answer to `initialize`.
///
/// ```
/// # async fn list(client: endturn::Client) -> Result<(), endturn::Error> {
/// use endturn::schema::v1::ListSessionsRequest;
///
/// let agent = client.agent()?;
/// if agent.supports_list_sessions() {
///     let sessions = client.list_sessions(ListSessionsRequest::new()).await?.sessions;
///     println!("{} sessions", sessions.len());
/// }
/// agent.require_image()?; // fails if prompts cannot contain images
/// println!("{:?} {:?}", agent.info(), agent.capabilities().meta);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct AgentPeer(Arc<InitializeResponse>);

/// The client at the other end: who it is and what it offers, as it said in `initialize`.
///
/// ```
/// # use endturn::{Agent, schema::v1::{PromptResponse, StopReason}};
/// let agent = Agent::builder().on_prompt(|_request, cx| async move {
///     if cx.client()?.supports_terminal() {
///         cx.send_message("I can run the tests.").await?;
///     }
///     cx.client()?.require_write_text_file()?; // fails if files cannot be written
///     println!("{:?}", cx.client()?.info());
///     Ok(PromptResponse::new(StopReason::EndTurn))
/// });
/// ```
#[derive(Debug, Clone)]
pub struct ClientPeer(Arc<InitializeRequest>);

impl AgentPeer {
    pub(crate) fn new(response: InitializeResponse) -> Self {
        Self(Arc::new(response))
    }

    /// The agent's name and version, if it gave them.
    #[must_use]
    pub fn info(&self) -> Option<&Implementation> {
        self.0.agent_info.as_ref()
    }

    /// What it offers, as it came.
    #[must_use]
    pub fn capabilities(&self) -> &AgentCapabilities {
        &self.0.agent_capabilities
    }

    /// The ways in which [`authenticate`](crate::Client::authenticate) can be called; none if it is not needed.
    #[must_use]
    pub fn auth_methods(&self) -> &[AuthMethod] {
        &self.0.auth_methods
    }

    /// What else it said.
    #[must_use]
    pub fn meta(&self) -> Option<&Meta> {
        self.0.meta.as_ref()
    }

    /// Fails if a session cannot be set up with these.
    pub(crate) fn require_setup(
        &self,
        servers: &[McpServer],
        directories: usize,
        system_prompt: Option<&SystemPrompt>,
    ) -> Result<(), Error> {
        for server in servers {
            match server {
                McpServer::Http(_) => self.require_mcp_http()?,
                McpServer::Sse(_) => self.require_mcp_sse()?,
                #[cfg(feature = "unstable_mcp_over_acp")]
                McpServer::Acp(_) => self.require_mcp_acp()?,
                // Every agent can start a process; what a newer schema adds is for the agent to judge.
                McpServer::Stdio(_) | _ => {}
            }
        }
        if directories > 0 {
            self.require_additional_directories()?;
        }
        match system_prompt.map(|prompt| &prompt.mode) {
            None => Ok(()),
            Some(SystemPromptMode::Override) => self.require_system_prompt_override(),
            Some(_) => self.require_system_prompt(),
        }
    }
}

impl ClientPeer {
    pub(crate) fn new(request: InitializeRequest) -> Self {
        Self(Arc::new(request))
    }

    /// The client's name and version, if it gave them.
    #[must_use]
    pub fn info(&self) -> Option<&Implementation> {
        self.0.client_info.as_ref()
    }

    /// What it offers, as it came.
    #[must_use]
    pub fn capabilities(&self) -> &ClientCapabilities {
        &self.0.client_capabilities
    }

    /// The newest protocol version that it speaks.
    #[must_use]
    pub fn protocol_version(&self) -> ProtocolVersion {
        self.0.protocol_version
    }

    /// What else it said.
    #[must_use]
    pub fn meta(&self) -> Option<&Meta> {
        self.0.meta.as_ref()
    }
}

/// Makes a pair of methods for each capability, from its name on the wire and a look at the peer's offer.
macro_rules! capabilities {
    ($peer:ident: $($(#[$attribute:meta])* $supports:ident $require:ident $name:literal |$offer:ident| $test:expr;)*) => {
        impl $peer {
            $(
                $(#[$attribute])*
                #[doc = ""]
                #[doc = concat!("The capability is `", $name, "`.")]
                #[must_use]
                pub fn $supports(&self) -> bool {
                    let $offer = self.capabilities();
                    $test
                }

                $(#[$attribute])*
                #[doc = ""]
                #[doc = "# Errors"]
                #[doc = ""]
                #[doc = concat!("If `", $name, "` is not offered; [`is_capability`](Error::is_capability) is true for it.")]
                pub fn $require(&self) -> Result<(), Error> {
                    if self.$supports() {
                        Ok(())
                    } else {
                        Err(Error::missing_capability($name))
                    }
                }
            )*
        }
    };
}

capabilities! { AgentPeer:
    /// Whether saved sessions can be loaded, with their history.
    supports_load_session require_load_session "loadSession"
        |agent| agent.load_session;
    /// Whether sessions can be listed.
    supports_list_sessions require_list_sessions "sessionCapabilities.list"
        |agent| agent.session_capabilities.list.is_some();
    /// Whether sessions can be deleted.
    supports_delete_session require_delete_session "sessionCapabilities.delete"
        |agent| agent.session_capabilities.delete.is_some();
    /// Whether saved sessions can be gone on with, without their history.
    supports_resume_session require_resume_session "sessionCapabilities.resume"
        |agent| agent.session_capabilities.resume.is_some();
    /// Whether sessions can be closed.
    supports_close_session require_close_session "sessionCapabilities.close"
        |agent| agent.session_capabilities.close.is_some();
    /// Whether a session can have directories besides its working directory.
    supports_additional_directories require_additional_directories "sessionCapabilities.additionalDirectories"
        |agent| agent.session_capabilities.additional_directories.is_some();
    /// Whether a session can be given a system prompt.
    supports_system_prompt require_system_prompt "sessionCapabilities.systemPrompt"
        |agent| agent.session_capabilities.system_prompt.is_some();
    /// Whether a session's system prompt can replace the agent's own.
    supports_system_prompt_override require_system_prompt_override "sessionCapabilities.systemPrompt.mode.override"
        |agent| agent.session_capabilities.system_prompt.as_ref().and_then(|prompt| prompt.mode.as_ref()).is_some_and(|mode| mode.override_.is_some());
    /// Whether the user can be logged out.
    supports_logout require_logout "auth.logout"
        |agent| agent.auth.logout.is_some();
    /// Whether prompts can contain images.
    supports_image require_image "promptCapabilities.image"
        |agent| agent.prompt_capabilities.image;
    /// Whether prompts can contain audio.
    supports_audio require_audio "promptCapabilities.audio"
        |agent| agent.prompt_capabilities.audio;
    /// Whether prompts can contain embedded resources.
    supports_embedded_context require_embedded_context "promptCapabilities.embeddedContext"
        |agent| agent.prompt_capabilities.embedded_context;
    /// Whether MCP servers can be reached over HTTP.
    supports_mcp_http require_mcp_http "mcpCapabilities.http"
        |agent| agent.mcp_capabilities.http;
    /// Whether MCP servers can be reached over SSE.
    supports_mcp_sse require_mcp_sse "mcpCapabilities.sse"
        |agent| agent.mcp_capabilities.sse;
    /// Whether MCP servers can be reached through this connection.
    #[cfg(feature = "unstable_mcp_over_acp")]
    supports_mcp_acp require_mcp_acp "mcpCapabilities.acp"
        |agent| agent.mcp_capabilities.acp;
    /// Whether sessions can be forked.
    #[cfg(feature = "unstable_session_fork")]
    supports_fork_session require_fork_session "sessionCapabilities.fork"
        |agent| agent.session_capabilities.fork.is_some();
    /// Whether sessions can be archived, and taken back.
    #[cfg(feature = "unstable_session_archive")]
    supports_archive_session require_archive_session "sessionCapabilities.archive"
        |agent| agent.session_capabilities.archive.is_some();
    /// Whether it can be asked in what state a session is.
    #[cfg(feature = "unstable_session_status")]
    supports_session_status require_session_status "sessionCapabilities.status"
        |agent| agent.session_capabilities.status.is_some();
    /// Whether it can be asked what options a session would start with.
    #[cfg(feature = "unstable_session_options")]
    supports_session_options require_session_options "sessionCapabilities.options"
        |agent| agent.session_capabilities.options.is_some();
    /// Whether a session's title can be set.
    #[cfg(feature = "unstable_session_set_title")]
    supports_set_session_title require_set_session_title "sessionCapabilities.title"
        |agent| agent.session_capabilities.title.is_some();
    /// Whether the providers of language models can be configured.
    #[cfg(feature = "unstable_llm_providers")]
    supports_providers require_providers "providers"
        |agent| agent.providers.is_some();
    /// Whether it can be asked if the user is authenticated.
    #[cfg(feature = "unstable_auth_status")]
    supports_auth_status require_auth_status "auth.status"
        |agent| agent.auth.status.is_some();
}

capabilities! { ClientPeer:
    /// Whether text files can be read.
    supports_read_text_file require_read_text_file "fs.readTextFile"
        |client| client.fs.read_text_file;
    /// Whether text files can be written.
    supports_write_text_file require_write_text_file "fs.writeTextFile"
        |client| client.fs.write_text_file;
    /// Whether commands can be run in terminals.
    supports_terminal require_terminal "terminal"
        |client| client.terminal;
    /// Whether the user can be asked to fill in a form.
    supports_elicitation_form require_elicitation_form "elicitation.form"
        |client| client.elicitation.as_ref().is_some_and(|offer| offer.form.is_some());
    /// Whether the user can be sent to a web page.
    supports_elicitation_url require_elicitation_url "elicitation.url"
        |client| client.elicitation.as_ref().is_some_and(|offer| offer.url.is_some());
    /// Whether the user can log in on a terminal.
    supports_auth_terminal require_auth_terminal "auth.terminal"
        |client| client.auth.terminal;
    /// Whether config options that are on or off are understood.
    supports_boolean_config_options require_boolean_config_options "session.configOptions.boolean"
        |client| client.session.as_ref().and_then(|offer| offer.config_options.as_ref()).is_some_and(|options| options.boolean.is_some());
    /// Whether notices are shown to the user.
    supports_notices require_notices "session.notices"
        |client| client.session.as_ref().is_some_and(|offer| offer.notices.is_some());
    /// Whether updates about the compaction of a session's context are understood.
    supports_compaction require_compaction "session.compaction"
        |client| client.session.as_ref().is_some_and(|offer| offer.compaction.is_some());
}
