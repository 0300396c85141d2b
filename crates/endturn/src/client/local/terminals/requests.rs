//! The five methods of the protocol.

use super::{LocalTerminals, command, keeper::Terminal, table};
use crate::schema::v1::{
    self, CreateTerminalRequest, CreateTerminalResponse, KillTerminalRequest, KillTerminalResponse,
    ReleaseTerminalRequest, ReleaseTerminalResponse, TerminalOutputRequest, TerminalOutputResponse,
    WaitForTerminalExitRequest, WaitForTerminalExitResponse,
};

impl LocalTerminals {
    /// Answers `terminal/create`: starts a command.
    ///
    /// ```
    /// use endturn::{Client, client::LocalTerminals, schema::v1};
    ///
    /// # async fn asked(command: &str) -> bool { true }
    /// // Asks the user before a command is run.
    /// let terminals = LocalTerminals::new();
    /// let builder = Client::builder().terminals(terminals.clone()).on_request(
    ///     move |request: v1::CreateTerminalRequest, _client| {
    ///         let terminals = terminals.clone();
    ///         async move {
    ///             if asked(&request.command).await {
    ///                 Ok(terminals.create(request)?)
    ///             } else {
    ///                 Err(v1::Error::new(-32001, "the user said no"))?
    ///             }
    ///         }
    ///     },
    /// );
    /// # drop(builder);
    /// ```
    ///
    /// Source: [Executing commands](https://agentclientprotocol.com/protocol/v1/terminals#executing-commands).
    ///
    /// # Errors
    ///
    /// Those of the table at [`LocalTerminals`]; outside a tokio runtime, `-32603`.
    ///
    /// # Panics
    ///
    /// If the runtime was built without [`enable_all`](tokio::runtime::Builder::enable_all).
    pub fn create(
        &self,
        request: CreateTerminalRequest,
    ) -> Result<CreateTerminalResponse, v1::Error> {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return Err(v1::Error::internal_error());
        };
        let (command, output) = command::prepare(&request, &self.options)?;
        // Its place is taken first, so that a command which is over the limit never runs.
        let max = self.options.max_terminals;
        let id = self.table().reserve(&request.session_id, max)?;
        let limit = self.options.output_limit(request.output_byte_limit);
        let grace = self.options.kill_grace;
        let started = Terminal::start(&runtime, command, output, limit, grace);
        let started = started.map_err(|error| command::cannot_start(&request, &error));
        match started {
            Ok(terminal) => {
                tracing::debug!(%id, "terminal created");
                // It is given back if it was released in between, and dropped without the lock.
                let back = self.table().fill(&id, terminal);
                if back.is_some() {
                    return Err(table::not_found(&id));
                }
                Ok(CreateTerminalResponse::new(id))
            }
            Err(error) => {
                let place = self.table().remove(&request.session_id, &id);
                drop(place);
                Err(error)
            }
        }
    }

    /// Answers `terminal/output`: the output so far, and how the command exited if it has.
    ///
    /// It is the end of the output if all of it would be more than the limit, and begins with a whole character.
    /// Bytes that are not UTF-8 are replaced by U+FFFD.
    ///
    /// ```
    /// use endturn::{client::LocalTerminals, schema::v1::TerminalOutputRequest};
    ///
    /// let terminals = LocalTerminals::new();
    /// let error = terminals.output(&TerminalOutputRequest::new("session", "nonesuch")).unwrap_err();
    /// assert_eq!(i32::from(error.code), -32002);
    /// ```
    ///
    /// Source: [Getting output](https://agentclientprotocol.com/protocol/v1/terminals#getting-output).
    ///
    /// # Errors
    ///
    /// If the session has no such terminal.
    pub fn output(
        &self,
        request: &TerminalOutputRequest,
    ) -> Result<TerminalOutputResponse, v1::Error> {
        let view = self.find(&request.session_id, &request.terminal_id)?;
        Ok(view.snapshot())
    }

    /// Answers `terminal/wait_for_exit`: waits for the command's process to exit.
    ///
    /// The answer has the exit code, or the name of the signal that ended the process, such as `SIGKILL`.
    /// Any number of calls can wait, and one that comes later is answered at once.
    /// Releasing the terminal kills the process, and those that wait learn that.
    ///
    /// ```
    /// use endturn::{client::LocalTerminals, schema::v1::*};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let terminals = LocalTerminals::new();
    /// let id = terminals.create(CreateTerminalRequest::new("session", "exit 3"))?.terminal_id;
    /// let exit = terminals.wait_for_exit(&WaitForTerminalExitRequest::new("session", id));
    /// assert_eq!(exit.await?.exit_status.exit_code, Some(3));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Waiting for exit](https://agentclientprotocol.com/protocol/v1/terminals#waiting-for-exit).
    ///
    /// # Errors
    ///
    /// If the session has no such terminal when this is called; `-32603` if the process outlives a KILL, or the runtime is going away.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future changes nothing; it does not keep the terminal either.
    pub fn wait_for_exit(
        &self,
        request: &WaitForTerminalExitRequest,
    ) -> impl Future<Output = Result<WaitForTerminalExitResponse, v1::Error>> + Send + use<> {
        let view = self.find(&request.session_id, &request.terminal_id);
        async move {
            let exit = view?.exited().await;
            let exit = exit.ok_or_else(v1::Error::internal_error)?;
            Ok(WaitForTerminalExitResponse::new(exit))
        }
    }

    /// Answers `terminal/kill`: ends the command and all that it started; the terminal stays.
    ///
    /// It asks with TERM first, and sends KILL to those that are left after the [grace](Self::kill_grace), because what a command started elsewhere (containers, remote jobs) is ended by the command's own clean-up or not at all.
    /// On Windows, which has no TERM, it kills at once.
    /// It does not wait for the end; for a command that has ended it does nothing but end what that left behind.
    ///
    /// ```
    /// use endturn::{client::LocalTerminals, schema::v1::*};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let terminals = LocalTerminals::new();
    /// let sleep = CreateTerminalRequest::new("session", "sleep").args(vec!["1000".to_owned()]);
    /// let id = terminals.create(sleep)?.terminal_id;
    /// terminals.kill(&KillTerminalRequest::new("session", id.clone()))?;
    /// let exit = terminals.wait_for_exit(&WaitForTerminalExitRequest::new("session", id));
    /// # #[cfg(unix)]
    /// assert_eq!(exit.await?.exit_status.signal.as_deref(), Some("SIGTERM"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Killing commands](https://agentclientprotocol.com/protocol/v1/terminals#killing-commands).
    ///
    /// # Errors
    ///
    /// If the session has no such terminal.
    pub fn kill(&self, request: &KillTerminalRequest) -> Result<KillTerminalResponse, v1::Error> {
        let id = &request.terminal_id;
        let found = self.table().with(&request.session_id, id, Terminal::end);
        found.ok_or_else(|| table::not_found(id))?;
        Ok(KillTerminalResponse::new())
    }

    /// Answers `terminal/release`: kills what is left of the command, and forgets the terminal.
    ///
    /// It kills at once, with KILL, since nobody is left to see whether TERM is heeded; an agent that wants a command to clean up kills it first.
    /// A [`TerminalView`](super::TerminalView) goes on showing the last output.
    ///
    /// ```
    /// use endturn::{client::LocalTerminals, schema::v1::*};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let terminals = LocalTerminals::new();
    /// let id = terminals.create(CreateTerminalRequest::new("session", "exit 3"))?.terminal_id;
    /// terminals.release(&ReleaseTerminalRequest::new("session", id.clone()))?;
    /// assert!(terminals.release(&ReleaseTerminalRequest::new("session", id)).is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Source: [Releasing terminals](https://agentclientprotocol.com/protocol/v1/terminals#releasing-terminals).
    ///
    /// # Errors
    ///
    /// If the session has no such terminal.
    pub fn release(
        &self,
        request: &ReleaseTerminalRequest,
    ) -> Result<ReleaseTerminalResponse, v1::Error> {
        let id = &request.terminal_id;
        let removed = self.table().remove(&request.session_id, id);
        removed.ok_or_else(|| table::not_found(id))?;
        Ok(ReleaseTerminalResponse::new())
    }
}
