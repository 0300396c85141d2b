//! Colours, and the words for people on standard error.

use std::io::{self, Write};

use anstream::{AutoStream, ColorChoice, stream::RawStream};
use anstyle::{AnsiColor, Style};

/// Whether to write colours to a stream: only to a terminal, and `NO_COLOR` and the like are heeded.
pub(crate) fn coloured(stream: &impl RawStream) -> bool {
    AutoStream::choice(stream) != ColorChoice::Never
}

/// How the parts of the output look; without colours, all the same.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Styles {
    /// What an agent does and thinks, beside what it says.
    pub(crate) aside: Style,
    pub(crate) strong: Style,
    pub(crate) error: Style,
    pub(crate) warning: Style,
    pub(crate) hint: Style,
}

impl Styles {
    pub(crate) fn for_stream(stream: &impl RawStream) -> Self {
        if !coloured(stream) {
            return Self::default();
        }
        let bold = Style::new().bold();
        Self {
            aside: Style::new().dimmed(),
            strong: bold,
            error: bold.fg_color(Some(AnsiColor::Red.into())),
            warning: bold.fg_color(Some(AnsiColor::Yellow.into())),
            hint: bold.fg_color(Some(AnsiColor::Cyan.into())),
        }
    }
}

/// An error, and what to try, for people.
pub(crate) fn error_lines(styles: &Styles, message: &str, hint: Option<&str>) -> String {
    let mut lines = labelled(styles.error, "error", message);
    if let Some(hint) = hint {
        lines += &labelled(styles.hint, "hint", hint);
    }
    lines
}

pub(crate) fn labelled(style: Style, label: &str, text: &str) -> String {
    format!("{style}{label}:{style:#} {text}\n")
}

/// Says what went wrong, where nothing else is being shown.
pub(crate) fn complain(message: &str, hint: Option<&str>) {
    let lines = error_lines(&Styles::for_stream(&io::stderr()), message, hint);
    // Without a standard error there is only the exit code.
    let _ = io::stderr().write_all(lines.as_bytes());
}

/// Text of somebody else's as part of a line: without control characters, which could move the cursor or colour the terminal, and not too long.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let printable = text.split(|char: char| char.is_whitespace() || char.is_control());
    let words: Vec<&str> = printable.filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_becomes_one_short_line_without_escape_sequences() {
        assert_eq!(one_line(" a\n\tb\x1b[31mc\r\n", 80), "a b [31mc");
        assert_eq!(one_line("äöü", 3), "äöü");
        assert_eq!(one_line("äöüß", 3), "äöü…");
        assert_eq!(one_line("", 3), "");
    }
}
