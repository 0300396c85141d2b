//! The handshake, what is offered in it, and what is refused before it, without it or against it.

mod common;

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

// What is offered.

#[tokio::test]
async fn a_client_offers_what_its_handlers_make_possible() {
    async fn offered(builder: ClientBuilder) -> Value {
        let (_client, _agent, hello) =
            client_answered(builder, json!({"protocolVersion": 1})).await;
        assert_eq!(hello["protocolVersion"], 1);
        hello["clientCapabilities"].clone()
    }
    let nothing = offered(Client::builder()).await;
    assert_eq!(
        nothing["fs"],
        json!({"readTextFile": false, "writeTextFile": false})
    );
    assert_eq!(nothing["terminal"], false);
    assert_eq!(nothing.get("elicitation"), None, "{nothing}");

    let reads =
        Client::builder().on_read_text_file(|_, _| async { Ok(ReadTextFileResponse::new("")) });
    let read = offered(reads).await;
    assert_eq!(
        read["fs"],
        json!({"readTextFile": true, "writeTextFile": false})
    );

    let four_of_terminals = || {
        Client::builder()
            .on_write_text_file(|_, _| async { Ok(WriteTextFileResponse::new()) })
            .on_create_terminal(|_, _| async { Ok(CreateTerminalResponse::new("t")) })
            .on_terminal_output(|_, _| async { Ok(TerminalOutputResponse::new("", false)) })
            .on_wait_for_terminal_exit(|_, _| std::future::pending())
            .on_kill_terminal(|_, _| async { Ok(KillTerminalResponse::new()) })
    };
    let four = offered(four_of_terminals()).await;
    assert_eq!(
        four["fs"],
        json!({"readTextFile": false, "writeTextFile": true})
    );
    assert_eq!(four["terminal"], false);
    let five = four_of_terminals()
        .on_release_terminal(|_, _| async { Ok(ReleaseTerminalResponse::new()) });
    assert_eq!(offered(five).await["terminal"], true);

    // Pages need both: the question, and the news that it is done.
    let forms = || Client::builder().on_elicitation(|_, _| std::future::pending());
    assert_eq!(offered(forms()).await["elicitation"], json!({"form": {}}));
    let pages = forms().on_elicitation_complete(|_, _| async {});
    let both = json!({"form": {}, "url": {}});
    assert_eq!(offered(pages).await["elicitation"], both);
    let news = Client::builder().on_elicitation_complete(|_, _| async {});
    assert_eq!(offered(news).await.get("elicitation"), None);

    // It does not matter by which name a handler was registered.
    let raw = Client::builder().on_request_raw("fs/read_text_file", |_: Value, _| async {
        Ok(json!({"content": ""}))
    });
    assert_eq!(offered(raw).await["fs"]["readTextFile"], true);
}

#[tokio::test]
async fn what_a_client_offers_can_be_adjusted_replaced_and_said_in_the_request() {
    let reads =
        || Client::builder().on_read_text_file(|_, _| async { Ok(ReadTextFileResponse::new("")) });
    let version = json!({"protocolVersion": 1});
    let adjusted = reads()
        .info(Implementation::new("editor", "2"))
        .adjust_capabilities(|derived| derived.terminal(true));
    let (_, _, hello) = client_answered(adjusted, version.clone()).await;
    assert_eq!(hello["clientCapabilities"]["fs"]["readTextFile"], true);
    assert_eq!(hello["clientCapabilities"]["terminal"], true);
    assert_eq!(hello["clientInfo"]["name"], "editor");

    let replaced = reads().capabilities(ClientCapabilities::new().terminal(true));
    let (_, _, hello) = client_answered(replaced, version).await;
    assert_eq!(hello["clientCapabilities"]["fs"]["readTextFile"], false);
    assert_eq!(hello["clientCapabilities"]["terminal"], true);

    let (mut agent, transport) = RawPeer::pair();
    let client = reads()
        .info(Implementation::new("editor", "2"))
        .adjust_capabilities(|derived| derived.terminal(true))
        .connect(transport);
    let files = FileSystemCapabilities::new().write_text_file(true);
    let said = InitializeRequest::new(ProtocolVersion::V1)
        .client_capabilities(ClientCapabilities::new().fs(files))
        .client_info(Implementation::new("other", "3"));
    let (answer, hello) = tokio::join!(client.initialize(said), agent.accept_initialize());
    answer.unwrap();
    let files = json!({"readTextFile": false, "writeTextFile": true});
    assert_eq!(hello["clientCapabilities"]["fs"], files);
    assert_eq!(hello["clientCapabilities"]["terminal"], false);
    assert_eq!(hello["clientInfo"]["name"], "other");
}

#[tokio::test]
async fn an_agent_offers_what_its_handlers_make_possible() {
    async fn offered(builder: AgentBuilder) -> Value {
        let mut client = stranger_of(builder.build());
        let answer = client.initialize().await;
        assert_eq!(answer["protocolVersion"], 1);
        answer["agentCapabilities"].clone()
    }
    let nothing = offered(Agent::builder()).await;
    assert_eq!(nothing["loadSession"], false);
    for capability in ["list", "delete", "resume", "close"] {
        let offer = nothing["sessionCapabilities"].get(capability);
        assert_eq!(offer, None, "{nothing}");
    }
    assert_eq!(nothing["auth"].get("logout"), None, "{nothing}");

    let session = |name| format!("sessionCapabilities.{name}");
    for (builder, path, leaf) in [
        (
            Agent::builder().on_load_session(|_, _| std::future::pending()),
            "loadSession".to_owned(),
            json!(true),
        ),
        (
            Agent::builder().on_list_sessions(|_, _| std::future::pending()),
            session("list"),
            json!({}),
        ),
        (
            Agent::builder().on_delete_session(|_, _| std::future::pending()),
            session("delete"),
            json!({}),
        ),
        (
            Agent::builder().on_resume_session(|_, _| std::future::pending()),
            session("resume"),
            json!({}),
        ),
        (
            Agent::builder().on_close_session(|_, _| std::future::pending()),
            session("close"),
            json!({}),
        ),
        (
            Agent::builder().on_logout_blocking(|_, _| Ok(LogoutResponse::new())),
            "auth.logout".to_owned(),
            json!({}),
        ),
        (
            Agent::builder().on_request_raw("session/list", |_: Value, _| async {
                Ok(json!({"sessions": []}))
            }),
            session("list"),
            json!({}),
        ),
    ] {
        // That, and nothing else.
        let mut expected = nothing.clone();
        let pointer = format!("/{}", path.replace('.', "/"));
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        expected.pointer_mut(parent).unwrap()[name] = leaf;
        assert_eq!(offered(builder).await, expected, "{path}");
    }
}

