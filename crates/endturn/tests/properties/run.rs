//! Runs a script over one of the transports, and gives the trace.

use std::time::Duration;

use endturn::transport::{Transport, memory};
use tokio::{
    runtime::{Builder, Runtime},
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

#[cfg(all(feature = "process", feature = "stdio"))]
use crate::process;
use crate::{
    agent::agent,
    script::{Clock, Script},
    tap::tap,
    trace::{End, Entry, Event, Trace},
    user::{self, AgentControl, User},
};

/// How long anything may take on a real clock before the test has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// In memory, on one thread, on a clock that moves only when nothing else can.
pub(crate) fn on_a_paused_clock(script: &Script) -> Vec<Entry> {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(true).build().unwrap();
    run(runtime, script, Clock::Paused, memory)
}

/// In memory, on several threads.
pub(crate) fn on_threads(script: &Script) -> Vec<Entry> {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder.worker_threads(2).enable_all().build().unwrap();
    run(runtime, script, Clock::Real, memory)
}

/// Over two sockets of the operating system.
#[cfg(unix)]
pub(crate) fn over_sockets(script: &Script) -> Vec<Entry> {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    run(runtime, script, Clock::Real, || {
        let (near, far) = tokio::net::UnixStream::pair().unwrap();
        let [near, far] = [near, far].map(|socket| {
            let (reader, writer) = socket.into_split();
            Transport::new(reader, writer)
        });
        (near, far)
    })
}

/// Between two processes: the agent's is this test program again.
///
/// Each process has a trace of its own, and how the two interleave is not known; no rule needs it, since each is about one end.
#[cfg(all(feature = "process", feature = "stdio"))]
pub(crate) fn between_processes(script: &Script) -> Vec<Entry> {
    let mut builder = Builder::new_current_thread();
    let runtime = builder.enable_all().build().unwrap();
    runtime.block_on(async {
        let (command, recording) = process::command(script);
        let (agent, near) = command.spawn().unwrap();
        let agent = std::sync::Arc::new(agent);
        let trace = Trace::start();
        let control = AgentControl {
            // Nobody can tell another process to shut down but by closing its input, which is another matter.
            shut_down: CancellationToken::new(),
            kill: Box::new({
                let agent = std::sync::Arc::clone(&agent);
                move || agent.kill()
            }),
        };
        let mut user = act(&trace, script, near, control).await;
        user.give_in();
        assert!(user.settle(PATIENCE).await, "always-answered");
        user.hang_up();
        user.settle(PATIENCE).await;
        drop(user);
        agent.stop().await.unwrap();
        let mut entries = trace.entries();
        entries.extend(recording.entries());
        entries
    })
}

fn run(
    runtime: Runtime,
    script: &Script,
    clock: Clock,
    pair: fn() -> (Transport, Transport),
) -> Vec<Entry> {
    let script = script.clone();
    let work = async move {
        let trace = Trace::start();
        let (near, far) = pair();
        let (agent, served) = serve(&trace, &script, far);
        let user = act(&trace, &script, near, agent).await;
        leave(user, clock, served).await;
        trace
    };
    // A task like the others, so that the runtime lets it act between any two of them.
    let work = runtime.spawn(work);
    let trace = runtime.block_on(work).expect("the script runs to its end");
    // Other threads may still be busy with what has ended, and their tasks have their last entries to make.
    drop(runtime);
    trace.entries()
}

/// Serves the agent of a script on a task of its own.
fn serve(trace: &Trace, script: &Script, far: Transport) -> (AgentControl, JoinHandle<()>) {
    let shut_down = CancellationToken::new();
    let serving = tokio::spawn({
        let (trace, shut_down) = (trace.clone(), shut_down.clone());
        let far = tap(far, &trace, End::Agent, script.reads);
        let agent = agent(&trace, script.agent);
        async move {
            let shutdown = async {
                shut_down.cancelled().await;
                trace.record(End::Agent, Event::ShutsDown);
            };
            let served = agent.serve_until(far, shutdown).await;
            served.expect("a peer that goes away is no error");
            trace.record(End::Agent, Event::Served);
        }
    });
    let (trace, task) = (trace.clone(), serving.abort_handle());
    let kill = move || {
        trace.record(End::Agent, Event::Lost);
        task.abort();
    };
    let control = AgentControl {
        shut_down,
        kill: Box::new(kill),
    };
    (control, serving)
}

/// Connects a client and has its user act.
async fn act(trace: &Trace, script: &Script, near: Transport, agent: AgentControl) -> User {
    let near = tap(near, trace, End::Client, script.reads);
    let client = user::connect(trace, script.client, near).await;
    let mut user = User::new(trace.clone(), client, script.client, agent);
    for action in script.actions.iter().cloned() {
        user.act(action).await;
    }
    user
}

/// Brings a script to its end: whatever still runs, the connection is closed.
async fn leave(mut user: User, clock: Clock, served: JoinHandle<()>) {
    let patience = match clock {
        Clock::Paused => {
            // Longer than anything takes that is not meant to take for ever.
            let long = Duration::from_secs(3600);
            sleep(long).await;
            long
        }
        Clock::Real => {
            user.give_in();
            assert!(user.settle(PATIENCE).await, "always-answered");
            PATIENCE
        }
    };
    user.hang_up();
    user.settle(patience).await;
    timeout(patience, served).await.ok();
    drop(user);
    if clock == Clock::Paused {
        // What was dropped has its last entries to make, and the clock moves when it has made them.
        sleep(patience).await;
    }
}
