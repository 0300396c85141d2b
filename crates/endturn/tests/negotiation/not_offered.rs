//! What is not offered is not asked for.

use super::*;

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
