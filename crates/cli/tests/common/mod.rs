//! Running a program within limits, and making sure that nothing of it is left.
#![expect(
    dead_code,
    reason = "each test file is a program of its own and uses a part of this"
)]

pub(crate) mod peers;
pub(crate) mod terminal;

use std::fmt;
use std::fs;
use std::io::{PipeReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long any one run may take. Only a hang comes near it.
const LIMIT: Duration = Duration::from_secs(60);

/// Set for every process a run starts, so that those left behind are found.
const TAG: &str = "ENDTURN_TEST_RUN";

/// The program under test.
pub(crate) fn endturn(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_endturn"));
    command.args(args);
    command
}

/// `endturn run` with a shell script as the agent.
///
/// The script has `answer RESULT`, which reads a request and answers it; `handshake`, which does so up
/// to the prompt; `say TEXT`; and `listen`, which answers nothing until the end of its input.
pub(crate) fn run_script(args: &[&str], script: &str) -> Command {
    const LIBRARY: &str = r#"
        answer() {
            read -r line
            id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
            printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"
        }
        say() {
            printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}\n' "$1"
        }
        listen() { while read -r line; do :; done; }
        handshake() {
            answer '{"protocolVersion":1}'
            answer '{"sessionId":"s"}'
        }
    "#;
    let mut command = endturn(&["run"]);
    command.args(args).args(["--", "sh", "-c"]);
    command.arg(format!("{LIBRARY}\n{script}"));
    command
}

/// A program that runs for at most [`LIMIT`]; it and all that it started are killed on drop.
pub(crate) struct Run {
    pid: u32,
    tag: String,
    home: PathBuf,
    input: Option<ChildStdin>,
    events: Receiver<Event>,
    deadline: Instant,
    open_pipes: usize,
    end: End,
}

/// What came of a run.
#[derive(Clone, Default)]
pub(crate) struct End {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: Option<ExitStatus>,
}

enum Event {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    Closed,
    Exited(ExitStatus),
}

