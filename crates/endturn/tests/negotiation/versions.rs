//! Versions of the protocol.

use super::*;

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
