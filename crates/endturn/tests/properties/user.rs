//! The client of a script, and the user who works with it.

use std::{future::poll_fn, panic::resume_unwind, pin::Pin, task::Poll, time::Duration};

use endturn::{
    CancellationSignal, Client,
    schema::{
        ProtocolVersion,
        v1::{
            CloseSessionRequest, ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest,
            PromptResponse, RequestPermissionOutcome, RequestPermissionResponse,
            SelectedPermissionOutcome, SessionNotification, SessionUpdate,
        },
    },
    transport::Transport,
};
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    caller::{self, Caller},
    label,
    script::{Action, ClientLimits, Program, Reply, Session, Updates, Way},
    trace::{End, Event, Finish, Kind, Trace},
};

const END: End = End::Client;

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

pub(crate) async fn connect(trace: &Trace, limits: ClientLimits, transport: Transport) -> Client {
    let (updates, questions) = (trace.clone(), trace.clone());
    let client = Client::builder()
        .prompt_timeout(ms(limits.prompt))
        .cancel_timeout(ms(limits.cancel))
        .request_timeout(ms(limits.request))
        .on_update(move |notification, client| {
            handle_update(updates.clone(), limits, notification, client)
        })
        .on_permission(move |request, _| {
            let trace = questions.clone();
            async move {
                caller::reply(&trace, END, request.meta).await?;
                let yes = SelectedPermissionOutcome::new("yes");
                let outcome = RequestPermissionOutcome::Selected(yes);
                Ok(RequestPermissionResponse::new(outcome))
            }
        })
        .connect(transport);
    let hello = client.initialize(InitializeRequest::new(ProtocolVersion::V1));
    let answered = hello.timeout(Duration::ZERO).await;
    answered.expect("the script begins behind it");
    client
}

async fn handle_update(
    trace: Trace,
    limits: ClientLimits,
    notification: SessionNotification,
    client: Client,
) {
    let SessionUpdate::AgentMessageChunk(chunk) = notification.update else {
        panic!("the agent sends nothing else");
    };
    let ContentBlock::Text(text) = chunk.content else {
        panic!("the agent sends nothing else");
    };
    let request = format!("update {}", text.text);
    let begins = Event::Begins {
        request: request.clone(),
        cancelled: false,
    };
    trace.record(END, begins);
    match limits.updates {
        Updates::Returns | Updates::Panics => {}
        Updates::Sleeps(time) => sleep(ms(time)).await,
        Updates::Asks => {
            let call = format!("new {}", text.text);
            let new = NewSessionRequest::new("/").meta(label::write(&call, &Reply::Returns));
            let caller = Caller {
                trace: trace.clone(),
                end: END,
                call,
                session: String::new(),
                kind: Kind::Plain,
                limit: limits.request,
            };
            let never = std::future::pending();
            caller
                .follow(client.new_session(new), never, |_| String::new())
                .await;
        }
    }
    let finish = match limits.updates {
        Updates::Panics => Finish::Panics,
        Updates::Returns | Updates::Sleeps(_) | Updates::Asks => Finish::Returns(String::new()),
    };
    let finishes = Event::Finishes {
        request,
        finish: finish.clone(),
    };
    trace.record(END, finishes);
    if finish == Finish::Panics {
        resume_unwind(Box::new("as the script wants it"));
    }
}

