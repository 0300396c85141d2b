//! The agent of a script: its prompt handler does what the prompt says.

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use endturn::{
    Agent, CancellationSignal, HandlerResult, PromptContext,
    schema::v1::{
        CloseSessionResponse, NewSessionResponse, PermissionOption, PromptRequest, PromptResponse,
        ReadTextFileRequest, RequestPermissionRequest, RequestPermissionResponse, StopReason,
        ToolCallUpdate, ToolCallUpdateFields,
    },
};
use tokio::time::sleep;

use crate::{
    caller::{self, Caller, REFUSED},
    label,
    script::{AgentLimits, Ask, Ending, Program, Question, Step},
    trace::{End, Event, Finish, Kind, Trace},
};

const END: End = End::Agent;

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

pub(crate) fn agent(trace: &Trace, limits: AgentLimits) -> Agent {
    let [prompts, news, closes, cancels] = [(); 4].map(|()| trace.clone());
    Agent::builder()
        .cancel_grace_period(ms(limits.grace_period))
        .max_prompt_duration(ms(limits.max_duration))
        .request_timeout(ms(limits.request))
        .cascade_cancel(limits.cascade)
        .on_prompt(move |request, cx| prompt(prompts.clone(), limits, request, cx))
        .on_new_session(move |request, _| {
            let trace = news.clone();
            async move {
                caller::reply(&trace, END, request.meta).await?;
                Ok(NewSessionResponse::new("new"))
            }
        })
        .on_close_session(move |request, _| {
            let trace = closes.clone();
            async move {
                caller::reply(&trace, END, request.meta).await?;
                Ok(CloseSessionResponse::new())
            }
        })
        .on_cancel(move |notification| {
            let session = notification.session_id.to_string();
            cancels.record(END, Event::ToldOfCancel { session });
            async {}
        })
        .build()
}

async fn prompt(
    trace: Trace,
    limits: AgentLimits,
    request: PromptRequest,
    cx: PromptContext,
) -> HandlerResult<PromptResponse> {
    let label = label::read::<Program>(request.meta);
    let turn = Turn {
        trace,
        limits,
        name: label.call,
        cx,
        counter: AtomicU32::new(0),
    };
    turn.run(label.does).await
}

/// A turn whose handler runs.
struct Turn {
    trace: Trace,
    limits: AgentLimits,
    name: String,
    cx: PromptContext,
    /// Counts what needs a name of its own: questions, callbacks, senders.
    counter: AtomicU32,
}

impl Turn {
    fn record(&self, event: Event) {
        self.trace.record(END, event);
    }

    fn next(&self) -> u32 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    async fn run(self, program: Program) -> HandlerResult<PromptResponse> {
        self.record(Event::Begins {
            request: self.name.clone(),
            cancelled: self.cx.is_cancelled(),
        });
        let gone = Event::Gone {
            request: self.name.clone(),
        };
        let _gone = self.trace.on_drop(END, gone);
        for step in program.steps {
            self.take(step).await;
        }
        let (finish, reason) = match program.end {
            Ending::EndTurn => returns(StopReason::EndTurn),
            Ending::MaxTokens => returns(StopReason::MaxTokens),
            Ending::MaxTurnRequests => returns(StopReason::MaxTurnRequests),
            Ending::Refusal => returns(StopReason::Refusal),
            Ending::Cancelled => returns(StopReason::Cancelled),
            Ending::Fails => (Finish::Fails, None),
            Ending::Refuses => (Finish::Refuses(REFUSED.into()), None),
            Ending::Panics => (Finish::Panics, None),
            Ending::Hangs => std::future::pending().await,
        };
        self.record(Event::Finishes {
            request: self.name.clone(),
            finish: finish.clone(),
        });
        caller::end_with(&finish)?;
        let reason = reason.expect("a handler that returns has a reason");
        // It has to survive a cancel, which replaces the reason only.
        let meta = label::write(&self.name, &reason);
        Ok(PromptResponse::new(reason).meta(meta))
    }