#[cfg(feature = "unstable")]
#[tokio::test]
async fn an_agent_offers_a_draft_when_all_of_its_methods_have_a_handler() {
    async fn offered(builder: AgentBuilder) -> Value {
        client_of(builder.build()).await.initialize().await["agentCapabilities"].clone()
    }
    fn on<Q: endturn::request::ToAgent + for<'de> Deserialize<'de> + Send + 'static>(
        builder: AgentBuilder,
    ) -> AgentBuilder
    where
        Q::Response: Serialize,
    {
        builder.on_request(|_: Q, _| std::future::pending())
    }
    let new = Agent::builder;
    for (builder, path) in [
        (on::<ForkSessionRequest>(new()), "sessionCapabilities.fork"),
        (
            on::<UnarchiveSessionRequest>(on::<ArchiveSessionRequest>(new())),
            "sessionCapabilities.archive",
        ),
        (
            on::<SessionStatusRequest>(new()),
            "sessionCapabilities.status",
        ),
        (
            on::<SessionOptionsRequest>(new()),
            "sessionCapabilities.options",
        ),
        (
            on::<SetSessionTitleRequest>(new()),
            "sessionCapabilities.title",
        ),
        (
            on::<DisableProviderRequest>(on::<SetProviderRequest>(on::<ListProvidersRequest>(
                new(),
            ))),
            "providers",
        ),
        (on::<AuthStatusRequest>(new()), "auth.status"),
    ] {
        let offer = offered(builder).await;
        let pointer = format!("/{}", path.replace('.', "/"));
        assert_eq!(offer.pointer(&pointer), Some(&json!({})), "{path}: {offer}");
    }
    for builder in [
        on::<ArchiveSessionRequest>(new()),
        on::<SetProviderRequest>(on::<ListProvidersRequest>(new())),
    ] {
        let offer = offered(builder).await;
        assert_eq!(offer["sessionCapabilities"].get("archive"), None, "{offer}");
        assert_eq!(offer.get("providers"), None, "{offer}");
    }
}

#[tokio::test]
async fn what_an_agent_offers_can_be_adjusted_replaced_and_said_in_a_handler() {
    let lists = || {
        Agent::builder()
            .info(Implementation::new("agent", "2"))
            .auth_methods([AuthMethod::Agent(AuthMethodAgent::new("key", "Key"))])
            .on_list_sessions(|_, _| std::future::pending())
    };
    let images = PromptCapabilities::new().image(true);
    let adjusted = {
        let images = images.clone();
        lists().adjust_capabilities(move |derived| derived.prompt_capabilities(images.clone()))
    };
    let answer = stranger_of(adjusted.build()).initialize().await;
    assert_eq!(answer["agentInfo"]["name"], "agent");
    assert_eq!(answer["authMethods"][0]["id"], "key");
    let offer = &answer["agentCapabilities"];
    assert_eq!(offer["promptCapabilities"]["image"], true);
    assert_eq!(offer["sessionCapabilities"]["list"], json!({}));

    let replaced = lists().capabilities(AgentCapabilities::new().prompt_capabilities(images));
    let answer = stranger_of(replaced.build()).initialize().await;
    let offer = &answer["agentCapabilities"];
    assert_eq!(offer["promptCapabilities"]["image"], true);
    assert_eq!(offer["sessionCapabilities"].get("list"), None);

    let said = lists().on_initialize(|request, cx| async move {
        // What the client offers is known already.
        assert!(cx.client()?.supports_terminal());
        let offer = AgentCapabilities::new().load_session(true);
        Ok(InitializeResponse::new(request.protocol_version).agent_capabilities(offer))
    });
    let answer = stranger_of(said.build()).initialize().await;
    assert_eq!(answer["agentCapabilities"]["loadSession"], true);
    assert_eq!(answer.get("agentInfo"), None);
}

#[tokio::test]
async fn each_side_knows_who_the_other_is() {
    let answer = json!({"protocolVersion": 1, "_meta": {"m": 1}, "agentInfo": {"name": "agent", "version": "2"},
        "authMethods": [{"id": "key", "name": "Key"}]});
    let (client, _agent, _) = client_answered(Client::builder(), answer).await;
    let agent = client.agent().unwrap();
    assert_eq!(agent.info().unwrap().name, "agent");
    assert_eq!(agent.auth_methods().len(), 1);
    assert_eq!(agent.meta().unwrap()["m"], 1);

    let (peers, mut known) = mpsc::unbounded_channel();
    let agent = Agent::builder().on_prompt(move |_, cx| {
        peers.send(cx.client().unwrap()).unwrap();
        async { ended() }
    });
    let mut client = stranger_of(agent.build());
    let hello = json!({"protocolVersion": 2, "_meta": {"m": 1},
        "clientInfo": {"name": "client", "version": "3"}});
    client.send(request(0, "initialize", hello)).await;
    client.send(prompt(1, "a", "x")).await;
    client.receive_until(1).await;
    let client = known.recv().await.unwrap();
    assert_eq!(client.info().unwrap().name, "client");
    assert_eq!(client.protocol_version(), ProtocolVersion::from(2));
    assert_eq!(client.meta().unwrap()["m"], 1);
}

/// What a peer can be asked about one capability.
type Capability<P> = (
    &'static str,
    Value,
    fn(&P) -> bool,
    fn(&P) -> Result<(), Error>,
);

