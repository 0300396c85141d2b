use super::*;

fn steps_of(text: &str) -> Vec<Step> {
    text.parse::<Script>().unwrap().steps
}

#[test]
fn every_step_can_be_written() {
    let ms = Duration::from_millis;
    let cases = [
        (
            "steps 3 10ms",
            Step::Steps {
                count: 3,
                pause: ms(10),
            },
        ),
        ("say a  b", Step::Say("a  b".into())),
        ("think c", Step::Think("c".into())),
        ("sleep 1s", Step::Sleep(ms(1000))),
        ("ignore 1m", Step::Ignore(ms(60_000))),
        ("wait", Step::Wait),
        ("hang", Step::Hang),
        (
            "flood 2 40",
            Step::Flood {
                count: 2,
                bytes: 40,
            },
        ),
        ("ask May I?", Step::Ask("May I?".into())),
        ("elicit Who?", Step::Elicit("Who?".into())),
        (
            "tool Run it 5ms",
            Step::Tool {
                title: "Run it".into(),
                duration: ms(5),
            },
        ),
        ("read a b.txt", Step::Read("a b.txt".into())),
        (
            "write a.txt one  two",
            Step::Write {
                path: "a.txt".into(),
                text: "one  two".into(),
            },
        ),
        ("run ls -l | wc", Step::Run("ls -l | wc".into())),
        (
            "plan look; think;; act",
            Step::Plan(["look", "think", "act"].map(str::to_owned).into()),
        ),
        (
            "usage 10 200",
            Step::Usage {
                used: 10,
                size: 200,
            },
        ),
        ("title My work", Step::Title("My work".into())),
        ("mode careful", Step::Mode(Mode::Careful)),
        (
            "set model large",
            Step::Set(Setting::of("model", "large").unwrap()),
        ),
        ("set thinking false", Step::Set(Setting::Thinking(false))),
        ("late d", Step::Late("d".into())),
        ("fail e", Step::Fail("e".into())),
        (
            "error -32000 f g",
            Step::Error {
                code: -32000,
                message: "f g".into(),
            },
        ),
        ("panic", Step::Panic),
        ("end max_tokens", Step::End(StopReason::MaxTokens)),
        (
            r#"meta {"a":1}"#,
            Step::Meta(serde_json::from_str(r#"{"a":1}"#).unwrap()),
        ),
        ("/help", Step::Help),
    ];
    let text = cases.each_ref().map(|(line, _)| *line).join("\n");
    let expected: Vec<_> = cases.map(|(_, step)| step).into();
    assert_eq!(steps_of(&text), expected);
}

#[test]
fn the_help_names_every_step() {
    let words = "steps say think sleep ignore wait hang flood ask elicit tool read write run plan \
                 usage title mode set late fail error panic end meta blocking";
    let help: Vec<_> = STEPS.split([' ', '\n', ',']).collect();
    for word in words.split_whitespace() {
        assert!(help.contains(&word), "{word}");
        assert!(!matches!(line::step(word), Ok(None)), "{word}");
    }
}

#[test]
fn the_first_line_can_ask_for_a_thread() {
    let script: Script = "\nblocking\nsay a".parse().unwrap();
    assert!(script.blocking);
    assert_eq!(script.steps, [Step::Say("a".into())]);
    assert!(!"say a".parse::<Script>().unwrap().blocking);
}

#[test]
fn any_other_text_runs_ten_steps() {
    let ten = [Step::Steps {
        count: 10,
        pause: Duration::from_millis(500),
    }];
    for text in [
        "Do a long task",
        "",
        "\n\n",
        "Hello\nsay no",
        "blocking",
        "/other",
    ] {
        assert_eq!(steps_of(text), ten, "{text}");
    }
}

#[test]
fn a_mistake_is_named_with_its_line() {
    for (text, line, usage) in [
        ("say a\n\nsleep long", 3, "sleep DURATION"),
        ("say a\nsing", 2, "a step"),
        ("hang on", 1, "hang"),
        ("sleep -1s", 1, "sleep DURATION"),
        ("write only-a-path", 1, "write PATH TEXT"),
        ("plan ;", 1, "plan ENTRY; ENTRY; ..."),
        ("usage 10", 1, "usage USED SIZE"),
        ("mode wild", 1, "mode default|careful"),
        (
            "set model huge",
            1,
            "set model small|large, or: set thinking true|false",
        ),
        (
            "say a\nblocking",
            2,
            "blocking, alone and as the first line",
        ),
        ("blocking\nwait long", 2, "wait"),
    ] {
        let error = text.parse::<Script>().unwrap_err().to_string();
        assert_eq!(
            error,
            format!("line {line} of the script should be: {usage}")
        );
    }
}
