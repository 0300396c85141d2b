//! `endturn run` on a terminal: questions, colours and the progress line.
#![cfg(unix)]

mod common;

use std::{
    ffi::OsStr,
    fs::File,
    io::{Read, Write},
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    process::Stdio,
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use common::{End, Run, endturn};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A run whose three streams are one terminal.
struct OnTerminal {
    run: Run,
    terminal: File,
    output: Receiver<Vec<u8>>,
    seen: String,
}

impl OnTerminal {
    fn start(script: &str, env: &[(&str, &str)]) -> Self {
        Self::start_with(&["run", script], env)
    }

    fn start_with(args: &[&str], env: &[(&str, &str)]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let path = OsStr::from_bytes(name.as_bytes());
        let slave: OwnedFd = File::options()
            .read(true)
            .write(true)
            .open(path)
            .unwrap()
            .into();

        let mut command = endturn(args);
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

    /// Waits until the terminal shows this, and forgets everything up to there.
    #[track_caller]
    fn read_until(&mut self, text: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.output.recv_timeout(left) {
                Ok(bytes) => self.seen += &String::from_utf8_lossy(&bytes),
                Err(_) => panic!("no {text:?} in {:?}", self.seen),
            }
        }
    }

    fn type_in(&mut self, text: &str) {
        self.terminal.write_all(text.as_bytes()).unwrap();
    }

    /// The end, and what the terminal has shown since it was last looked at.
    fn finish(mut self) -> (End, String) {
        let end = self.run.finish();
        while let Ok(bytes) = self.output.recv() {
            self.seen += &String::from_utf8_lossy(&bytes);
        }
        (end, self.seen)
    }
}

#[test]
fn a_permission_is_asked_and_answered() {
    for (answer, said) in [
        ("1\n", "allowed"),
        ("n\n", "rejected"),
        ("Allow\n", "allowed"),
    ] {
        let mut run = OnTerminal::start("say Well\nask Delete everything", &[]);
        run.read_until("Well\r\nThe agent asks for a permission: Delete everything");
        run.read_until("  1  Allow\r\n  2  Reject\r\n1 to 2, y or n; Ctrl-C cancels the turn: ");
        run.type_in(answer);
        run.read_until(&format!("[Permission {said}]"));
        run.finish().0.expect_code(0);
    }
}

#[test]
fn an_answer_that_is_none_is_asked_for_again() {
    let mut run = OnTerminal::start("ask Delete everything", &[]);
    run.read_until("1 to 2");
    run.type_in("perhaps\n");
    run.read_until("1 to 2");
    run.type_in("2\n");
    run.read_until("[Permission rejected]");
    run.finish().0.expect_code(0);
}

#[test]
fn a_line_typed_too_early_answers_nothing() {
    let mut run = OnTerminal::start("ask One\nask Two", &[]);
    run.read_until("1 to 2");
    // The second is typed before there is a second question.
    run.type_in("1\n1\n");
    run.read_until("[Permission allowed]");
    run.read_until("1 to 2");
    run.type_in("2\n");
    run.read_until("[Permission rejected]");
    run.finish().0.expect_code(0);
}

#[test]
fn ctrl_c_takes_an_open_question_away() {
    let mut run = OnTerminal::start("ask Delete everything", &[]);
    run.read_until("1 to 2");
    run.run.interrupt();
    run.read_until("[permission] Delete everything: cancelled");
    run.read_until("[Permission cancelled]");
    run.read_until("stop reason: cancelled");
    run.finish().0.expect_code(3);
}

#[test]
fn the_end_of_the_terminals_input_is_a_no() {
    let mut run = OnTerminal::start("ask Delete everything", &[]);
    run.read_until("1 to 2");
    run.type_in("\x04");
    run.read_until("[Permission rejected]");
    run.finish().0.expect_code(0);
}

#[test]
fn what_is_waited_for_is_shown_and_taken_away() {
    let mut run = OnTerminal::start("say ready\nthink Hm.\ntool Wait 1h", &[]);
    run.read_until("in_progress");
    run.read_until("waiting for the agent… 1s");
    run.run.interrupt();
    run.read_until("\r\x1b[K");
    let (end, seen) = run.finish();
    end.expect_code(3);
    assert!(!seen.contains("waiting"), "{seen:?}");
}

#[test]
fn after_the_first_ctrl_c_the_terminal_says_what_a_second_one_does() {
    let mut run = OnTerminal::start("say ready\nhang", &[]);
    run.read_until("ready");
    run.run.interrupt();
    run.read_until("\r\n");
    run.read_until("cancelling… 1s (Ctrl-C again ends the agent)");
    run.run.interrupt();
    run.read_until("ended by Ctrl-C before the agent had answered");
    run.finish().0.expect_code(130);
}

#[test]
fn asides_are_dimmed_unless_colours_are_not_wanted() {
    let (_, seen) = OnTerminal::start("think Hm.\nsay Yes.", &[]).finish();
    assert!(seen.contains("\x1b[2m~ Hm.\x1b[0m\r\nYes."), "{seen:?}");

    let (_, seen) = OnTerminal::start("think Hm.\nsay Yes.", &[("NO_COLOR", "1")]).finish();
    assert!(seen.contains("~ Hm.\r\nYes."), "{seen:?}");
    assert!(!seen.contains("\x1b["), "{seen:?}");
}

#[test]
fn a_prompt_is_not_waited_for_on_a_terminal() {
    let mut run = OnTerminal::start_with(&["run"], &[]);
    run.read_until("there is no prompt: give one as the argument PROMPT, or pipe one in");
    run.finish().0.expect_code(2);
}
