//! The blocking builder's methods for the requests that need nothing but a handler.

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

/// Makes a method for each request, and names its threads.
macro_rules! handlers {
    ($($(#[$attribute:meta])* $request:ident: $on:ident, |$it:pat_param| $name:expr;)*) => {
        impl ClientBuilder {
            $(
                $(#[$attribute])*
                ///
                #[doc = concat!(
                    "See [`ClientBuilder::", stringify!($on), "`](crate::client::ClientBuilder::",
                    stringify!($on), ")."
                )]
                pub fn $on<F>(self, handle: F) -> Self
                where
                    F: Fn($request, Client) -> HandlerResult<<$request as Request>::Response>
                        + Send
                        + Sync
                        + 'static,
                {
                    self.on(<$request>::METHOD, |$it: &$request| $name, handle)
                }
            )*
        }
    };
}

handlers! {
    /// Handles `session/request_permission`: asks the user, on a thread of its own that is named after the session.
    ///
    /// It is called when the updates before the question were handled, and runs beside those that follow.
    ///
    /// When the turn is cancelled, the question is answered with the outcome `cancelled`.
    /// Nothing can drop a thread, so the handler runs on until its function returns, and what it returns is discarded.
    RequestPermissionRequest: on_permission, |request| request.session_id.to_string();

    /// Handles `elicitation/create`: asks the user for input, on a thread of its own.
    ///
    /// One that belongs to a session comes in order with its updates, as a [permission request](Self::on_permission) does, and is answered with the action `cancel` when the turn is cancelled; the handler then runs on as described there.
    CreateElicitationRequest: on_elicitation, |_| "elicitation".to_owned();

    /// Handles `fs/read_text_file`, on a thread of its own that is named after the session.
    ReadTextFileRequest: on_read_text_file, |request| request.session_id.to_string();

    /// Handles `fs/write_text_file`, on a thread of its own that is named after the session.
    WriteTextFileRequest: on_write_text_file, |request| request.session_id.to_string();

    /// Handles `terminal/create`, on a thread of its own that is named after the session.
    CreateTerminalRequest: on_create_terminal, |request| request.session_id.to_string();

    /// Handles `terminal/output`, on a thread of its own that is named after the session.
    TerminalOutputRequest: on_terminal_output, |request| request.session_id.to_string();

    /// Handles `terminal/wait_for_exit`, on a thread of its own that is named after the session.
    WaitForTerminalExitRequest: on_wait_for_terminal_exit, |request| request.session_id.to_string();

    /// Handles `terminal/kill`, on a thread of its own that is named after the session.
    KillTerminalRequest: on_kill_terminal, |request| request.session_id.to_string();

    /// Handles `terminal/release`, on a thread of its own that is named after the session.
    ReleaseTerminalRequest: on_release_terminal, |request| request.session_id.to_string();
}

impl ClientBuilder {
    /// Handles `elicitation/complete`, on a thread of its own.
    ///
    /// See [`ClientBuilder::on_elicitation_complete`](crate::client::ClientBuilder::on_elicitation_complete).
    pub fn on_elicitation_complete<F>(self, handle: F) -> Self
    where
        F: Fn(CompleteElicitationNotification, Client) + Send + Sync + 'static,
    {
        self.on_notification(handle)
    }
}
