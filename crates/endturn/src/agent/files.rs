//! The client's files.

use std::path::PathBuf;

use super::PromptContext;
use crate::{
    error::Error,
    schema::v1::{ReadTextFileRequest, WriteTextFileRequest},
};

impl PromptContext {
    /// Reads a text file as the user sees it, with what the editor has not saved.
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// let text = cx.read_text_file("/work/src/main.rs").await?;
    /// # drop(text);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [File system](https://agentclientprotocol.com/protocol/v1/file-system#reading-files).
    ///
    /// # Errors
    ///
    /// If the path is relative or the client does not offer its files; then nothing is sent.
    /// If the client answers with an error, for a file that is not there for example, or not in [time](super::AgentBuilder::request_timeout); if the turn ends, or the connection is lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future sends the client one `$/cancel_request`, unless it has answered.
    pub async fn read_text_file(&self, path: impl Into<PathBuf>) -> Result<String, Error> {
        let request = ReadTextFileRequest::new(self.session_id().clone(), path);
        Ok(self.request(&request).await?.content)
    }

    /// Reads so many lines of a text file, from one on that is counted from 1.
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// let first_ten = cx.read_lines("/work/src/main.rs", 1, 10).await?;
    /// # drop(first_ten);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`read_text_file`](Self::read_text_file), and if the first line is 0.
    ///
    /// # Cancel safety
    ///
    /// As for [`read_text_file`](Self::read_text_file).
    pub async fn read_lines(
        &self,
        path: impl Into<PathBuf>,
        first: u32,
        count: u32,
    ) -> Result<String, Error> {
        let request = ReadTextFileRequest::new(self.session_id().clone(), path)
            .line(first)
            .limit(count);
        Ok(self.request(&request).await?.content)
    }

    /// Writes a text file: all of it, and makes it if it is not there.
    ///
    /// ```
    /// # use endturn::{HandlerResult, PromptContext, schema::v1::*};
    /// # async fn handler(cx: PromptContext) -> HandlerResult<()> {
    /// cx.write_text_file("/work/hello.txt", "Hello.\n").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [File system](https://agentclientprotocol.com/protocol/v1/file-system#writing-files).
    ///
    /// # Errors
    ///
    /// As for [`read_text_file`](Self::read_text_file).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future sends the client one `$/cancel_request`, unless it has answered; the file may have been written all the same.
    pub async fn write_text_file(
        &self,
        path: impl Into<PathBuf>,
        content: impl Into<String>,
    ) -> Result<(), Error> {
        let request = WriteTextFileRequest::new(self.session_id().clone(), path, content);
        self.request(&request).await.map(drop)
    }
}
