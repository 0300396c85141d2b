//! Non-blocking mode, borrowed and given back.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// Some descriptors in non-blocking mode. Dropping it makes those block again that did before.
#[derive(Debug)]
pub(super) struct NonBlocking {
    /// Duplicates of those that were blocking. Two of them may share a description.
    changed: Vec<OwnedFd>,
}

impl NonBlocking {
    /// Makes all the descriptors non-blocking.
    ///
    /// If one of them fails, those already changed are changed back.
    pub(super) fn set<'fd>(fds: impl IntoIterator<Item = &'fd OwnedFd>) -> io::Result<Self> {
        // All are read before any is set: with two descriptors of one description, the second
        // would otherwise look as if it had been non-blocking from the start.
        let mut blocking = Vec::new();
        for fd in fds {
            if !is_set(fd)? {
                blocking.push(fd.try_clone()?);
            }
        }
        let mut this = Self {
            changed: Vec::with_capacity(blocking.len()),
        };
        for fd in blocking {
            change(&fd, true)?;
            this.changed.push(fd);
        }
        Ok(this)
    }
}

impl Drop for NonBlocking {
    fn drop(&mut self) {
        for fd in &self.changed {
            // Nobody is left to tell, and there is nothing else to try.
            let _ = change(fd, false);
        }
    }
}

/// Whether reads and writes fail rather than wait.
pub(super) fn is_set(fd: impl AsFd) -> io::Result<bool> {
    Ok(fcntl_getfl(fd)?.contains(OFlags::NONBLOCK))
}

/// Sets or clears this one flag and leaves the others as they are at this moment.
fn change(fd: &OwnedFd, nonblocking: bool) -> io::Result<()> {
    let mut flags = fcntl_getfl(fd)?;
    flags.set(OFlags::NONBLOCK, nonblocking);
    Ok(fcntl_setfl(fd, flags)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pipe() -> (OwnedFd, OwnedFd) {
        let (reader, writer) = io::pipe().unwrap();
        (reader.into(), writer.into())
    }

    #[test]
    fn the_flag_is_set_and_put_back() {
        let (reader, writer) = pipe();
        let guard = NonBlocking::set([&reader, &writer]).unwrap();
        assert!(is_set(&reader).unwrap() && is_set(&writer).unwrap());
        drop(guard);
        assert!(!is_set(&reader).unwrap() && !is_set(&writer).unwrap());
    }

    #[test]
    fn two_descriptors_of_one_description_block_again_afterwards() {
        let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
        let input = OwnedFd::from(socket);
        let output = input.try_clone().unwrap();
        let guard = NonBlocking::set([&input, &output]).unwrap();
        assert!(is_set(&output).unwrap());
        drop(guard);
        assert!(!is_set(&input).unwrap());
    }

    #[test]
    fn a_descriptor_that_was_non_blocking_stays_so() {
        let (reader, _writer) = pipe();
        change(&reader, true).unwrap();
        drop(NonBlocking::set([&reader]).unwrap());
        assert!(is_set(&reader).unwrap());
    }
}