macro_rules! capability_table {
    ($peer:ident: $($(#[$attribute:meta])* $supports:ident, $require:ident, $name:literal, $leaf:tt;)*) => {
        vec![$($(#[$attribute])* ($name, json!($leaf), $peer::$supports, $peer::$require)),*]
    };
}

/// Looks at one capability after the other, each offered by a peer that offers nothing else.
fn check_capabilities<P>(table: &[Capability<P>], peers: &[P]) {
    for ((offered, ..), peer) in table.iter().zip(peers) {
        for (name, _, supports, require) in table {
            // What is within another capability cannot be offered without it.
            let expected = offered == name || offered.starts_with(&format!("{name}."));
            assert_eq!(supports(peer), expected, "{name} with {offered}");
            match require(peer) {
                Ok(()) => assert!(expected, "{name} with {offered}"),
                Err(error) => {
                    assert!(!expected, "{name} with {offered}");
                    refusal(&error, name);
                }
            }
        }
    }
    assert_eq!(table.len(), peers.len());
}

#[tokio::test]
async fn every_capability_of_an_agent_is_seen() {
    let table: Vec<Capability<AgentPeer>> = capability_table! { AgentPeer:
        supports_load_session, require_load_session, "loadSession", true;
        supports_list_sessions, require_list_sessions, "sessionCapabilities.list", {};
        supports_delete_session, require_delete_session, "sessionCapabilities.delete", {};
        supports_resume_session, require_resume_session, "sessionCapabilities.resume", {};
        supports_close_session, require_close_session, "sessionCapabilities.close", {};
        supports_additional_directories, require_additional_directories,
            "sessionCapabilities.additionalDirectories", {};
        supports_system_prompt, require_system_prompt, "sessionCapabilities.systemPrompt", {};
        supports_system_prompt_override, require_system_prompt_override,
            "sessionCapabilities.systemPrompt.mode.override", {};
        supports_logout, require_logout, "auth.logout", {};
        supports_image, require_image, "promptCapabilities.image", true;
        supports_audio, require_audio, "promptCapabilities.audio", true;
        supports_embedded_context, require_embedded_context,
            "promptCapabilities.embeddedContext", true;
        supports_mcp_http, require_mcp_http, "mcpCapabilities.http", true;
        supports_mcp_sse, require_mcp_sse, "mcpCapabilities.sse", true;
        #[cfg(feature = "unstable_mcp_over_acp")]
        supports_mcp_acp, require_mcp_acp, "mcpCapabilities.acp", true;
        #[cfg(feature = "unstable_session_fork")]
        supports_fork_session, require_fork_session, "sessionCapabilities.fork", {};
        #[cfg(feature = "unstable_session_archive")]
        supports_archive_session, require_archive_session, "sessionCapabilities.archive", {};
        #[cfg(feature = "unstable_session_status")]
        supports_session_status, require_session_status, "sessionCapabilities.status", {};
        #[cfg(feature = "unstable_session_options")]
        supports_session_options, require_session_options, "sessionCapabilities.options", {};
        #[cfg(feature = "unstable_session_set_title")]
        supports_set_session_title, require_set_session_title, "sessionCapabilities.title", {};
        #[cfg(feature = "unstable_llm_providers")]
        supports_providers, require_providers, "providers", {};
        #[cfg(feature = "unstable_auth_status")]
        supports_auth_status, require_auth_status, "auth.status", {};
    };
    let mut peers = Vec::new();
    for (name, leaf, ..) in &table {
        let (client, _agent) = agent_offering(nested(name, leaf.clone())).await;
        peers.push(client.agent().unwrap());
    }
    check_capabilities(&table, &peers);
}

#[tokio::test]
async fn every_capability_of_a_client_is_seen() {
    let table: Vec<Capability<ClientPeer>> = capability_table! { ClientPeer:
        supports_read_text_file, require_read_text_file, "fs.readTextFile", true;
        supports_write_text_file, require_write_text_file, "fs.writeTextFile", true;
        supports_terminal, require_terminal, "terminal", true;
        supports_elicitation_form, require_elicitation_form, "elicitation.form", {};
        supports_elicitation_url, require_elicitation_url, "elicitation.url", {};
        supports_boolean_config_options, require_boolean_config_options,
            "session.configOptions.boolean", {};
        supports_notices, require_notices, "session.notices", {};
        supports_compaction, require_compaction, "session.compaction", {};
    };
    let (sender, mut known) = mpsc::unbounded_channel();
    let agent = Agent::builder()
        .on_prompt(move |_, cx| {
            sender.send(cx.client().unwrap()).unwrap();
            async { ended() }
        })
        .build();
    let mut peers = Vec::new();
    for (name, leaf, ..) in &table {
        let mut client = client_offering(agent.clone(), nested(name, leaf.clone())).await;
        client.send(prompt(1, "a", "x")).await;
        peers.push(known.recv().await.unwrap());
    }
    check_capabilities(&table, &peers);
}

// What is not offered is not asked for.

#[tokio::test]
async fn a_request_that_the_agent_does_not_offer_fails_and_nothing_is_sent() {
    let (client, mut agent) = agent_offering(json!({})).await;
    for (method, capability, call) in calls(&client) {
        if !capability.is_empty() {
            let error = call.await.expect_err(method);
            refusal(&error, capability);
        }
    }
    assert!(agent.barrier().await.is_empty());

    // One capability is no other.
    let (client, mut agent) = agent_offering(json!({"loadSession": true})).await;
    let list = client.list_sessions(ListSessionsRequest::new()).await;
    refusal(&list.unwrap_err(), "sessionCapabilities.list");
    let load = tokio::spawn(client.load_session(LoadSessionRequest::new("a", "/")));
    let asked = agent.receive().await;
    assert_eq!(asked["method"], "session/load");
    agent.send(result(asked["id"].clone(), json!({}))).await;
    load.await.unwrap().unwrap();
}

#[cfg(feature = "unstable")]
#[tokio::test]
async fn a_draft_that_the_agent_does_not_offer_fails_and_nothing_is_sent() {
    let (client, mut agent) = agent_offering(json!({})).await;
    let session = [
        (
            call(
                "",
                "fork",
                client.request(&ForkSessionRequest::new("a", "/")),
            ),
            "sessionCapabilities.fork",
        ),
        (
            call("", "", client.request(&ArchiveSessionRequest::new("a"))),
            "sessionCapabilities.archive",
        ),
        (
            call("", "", client.request(&UnarchiveSessionRequest::new("a"))),
            "sessionCapabilities.archive",
        ),
        (
            call("", "", client.request(&SessionStatusRequest::new("a"))),
            "sessionCapabilities.status",
        ),
        (
            call("", "", client.request(&SessionOptionsRequest::new("/"))),
            "sessionCapabilities.options",
        ),
        (
            call(
                "",
                "",
                client.request(&SetSessionTitleRequest::new("a", "A")),
            ),
            "sessionCapabilities.title",
        ),
        (
            call("", "", client.request(&ListProvidersRequest::new())),
            "providers",
        ),
        (
            call(
                "",
                "",
                client.request(&SetProviderRequest::new("p", LlmProtocol::Azure, "/")),
            ),
            "providers",
        ),
        (
            call("", "", client.request(&DisableProviderRequest::new("p"))),
            "providers",
        ),
        (
            call("", "", client.request(&AuthStatusRequest::new())),
            "auth.status",
        ),
        (
            call(
                "",
                "",
                client.request(&MessageMcpRequest::new("s", "1", "ping")),
            ),
            "mcpCapabilities.acp",
        ),
    ];
    for ((.., call), capability) in session {
        refusal(&call.await.unwrap_err(), capability);
    }
    let server = McpServer::Acp(McpServerAcp::new("s", "s"));
    let new = NewSessionRequest::new("/").mcp_servers(vec![server]);
    let error = client.new_session(new).await.unwrap_err();
    refusal(&error, "mcpCapabilities.acp");
    assert!(agent.barrier().await.is_empty());
}

#[tokio::test]
async fn a_prompt_with_content_that_the_agent_does_not_take_fails_and_nothing_is_sent() {
    let image = ContentBlock::Image(ImageContent::new("AA==", "image/png"));
    let audio = ContentBlock::Audio(AudioContent::new("AA==", "audio/wav"));
    let resource = TextResourceContents::new("x", "file:///x");
    let resource = EmbeddedResourceResource::TextResourceContents(resource);
    let resource = ContentBlock::Resource(EmbeddedResource::new(resource));
    for (block, capability) in [
        (image, "promptCapabilities.image"),
        (audio, "promptCapabilities.audio"),
        (resource, "promptCapabilities.embeddedContext"),
    ] {
        let request = PromptRequest::new("a", vec![text(), block]);
        let (client, mut agent) = agent_offering(json!({})).await;
        let error = client.prompt(request.clone(), None).await.unwrap_err();
        refusal(&error, capability);
        assert!(agent.barrier().await.is_empty());
        // The session was not made busy by it, and what every agent takes goes out.
        let link = ContentBlock::ResourceLink(ResourceLink::new("x", "file:///x"));
        let plain = PromptRequest::new("a", vec![text(), link]);
        let answer = tokio::spawn(client.prompt(plain, None));
        let id = agent.receive().await["id"].clone();
        agent.send(stopped(id, "end_turn")).await;
        answer.await.unwrap().unwrap();

        let (client, mut agent) = agent_offering(nested(capability, json!(true))).await;
        let answer = tokio::spawn(client.prompt(request, None));
        let asked = agent.receive().await;
        assert_eq!(asked["params"]["prompt"].as_array().unwrap().len(), 2);
        agent.send(stopped(asked["id"].clone(), "end_turn")).await;
        answer.await.unwrap().unwrap();
    }
}

/// How the setup of a session is asked for, in a session that is new or one that is taken up again.
struct Setup {
    servers: Vec<McpServer>,
    directories: Vec<std::path::PathBuf>,
    system_prompt: Option<SystemPrompt>,
}

impl Setup {
    fn calls(&self, client: &Client) -> [AnyCall; 3] {
        let (servers, directories) = (|| self.servers.clone(), || self.directories.clone());
        let system_prompt = || self.system_prompt.clone();
        [
            call(
                "session/new",
                "",
                client.new_session(
                    NewSessionRequest::new("/")
                        .mcp_servers(servers())
                        .additional_directories(directories())
                        .system_prompt(system_prompt()),
                ),
            ),
            call(
                "session/load",
                "",
                client.load_session(
                    LoadSessionRequest::new("a", "/")
                        .mcp_servers(servers())
                        .additional_directories(directories())
                        .system_prompt(system_prompt()),
                ),
            ),
            call(
                "session/resume",
                "",
                client.resume_session(
                    ResumeSessionRequest::new("a", "/")
                        .mcp_servers(servers())
                        .additional_directories(directories())
                        .system_prompt(system_prompt()),
                ),
            ),
        ]
    }
}

#[tokio::test]
async fn a_session_with_a_setup_that_the_agent_does_not_offer_is_not_asked_for() {
    let none = || Setup {
        servers: Vec::new(),
        directories: Vec::new(),
        system_prompt: None,
    };
    let http = McpServer::Http(McpServerHttp::new("s", "https://example.com"));
    let sse = McpServer::Sse(McpServerSse::new("s", "https://example.com"));
    let append = SystemPrompt::new(vec![text()]);
    let replace = append.clone().mode(SystemPromptMode::Override);
    let table = [
        (
            Setup {
                servers: vec![http],
                ..none()
            },
            "mcpCapabilities.http",
            json!(true),
        ),
        (
            Setup {
                servers: vec![sse],
                ..none()
            },
            "mcpCapabilities.sse",
            json!(true),
        ),
        (
            Setup {
                directories: vec!["/more".into()],
                ..none()
            },
            "sessionCapabilities.additionalDirectories",
            json!({}),
        ),
        (
            Setup {
                system_prompt: Some(append),
                ..none()
            },
            "sessionCapabilities.systemPrompt",
            json!({}),
        ),
        (
            Setup {
                system_prompt: Some(replace),
                ..none()
            },
            "sessionCapabilities.systemPrompt.mode.override",
            json!({}),
        ),
    ];
    // Loading and resuming are offered, so it is only about the rest.
    let with = |mut offer: Value| {
        offer["loadSession"] = json!(true);
        offer["sessionCapabilities"]["resume"] = json!({});
        offer
    };
    for (setup, capability, leaf) in table {
        let (client, mut agent) = agent_offering(with(json!({}))).await;
        for (method, _, call) in setup.calls(&client) {
            refusal(&call.await.expect_err(method), capability);
        }
        assert!(agent.barrier().await.is_empty());

        let (client, mut agent) = agent_offering(with(nested(capability, leaf))).await;
        for (method, _, call) in setup.calls(&client) {
            let call = tokio::spawn(call);
            let asked = agent.receive().await;
            assert_eq!(asked["method"], method);
            let answer = json!({"sessionId": "new"});
            agent.send(result(asked["id"].clone(), answer)).await;
            call.await.unwrap().expect(method);
        }
    }
    // A system prompt that is appended is not enough to replace one, and every agent starts processes.
    let offer = with(json!({"sessionCapabilities": {"systemPrompt": {}}}));
    let (client, mut agent) = agent_offering(offer).await;
    let replace = SystemPrompt::new(vec![text()]).mode(SystemPromptMode::Override);
    let new = NewSessionRequest::new("/").system_prompt(replace);
    let error = client.new_session(new).await.unwrap_err();
    refusal(&error, "sessionCapabilities.systemPrompt.mode.override");
    let server = McpServer::Stdio(McpServerStdio::new("s", "/bin/server"));
    let new = NewSessionRequest::new("/").mcp_servers(vec![server]);
    let new = tokio::spawn(client.new_session(new));
    assert_eq!(agent.receive().await["method"], "session/new");
    new.abort();
}

#[tokio::test]
async fn a_request_that_the_client_does_not_offer_fails_and_nothing_is_sent() {
    let agent = Agent::builder()
        .on_prompt(|_, cx: PromptContext| async move {
            for (method, capability, call) in asks(&cx) {
                if !capability.is_empty() {
                    let error = call.await.expect_err(method);
                    refusal(&error, capability);
                }
            }
            ended()
        })
        .build();
    for offer in [json!({}), json!({"elicitation": {}, "fs": {}})] {
        let mut client = client_offering(agent.clone(), offer).await;
        client.send(prompt(1, "a", "x")).await;
        assert_eq!(client.receive().await, stopped(1, "end_turn"));
        assert!(client.barrier().await.is_empty());
    }
    // One capability is no other.
    let agent = Agent::builder()
        .on_new_session(|_, cx| async move {
            let read = cx.request(&ReadTextFileRequest::new("a", "/x"));
            refusal(&read.await.unwrap_err(), "fs.readTextFile");
            refusal(&cx.request(&form()).await.unwrap_err(), "elicitation.form");
            let write = WriteTextFileRequest::new("a", "/x", "text");
            cx.request(&write).await?;
            cx.request(&page()).await?;
            Ok(NewSessionResponse::new("new"))
        })
        .build();
    let offer = json!({"fs": {"writeTextFile": true}, "elicitation": {"url": {}}});
    let mut client = client_offering(agent, offer).await;
    let new = json!({"cwd": "/", "mcpServers": []});
    client.send(request(1, "session/new", new)).await;
    for (method, answer) in [
        ("fs/write_text_file", json!({})),
        ("elicitation/create", json!({"action": "decline"})),
    ] {
        let asked = client.receive().await;
        assert_eq!(asked["method"], method);
        client.send(result(asked["id"].clone(), answer)).await;
    }
    let answer = json!({"sessionId": "new"});
    assert_eq!(client.receive().await, result(1, answer));
}

#[tokio::test]
async fn a_raw_request_is_not_compared_with_what_the_peer_offers() {
    let (client, mut agent) = agent_offering(json!({})).await;
    let raw = tokio::spawn(client.request_raw::<Value>("session/list", &json!({"cwd": "."})));
    let asked = agent.receive().await;
    assert_eq!(asked["method"], "session/list");
    assert_eq!(asked["params"], json!({"cwd": "."}));
    let answer = json!({"sessions": [], "_unknown": 1});
    agent
        .send(result(asked["id"].clone(), answer.clone()))
        .await;
    assert_eq!(raw.await.unwrap().unwrap(), answer);

    let agent = Agent::builder()
        .on_prompt(|_, cx: PromptContext| async move {
            let params = json!({"path": "relative"});
            let answer: Value = cx.request_raw("fs/read_text_file", &params).await?;
            cx.send_message(answer["content"].as_str().unwrap()).await?;
            ended()
        })
        .build();
    let mut client = client_offering(agent, json!({})).await;
    client.send(prompt(1, "a", "x")).await;
    let asked = client.receive().await;
    assert_eq!(asked["params"], json!({"path": "relative"}));
    let answer = json!({"content": "text"});
    client.send(result(asked["id"].clone(), answer)).await;
    assert_eq!(client.receive().await, message("a", "text"));
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
}

// The handshake comes first.

#[tokio::test]
async fn a_client_sends_nothing_before_initialize_is_answered() {
    let (mut agent, transport) = RawPeer::pair();
    let client = Client::builder().connect(transport);
    let not_yet = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::NotInitialized, "{error}");
        assert_eq!(error.origin(), ErrorOrigin::Local);
    };
    let refused = async || {
        for (method, _, call) in calls(&client) {
            not_yet(call.await.expect_err(method));
        }
        let raw = client.request_raw::<Value>("_raw", &json!({}));
        not_yet(raw.await.unwrap_err());
        not_yet(client.notify_raw("_raw", &json!({})).await.unwrap_err());
        not_yet(client.notify(&Told { number: 1 }).await.unwrap_err());
        not_yet(client.agent().unwrap_err());
        client.cancel(&"a".to_owned().into());
    };
    refused().await;
    assert!(agent.barrier().await.is_empty());
    let hello = tokio::spawn({
        let client = client.clone();
        async move { initialize(&client).await }
    });
    let asked = agent.receive().await;
    refused().await;
    assert!(agent.barrier().await.is_empty());
    // An agent that refuses is not one that has answered.
    agent
        .send(json!({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32603, "message": "no"}}))
        .await;
    assert_eq!(hello.await.unwrap().unwrap_err().code(), Some(-32603));
    refused().await;
    assert!(agent.barrier().await.is_empty());
    // It can try again.
    let (again, _) = tokio::join!(initialize(&client), agent.accept_initialize());
    again.unwrap();
    let new = tokio::spawn(client.new_session(NewSessionRequest::new("/")));
    assert_eq!(agent.receive().await["method"], "session/new");
    new.abort();
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

/// That a request was refused since it came too early.
fn too_early(answer: &Value) {
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    let reason = &answer["error"]["data"]["reason"];
    assert_eq!(reason, "initialize has to come first", "{answer}");
}

#[tokio::test]
async fn an_agent_refuses_every_request_before_initialize() {
    let mut client = stranger_of(handles_all().build());
    for (method, params, _) in to_agent() {
        client.send(request(method, method, params)).await;
        let answer = client.receive().await;
        assert_eq!(answer["id"], method);
        too_early(&answer);
    }
    // One that cannot be read does not count.
    let bad = json!({"protocolVersion": {}});
    client.send(request(1, "initialize", bad)).await;
    assert_eq!(client.receive().await["error"]["code"], -32602);
    client.send(prompt(2, "a", "x")).await;
    too_early(&client.receive().await);
    client.initialize().await;
    // Nothing is left of what came too early.
    for (method, params, _) in to_agent() {
        client.send(request(method, method, params)).await;
        let answer = client.receive().await;
        assert_eq!(answer["id"], method);
        assert_eq!(answer.get("error"), None, "{answer}");
    }
}

#[tokio::test]
async fn what_an_agent_does_not_know_or_cannot_read_comes_too_early_as_well() {
    let mut client = stranger_of(handles_all().build());
    for (method, params) in [
        ("session/prompt", json!({})),
        ("session/new", json!({"cwd": 5})),
        ("session/close", json!({})),
        ("no/such", json!({})),
    ] {
        client.send(request(1, method, params)).await;
        too_early(&client.receive().await);
    }
}

#[tokio::test]
async fn initialize_and_the_first_requests_can_come_in_one_write() {
    for builder in [
        handles_all(),
        // The handler takes its time, and nobody has to wait for it.
        handles_all().on_initialize(|request, _| async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Ok(InitializeResponse::new(request.protocol_version))
        }),
    ] {
        let mut client = stranger_of(builder.build());
        client
            .send_all([
                request(0, "initialize", json!({"protocolVersion": 1})),
                request(1, "session/new", json!({"cwd": "/", "mcpServers": []})),
                prompt(2, "new", "x"),
            ])
            .await;
        let mut answers = Vec::new();
        for _ in 0..3 {
            answers.push(client.receive().await);
        }
        answers.sort_by_key(|answer| answer["id"].as_i64());
        assert_eq!(answers[0]["result"]["protocolVersion"], 1);
        assert_eq!(answers[1], result(1, json!({"sessionId": "new"})));
        assert_eq!(answers[2], stopped(2, "end_turn"));
    }
}

// Versions.

#[tokio::test]
async fn an_agent_answers_with_the_version_it_speaks() {
    for builder in [
        handles_all(),
        handles_all().on_initialize(|request, _| async move {
            Ok(InitializeResponse::new(request.protocol_version))
        }),
        handles_all().on_initialize_blocking(|request, _| {
            Ok(InitializeResponse::new(request.protocol_version))
        }),
    ] {
        let agent = builder.build();
        for version in [1, 2, 7] {
            let mut client = stranger_of(agent.clone());
            let hello = json!({"protocolVersion": version});
            client.send(request(0, "initialize", hello)).await;
            let answer = client.receive().await;
            assert_eq!(answer["result"]["protocolVersion"], 1, "{version}");
            // The client decides whether it goes on.
            client.send(prompt(1, "a", "x")).await;
            assert_eq!(client.receive().await, stopped(1, "end_turn"));
        }
    }
}

#[tokio::test]
async fn a_client_hangs_up_on_an_agent_that_speaks_another_version() {
    let (mut agent, transport) = RawPeer::pair();
    let client = Client::builder().connect(transport);
    let hello = tokio::spawn({
        let client = client.clone();
        async move { initialize(&client).await }
    });
    let id = agent.receive().await["id"].clone();
    agent.send(result(id, json!({"protocolVersion": 2}))).await;
    let error = hello.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
    assert_eq!(error.origin(), ErrorOrigin::Peer);
    assert!(error.to_string().contains("version 2"), "{error}");
    assert_eq!(agent.receive_line().await, None);
    assert!(client.closed().await.is_connection_lost());
    for (method, _, call) in calls(&client) {
        let error = call.await.expect_err(method);
        assert!(error.is_connection_lost(), "{method}: {error}");
    }
    assert!(client.agent().unwrap_err().is_connection_lost());
    assert!(initialize(&client).await.unwrap_err().is_connection_lost());
}

#[tokio::test]
async fn what_is_open_when_the_version_turns_out_wrong_is_lost() {
    let (client, mut agent) = connect(Client::builder()).await;
    let open = tokio::spawn(client.prompt(PromptRequest::new("a", vec![text()]), None));
    agent.receive().await;
    let hello = tokio::spawn({
        let client = client.clone();
        async move { initialize(&client).await }
    });
    let id = agent.receive().await["id"].clone();
    agent.send(result(id, json!({"protocolVersion": 2}))).await;
    let error = hello.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedVersion);
    let error = open.await.unwrap().unwrap_err();
    assert!(error.is_connection_lost(), "{error}");
    assert_eq!(agent.receive_line().await, None);
}

#[tokio::test]
async fn a_client_does_not_ask_for_a_version_that_it_does_not_speak() {
    let (mut agent, transport) = RawPeer::pair();
    let client = Client::builder().connect(transport);
    for version in [ProtocolVersion::V0, ProtocolVersion::from(2)] {
        let error = client
            .initialize(InitializeRequest::new(version))
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains("version 1"), "{error}");
    }
    assert!(agent.barrier().await.is_empty());
    let (hello, _) = tokio::join!(initialize(&client), agent.accept_initialize());
    hello.unwrap();
}

