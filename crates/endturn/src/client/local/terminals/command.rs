//! From a request to something that can be started.

use std::{
    io::{self, PipeReader},
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use super::options::Options;
use crate::{client::local::invalid, schema::v1};

/// The command, and the end of the pipe that its output comes out of.
pub(super) fn prepare(
    request: &v1::CreateTerminalRequest,
    options: &Options,
) -> Result<(Command, PipeReader), v1::Error> {
    let dir = working_directory(request, options)?;
    let mut command = program(request, dir.as_deref());
    if let Some(dir) = dir {
        command.current_dir(dir);
    }
    for variable in &request.env {
        let (name, value) = (&variable.name, &variable.value);
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            let reason = "a variable has no name, or there is a `=` or NUL where none may be";
            return Err(invalid("env", reason));
        }
        command.env(name, value);
    }
    let (reader, writer) = one_pipe().map_err(|error| cannot_start(request, &error))?;
    command.stdin(Stdio::null());
    command.stdout(writer.0).stderr(writer.1);
    Ok((command, reader))
}

/// A pipe with two ends to write to, so that output and errors stay in order.
fn one_pipe() -> io::Result<(PipeReader, (Stdio, Stdio))> {
    let (reader, writer) = io::pipe()?;
    let other = writer.try_clone()?;
    Ok((reader, (writer.into(), other.into())))
}

/// Where the command runs; `None` is where this program does.
fn working_directory(
    request: &v1::CreateTerminalRequest,
    options: &Options,
) -> Result<Option<PathBuf>, v1::Error> {
    let Some(asked) = &request.cwd else {
        return Ok(options.roots.first().map(|root| root.given.clone()));
    };
    if !asked.is_absolute() {
        return Err(invalid("cwd", "it is not absolute"));
    }
    let canonical = asked.canonicalize().ok().filter(|path| path.is_dir());
    let inside = |path: &Path| {
        let mut roots = options.roots.iter();
        options.roots.is_empty() || roots.any(|root| path.starts_with(&root.canonical))
    };
    match canonical {
        Some(canonical) if inside(&canonical) => Ok(Some(asked.clone())),
        // What is outside the roots is not told from what is missing there.
        Some(_) | None if !options.roots.is_empty() => Err(invalid(
            "cwd",
            "it is no directory in those that this client serves",
        )),
        Some(_) | None => Err(invalid("cwd", "it is no directory")),
    }
}

fn program(request: &v1::CreateTerminalRequest, dir: Option<&Path>) -> Command {
    let name = Path::new(&request.command);
    let here = dir.unwrap_or_else(|| Path::new("")).join(name);
    let is_path = name.components().count() > 1 || name.has_root();
    if request.args.is_empty() && is_shell_line(&request.command) && !(is_path && here.is_file()) {
        return shell(&request.command);
    }
    // Otherwise it would depend on the system which directory a relative path counts from.
    let mut command = if is_path {
        Command::new(here)
    } else {
        Command::new(name)
    };
    command.args(&request.args);
    command
}

/// Whether something stands in it that only a shell understands.
fn is_shell_line(command: &str) -> bool {
    command.contains(|char: char| {
        char.is_whitespace()
            || "|&;<>()$`\"'*?[]{}~#".contains(char)
            // On Windows the one parts a path.
            || (cfg!(unix) && char == '\\')
    })
}

#[cfg(unix)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line);
    command
}

#[cfg(windows)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd.exe");
    // `/s` takes the outermost quotes away and leaves the line as it is.
    command
        .args(["/d", "/s", "/c"])
        .raw_arg(format!("\"{line}\""));
    command
}

/// What an agent is told if the system will not start its command.
pub(super) fn cannot_start(request: &v1::CreateTerminalRequest, error: &io::Error) -> v1::Error {
    let kind = error.kind();
    tracing::debug!(command = request.command, %error, "cannot start the agent's command");
    if kind == io::ErrorKind::NotFound {
        return invalid("command", "there is no such program");
    }
    if is_no_program(error) {
        return invalid("command", "it is not a program");
    }
    if kind == io::ErrorKind::PermissionDenied
        || kind == io::ErrorKind::InvalidInput
        || kind == io::ErrorKind::ArgumentListTooLong
        || kind == io::ErrorKind::NotADirectory
        || kind == io::ErrorKind::ExecutableFileBusy
    {
        return invalid("command", format!("it cannot be started: {kind}"));
    }
    let reason = format!("the command cannot be started: {kind}");
    v1::Error::internal_error().data(serde_json::json!({ "reason": reason }))
}

/// A file that is executable and nothing that the system can execute; that has no kind of its own.
fn is_no_program(error: &io::Error) -> bool {
    #[cfg(unix)]
    let code = rustix::io::Errno::NOEXEC.raw_os_error();
    // ERROR_BAD_EXE_FORMAT
    #[cfg(windows)]
    let code = 193;
    error.raw_os_error() == Some(code)
}
