//! Every method by its name in this library: the call, the handler, and what passes between them, async and blocking.

mod common;

use std::sync::{Arc, Mutex, PoisonError};

use common::result;
use endturn::{
    Agent, Client, PromptContext, RequestContext,
    agent::AgentBuilder,
    blocking,
    client::ClientBuilder,
    schema::{ProtocolVersion, v1::*},
    transport::{self, Transport},
};
use serde::Serialize;
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    sync::mpsc,
};

/// All that passed between two ends and was not looked at.
#[derive(Clone, Default)]
struct Wire(Arc<Mutex<Vec<Value>>>);

impl Wire {
    /// A pair of transports, and what passes between them.
    fn pair() -> (Transport, Transport, Self) {
        let wire = Self::default();
        let (near, inner_near) = transport::memory();
        let (inner_far, far) = transport::memory();
        let (near_reader, near_writer) = inner_near.into_parts();
        let (far_reader, far_writer) = inner_far.into_parts();
        tokio::spawn(relay(near_reader, far_writer, wire.clone()));
        tokio::spawn(relay(far_reader, near_writer, wire.clone()));
        (near, far, wire)
    }

    fn take(&self) -> Vec<Value> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// One request has passed, and its answer.
    #[track_caller]
    fn expect(&self, method: &str, request: &impl Serialize, response: &impl Serialize) {
        let passed = self.take();
        let [asked, answered] = &passed[..] else {
            panic!("{method}: {passed:?}")
        };
        assert_eq!(asked["method"], method);
        assert_eq!(asked["params"], serde_json::to_value(request).unwrap());
        let response = serde_json::to_value(response).unwrap();
        assert_eq!(*answered, result(asked["id"].clone(), response));
    }
}

async fn relay(
    reader: impl AsyncRead + Unpin,
    mut writer: impl AsyncWrite + Unpin,
    Wire(wire): Wire,
) {
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message = serde_json::from_str(&line).unwrap();
        wire.lock().unwrap().push(message);
        if writer.write_all((line + "\n").as_bytes()).await.is_err() {
            return;
        }
    }
}

fn hello() -> InitializeRequest {
    InitializeRequest::new(ProtocolVersion::V1)
}

fn prompt() -> PromptRequest {
    let text = ContentBlock::Text(TextContent::new("x"));
    PromptRequest::new("a", vec![text])
}

/// Makes, of one line for each request to the agent: an agent that handles them, and a client that makes them.
///
/// What a handler gets is what was sent, and what the caller gets is what it returned.
macro_rules! to_agent {
    ($($method:literal: $call:ident, $on:ident, $on_blocking:ident, $request:expr => $response:expr;)*) => {
        fn handle_all(builder: AgentBuilder) -> AgentBuilder {
            builder$(.$on(|request, cx: RequestContext| async move {
                assert_eq!(cx.method(), $method);
                assert_eq!(request, $request);
                Ok($response)
            }))*
        }

        fn handle_all_blocking(builder: AgentBuilder) -> AgentBuilder {
            builder$(.$on_blocking(|request, cx: blocking::RequestContext| {
                assert_eq!(cx.as_async().method(), $method);
                assert_eq!(request, $request);
                Ok($response)
            }))*
        }

        async fn call_all(client: &Client, wire: &Wire) {
            $(
                assert_eq!(client.$call($request).await.unwrap(), $response);
                wire.expect($method, &$request, &$response);
                // The same by its type.
                assert_eq!(client.request(&$request).await.unwrap(), $response);
                wire.expect($method, &$request, &$response);
            )*
        }

        fn call_all_blocking(client: &blocking::Client, wire: &Wire) {
            $(
                assert_eq!(client.$call($request).unwrap(), $response);
                wire.expect($method, &$request, &$response);
                assert_eq!(client.request(&$request).unwrap(), $response);
                wire.expect($method, &$request, &$response);
            )*
        }
    };
}

