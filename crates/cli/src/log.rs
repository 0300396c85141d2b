//! What the libraries log, on standard error.

use std::{env, io};

use tracing_subscriber::EnvFilter;

use crate::{args::Command, style};

/// Starts logging as `RUST_LOG` says, or with what somebody should know in any case.
pub(crate) fn start(command: &Command) {
    let filter = match env::var("RUST_LOG") {
        // What cannot be read of it is named on standard error and skipped: the variable may be meant for another program.
        Ok(directives) if !directives.is_empty() => EnvFilter::builder().parse_lossy(directives),
        _ => EnvFilter::new(default(command)),
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(style::coloured(&io::stderr()))
        // A closed standard error is no reason to panic.
        .log_internal_errors(false)
        .init();
}

fn default(command: &Command) -> &'static str {
    match command {
        // Standard error is where an agent's log belongs.
        Command::Agent(_) => "warn",
        // What the connection warns of is shown by the program itself, in its own words.
        Command::Run(_) => "warn,endturn::connection=error,endturn::client::builder=error",
    }
}