    async fn take(&self, step: Step) {
        match step {
            Step::Updates(count) => {
                let sender = self.sender();
                sender.send(count, None).await;
            }
            Step::Sleep(time) => sleep(ms(time)).await,
            Step::WaitForCancel => {
                let turn = self.name.clone();
                self.record(Event::Waits { turn: turn.clone() });
                self.cx.cancelled().await;
                let cause = format!("{:?}", self.cx.cause().expect("it is cancelled"));
                self.record(Event::Notices { turn, cause });
            }
            Step::OnCancel { panics } => self.on_cancel(panics),
            Step::Ask(ask) => self.ask(ask).await,
            Step::AskElsewhere(ask) => drop(tokio::spawn(self.ask(ask))),
            Step::SendElsewhere { every, updates } => {
                let sender = self.sender();
                tokio::spawn(async move { sender.send(updates, Some(ms(every))).await });
            }
        }
    }

    fn on_cancel(&self, panics: bool) {
        let (turn, callback) = (self.name.clone(), self.next());
        self.record(Event::Registers {
            turn: turn.clone(),
            callback,
        });
        let trace = self.trace.clone();
        self.cx.on_cancel(move || {
            trace.record(END, Event::Called { turn, callback });
            if panics {
                caller::end_with(&Finish::Panics).ok();
            }
        });
    }

    fn sender(&self) -> Sender {
        Sender {
            trace: self.trace.clone(),
            cx: self.cx.clone(),
            name: format!("{}.{}", number(&self.name), self.next()),
        }
    }

    /// Asks the client something; nothing is sent before the future is polled.
    fn ask(&self, ask: Ask) -> impl Future<Output = ()> + Send + 'static {
        let call = format!("ask {}.{}", number(&self.name), self.next());
        let stop = CancellationSignal::new();
        let session = self.cx.session_id().clone();
        let meta = label::write(&call, &ask.reply);
        let permission = || {
            let tool = ToolCallUpdate::new(call.clone(), ToolCallUpdateFields::new());
            let options: Vec<PermissionOption> = Vec::new();
            RequestPermissionRequest::new(session.clone(), tool, options).meta(meta.clone())
        };
        let (limit, request) = match ask.what {
            Question::Permission => (0, self.cx.request(&permission())),
            Question::Impatient => {
                let method = "session/request_permission";
                let request = self.cx.request_raw(method, &permission());
                (self.limits.request, request)
            }
            Question::File => {
                let path = PathBuf::from("/file");
                let read = ReadTextFileRequest::new(session.clone(), path).meta(meta.clone());
                let method = "fs/read_text_file";
                // Nobody answers it with a result, so it does not matter which type that would have.
                (self.limits.request, self.cx.request_raw(method, &read))
            }
        };
        let request = request.cancel_when(&stop);
        let trace = self.trace.clone();
        let signals = {
            let (trace, call) = (trace.clone(), call.clone());
            async move {
                match ask.signals {
                    Some(time) => sleep(ms(time)).await,
                    None => std::future::pending().await,
                }
                trace.record(END, Event::Signals { call });
                stop.cancel();
            }
        };
        let leaves = async move {
            match ask.leaves {
                Some(time) => sleep(ms(time)).await,
                None => std::future::pending().await,
            }
        };
        let caller = Caller {
            trace,
            end: END,
            call,
            session: session.to_string(),
            kind: Kind::Plain,
            limit,
        };
        async move {
            let follow = caller.follow(request, leaves, |_: &RequestPermissionResponse| {
                String::new()
            });
            let mut follow = std::pin::pin!(follow);
            tokio::select! {
                biased;
                () = &mut follow => return,
                () = signals => {}
            }
            follow.await;
        }
    }
}

fn returns(reason: StopReason) -> (Finish, Option<StopReason>) {
    let finish = Finish::Returns(caller::stop_reason(&PromptResponse::new(reason)));
    (finish, Some(reason))
}

/// The number in a prompt's name.
fn number(prompt: &str) -> &str {
    prompt.trim_start_matches("prompt ")
}

/// Sends updates for a turn, which may be over.
struct Sender {
    trace: Trace,
    cx: PromptContext,
    name: String,
}

impl Sender {
    async fn send(self, count: u8, every: Option<Duration>) {
        for number in 0..count {
            if let Some(time) = every {
                sleep(time).await;
            }
            let update = format!("{}.{number}", self.name);
            let sends = Event::Sends {
                update: update.clone(),
            };
            self.trace.record(END, sends);
            let sent = self.cx.send_message(update.as_str()).await;
            let event = match sent {
                Ok(()) => Event::Sent { update },
                Err(_) => Event::Refused { update },
            };
            self.trace.record(END, event);
        }
    }
}