// What is wrong with a request.

#[tokio::test]
async fn an_agent_names_the_method_that_it_has_no_handler_for() {
    let mut client = client_of(Agent::builder().build()).await;
    let methods: Vec<&str> = to_agent().into_iter().map(|(method, ..)| method).collect();
    for method in [&methods[..], &["_example.com/x", "no/such"]].concat() {
        let (_, params, _) = to_agent()
            .into_iter()
            .find(|(it, ..)| *it == method)
            .unwrap_or((method, json!({}), ""));
        client.send(request(1, method, params)).await;
        let answer = client.receive().await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
        assert_eq!(answer["error"]["data"]["method"], method, "{answer}");
    }
}

#[tokio::test]
async fn a_client_names_the_method_that_it_has_no_handler_for() {
    let (_client, mut agent) = connect(Client::builder()).await;
    for (method, params, _) in to_client() {
        agent.send(request(1, method, params)).await;
        let answer = agent.receive().await;
        assert_eq!(answer["error"]["code"], -32601, "{method}: {answer}");
        assert_eq!(answer["error"]["data"]["method"], method, "{answer}");
    }
}

/// Every request that a client handles, with what is in it at least, and a field that has to be there.
fn to_client() -> Vec<(&'static str, Value, &'static str)> {
    let terminal = || json!({"sessionId": "a", "terminalId": "t"});
    vec![
        (
            "session/request_permission",
            json!({"sessionId": "a", "toolCall": {"toolCallId": "t"}, "options": []}),
            "toolCall",
        ),
        (
            "elicitation/create",
            json!({"sessionId": "a", "mode": "form", "message": "Which?",
                "requestedSchema": {"type": "object", "properties": {}}}),
            "message",
        ),
        (
            "fs/read_text_file",
            json!({"sessionId": "a", "path": "/x"}),
            "path",
        ),
        (
            "fs/write_text_file",
            json!({"sessionId": "a", "path": "/x", "content": "text"}),
            "content",
        ),
        (
            "terminal/create",
            json!({"sessionId": "a", "command": "make"}),
            "command",
        ),
        ("terminal/output", terminal(), "terminalId"),
        ("terminal/wait_for_exit", terminal(), "terminalId"),
        ("terminal/kill", terminal(), "sessionId"),
        ("terminal/release", terminal(), "terminalId"),
    ]
}

