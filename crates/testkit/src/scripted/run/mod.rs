//! What a script does.

mod client;
mod tools;

use std::{ops::ControlFlow, time::Duration};

use endturn::{
    HandlerError, HandlerResult, PromptContext,
    schema::v1::{
        Error, PlanEntry, PlanEntryPriority, PlanEntryStatus, PromptResponse, StopReason,
        ToolCallId,
    },
};
use tokio::time::{Instant, sleep};

use super::{
    script::{STEPS, Step},
    sessions::{Sessions, Settings},
};

/// A turn that carries out a script.
struct Turn<'a> {
    cx: &'a PromptContext,
    sessions: &'a Sessions,
}

/// Runs a script to its end, and gives the answer to the prompt.
pub(super) async fn run(
    steps: Vec<Step>,
    cx: &PromptContext,
    sessions: &Sessions,
) -> HandlerResult<PromptResponse> {
    let turn = Turn { cx, sessions };
    let mut response = PromptResponse::new(StopReason::EndTurn);
    for (number, step) in steps.into_iter().enumerate() {
        if let Step::Meta(meta) = step {
            response = response.meta(meta);
        } else if let ControlFlow::Break(reason) = turn.take(step, number + 1).await? {
            response.stop_reason = reason;
            break;
        }
    }
    Ok(response)
}

impl Turn<'_> {
    async fn take(&self, step: Step, number: usize) -> HandlerResult<ControlFlow<StopReason>> {
        let cx = self.cx;
        let call = ToolCallId::new(format!("call-{number}"));
        match step {
            Step::Steps { count, pause } => return self.steps(count, pause).await,
            Step::Say(text) => self.say(text).await?,
            Step::Think(text) => {
                if self.settings()?.thinking {
                    cx.send_thought(text).await?;
                }
            }
            Step::Sleep(duration) => {
                tokio::select! {
                    () = sleep(duration) => {}
                    () = cx.cancelled() => {}
                }
            }
            Step::Ignore(duration) => sleep(duration).await,
            Step::Wait => cx.cancelled().await,
            Step::Hang => std::future::pending().await,
            Step::Flood { count, bytes } => {
                let text = "x".repeat(bytes);
                for _ in 0..count {
                    if cx.is_cancelled() {
                        return Ok(ControlFlow::Break(StopReason::Cancelled));
                    }
                    self.say(text.as_str()).await?;
                }
            }
            Step::Ask(title) => self.ask(call, title).await?,
            Step::Elicit(message) => self.elicit(message).await?,
            Step::Tool { title, duration } => self.tool(call, title, duration).await?,
            Step::Read(path) => self.read(call, &path).await?,
            Step::Write { path, text } => self.write(call, &path, text).await?,
            Step::Run(command) => self.run(call, command).await?,
            Step::Plan(entries) => self.plan(&entries).await?,
            Step::Usage { used, size } => cx.send_usage(used, size).await?,
            Step::Title(title) => {
                self.sessions.set_title(cx.session_id(), &title);
                cx.send_title(title).await?;
            }
            Step::Mode(mode) => {
                self.choose(|settings| settings.mode = mode)?;
                cx.send_mode(mode.id()).await?;
            }
            Step::Set(setting) => {
                let settings = self.choose(|settings| settings.set(setting))?;
                let booleans = cx.client()?.supports_boolean_config_options();
                cx.send_config_options(settings.options(booleans)).await?;
            }
            Step::Late(text) => {
                tokio::spawn(late(text, cx.clone()));
            }
            Step::Fail(message) => return Err(HandlerError::internal(message)),
            Step::Error { code, message } => Err(Error::new(code, message))?,
            Step::Panic => panic!("the script wants it"),
            Step::End(reason) => return Ok(ControlFlow::Break(reason)),
            Step::Help => self.say(STEPS).await?,
            Step::Meta(_) => unreachable!("it is about the answer, not about the turn"),
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Sends a piece of the answer, and keeps it in the session's history.
    async fn say(&self, text: impl Into<String>) -> HandlerResult<()> {
        let text = text.into();
        self.sessions.said(self.cx.session_id(), &text);
        Ok(self.cx.send_message(text).await?)
    }

    fn settings(&self) -> HandlerResult<Settings> {
        Ok(self.sessions.settings(self.cx.session_id())?)
    }

    fn choose(&self, change: impl FnOnce(&mut Settings)) -> HandlerResult<Settings> {
        Ok(self.sessions.choose(self.cx.session_id(), change)?)
    }

    async fn steps(&self, count: u32, pause: Duration) -> HandlerResult<ControlFlow<StopReason>> {
        for step in 1..=count {
            if self.cx.is_cancelled() {
                self.say(format!("[Cancelled at step {step}]")).await?;
                return Ok(ControlFlow::Break(StopReason::Cancelled));
            }
            self.say(format!("Step {step}/{count}... ")).await?;
            sleep(pause).await;
        }
        self.say("All steps completed!").await?;
        Ok(ControlFlow::Continue(()))
    }

    /// Shows a plan, and carries out one entry after the other, until the turn is cancelled.
    async fn plan(&self, entries: &[String]) -> HandlerResult<()> {
        // In which state an entry is when so many are done, and whether the next one is being worked on.
        let send = async |done: usize, working: bool| {
            let entries = entries.iter().enumerate().map(|(place, text)| {
                let status = match place.cmp(&done) {
                    std::cmp::Ordering::Less => PlanEntryStatus::Completed,
                    std::cmp::Ordering::Equal if working => PlanEntryStatus::InProgress,
                    std::cmp::Ordering::Equal | std::cmp::Ordering::Greater => {
                        PlanEntryStatus::Pending
                    }
                };
                PlanEntry::new(text.as_str(), PlanEntryPriority::Medium, status)
            });
            self.cx.send_plan(entries.collect()).await
        };
        send(0, false).await?;
        for done in 0..=entries.len() {
            if self.cx.is_cancelled() {
                break;
            }
            send(done, true).await?;
        }
        Ok(())
    }
}

/// What an agent must not do, and many do: it goes on sending when its turn may be over.
async fn late(text: String, cx: PromptContext) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        sleep(Duration::from_millis(10)).await;
        // That the turn is over is the very thing to be ignored here.
        drop(cx.send_message(text.as_str()).await);
    }
}
