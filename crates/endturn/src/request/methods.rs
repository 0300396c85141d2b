//! Which type belongs to which method, and what the peer has to offer for it.

use std::path::{Path, PathBuf};

#[cfg(feature = "unstable_mcp_over_acp")]
use super::NotifiesAgent;
use super::{Notification, NotifiesClient, Request, ToAgent, ToClient};
#[cfg(feature = "unstable_session_archive")]
use crate::schema::v1::{
    ArchiveSessionRequest, ArchiveSessionResponse, UnarchiveSessionRequest,
    UnarchiveSessionResponse,
};
#[cfg(feature = "unstable_auth_status")]
use crate::schema::v1::{AuthStatusRequest, AuthStatusResponse, AuthStatusUpdateNotification};
#[cfg(feature = "unstable_llm_providers")]
use crate::schema::v1::{
    DisableProviderRequest, DisableProviderResponse, ListProvidersRequest, ListProvidersResponse,
    SetProviderRequest, SetProviderResponse,
};
#[cfg(feature = "unstable_session_fork")]
use crate::schema::v1::{ForkSessionRequest, ForkSessionResponse};
#[cfg(feature = "unstable_mcp_over_acp")]
use crate::schema::v1::{MessageMcpNotification, MessageMcpRequest, MessageMcpResponse};
#[cfg(feature = "unstable_session_options")]
use crate::schema::v1::{SessionOptionsRequest, SessionOptionsResponse};
#[cfg(feature = "unstable_session_status")]
use crate::schema::v1::{SessionStatusRequest, SessionStatusResponse};
#[cfg(feature = "unstable_session_set_title")]
use crate::schema::v1::{SetSessionTitleRequest, SetSessionTitleResponse};
use crate::{
    capabilities::{AgentPeer, ClientPeer},
    error::Error,
    schema::v1::{
        AGENT_METHOD_NAMES, AuthenticateRequest, AuthenticateResponse, CLIENT_METHOD_NAMES,
        CloseSessionRequest, CloseSessionResponse, CompleteElicitationNotification, ContentBlock,
        CreateElicitationRequest, CreateElicitationResponse, CreateTerminalRequest,
        CreateTerminalResponse, DeleteSessionRequest, DeleteSessionResponse, ElicitationMode,
        KillTerminalRequest, KillTerminalResponse, ListSessionsRequest, ListSessionsResponse,
        LoadSessionRequest, LoadSessionResponse, LogoutRequest, LogoutResponse, NewSessionRequest,
        NewSessionResponse, PromptRequest, ReadTextFileRequest, ReadTextFileResponse,
        ReleaseTerminalRequest, ReleaseTerminalResponse, RequestPermissionRequest,
        RequestPermissionResponse, ResumeSessionRequest, ResumeSessionResponse,
        SetSessionConfigOptionRequest, SetSessionConfigOptionResponse, SetSessionModeRequest,
        SetSessionModeResponse, TerminalOutputRequest, TerminalOutputResponse,
        WaitForTerminalExitRequest, WaitForTerminalExitResponse, WriteTextFileRequest,
        WriteTextFileResponse,
    },
};

