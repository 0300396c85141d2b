//! What a script says.

use std::{fmt, str::FromStr, time::Duration};

use endturn::schema::v1::{Meta, StopReason};

/// A script for the [scripted agent](super), read from a prompt's text.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    pub(super) steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Step {
    Steps { count: u32, pause: Duration },
    Say(String),
    Think(String),
    Sleep(Duration),
    Ignore(Duration),
    Wait,
    Hang,
    Flood { count: u64, bytes: usize },
    Ask(String),
    Tool { title: String, duration: Duration },
    Late(String),
    Fail(String),
    Error { code: i32, message: String },
    Panic,
    End(StopReason),
    Meta(Meta),
}

/// Why a text that looks like a script is not one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidScript {
    line: usize,
    usage: &'static str,
}

impl fmt::Display for InvalidScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {} of the script should be: {}",
            self.line, self.usage
        )
    }
}

impl std::error::Error for InvalidScript {}

impl FromStr for Script {
    type Err = InvalidScript;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut steps = Vec::new();
        let lines = text.lines().map(str::trim).enumerate();
        for (number, line) in lines.filter(|(_, line)| !line.is_empty()) {
            match step(line) {
                Ok(Some(step)) => steps.push(step),
                Ok(None) if steps.is_empty() => break,
                Ok(None) => {
                    return Err(InvalidScript {
                        line: number + 1,
                        usage: "a step",
                    });
                }
                Err(usage) => {
                    return Err(InvalidScript {
                        line: number + 1,
                        usage,
                    });
                }
            }
        }
        if steps.is_empty() {
            steps.push(Step::Steps {
                count: 10,
                pause: Duration::from_millis(500),
            });
        }
        Ok(Self { steps })
    }
}

/// Reads one line; `None` if its first word is no step, `Err` with the right form if the rest is wrong.
fn step(line: &str) -> Result<Option<Step>, &'static str> {
    let (word, rest) = line
        .split_once(char::is_whitespace)
        .map_or((line, ""), |(word, rest)| (word, rest.trim()));
    let text = || (!rest.is_empty()).then(|| rest.to_owned());
    let alone = |step: Step| rest.is_empty().then_some(step);
    let (step, usage) = match word {
        "steps" => (steps(rest), "steps N DURATION"),
        "say" => (text().map(Step::Say), "say TEXT"),
        "think" => (text().map(Step::Think), "think TEXT"),
        "sleep" => (duration(rest).map(Step::Sleep), "sleep DURATION"),
        "ignore" => (duration(rest).map(Step::Ignore), "ignore DURATION"),
        "wait" => (alone(Step::Wait), "wait"),
        "hang" => (alone(Step::Hang), "hang"),
        "flood" => (flood(rest), "flood N BYTES"),
        "ask" => (text().map(Step::Ask), "ask TITLE"),
        "tool" => (tool(rest), "tool TITLE DURATION"),
        "late" => (text().map(Step::Late), "late TEXT"),
        "fail" => (text().map(Step::Fail), "fail MESSAGE"),
        "error" => (error(rest), "error CODE MESSAGE"),
        "panic" => (alone(Step::Panic), "panic"),
        "end" => (stop_reason(rest).map(Step::End), "end STOP_REASON"),
        "meta" => (
            serde_json::from_str(rest).ok().map(Step::Meta),
            "meta JSON_OBJECT",
        ),
        _ => return Ok(None),
    };
    step.map(Some).ok_or(usage)
}

fn steps(rest: &str) -> Option<Step> {
    let (count, pause) = rest.split_once(char::is_whitespace)?;
    Some(Step::Steps {
        count: count.parse().ok()?,
        pause: duration(pause)?,
    })
}

fn flood(rest: &str) -> Option<Step> {
    let (count, bytes) = rest.split_once(char::is_whitespace)?;
    Some(Step::Flood {
        count: count.parse().ok()?,
        bytes: bytes.trim().parse().ok()?,
    })
}

fn tool(rest: &str) -> Option<Step> {
    let (title, pause) = rest.rsplit_once(char::is_whitespace)?;
    Some(Step::Tool {
        title: title.trim().to_owned(),
        duration: duration(pause)?,
    })
}

fn error(rest: &str) -> Option<Step> {
    let (code, message) = rest.split_once(char::is_whitespace)?;
    Some(Step::Error {
        code: code.parse().ok()?,
        message: message.trim().to_owned(),
    })
}

/// A duration such as `500ms`, `60s`, `30m` or `1h 30m`; not a negative one.
fn duration(text: &str) -> Option<Duration> {
    let duration: jiff::SignedDuration = text.trim().parse().ok()?;
    duration.try_into().ok()
}

fn stop_reason(text: &str) -> Option<StopReason> {
    serde_json::from_value(text.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps_of(text: &str) -> Vec<Step> {
        text.parse::<Script>().unwrap().steps
    }

    #[test]
    fn every_step_can_be_written() {
        let text = "steps 3 10ms\nsay a  b\nthink c\nsleep 1s\nignore 1m\nwait\nhang\nflood 2 40\n\
            ask May I?\ntool Run it 5ms\nlate d\nfail e\nerror -32000 f g\npanic\nend max_tokens\n\
            meta {\"a\":1}";
        let ms = Duration::from_millis;
        let meta = serde_json::from_str(r#"{"a":1}"#).unwrap();
        assert_eq!(
            steps_of(text),
            [
                Step::Steps {
                    count: 3,
                    pause: ms(10)
                },
                Step::Say("a  b".into()),
                Step::Think("c".into()),
                Step::Sleep(ms(1000)),
                Step::Ignore(ms(60_000)),
                Step::Wait,
                Step::Hang,
                Step::Flood {
                    count: 2,
                    bytes: 40
                },
                Step::Ask("May I?".into()),
                Step::Tool {
                    title: "Run it".into(),
                    duration: ms(5)
                },
                Step::Late("d".into()),
                Step::Fail("e".into()),
                Step::Error {
                    code: -32000,
                    message: "f g".into()
                },
                Step::Panic,
                Step::End(StopReason::MaxTokens),
                Step::Meta(meta),
            ]
        );
    }

    #[test]
    fn any_other_text_runs_ten_steps() {
        let ten = [Step::Steps {
            count: 10,
            pause: Duration::from_millis(500),
        }];
        for text in ["Do a long task", "", "\n\n", "Hello\nsay no"] {
            assert_eq!(steps_of(text), ten, "{text}");
        }
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let error = |text: &str| text.parse::<Script>().unwrap_err().to_string();
        assert_eq!(
            error("say a\n\nsleep long"),
            "line 3 of the script should be: sleep DURATION"
        );
        assert_eq!(
            error("say a\nsing"),
            "line 2 of the script should be: a step"
        );
        assert_eq!(error("hang on"), "line 1 of the script should be: hang");
        assert_eq!(
            error("sleep -1s"),
            "line 1 of the script should be: sleep DURATION"
        );
    }
}
