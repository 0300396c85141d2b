//! The task that writes.

use std::{
    env,
    io::{self, IsTerminal},
    time::Duration,
};

use tokio::{
    io::{AsyncWriteExt, Stderr, Stdout},
    sync::{mpsc, oneshot},
    time::{MissedTickBehavior, interval},
};

use super::{
    DecidedBy, Event, Message, ROOM, Render,
    page::Page,
    progress::{Phase, Progress},
};
use crate::{
    run::outcome::Outcome,
    style::{Styles, error_lines, labelled, one_line},
};

/// How many lines that are no messages are shown to people; after that they know.
const STRAY_SHOWN: usize = 3;

/// Clears the line that the cursor is on.
const CLEAR_LINE: &str = "\r\x1b[K";

/// On standard error, unless only the other stream is on a terminal.
enum Notices {
    Stdout,
    Stderr,
}

/// Writes what is shown, and knows what stands on the terminal.
pub(super) struct Writer {
    renderer: Box<dyn Render>,
    page: Page,
    stdout: Stdout,
    stderr: Stderr,
    /// For standard error.
    styles: Styles,
    /// Both streams are seen in one place.
    one_terminal: bool,
    /// Whether progress can be shown.
    progress_on: bool,
    progress: Progress,
    progress_shown: bool,
    question_open: bool,
    /// The terminal is the user's, who types a line.
    typing: bool,
    /// What came meanwhile; with the room that it takes, so that nobody sends without end.
    held: Vec<Message>,
    /// Where notices go, unless a program reads the output.
    notices: Option<Notices>,
    stray: usize,
    ended: bool,
}

impl Writer {
    pub(super) fn new(renderer: Box<dyn Render>, for_people: bool) -> Self {
        let stderr_seen = io::stderr().is_terminal();
        let notices = if io::stdout().is_terminal() && !stderr_seen {
            Notices::Stdout
        } else {
            Notices::Stderr
        };
        Self {
            renderer,
            page: Page::new(Styles::for_stream(&io::stdout())),
            stdout: tokio::io::stdout(),
            stderr: tokio::io::stderr(),
            styles: Styles::for_stream(&io::stderr()),
            one_terminal: stderr_seen && io::stdout().is_terminal(),
            progress_on: stderr_seen && env::var_os("TERM").is_none_or(|term| term != "dumb"),
            progress: Progress::new(),
            progress_shown: false,
            question_open: false,
            typing: false,
            held: Vec::new(),
            notices: for_people.then_some(notices),
            stray: 0,
            ended: false,
        }
    }

