//! The signals by which people and supervisors end a program.

use std::{fmt, io};

/// A request to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// What `kill` and supervisors send.
    Terminate,
    /// The terminal is gone.
    Hangup,
}

impl Signal {
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Hangup => 1,
            Self::Interrupt => 2,
            Self::Terminate => 15,
        }
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "Ctrl-C",
            Self::Terminate => "the signal TERM",
            Self::Hangup => "the end of the terminal",
        })
    }
}

#[cfg(unix)]
pub(crate) use unix::Signals;
#[cfg(windows)]
pub(crate) use windows::Signals;

#[cfg(unix)]
mod unix {
    use tokio::signal::unix::{self, SignalKind};

    use super::{Signal, io};

    /// Catches the signals from its creation on, also while nobody waits for one.
    pub(crate) struct Signals {
        interrupt: unix::Signal,
        terminate: unix::Signal,
        hangup: Option<unix::Signal>,
    }

    impl Signals {
        pub(crate) fn catch() -> io::Result<Self> {
            let hangup = if hangup_is_ignored() {
                None
            } else {
                Some(unix::signal(SignalKind::hangup())?)
            };
            Ok(Self {
                interrupt: unix::signal(SignalKind::interrupt())?,
                terminate: unix::signal(SignalKind::terminate())?,
                hangup,
            })
        }

        /// Waits for the next one.
        pub(crate) async fn next(&mut self) -> Signal {
            let hangup = async {
                if let Some(hangup) = &mut self.hangup {
                    hangup.recv().await;
                } else {
                    std::future::pending().await
                }
            };
            tokio::select! {
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.terminate.recv() => Signal::Terminate,
                () = hangup => Signal::Hangup,
            }
        }
    }

    /// Whether this program was started by `nohup`, which catching the signal would undo.
    ///
    /// Only Linux tells. Elsewhere the terminal's end is taken as meant for this program, since an
    /// agent left behind by a closed window is the more common trouble.
    fn hangup_is_ignored() -> bool {
        let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
            return false;
        };
        status
            .lines()
            .find_map(|line| line.strip_prefix("SigIgn:"))
            .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
            .is_some_and(|mask| mask & 1 == 1)
    }
}

#[cfg(windows)]
mod windows {
    use tokio::signal::windows::{self, CtrlBreak, CtrlC, CtrlClose};

    use super::{Signal, io};

    /// Catches the events from its creation on, also while nobody waits for one.
    pub(crate) struct Signals {
        interrupt: CtrlC,
        terminate: CtrlBreak,
        hangup: CtrlClose,
    }

    impl Signals {
        pub(crate) fn catch() -> io::Result<Self> {
            Ok(Self {
                interrupt: windows::ctrl_c()?,
                terminate: windows::ctrl_break()?,
                hangup: windows::ctrl_close()?,
            })
        }

        /// Waits for the next one.
        pub(crate) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.terminate.recv() => Signal::Terminate,
                _ = self.hangup.recv() => Signal::Hangup,
            }
        }
    }
}
