//! What each side offers, and what it knows of the other.

use super::*;

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
