//! Reading a file, or some of its lines.

use std::{
    io::{self, BufRead, BufReader},
    path::Path,
};

use cap_std::fs::{File, OpenOptions};

use super::{
    refusal::{refused, too_large},
    resolve::{Place, Roots},
};
use crate::{
    client::local::invalid,
    schema::v1::{self, ReadTextFileRequest},
};

/// How much of a file is in memory beside what is returned.
const BLOCK: usize = 64 * 1024;

/// Why lines could not be read.
#[derive(Debug)]
pub(super) enum Fault {
    TooLarge,
    Stopped,
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

pub(super) fn read(
    roots: &Roots,
    request: &ReadTextFileRequest,
    max_bytes: u64,
    stopped: &dyn Fn() -> bool,
) -> Result<String, v1::Error> {
    let line = request.line.unwrap_or(1);
    let Some(skip) = line.checked_sub(1) else {
        return Err(invalid("line", "lines count from 1"));
    };
    let path = &request.path;
    let file = open(path, &roots.resolve(path)?)?;
    if skip == 0 && request.limit.is_none() {
        // To refuse a huge file before it is read; what is read counts all the same.
        let size = file
            .metadata()
            .map_err(|error| refused(path, &error))?
            .len();
        if size > max_bytes {
            return Err(too_large("limit", max_bytes));
        }
    }
    let file = BufReader::with_capacity(BLOCK, file);
    let text =
        lines(file, skip, request.limit, max_bytes, stopped).map_err(|fault| match fault {
            Fault::TooLarge => too_large("limit", max_bytes),
            Fault::Stopped => v1::Error::request_cancelled(),
            Fault::Io(error) => refused(path, &error),
        })?;
    String::from_utf8(text).map_err(|_| invalid("path", "it is not text in UTF-8"))
}

/// Opens a regular file, without waiting for anybody.
fn open(path: &Path, place: &Place<'_>) -> Result<File, v1::Error> {
    let io = |error: io::Error| refused(path, &error);
    // For everything but the root itself; opening a device can have effects, so it is looked at first.
    if place.path.as_os_str().is_empty() {
        return Err(invalid("path", "it is a directory"));
    }
    is_regular(&place.dir.metadata(&place.path).map_err(io)?)?;
    let file = place
        .dir
        .open_with(&place.path, without_waiting(OpenOptions::new().read(true)))
        .map_err(io)?;
    is_regular(&file.metadata().map_err(io)?)?;
    Ok(file)
}

/// Has a named pipe that took the file's place opened without a peer, and a terminal without becoming ours.
pub(super) fn without_waiting(options: &mut OpenOptions) -> &OpenOptions {
    #[cfg(unix)]
    {
        use cap_std::fs::OpenOptionsExt as _;
        use rustix::fs::OFlags;

        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    options
}

pub(super) fn is_regular(metadata: &cap_std::fs::Metadata) -> Result<(), v1::Error> {
    if metadata.is_dir() {
        Err(invalid("path", "it is a directory"))
    } else if metadata.is_file() {
        Ok(())
    } else {
        Err(invalid("path", "it is not a regular file"))
    }
}

/// Reads up to `limit` lines behind the first `skip`, with their ends.
pub(super) fn lines(
    mut file: impl BufRead,
    skip: u32,
    limit: Option<u32>,
    max_bytes: u64,
    stopped: &dyn Fn() -> bool,
) -> Result<Vec<u8>, Fault> {
    let mut skip = skip;
    let mut limit = limit;
    let mut text = Vec::new();
    while skip > 0 {
        let block = fill(&mut file, stopped)?;
        if block.is_empty() {
            return Ok(text);
        }
        let used = end_of_lines(block, &mut skip);
        file.consume(used);
    }
    while limit != Some(0) {
        let block = fill(&mut file, stopped)?;
        if block.is_empty() {
            break;
        }
        let used = match &mut limit {
            None => block.len(),
            Some(limit) => end_of_lines(block, limit),
        };
        if (text.len() + used) as u64 > max_bytes {
            return Err(Fault::TooLarge);
        }
        text.extend_from_slice(&block[..used]);
        file.consume(used);
    }
    Ok(text)
}

/// The next block, which is empty at the end of the file.
fn fill<'a>(file: &'a mut impl BufRead, stopped: &dyn Fn() -> bool) -> Result<&'a [u8], Fault> {
    loop {
        if stopped() {
            return Err(Fault::Stopped);
        }
        match file.fill_buf() {
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    // What is in the buffer, without reading again.
    Ok(file.fill_buf()?)
}

/// How many bytes of the block belong to the next `left` lines; counts those that end in it.
fn end_of_lines(block: &[u8], left: &mut u32) -> usize {
    for end in memchr::memchr_iter(b'\n', block) {
        *left -= 1;
        if *left == 0 {
            return end + 1;
        }
    }
    block.len()
}
