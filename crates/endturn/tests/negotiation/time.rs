//! How long requests may take.

use super::*;

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
