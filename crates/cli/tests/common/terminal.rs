//! A program on a terminal of its own.

use std::{
    ffi::OsStr,
    fs::File,
    io::{Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    process::{Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, tcgetattr},
};

use super::{End, Run, endturn};

/// What the terminal is sent when a line can be typed.
pub(crate) const READY: &str = "\x1b[?2004h";

/// Starts a conversation with the scripted agent; without colours, which tests/terminal.rs looks at.
pub(crate) fn conversation(args: &[&str], env: &[(&str, &str)]) -> OnTerminal {
    let env = [&[("NO_COLOR", "1")], env].concat();
    let mut run = OnTerminal::start_with(&[&["run"], args].concat(), &env);
    run.read_until("This is Scripted agent");
    run.read_until(READY);
    run
}

/// A run whose three streams are one terminal.
pub(crate) struct OnTerminal {
    pub(crate) run: Run,
    terminal: File,
    output: Receiver<Vec<u8>>,
    seen: String,
}

impl OnTerminal {
    pub(crate) fn start(script: &str, env: &[(&str, &str)]) -> Self {
        Self::start_with(&["run", script], env)
    }

    pub(crate) fn start_with(args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::start_command(endturn(args), env)
    }

    pub(crate) fn start_command(mut command: Command, env: &[(&str, &str)]) -> Self {
        let (master, slave) = pair();
        command
            .env("TERM", "xterm")
            .env_remove("NO_COLOR")
            .envs(env.iter().copied())
            .stdin(Stdio::from(slave.try_clone().unwrap()));
        let stdout = slave.try_clone().unwrap();
        let run = Run::start_on_terminal(command, stdout.into(), slave.into());

        let terminal = File::from(master);
        let mut reader = terminal.try_clone().unwrap();
        let (sender, output) = mpsc::channel();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // When the program is gone, reading fails.
            while let Ok(read @ 1..) = reader.read(&mut buffer) {
                _ = sender.send(buffer[..read].to_vec());
            }
        });
        Self {
            run,
            terminal,
            output,
            seen: String::new(),
        }
    }

    /// Waits until the terminal shows this, and gives everything up to there, which is not looked at again.
    #[track_caller]
    pub(crate) fn read_until(&mut self, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(at) = self.seen.find(text) {
                return self.seen.drain(..at + text.len()).collect();
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                Err(_) => panic!("no {text:?} in {:?}", self.seen),
            }
        }
    }

    /// Types a line into a conversation, and waits until the program has taken it.
    #[track_caller]
    pub(crate) fn say(&mut self, line: &str) {
        self.type_in(&format!("{line}\r"));
        self.read_until("\x1b[?2004l");
    }

    pub(crate) fn type_in(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).unwrap();
    }

    /// Whether the terminal edits lines by itself, as it does when no program has changed it.
    pub(crate) fn is_as_it_was(&self) -> bool {
        let modes = tcgetattr(&self.terminal).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    }

    /// The end, and what the terminal has shown since it was last looked at.
    pub(crate) fn finish(mut self) -> (End, String) {
        let end = self.run.finish();
        while let Ok(bytes) = self.output.recv() {
            self.seen += &String::from_utf8_lossy(&bytes);
        }
        (end, self.seen)
    }
}

/// The two ends of a terminal: the one that shows it, and the one that programs use.
fn pair() -> (OwnedFd, OwnedFd) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let path = OsStr::from_bytes(name.as_bytes());
    let slave = File::options().read(true).write(true).open(path).unwrap();
    (master, slave.into())
}
