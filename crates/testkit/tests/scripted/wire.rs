//! The scripted agent, and a client of it that writes and reads lines.

use std::time::Duration;

use endturn::agent::AgentBuilder;
use endturn_testkit::{RawPeer, scripted};
use serde_json::{Value, json};

/// A client of the scripted agent.
pub(crate) struct Wire {
    pub(crate) peer: RawPeer,
    id: u64,
}

/// What came of a request: the updates before its answer, and the answer.
pub(crate) struct Heard {
    pub(crate) updates: Vec<Value>,
    pub(crate) answer: Value,
}

impl Wire {
    /// A client that offers everything.
    pub(crate) async fn open() -> Self {
        let everything = json!({
            "fs": {"readTextFile": true, "writeTextFile": true},
            "terminal": true,
            "elicitation": {"form": {}},
            "session": {"configOptions": {"boolean": {}}},
        });
        Self::open_with(scripted::agent(), everything).await
    }

    pub(crate) async fn open_with(agent: AgentBuilder, capabilities: Value) -> Self {
        let (peer, transport) = RawPeer::pair();
        let agent = agent.build();
        tokio::spawn(async move { agent.serve(transport).await });
        let mut wire = Self { peer, id: 0 };
        let hello = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        let heard = wire.ask("initialize", hello).await;
        assert_eq!(heard.answer["protocolVersion"], 1);
        wire
    }

    /// A client with a session in `/work`.
    pub(crate) async fn in_session() -> Self {
        let mut wire = Self::open().await;
        wire.new_session("/work").await;
        wire
    }

    /// Waits for hours, which a paused clock makes short.
    pub(crate) fn patient(mut self) -> Self {
        self.peer = self.peer.limit(Duration::from_secs(24 * 60 * 60));
        self
    }

    pub(crate) async fn new_session(&mut self, cwd: &str) -> Value {
        let params = json!({"cwd": cwd, "mcpServers": []});
        self.ask("session/new", params).await.answer
    }

    /// Makes a request, and gives its result or its error.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Heard {
        self.ask_serving(method, params, |method, _| {
            panic!("the agent asks for {method}")
        })
        .await
    }

    /// The same while `serve` gives the `result` or `error` for what the agent asks of the client.
    pub(crate) async fn ask_serving(
        &mut self,
        method: &str,
        params: Value,
        mut serve: impl FnMut(&str, &Value) -> Value,
    ) -> Heard {
        let id = self.send(method, params).await;
        let mut updates = Vec::new();
        loop {
            let mut message = self.peer.receive().await;
            if message["method"] == "session/update" {
                updates.push(message["params"]["update"].take());
            } else if let Some(method) = message["method"].as_str() {
                let mut answer = serve(method, &message["params"]);
                answer["jsonrpc"] = json!("2.0");
                answer["id"] = message["id"].clone();
                self.peer.send(answer).await;
            } else {
                assert_eq!(message["id"], id, "{message}");
                let key = if message.get("error").is_some() {
                    "error"
                } else {
                    "result"
                };
                let answer = message[key].take();
                return Heard { updates, answer };
            }
        }
    }

    /// Sends a request, and gives its id.
    pub(crate) async fn send(&mut self, method: &str, params: Value) -> u64 {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        self.peer.send(request).await;
        self.id
    }

    /// Runs a script in `session-1`.
    pub(crate) async fn run(&mut self, script: &str) -> Heard {
        self.ask("session/prompt", prompt(script)).await
    }

    /// The same while `serve` answers what the agent asks.
    pub(crate) async fn run_serving(
        &mut self,
        script: &str,
        serve: impl FnMut(&str, &Value) -> Value,
    ) -> Heard {
        let params = prompt(script);
        self.ask_serving("session/prompt", params, serve).await
    }

    pub(crate) async fn cancel(&mut self) {
        let params = json!({"sessionId": "session-1"});
        let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": params});
        self.peer.send(cancel).await;
    }
}

impl Heard {
    /// All that the agent has said.
    pub(crate) fn said(&self) -> String {
        let chunks = self.updates.iter();
        chunks
            .filter(|update| update["sessionUpdate"] == "agent_message_chunk")
            .map(|update| update["content"]["text"].as_str().unwrap())
            .collect()
    }

    /// The updates of one kind.
    pub(crate) fn of_kind(&self, kind: &str) -> Vec<&Value> {
        let updates = self.updates.iter();
        updates
            .filter(|update| update["sessionUpdate"] == kind)
            .collect()
    }

    /// The states that a tool call went through.
    pub(crate) fn states(&self) -> Vec<&str> {
        let updates = self.updates.iter();
        updates
            .filter(|update| update.get("toolCallId").is_some())
            // `pending` goes without saying.
            .filter_map(|update| match update["sessionUpdate"].as_str() {
                Some("tool_call") => Some("pending"),
                _ => update["status"].as_str(),
            })
            .collect()
    }

    #[track_caller]
    pub(crate) fn expect_end(&self, reason: &str) {
        assert_eq!(self.answer["stopReason"], reason, "{}", self.answer);
    }
}

pub(crate) fn prompt(script: &str) -> Value {
    json!({"sessionId": "session-1", "prompt": [{"type": "text", "text": script}]})
}
