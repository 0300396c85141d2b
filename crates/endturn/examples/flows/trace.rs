//! Recording what passes between a client and its agent.

use std::{
    fmt,
    time::{Duration, Instant},
};

use endturn::transport::{self, Transport};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::watch,
};

/// What has passed so far, oldest first.
#[derive(Clone, Default)]
pub(crate) struct Trace(watch::Sender<Vec<Entry>>);

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) side: Side,
    pub(crate) event: Event,
    at: Instant,
}

#[derive(Clone)]
pub(crate) enum Event {
    /// A message that this side sent: its line, and what that says.
    Message(String, Value),
    /// Something else that happened at this side.
    Note(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Agent,
}

impl Trace {
    /// A transport that leads to the same place and records every line that passes.
    ///
    /// A message is recorded before it is passed on, so it always stands before what it leads to.
    pub(crate) fn record(&self, transport: Transport) -> Transport {
        let (client, near) = transport::memory();
        let (from_client, to_client) = near.into_parts();
        let (from_agent, to_agent) = transport.into_parts();
        tokio::spawn(self.clone().relay(Side::Client, from_client, to_agent));
        tokio::spawn(self.clone().relay(Side::Agent, from_agent, to_client));
        client
    }

    async fn relay(
        self,
        side: Side,
        reader: impl AsyncRead + Unpin,
        mut writer: impl AsyncWrite + Unpin,
    ) {
        let mut lines = BufReader::new(reader).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            let message = serde_json::from_str(&line).unwrap_or_default();
            let bytes = format!("{line}\n");
            self.push(side, Event::Message(line, message));
            if writer.write_all(bytes.as_bytes()).await.is_err() || writer.flush().await.is_err() {
                break;
            }
        }
        // Dropping the writer tells the other side that nothing more will come.
    }

    /// Records something that happens at the client now.
    pub(crate) fn note(&self, text: &str) {
        self.push(Side::Client, Event::Note(text.to_owned()));
    }

    fn push(&self, side: Side, event: Event) {
        let at = Instant::now();
        self.0
            .send_modify(|entries| entries.push(Entry { side, event, at }));
    }

    /// Puts before the last message what the agent did until then, if it took at least this long from a message of the client on.
    ///
    /// The client's message is recorded before the agent's clock starts, so an agent that did wait is never taken for one that did not.
    pub(crate) fn note_wait(&self, since: &str, at_least: Duration, text: &str) -> bool {
        self.0.send_if_modified(|entries| {
            let start = entries.iter().find(|entry| entry.is_method(since));
            let waited = start
                .zip(entries.last())
                .is_some_and(|(start, end)| end.at.duration_since(start.at) >= at_least);
            if waited && let Some(last) = entries.pop() {
                let note = Event::Note(text.to_owned());
                entries.push(Entry {
                    side: Side::Agent,
                    event: note,
                    at: last.at,
                });
                entries.push(last);
            }
            waited
        })
    }

    /// Waits until there is a message with this method.
    pub(crate) async fn until(&self, method: &str) {
        self.wait_for(|entries| entries.iter().any(|entry| entry.is_method(method)))
            .await;
    }

    /// Waits until the client's request with this method was answered.
    pub(crate) async fn until_answered(&self, method: &str) {
        self.wait_for(|entries| {
            let request = entries.iter().find(|entry| entry.is_method(method));
            let id = request
                .and_then(Entry::message)
                .map(|request| &request["id"]);
            entries.iter().any(|entry| {
                entry.side == Side::Agent
                    && entry.message().is_some_and(|message| {
                        message.get("method").is_none() && Some(&message["id"]) == id
                    })
            })
        })
        .await;
    }

    async fn wait_for(&self, is_there: impl Fn(&[Entry]) -> bool) {
        let mut entries = self.0.subscribe();
        // It cannot fail, since this trace is a sender.
        drop(entries.wait_for(|entries| is_there(entries)).await);
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.0.borrow().clone()
    }
}

impl Entry {
    pub(crate) fn message(&self) -> Option<&Value> {
        match &self.event {
            Event::Message(_, message) => Some(message),
            Event::Note(_) => None,
        }
    }

    pub(crate) fn is_method(&self, method: &str) -> bool {
        self.message()
            .is_some_and(|message| message["method"] == method)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.event, self.side) {
            (Event::Message(line, _), Side::Client) => write!(f, "-> {line}"),
            (Event::Message(line, _), Side::Agent) => write!(f, "<- {line}"),
            (Event::Note(text), _) => write!(f, "-- {text}"),
        }
    }
}
