use endturn::schema::v1::{
    ConfigOptionUpdate, Content, CurrentModeUpdate, Diff, PlanEntry, PlanEntryPriority,
    SessionConfigSelectOption, SessionInfoUpdate, Terminal, TextContent, ToolCall, ToolCallContent,
    ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};

use super::*;
use crate::style::Styles;

fn text(text: &str) -> ContentChunk {
    ContentChunk::new(ContentBlock::Text(TextContent::new(text)))
}

fn shown(updates: Vec<SessionUpdate>) -> String {
    let mut renderer = Text::default();
    let mut page = Page::new(Styles::default());
    for update in updates {
        renderer.render(&Event::Update(update), &mut page);
    }
    String::from_utf8(page.take()).unwrap()
}

#[test]
fn messages_are_not_modified() {
    let updates = ["Step 1... ", "\x1b[1mbold\n\n", "\tend"]
        .map(|piece| SessionUpdate::AgentMessageChunk(text(piece)));
    assert_eq!(shown(updates.into()), "Step 1... \x1b[1mbold\n\n\tend");
}

#[test]
fn thoughts_are_marked_on_each_line_however_they_are_cut() {
    use SessionUpdate::{AgentMessageChunk, AgentThoughtChunk};
    let updates = vec![
        AgentMessageChunk(text("Well")),
        AgentThoughtChunk(text("one, t")),
        AgentThoughtChunk(text("wo\nthree\n")),
        AgentThoughtChunk(text("four")),
        AgentMessageChunk(text("Done.")),
    ];
    assert_eq!(shown(updates), "Well\n~ one, two\n~ three\n~ four\nDone.");
}

#[test]
fn a_tool_call_is_a_line_for_each_status() {
    let update = |status| {
        let fields = ToolCallUpdateFields::new().status(status);
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("1", fields))
    };
    let updates = vec![
        SessionUpdate::AgentMessageChunk(text("Now: ")),
        SessionUpdate::ToolCall(ToolCall::new("1", "Run\nall tests")),
        update(ToolCallStatus::InProgress),
        update(ToolCallStatus::InProgress),
        update(ToolCallStatus::Completed),
    ];
    assert_eq!(
        shown(updates),
        "Now: \n[tool] Run all tests: pending\n[tool] Run all tests: in_progress\n\
         [tool] Run all tests: completed\n"
    );
}

#[test]
fn a_plan_is_a_list() {
    let entry = |text: &str, status| PlanEntry::new(text, PlanEntryPriority::Medium, status);
    let plan = Plan::new(vec![
        entry("look", PlanEntryStatus::Completed),
        entry("think", PlanEntryStatus::InProgress),
        entry("act", PlanEntryStatus::Pending),
    ]);
    assert_eq!(
        shown(vec![SessionUpdate::Plan(plan)]),
        "[plan] [x] look\n[plan] [>] think\n[plan] [ ] act\n"
    );
}

#[test]
fn what_a_tool_call_works_on_is_shown_when_it_is_news() {
    let diff = |old: Option<&str>, new: &str| {
        let diff = Diff::new("/work/a.txt", new).old_text(old.map(str::to_owned));
        vec![ToolCallContent::Diff(diff)]
    };
    let call = |content| ToolCall::new("1", "Write").content(content);
    let update = |fields| SessionUpdate::ToolCallUpdate(ToolCallUpdate::new("1", fields));
    let fields = ToolCallUpdateFields::new;
    let terminal = ToolCallContent::Terminal(Terminal::new("term-1"));
    let text = ToolCallContent::Content(Content::new("two\nlines".to_owned()));
    let updates = vec![
        SessionUpdate::ToolCall(call(diff(None, "one\ntwo\n"))),
        update(fields().status(ToolCallStatus::InProgress)),
        update(fields().content(diff(Some("a\nb\nc\nd\n"), "a\nx\ny\nd\n"))),
        update(fields().content(diff(Some("a\na\n"), "a\n"))),
        update(fields().content(vec![terminal, text])),
        update(fields().status(ToolCallStatus::Completed)),
    ];
    assert_eq!(
        shown(updates),
        "[tool] Write: pending; /work/a.txt +2 -0\n\
         [tool] Write: in_progress\n\
         [tool] Write: in_progress; /work/a.txt +2 -2\n\
         [tool] Write: in_progress; /work/a.txt +0 -1\n\
         [tool] Write: in_progress; terminal term-1, \"two lines\"\n\
         [tool] Write: completed\n"
    );
}

#[test]
fn what_changes_in_the_session_is_a_line() {
    let options = |model: &str, thinking| {
        let models = ["small", "large"].map(|id| SessionConfigSelectOption::new(id, id));
        vec![
            SessionConfigOption::select("model", "Model", model.to_owned(), Vec::from(models)),
            SessionConfigOption::boolean("thinking", "Thinking", thinking),
        ]
    };
    let update = |options| SessionUpdate::ConfigOptionUpdate(ConfigOptionUpdate::new(options));
    let updates = vec![
        SessionUpdate::CurrentModeUpdate(CurrentModeUpdate::new("careful")),
        update(options("small", true)),
        update(options("large", true)),
        update(options("large", false)),
        SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new().title("My\x1b work".to_owned())),
        SessionUpdate::SessionInfoUpdate(SessionInfoUpdate::new()),
        SessionUpdate::UsageUpdate(UsageUpdate::new(10, 200)),
    ];
    assert_eq!(
        shown(updates),
        "[mode] careful\n[config] model: small\n[config] thinking: true\n\
         [config] model: large\n[config] thinking: false\n[title] My work\n\
         [usage] 10 of 200 tokens\n"
    );
}

#[test]
fn a_saved_session_is_a_line() {
    let session = SessionInfo::new("s-1", "/work");
    assert_eq!(listed(&session), "s-1  -  /work");
    let session = session
        .title("Look\nround".to_owned())
        .updated_at("2026-01-01T00:00:00Z".to_owned());
    assert_eq!(
        listed(&session),
        "s-1  2026-01-01T00:00:00Z  /work  Look round"
    );
}