impl Run {
    /// Starts a program whose input is empty.
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null());
        Self::spawn(command, Stdio::piped())
    }

    /// Starts a program that reads this text.
    pub(crate) fn start_with_input(command: Command, input: &str) -> Self {
        let mut run = Self::start_with_open_input(command);
        run.write(input);
        run.close_input();
        run
    }

    /// Starts a program that is written to later.
    pub(crate) fn start_with_open_input(mut command: Command) -> Self {
        command.stdin(Stdio::piped());
        Self::spawn(command, Stdio::piped())
    }

    /// Starts a program whose output nobody reads, for as long as the pipe lives.
    pub(crate) fn start_unread(mut command: Command) -> (Self, PipeReader) {
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        command.stdin(Stdio::null());
        (Self::spawn(command, writer.into()), reader)
    }

    /// The same, with an input that is written to later.
    pub(crate) fn start_unread_with_open_input(mut command: Command) -> (Self, PipeReader) {
        let (reader, writer) = std::io::pipe().expect("there are pipes");
        command.stdin(Stdio::piped());
        (Self::spawn(command, writer.into()), reader)
    }

    /// Starts a program with the input that the command has, and this output.
    pub(crate) fn start_on(command: Command, stdout: Stdio) -> Self {
        Self::spawn(command, stdout)
    }

    /// Starts a program all of whose streams are the caller's.
    pub(crate) fn start_on_terminal(command: Command, stdout: Stdio, stderr: Stdio) -> Self {
        Self::spawn_on(command, stdout, stderr)
    }

    fn spawn(command: Command, stdout: Stdio) -> Self {
        Self::spawn_on(command, stdout, Stdio::piped())
    }

    fn spawn_on(mut command: Command, stdout: Stdio, stderr: Stdio) -> Self {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let number = RUNS.fetch_add(1, Ordering::Relaxed);
        let tag = format!("{}-{number}", std::process::id());
        let home = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("run-{tag}"));
        fs::create_dir_all(&home).expect("the target folder is writable");

        if command.get_envs().all(|(name, _)| name != "RUST_LOG") {
            command.env_remove("RUST_LOG");
        }
        let mut child = command
            .env(TAG, &tag)
            .env("HOME", &home)
            .current_dir(&home)
            .stdout(stdout)
            .stderr(stderr)
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
        // It keeps the streams that it was given.
        drop(command);

        let (sender, events) = mpsc::channel();
        let stdout = child.stdout.take();
        let stderr = child.stderr.take();
        let open_pipes = usize::from(stdout.is_some()) + usize::from(stderr.is_some());
        if let Some(stdout) = stdout {
            forward(stdout, Event::Stdout, sender.clone());
        }
        if let Some(stderr) = stderr {
            forward(stderr, Event::Stderr, sender.clone());
        }
        let pid = child.id();
        let input = child.stdin.take();
        thread::spawn(move || {
            let status = child.wait().expect("the child is ours");
            // The receiver is gone when the test has already failed.
            _ = sender.send(Event::Exited(status));
        });
        Self {
            pid,
            tag,
            home,
            input,
            events,
            deadline: Instant::now() + LIMIT,
            open_pipes,
            end: End::default(),
        }
    }

    #[track_caller]
    pub(crate) fn write(&mut self, text: &str) {
        assert!(self.try_write(text), "the input is not read\n{}", self.end);
    }

    pub(crate) fn try_write(&mut self, text: &str) -> bool {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(text.as_bytes()).is_ok()
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    /// Waits until the program has printed this.
    #[track_caller]
    pub(crate) fn read_until(&mut self, text: &str) {
        self.wait_for(text, |end| end.stdout.contains(text));
    }

    /// Waits until the program has printed this on standard error.
    #[track_caller]
    pub(crate) fn read_stderr_until(&mut self, text: &str) {
        self.wait_for(text, |end| end.stderr.contains(text));
    }

    #[track_caller]
    fn wait_for(&mut self, text: &str, found: impl Fn(&End) -> bool) {
        while !found(&self.end) {
            assert!(
                !self.is_over(),
                "the program ended without printing {text:?}\n{}",
                self.end
            );
            self.take_event();
        }
    }

    /// What Ctrl-C does.
    #[track_caller]
    pub(crate) fn interrupt(&self) {
        self.signal("-INT");
    }

    #[track_caller]
    pub(crate) fn signal(&self, signal: &str) {
        assert!(self.try_signal(signal), "{}", self.end);
    }

    /// The same for a program that may have exited without anybody having looked yet.
    pub(crate) fn try_signal(&self, signal: &str) -> bool {
        kill(signal, &self.pid.to_string())
    }

    /// Does this again and again until the program exits, which has to be because of it.
    pub(crate) fn repeat_until_it_exits(&mut self, mut action: impl FnMut(&mut Self)) {
        while self.end.status.is_none() {
            action(self);
            match self.events.recv_timeout(Duration::from_millis(20)) {
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => self.check_time(),
                Err(RecvTimeoutError::Disconnected) => unreachable!("its exit comes first"),
            }
        }
    }

    /// Whether it has, by now, as far as anybody has looked.
    pub(crate) fn has_printed(&self, text: &str) -> bool {
        self.end.stdout.contains(text)
    }

    /// Waits for the program's end, which has to be the end of all that it started.
    #[track_caller]
    pub(crate) fn finish(mut self) -> End {
        self.close_input();
        self.finish_with_open_input()
    }

    /// The same for a program that has to end although its input does not.
    #[track_caller]
    pub(crate) fn finish_with_open_input(mut self) -> End {
        while !self.is_over() {
            self.take_event();
        }
        let left = processes_of(&self.tag);
        assert!(
            left.is_empty(),
            "processes {left:?} were left behind\n{}",
            self.end
        );
        self.end.clone()
    }

    /// Exited, and nobody holds its output open.
    fn is_over(&self) -> bool {
        self.end.status.is_some() && self.open_pipes == 0
    }

    fn take_event(&mut self) {
        let left = self.deadline.saturating_duration_since(Instant::now());
        match self.events.recv_timeout(left) {
            Ok(event) => self.take(event),
            Err(_) => self.check_time(),
        }
    }

    fn check_time(&self) {
        assert!(
            Instant::now() < self.deadline,
            "not over after {LIMIT:?}\n{}",
            self.end
        );
    }

    fn take(&mut self, event: Event) {
        match event {
            // The tests look for ASCII only, which no chunk can end in the middle of.
            Event::Stdout(bytes) => self.end.stdout += &String::from_utf8_lossy(&bytes),
            Event::Stderr(bytes) => self.end.stderr += &String::from_utf8_lossy(&bytes),
            Event::Closed => self.open_pipes -= 1,
            Event::Exited(status) => self.end.status = Some(status),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        // Once a process was waited for, its id may be another's.
        if self.end.status.is_none() {
            kill("-KILL", &format!("-{}", self.pid));
        }
        for pid in processes_of(&self.tag) {
            kill("-KILL", &pid.to_string());
        }
        // What is left in a temporary folder does no harm.
        _ = fs::remove_dir_all(&self.home);
    }
}

fn forward(
    mut pipe: impl Read + Send + 'static,
    event: impl Fn(Vec<u8>) -> Event + Send + 'static,
    events: Sender<Event>,
) {
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(read @ 1..) = pipe.read(&mut buffer) {
            // The receiver is gone when the test has already failed.
            _ = events.send(event(buffer[..read].to_vec()));
        }
        _ = events.send(Event::Closed);
    });
}

