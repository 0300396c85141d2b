//! Who takes part, and how they are built.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{child::Result, jobs::Role};

/// What a program stands for in the comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Written by hand for these jobs; the first one of a role is what all ratios are to.
    Floor,
    /// endturn, in the way that the targets are about.
    Endturn,
    /// endturn on a runtime with several threads.
    EndturnMulti,
    /// The scripted agent, which has a larger language to read.
    Scripted,
    /// Another SDK.
    Peer,
    /// endturn with one of its features in use, beside endturn without it.
    Feature,
}

#[derive(Debug, Clone)]
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    pub(crate) role: Role,
    pub(crate) kind: Kind,
    program: PathBuf,
    arguments: Vec<String>,
}

impl Contestant {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        command
    }
}

/// The folder of the benchmarks.
pub(crate) fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// What is in this workspace, built if it is asked for; nothing here is optional.
pub(crate) fn ours(built: bool) -> Result<Vec<Contestant>> {
    use Kind::{Endturn, EndturnMulti, Feature, Floor, Scripted};
    use Role::{Agent, Both, Client};

    let programs = target()?.join("release");
    if !built {
        build(&home().join("Cargo.toml"), &target()?)?;
    }
    let one = |name, role, kind, program: &str, arguments: &[&str]| Contestant {
        name,
        role,
        kind,
        program: programs.join(program),
        arguments: arguments.iter().map(|&text| text.to_owned()).collect(),
    };
    Ok(vec![
        one("floor: tokio, by hand", Agent, Floor, "floor_tokio", &[]),
        one(
            "floor: threads, by hand",
            Agent,
            Floor,
            "floor_threads",
            &[],
        ),
        one("endturn", Agent, Endturn, "endturn_minimal", &[]),
        one(
            "endturn, multi-thread",
            Agent,
            EndturnMulti,
            "endturn_minimal",
            &["--multi"],
        ),
        one(
            "endturn, scripted agent",
            Agent,
            Scripted,
            "endturn_scripted",
            &[],
        ),
        one(
            "endturn, events off",
            Agent,
            Feature,
            "endturn_features",
            &["--log=off"],
        ),
        one(
            "endturn, events at info",
            Agent,
            Feature,
            "endturn_features",
            &["--log=info"],
        ),
        one(
            "endturn, blocking handler",
            Agent,
            Feature,
            "endturn_features",
            &["--blocking"],
        ),
        one(
            "child process",
            Both,
            Endturn,
            "endturn_transports",
            &["process"],
        ),
        one(
            "in memory, one thread for both",
            Both,
            Feature,
            "endturn_transports",
            &["memory"],
        ),
        one("floor: client by hand", Client, Floor, "client_floor", &[]),
        one("endturn client", Client, Endturn, "client_endturn", &[]),
        one(
            "endturn client, multi-thread",
            Client,
            EndturnMulti,
            "client_endturn",
            &["--multi"],
        ),
    ])
}

/// Builds the other SDKs' agents; what cannot be built is left out, and said.
pub(crate) fn peers() -> Result<Vec<Contestant>> {
    let peers = home().join("peers");
    let mut found = Vec::new();
    let mut add = |name, role, program: PathBuf, arguments: &[&str]| {
        found.push(Contestant {
            name,
            role,
            kind: Kind::Peer,
            program,
            arguments: arguments.iter().map(|&text| text.to_owned()).collect(),
        });
    };

    let target = target()?.join("peers");
    match build(&peers.join("official/Cargo.toml"), &target.join("official")) {
        Ok(built) => {
            add(
                "official Rust SDK 5.2",
                Role::Agent,
                built.join("official_agent"),
                &[],
            );
            add(
                "official Rust SDK 5.2, tuned",
                Role::Agent,
                built.join("official_agent"),
                &["--tuned"],
            );
            add(
                "official Rust SDK 5.2 client",
                Role::Client,
                built.join("official_client"),
                &[],
            );
        }
        Err(error) => eprintln!("without the official Rust SDK: {error}"),
    }
    match run(&mut Command::new(peers.join("typescript/setup"))) {
        Ok(()) => {
            let agent = peers.join("typescript/agent.mjs");
            add(
                "TypeScript SDK 2.4",
                Role::Agent,
                "node".into(),
                &[&agent.to_string_lossy()],
            );
        }
        Err(error) => eprintln!("without the TypeScript SDK: {error}"),
    }
    let venv = target.join("python");
    match run(Command::new(peers.join("python/setup")).arg(&venv)) {
        Ok(()) => {
            let agent = peers.join("python/agent.py");
            add(
                "Python SDK 0.12",
                Role::Agent,
                venv.join("bin/python"),
                &[&agent.to_string_lossy()],
            );
        }
        Err(error) => eprintln!("without the Python SDK: {error}"),
    }
    Ok(found)
}

/// The target directory that this program was built into.
fn target() -> Result<PathBuf> {
    let program = env::current_exe()?;
    let target = program.ancestors().nth(2);
    Ok(target
        .ok_or("the driver is not where Cargo puts it")?
        .to_owned())
}

/// Builds a workspace in release mode, and gives the folder of its programs.
fn build(manifest: &Path, target: &Path) -> Result<PathBuf> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args([
        "build",
        "--quiet",
        "--release",
        "--workspace",
        "--locked",
        "--manifest-path",
    ]);
    run(cargo.arg(manifest).arg("--target-dir").arg(target))?;
    Ok(target.join("release"))
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} failed: {status}", command.get_program().display()).into())
    }
}
