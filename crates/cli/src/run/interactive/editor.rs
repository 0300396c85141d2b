//! The line that is typed: editing, history, and whose the terminal is.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use rustyline::{
    CompletionType, Config, Editor as LineEditor, error::ReadlineError, history::FileHistory,
};
use tokio::sync::oneshot;

use super::Words;
use crate::run::show::{Event, Printer, Show};

/// How many lines the history has.
const HISTORY_LENGTH: usize = 1000;

const PROMPT: &str = "> ";

/// What the user has typed.
pub(super) enum Line {
    Text(String),
    /// Ctrl-C.
    TakenBack,
    /// Ctrl-D, or the terminal is gone.
    End,
}

/// Reads lines on a thread of its own, since a read from a terminal can neither be taken back nor be waited for at the exit.
pub(super) struct Editor {
    wanted: mpsc::Sender<oneshot::Sender<Line>>,
    printer: Option<Printer>,
    terminal: Terminal,
}

impl Editor {
    pub(super) fn start(words: Words, history: bool, show: &Show) -> io::Result<Self> {
        let terminal = Terminal::save();
        let (wanted, requests) = mpsc::channel();
        let (ready, is_ready) = mpsc::channel();
        let show = show.clone();
        thread::Builder::new()
            .name("line editor".to_owned())
            .spawn(move || {
                let mut editor = match editor(words) {
                    Ok(editor) => editor,
                    // The receiver waits for this or the other one.
                    Err(error) => return drop(ready.send(Err(error))),
                };
                // A terminal that cannot move its cursor has no line that anything could run into.
                let printer = editor.create_external_printer().ok().map(Printer::new);
                drop(ready.send(Ok(printer)));
                let history = if history { state_file() } else { None };
                serve(&mut editor, history.as_deref(), &requests, &show);
            })?;
        let printer = is_ready
            .recv()
            .map_err(io::Error::other)?
            .map_err(io::Error::other)?;
        Ok(Self {
            wanted,
            printer,
            terminal,
        })
    }

    /// The next line; everything that was told before is written by then.
    ///
    /// Dropping the future gives the terminal back as it was.
    pub(super) async fn line(&self, show: &Show) -> Line {
        let mut typing = Typing {
            editor: self,
            show,
            given_up: true,
        };
        show.tell(Event::Typing(self.printer.clone()));
        show.reached().await;
        let (sender, line) = oneshot::channel();
        let line = match self.wanted.send(sender) {
            Ok(()) => line.await.unwrap_or(Line::End),
            Err(_) => Line::End,
        };
        typing.given_up = false;
        line
    }
}

/// As long as this lives, the terminal is the user's.
struct Typing<'a> {
    editor: &'a Editor,
    show: &'a Show,
    given_up: bool,
}

impl Drop for Typing<'_> {
    fn drop(&mut self) {
        if self.given_up {
            self.editor.terminal.restore();
        }
        let given_up = self.given_up;
        self.show.tell(Event::Typed { given_up });
    }
}

fn editor(words: Words) -> rustyline::Result<LineEditor<Words, FileHistory>> {
    let config = Config::builder()
        .auto_add_history(true)
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .max_history_size(HISTORY_LENGTH)?
        .build();
    let mut editor = LineEditor::with_config(config)?;
    editor.set_helper(Some(words));
    Ok(editor)
}

/// Reads a line for each request, and keeps it.
fn serve(
    editor: &mut LineEditor<Words, FileHistory>,
    mut history: Option<&Path>,
    requests: &mpsc::Receiver<oneshot::Sender<Line>>,
    show: &Show,
) {
    if let Some(file) = history {
        match editor.load_history(file) {
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => show.tell(warning("read", &error)),
            Ok(()) => {}
        }
    }
    for request in requests {
        let line = match editor.readline(PROMPT) {
            Ok(text) => Line::Text(text.replace("\\\n", "\n")),
            Err(ReadlineError::Interrupted) => Line::TakenBack,
            // Whatever else goes wrong with a terminal, it will not get better.
            Err(_) => Line::End,
        };
        if let (Line::Text(_), Some(file)) = (&line, history)
            && let Err(error) = keep(editor, file)
        {
            show.tell(warning("written", &error));
            // Once is enough.
            history = None;
        }
        if request.send(line).is_err() {
            return;
        }
    }
}

fn keep(editor: &mut LineEditor<Words, FileHistory>, file: &Path) -> rustyline::Result<()> {
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir)?;
    }
    editor.append_history(file)
}

fn warning(what: &str, error: &ReadlineError) -> Event {
    Event::Warning(format!("the history cannot be {what}: {error}"))
}

/// Where the history is kept: in the user's state directory, if there is one.
fn state_file() -> Option<PathBuf> {
    let dir = |name| {
        let dir = PathBuf::from(env::var_os(name)?);
        // The specification of these variables has relative ones ignored.
        dir.is_absolute().then_some(dir)
    };
    let state = if cfg!(windows) {
        dir("LOCALAPPDATA")?
    } else {
        dir("XDG_STATE_HOME").or_else(|| Some(dir("HOME")?.join(".local/state")))?
    };
    Some(state.join("endturn").join("history"))
}

/// How the terminal was before anybody changed it.
#[cfg(unix)]
struct Terminal(Option<rustix::termios::Termios>);

#[cfg(unix)]
impl Terminal {
    fn save() -> Self {
        Self(rustix::termios::tcgetattr(io::stdin()).ok())
    }

    fn restore(&self) {
        use rustix::termios::{OptionalActions, tcsetattr};
        if let Some(saved) = &self.0 {
            // A terminal that is gone needs no settings.
            let _ = tcsetattr(io::stdin(), OptionalActions::Drain, saved);
        }
    }
}

/// The console takes its mode back by itself when its program ends.
#[cfg(not(unix))]
struct Terminal;

#[cfg(not(unix))]
impl Terminal {
    fn save() -> Self {
        Self
    }

    fn restore(&self) {}
}
