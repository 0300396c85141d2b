//! Plays recorded conversations against the ends of this SDK.
//!
//! A recording (`transcripts/*.jsonl`) says in its first line where it comes from and what is expected of whom.
//! Every other line is `{t_ms, from, line}`: when it was written, by whom, and the very bytes.
//! The clock is paused, so the recorded times are kept exactly and cost nothing.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use endturn::{
    Agent, CancellationSignal, Client, Error, HandlerResult, PromptContext,
    schema::v1::{self, PromptRequest, PromptResponse, SessionUpdate, StopReason},
    transport,
};
use endturn_testkit::RawPeer;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, sleep_until},
};

use crate::support::{Seen, cancel, connect, message, prompted, stop_reason, stopped};

/// Longer than any recording, for waits that the paused clock would cut short.
const LONG: Duration = Duration::from_secs(600);

/// A recorded conversation.
#[derive(Clone)]
pub(crate) struct Transcript {
    lines: Arc<[Line]>,
}

#[derive(Deserialize)]
struct Line {
    t_ms: u64,
    from: Side,
    line: String,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Side {
    Client,
    Agent,
}

impl Transcript {
    /// Reads a recording, which has to deal with this class.
    pub(crate) fn read(recorded: &str, class: &str) -> Self {
        let (head, lines) = recorded.split_once('\n').unwrap();
        let head: Value = serde_json::from_str(head).unwrap();
        assert!(head["source"].as_str().unwrap().starts_with("https://"));
        assert!(head["expect"].as_str().unwrap().contains(class), "{head}");
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        Self { lines }
    }

    /// Whether the recording begins with the beginning of the conversation.
    fn has_handshake(&self) -> bool {
        let first = self.of(Side::Client).next();
        first.is_some_and(|(_, message)| message.is_some_and(|it| it["method"] == "initialize"))
    }

    /// The lines of one side, with their times and as messages if they are any.
    fn of(&self, from: Side) -> impl Iterator<Item = (u64, Option<Value>)> {
        self.lines
            .iter()
            .filter(move |line| line.from == from)
            .map(|line| (line.t_ms, line.message()))
    }

    /// What the recorded agent did for the prompt of this moment: its updates, and its answer.
    fn turn(&self, t_ms: u64) -> (Vec<(u64, Value)>, u64, Value) {
        let prompt = self.of(Side::Client).find_map(|(at, message)| {
            message.filter(|message| at == t_ms && message["method"] == "session/prompt")
        });
        let id = prompt.expect("a handler was called without a prompt")["id"].clone();
        // Turns of one session follow one another, so an update belongs to the newest one.
        let next = self.of(Side::Client).find_map(|(at, message)| {
            let accepted = message?["method"] == "session/prompt" && self.answers_later(at);
            (at > t_ms && accepted).then_some(at)
        });
        let mut updates = Vec::new();
        let mut answer = None;
        for (at, message) in self.of(Side::Agent) {
            let Some(message) = message.filter(|_| at >= t_ms) else {
                continue;
            };
            if message["method"] == "session/update" && next.is_none_or(|next| at < next) {
                updates.push((at, message["params"]["update"].clone()));
            } else if message["id"] == id {
                answer = Some((at, message));
            }
        }
        let (at, answer) = answer.expect("every recorded prompt has an answer");
        (updates, at, answer)
    }

    /// Whether a prompt got more than a refusal.
    fn answers_later(&self, t_ms: u64) -> bool {
        let refused = |(at, message): (u64, Option<Value>)| {
            at == t_ms && message.is_some_and(|message| message["error"]["code"] == -32600)
        };
        !self.of(Side::Agent).any(refused)
    }
}

impl Line {
    fn message(&self) -> Option<Value> {
        serde_json::from_str(&self.line).ok()
    }
}

/// Plays the recorded client against an agent of this SDK, and gives all that it wrote and when, in milliseconds.
///
/// The agent's handler sends what the recorded agent sent, when it did, and returns what that one answered, also where that is the fault; if the fault was not to answer when the turn was over, `over` says when and how it was.
/// Updates behind the recorded answer are sent through a clone of its context.
pub(crate) async fn against_agent(
    transcript: &Transcript,
    over: Option<(u64, StopReason)>,
) -> Vec<(u64, Value)> {
    let start = Instant::now();
    let agent = {
        let transcript = transcript.clone();
        Agent::builder()
            .on_prompt(move |_, cx| {
                let now = start.elapsed().as_millis().try_into().unwrap();
                let turn = transcript.turn(now);
                async move { act(start, turn, over, cx).await }
            })
            .build()
    };
    let (near, far) = transport::memory();
    let served = tokio::spawn(async move { agent.serve(far).await });
    let (reader, writer) = near.into_parts();
    let mut speaks = RawPeer::new(tokio::io::empty(), writer);
    let mut hears = RawPeer::new(reader, tokio::io::sink()).limit(2 * LONG);
    if !transcript.has_handshake() {
        // What was recorded begins later.
        let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize",
            "params": {"protocolVersion": 1}});
        speaks.send(hello).await;
        assert_eq!(hears.receive().await["result"]["protocolVersion"], 1);
    }
    let heard = tokio::spawn(async move {
        let mut heard = Vec::new();
        while let Some(line) = hears.receive_line().await {
            let at = start.elapsed().as_millis().try_into().unwrap();
            heard.push((at, serde_json::from_str(&line).unwrap()));
        }
        heard
    });
    for line in transcript.lines.iter() {
        if line.from == Side::Client {
            sleep_until(start + Duration::from_millis(line.t_ms)).await;
            speaks.send(&line.line).await;
        }
    }
    sleep_until(start + LONG).await;
    speaks.hang_up();
    served.await.unwrap().unwrap();
    heard.await.unwrap()
}

