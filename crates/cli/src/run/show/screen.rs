//! The task that writes, from outside.

use std::io;

use tokio::{sync::mpsc, task::JoinHandle};

use super::{Render, Show, json::Json, text::Text, writer::Writer};

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
