//! The floor of the clients: what it costs to read typed updates by hand and hand them to a function.

use std::{
    io,
    os::fd::AsFd,
    sync::atomic::{AtomicUsize, Ordering},
};

use agent_client_protocol_schema::{
    ProtocolVersion,
    v1::{
        ContentBlock, InitializeRequest, NewSessionRequest, NewSessionResponse, PromptRequest,
        PromptResponse, SessionId, SessionNotification, SessionUpdate, TextContent,
    },
};
use agents::{Envelope, HIGH_WATER, write_request};
use serde::de::DeserializeOwned;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
};

static RECEIVED: AtomicUsize = AtomicUsize::new(0);

/// What a client does with an update; it is asynchronous, as handlers are.
async fn on_update(notification: SessionNotification) {
    if let SessionUpdate::AgentMessageChunk(chunk) = &notification.update
        && let ContentBlock::Text(text) = &chunk.content
    {
        RECEIVED.fetch_add(text.text.len(), Ordering::Relaxed);
    }
}

struct Client {
    reader: pipe::Receiver,
    writer: pipe::Sender,
    buffer: Vec<u8>,
    next_id: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let reader = io::stdin().as_fd().try_clone_to_owned()?;
    let writer = io::stdout().as_fd().try_clone_to_owned()?;
    let mut client = Client {
        reader: pipe::Receiver::from_owned_fd(reader)?,
        writer: pipe::Sender::from_owned_fd(writer)?,
        buffer: Vec::with_capacity(HIGH_WATER),
        next_id: 1,
    };
    let initialize = InitializeRequest::new(ProtocolVersion::V1);
    client
        .request::<serde_json::Value>("initialize", &initialize)
        .await?;
    let request = NewSessionRequest::new("/work");
    let session: NewSessionResponse = client.request("session/new", &request).await?;
    loop {
        let prompt = prompt(session.session_id.clone());
        client
            .request::<PromptResponse>("session/prompt", &prompt)
            .await?;
    }
}

fn prompt(session: SessionId) -> PromptRequest {
    let text = ContentBlock::Text(TextContent::new("flood"));
    PromptRequest::new(session, vec![text])
}

impl Client {
    /// Sends a request, and handles updates until its answer comes.
    async fn request<R: DeserializeOwned>(
        &mut self,
        method: &str,
        params: &impl serde::Serialize,
    ) -> io::Result<R> {
        let mut line = Vec::new();
        write_request(&mut line, self.next_id, method, params);
        self.next_id += 1;
        self.writer.write_all(&line).await?;
        loop {
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut start = 0;
            let mut answer = None;
            while let Some(length) = memchr::memchr(b'\n', &self.buffer[start..]) {
                let line = &self.buffer[start..start + length];
                start += length + 1;
                let message = Envelope::read(line).ok_or(io::ErrorKind::InvalidData)?;
                if message.method.is_some() {
                    on_update(message.params()?).await;
                } else if let Some(result) = message.result {
                    answer = Some(serde_json::from_str(result.get())?);
                }
            }
            self.buffer.drain(..start);
            self.buffer.reserve(HIGH_WATER / 2);
            if let Some(answer) = answer {
                return Ok(answer);
            }
        }
    }
}
