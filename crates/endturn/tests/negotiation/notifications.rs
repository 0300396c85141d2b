//! Notifications, typed and raw.

use super::*;

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
