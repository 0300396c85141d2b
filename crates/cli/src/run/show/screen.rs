//! The task that writes.

use std::{
    env,
    io::{self, IsTerminal},
    time::Duration,
};

use tokio::{
    io::{AsyncWriteExt, Stderr, Stdout},
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::{MissedTickBehavior, interval},
};

use super::{
    DecidedBy, Event, Message, Printer, ROOM, Render, Show,
    json::Json,
    page::Page,
    progress::{Phase, Progress},
    text::Text,
};
use crate::{
    run::outcome::Outcome,
    style::{Styles, error_lines, labelled, one_line},
};

/// How many lines that are no messages are shown to people; after that they know.
const STRAY_SHOWN: usize = 3;

/// Clears the line that the cursor is on.
const CLEAR_LINE: &str = "\r\x1b[K";

/// The handle of the task.
pub(in crate::run) struct Screen {
    task: JoinHandle<io::Result<()>>,
    end: Option<io::Result<()>>,
}

impl Screen {
    /// Starts the task; it writes what it is told until it is told to finish, or cannot write.
    pub(in crate::run) fn start(json: bool) -> (Show, Self) {
        let (events, received) = mpsc::unbounded_channel();
        let renderer: Box<dyn Render> = if json {
            Box::new(Json)
        } else {
            Box::new(Text::default())
        };
        let task = tokio::spawn(Writer::new(renderer, !json).run(received));
        (Show::new(events), Self { task, end: None })
    }

    /// Waits until nothing more is written.
    pub(in crate::run) async fn ended(&mut self) {
        if self.end.is_none() {
            let end = (&mut self.task).await;
            self.end = Some(end.unwrap_or_else(|error| Err(io::Error::other(error))));
        }
    }

    /// Why nothing more is written, if it was not told to finish and did.
    pub(in crate::run) fn into_result(self) -> io::Result<()> {
        self.end.unwrap_or(Ok(()))
    }
}

struct Writer {
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
    /// A line is being typed, and this writes above it.
    printer: Option<Printer>,
    /// Whether people read what is on standard output.
    for_people: bool,
    stray: usize,
    ended: bool,
}

impl Writer {
    fn new(renderer: Box<dyn Render>, for_people: bool) -> Self {
        let stderr_seen = io::stderr().is_terminal();
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
            printer: None,
            for_people,
            stray: 0,
            ended: false,
        }
    }

    async fn run(mut self, mut events: mpsc::UnboundedReceiver<Message>) -> io::Result<()> {
        let mut tick = interval(Duration::from_secs(1));
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut batch = Vec::new();
        loop {
            tokio::select! {
                received = events.recv_many(&mut batch, ROOM) => {
                    let mut finish = received == 0;
                    for message in &mut batch {
                        finish |= matches!(message.event, Event::Finish);
                        self.show(&mut message.event).await?;
                    }
                    self.flush().await?;
                    if finish {
                        self.clear_progress().await;
                        return Ok(());
                    }
                    // Only now is there room for more.
                    batch.clear();
                }
                _ = tick.tick(), if self.progress_on => self.show_progress().await,
            }
        }
    }

    async fn show(&mut self, event: &mut Event) -> io::Result<()> {
        match event {
            // The end is the last there is to see of a turn, whatever else the agent sends.
            Event::Warning(text) => {
                let text = labelled(self.styles.warning, "warning", text);
                return self.note(&text).await;
            }
            Event::Notice(text) if self.for_people => return self.note(text).await,
            Event::Finish | Event::Notice(_) => return Ok(()),
            Event::Reached(sender) => {
                self.flush().await?;
                // Whoever wanted to know may be gone.
                let _ = std::mem::replace(sender, oneshot::channel().0).send(());
                return Ok(());
            }
            Event::Typing(printer) => return self.typing(printer.take()).await,
            Event::Typed { given_up } => return self.typed(*given_up).await,
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

    /// The user gets the terminal, at the beginning of a line.
    async fn typing(&mut self, printer: Option<Printer>) -> io::Result<()> {
        self.page.fresh_line();
        self.flush().await?;
        self.clear_progress().await;
        self.progress.enter(Phase::Typing);
        self.printer = printer;
        Ok(())
    }

    /// The terminal is this program's again.
    async fn typed(&mut self, given_up: bool) -> io::Result<()> {
        self.flush().await?;
        self.printer = None;
        if given_up {
            self.write_stderr("\n").await;
        }
        self.progress.enter(Phase::Running);
        Ok(())
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
        if let Some(printer) = &self.printer {
            // It ends a line that is open.
            self.page.line_was_ended();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            printer.print(text).await;
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
        if let Some(printer) = &self.printer {
            return printer.print(text.to_owned()).await;
        }
        // Whoever has closed it does not want to know.
        let _ = self.stderr.write_all(text.as_bytes()).await;
        let _ = self.stderr.flush().await;
    }
}
