//! Captured standard error: read as it comes, of which the end is kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much is kept. A panic message with its backtrace fits, and so does a dialogue that shows it.
const KEPT: usize = 8 * 1024;

/// How much is read at once.
const CHUNK: usize = 4 * 1024;

/// The end of what was written to standard error.
#[derive(Clone, Debug, Default)]
pub(super) struct Tail(Arc<Mutex<Bytes>>);

#[derive(Debug, Default)]
struct Bytes {
    /// At most `2 * KEPT + CHUNK`, so that the old is thrown away in large pieces.
    kept: Vec<u8>,
    /// Whether something older is missing.
    cut: bool,
}

/// Reads to the end. A read error is an end as well: nothing more will come.
pub(super) async fn drain(mut stderr: impl AsyncRead + Unpin, tail: Tail) {
    let mut chunk = vec![0; CHUNK];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        tail.push(&chunk[..read]);
    }
}

impl Tail {
    fn push(&self, new: &[u8]) {
        let mut bytes = self.lock();
        bytes.kept.extend_from_slice(new);
        if bytes.kept.len() > 2 * KEPT {
            let old = bytes.kept.len() - KEPT;
            // One byte more than is shown: whether a line starts at the cut can only be seen there.
            bytes.kept.drain(..old - 1);
            bytes.cut = true;
        }
    }

    /// The last `KEPT` bytes, from the start of a line on.
    ///
    /// If that would leave nothing, because the last line is longer than all that is kept, the end
    /// of that line is returned.
    pub(super) fn text(&self) -> String {
        let bytes = self.lock();
        let kept = bytes.kept.as_slice();
        let first = kept.len().saturating_sub(KEPT);
        if first == 0 && !bytes.cut {
            return String::from_utf8_lossy(kept).into_owned();
        }
        // `first` is at least 1 here: a cut leaves `KEPT + 1` bytes or more.
        let before = &kept[first - 1..];
        let line = before
            .iter()
            .position(|&byte| byte == b'\n')
            .map(|at| &before[at + 1..]);
        match line {
            Some(line) if !line.is_empty() => String::from_utf8_lossy(line).into_owned(),
            Some(_) | None => {
                // Not from the middle of a character.
                let shown = &kept[first..];
                let start = shown
                    .iter()
                    .take_while(|&&byte| byte & 0xC0 == 0x80)
                    .count();
                String::from_utf8_lossy(&shown[start..]).into_owned()
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Bytes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tail_of(pieces: &[&[u8]]) -> Tail {
        let tail = Tail::default();
        for piece in pieces {
            tail.push(piece);
        }
        tail
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        assert_eq!(tail_of(&[b"one\ntw", b"o\n"]).text(), "one\ntwo\n");
        let full = [b'x'; KEPT];
        assert_eq!(tail_of(&[&full]).text().len(), KEPT);
    }

    #[test]
    fn a_longer_text_is_cut_at_the_start_of_a_line() {
        let line = b"0123456789\n";
        let tail = tail_of(&[line.as_slice(); 10_000]);
        let text = tail.text();
        assert!(text.len() <= KEPT && text.len() > KEPT - line.len());
        assert!(text.starts_with("0123456789\n") && text.ends_with("0123456789\n"));
    }

    #[test]
    fn a_line_that_starts_right_at_the_cut_is_kept_whole() {
        for extra in [0, KEPT, 5 * KEPT] {
            let mut text = vec![b'a'; extra + 9];
            text.push(b'\n');
            text.extend([b'b'; KEPT]);
            let tail = tail_of(&text.chunks(100).collect::<Vec<_>>());
            assert_eq!(tail.text(), "b".repeat(KEPT), "{extra} bytes before");
        }
    }

    #[test]
    fn the_end_of_an_endless_line_is_shown_from_a_whole_character_on() {
        let tail = tail_of(&["x".as_bytes(), "€".repeat(KEPT).as_bytes()]);
        let text = tail.text();
        assert!(text.chars().all(|char| char == '€') && text.len() > KEPT - 3);
    }

    #[test]
    fn memory_is_bounded() {
        let tail = tail_of(&[[b'x'; CHUNK].as_slice(); 1000]);
        assert!(tail.lock().kept.capacity() <= 4 * KEPT);
    }

    #[tokio::test]
    async fn a_reader_is_drained_to_its_end() {
        let tail = Tail::default();
        drain(&b"some words"[..], tail.clone()).await;
        assert_eq!(tail.text(), "some words");
    }
}
