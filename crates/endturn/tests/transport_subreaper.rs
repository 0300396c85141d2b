//! What an agent leaves behind, in a program that inherits orphans.
//!
//! The first process of a container does, and so does a subreaper, which is what this test makes of
//! itself; hence a file of its own. Orphans it does not reap stay members of their group for ever.

#![cfg(all(target_os = "linux", feature = "process"))]

use std::time::Duration;

use endturn::transport::AgentCommand;
use rustix::process::{getpid, set_child_subreaper};

#[tokio::test]
async fn orphans_are_reaped_so_that_their_group_is_seen_to_end() {
    set_child_subreaper(Some(getpid())).unwrap();
    let (agent, transport) = AgentCommand::new("sh")
        .args(["-c", "sleep 1000 & exit 7"])
        // If the corpse of `sleep` counted, stopping would take that long.
        .terminate_timeout(Duration::from_secs(3600))
        .spawn()
        .unwrap();
    let stopped = tokio::time::timeout(Duration::from_secs(20), agent.stop()).await;
    let status = stopped.expect("it takes too long").unwrap();
    assert_eq!(status.code(), Some(7));
    drop(transport);

    let children = rustix::process::wait(rustix::process::WaitOptions::NOHANG);
    assert_eq!(
        children.unwrap_err(),
        rustix::io::Errno::CHILD,
        "none is left, dead or alive"
    );
}
