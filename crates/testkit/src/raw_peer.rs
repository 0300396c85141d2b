//! The other end of a connection, line by line.

use std::{fmt, time::Duration};

use endturn::transport::Transport;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    time::timeout,
};

/// A peer that sends exactly the lines it is told to, and shows exactly the lines it gets.
///
/// It knows nothing of the protocol, so it can break it.
/// Every wait is bounded by a limit of 30 s, after which it panics; a test with a paused clock that waits for something later than that [sets another](Self::limit).
///
/// ```
/// use endturn::{Agent, schema::v1::NewSessionResponse};
/// use endturn_testkit::RawPeer;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let agent = Agent::builder()
///     .on_new_session(|_request, _cx| async { Ok(NewSessionResponse::new("s")) })
///     .build();
/// let (mut client, transport) = RawPeer::pair();
/// tokio::spawn(async move { agent.serve(transport).await });
///
/// client.initialize().await;
/// client
///     .send(r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}"#)
///     .await;
/// assert_eq!(
///     client.receive().await,
///     json!({"jsonrpc": "2.0", "id": 1, "result": {"sessionId": "s"}})
/// );
/// # }
/// ```
pub struct RawPeer {
    reader: BufReader<Box<dyn AsyncRead + Send + Unpin>>,
    writer: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    limit: Duration,
    barriers: u32,
}

impl RawPeer {
    /// A peer that reads from one stream and writes to another, those of a child process for example.
    pub fn new(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            reader: BufReader::new(Box::new(reader)),
            writer: Some(Box::new(writer)),
            limit: Duration::from_secs(30),
            barriers: 0,
        }
    }

    /// A peer in memory, and the transport that leads to it.
    #[must_use]
    pub fn pair() -> (Self, Transport) {
        Self::pair_with_buffer(64 * 1024)
    }

    /// The same, with room for only so many bytes in each direction before the sender has to wait.
    #[must_use]
    pub fn pair_with_buffer(bytes: usize) -> (Self, Transport) {
        // Two pairs, each used one way, so that closing one direction leaves the other.
        let (near_in, far_out) = tokio::io::duplex(bytes);
        let (far_in, near_out) = tokio::io::duplex(bytes);
        (
            Self::new(near_in, near_out),
            Transport::new(far_in, far_out),
        )
    }

    /// How long to wait for a line before the test has failed.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sends one line.
    ///
    /// # Panics
    ///
    /// If the other end does not take it in time.
    pub async fn send(&mut self, line: impl fmt::Display) {
        self.send_bytes(format!("{line}\n").as_bytes()).await;
    }

    /// Sends several lines in one write.
    ///
    /// # Panics
    ///
    /// If the other end does not take them in time.
    pub async fn send_all<L: fmt::Display>(&mut self, lines: impl IntoIterator<Item = L>) {
        let lines: String = lines.into_iter().map(|line| format!("{line}\n")).collect();
        self.send_bytes(lines.as_bytes()).await;
    }

    /// Sends bytes as they are.
    ///
    /// # Panics
    ///
    /// If the other end does not take them in time.
    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        let writer = self.writer.as_mut().expect("the peer has hung up");
        let write = async {
            writer.write_all(bytes).await?;
            writer.flush().await
        };
        timeout(self.limit, write)
            .await
            .expect("the other end does not read")
            .expect("the other end is gone");
    }

    /// The next line; `None` at the end of the stream.
    ///
    /// # Panics
    ///
    /// If none comes in time.
    pub async fn receive_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = timeout(self.limit, self.reader.read_line(&mut line))
            .await
            .expect("nothing came from the other end");
        match read {
            Ok(0) => None,
            Ok(_) => Some(line.trim_end_matches('\n').to_owned()),
            Err(error) => panic!("cannot read from the other end: {error}"),
        }
    }

    /// The next message.
    ///
    /// # Panics
    ///
    /// If none comes in time, the stream ends, or the line is not JSON.
    pub async fn receive(&mut self) -> Value {
        let line = self.receive_line().await.expect("the stream has ended");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"))
    }

    /// All messages up to the answer to the request with this id, that answer last.
    ///
    /// # Panics
    ///
    /// As [`receive`](Self::receive).
    pub async fn receive_until(&mut self, id: impl Into<Value>) -> Vec<Value> {
        let id = id.into();
        let mut messages = Vec::new();
        loop {
            let message = self.receive().await;
            let found = message["id"] == id && message.get("method").is_none();
            messages.push(message);
            if found {
                return messages;
            }
        }
    }

    /// Sends a request for a method that nobody has, and gives all that comes before the answer to it.
    ///
    /// Then everything sent so far has been read by the other end, and everything it had to say about it at once has arrived.
    ///
    /// # Panics
    ///
    /// As [`receive`](Self::receive).
    pub async fn barrier(&mut self) -> Vec<Value> {
        self.barriers += 1;
        let id = format!("barrier-{}", self.barriers);
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "_barrier"}))
            .await;
        let mut before = self.receive_until(id).await;
        before.pop();
        before
    }

    /// Opens the conversation as a client that offers everything, and gives the agent's answer.
    ///
    /// # Panics
    ///
    /// As [`receive`](Self::receive), and if the agent refuses.
    pub async fn initialize(&mut self) -> Value {
        self.send(
            json!({"jsonrpc": "2.0", "id": "initialize", "method": "initialize", "params": {
                "protocolVersion": 1, "clientCapabilities": {
                    "fs": {"readTextFile": true, "writeTextFile": true},
                    "terminal": true,
                    "elicitation": {"form": {}, "url": {}},
                },
            }}),
        )
        .await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], "initialize", "{answer}");
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Answers the client's `initialize` as an agent that offers everything, and gives what it said.
    ///
    /// # Panics
    ///
    /// As [`receive`](Self::receive), and if something else comes first.
    pub async fn accept_initialize(&mut self) -> Value {
        let request = self.receive().await;
        assert_eq!(request["method"], "initialize", "{request}");
        let result = json!({"protocolVersion": 1, "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true},
            "mcpCapabilities": {"http": true, "sse": true},
            "sessionCapabilities": {
                "list": {}, "delete": {}, "resume": {}, "close": {}, "additionalDirectories": {},
                "systemPrompt": {"mode": {"override": {}}},
            },
            "auth": {"logout": {}},
        }});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await;
        request["params"].clone()
    }

    /// Closes the stream to the other end, which reads the end of its input.
    pub fn hang_up(&mut self) {
        self.writer = None;
    }
}

impl fmt::Debug for RawPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawPeer").finish_non_exhaustive()
    }
}
