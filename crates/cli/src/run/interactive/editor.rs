//! The line that is typed: editing, history, and whose the terminal is.
//!
//! There is an editor for one line at a time, because it takes SIGINT for itself as long as it lives, and during a turn that is not its business.
//! It may have read more than its line, so what is typed ahead, while a turn runs, is thrown away as a whole and never taken for half a prompt.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use rustyline::{
    CompletionType, Config, Editor as LineEditor,
    error::ReadlineError,
    history::{FileHistory, History},
};
use tokio::sync::oneshot;

use super::Words;
use crate::run::{
    answer::{Terminal, discard_typed},
    show::{Event, Show},
};

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
    terminal: Terminal,
    modes: Modes,
}

impl Editor {
    pub(super) fn start(
        words: Words,
        terminal: Terminal,
        history: bool,
        show: &Show,
    ) -> io::Result<Self> {
        let (wanted, requests) = mpsc::channel();
        let show = show.clone();
        let file = if history { state_file() } else { None };
        thread::Builder::new()
            .name("line editor".to_owned())
            .spawn(move || serve(&words, file.as_deref(), &requests, &show))?;
        Ok(Self {
            wanted,
            terminal,
            modes: Modes::save(),
        })
    }

    /// The next line; everything that was told before is written by then.
    ///
    /// Dropping the future gives the terminal back as it was.
    pub(super) async fn line(&self, show: &Show) -> Line {
        let _terminal = self.terminal.have().await;
        let mut typing = Typing {
            editor: self,
            show,
            given_up: true,
        };
        show.tell(Event::Typing);
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
            self.editor.modes.restore();
        }
        let given_up = self.given_up;
        self.show.tell(Event::Typed { given_up });
    }
}

/// Reads a line for each request, and keeps it.
fn serve(
    words: &Words,
    mut file: Option<&Path>,
    requests: &mpsc::Receiver<oneshot::Sender<Line>>,
    show: &Show,
) {
    let config = Config::builder()
        .auto_add_history(true)
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .build();
    let mut history = FileHistory::with_config(&config);
    if let Some(file) = file {
        match history.load(file) {
            Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => show.tell(warning("read", &error)),
            Ok(()) => {}
        }
    }
    for request in requests {
        // Whatever goes wrong with a terminal, it will not get better.
        let mut line = Line::End;
        if let Ok(mut editor) = LineEditor::with_history(config.clone(), history) {
            editor.set_helper(Some(words.clone()));
            line = read(&mut editor);
            history = std::mem::take(editor.history_mut());
        } else {
            history = FileHistory::with_config(&config);
        }
        if let (Line::Text(_), Some(path)) = (&line, file)
            && let Err(error) = keep(&mut history, path)
        {
            show.tell(warning("written", &error));
            // Once is enough.
            file = None;
        }
        if request.send(line).is_err() {
            return;
        }
    }
}

fn read(editor: &mut LineEditor<Words, FileHistory>) -> Line {
    discard_typed();
    match editor.readline(PROMPT) {
        Ok(text) => Line::Text(text.replace("\\\n", "\n")),
        Err(ReadlineError::Interrupted) => Line::TakenBack,
        Err(_) => Line::End,
    }
}

fn keep(history: &mut FileHistory, file: &Path) -> rustyline::Result<()> {
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir)?;
    }
    history.append(file)
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
struct Modes(Option<rustix::termios::Termios>);

#[cfg(unix)]
impl Modes {
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
struct Modes;

#[cfg(not(unix))]
impl Modes {
    fn save() -> Self {
        Self
    }

    fn restore(&self) {}
}
