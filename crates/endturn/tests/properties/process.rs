//! The agent of a script in a process of its own: this test program, started again to run one test.

use std::{
    env, fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use endturn::transport::{AgentCommand, Stderr, stdio};
use tokio::runtime::Builder;

use crate::{
    agent::agent,
    script::{AgentLimits, Script},
    tap::tap,
    trace::{End, Entry, Event, Trace},
};

/// Where the agent's process puts its trace; without it the test below has nothing to do.
const RECORDING: &str = "ENDTURN_PROPERTIES_RECORDING";

/// The agent's limits, as JSON.
const LIMITS: &str = "ENDTURN_PROPERTIES_LIMITS";

/// The file in which an agent's process leaves its trace.
pub(crate) struct Recording(PathBuf);

impl Recording {
    /// What the agent's process saw; nothing if it was killed.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        let lines = text.lines().map(serde_json::from_str);
        lines
            .map(|entry| entry.expect("it is written as JSON"))
            .collect()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // A process that was killed has left none.
        fs::remove_file(&self.0).ok();
    }
}

/// Starts the agent of a script.
///
/// The test harness prints lines of its own before the test runs; a client takes them for log lines and skips them.
pub(crate) fn command(script: &Script) -> (AgentCommand, Recording) {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    let number = STARTED.fetch_add(1, Ordering::Relaxed);
    let name = format!("properties-{}-{number}.jsonl", std::process::id());
    let recording = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let limits = serde_json::to_string(&script.agent).expect("limits are numbers");
    let program = env::current_exe().expect("a test has a file");
    let command = AgentCommand::new(program)
        .args(["--ignored", "--exact", "--nocapture", AGENT])
        .env(RECORDING, &recording)
        .env(LIMITS, limits)
        .stderr(Stderr::Discard);
    (command, Recording(recording))
}

/// The name of the test below.
const AGENT: &str = "process::serves_one_client_on_standard_input_and_output";

#[test]
#[ignore = "it is the agent's process of another test"]
fn serves_one_client_on_standard_input_and_output() {
    let (Some(recording), Ok(limits)) = (env::var_os(RECORDING), env::var(LIMITS)) else {
        return;
    };
    let limits: AgentLimits = serde_json::from_str(&limits).expect("the other test wrote them");
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let trace = runtime.block_on(async {
        let trace = Trace::start();
        let transport = tap(
            stdio().unwrap(),
            &trace,
            End::Agent,
            crate::script::Reads::Chunks,
        );
        agent(&trace, limits).serve(transport).await.unwrap();
        trace.record(End::Agent, Event::Served);
        trace
    });
    drop(runtime);
    let lines = trace.entries().into_iter().map(|entry| {
        let line = serde_json::to_string(&entry).expect("an entry is JSON");
        format!("{line}\n")
    });
    fs::write(recording, lines.collect::<String>()).unwrap();
}
