//! The transport over this process's own standard input and output, seen from the process that
//! started it.
//!
//! Each test starts this same test program again as a child that runs [`child`] alone, and keeps
//! duplicates of the descriptors it gave away: those share the flags with the child's.

#![cfg(all(unix, feature = "stdio"))]

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, PipeReader, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::fs::{OFlags, fcntl_getfl};
use tokio::io::AsyncWriteExt;

const MARK: &str = "ENDTURN_STDIO_CHILD";

/// Not a test of its own: what the other tests start. It says `ready`, then echoes.
#[test]
fn child() {
    if std::env::var_os(MARK).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let transport = endturn::transport::stdio().unwrap();
        let (mut reader, mut writer) = transport.into_parts();
        // On a line of its own: the test harness has begun one.
        writer.write_all(b"\nready\n").await.unwrap();
        writer.flush().await.unwrap();
        tokio::io::copy(&mut reader, &mut writer).await.unwrap();
        writer.shutdown().await.unwrap();
    });
    // Not back to the test harness, which would write its report behind the echo.
    std::process::exit(0);
}

fn start(input: impl Into<Stdio>, output: impl Into<Stdio>, stderr: impl Into<Stdio>) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env(MARK, "")
        .stdin(input)
        .stdout(output)
        .stderr(stderr)
        .spawn()
        .unwrap()
}

/// Skips what the test harness says at first.
fn until_ready(output: impl Read) -> BufReader<impl Read> {
    let mut output = BufReader::new(output);
    let mut line = String::new();
    while line != "ready\n" {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "it ended early");
    }
    output
}

fn blocks(fd: impl AsFd) -> bool {
    !fcntl_getfl(fd).unwrap().contains(OFlags::NONBLOCK)
}

fn bytes() -> Vec<u8> {
    (0..1_000_003_u32).map(|at| (at % 251) as u8).collect()
}

/// Sends everything and checks that it comes back.
fn echo(mut input: impl Write + Send + 'static, mut output: impl Read) {
    let writing = thread::spawn(move || {
        input.write_all(&bytes()).unwrap();
        drop(input);
    });
    let mut read = vec![0; bytes().len()];
    output.read_exact(&mut read).unwrap();
    assert!(read == bytes());
    writing.join().unwrap();
}

fn finish(mut child: Child, mut output: impl Read) {
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).unwrap();
    assert!(rest.is_empty());
    assert!(child.wait().unwrap().success());
}

#[test]
fn pipes_are_polled_and_block_again_afterwards() {
    let (input, to_child) = io::pipe().unwrap();
    let (from_child, output) = io::pipe().unwrap();
    let (their_input, their_output) = (input.try_clone().unwrap(), output.try_clone().unwrap());
    let child = start(input, output, Stdio::inherit());
    let mut from_child = until_ready(from_child);
    assert!(!blocks(&their_input) && !blocks(&their_output));

    echo(to_child, &mut from_child);
    let mut child = child;
    assert!(child.wait().unwrap().success());
    assert!(blocks(&their_input) && blocks(&their_output));
    drop(their_output);
    finish(child, from_child);
}

#[test]
fn one_socket_for_both_ends_is_polled_and_blocks_again_afterwards() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let copy = || OwnedFd::from(theirs.try_clone().unwrap());
    let mut child = start(copy(), copy(), Stdio::inherit());
    let mut from_child = until_ready(ours.try_clone().unwrap());
    assert!(!blocks(&theirs));

    echo(ours.try_clone().unwrap(), &mut from_child);
    ours.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(child.wait().unwrap().success());
    assert!(blocks(&theirs));
    drop(theirs);
    finish(child, from_child);
}

#[test]
fn a_pipe_that_standard_error_shares_stays_blocking_and_works_all_the_same() {
    let (input, to_child) = io::pipe().unwrap();
    let (from_child, output) = io::pipe().unwrap();
    let (their_input, their_output) = (input.try_clone().unwrap(), output.try_clone().unwrap());
    let stderr = output.try_clone().unwrap();
    let child = start(input, output, stderr);
    let mut from_child = until_ready(from_child);
    assert!(!blocks(&their_input), "standard input is a pipe of its own");
    assert!(blocks(&their_output));
    drop(their_output);

    echo(to_child, &mut from_child);
    finish(child, from_child);
}

#[test]
fn files_work_too() {
    let directory = std::env::temp_dir();
    let name = |end| directory.join(format!("endturn-stdio-{}-{end}", std::process::id()));
    fs::write(name("in"), bytes()).unwrap();
    let output = File::create_new(name("out")).unwrap();
    let input = File::open(name("in")).unwrap();
    let mut child = start(input, output, Stdio::inherit());
    assert!(child.wait().unwrap().success());

    let mut written = File::open(name("out")).unwrap();
    let mut echoed = Vec::new();
    written.rewind().unwrap();
    until_ready(written).read_to_end(&mut echoed).unwrap();
    assert!(echoed == bytes());
    for end in ["in", "out"] {
        fs::remove_file(name(end)).unwrap();
    }
}

#[test]
fn the_end_of_input_ends_the_echo() {
    let (input, to_child): (PipeReader, _) = io::pipe().unwrap();
    let (from_child, output) = io::pipe().unwrap();
    let child = start(input, output, Stdio::inherit());
    let from_child = until_ready(from_child);
    drop(to_child);
    finish(child, from_child);
}