to_agent! {
    "authenticate": authenticate, on_authenticate, on_authenticate_blocking,
        AuthenticateRequest::new("key") => AuthenticateResponse::new();
    "logout": logout, on_logout, on_logout_blocking,
        LogoutRequest::new() => LogoutResponse::new();
    "session/new": new_session, on_new_session, on_new_session_blocking,
        NewSessionRequest::new("/new") => NewSessionResponse::new("new");
    "session/load": load_session, on_load_session, on_load_session_blocking,
        LoadSessionRequest::new("a", "/load") => LoadSessionResponse::new();
    "session/resume": resume_session, on_resume_session, on_resume_session_blocking,
        ResumeSessionRequest::new("a", "/resume") => ResumeSessionResponse::new();
    "session/list": list_sessions, on_list_sessions, on_list_sessions_blocking,
        ListSessionsRequest::new().cursor("2".to_owned())
            => ListSessionsResponse::new(vec![SessionInfo::new("a", "/a")]);
    "session/delete": delete_session, on_delete_session, on_delete_session_blocking,
        DeleteSessionRequest::new("a") => DeleteSessionResponse::new();
    "session/set_mode": set_mode, on_set_mode, on_set_mode_blocking,
        SetSessionModeRequest::new("a", "ask") => SetSessionModeResponse::new();
    "session/set_config_option": set_config_option, on_set_config_option,
        on_set_config_option_blocking,
        SetSessionConfigOptionRequest::new("a", "model", "small")
            => SetSessionConfigOptionResponse::new(Vec::new());
    "session/close": close_session, on_close_session, on_close_session_blocking,
        CloseSessionRequest::new("a") => CloseSessionResponse::new();
}

fn introduction() -> InitializeResponse {
    let session = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .delete(SessionDeleteCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new());
    let offer = AgentCapabilities::new()
        .load_session(true)
        .session_capabilities(session)
        .auth(AgentAuthCapabilities::new().logout(LogoutCapabilities::new()));
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(offer)
        .agent_info(Implementation::new("agent", "1"))
}

fn ended() -> PromptResponse {
    PromptResponse::new(StopReason::MaxTokens)
}

