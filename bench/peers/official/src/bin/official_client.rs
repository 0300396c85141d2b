//! A client on the official Rust SDK that counts what it is sent, on pipes that are registered with the reactor.

use std::{
    io,
    os::fd::AsFd,
    sync::atomic::{AtomicUsize, Ordering},
};

use agent_client_protocol::{
    ByteStreams, Client, Error, Result, on_receive_notification,
    schema::ProtocolVersion,
    v1::schema::{
        ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionNotification,
        SessionUpdate, TextContent,
    },
};
use tokio::net::unix::pipe;
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

static RECEIVED: AtomicUsize = AtomicUsize::new(0);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let (reader, writer) = pipes().map_err(Error::into_internal_error)?;
    let streams = ByteStreams::new(writer.compat_write(), reader.compat());
    Client
        .v1()
        .on_receive_notification(
            async move |notification: SessionNotification, _connection| {
                if let SessionUpdate::AgentMessageChunk(chunk) = &notification.update
                    && let ContentBlock::Text(text) = &chunk.content
                {
                    RECEIVED.fetch_add(text.text.len(), Ordering::Relaxed);
                }
                Ok(())
            },
            on_receive_notification!(),
        )
        .connect_with(streams, async |agent| {
            let initialize = InitializeRequest::new(ProtocolVersion::V1);
            agent.send_request(initialize).block_task().await?;
            let request = NewSessionRequest::new("/work");
            let session = agent.send_request(request).block_task().await?;
            loop {
                let text = ContentBlock::Text(TextContent::new("flood"));
                let prompt = PromptRequest::new(session.session_id.clone(), vec![text]);
                agent.send_request(prompt).block_task().await?;
            }
        })
        .await
}

fn pipes() -> io::Result<(pipe::Receiver, pipe::Sender)> {
    let reader = io::stdin().as_fd().try_clone_to_owned()?;
    let writer = io::stdout().as_fd().try_clone_to_owned()?;
    let reader = pipe::Receiver::from_owned_fd(reader)?;
    Ok((reader, pipe::Sender::from_owned_fd(writer)?))
}