/// Goes to the end of the queue of tasks that are ready.
///
/// tokio's own `yield_now` goes behind those that become ready meanwhile too, so it never stops in the middle of an exchange.
async fn let_others_run() {
    let mut was_here = false;
    poll_fn(|context| {
        if std::mem::replace(&mut was_here, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Somebody who makes calls and changes their mind.
pub(crate) struct User {
    trace: Trace,
    client: Client,
    limits: ClientLimits,
    agent: AgentControl,
    calls: Vec<Call>,
    /// How many calls were made, so that each has a name of its own.
    made: usize,
}

/// What can be done to the agent from outside.
pub(crate) struct AgentControl {
    /// Has the agent shut down.
    pub(crate) shut_down: CancellationToken,
    /// Ends it at once.
    pub(crate) kill: Box<dyn Fn() + Send + Sync>,
}

struct Call {
    name: String,
    stop: CancellationSignal,
    leave: CancellationToken,
    task: JoinHandle<()>,
}

impl Call {
    /// Waits until it has returned, or for this time; says whether it has.
    async fn settle(&mut self, limit: Duration) -> bool {
        self.task.is_finished() || timeout(limit, &mut self.task).await.is_ok()
    }
}

impl User {
    pub(crate) fn new(
        trace: Trace,
        client: Client,
        limits: ClientLimits,
        agent: AgentControl,
    ) -> Self {
        Self {
            trace,
            client,
            limits,
            agent,
            calls: Vec::new(),
            made: 0,
        }
    }

    pub(crate) async fn act(&mut self, action: Action) {
        match action {
            Action::Wait(time) => sleep(ms(time)).await,
            Action::Yield(times) => {
                for _ in 0..times {
                    let_others_run().await;
                }
            }
            Action::Await(back) => {
                if let Some(place) = self.back(back) {
                    // Some calls never return; then this is a pause.
                    self.calls[place].settle(ms(500)).await;
                }
            }
            Action::Prompt {
                session,
                program,
                way,
            } => self.prompt(session, &program, way).await,
            Action::Signal(back) => {
                if let Some(place) = self.back(back) {
                    self.signal(place);
                }
            }
            Action::Cancel(session) => self.cancel(session),
            Action::Leave(back) => {
                if let Some(place) = self.back(back) {
                    self.calls[place].leave.cancel();
                }
            }
            Action::New(reply) => {
                let name = self.name("new");
                let new = NewSessionRequest::new("/").meta(label::write(&name, &reply));
                let call = self.client.new_session(new);
                let stop = CancellationSignal::new();
                let call = call.cancel_when(&stop);
                self.follow(name, String::new(), Kind::Plain, stop, call, |_| {
                    String::new()
                });
            }
            Action::Close(session, reply) => {
                let name = self.name("close");
                let meta = label::write(&name, &reply);
                let close = CloseSessionRequest::new(session.name()).meta(meta);
                let call = self.client.close_session(close);
                let stop = CancellationSignal::new();
                let call = call.cancel_when(&stop);
                self.follow(name, session.name(), Kind::Plain, stop, call, |_| {
                    String::new()
                });
            }
            Action::HangUp => self.hang_up(),
            Action::ShutDown => self.agent.shut_down.cancel(),
            Action::Kill => (self.agent.kill)(),
        }
    }

    async fn prompt(&mut self, session: Session, program: &Program, way: Way) {
        let name = self.name("prompt");
        let prompt: Vec<ContentBlock> = Vec::new();
        let request = PromptRequest::new(session.name(), prompt).meta(label::write(&name, program));
        let stop = CancellationSignal::new();
        match way {
            Way::Waited | Way::Cancelled => {
                if way == Way::Cancelled {
                    let call = name.clone();
                    self.trace.record(END, Event::Signals { call });
                    stop.cancel();
                }
                let call = self.client.prompt(request, &stop);
                self.follow(
                    name,
                    session.name(),
                    Kind::Prompt,
                    stop,
                    call,
                    caller::stop_reason,
                );
            }
            Way::Detached => {
                let calls = Event::Calls {
                    call: name.clone(),
                    session: session.name(),
                    kind: Kind::Detached,
                    limit: self.limits.prompt,
                };
                self.trace.record(END, calls);
                let mut prompt = self.client.prompt(request, None);
                // Polled once, so that it is sent here and not when its own task comes to it.
                let sent = poll_fn(|context| Poll::Ready(Pin::new(&mut prompt).poll(context)));
                match sent.await {
                    Poll::Pending => prompt.detach(),
                    Poll::Ready(result) => {
                        let outcome = caller::outcome(result.as_ref().map(caller::stop_reason));
                        let returned = Event::Returned {
                            call: name,
                            outcome,
                        };
                        self.trace.record(END, returned);
                    }
                }
            }
            Way::Raw => {
                let call = self.client.request_raw("session/prompt", &request);
                let call = call.cancel_when(&stop);
                self.follow(
                    name,
                    session.name(),
                    Kind::Plain,
                    stop,
                    call,
                    |response: &PromptResponse| caller::stop_reason(response),
                );
            }
        }
    }

    fn follow<R: Send + 'static>(
        &mut self,
        name: String,
        session: String,
        kind: Kind,
        stop: CancellationSignal,
        call: impl Future<Output = Result<R, endturn::Error>> + Send + 'static,
        tell: impl FnOnce(&R) -> String + Send + 'static,
    ) {
        let caller = Caller {
            trace: self.trace.clone(),
            end: END,
            call: name.clone(),
            session,
            kind,
            limit: match kind {
                Kind::Prompt | Kind::Detached => self.limits.prompt,
                Kind::Plain => self.limits.request,
            },
        };
        let leave = CancellationToken::new();
        let leaves = leave.clone().cancelled_owned();
        let task = tokio::spawn(caller.follow(call, leaves, tell));
        self.calls.push(Call {
            name,
            stop,
            leave,
            task,
        });
    }

    fn signal(&self, place: usize) {
        let Call { name, stop, .. } = &self.calls[place];
        let call = name.clone();
        self.trace.record(END, Event::Signals { call });
        stop.cancel();
    }

    fn cancel(&self, session: Session) {
        let session = session.name();
        let cancels = Event::Cancels {
            session: session.clone(),
        };
        self.trace.record(END, cancels);
        self.client.cancel(&session.into());
    }

    pub(crate) fn hang_up(&self) {
        self.trace.record(END, Event::Lost);
        self.client.close();
    }

    /// Cancels everything, and leaves what a cancel does not end.
    pub(crate) fn give_in(&self) {
        for (place, call) in self.calls.iter().enumerate() {
            self.signal(place);
            if !call.name.starts_with("prompt") {
                call.leave.cancel();
            }
        }
        for session in Session::ALL {
            self.cancel(session);
        }
    }

    /// Waits until every call has returned, for at most this time each; says whether all have.
    pub(crate) async fn settle(&mut self, limit: Duration) -> bool {
        let mut settled = true;
        for call in &mut self.calls {
            settled &= call.settle(limit).await;
        }
        settled
    }

    fn name(&mut self, what: &str) -> String {
        self.made += 1;
        format!("{what} {}", self.made)
    }

    /// The place of a call, counted from the newest.
    fn back(&self, back: usize) -> Option<usize> {
        let last = self.calls.len().checked_sub(1)?;
        Some(last - back % self.calls.len())
    }
}
