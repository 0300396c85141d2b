//! A program under test: its pipes, its memory, and its certain end.

use std::{
    fs, io,
    io::{Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use crate::wire;

/// A job that takes longer has failed, and its program is killed; so a peer that hangs cannot hold up the rest.
const LIMIT: Duration = Duration::from_secs(100);

/// As much as a pipe holds on Linux.
const CHUNK: usize = 64 * 1024;

/// What the answer to a prompt has in it and nothing else does.
const ANSWER: &[u8] = b"\"stopReason\"";

pub(crate) type Error = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Result<T> = std::result::Result<T, Error>;

/// One run of a program; dropping it kills the program.
pub(crate) struct Process {
    child: Arc<Mutex<Child>>,
    pid: u32,
    /// Dropped with the process, which ends the thread that would kill it.
    _watched: Sender<()>,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: Lines,
    pub(crate) started: Instant,
}

impl Process {
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let started = Instant::now();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            unreachable!("both were asked for");
        };
        let pid = child.id();
        let child = Arc::new(Mutex::new(child));
        let (watched, gone) = mpsc::channel::<()>();
        let watching = Arc::clone(&child);
        thread::spawn(move || {
            if gone.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                kill(&watching);
            }
        });
        Ok(Self {
            child,
            pid,
            _watched: watched,
            stdin,
            stdout: Lines::new(stdout),
            started,
        })
    }

    /// Starts an agent and introduces the client, which is what every job but one begins with.
    pub(crate) fn agent(command: &mut Command) -> Result<Self> {
        let mut agent = Self::start(command)?;
        agent.send(wire::INITIALIZE.as_bytes())?;
        agent.stdout.line()?;
        Ok(agent)
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<()> {
        Ok(self.stdin.write_all(bytes)?)
    }

    /// Opens one session.
    pub(crate) fn session(&mut self) -> Result<String> {
        self.send(wire::new_session(1).as_bytes())?;
        let answer = self.stdout.line()?;
        wire::session_id(answer).ok_or_else(|| unexpected("a session", answer))
    }

    /// Opens sessions, as fast as the agent opens them.
    pub(crate) fn sessions(&mut self, count: usize) -> Result<Vec<String>> {
        let requests: Vec<u8> = (0..count)
            .flat_map(|number| wire::new_session(number).into_bytes())
            .collect();
        self.exchange(&requests, |lines| {
            let mut sessions = Vec::with_capacity(count);
            while sessions.len() < count {
                let answer = lines.line()?;
                let session = wire::session_id(answer);
                sessions.push(session.ok_or_else(|| unexpected("a session", answer))?);
            }
            Ok(sessions)
        })
    }

    /// Writes on a thread of its own while `read` runs, since an agent may stop reading until it is read.
    pub(crate) fn exchange<T>(
        &mut self,
        bytes: &[u8],
        read: impl FnOnce(&mut Lines) -> Result<T>,
    ) -> Result<T> {
        let Self { stdin, stdout, .. } = self;
        thread::scope(|scope| {
            let writing = scope.spawn(|| stdin.write_all(bytes));
            let result = read(stdout)?;
            match writing.join() {
                Ok(written) => written?,
                Err(_) => unreachable!("writing does not panic"),
            }
            Ok(result)
        })
    }

    /// A figure of `/proc/PID/status`, in bytes.
    fn status(&self, key: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid))?;
        let kibibytes = status
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_suffix("kB"))
            .and_then(|value| value.trim().parse::<f64>().ok());
        Ok(kibibytes.ok_or("the system does not tell the memory of a process")? * 1024.0)
    }

    /// The memory that is in use now.
    pub(crate) fn memory(&self) -> Result<f64> {
        self.status("VmRSS:")
    }

    /// The most memory that was in use since [`forget_peak`](Self::forget_peak).
    pub(crate) fn peak_memory(&self) -> Result<f64> {
        self.status("VmHWM:")
    }

    pub(crate) fn forget_peak(&self) -> Result<()> {
        Ok(fs::write(format!("/proc/{}/clear_refs", self.pid), "5")?)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        kill(&self.child);
    }
}

/// What is dead already stays so.
fn kill(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    drop(child.kill());
    drop(child.wait());
}

pub(crate) fn unexpected(wanted: &str, line: &[u8]) -> Error {
    let line = String::from_utf8_lossy(&line[..line.len().min(300)]);
    format!("expected {wanted}, read {line}").into()
}

/// What a program writes, in large pieces or line by line.
pub(crate) struct Lines {
    stdout: ChildStdout,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Lines {
    fn new(stdout: ChildStdout) -> Self {
        Self {
            stdout,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
        }
    }

    /// The next line, without its end.
    pub(crate) fn line(&mut self) -> Result<&[u8]> {
        let mut scanned = self.start;
        loop {
            let found = memchr::memchr(b'\n', &self.buffer[scanned..self.end]);
            if let Some(length) = found {
                let line = self.start..scanned + length;
                self.start = line.end + 1;
                return Ok(&self.buffer[line]);
            }
            scanned = self.end;
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                scanned -= self.start;
                self.end -= self.start;
                self.start = 0;
            }
            if self.end == self.buffer.len() {
                self.buffer.resize(2 * self.end, 0);
            }
            self.read()?;
        }
    }

    /// The next line has to be the answer to a prompt; gives the time at which it was read.
    pub(crate) fn answer(&mut self) -> Result<Instant> {
        let line = self.line()?;
        let read = Instant::now();
        if memchr::memmem::find(line, ANSWER).is_none() {
            return Err(unexpected("an answer", line));
        }
        Ok(read)
    }

    /// Skips what comes before the answer to a prompt, and the answer; says how many lines that was.
    ///
    /// The lines are not cut, so that this is faster than any agent.
    pub(crate) fn skip_turn(&mut self) -> Result<usize> {
        let finder = memchr::memmem::Finder::new(ANSWER);
        let mut lines = 0;
        loop {
            let bytes = &self.buffer[self.start..self.end];
            if let Some(answer) = finder.find(bytes)
                && let Some(length) = memchr::memchr(b'\n', &bytes[answer..])
            {
                let turn = &bytes[..=answer + length];
                lines += memchr::memchr_iter(b'\n', turn).count();
                self.start += turn.len();
                return Ok(lines);
            }
            // The last line may be half an answer.
            let whole = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
            lines += memchr::memchr_iter(b'\n', &bytes[..whole]).count();
            self.buffer.copy_within(self.start + whole..self.end, 0);
            self.end -= self.start + whole;
            self.start = 0;
            if self.end == self.buffer.len() {
                self.buffer.resize(2 * self.end, 0);
            }
            self.read()?;
        }
    }

    fn read(&mut self) -> Result<()> {
        match self.stdout.read(&mut self.buffer[self.end..])? {
            0 => Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
            length => {
                self.end += length;
                Ok(())
            }
        }
    }
}
