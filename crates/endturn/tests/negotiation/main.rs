//! The handshake, what is offered in it, and what is refused before it, without it or against it.

#[path = "../common/mod.rs"]
mod common;

mod before_initialize;
mod capabilities;
mod faults;
mod not_offered;
mod notifications;
mod offers;
mod time;
mod versions;

use std::{
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use common::{client_of, connect, initialize, message, prompt, result, stopped};
use endturn::{
    Agent, Client, Error, ErrorKind, ErrorOrigin, HandlerResult, PromptContext,
    agent::AgentBuilder,
    capabilities::{AgentPeer, ClientPeer},
    client::ClientBuilder,
    request::{Notification, NotifiesAgent, NotifiesClient},
    schema::{ProtocolVersion, v1::*},
};
use endturn_testkit::RawPeer;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::{sync::mpsc, task::JoinSet, time::Instant};

type Future<T> = Pin<Box<dyn std::future::Future<Output = T> + Send>>;

/// A call whose answer does not matter: its method, the capability that it needs, if any, and itself.
type AnyCall = (&'static str, &'static str, Future<Result<(), Error>>);

fn call<R>(
    method: &'static str,
    capability: &'static str,
    call: impl std::future::Future<Output = Result<R, Error>> + Send + 'static,
) -> AnyCall {
    let call = async move { call.await.map(drop) };
    (method, capability, Box::pin(call))
}

fn text() -> ContentBlock {
    ContentBlock::Text(TextContent::new("x"))
}

/// Every request that a client can make, in order.
fn calls(client: &Client) -> Vec<AnyCall> {
    vec![
        call(
            "authenticate",
            "",
            client.authenticate(AuthenticateRequest::new("key")),
        ),
        call("logout", "auth.logout", client.logout(LogoutRequest::new())),
        call(
            "session/new",
            "",
            client.new_session(NewSessionRequest::new("/")),
        ),
        call(
            "session/load",
            "loadSession",
            client.load_session(LoadSessionRequest::new("a", "/")),
        ),
        call(
            "session/resume",
            "sessionCapabilities.resume",
            client.resume_session(ResumeSessionRequest::new("a", "/")),
        ),
        call(
            "session/list",
            "sessionCapabilities.list",
            client.list_sessions(ListSessionsRequest::new()),
        ),
        call(
            "session/delete",
            "sessionCapabilities.delete",
            client.delete_session(DeleteSessionRequest::new("a")),
        ),
        call(
            "session/close",
            "sessionCapabilities.close",
            client.close_session(CloseSessionRequest::new("a")),
        ),
        call(
            "session/set_mode",
            "",
            client.set_mode(SetSessionModeRequest::new("a", "ask")),
        ),
        call(
            "session/set_config_option",
            "",
            client.set_config_option(SetSessionConfigOptionRequest::new("a", "model", "small")),
        ),
        call(
            "session/prompt",
            "",
            client.prompt(PromptRequest::new("a", vec![text()]), None),
        ),
    ]
}

fn form() -> CreateElicitationRequest {
    let scope = ElicitationSessionScope::new("a");
    let form = ElicitationFormMode::new(scope, ElicitationSchema::new());
    CreateElicitationRequest::new(form, "Which one?")
}

fn page() -> CreateElicitationRequest {
    let scope = ElicitationSessionScope::new("a");
    let page = ElicitationUrlMode::new(scope, "e", "https://example.com");
    CreateElicitationRequest::new(page, "Log in")
}

fn permission() -> RequestPermissionRequest {
    let call = ToolCallUpdate::new("t", ToolCallUpdateFields::new());
    let options: Vec<PermissionOption> = Vec::new();
    RequestPermissionRequest::new("a", call, options)
}

/// Every request that an agent can make, in order.
fn asks(cx: &PromptContext) -> Vec<AnyCall> {
    vec![
        call(
            "session/request_permission",
            "",
            cx.request_permission(permission()),
        ),
        call(
            "fs/read_text_file",
            "fs.readTextFile",
            cx.request(&ReadTextFileRequest::new("a", "/x")),
        ),
        call(
            "fs/write_text_file",
            "fs.writeTextFile",
            cx.request(&WriteTextFileRequest::new("a", "/x", "text")),
        ),
        call(
            "terminal/create",
            "terminal",
            cx.request(&CreateTerminalRequest::new("a", "make")),
        ),
        call(
            "terminal/output",
            "terminal",
            cx.request(&TerminalOutputRequest::new("a", "t")),
        ),
        call(
            "terminal/wait_for_exit",
            "terminal",
            cx.request(&WaitForTerminalExitRequest::new("a", "t")),
        ),
        call(
            "terminal/kill",
            "terminal",
            cx.request(&KillTerminalRequest::new("a", "t")),
        ),
        call(
            "terminal/release",
            "terminal",
            cx.request(&ReleaseTerminalRequest::new("a", "t")),
        ),
        call(
            "elicitation/create",
            "elicitation.form",
            cx.request(&form()),
        ),
        call("elicitation/create", "elicitation.url", cx.request(&page())),
    ]
}

fn ended() -> HandlerResult<PromptResponse> {
    Ok(PromptResponse::new(StopReason::EndTurn))
}

fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// A raw client of this agent that has sent nothing.
fn stranger_of(agent: Agent) -> RawPeer {
    let (peer, transport) = RawPeer::pair();
    tokio::spawn(async move { agent.serve(transport).await });
    peer
}

/// A raw client of this agent that offers this.
async fn client_offering(agent: Agent, offer: Value) -> RawPeer {
    let mut client = stranger_of(agent);
    let params = json!({"protocolVersion": 1, "clientCapabilities": offer});
    client.send(request("hello", "initialize", params)).await;
    assert_eq!(client.receive().await["result"]["protocolVersion"], 1);
    client
}

/// A client, and a raw agent that has answered its `initialize` so.
async fn client_answered(builder: ClientBuilder, answer: Value) -> (Client, RawPeer, Value) {
    let (mut agent, transport) = RawPeer::pair();
    let client = builder.connect(transport);
    let hello = tokio::spawn({
        let client = client.clone();
        async move { initialize(&client).await }
    });
    let asked = agent.receive().await;
    assert_eq!(asked["method"], "initialize");
    agent.send(result(asked["id"].clone(), answer)).await;
    hello.await.unwrap().unwrap();
    (client, agent, asked["params"].clone())
}

/// A client, and a raw agent that offers this.
async fn agent_offering(offer: Value) -> (Client, RawPeer) {
    let answer = json!({"protocolVersion": 1, "agentCapabilities": offer});
    let (client, agent, _) = client_answered(Client::builder(), answer).await;
    (client, agent)
}

/// An object with this at the end of a path such as `a.b`.
fn nested(path: &str, leaf: Value) -> Value {
    path.rsplit('.')
        .fold(leaf, |inner, name| json!({ name: inner }))
}

fn refusal(error: &Error, capability: &str) {
    assert!(error.is_capability(), "{error}");
    assert_eq!(error.kind(), ErrorKind::MissingCapability);
    assert_eq!(error.origin(), ErrorOrigin::Local);
    assert_eq!(error.capability(), Some(capability));
    assert!(error.to_string().contains(capability), "{error}");
}

/// Every request that an agent handles, with what is in it at least, and a field that has to be there.
fn to_agent() -> Vec<(&'static str, Value, &'static str)> {
    let session = || json!({"sessionId": "a"});
    vec![
        ("authenticate", json!({"methodId": "key"}), "methodId"),
        ("logout", json!({}), ""),
        ("session/new", json!({"cwd": "/", "mcpServers": []}), "cwd"),
        (
            "session/load",
            json!({"sessionId": "a", "cwd": "/", "mcpServers": []}),
            "sessionId",
        ),
        (
            "session/resume",
            json!({"sessionId": "a", "cwd": "/"}),
            "cwd",
        ),
        ("session/list", json!({}), "cwd"),
        ("session/delete", session(), "sessionId"),
        ("session/close", session(), "sessionId"),
        (
            "session/set_mode",
            json!({"sessionId": "a", "modeId": "ask"}),
            "modeId",
        ),
        (
            "session/set_config_option",
            json!({"sessionId": "a", "configId": "model", "value": "small"}),
            "configId",
        ),
        (
            "session/prompt",
            json!({"sessionId": "a", "prompt": []}),
            "prompt",
        ),
    ]
}

/// An agent with a handler for each of them.
fn handles_all() -> AgentBuilder {
    Agent::builder()
        .on_authenticate(|_, _| async { Ok(AuthenticateResponse::new()) })
        .on_logout(|_, _| async { Ok(LogoutResponse::new()) })
        .on_new_session(|_, _| async { Ok(NewSessionResponse::new("new")) })
        .on_load_session(|_, _| async { Ok(LoadSessionResponse::new()) })
        .on_resume_session(|_, _| async { Ok(ResumeSessionResponse::new()) })
        .on_list_sessions(|_, _| async { Ok(ListSessionsResponse::new(Vec::new())) })
        .on_delete_session(|_, _| async { Ok(DeleteSessionResponse::new()) })
        .on_close_session(|_, _| async { Ok(CloseSessionResponse::new()) })
        .on_set_mode(|_, _| async { Ok(SetSessionModeResponse::new()) })
        .on_set_config_option(|_, _| async { Ok(SetSessionConfigOptionResponse::new(Vec::new())) })
        .on_prompt(|_, _| async { ended() })
}

/// A notification that is not the protocol's, in either direction.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Told {
    number: u32,
}

impl Notification for Told {
    const METHOD: &'static str = "_test/told";
}
impl NotifiesAgent for Told {}
impl NotifiesClient for Told {}
