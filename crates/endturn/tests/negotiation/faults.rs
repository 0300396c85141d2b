//! What is wrong with a request.

use super::*;

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