fn answers_all() -> ClientBuilder {
    Client::builder()
        .on_permission(|_, _| async {
            let outcome = RequestPermissionOutcome::Cancelled;
            Ok(RequestPermissionResponse::new(outcome))
        })
        .on_elicitation(|_, _| async {
            Ok(CreateElicitationResponse::new(ElicitationAction::Decline))
        })
        .on_read_text_file(|_, _| async { Ok(ReadTextFileResponse::new("text")) })
        .on_write_text_file(|_, _| async { Ok(WriteTextFileResponse::new()) })
        .on_create_terminal(|_, _| async { Ok(CreateTerminalResponse::new("t")) })
        .on_terminal_output(|_, _| async { Ok(TerminalOutputResponse::new("", false)) })
        .on_wait_for_terminal_exit(|_, _| async {
            Ok(WaitForTerminalExitResponse::new(TerminalExitStatus::new()))
        })
        .on_kill_terminal(|_, _| async { Ok(KillTerminalResponse::new()) })
        .on_release_terminal(|_, _| async { Ok(ReleaseTerminalResponse::new()) })
}

/// Sends each request with a field of the wrong type, and then without fault.
async fn check_parameters(peer: &mut RawPeer, table: Vec<(&'static str, Value, &'static str)>) {
    for (method, params, field) in table {
        if !field.is_empty() {
            let mut bad = params.clone();
            bad[field] = json!(5);
            peer.send(request("bad", method, bad)).await;
            let answer = peer.receive().await;
            assert_eq!(answer["id"], "bad");
            assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
            let data = &answer["error"]["data"];
            assert_eq!(data["field"], field, "{method}: {answer}");
            assert!(data["reason"].is_string(), "{answer}");
            if params.get(field).is_some() {
                let mut missing = params.clone();
                missing.as_object_mut().unwrap().remove(field);
                peer.send(request("missing", method, missing)).await;
                let answer = peer.receive().await;
                assert_eq!(answer["error"]["code"], -32602, "{method}: {answer}");
                let reason = answer["error"]["data"]["reason"].as_str().unwrap();
                assert!(reason.contains(field), "{method}: {answer}");
            }
        }
        peer.send(request("good", method, params)).await;
        let answer = peer.receive().await;
        assert_eq!(answer["id"], "good");
        assert_eq!(answer.get("error"), None, "{method}: {answer}");
    }
    assert!(peer.barrier().await.is_empty());
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_refused_by_an_agent_and_the_field_is_named() {
    let mut client = client_of(handles_all().build()).await;
    check_parameters(&mut client, to_agent()).await;
}

#[tokio::test]
async fn parameters_that_do_not_fit_are_refused_by_a_client_and_the_field_is_named() {
    let (_client, mut agent) = connect(answers_all()).await;
    check_parameters(&mut agent, to_client()).await;
}

fn wrong(error: &Error, field: &str) {
    assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    assert_eq!(error.origin(), ErrorOrigin::Local);
    assert!(error.to_string().contains(field), "{error}");
}

#[tokio::test]
async fn a_relative_path_fails_before_anything_is_sent() {
    let (client, mut agent) = connect(Client::builder()).await;
    let list = ListSessionsRequest::new().cwd(std::path::PathBuf::from("."));
    for path in ["", ".", "work", "../work"] {
        for (method, _, call) in [
            call(
                "session/new",
                "",
                client.new_session(NewSessionRequest::new(path)),
            ),
            call(
                "session/load",
                "",
                client.load_session(LoadSessionRequest::new("a", path)),
            ),
            call(
                "session/resume",
                "",
                client.resume_session(ResumeSessionRequest::new("a", path)),
            ),
            call("session/list", "", client.list_sessions(list.clone())),
        ] {
            let error = call.await.expect_err(method);
            wrong(&error, "`cwd`");
            assert!(error.to_string().contains(method), "{error}");
        }
    }
    assert!(agent.barrier().await.is_empty());

    let agent = Agent::builder()
        .on_prompt(|_, cx: PromptContext| async move {
            let read = cx.request(&ReadTextFileRequest::new("a", "x")).await;
            wrong(&read.unwrap_err(), "`path`");
            let read = ReadTextFileRequest::new("a", "/x").line(0);
            wrong(&cx.request(&read).await.unwrap_err(), "`line`");
            let write = WriteTextFileRequest::new("a", "./x", "text");
            wrong(&cx.request(&write).await.unwrap_err(), "`path`");
            let cwd = std::path::PathBuf::from("work");
            let create = CreateTerminalRequest::new("a", "make").cwd(cwd);
            wrong(&cx.request(&create).await.unwrap_err(), "`cwd`");
            ended()
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    assert!(client.barrier().await.is_empty());
}

// Notifications.

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

#[tokio::test]
async fn notifications_reach_the_agent_typed_and_raw() {
    let (typed, mut told) = mpsc::unbounded_channel();
    let (raw, mut raws) = mpsc::unbounded_channel();
    let (tap, mut taps) = mpsc::unbounded_channel();
    let (cancelled, mut cancels) = mpsc::unbounded_channel();
    let agent = Agent::builder()
        .on_notification(move |it: Told| {
            typed.send(it).unwrap();
            async {}
        })
        .on_notification_raw("_test/raw", move |params: Value| {
            raw.send(params).unwrap();
            async {}
        })
        .on_notification_raw("session/cancel", move |params: Value| {
            tap.send(params).unwrap();
            async {}
        })
        .on_cancel(move |it| {
            cancelled.send(it.session_id).unwrap();
            async {}
        })
        .on_prompt(|_, cx: PromptContext| async move {
            cx.cancelled().await;
            ended()
        })
        .build();
    let (near, far) = endturn::transport::memory();
    let served = agent.clone();
    tokio::spawn(async move { served.serve(far).await });
    let client = common::initialized(Client::builder(), near).await;
    client.notify(&Told { number: 1 }).await.unwrap();
    assert_eq!(told.recv().await, Some(Told { number: 1 }));
    client
        .notify_raw("_test/raw", &json!({"x": [1]}))
        .await
        .unwrap();
    assert_eq!(raws.recv().await, Some(json!({"x": [1]})));
    // Nobody handles it, and nothing happens.
    client.notify_raw("_test/other", &json!({})).await.unwrap();
    client.notify(&Told { number: 2 }).await.unwrap();
    assert_eq!(told.recv().await, Some(Told { number: 2 }));

    let mut client = client_of(agent).await;
    // One that cannot be read is skipped.
    client
        .send(notification("_test/told", json!({"number": "one"})))
        .await;
    // The tap sees all that came, and the turn is cancelled all the same.
    client.send(prompt(1, "a", "x")).await;
    let cancel = json!({"sessionId": "a", "future": true});
    client
        .send(notification("session/cancel", cancel.clone()))
        .await;
    assert_eq!(client.receive().await, stopped(1, "cancelled"));
    assert_eq!(taps.recv().await, Some(cancel));
    assert_eq!(&*cancels.recv().await.unwrap().0, "a");
    assert!(client.barrier().await.is_empty());
    assert!(told.try_recv().is_err());
}

/// What a user was told, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    /// Takes its time, so that whatever does not wait would come first.
    async fn write(self, line: String) {
        for _ in 0..3 {
            tokio::task::yield_now().await;
        }
        self.0.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

fn words(update: SessionUpdate) -> String {
    let update = serde_json::to_value(update).unwrap();
    update["content"]["text"].as_str().unwrap().to_owned()
}

/// A client that writes down all that it is told.
fn telling(log: &Log) -> ClientBuilder {
    let [updates, unknown, typed, raw, complete] = [(); 5].map(|()| log.clone());
    Client::builder()
        .on_update(move |notification, _| updates.clone().write(words(notification.update)))
        .on_unknown_update(move |update, _| {
            let line = format!("unknown {} {}", update.session_id, update.update.get());
            unknown.clone().write(line)
        })
        .on_notification(move |told: Told, _| typed.clone().write(format!("told {}", told.number)))
        .on_notification_raw("_test/raw", move |params: Value, _| {
            raw.clone().write(format!("raw {}", params["number"]))
        })
        .on_elicitation_complete(move |done, _| {
            complete
                .clone()
                .write(format!("done {}", done.elicitation_id))
        })
}

fn update(session: &str, update: Value) -> Value {
    notification(
        "session/update",
        json!({"sessionId": session, "update": update}),
    )
}

#[tokio::test]
async fn notifications_reach_the_client_and_those_of_a_session_in_order_with_its_updates() {
    let log = Log::default();
    let (client, mut agent) = connect(telling(&log)).await;
    let future = json!({"sessionUpdate": "of_the_future", "x": 1});
    let answer = tokio::spawn(client.prompt(PromptRequest::new("a", vec![text()]), None));
    let id = agent.receive().await["id"].clone();
    agent
        .send_all([
            message("a", "1"),
            notification("_test/raw", json!({"sessionId": "a", "number": 2})),
            message("a", "3"),
            notification("_test/told", json!({"sessionId": "a", "number": 4})),
            // One that cannot be read, and one that nobody handles.
            notification("_test/told", json!({"sessionId": "a", "number": "x"})),
            notification("_test/other", json!({"sessionId": "a"})),
            update("a", future.clone()),
            message("a", "5"),
            stopped(id, "end_turn"),
        ])
        .await;
    answer.await.unwrap().unwrap();
    // All of it came before the answer.
    let unknown = format!("unknown a {future}");
    let expected = ["1", "raw 2", "3", "told 4", &unknown, "5"];
    assert_eq!(log.lines(), expected);
}

#[tokio::test]
async fn notifications_without_a_session_reach_the_client_too() {
    let log = Log::default();
    let agent = Agent::builder()
        .on_prompt(|_, cx: PromptContext| async move {
            cx.notify(&Told { number: 1 }).await?;
            cx.notify_raw("_test/raw", &json!({"number": 2})).await?;
            let done = CompleteElicitationNotification::new("e");
            cx.notify(&done).await?;
            cx.notify_raw("_test/other", &json!({})).await?;
            ended()
        })
        .on_new_session(|_, cx| async move {
            cx.notify(&Told { number: 3 }).await?;
            cx.notify_raw("_test/raw", &json!({"number": 4})).await?;
            Ok(NewSessionResponse::new("new"))
        })
        .build();
    let (near, far) = endturn::transport::memory();
    tokio::spawn(async move { agent.serve(far).await });
    let client = common::initialized(telling(&log), near).await;
    let turn = client.prompt(PromptRequest::new("a", vec![text()]), None);
    turn.await.unwrap();
    let new = client.new_session(NewSessionRequest::new("/"));
    new.await.unwrap();
    while log.lines().len() < 5 {
        tokio::task::yield_now().await;
    }
    // Nothing is promised about their order.
    let mut lines = log.lines();
    lines.sort();
    assert_eq!(lines, ["done e", "raw 2", "raw 4", "told 1", "told 3"]);
}

#[tokio::test]
async fn a_notification_of_a_turn_that_is_over_fails() {
    let (kept, mut contexts) = mpsc::unbounded_channel();
    let agent = Agent::builder()
        .on_prompt(move |_, cx: PromptContext| {
            kept.send(cx).unwrap();
            async { ended() }
        })
        .build();
    let mut client = client_of(agent).await;
    client.send(prompt(1, "a", "x")).await;
    assert_eq!(client.receive().await, stopped(1, "end_turn"));
    let cx = contexts.recv().await.unwrap();
    let error = cx.notify(&Told { number: 1 }).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TurnEnded);
    assert!(client.barrier().await.is_empty());
}

#[tokio::test]
async fn a_tap_sees_each_update_as_it_came_right_before_its_handler() {
    let log = Log::default();
    let tap = log.clone();
    let builder = telling(&log).on_notification_raw("session/update", move |params: Value, _| {
        tap.clone().write(format!("tap {}", params["update"]["_x"]))
    });
    let (client, mut agent) = connect(builder).await;
    let answer = tokio::spawn(client.prompt(PromptRequest::new("a", vec![text()]), None));
    let id = agent.receive().await["id"].clone();
    let chunk = |words: &str, x: u32| {
        let content = json!({"type": "text", "text": words});
        update(
            "a",
            json!({"sessionUpdate": "agent_message_chunk", "content": content, "_x": x}),
        )
    };
    agent
        .send_all([
            chunk("one", 1),
            update("a", json!({"sessionUpdate": "future", "_x": 2})),
            chunk("three", 3),
            stopped(id, "end_turn"),
        ])
        .await;
    answer.await.unwrap().unwrap();
    let future = json!({"sessionUpdate": "future", "_x": 2});
    let expected = [
        "tap 1",
        "one",
        "tap 2",
        &format!("unknown a {future}"),
        "tap 3",
        "three",
    ];
    assert_eq!(log.lines(), expected);
}

#[test]
fn a_blocking_client_is_told_in_order_too() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (mut agent, transport) = RawPeer::pair();
    let log = Arc::new(Mutex::new(Vec::new()));
    let write = |label: &'static str| {
        let log = Arc::clone(&log);
        move |line: String| {
            std::thread::sleep(Duration::from_millis(5));
            log.lock().unwrap().push(format!("{label}{line}"));
        }
    };
    let (updates, unknown, told, raw) =
        (write(""), write("unknown "), write("told "), write("raw "));
    let client = endturn::blocking::Client::builder()
        .on_update(move |notification, _| updates(words(notification.update)))
        .on_unknown_update(move |it, _| unknown(it.session_id.to_string()))
        .on_notification(move |it: Told, _| told(it.number.to_string()))
        .on_notification_raw("_test/raw", move |it: Value, _| {
            raw(it["number"].to_string())
        })
        .connect(|| Ok(transport))
        .unwrap();
    std::thread::scope(|threads| {
        let turn = threads.spawn(|| {
            let hello = InitializeRequest::new(ProtocolVersion::V1);
            client.initialize(hello).unwrap();
            client.notify(&Told { number: 0 }).unwrap();
            client.notify_raw("_test/raw", &json!({})).unwrap();
            client.prompt(PromptRequest::new("a", vec![text()]), None)
        });
        runtime.block_on(async {
            agent.accept_initialize().await;
            assert_eq!(
                agent.receive().await,
                notification("_test/told", json!({"number": 0}))
            );
            assert_eq!(agent.receive().await, notification("_test/raw", json!({})));
            let id = agent.receive().await["id"].clone();
            agent
                .send_all([
                    message("a", "1"),
                    notification("_test/raw", json!({"sessionId": "a", "number": 2})),
                    update("a", json!({"sessionUpdate": "future"})),
                    notification("_test/told", json!({"sessionId": "a", "number": 4})),
                    message("a", "5"),
                    stopped(id, "end_turn"),
                ])
                .await;
        });
        turn.join().unwrap().unwrap();
    });
    let expected = ["1", "raw 2", "unknown a", "told 4", "5"];
    assert_eq!(*log.lock().unwrap(), expected);
}

// Time.

#[tokio::test(start_paused = true)]
async fn a_clients_requests_take_a_minute_at_most_except_those_that_wait_for_a_person_or_a_turn() {
    let (client, agent) = connect(Client::builder()).await;
    let mut agent = agent.limit(Duration::from_secs(100_000));
    let start = Instant::now();
    let mut open = JoinSet::new();
    let mut methods: Vec<&str> = Vec::new();
    for (method, _, call) in calls(&client) {
        methods.push(method);
        open.spawn(async move { (method, call.await) });
        assert_eq!(agent.receive().await["method"], method);
    }
    methods.push("initialize");
    let again = client.clone();
    open.spawn(async move { ("initialize", initialize(&again).await) });
    assert_eq!(agent.receive().await["method"], "initialize");
    methods.retain(|method| !["authenticate", "session/prompt"].contains(method));
    for _ in 0..methods.len() {
        let (method, outcome) = open.join_next().await.unwrap().unwrap();
        assert!(outcome.unwrap_err().is_timeout(), "{method}");
        assert_eq!(start.elapsed().as_secs(), 60, "{method}");
        let left = methods.iter().position(|it| *it == method);
        methods.swap_remove(left.expect(method));
        assert_eq!(agent.receive().await["method"], "$/cancel_request");
    }
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert!(open.try_join_next().is_none());
    assert!(agent.barrier().await.is_empty());
    // A call can have a limit of its own all the same.
    let login = client.authenticate(AuthenticateRequest::new("key"));
    let login = login.timeout(Duration::from_secs(300)).await;
    assert!(login.unwrap_err().is_timeout());
}

#[tokio::test(start_paused = true)]
async fn an_agents_requests_take_a_minute_at_most_except_those_that_wait_for_a_person_or_an_exit() {
    let (timed_out, mut timeouts) = mpsc::unbounded_channel();
    let agent = Agent::builder()
        .on_prompt(move |_, cx: PromptContext| {
            let timed_out = timed_out.clone();
            async move {
                for (method, _, call) in asks(&cx) {
                    let timed_out = timed_out.clone();
                    tokio::spawn(async move {
                        let error = call.await.unwrap_err();
                        timed_out.send((method, error)).unwrap();
                    });
                }
                cx.cancelled().await;
                ended()
            }
        })
        .build();
    let mut client = client_of(agent).await.limit(Duration::from_secs(100_000));
    let start = Instant::now();
    client.send(prompt(1, "a", "x")).await;
    let mut asked: Vec<Value> = Vec::new();
    for _ in 0..10 {
        asked.push(client.receive().await);
    }
    let mut expected = vec![
        "fs/read_text_file",
        "fs/write_text_file",
        "terminal/create",
        "terminal/kill",
        "terminal/output",
        "terminal/release",
    ];
    for _ in 0..expected.len() {
        let cancelled = client.receive().await;
        assert_eq!(cancelled["method"], "$/cancel_request");
        assert_eq!(start.elapsed().as_secs(), 60);
        let (method, error) = timeouts.recv().await.unwrap();
        assert!(error.is_timeout(), "{method}: {error}");
        let left = expected.iter().position(|it| *it == method);
        expected.swap_remove(left.expect(method));
        let id = &cancelled["params"]["requestId"];
        assert!(asked.iter().any(|asked| asked["id"] == *id), "{cancelled}");
    }
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    assert!(timeouts.try_recv().is_err());
    assert!(client.barrier().await.is_empty());
}
