//! `endturn run`: the files and terminals that it offers the agent.
#![cfg(unix)]

mod common;

use std::{fs, path::Path, process::Command};

use common::{End, Run, endturn, run_script};

/// Runs a script of the scripted agent with this working directory.
fn run_in(dir: &Path, args: &[&str], script: &str) -> End {
    let mut command = endturn(&["run", "--cwd"]);
    command.arg(dir).args(args).arg(script);
    finished(command)
}

fn finished(command: Command) -> End {
    let end = Run::start(command).finish();
    end.expect_code(0);
    end
}

#[test]
fn files_below_the_working_directory_are_served_without_a_question() {
    let dir = tempfile::tempdir().unwrap();
    let end = run_in(dir.path(), &[], "write new/a.txt hello you\nread new/a.txt");
    let file = dir.path().join("new/a.txt");
    assert_eq!(fs::read_to_string(&file).unwrap(), "hello you\n");
    assert_eq!(
        end.stdout,
        format!(
            "[tool] Write new/a.txt: pending; {} +1 -0\n\
             [tool] Write new/a.txt: in_progress\n\
             [tool] Write new/a.txt: completed\n\
             [Wrote 10 bytes to new/a.txt]\n\
             [tool] Read new/a.txt: pending\n\
             [tool] Read new/a.txt: in_progress\n\
             [tool] Read new/a.txt: completed; \"hello you\"\n\
             hello you\n\
             stop reason: end_turn\n",
            file.display()
        )
    );
}

#[test]
fn other_files_are_not_served() {
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("secret.txt");
    fs::write(&file, "secret").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = file.display();
    let end = run_in(dir.path(), &[], &format!("read {path}\nwrite {path} x"));
    assert_eq!(end.stdout.matches("[Failed: ").count(), 2, "{end}");
    end.expect_no_stdout("secret\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "secret");

    let end = run_in(dir.path(), &[], "read missing.txt");
    end.expect_stdout("[tool] Read missing.txt: failed");
    end.expect_stdout("[Failed: Resource not found]");
}

#[test]
fn commands_run_in_the_working_directory() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let end = run_in(&dir, &[], "run pwd; echo oops >&2; exit 3");
    end.expect_stdout("[tool] pwd; echo oops >&2; exit 3: pending\n");
    end.expect_stdout("in_progress; terminal ");
    end.expect_stdout(&format!("{}\noops\n[Exit code 3]", dir.display()));
}

#[test]
fn a_command_ends_with_its_turn() {
    let mut run = Run::start(endturn(&["run", "say ready\nrun echo up; sleep 1000"]));
    run.read_until("in_progress; terminal");
    run.interrupt();
    // That the command is gone too is looked at when the run is finished.
    let end = run.finish();
    end.expect_code(3);
}

#[test]
fn what_is_switched_off_is_not_offered() {
    let dir = tempfile::tempdir().unwrap();
    let script = "read a\nwrite a b\nrun pwd";
    let end = run_in(dir.path(), &["--no-fs"], script);
    end.expect_stdout("[The client does not offer fs.readTextFile]");
    end.expect_stdout("[The client does not offer fs.writeTextFile]");
    end.expect_stdout("[Exit code 0]");
    assert!(!dir.path().join("a").exists());

    let end = run_in(dir.path(), &["--no-terminal"], script);
    end.expect_stdout("[The client does not offer terminal]");
    end.expect_stdout("[Wrote 2 bytes to a]");
}

#[test]
fn the_agent_is_told_what_is_offered() {
    let script = r#"read -r line; echo "$line" >&2"#;
    for (args, fs, terminal) in [
        (&["hi"][..], true, true),
        (&["--no-fs", "hi"], false, true),
        (&["--no-terminal", "hi"], true, false),
    ] {
        let end = Run::start(run_script(args, script)).finish();
        let hello: serde_json::Value =
            serde_json::from_str(end.stderr.lines().next().unwrap()).unwrap();
        let offers = &hello["params"]["clientCapabilities"];
        let offered = |value: &serde_json::Value| value.as_bool().unwrap_or(false);
        assert_eq!(offered(&offers["fs"]["readTextFile"]), fs, "{hello}");
        assert_eq!(offered(&offers["fs"]["writeTextFile"]), fs, "{hello}");
        assert_eq!(offered(&offers["terminal"]), terminal, "{hello}");
        assert!(offers["session"]["configOptions"]["boolean"].is_object());
        assert_eq!(hello["params"]["clientInfo"]["name"], "endturn");
    }
}

#[test]
fn a_careful_agent_asks_and_is_answered_as_the_flags_say() {
    let dir = tempfile::tempdir().unwrap();
    let end = run_in(dir.path(), &["--mode", "careful"], "write a b");
    end.expect_stdout("[mode] careful\n");
    end.expect_stdout("[permission] Write a: Reject (nobody to ask; --allow grants it)\n");
    end.expect_stdout("[tool] Write a: failed\n");
    assert!(!dir.path().join("a").exists());

    let end = run_in(dir.path(), &["--mode", "careful", "--allow"], "write a b");
    end.expect_stdout("[permission] Write a: Allow\n");
    end.expect_stdout("[tool] Write a: completed\n");
    assert!(dir.path().join("a").exists());
}