fn kill(signal: &str, target: &str) -> bool {
    Command::new("kill")
        .args([signal, "--", target])
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Living processes whose environment has this tag. Only Linux tells.
fn processes_of(tag: &str) -> Vec<u32> {
    let wanted = format!("{TAG}={tag}").into_bytes();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        // Unreadable: somebody else's, or gone by now.
        .filter(|pid| {
            fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|pair| pair == wanted))
        })
        .collect()
}

impl End {
    #[track_caller]
    pub(crate) fn expect_code(&self, code: i32) {
        let actual = self.status.and_then(|status| status.code());
        assert_eq!(actual, Some(code), "exit code\n{self}");
    }

    #[track_caller]
    pub(crate) fn expect_stdout(&self, text: &str) {
        assert!(self.stdout.contains(text), "no {text:?}\n{self}");
    }

    #[track_caller]
    pub(crate) fn expect_no_stdout(&self, text: &str) {
        assert!(!self.stdout.contains(text), "unexpected {text:?}\n{self}");
    }

    #[track_caller]
    pub(crate) fn expect_stderr(&self, text: &str) {
        assert!(self.stderr.contains(text), "no {text:?}\n{self}");
    }

    #[track_caller]
    pub(crate) fn expect_no_stderr(&self, text: &str) {
        assert!(!self.stderr.contains(text), "unexpected {text:?}\n{self}");
    }

    #[track_caller]
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let parse = |line| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{line:?} is not JSON: {error}\n{self}"))
        };
        self.stdout.lines().map(parse).collect()
    }

    /// The types of the JSON lines, in order, each once.
    #[track_caller]
    pub(crate) fn json_types(&self) -> Vec<String> {
        let mut types: Vec<_> = self
            .json_lines()
            .iter()
            .map(|line| line["type"].as_str().unwrap_or("none").to_owned())
            .collect();
        types.dedup();
        types
    }

    /// The last JSON line, and the error before it, if there is one.
    #[track_caller]
    pub(crate) fn json_end(&self) -> (Value, Value) {
        let mut lines = self.json_lines();
        let end = lines.pop().unwrap_or_default();
        assert_eq!(end["type"], "end", "{self}");
        let error = lines.pop().filter(|line| line["type"] == "error");
        (end, error.unwrap_or_default())
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => writeln!(f, "{status}")?,
            None => writeln!(f, "still running")?,
        }
        write!(f, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr)
    }
}