#[tokio::test]
async fn every_request_to_the_agent_reaches_its_handler_and_the_answer_its_caller() {
    let agent = handle_all(Agent::builder())
        .on_initialize(|request, _| async move {
            assert_eq!(request, hello());
            Ok(introduction())
        })
        .on_prompt(|request, _| async move {
            assert_eq!(request, prompt());
            Ok(ended())
        })
        .build();
    let (near, far, wire) = Wire::pair();
    tokio::spawn(async move { agent.serve(far).await });
    let client = Client::builder().connect(near);
    assert_eq!(client.initialize(hello()).await.unwrap(), introduction());
    wire.expect("initialize", &hello(), &introduction());
    call_all(&client, &wire).await;
    assert_eq!(client.prompt(prompt(), None).await.unwrap(), ended());
    wire.expect("session/prompt", &prompt(), &ended());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_to_the_agent_works_without_a_runtime_too() {
    let agent = handle_all_blocking(Agent::builder())
        .on_initialize_blocking(|request, _| {
            assert_eq!(request, hello());
            Ok(introduction())
        })
        .on_prompt_blocking(|request, _| {
            assert_eq!(request, prompt());
            Ok(ended())
        })
        .build();
    let (near, far, wire) = Wire::pair();
    std::thread::spawn(move || blocking::serve(&agent, || Ok(far)));
    let calls = tokio::task::spawn_blocking(move || {
        let client = blocking::Client::builder().connect(|| Ok(near)).unwrap();
        assert_eq!(client.initialize(hello()).unwrap(), introduction());
        wire.expect("initialize", &hello(), &introduction());
        call_all_blocking(&client, &wire);
        assert_eq!(client.prompt(prompt(), None).unwrap(), ended());
        wire.expect("session/prompt", &prompt(), &ended());
    });
    calls.await.unwrap();
}

/// Makes, of one line for each request to the client: a client that handles them, and an agent that makes them.
macro_rules! to_client {
    ($($method:literal: $on:ident, $request:expr => $response:expr;)*) => {
        fn answer_all(builder: ClientBuilder) -> ClientBuilder {
            builder$(.$on(|request, _client| async move {
                assert_eq!(request, $request);
                Ok($response)
            }))*
        }

        fn answer_all_blocking(builder: blocking::ClientBuilder) -> blocking::ClientBuilder {
            builder$(.$on(|request, _client| {
                assert_eq!(request, $request);
                Ok($response)
            }))*
        }

        async fn ask_all(turn: &PromptContext, wire: &Wire) {
            $(
                assert_eq!(turn.request(&$request).await.unwrap(), $response);
                wire.expect($method, &$request, &$response);
            )*
        }

        async fn ask_all_for_a_request(cx: &RequestContext, wire: &Wire) {
            $(
                assert_eq!(cx.request(&$request).await.unwrap(), $response);
                wire.expect($method, &$request, &$response);
            )*
        }

        fn ask_all_blocking(turn: &blocking::PromptContext, wire: &Wire) {
            $(
                assert_eq!(turn.request(&$request).unwrap(), $response);
                wire.expect($method, &$request, &$response);
            )*
        }

        fn ask_all_for_a_request_blocking(cx: &blocking::RequestContext, wire: &Wire) {
            $(
                assert_eq!(cx.request(&$request).unwrap(), $response);
                wire.expect($method, &$request, &$response);
            )*
        }
    };
}

fn permission() -> RequestPermissionRequest {
    let call = ToolCallUpdate::new("t", ToolCallUpdateFields::new());
    let option = PermissionOption::new("yes", "Yes", PermissionOptionKind::AllowOnce);
    RequestPermissionRequest::new("a", call, vec![option])
}

fn allowed() -> RequestPermissionResponse {
    let selected = SelectedPermissionOutcome::new("yes");
    RequestPermissionResponse::new(RequestPermissionOutcome::Selected(selected))
}

fn question() -> CreateElicitationRequest {
    let scope = ElicitationSessionScope::new("a");
    let form = ElicitationFormMode::new(scope, ElicitationSchema::new());
    CreateElicitationRequest::new(form, "Which one?")
}

to_client! {
    "session/request_permission": on_permission, permission() => allowed();
    "elicitation/create": on_elicitation,
        question() => CreateElicitationResponse::new(ElicitationAction::Decline);
    "fs/read_text_file": on_read_text_file,
        ReadTextFileRequest::new("a", "/file").line(1) => ReadTextFileResponse::new("text");
    "fs/write_text_file": on_write_text_file,
        WriteTextFileRequest::new("a", "/file", "text") => WriteTextFileResponse::new();
    "terminal/create": on_create_terminal,
        CreateTerminalRequest::new("a", "make") => CreateTerminalResponse::new("t");
    "terminal/output": on_terminal_output,
        TerminalOutputRequest::new("a", "t") => TerminalOutputResponse::new("done", false);
    "terminal/wait_for_exit": on_wait_for_terminal_exit,
        WaitForTerminalExitRequest::new("a", "t")
            => WaitForTerminalExitResponse::new(TerminalExitStatus::new().exit_code(0));
    "terminal/kill": on_kill_terminal,
        KillTerminalRequest::new("a", "t") => KillTerminalResponse::new();
    "terminal/release": on_release_terminal,
        ReleaseTerminalRequest::new("a", "t") => ReleaseTerminalResponse::new();
}

fn completed() -> CompleteElicitationNotification {
    CompleteElicitationNotification::new("e")
}

#[tokio::test]
async fn every_request_to_the_client_reaches_its_handler_and_the_answer_its_caller() {
    let (near, far, wire) = Wire::pair();
    let (turns, requests) = (wire.clone(), wire.clone());
    let agent = Agent::builder()
        .on_prompt(move |_, cx| {
            let wire = turns.clone();
            async move {
                wire.take();
                ask_all(&cx, &wire).await;
                assert_eq!(
                    cx.request_permission(permission()).await.unwrap(),
                    allowed()
                );
                wire.expect("session/request_permission", &permission(), &allowed());
                cx.notify(&completed()).await?;
                Ok(ended())
            }
        })
        .on_new_session(move |_, cx| {
            let wire = requests.clone();
            async move {
                wire.take();
                ask_all_for_a_request(&cx, &wire).await;
                cx.notify(&completed()).await?;
                Ok(NewSessionResponse::new("new"))
            }
        })
        .build();
    tokio::spawn(async move { agent.serve(far).await });
    let (done, mut is_done) = mpsc::unbounded_channel();
    let client = answer_all(Client::builder())
        .on_elicitation_complete(move |notification, _| {
            done.send(notification).unwrap();
            async {}
        })
        .connect(near);
    client.initialize(hello()).await.unwrap();
    client.prompt(prompt(), None).await.unwrap();
    assert_eq!(is_done.recv().await.unwrap(), completed());
    let passed = wire.take();
    assert_eq!(passed[0]["method"], "elicitation/complete");
    let new = NewSessionRequest::new("/");
    client.new_session(new).await.unwrap();
    assert_eq!(is_done.recv().await.unwrap(), completed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_request_to_the_client_works_without_a_runtime_too() {
    let (near, far, wire) = Wire::pair();
    let (turns, requests) = (wire.clone(), wire);
    let agent = Agent::builder()
        .on_prompt_blocking(move |_, cx| {
            turns.take();
            ask_all_blocking(&cx, &turns);
            assert_eq!(cx.request_permission(permission()).unwrap(), allowed());
            turns.expect("session/request_permission", &permission(), &allowed());
            cx.wait(cx.as_async().notify(&completed()))?;
            Ok(ended())
        })
        .on_new_session_blocking(move |_, cx| {
            requests.take();
            ask_all_for_a_request_blocking(&cx, &requests);
            cx.wait(cx.as_async().notify(&completed()))?;
            Ok(NewSessionResponse::new("new"))
        })
        .build();
    std::thread::spawn(move || blocking::serve(&agent, || Ok(far)));
    let calls = tokio::task::spawn_blocking(move || {
        let (done, is_done) = std::sync::mpsc::channel();
        let client = answer_all_blocking(blocking::Client::builder())
            .on_elicitation_complete(move |notification, _| done.send(notification).unwrap())
            .connect(|| Ok(near))
            .unwrap();
        client.initialize(hello()).unwrap();
        client.prompt(prompt(), None).unwrap();
        assert_eq!(is_done.recv().unwrap(), completed());
        client.new_session(NewSessionRequest::new("/")).unwrap();
        assert_eq!(is_done.recv().unwrap(), completed());
    });
    calls.await.unwrap();
}

/// Requests that have no method of their own, because they are drafts.
#[cfg(feature = "unstable")]
mod drafts {
    use super::*;

    macro_rules! drafts {
        ($($method:literal: $type:ident, $request:expr => $response:expr;)*) => {
            fn handle_drafts(builder: AgentBuilder) -> AgentBuilder {
                builder$(.on_request(|request: $type, cx| async move {
                    assert_eq!(cx.method(), $method);
                    assert_eq!(request, $request);
                    Ok($response)
                }))*
            }

            fn handle_drafts_blocking(builder: AgentBuilder) -> AgentBuilder {
                builder$(.on_request_blocking(|request: $type, _cx| {
                    assert_eq!(request, $request);
                    Ok($response)
                }))*
            }

            async fn call_drafts(client: &Client, wire: &Wire) {
                $(
                    assert_eq!(client.request(&$request).await.unwrap(), $response);
                    wire.expect($method, &$request, &$response);
                )*
            }

            fn call_drafts_blocking(client: &blocking::Client, wire: &Wire) {
                $(
                    assert_eq!(client.request(&$request).unwrap(), $response);
                    wire.expect($method, &$request, &$response);
                )*
            }
        };
    }

    fn tool_call() -> MessageMcpRequest {
        MessageMcpRequest::new("server", "1", "tools/list")
    }

    fn tools() -> MessageMcpResponse {
        MessageMcpResponse::success(serde_json::json!({"tools": []}))
    }

    drafts! {
        "session/fork": ForkSessionRequest,
            ForkSessionRequest::new("a", "/fork") => ForkSessionResponse::new("b");
        "session/archive": ArchiveSessionRequest,
            ArchiveSessionRequest::new("a") => ArchiveSessionResponse::new();
        "session/unarchive": UnarchiveSessionRequest,
            UnarchiveSessionRequest::new("a") => UnarchiveSessionResponse::new();
        "session/status": SessionStatusRequest,
            SessionStatusRequest::new("a") => SessionStatusResponse::new(SessionStatus::Open);
        "session/options": SessionOptionsRequest,
            SessionOptionsRequest::new("/options") => SessionOptionsResponse::new();
        "session/set_title": SetSessionTitleRequest,
            SetSessionTitleRequest::new("a", "Title") => SetSessionTitleResponse::new("Title");
        "providers/list": ListProvidersRequest,
            ListProvidersRequest::new() => ListProvidersResponse::new(Vec::new());
        "providers/set": SetProviderRequest,
            SetProviderRequest::new("p", LlmProtocol::Anthropic, "https://example.com")
                => SetProviderResponse::new();
        "providers/disable": DisableProviderRequest,
            DisableProviderRequest::new("p") => DisableProviderResponse::new();
        "auth/status": AuthStatusRequest,
            AuthStatusRequest::new() => AuthStatusResponse::new(AuthState::Authenticated);
        "mcp/message": MessageMcpRequest, tool_call() => tools();
    }

    /// What no handler shows.
    fn with_mcp(offer: AgentCapabilities) -> AgentCapabilities {
        offer.mcp_capabilities(McpCapabilities::new().acp(true))
    }

    #[tokio::test]
    async fn every_draft_reaches_its_handler_and_the_answer_its_caller() {
        let (near, far, wire) = Wire::pair();
        let turns = wire.clone();
        let agent = handle_drafts(Agent::builder())
            .adjust_capabilities(with_mcp)
            .on_prompt(move |_, cx| {
                let wire = turns.clone();
                async move {
                    wire.take();
                    assert_eq!(cx.request(&tool_call()).await.unwrap(), tools());
                    wire.expect("mcp/message", &tool_call(), &tools());
                    cx.notify(&AuthStatusUpdateNotification::new(AuthState::Unknown))
                        .await?;
                    Ok(ended())
                }
            })
            .build();
        tokio::spawn(async move { agent.serve(far).await });
        let (told, mut states) = mpsc::unbounded_channel();
        let client = Client::builder()
            .on_request(|request: MessageMcpRequest, _| async move {
                assert_eq!(request, tool_call());
                Ok(tools())
            })
            .on_notification(move |update: AuthStatusUpdateNotification, _| {
                told.send(update).unwrap();
                async {}
            })
            .connect(near);
        client.initialize(hello()).await.unwrap();
        wire.take();
        call_drafts(&client, &wire).await;
        client.prompt(prompt(), None).await.unwrap();
        let update = AuthStatusUpdateNotification::new(AuthState::Unknown);
        assert_eq!(states.recv().await.unwrap(), update);
        assert_eq!(wire.take()[0]["method"], "auth/status_update");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_draft_works_without_a_runtime_too() {
        let agent = handle_drafts_blocking(Agent::builder())
            .adjust_capabilities(with_mcp)
            .build();
        let (near, far, wire) = Wire::pair();
        std::thread::spawn(move || blocking::serve(&agent, || Ok(far)));
        let calls = tokio::task::spawn_blocking(move || {
            let client = blocking::Client::builder().connect(|| Ok(near)).unwrap();
            client.initialize(hello()).unwrap();
            wire.take();
            call_drafts_blocking(&client, &wire);
        });
        calls.await.unwrap();
    }
}
