//! Agents as child processes: how they start, and above all how they end.
//!
//! Where a test must know that processes are gone, they all hold the writing end of a named pipe
//! open, their *lifeline*: its end of input is the proof. Limits that must not matter are an hour, so
//! that a test which relied on one would fail by its own limit, [`PATIENCE`].

#![cfg(all(unix, feature = "process"))]

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use endturn::transport::{AgentCommand, AgentProcess, BoxReader, BoxWriter, Stderr, Transport};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;

const HOUR: Duration = Duration::from_secs(3600);
const SOON: Duration = Duration::from_millis(50);
/// How long a test waits for something that must happen.
const PATIENCE: Duration = Duration::from_secs(20);

const TERM: Option<i32> = Some(15);
const KILL: Option<i32> = Some(9);

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("it takes too long")
}

/// A named pipe that the processes under test hold open.
struct Lifeline {
    path: PathBuf,
    reader: pipe::Receiver,
}

impl Lifeline {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("endturn-lifeline-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let reader = pipe::OpenOptions::new().open_receiver(&path).unwrap();
        Self { path, reader }
    }

    /// A shell script whose processes hold the lifeline. It has to say `ready`, see [`ready`].
    fn script(&self, script: &str) -> AgentCommand {
        let mut hold = OsString::from("exec 9>'");
        hold.push(&self.path);
        hold.push("'; ");
        hold.push(script);
        AgentCommand::new("sh")
            .arg("-c")
            .arg(hold)
            .exit_timeout(HOUR)
            .terminate_timeout(HOUR)
    }