/// What the recorded agent did in one turn.
async fn act(
    start: Instant,
    (updates, answered_at, answer): (Vec<(u64, Value)>, u64, Value),
    over: Option<(u64, StopReason)>,
    cx: PromptContext,
) -> HandlerResult<PromptResponse> {
    let at = move |ms| start + Duration::from_millis(ms);
    let returns_at = over.map_or(answered_at, |(at, _)| at);
    let (in_time, late): (Vec<_>, Vec<_>) =
        updates.into_iter().partition(|(at, _)| *at <= returns_at);
    let context = cx.clone();
    tokio::spawn(async move {
        for (ms, update) in late {
            sleep_until(at(ms)).await;
            send(&context, update).await.ok();
        }
    });
    for (ms, update) in in_time {
        sleep_until(at(ms)).await;
        send(&cx, update).await?;
    }
    sleep_until(at(returns_at)).await;
    if let Some((_, reason)) = over {
        return Ok(PromptResponse::new(reason));
    }
    match answer.get("error") {
        Some(error) => Err(serde_json::from_value::<v1::Error>(error.clone())?)?,
        None => Ok(serde_json::from_value(answer["result"].clone())?),
    }
}

/// Sends an update; one that the schema does not allow cannot even be made.
async fn send(cx: &PromptContext, update: Value) -> Result<(), Error> {
    match serde_json::from_value::<SessionUpdate>(update) {
        Ok(update) => cx.send_update(update).await,
        Err(_) => Ok(()),
    }
}

/// What became of the client when the recorded agent was played against it.
pub(crate) struct Played {
    /// For each prompt, in the order they were made.
    pub(crate) prompts: Vec<Outcome>,
    /// For each other request.
    pub(crate) requests: Vec<Result<Value, Error>>,
    /// The lines that were not JSON.
    pub(crate) stray: Vec<String>,
    /// All updates that the user has seen.
    pub(crate) seen: Vec<String>,
}

/// What a prompt gave.
pub(crate) struct Outcome {
    pub(crate) answer: Result<PromptResponse, Error>,
    /// When, in milliseconds since the beginning.
    pub(crate) at: u64,
    /// The updates that the user had seen by then.
    pub(crate) seen: Vec<String>,
}

/// Plays the recorded agent against a client of this SDK, whose user does what the recorded client did, when it did.
///
/// What the client writes is compared with the recording: each line has to be there, except those that this client is known to hold back: a cancel without a turn, and a prompt for a busy session.
/// At last, another turn has to run as if nothing had happened.
pub(crate) async fn against_client(transcript: &Transcript) -> Played {
    let start = Instant::now();
    let seen = Seen::default();
    let stray = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&stray);
    let builder = seen
        .watch(Client::builder())
        .on_stray_output(move |line, _| kept.lock().unwrap().push(line.to_owned()));
    let (client, agent) = connect(builder).await;
    let mut stage = Stage {
        start,
        client,
        agent: agent.limit(2 * LONG),
        seen,
        ids: HashMap::new(),
        running: None,
        prompts: Vec::new(),
        requests: Vec::new(),
    };
    for line in transcript.lines.iter() {
        sleep_until(start + Duration::from_millis(line.t_ms)).await;
        match line.from {
            Side::Client => stage.user(&line.message().unwrap()).await,
            Side::Agent => stage.agent(line).await,
        }
    }
    // The client has read all of it, and has nothing more to say.
    assert!(stage.agent.barrier().await.is_empty());
    stage.next_turn().await;

    let mut prompts = Vec::new();
    for outcome in stage.prompts {
        prompts.push(outcome.await.unwrap());
    }
    let mut requests = Vec::new();
    for answer in stage.requests {
        requests.push(answer.await.unwrap());
    }
    let stray = stray.lock().unwrap().clone();
    let seen = stage.seen.so_far();
    Played {
        prompts,
        requests,
        stray,
        seen,
    }
}

