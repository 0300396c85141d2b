//! A client on endturn that counts what it is sent.
//!
//! `--multi` runs it on a multi-thread runtime.

use std::{
    error::Error,
    sync::atomic::{AtomicUsize, Ordering},
};

use endturn::{
    Client,
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, SessionNotification,
            SessionUpdate, TextContent,
        },
    },
    transport,
};

static RECEIVED: AtomicUsize = AtomicUsize::new(0);

fn main() -> Result<(), Box<dyn Error>> {
    let mut runtime = if std::env::args().any(|argument| argument == "--multi") {
        tokio::runtime::Builder::new_multi_thread()
    } else {
        tokio::runtime::Builder::new_current_thread()
    };
    runtime.enable_all().build()?.block_on(drive())
}

async fn on_update(notification: SessionNotification, _client: Client) {
    if let SessionUpdate::AgentMessageChunk(chunk) = &notification.update
        && let ContentBlock::Text(text) = &chunk.content
    {
        RECEIVED.fetch_add(text.text.len(), Ordering::Relaxed);
    }
}

async fn drive() -> Result<(), Box<dyn Error>> {
    let client = Client::builder()
        .on_update(on_update)
        .connect(transport::stdio()?);
    let initialize = InitializeRequest::new(ProtocolVersion::V1);
    client.initialize(initialize).await?;
    let session = client.new_session(NewSessionRequest::new("/work")).await?;
    loop {
        let text = ContentBlock::Text(TextContent::new("flood"));
        let request = PromptRequest::new(session.session_id.clone(), vec![text]);
        client.prompt(request, None).await?;
    }
}
