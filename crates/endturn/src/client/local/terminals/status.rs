//! How a process exited, in the protocol's words.

use std::process::ExitStatus;

use crate::schema::v1::TerminalExitStatus;

#[cfg(unix)]
pub(super) fn status(exit: ExitStatus) -> TerminalExitStatus {
    use std::os::unix::process::ExitStatusExt as _;

    TerminalExitStatus::new()
        .exit_code(exit.code().map(i32::cast_unsigned))
        .signal(exit.signal().map(signal_name))
}

#[cfg(windows)]
pub(super) fn status(exit: ExitStatus) -> TerminalExitStatus {
    TerminalExitStatus::new().exit_code(exit.code().map(i32::cast_unsigned))
}

/// The name that people know a signal by.
#[cfg(unix)]
fn signal_name(number: i32) -> String {
    use rustix::process::Signal;

    // The numbers differ between systems.
    let names = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::VTALARM, "SIGVTALRM"),
        (Signal::PROF, "SIGPROF"),
        (Signal::SYS, "SIGSYS"),
    ];
    let name = names.iter().find(|(signal, _)| signal.as_raw() == number);
    name.map_or_else(|| format!("SIG{number}"), |(_, name)| (*name).to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn an_exit_has_a_code_or_the_name_of_a_signal() {
        let exited = status(ExitStatus::from_raw(3 << 8));
        assert_eq!((exited.exit_code, exited.signal), (Some(3), None));
        for (number, name) in [(9, "SIGKILL"), (6, "SIGABRT"), (99, "SIG99")] {
            let killed = status(ExitStatus::from_raw(number));
            assert_eq!(
                (killed.exit_code, killed.signal.as_deref()),
                (None, Some(name))
            );
        }
    }
}