/// A client and the recorded agent, in the middle of the play.
struct Stage {
    start: Instant,
    client: Client,
    agent: RawPeer,
    seen: Seen,
    /// The client's ids, by those in the recording.
    ids: HashMap<String, Value>,
    /// What stops the running turn, and what tells that it is over.
    running: Option<(CancellationSignal, oneshot::Receiver<()>)>,
    prompts: Vec<JoinHandle<Outcome>>,
    requests: Vec<JoinHandle<Result<Value, Error>>>,
}

impl Stage {
    async fn user(&mut self, recorded: &Value) {
        let params = recorded["params"].clone();
        match recorded["method"].as_str().unwrap() {
            "session/prompt" => {
                let busy = self.is_running();
                self.prompt(serde_json::from_value(params).unwrap());
                if busy {
                    assert!(self.agent.barrier().await.is_empty());
                    return;
                }
            }
            "session/cancel" => {
                let session = serde_json::from_value(params["sessionId"].clone()).unwrap();
                if self.is_running() {
                    let (stop, _) = self.running.as_ref().unwrap();
                    stop.cancel();
                    assert_eq!(self.agent.receive().await, *recorded);
                } else {
                    self.client.cancel(&session);
                    assert!(self.agent.barrier().await.is_empty());
                }
                return;
            }
            method => {
                let call = self.client.request_raw(method.to_owned(), &params);
                self.requests.push(tokio::spawn(call));
            }
        }
        let mut sent = self.agent.receive().await;
        let id = std::mem::replace(&mut sent["id"], recorded["id"].clone());
        assert_eq!(sent, *recorded);
        self.ids.insert(recorded["id"].to_string(), id);
    }

    fn prompt(&mut self, request: PromptRequest) {
        let stop = CancellationSignal::new();
        let (over, is_over) = oneshot::channel();
        let answer = self.client.prompt(request, &stop);
        let (start, seen) = (self.start, self.seen.clone());
        self.prompts.push(tokio::spawn(async move {
            let answer = answer.await;
            let _over = over;
            Outcome {
                answer,
                at: start.elapsed().as_millis().try_into().unwrap(),
                seen: seen.so_far(),
            }
        }));
        if !self.is_running() {
            self.running = Some((stop, is_over));
        }
    }

    fn is_running(&mut self) -> bool {
        self.running
            .as_mut()
            .is_some_and(|(_, over)| over.try_recv() == Err(oneshot::error::TryRecvError::Empty))
    }

    async fn agent(&mut self, line: &Line) {
        let Some(mut message) = line.message() else {
            return self.agent.send(&line.line).await;
        };
        if let Some(id) = message.get("id") {
            // What the client has not sent, nobody can answer.
            let Some(id) = self.ids.get(&id.to_string()) else {
                return;
            };
            message["id"] = id.clone();
        }
        self.agent.send(message).await;
        // So that whoever waits for it has it before the user does the next thing.
        assert!(self.agent.barrier().await.is_empty());
    }

    /// A turn of the same session by which nobody could tell that there had been another.
    async fn next_turn(&mut self) {
        let before = self.seen.so_far().len();
        let stop = CancellationSignal::new();
        let (answer, id) = prompted(&self.client, &mut self.agent, "S1", Some(&stop)).await;
        self.agent.send(message("S1", "of the next turn")).await;
        self.agent.barrier().await;
        stop.cancel();
        assert_eq!(self.agent.receive().await, cancel("S1"));
        self.agent.send(stopped(id, "cancelled")).await;
        assert_eq!(stop_reason(answer).await, StopReason::Cancelled);
        assert_eq!(self.seen.so_far()[before..], ["of the next turn"]);
    }
}

/// The answers to prompts and other requests in what an agent wrote.
pub(crate) fn answers(heard: &[(u64, Value)]) -> Vec<(u64, Value)> {
    let answers = heard
        .iter()
        .filter(|(_, message)| message.get("id").is_some());
    answers.cloned().collect()
}

/// When an agent wrote an update, and of which kind.
pub(crate) fn updates(heard: &[(u64, Value)]) -> Vec<(u64, &str)> {
    heard
        .iter()
        .filter_map(|(at, message)| {
            let kind = message["params"]["update"]["sessionUpdate"].as_str()?;
            Some((*at, kind))
        })
        .collect()
}
