//! What this program is to the agent: its handlers, and what it offers.

use std::{io, path::Path, sync::Arc};

use endturn::{
    Client,
    client::{LocalFiles, LocalTerminals},
    schema::v1::{
        BooleanConfigOptionCapabilities, ClientCapabilities, ClientSessionCapabilities,
        Implementation, RequestPermissionResponse, SessionConfigOptionsCapabilities, SessionUpdate,
    },
    transport::Transport,
};

use super::{
    answer::Terminal,
    interactive::Words,
    permission::{Decision, Question},
    show::{Event, Show},
};
use crate::args::RunArgs;

/// Connects to the agent; nothing is said yet.
pub(super) fn connect(
    args: &RunArgs,
    cwd: &Path,
    show: &Show,
    words: &Words,
    terminal: &Terminal,
    transport: Transport,
) -> io::Result<Client> {
    let updates = show.clone();
    let stray = show.clone();
    let questions = show.clone();
    let words = words.clone();
    let decision = Arc::new(Decision::new(args.allow, terminal));
    let mut builder = Client::builder()
        .info(Implementation::new(
            env!("CARGO_BIN_NAME"),
            env!("CARGO_PKG_VERSION"),
        ))
        .adjust_capabilities(with_boolean_options)
        .request_timeout(args.handshake_timeout)
        .cancel_timeout(args.cancel_timeout)
        .on_update(move |notification, _client| {
            if let SessionUpdate::AvailableCommandsUpdate(update) = &notification.update {
                words.set_commands(&update.available_commands);
            }
            let show = updates.clone();
            async move { show.tell_update(notification.update).await }
        })
        .on_stray_output(move |line, advice| {
            let line = line.to_owned();
            stray.tell_if_room(Event::Stray { line, advice });
        })
        .on_permission(move |request, _client| {
            // Dropped with the handler if the turn is cancelled.
            let question = Question::new(request, questions.clone());
            let decision = Arc::clone(&decision);
            async move {
                let outcome = question.ask(&decision).await;
                Ok(RequestPermissionResponse::new(outcome))
            }
        });
    if !args.no_fs {
        builder = builder.files(LocalFiles::new(cwd)?);
    }
    if !args.no_terminal {
        builder = builder.terminals(LocalTerminals::new().root(cwd)?);
    }
    Ok(builder.connect(transport))
}

/// `--set` sets options that are on or off too.
fn with_boolean_options(offers: ClientCapabilities) -> ClientCapabilities {
    let options =
        SessionConfigOptionsCapabilities::new().boolean(BooleanConfigOptionCapabilities::new());
    offers.session(ClientSessionCapabilities::new().config_options(options))
}