    /// Waits until none of the processes is left.
    async fn cut(mut self) {
        let mut read = Vec::new();
        within(self.reader.read_to_end(&mut read)).await.unwrap();
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Waits for the script to say that it has come so far.
async fn ready(transport: Transport) -> (BufReader<BoxReader>, BoxWriter) {
    let (reader, writer) = transport.into_parts();
    let mut reader = BufReader::new(reader);
    let mut line = String::new();
    within(reader.read_line(&mut line)).await.unwrap();
    assert_eq!(line, "ready\n");
    (reader, writer)
}

async fn stop(agent: &AgentProcess) -> ExitStatus {
    within(agent.stop()).await.unwrap()
}

async fn wait(agent: &AgentProcess) -> ExitStatus {
    within(agent.wait()).await.unwrap()
}

fn cat() -> AgentCommand {
    AgentCommand::new("cat")
        .exit_timeout(HOUR)
        .terminate_timeout(HOUR)
}

#[tokio::test]
async fn bytes_pass_to_the_agent_and_back_intact() {
    let (agent, transport) = cat().spawn().unwrap();
    let (mut reader, mut writer) = transport.into_parts();
    let sent: Vec<u8> = (0..1_000_003_u32).map(|at| (at % 251) as u8).collect();
    let mut read = Vec::new();
    let (written, ended) = tokio::join!(
        async {
            writer.write_all(&sent).await?;
            writer.shutdown().await
        },
        within(reader.read_to_end(&mut read))
    );
    written.unwrap();
    ended.unwrap();
    assert!(read == sent);
    assert!(wait(&agent).await.success());
}

#[tokio::test]
async fn dropping_the_writer_is_end_of_input() {
    let (agent, transport) = cat().spawn().unwrap();
    let (mut reader, writer) = transport.into_parts();
    drop(writer);
    assert_eq!(within(reader.read(&mut [0; 8])).await.unwrap(), 0);
    assert!(wait(&agent).await.success());
}

#[tokio::test]
async fn end_of_input_is_enough_for_an_agent_that_heeds_it() {
    let (agent, transport) = cat().spawn().unwrap();
    let (reader, writer) = transport.into_parts();
    drop(writer);
    assert!(stop(&agent).await.success());
    drop(reader);
}

#[tokio::test]
async fn stop_closes_an_input_that_a_connection_still_holds() {
    let (agent, transport) = cat().spawn().unwrap();
    assert!(stop(&agent).await.success());
    let (_, mut writer) = transport.into_parts();
    let error = writer.write_all(b"too late").await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

#[tokio::test]
async fn stop_fails_a_write_that_waits_for_an_agent_which_does_not_read() {
    let life = Lifeline::new();
    let (agent, transport) = life.script("echo ready; exec sleep 1000").spawn().unwrap();
    let (_reader, mut writer) = ready(transport).await;
    let megabyte = vec![b'x'; 1 << 20];
    let write = async {
        let written = within(writer.write_all(&megabyte)).await;
        assert_eq!(written.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        // Not before: the write has to fail though the agent lives on.
        agent.kill();
    };
    let ((), status) = tokio::join!(write, stop(&agent));
    assert_eq!(status.signal(), KILL);
    life.cut().await;
}

#[tokio::test]
async fn an_agent_that_ignores_the_end_of_its_input_gets_term() {
    let life = Lifeline::new();
    let command = life.script("echo ready; exec sleep 1000");
    let (agent, transport) = command.exit_timeout(SOON).spawn().unwrap();
    let _streams = ready(transport).await;
    assert_eq!(stop(&agent).await.signal(), TERM);
    life.cut().await;
}

#[tokio::test]
async fn an_agent_that_ignores_term_gets_kill() {
    let life = Lifeline::new();
    let command = life.script("trap '' TERM; echo ready; while :; do sleep 1000; done");
    let command = command.exit_timeout(SOON).terminate_timeout(SOON);
    let (agent, transport) = command.spawn().unwrap();
    let _streams = ready(transport).await;
    assert_eq!(stop(&agent).await.signal(), KILL);
    life.cut().await;
}

#[tokio::test]
async fn an_agent_may_take_its_time_after_term() {
    let life = Lifeline::new();
    let script = "trap 'echo saved; exit 3' TERM; echo ready; while :; do sleep 0.01; done";
    let command = life.script(script).exit_timeout(Duration::ZERO);
    let (agent, transport) = command.spawn().unwrap();
    let (mut reader, _writer) = ready(transport).await;
    assert_eq!(stop(&agent).await.code(), Some(3));
    let mut rest = String::new();
    within(reader.read_to_string(&mut rest)).await.unwrap();
    assert_eq!(rest, "saved\n");
    life.cut().await;
}

#[tokio::test]
async fn what_a_launcher_started_is_stopped_with_it() {
    let life = Lifeline::new();
    let script = "sh -c 'sleep 1000 & sleep 1000' & echo ready; wait";
    let command = life.script(script).exit_timeout(SOON);
    // Orphans count until the first process of the system reaps them, which may be slow to do so.
    let command = command.terminate_timeout(Duration::from_secs(2));
    let (agent, transport) = command.spawn().unwrap();
    let _streams = ready(transport).await;
    assert_eq!(stop(&agent).await.signal(), TERM);
    life.cut().await;
}

#[tokio::test]
async fn what_an_agent_leaves_behind_gets_term_though_nobody_stops_it() {
    let life = Lifeline::new();
    let (agent, transport) = life
        .script("sleep 1000 & echo ready; exit 7")
        .spawn()
        .unwrap();
    let (mut reader, _writer) = ready(transport).await;
    assert_eq!(within(reader.read(&mut [0; 8])).await.unwrap(), 0);
    life.cut().await;
    assert_eq!(wait(&agent).await.code(), Some(7));
}

#[tokio::test]
async fn what_an_agent_leaves_behind_gets_kill_if_it_ignores_term() {
    let life = Lifeline::new();
    // The launcher waits for word from the other that it is deaf to TERM.
    let script = "(trap '' TERM; echo ready; exec sleep 1000) & read line; exit 7";
    let command = life.script(script).terminate_timeout(SOON);
    let (agent, transport) = command.spawn().unwrap();
    let (mut reader, writer) = ready(transport).await;
    drop(writer);
    assert_eq!(within(reader.read(&mut [0; 8])).await.unwrap(), 0);
    life.cut().await;
    assert_eq!(stop(&agent).await.code(), Some(7));
}

#[tokio::test]
async fn stop_returns_when_the_last_of_the_group_is_gone() {
    let life = Lifeline::new();
    let script = "(trap '' TERM; echo ready; exec sleep 1000) & read line; exit 7";
    let command = life.script(script).terminate_timeout(SOON);
    let (agent, transport) = command.spawn().unwrap();
    let _streams = ready(transport).await;
    assert_eq!(stop(&agent).await.code(), Some(7));
    // Not through tokio, which may not have heard yet.
    let end = rustix::io::read(&life.reader, &mut [0; 8]);
    assert_eq!(end, Ok(0), "nobody holds the lifeline any more");
}

#[tokio::test]
async fn dropping_the_process_kills_the_whole_group_at_once() {
    let life = Lifeline::new();
    let script = "trap '' TERM; (sleep 1000; :) & echo ready; while :; do sleep 1000; done";
    let (agent, transport) = life.script(script).spawn().unwrap();
    let _streams = ready(transport).await;
    drop(agent);
    life.cut().await;
}

#[tokio::test]
async fn kill_ends_the_whole_group_at_once() {
    let life = Lifeline::new();
    let script = "trap '' TERM; (sleep 1000; :) & echo ready; while :; do sleep 1000; done";
    let (agent, transport) = life.script(script).spawn().unwrap();
    let _streams = ready(transport).await;
    agent.kill();
    life.cut().await;
    assert_eq!(wait(&agent).await.signal(), KILL);
    agent.kill();
    assert_eq!(stop(&agent).await.signal(), KILL);
}

#[tokio::test]
async fn kill_overtakes_a_stop_that_is_under_way() {
    let life = Lifeline::new();
    let (agent, transport) = life.script("echo ready; exec sleep 1000").spawn().unwrap();
    let _streams = ready(transport).await;
    let (status, ()) = tokio::join!(stop(&agent), async {
        tokio::task::yield_now().await;
        agent.kill();
    });
    assert_eq!(status.signal(), KILL);
    life.cut().await;
}

#[test]
fn dropping_the_runtime_kills_the_whole_group() {
    let life_of_the_test = tokio::runtime::Runtime::new().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let life = life_of_the_test.block_on(async { Lifeline::new() });
    let (agent, _streams) = runtime.block_on(async {
        let script = "trap '' TERM; (sleep 1000; :) & echo ready; while :; do sleep 1000; done";
        let (agent, transport) = life.script(script).spawn().unwrap();
        (agent, ready(transport).await)
    });
    drop(runtime);
    life_of_the_test.block_on(life.cut());
    life_of_the_test.block_on(agent.wait()).unwrap_err();
}

#[tokio::test]
async fn wait_can_be_called_again_and_given_up_and_run_beside_stop() {
    let (agent, transport) = cat().spawn().unwrap();
    tokio::time::timeout(Duration::ZERO, agent.wait())
        .await
        .unwrap_err();
    let (one, two, three) = tokio::join!(wait(&agent), stop(&agent), wait(&agent));
    assert!(one.success() && two.success() && three.success());
    assert!(wait(&agent).await.success());
    assert!(stop(&agent).await.success());
    drop(transport);
}

#[tokio::test]
async fn giving_up_on_stop_does_not_take_it_back() {
    let life = Lifeline::new();
    let command = life
        .script("echo ready; exec sleep 1000")
        .exit_timeout(SOON);
    let (agent, transport) = command.spawn().unwrap();
    let _streams = ready(transport).await;
    tokio::time::timeout(Duration::ZERO, agent.stop())
        .await
        .unwrap_err();
    life.cut().await;
    assert_eq!(wait(&agent).await.signal(), TERM);
}

#[tokio::test]
async fn limits_too_long_for_the_clock_are_no_limits() {
    let command = cat().exit_timeout(Duration::MAX);
    let (agent, _transport) = command.terminate_timeout(Duration::MAX).spawn().unwrap();
    assert!(stop(&agent).await.success());
}

#[tokio::test]
async fn a_mebibyte_on_standard_error_blocks_nobody_and_its_end_is_kept() {
    let script =
        "head -c 1048576 /dev/zero | tr '\\0' x >&2; echo >&2; echo last words >&2; exit 1";
    let command = AgentCommand::new("sh").arg("-c").arg(script);
    let (agent, _transport) = command.stderr(Stderr::Capture).spawn().unwrap();
    assert_eq!(wait(&agent).await.code(), Some(1));
    assert_eq!(agent.stderr_tail(), "last words\n");
}

#[tokio::test]
async fn standard_error_is_not_kept_unless_asked_for() {
    let command = AgentCommand::new("sh").arg("-c").arg("echo noise >&2");
    let (agent, _transport) = command.stderr(Stderr::Discard).spawn().unwrap();
    wait(&agent).await;
    assert_eq!(agent.stderr_tail(), "");
}

#[tokio::test]
async fn arguments_environment_and_directory_reach_the_agent() {
    let script = "printf '%s|%s|%s|%s' \"$1\" \"$GIVEN\" \"${HOME-none}\" \"$(pwd)\"";
    let (agent, transport) = AgentCommand::new("sh")
        .args(["-c", script, "sh", "two words"])
        .env("GIVEN", "first")
        .env("GIVEN", "second")
        .env_remove("HOME")
        .current_dir("/")
        .spawn()
        .unwrap();
    let (mut reader, _writer) = transport.into_parts();
    let mut read = String::new();
    within(reader.read_to_string(&mut read)).await.unwrap();
    assert_eq!(read, "two words|second|none|/");
    assert!(wait(&agent).await.success());
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let error = AgentCommand::new("no-such-agent").spawn().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    let message = error.to_string();
    assert_eq!(
        message,
        "cannot start `no-such-agent`: No such file or directory"
    );
}

#[tokio::test]
async fn a_directory_that_does_not_exist_is_named() {
    let error = cat().current_dir("/no/such/place").spawn().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    let message = error.to_string();
    assert_eq!(
        message,
        "cannot start `cat` in `/no/such/place`: No such file or directory"
    );
}

#[tokio::test]
async fn an_agent_can_be_started_again() {
    let command = cat();
    for _ in 0..2 {
        let (agent, _transport) = command.spawn().unwrap();
        assert!(stop(&agent).await.success());
    }
}

/// Linux, because elsewhere there is no `setsid` program.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_daemon_that_left_the_group_does_not_keep_the_connection_open() {
    let life = Lifeline::new();
    let script = "setsid sh -c 'echo $$; exec sleep 1000' & read line; echo oops >&2; exit 7";
    let command = life.script(script).stderr(Stderr::Capture);
    let (agent, transport) = command.spawn().unwrap();
    let (reader, writer) = transport.into_parts();
    let mut reader = BufReader::new(reader);
    let mut daemon = String::new();
    within(reader.read_line(&mut daemon)).await.unwrap();
    drop(writer);

    assert_eq!(wait(&agent).await.code(), Some(7));
    assert_eq!(agent.stderr_tail(), "oops\n");
    assert_eq!(within(reader.read(&mut [0; 8])).await.unwrap(), 0);

    let killed = std::process::Command::new("kill")
        .arg(daemon.trim())
        .status();
    assert!(killed.unwrap().success(), "it was still there");
    life.cut().await;
}
