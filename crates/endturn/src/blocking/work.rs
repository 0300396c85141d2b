//! Commands and tool calls of a blocking handler.

use std::{fmt, path::PathBuf};

use super::PromptContext;
use crate::{
    agent::{self, CommandOutput, Decision, TerminalCommand},
    error::Error,
    schema::v1::{
        PermissionOption, TerminalExitStatus, TerminalId, TerminalOutputResponse, ToolCall,
        ToolCallId, ToolCallUpdate, ToolCallUpdateFields,
    },
};

impl PromptContext {
    /// Asks the user whether a tool call may be made, this time: yes or no; see [`agent::PromptContext::confirm`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn confirm(&self, call: impl Into<ToolCallUpdate>) -> Result<Decision, Error> {
        self.wait(self.as_async().confirm(call))
    }

    /// Asks the user whether a tool call may be made: this time or always, yes or no; see [`agent::PromptContext::ask_permission`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn ask_permission(&self, call: impl Into<ToolCallUpdate>) -> Result<Decision, Error> {
        self.wait(self.as_async().ask_permission(call))
    }

    /// Has the user choose among options; see [`agent::PromptContext::choose`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn choose(
        &self,
        call: impl Into<ToolCallUpdate>,
        options: Vec<PermissionOption>,
    ) -> Result<Option<PermissionOption>, Error> {
        self.wait(self.as_async().choose(call, options))
    }

    /// Reads a text file as the user sees it; see [`agent::PromptContext::read_text_file`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn read_text_file(&self, path: impl Into<PathBuf>) -> Result<String, Error> {
        self.wait(self.as_async().read_text_file(path))
    }

    /// Reads so many lines of a text file; see [`agent::PromptContext::read_lines`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn read_lines(
        &self,
        path: impl Into<PathBuf>,
        first: u32,
        count: u32,
    ) -> Result<String, Error> {
        self.wait(self.as_async().read_lines(path, first, count))
    }

    /// Writes a text file; see [`agent::PromptContext::write_text_file`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn write_text_file(
        &self,
        path: impl Into<PathBuf>,
        content: impl Into<String>,
    ) -> Result<(), Error> {
        self.wait(self.as_async().write_text_file(path, content))
    }

    /// Runs a command to its end, and gives what it wrote; see [`agent::PromptContext::run_command`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn run_command(&self, command: TerminalCommand) -> Result<CommandOutput, Error> {
        self.wait(self.as_async().run_command(command))
    }

    /// Starts a command in a terminal of the client; see [`agent::PromptContext::start_command`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn start_command(&self, command: TerminalCommand) -> Result<Terminal, Error> {
        let terminal = self.wait(self.as_async().start_command(command))?;
        Ok(Terminal {
            cx: self.clone(),
            terminal,
        })
    }

    /// Shows a tool call to the user, pending; see [`agent::PromptContext::start_tool_call`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn start_tool_call(&self, call: ToolCall) -> Result<ToolCallHandle, Error> {
        let call = self.wait(self.as_async().start_tool_call(call))?;
        Ok(ToolCallHandle {
            cx: self.clone(),
            call,
        })
    }
}

/// A terminal of the client in which a command runs or has run: what [`agent::Terminal`] is to an async handler.
///
/// Dropping it releases it, without waiting for the client.
///
/// ```
/// # fn handler(cx: endturn::blocking::PromptContext) -> endturn::HandlerResult<()> {
/// use endturn::agent::TerminalCommand;
///
/// let server = cx.start_command(TerminalCommand::new("make").args(["serve"]))?;
/// println!("{}: {}", server.id(), server.output()?.output); // so far
/// server.kill()?;
/// println!("{:?}", server.wait()?.signal);
/// server.release()?;
/// # Ok(())
/// # }
/// ```
pub struct Terminal {
    cx: PromptContext,
    terminal: agent::Terminal,
}

impl Terminal {
    /// The terminal's id; see [`agent::Terminal::id`].
    #[must_use]
    pub fn id(&self) -> &TerminalId {
        self.terminal.id()
    }