/// Implements the traits for the requests of one direction, and lists their methods.
///
/// What stands behind a method looks at the request and at the peer, before anything is sent.
macro_rules! requests {
    ($list:ident: $direction:ident, $peer:ident, $names:ident; $(
        $(#[$attribute:meta])*
        $request:ident => $response:ident, $name:ident $(, open_ended = $open_ended:literal)?
            $(, |$this:ident, $offer:ident| $check:expr)?;
    )*) => {
        $(
            $(#[$attribute])*
            impl Request for $request {
                const METHOD: &'static str = $names.$name;
                $(const OPEN_ENDED: bool = $open_ended;)?
                type Response = $response;
            }
            $(#[$attribute])*
            impl $direction for $request {
                $(fn check(&self, peer: &$peer) -> Result<(), Error> {
                    let ($this, $offer) = (self, peer);
                    $check
                })?
            }
        )*

        #[cfg(test)]
        const $list: &[&str] = &[$($(#[$attribute])* $request::METHOD),*];
    };
}

/// Looks at what a session is set up with, which has the same fields in each request that does it.
macro_rules! check_setup {
    ($request:ident, $agent:ident) => {{
        absolute::<Self>("cwd", &$request.cwd)?;
        all_absolute::<Self>(&$request.additional_directories)?;
        $agent.require_setup(
            &$request.mcp_servers,
            $request.additional_directories.len(),
            $request.system_prompt.as_ref(),
        )
    }};
}

requests! { TO_CLIENT: ToClient, ClientPeer, CLIENT_METHOD_NAMES;
    RequestPermissionRequest => RequestPermissionResponse, session_request_permission,
        open_ended = true;
    ReadTextFileRequest => ReadTextFileResponse, fs_read_text_file, |request, client| {
        client.require_read_text_file()?;
        absolute::<Self>("path", &request.path)?;
        if request.line == Some(0) {
            return Err(Error::invalid_input(Self::METHOD, "`line` counts from 1"));
        }
        Ok(())
    };
    WriteTextFileRequest => WriteTextFileResponse, fs_write_text_file, |request, client| {
        client.require_write_text_file()?;
        absolute::<Self>("path", &request.path)
    };
    CreateTerminalRequest => CreateTerminalResponse, terminal_create, |request, client| {
        client.require_terminal()?;
        request.cwd.iter().try_for_each(|cwd| absolute::<Self>("cwd", cwd))
    };
    TerminalOutputRequest => TerminalOutputResponse, terminal_output,
        |_request, client| client.require_terminal();
    WaitForTerminalExitRequest => WaitForTerminalExitResponse, terminal_wait_for_exit,
        open_ended = true, |_request, client| client.require_terminal();
    KillTerminalRequest => KillTerminalResponse, terminal_kill,
        |_request, client| client.require_terminal();
    ReleaseTerminalRequest => ReleaseTerminalResponse, terminal_release,
        |_request, client| client.require_terminal();
    CreateElicitationRequest => CreateElicitationResponse, elicitation_create,
        open_ended = true, |request, client| match &request.mode {
            ElicitationMode::Form(_) => client.require_elicitation_form(),
            ElicitationMode::Url(_) => client.require_elicitation_url(),
            ElicitationMode::Other(_) | _ => Ok(()),
        };
}

requests! { TO_AGENT: ToAgent, AgentPeer, AGENT_METHOD_NAMES;
    AuthenticateRequest => AuthenticateResponse, authenticate, open_ended = true;
    LogoutRequest => LogoutResponse, logout, |_request, agent| agent.require_logout();
    NewSessionRequest => NewSessionResponse, session_new, |request, agent| {
        check_setup!(request, agent)
    };
    LoadSessionRequest => LoadSessionResponse, session_load, |request, agent| {
        agent.require_load_session()?;
        check_setup!(request, agent)
    };
    ResumeSessionRequest => ResumeSessionResponse, session_resume, |request, agent| {
        agent.require_resume_session()?;
        check_setup!(request, agent)
    };
    ListSessionsRequest => ListSessionsResponse, session_list, |request, agent| {
        agent.require_list_sessions()?;
        request.cwd.iter().try_for_each(|cwd| absolute::<Self>("cwd", cwd))
    };
    DeleteSessionRequest => DeleteSessionResponse, session_delete,
        |_request, agent| agent.require_delete_session();
    CloseSessionRequest => CloseSessionResponse, session_close,
        |_request, agent| agent.require_close_session();
    SetSessionModeRequest => SetSessionModeResponse, session_set_mode;
    SetSessionConfigOptionRequest => SetSessionConfigOptionResponse, session_set_config_option;
    #[cfg(feature = "unstable_session_fork")]
    ForkSessionRequest => ForkSessionResponse, session_fork, |request, agent| {
        agent.require_fork_session()?;
        check_setup!(request, agent)
    };
    #[cfg(feature = "unstable_session_archive")]
    ArchiveSessionRequest => ArchiveSessionResponse, session_archive,
        |_request, agent| agent.require_archive_session();
    #[cfg(feature = "unstable_session_archive")]
    UnarchiveSessionRequest => UnarchiveSessionResponse, session_unarchive,
        |_request, agent| agent.require_archive_session();
    #[cfg(feature = "unstable_session_status")]
    SessionStatusRequest => SessionStatusResponse, session_status,
        |_request, agent| agent.require_session_status();
    #[cfg(feature = "unstable_session_options")]
    SessionOptionsRequest => SessionOptionsResponse, session_options, |request, agent| {
        agent.require_session_options()?;
        all_absolute::<Self>(&request.additional_directories)?;
        absolute::<Self>("cwd", &request.cwd)
    };
    #[cfg(feature = "unstable_session_set_title")]
    SetSessionTitleRequest => SetSessionTitleResponse, session_set_title,
        |_request, agent| agent.require_set_session_title();
    #[cfg(feature = "unstable_llm_providers")]
    ListProvidersRequest => ListProvidersResponse, providers_list,
        |_request, agent| agent.require_providers();
    #[cfg(feature = "unstable_llm_providers")]
    SetProviderRequest => SetProviderResponse, providers_set,
        |_request, agent| agent.require_providers();
    #[cfg(feature = "unstable_llm_providers")]
    DisableProviderRequest => DisableProviderResponse, providers_disable,
        |_request, agent| agent.require_providers();
    #[cfg(feature = "unstable_auth_status")]
    AuthStatusRequest => AuthStatusResponse, auth_status,
        |_request, agent| agent.require_auth_status();
}

/// A request that goes both ways.
#[cfg(feature = "unstable_mcp_over_acp")]
impl Request for MessageMcpRequest {
    const METHOD: &'static str = AGENT_METHOD_NAMES.mcp_message;
    type Response = MessageMcpResponse;
}

#[cfg(feature = "unstable_mcp_over_acp")]
impl ToClient for MessageMcpRequest {}

#[cfg(feature = "unstable_mcp_over_acp")]
impl ToAgent for MessageMcpRequest {
    fn check(&self, agent: &AgentPeer) -> Result<(), Error> {
        agent.require_mcp_acp()
    }
}

impl Notification for CompleteElicitationNotification {
    const METHOD: &'static str = CLIENT_METHOD_NAMES.elicitation_complete;
}

impl NotifiesClient for CompleteElicitationNotification {}

#[cfg(feature = "unstable_auth_status")]
impl Notification for AuthStatusUpdateNotification {
    const METHOD: &'static str = CLIENT_METHOD_NAMES.auth_status_update;
}

#[cfg(feature = "unstable_auth_status")]
impl NotifiesClient for AuthStatusUpdateNotification {}

#[cfg(feature = "unstable_mcp_over_acp")]
impl Notification for MessageMcpNotification {
    const METHOD: &'static str = AGENT_METHOD_NAMES.mcp_message;
}

#[cfg(feature = "unstable_mcp_over_acp")]
impl NotifiesClient for MessageMcpNotification {}

#[cfg(feature = "unstable_mcp_over_acp")]
impl NotifiesAgent for MessageMcpNotification {}

/// Fails if a prompt contains something that the agent does not take.
pub(crate) fn check_prompt(request: &PromptRequest, agent: &AgentPeer) -> Result<(), Error> {
    request.prompt.iter().try_for_each(|block| match block {
        ContentBlock::Image(_) => agent.require_image(),
        ContentBlock::Audio(_) => agent.require_audio(),
        ContentBlock::Resource(_) => agent.require_embedded_context(),
        // Every agent takes these; what a newer schema adds is for the agent to judge.
        ContentBlock::Text(_) | ContentBlock::ResourceLink(_) | _ => Ok(()),
    })
}

/// Fails if a path is not absolute, as the protocol wants all of them to be.
///
/// A path of the other kind of system counts as absolute too: the peer may run on one.
fn absolute<Q: Request>(field: &str, path: &Path) -> Result<(), Error> {
    let text = path.as_os_str().as_encoded_bytes();
    let windows = matches!(text, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
        || text.starts_with(br"\\");
    if path.is_absolute() || text.starts_with(b"/") || windows {
        return Ok(());
    }
    Err(Error::invalid_input(
        Q::METHOD,
        format!(
            "`{field}` has to be an absolute path, and {} is not",
            path.display()
        ),
    ))
}

fn all_absolute<Q: Request>(directories: &[PathBuf]) -> Result<(), Error> {
    let mut directories = directories.iter();
    directories.try_for_each(|directory| absolute::<Q>("additionalDirectories", directory))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::Serialize;

    use super::*;

    /// The methods that do not go through the traits, because the connection has a part of its own in them.
    const BUILT_IN: &[&str] = &[
        AGENT_METHOD_NAMES.initialize,
        AGENT_METHOD_NAMES.session_prompt,
        AGENT_METHOD_NAMES.session_cancel,
        CLIENT_METHOD_NAMES.session_update,
    ];

    const NOTIFICATIONS: &[&str] = &[
        CompleteElicitationNotification::METHOD,
        #[cfg(feature = "unstable_auth_status")]
        AuthStatusUpdateNotification::METHOD,
    ];

    /// All names in one of the schema crate's tables, as it writes them itself.
    fn names(table: &impl Serialize) -> Vec<String> {
        let table = serde_json::to_value(table).unwrap();
        let names = table.as_object().unwrap().values();
        names
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    }

    #[test]
    fn every_method_of_the_schema_is_in_the_tables() {
        let schema: BTreeSet<String> = [names(&AGENT_METHOD_NAMES), names(&CLIENT_METHOD_NAMES)]
            .concat()
            .into_iter()
            .collect();
        #[cfg(feature = "unstable_mcp_over_acp")]
        let both_ways = [<MessageMcpRequest as Request>::METHOD];
        #[cfg(not(feature = "unstable_mcp_over_acp"))]
        let both_ways: [&str; 0] = [];
        let ours: BTreeSet<String> = [TO_CLIENT, TO_AGENT, BUILT_IN, NOTIFICATIONS, &both_ways]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect();
        assert_eq!(ours, schema);
    }

    #[test]
    fn paths_are_absolute_on_either_kind_of_system() {
        for path in ["/a", "C:\\a", "c:/a", r"\\server\share"] {
            absolute::<ReadTextFileRequest>("path", Path::new(path)).unwrap();
        }
        for path in ["", "a", "./a", "../a", "C:a", r"\a"] {
            let error = absolute::<ReadTextFileRequest>("path", Path::new(path)).unwrap_err();
            assert!(error.to_string().contains("`path`"), "{error}");
        }
    }
}
