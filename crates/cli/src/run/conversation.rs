//! What is said between this program and the agent, from the handshake to the end.

use std::{ffi::OsString, path::PathBuf};

use endturn::transport::{AgentProcess, Transport};

use super::{
    answer::Terminal,
    client,
    interactive::{self, Words},
    list,
    outcome::{Outcome, Trouble},
    prompt::Task,
    session::{self, Session},
    show::{Event, Show},
    turn::Turn,
};
use crate::args::RunArgs;

/// Everything that a conversation needs.
pub(super) struct Conversation<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) cwd: PathBuf,
    pub(super) show: &'a Show,
    pub(super) turn: &'a Turn,
    pub(super) agent: &'a AgentProcess,
    pub(super) command: &'a [OsString],
}

impl Conversation<'_> {
    /// From the handshake to the end.
    pub(super) async fn hold(self, task: Task, transport: Transport) -> Result<Outcome, Trouble> {
        let (words, terminal) = (Words::default(), Terminal::default());
        let client = client::connect(
            self.args, &self.cwd, self.show, &words, &terminal, transport,
        )
        .map_err(Trouble::Local)?;
        session::initialize(&client).await?;
        if let Task::List = task {
            let cwd = self.args.cwd.as_ref().map(|_| self.cwd.as_path());
            if list::list(&client, self.show, cwd).await? == 0 {
                let none = "The agent has no saved sessions.\n".to_owned();
                self.show.tell(Event::Notice(none));
            }
            return Ok(Outcome::Done);
        }
        let session = Session::open(&client, self.show, self.args, &self.cwd).await?;
        match task {
            Task::Prompt(text) => {
                let answer = session.prompt(&text, self.turn, self.args).await?;
                Ok(Outcome::Answered(answer))
            }
            Task::Converse | Task::List => {
                interactive::converse(&self, &client, &session, &words, &terminal).await?;
                Ok(Outcome::Done)
            }
        }
    }
}