    /// Carries the command to its end, releases the terminal, and gives what was written; see [`agent::Terminal::finish`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn finish(self) -> Result<CommandOutput, Error> {
        self.cx.wait(self.terminal.finish())
    }

    /// What the command has written so far; see [`agent::Terminal::output`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn output(&self) -> Result<TerminalOutputResponse, Error> {
        self.cx.wait(self.terminal.output())
    }

    /// Waits for the end of the command; see [`agent::Terminal::wait`].
    ///
    /// # Errors
    ///
    /// As there.
    #[track_caller]
    pub fn wait(&self) -> Result<TerminalExitStatus, Error> {
        self.cx.wait(self.terminal.wait())
    }

    /// Kills the command; its output is still there.
    ///
    /// # Errors
    ///
    /// As for [`agent::Terminal::kill`].
    #[track_caller]
    pub fn kill(&self) -> Result<(), Error> {
        self.cx.wait(self.terminal.kill())
    }

    /// Releases the terminal, and waits until the client has done it.
    ///
    /// # Errors
    ///
    /// As for [`agent::Terminal::release`].
    #[track_caller]
    pub fn release(self) -> Result<(), Error> {
        self.cx.wait(self.terminal.release())
    }
}

impl fmt::Debug for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.terminal.fmt(f)
    }
}

/// A tool call that the user sees: what [`agent::ToolCallHandle`] is to an async handler.
///
/// One that is dropped before its end is shown as failed.
///
/// ```
/// # use endturn::{HandlerResult, blocking::PromptContext, schema::v1::*};
/// # fn handler(cx: PromptContext) -> HandlerResult<()> {
/// let call = cx.start_tool_call(ToolCall::new("call-1", "Format").kind(ToolKind::Edit))?;
/// call.begin()?;
/// call.update(ToolCallUpdateFields::new().content(vec!["One of two".into()]))?;
/// call.complete(ToolCallUpdateFields::new())?;
/// # Ok(())
/// # }
/// ```
pub struct ToolCallHandle {
    cx: PromptContext,
    call: agent::ToolCallHandle,
}

impl ToolCallHandle {
    /// The call's id; see [`agent::ToolCallHandle::id`].
    #[must_use]
    pub fn id(&self) -> &ToolCallId {
        self.call.id()
    }

    /// Says that the call is in progress.
    ///
    /// # Errors
    ///
    /// As for [`PromptContext::send_update`].
    #[track_caller]
    pub fn begin(&self) -> Result<(), Error> {
        self.cx.wait(self.call.begin())
    }

    /// Changes what the user sees of the call; see [`agent::ToolCallHandle::update`].
    ///
    /// # Errors
    ///
    /// As for [`PromptContext::send_update`].
    #[track_caller]
    pub fn update(&self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        self.cx.wait(self.call.update(fields))
    }

    /// Ends the call as completed, with what came of it.
    ///
    /// # Errors
    ///
    /// As for [`PromptContext::send_update`].
    #[track_caller]
    pub fn complete(self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        self.cx.wait(self.call.complete(fields))
    }

    /// Ends the call as failed, with what the user should know about it.
    ///
    /// # Errors
    ///
    /// As for [`PromptContext::send_update`].
    #[track_caller]
    pub fn fail(self, fields: ToolCallUpdateFields) -> Result<(), Error> {
        self.cx.wait(self.call.fail(fields))
    }

    /// Carries the call to its end: in progress while `work` runs, then completed, or failed if it fails or if the turn was cancelled.
    ///
    /// Unlike an async handler's, `work` cannot be interrupted: it has to look whether the turn [is cancelled](PromptContext::is_cancelled).
    /// What it gives after a cancel is lost, since the call has failed then.
    ///
    /// # Errors
    ///
    /// What `work` fails with, and as for [`PromptContext::send_update`].
    #[track_caller]
    pub fn run<T, E: From<Error>>(self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.begin()?;
        let done = work()?;
        if self.cx.is_cancelled() {
            return Err(Error::turn_over(true).into());
        }
        self.complete(ToolCallUpdateFields::new())?;
        Ok(done)
    }
}

impl fmt::Debug for ToolCallHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.call.fmt(f)
    }
}
