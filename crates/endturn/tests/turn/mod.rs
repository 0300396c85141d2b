//! A turn whose agent is played by the test.
#![allow(dead_code, reason = "each test file uses its part")]

use endturn::{
    Agent, Client, HandlerResult, PromptContext, blocking,
    client::ClientBuilder,
    schema::{
        ProtocolVersion,
        v1::{
            ContentBlock, InitializeRequest, PromptRequest, PromptResponse, SessionUpdate,
            StopReason, TextContent,
        },
    },
};
use tokio::{sync::mpsc, task::JoinHandle};

/// A client, an agent, and a turn between them that lasts until this is dropped.
pub(crate) struct Turn {
    /// What the agent sends requests through.
    pub(crate) cx: PromptContext,
    pub(crate) client: Client,
    prompt: JoinHandle<()>,
    contexts: mpsc::UnboundedReceiver<PromptContext>,
}

impl Turn {
    /// In session `s`.
    pub(crate) async fn begin(builder: ClientBuilder) -> Self {
        let (tell, mut contexts) = mpsc::unbounded_channel();
        let agent = Agent::builder()
            .on_prompt(move |_request, cx: PromptContext| {
                tell.send(cx.clone()).unwrap();
                async move {
                    cx.cancelled().await;
                    Ok(PromptResponse::new(StopReason::EndTurn))
                }
            })
            .build();
        let (near, far) = endturn::transport::memory();
        tokio::spawn(async move { agent.serve(far).await });
        let client = builder.connect(near);
        let request = InitializeRequest::new(ProtocolVersion::V1);
        client.initialize(request).await.unwrap();
        let prompt = send(&client, "s");
        let cx = contexts.recv().await.unwrap();
        Self {
            cx,
            client,
            prompt,
            contexts,
        }
    }

    /// Begins a turn of another session, over the same connection.
    pub(crate) async fn other(&mut self, session: &str) -> PromptContext {
        send(&self.client, session);
        self.contexts.recv().await.unwrap()
    }

    /// Drops the client, all clones included.
    pub(crate) async fn drop_client(self) {
        self.prompt.abort();
        self.prompt.await.unwrap_err();
        drop(self.client);
    }
}

fn send(client: &Client, session: &str) -> JoinHandle<()> {
    let prompt = client.prompt(request(session), None);
    tokio::spawn(async move {
        // It ends with the test.
        let _ = prompt.await;
    })
}

fn request(session: &str) -> PromptRequest {
    let text = ContentBlock::Text(TextContent::new("x"));
    PromptRequest::new(session.to_owned(), vec![text])
}

/// What a turn with a blocking client says.
pub(crate) fn blocking<F, Fut>(builder: blocking::ClientBuilder, turn: F) -> String
where
    F: Fn(PromptContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = HandlerResult<String>> + Send + 'static,
{
    let (tell, said) = std::sync::mpsc::channel();
    let agent = Agent::builder()
        .on_prompt(move |_request, cx: PromptContext| {
            let text = turn(cx.clone());
            async move {
                cx.send_message(text.await?).await?;
                Ok(PromptResponse::new(StopReason::EndTurn))
            }
        })
        .build();
    let (near, far) = endturn::transport::memory();
    let served = std::thread::spawn(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime
            .enable_all()
            .build()
            .unwrap()
            .block_on(agent.serve(far))
    });
    let client = builder
        .on_update(move |notification, _client| {
            if let SessionUpdate::AgentMessageChunk(chunk) = notification.update
                && let ContentBlock::Text(text) = chunk.content
            {
                tell.send(text.text).unwrap();
            }
        })
        .connect(|| Ok(near))
        .unwrap();
    let version = InitializeRequest::new(ProtocolVersion::V1);
    client.initialize(version).unwrap();
    client.prompt(request("s"), None).unwrap();
    drop(client);
    served.join().unwrap().unwrap();
    said.recv().unwrap()
}
