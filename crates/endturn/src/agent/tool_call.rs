//! Tool calls, from their beginning to their end.

use std::fmt;

use super::PromptContext;
use crate::{
    error::Error,
    schema::v1::{
        SessionUpdate, ToolCall, ToolCallId, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
    },
};

/// A tool call that the user sees, from [`PromptContext::start_tool_call`].
///
/// It is *pending* at first, *in progress* once it [`begins`](Self::begin), and ends [`completed`](Self::complete) or [`failed`](Self::fail).
/// One that is dropped before its end is shown as failed, as long as its turn is not answered: so none is left spinning by a handler that returns early, by `?` for example, or because the turn was cancelled.
///
/// Around one future:
///
/// ```
/// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
/// # async fn search() -> HandlerResult<String> { Ok(String::new()) }
/// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
/// let call = ToolCall::new("call-1", "Search the web").kind(ToolKind::Fetch);
/// let call = cx.start_tool_call(call).await?;
/// let found = call.run(search()).await?;
/// # drop(found);
/// # Ok(())
/// # }
/// ```
///
/// Step by step:
///
/// ```
/// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
/// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
/// let call = cx.start_tool_call(ToolCall::new("call-2", "Format").kind(ToolKind::Edit)).await?;
/// call.begin().await?;
/// let content = vec![ToolCallContent::from("src/main.rs is done")];
/// call.update(ToolCallUpdateFields::new().content(content)).await?;
/// if std::path::Path::new("/work/src").is_dir() {
///     call.complete(ToolCallUpdateFields::new()).await?;
/// } else {
///     call.fail(ToolCallUpdateFields::new().title("There is nothing to format".to_owned())).await?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// Source: [Tool calls](https://agentclientprotocol.com/protocol/v1/tool-calls).
pub struct ToolCallHandle {
    cx: PromptContext,
    id: ToolCallId,
    ended: bool,
}

impl PromptContext {
    /// Shows a tool call to the user, pending, whatever status it is given with.
    ///
    /// # Errors
    ///
    /// As for [`send_update`](Self::send_update).
    ///
    /// # Cancel safety
    ///
    /// As for [`send_update`](Self::send_update).
    pub async fn start_tool_call(&self, call: ToolCall) -> Result<ToolCallHandle, Error> {
        let id = call.tool_call_id.clone();
        let call = call.status(ToolCallStatus::Pending);
        self.send_update(SessionUpdate::ToolCall(call)).await?;
        Ok(ToolCallHandle {
            cx: self.clone(),
            id,
            ended: false,
        })
    }
}

impl ToolCallHandle {
    /// The call's id, as a permission request or another update names it.
    #[must_use]
    pub fn id(&self) -> &ToolCallId {
        &self.id
    }

    /// Says that the call is in progress.
    ///
    /// # Errors
    ///
    /// As for [`PromptContext::send_update`].
    pub async fn begin(&self) -> Result<(), Error> {
        self.update(status(ToolCallStatus::InProgress)).await
    }

    /// Changes what the user sees of the call: its title, its content, its locations.
    ///
    /// # Errors
    ///
    /// As for [`PromptContext::send_update`].
    pub async fn update(&self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        let update = ToolCallUpdate::new(self.id.clone(), fields);
        self.cx
            .send_update(SessionUpdate::ToolCallUpdate(update))
            .await
    }

    /// Ends the call as completed, whatever status the fields have, with what came of it.
    ///
    /// # Errors
    ///
    /// As for [`PromptContext::send_update`].
    pub async fn complete(self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        self.end(fields.status(ToolCallStatus::Completed)).await
    }

    /// Ends the call as failed, whatever status the fields have, with what the user should know about it.
    ///
    /// # Errors
    ///
    /// As for [`PromptContext::send_update`].
    pub async fn fail(self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        self.end(fields.status(ToolCallStatus::Failed)).await
    }

    /// Carries the call to its end: in progress while `work` runs, then completed, or failed if it fails.
    ///
    /// If the turn is cancelled meanwhile, `work` is dropped and the call fails with an error that [says so](Error::is_cancelled).
    /// What `work` fails with is not shown to the user; it goes to the caller.
    ///
    /// # Errors
    ///
    /// What `work` fails with, and as for [`PromptContext::send_update`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops `work`, and the call is shown as failed.
    pub async fn run<T, E: From<Error>>(
        self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        self.begin().await?;
        let done = tokio::select! {
            biased;
            () = self.cx.cancelled() => Err(Error::turn_over(true).into()),
            done = work => done,
        };
        let end = if done.is_ok() {
            ToolCallStatus::Completed
        } else {
            ToolCallStatus::Failed
        };
        let ended = self.end(status(end)).await;
        let done = done?;
        ended?;
        Ok(done)
    }

    async fn end(mut self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        // When it cannot be said now, dropping this could not say it either.
        self.update(fields).await?;
        self.ended = true;
        Ok(())
    }
}

fn status(status: ToolCallStatus) -> ToolCallUpdateFields {
    ToolCallUpdateFields::new().status(status)
}

impl Drop for ToolCallHandle {
    fn drop(&mut self) {
        if !self.ended {
            let failed = ToolCallUpdate::new(self.id.clone(), status(ToolCallStatus::Failed));
            self.cx
                .send_update_at_once(&SessionUpdate::ToolCallUpdate(failed));
        }
    }
}

impl fmt::Debug for ToolCallHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCallHandle")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
