//! Where and with what the figures were made.

use std::{fs, process::Command, thread};

use crate::{agents, arguments::Plan, child::Result};

pub(crate) fn describe(plan: &Plan) -> Result<String> {
    let cpus = thread::available_parallelism()?;
    let mut text = format!(
        "Measured on {}, on {cpus} CPUs ({}), Linux {}, as the median of {} interleaved rounds.\n",
        output("date", &["--utc", "+%Y-%m-%d"]),
        cpu()?,
        fs::read_to_string("/proc/sys/kernel/osrelease")?.trim(),
        plan.rounds,
    );
    text += &format!(
        "{}; Node.js {}; {}.\n",
        output("rustc", &["--version"]),
        output("node", &["--version"]),
        output("python3", &["--version"]),
    );
    let home = agents::home();
    let ours = fs::read_to_string(home.join("Cargo.lock"))?;
    text += &versions(
        &ours,
        &[
            "endturn",
            "agent-client-protocol-schema",
            "tokio",
            "serde_json",
        ],
    );
    if let Ok(theirs) = fs::read_to_string(home.join("peers/official/Cargo.lock")) {
        text += "The official Rust SDK with ";
        text += &versions(
            &theirs,
            &[
                "agent-client-protocol",
                "agent-client-protocol-schema",
                "tokio",
            ],
        );
    }
    Ok(text)
}

fn cpu() -> Result<String> {
    let info = fs::read_to_string("/proc/cpuinfo")?;
    let name = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    Ok(name
        .map_or("unknown", |name| name.trim_matches(['\t', ' ', ':']))
        .to_owned())
}

/// The versions of packages in a lock file.
fn versions(lock: &str, packages: &[&str]) -> String {
    let found: Vec<_> = packages
        .iter()
        .filter_map(|package| {
            let key = format!("name = \"{package}\"\nversion = \"");
            let (_, rest) = lock.split_once(&key)?;
            let (version, _) = rest.split_once('"')?;
            Some(format!("{package} {version}"))
        })
        .collect();
    found.join(", ") + ".\n"
}

/// What a program prints; a program that is not there is not in the comparison either.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    match output {
        Ok(output) => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
        Err(_) => format!("no {program}"),
    }
}
