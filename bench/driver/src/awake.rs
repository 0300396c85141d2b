//! Keeps the processors awake while latencies are measured.
//!
//! On a machine with nothing else to do, a processor goes to sleep between a message and its answer, and waking it, in a virtual machine above all, takes several times as long as any agent does.
//! That time is the machine's and differs from run to run, so that ratios drown in it.
//! One loop per processor at the lowest priority gives way to everything at once and leaves the processor nothing to sleep for.

use std::process::{Child, Command, Stdio};

pub(crate) struct Awake(Vec<Child>);

impl Awake {
    /// Starts the loops; without `nice` and `sh` it says so and measures all the same.
    pub(crate) fn keep() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let loops: std::io::Result<Vec<Child>> = (0..processors)
            .map(|_| {
                Command::new("nice")
                    // Bounded, in case this program is killed and cannot end it.
                    .args([
                        "-n",
                        "19",
                        "timeout",
                        "1h",
                        "sh",
                        "-c",
                        "while :; do :; done",
                    ])
                    .stdin(Stdio::null())
                    .spawn()
            })
            .collect();
        Self(loops.unwrap_or_else(|error| {
            eprintln!("the processors may fall asleep: {error}");
            Vec::new()
        }))
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // A signal that `timeout` can catch, because it has to pass it on to the loop.
            drop(Command::new("kill").arg(child.id().to_string()).status());
            drop(child.wait());
        }
    }
}
