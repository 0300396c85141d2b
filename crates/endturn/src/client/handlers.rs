//! The builder's methods for the requests that need nothing but a handler.

use super::{Client, ClientBuilder};
use crate::{
    error::HandlerResult,
    request::Request,
    schema::v1::{
        CompleteElicitationNotification, CreateElicitationRequest, CreateTerminalRequest,
        KillTerminalRequest, ReadTextFileRequest, ReleaseTerminalRequest, RequestPermissionRequest,
        TerminalOutputRequest, WaitForTerminalExitRequest, WriteTextFileRequest,
    },
};

/// Makes a method for each request.
macro_rules! handlers {
    ($($(#[$attribute:meta])* $request:ident: $on:ident;)*) => {
        impl ClientBuilder {
            $(
                $(#[$attribute])*
                pub fn $on<F, Fut>(self, handle: F) -> Self
                where
                    F: Fn($request, Client) -> Fut + Send + Sync + 'static,
                    Fut: Future<Output = HandlerResult<<$request as Request>::Response>>
                        + Send
                        + 'static,
                {
                    self.on(<$request>::METHOD, handle)
                }
            )*
        }
    };
}

handlers! {
    /// Handles `session/request_permission`: asks the user.
    ///
    /// It is called when the updates before the question were handled, and runs beside those that follow.
    /// When the turn is cancelled, the question is answered with the outcome `cancelled` and the handler is dropped; a question that comes up later in that turn is answered so without asking.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::*};
    ///
    /// let builder = Client::builder().on_permission(|question, _client| async move {
    ///     // Allows whatever can be allowed once.
    ///     let option = question.options.iter().find(|it| it.kind == PermissionOptionKind::AllowOnce);
    ///     let outcome = match option {
    ///         Some(option) => {
    ///             let chosen = SelectedPermissionOutcome::new(option.option_id.clone());
    ///             RequestPermissionOutcome::Selected(chosen)
    ///         }
    ///         None => RequestPermissionOutcome::Cancelled,
    ///     };
    ///     Ok(RequestPermissionResponse::new(outcome))
    /// });
    /// ```
    ///
    /// Source: [Requesting permission](https://agentclientprotocol.com/protocol/v1/tool-calls#requesting-permission).
    RequestPermissionRequest: on_permission;

    /// Handles `elicitation/create`: asks the user for input. The client offers `elicitation.form` with it.
    ///
    /// One that belongs to a session comes in order with its updates, as a [permission request](Self::on_permission) does, and is answered with the action `cancel` when the turn is cancelled.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::*};
    ///
    /// let builder = Client::builder().on_elicitation(|question, _client| async move {
    ///     println!("{}", question.message);
    ///     Ok(CreateElicitationResponse::new(ElicitationAction::Decline))
    /// });
    /// ```
    ///
    /// Source: [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    CreateElicitationRequest: on_elicitation;

    /// Handles `fs/read_text_file`: the text of a file, with what the editor has not saved. The client offers `fs.readTextFile` with it.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::*};
    ///
    /// let builder = Client::builder().on_read_text_file(|request, _client| async move {
    ///     Ok(ReadTextFileResponse::new(std::fs::read_to_string(request.path)?))
    /// });
    /// ```
    ///
    /// Source: [File system](https://agentclientprotocol.com/protocol/v1/file-system#reading-files).
    ReadTextFileRequest: on_read_text_file;

    /// Handles `fs/write_text_file`: writes a file, and makes it if it is not there. The client offers `fs.writeTextFile` with it.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::*};
    ///
    /// let builder = Client::builder().on_write_text_file(|request, _client| async move {
    ///     std::fs::write(request.path, request.content)?;
    ///     Ok(WriteTextFileResponse::new())
    /// });
    /// ```
    ///
    /// Source: [File system](https://agentclientprotocol.com/protocol/v1/file-system#writing-files).
    WriteTextFileRequest: on_write_text_file;

    /// Handles `terminal/create`: starts a command, and answers without waiting for its end.
    ///
    /// The client offers `terminal` when all five methods of terminals have a handler.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::*};
    ///
    /// // Terminals that only pretend; the ready-made ones are registered with `terminals`.
    /// let builder = Client::builder()
    ///     .on_create_terminal(|request, _client| async move {
    ///         println!("{} {}", request.command, request.args.join(" "));
    ///         Ok(CreateTerminalResponse::new("terminal-1"))
    ///     })
    ///     .on_terminal_output(|_request, _client| async {
    ///         Ok(TerminalOutputResponse::new("done\n", false))
    ///     })
    ///     .on_wait_for_terminal_exit(|_request, _client| async {
    ///         Ok(WaitForTerminalExitResponse::new(TerminalExitStatus::new().exit_code(0)))
    ///     })
    ///     .on_kill_terminal(|_request, _client| async { Ok(KillTerminalResponse::new()) })
    ///     .on_release_terminal(|_request, _client| async { Ok(ReleaseTerminalResponse::new()) });
    /// ```
    ///
    /// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    CreateTerminalRequest: on_create_terminal;

    /// Handles `terminal/output`: what a command has written so far, and how it ended if it has.
    /// The example is at [`on_create_terminal`](Self::on_create_terminal).
    ///
    /// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    TerminalOutputRequest: on_terminal_output;

    /// Handles `terminal/wait_for_exit`: answers when a command has ended.
    /// The example is at [`on_create_terminal`](Self::on_create_terminal).
    ///
    /// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    WaitForTerminalExitRequest: on_wait_for_terminal_exit;

    /// Handles `terminal/kill`: ends a command, and keeps its terminal.
    /// The example is at [`on_create_terminal`](Self::on_create_terminal).
    ///
    /// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    KillTerminalRequest: on_kill_terminal;

    /// Handles `terminal/release`: ends a command that still runs, and frees its terminal.
    /// The example is at [`on_create_terminal`](Self::on_create_terminal).
    ///
    /// Source: [Terminals](https://agentclientprotocol.com/protocol/v1/terminals).
    ReleaseTerminalRequest: on_release_terminal;
}

impl ClientBuilder {
    /// Handles `elicitation/complete`: what the user was sent to a web page for is done. The client offers `elicitation.url` with it, if there is a [handler for elicitations](Self::on_elicitation) too.
    ///
    /// ```
    /// use endturn::{Client, schema::v1::*};
    ///
    /// let builder = Client::builder().on_elicitation_complete(|done, _client| async move {
    ///     println!("the user is back from {}", done.elicitation_id);
    /// });
    /// ```
    ///
    /// Source: [Elicitation](https://agentclientprotocol.com/protocol/v1/elicitation).
    pub fn on_elicitation_complete<F, Fut>(self, handle: F) -> Self
    where
        F: Fn(CompleteElicitationNotification, Client) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.on_notification(handle)
    }
}
