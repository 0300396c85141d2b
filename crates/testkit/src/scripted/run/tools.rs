//! Tool calls: one that only takes time, and those on the client's files and terminals.

use std::{path::PathBuf, time::Duration};

use endturn::{
    Error, HandlerResult,
    agent::{TerminalCommand, ToolCallHandle},
    schema::v1::{
        Content, Diff, Terminal, TerminalExitStatus, ToolCall, ToolCallContent, ToolCallId,
        ToolCallLocation, ToolCallUpdateFields, ToolKind,
    },
};
use serde_json::json;
use tokio::time::sleep;

use super::Turn;

impl Turn<'_> {
    pub(super) async fn tool(
        &self,
        id: ToolCallId,
        title: String,
        duration: Duration,
    ) -> HandlerResult<()> {
        let call = self.cx.start_tool_call(ToolCall::new(id, title)).await?;
        let work = async {
            sleep(duration).await;
            Ok::<_, Error>(())
        };
        match call.run(work).await {
            // The call is shown as failed, and the script goes on.
            Err(error) if error.is_cancelled() => Ok(()),
            done => Ok(done?),
        }
    }

    pub(super) async fn read(&self, id: ToolCallId, path: &str) -> HandlerResult<()> {
        if let Err(missing) = self.cx.client()?.require_read_text_file() {
            return self.explain(missing).await;
        }
        let file = self.absolute(path)?;
        let call = ToolCall::new(id, format!("Read {path}"))
            .kind(ToolKind::Read)
            .locations(vec![ToolCallLocation::new(file.clone())])
            .raw_input(json!({ "path": file }));
        let call = self.cx.start_tool_call(call).await?;
        call.begin().await?;
        match self.cx.read_text_file(file).await {
            Ok(text) => {
                call.complete(content(text_content(&text))).await?;
                self.say(text).await
            }
            Err(error) => self.failed(call, error).await,
        }
    }

    pub(super) async fn write(
        &self,
        id: ToolCallId,
        path: &str,
        text: String,
    ) -> HandlerResult<()> {
        if let Err(missing) = self.cx.client()?.require_write_text_file() {
            return self.explain(missing).await;
        }
        let file = self.absolute(path)?;
        let text = text + "\n";
        let call = ToolCall::new(id, format!("Write {path}"))
            .kind(ToolKind::Edit)
            .locations(vec![ToolCallLocation::new(file.clone())])
            .content(vec![ToolCallContent::Diff(Diff::new(
                file.clone(),
                text.as_str(),
            ))])
            .raw_input(json!({ "path": file, "text": text }));
        let call = self.cx.start_tool_call(call).await?;
        let Some(call) = self.allowed(call).await? else {
            return Ok(());
        };
        call.begin().await?;
        let bytes = text.len();
        match self.cx.write_text_file(file, text).await {
            Ok(()) => {
                call.complete(ToolCallUpdateFields::new()).await?;
                self.say(format!("[Wrote {bytes} bytes to {path}]")).await
            }
            Err(error) => self.failed(call, error).await,
        }
    }

    pub(super) async fn run(&self, id: ToolCallId, command: String) -> HandlerResult<()> {
        if let Err(missing) = self.cx.client()?.require_terminal() {
            return self.explain(missing).await;
        }
        let call = ToolCall::new(id, command.as_str())
            .kind(ToolKind::Execute)
            .raw_input(json!({ "command": command }));
        let call = self.cx.start_tool_call(call).await?;
        let Some(call) = self.allowed(call).await? else {
            return Ok(());
        };
        call.begin().await?;
        match self.execute(&call, command).await {
            Ok((output, exit)) => {
                if exit.exit_code == Some(0) {
                    call.complete(ToolCallUpdateFields::new()).await?;
                } else {
                    call.fail(ToolCallUpdateFields::new()).await?;
                }
                if !output.is_empty() {
                    self.say(output).await?;
                }
                self.say(format!("[{}]", described(&exit))).await
            }
            Err(error) => self.failed(call, error).await,
        }
    }

    /// Runs a command in a terminal that the user sees in the tool call.
    async fn execute(
        &self,
        call: &ToolCallHandle,
        command: String,
    ) -> Result<(String, TerminalExitStatus), Error> {
        let [shell, flag] = if cfg!(windows) {
            ["cmd", "/C"]
        } else {
            ["sh", "-c"]
        };
        let cwd = self.sessions.cwd(self.cx.session_id()).ok();
        let mut shell = TerminalCommand::new(shell).args([flag, &command]);
        if let Some(cwd) = cwd {
            shell = shell.cwd(cwd);
        }
        let terminal = self.cx.start_command(shell).await?;
        let shown = ToolCallContent::Terminal(Terminal::new(terminal.id().clone()));
        call.update(content(shown)).await?;
        let exit = tokio::select! {
            biased;
            () = self.cx.cancelled() => {
                terminal.kill().await?;
                terminal.wait().await?
            }
            exit = terminal.wait() => exit?,
        };
        let output = terminal.output().await?.output;
        terminal.release().await?;
        Ok((output, exit))
    }

    /// A path of the script, which counts from the session's directory.
    fn absolute(&self, path: &str) -> HandlerResult<PathBuf> {
        Ok(self.sessions.cwd(self.cx.session_id())?.join(path))
    }

    /// Ends a call that the client has refused, and goes on with the script.
    async fn failed(&self, call: ToolCallHandle, error: Error) -> HandlerResult<()> {
        let reason = reason(&error);
        call.fail(content(text_content(&reason))).await?;
        self.explain(error).await
    }

    /// Says what the client does not offer, or why it has refused; whatever else went wrong is the end of the turn.
    pub(super) async fn explain(&self, error: Error) -> HandlerResult<()> {
        if let Some(capability) = error.capability() {
            return self
                .say(format!("[The client does not offer {capability}]"))
                .await;
        }
        if error.is_cancelled() || error.protocol().is_some() {
            return self.say(format!("[Failed: {}]", reason(&error))).await;
        }
        Err(error)?
    }
}

/// What an error says, and what its data add to that.
fn reason(error: &Error) -> String {
    let Some(protocol) = error.protocol() else {
        return error.to_string();
    };
    let data = protocol.data.as_ref();
    let detail = data.and_then(|data| data.get("reason").unwrap_or(data).as_str());
    match detail {
        Some(detail) => format!("{}: {detail}", protocol.message),
        None => protocol.message.clone(),
    }
}

/// How a command has ended.
fn described(exit: &TerminalExitStatus) -> String {
    match (exit.exit_code, &exit.signal) {
        (Some(code), _) => format!("Exit code {code}"),
        (None, Some(signal)) => format!("Ended by {signal}"),
        (None, None) => "Ended".to_owned(),
    }
}

fn content(content: ToolCallContent) -> ToolCallUpdateFields {
    ToolCallUpdateFields::new().content(vec![content])
}

fn text_content(text: &str) -> ToolCallContent {
    ToolCallContent::Content(Content::new(text.to_owned()))
}
