//! What the folder `peers` has, once it is installed.

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread;

/// The peer, or `None` after saying that the test is skipped and why.
pub(crate) fn installed<T>(peer: Result<T, String>) -> Option<T> {
    let why = match peer {
        Ok(peer) => return Some(peer),
        Err(why) => why,
    };
    let required = env::var_os("ENDTURN_REQUIRE_PEERS").is_some_and(|value| value == "1");
    assert!(!required, "{why}, and ENDTURN_REQUIRE_PEERS=1 demands it");
    let test = thread::current().name().unwrap_or("a test").to_owned();
    // Not `eprintln!`, whose output the test runner hides for a test that passes.
    writeln!(io::stderr(), "skipped {test}: {why}").expect("standard error is open");
    None
}

/// Installs the peers, once for all tests of this process; it does nothing when they are there.
pub(crate) fn install() -> Result<(), String> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    let run = || {
        let install = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers/install");
        let output = Command::new(&install)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("{} does not run: {error}", install.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let reason = String::from_utf8_lossy(&output.stderr);
        Err(format!("peers/install failed: {}", reason.trim()))
    };
    INSTALLED.get_or_init(run).clone()
}

/// A file of the folder `peers`.
pub(crate) fn peer(path: &str) -> Result<PathBuf, String> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../peers");
    peers
        .join(path)
        .canonicalize()
        .map_err(|_| format!("peers/{path} is missing"))
}