    pub(super) async fn run(
        mut self,
        mut events: mpsc::UnboundedReceiver<Message>,
    ) -> io::Result<()> {
        let mut tick = interval(Duration::from_secs(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut batch, mut written) = (Vec::new(), Vec::new());
        loop {
            tokio::select! {
                received = events.recv_many(&mut batch, ROOM) => {
                    let mut finish = received == 0;
                    for message in batch.drain(..) {
                        finish |= matches!(message.event, Event::Finish);
                        self.take(message, &mut written).await?;
                    }
                    self.flush().await?;
                    if finish {
                        self.clear_progress().await;
                        return Ok(());
                    }
                    // Only now is there room for more.
                    written.clear();
                }
                _ = tick.tick(), if self.progress_on => self.show_progress().await,
            }
        }
    }

    /// Shows an event, or keeps it until the line is typed.
    async fn take(&mut self, mut message: Message, written: &mut Vec<Message>) -> io::Result<()> {
        if self.typing && message.event.can_wait() {
            self.held.push(message);
            return Ok(());
        }
        self.show(&mut message.event).await?;
        written.push(message);
        if !self.typing {
            for mut message in std::mem::take(&mut self.held) {
                self.show(&mut message.event).await?;
                written.push(message);
            }
        }
        Ok(())
    }

    async fn show(&mut self, event: &mut Event) -> io::Result<()> {
        match event {
            // The end is the last there is to see of a turn, whatever else the agent sends.
            Event::Warning(text) => {
                let text = labelled(self.styles.warning, "warning", text);
                return self.note(&text).await;
            }
            Event::Notice(text) => return self.notice(text).await,
            Event::Finish => return Ok(()),
            Event::Reached(sender) => {
                self.flush().await?;
                // Whoever wanted to know may be gone.
                let _ = std::mem::replace(sender, oneshot::channel().0).send(());
                return Ok(());
            }
            Event::Typing => return self.typing().await,
            Event::Typed { given_up } => {
                self.typed(*given_up).await;
                return Ok(());
            }
            Event::Question(text) => {
                self.note(text).await?;
                self.question_open = true;
            }
            Event::Permission { by, .. } => self.close_question(*by).await,
            Event::Stray { line, advice } if !self.ended => {
                self.warn_of_stray(line, advice).await?
            }
            Event::Session { .. } => self.progress.enter(Phase::Running),
            Event::Cancel(_) => self.progress.enter(Phase::Cancelling),
            Event::Update(_) | Event::Listed(_) => self.progress.restart(),
            Event::Stray { .. }
            | Event::Mode(_)
            | Event::Options(_)
            | Event::TurnOver(_)
            | Event::End(_) => {}
        }
        if !self.ended {
            self.renderer.render(event, &mut self.page);
        }
        if let Event::End(_) = event {
            self.ended = true;
            self.progress.enter(Phase::Stopping);
        }
        if let Event::End(outcome) | Event::TurnOver(outcome) = event {
            self.flush().await?;
            if let Outcome::Failed(failure) = outcome {
                let text = error_lines(&self.styles, &failure.message, failure.hint.as_deref());
                self.note(&text).await?;
            }
        }
        Ok(())
    }

    /// Says something to people, where they look.
    async fn notice(&mut self, text: &str) -> io::Result<()> {
        match self.notices {
            Some(Notices::Stderr) => self.note(text).await?,
            Some(Notices::Stdout) => self.page.line(text.trim_end()),
            None => {}
        }
        Ok(())
    }

    /// The user gets the terminal, at the beginning of a line.
    async fn typing(&mut self) -> io::Result<()> {
        self.page.fresh_line();
        self.flush().await?;
        self.clear_progress().await;
        self.progress.enter(Phase::Typing);
        self.typing = true;
        Ok(())
    }

    /// The terminal is this program's again.
    async fn typed(&mut self, given_up: bool) {
        self.typing = false;
        if given_up {
            self.write_stderr("\n").await;
        }
        self.progress.enter(Phase::Running);
    }

    async fn warn_of_stray(&mut self, line: &str, advice: &str) -> io::Result<()> {
        self.stray += 1;
        if self.stray > STRAY_SHOWN {
            return Ok(());
        }
        let mut text = format!(
            "the agent wrote a line that is no message: `{}`; {advice}",
            one_line(line, 200)
        );
        if self.stray == STRAY_SHOWN {
            text += "; further ones are not shown";
        }
        let text = labelled(self.styles.warning, "warning", &text);
        self.note(&text).await
    }

    /// The cursor stands behind a question, unless the user has typed Enter.
    async fn close_question(&mut self, by: DecidedBy) {
        if std::mem::take(&mut self.question_open) && !matches!(by, DecidedBy::User) {
            self.write_stderr("\n").await;
        }
        self.progress.restart();
    }

    /// Writes to standard error, on a line of its own.
    async fn note(&mut self, text: &str) -> io::Result<()> {
        self.flush().await?;
        self.clear_progress().await;
        if self.one_terminal && self.page.is_mid_line() {
            self.end_line().await;
        }
        self.write_stderr(text).await;
        Ok(())
    }

    /// Writes what has come together for standard output.
    async fn flush(&mut self) -> io::Result<()> {
        let bytes = self.page.take();
        if bytes.is_empty() {
            return Ok(());
        }
        self.clear_progress().await;
        self.stdout.write_all(&bytes).await?;
        self.stdout.flush().await
    }

    async fn show_progress(&mut self) {
        let Some(line) = self.progress.line() else {
            return;
        };
        let after_text = self.one_terminal && self.page.is_mid_line();
        if self.question_open || (after_text && !self.progress.is_worth_a_line()) {
            return;
        }
        if after_text {
            self.end_line().await;
        }
        self.progress_shown = true;
        let aside = self.styles.aside;
        self.write_stderr(&format!("{CLEAR_LINE}{aside}{line}{aside:#}"))
            .await;
    }

    /// Ends a line that standard output has left open on the terminal; a file would not have it ended there.
    async fn end_line(&mut self) {
        self.write_stderr("\n").await;
        self.page.line_was_ended();
    }

    async fn clear_progress(&mut self) {
        if std::mem::take(&mut self.progress_shown) {
            self.write_stderr(CLEAR_LINE).await;
        }
    }

    async fn write_stderr(&mut self, text: &str) {
        // Whoever has closed it does not want to know.
        let _ = self.stderr.write_all(text.as_bytes()).await;
        let _ = self.stderr.flush().await;
    }
}
