//! The machines as tables: a change of behaviour is a changed line here.
//!
//! `INSTA_UPDATE=always cargo test -p endturn-core --test golden` writes the tables anew.

mod machines;

use endturn_core::{request, session, turn};

use machines::{Apply, Every as _, Machine};

#[test]
fn a_turn_at_the_agent_does_what_its_table_says() {
    compare("agent-turn", &table(&turn::agent::apply));
}

#[test]
fn a_turn_at_the_client_does_what_its_table_says() {
    compare("client-turn", &table(&turn::client::apply));
}

#[test]
fn a_session_does_what_its_table_says() {
    compare("session", &table(&session::apply));
}

#[test]
fn an_incoming_request_does_what_its_table_says() {
    compare("incoming-request", &table(&request::incoming::apply));
}

#[test]
fn an_outgoing_request_does_what_its_table_says() {
    compare("outgoing-request", &table(&request::outgoing::apply));
}

#[test]
fn a_prompt_occupies_its_session_as_its_table_says() {
    let row =
        |turn: &turn::client::Turn| [format!("{turn:?}"), turn.occupies_session().to_string()];
    let rows = turn::client::Turn::every().iter().map(row);
    compare(
        "occupies-session",
        &align(["state", "occupies its session"], rows),
    );
}

fn compare(name: &str, table: &str) {
    insta::with_settings!(
        { snapshot_path => "golden", prepend_module_to_snapshot => false, omit_expression => true },
        { insta::assert_snapshot!(name, table) }
    );
}

/// One line for each pair of state and input.
fn table<M: Machine>(apply: Apply<'_, M>) -> String {
    let row = |(state, input): (M, M::Input)| {
        let (next, output) = apply(state, input);
        assert!(
            M::Output::every().contains(&output),
            "{output:?} is not in the list of outputs"
        );
        [
            format!("{state:?}"),
            format!("{input:?}"),
            format!("{next:?}"),
            format!("{output:?}"),
        ]
    };
    let rows = machines::product(M::every(), M::Input::every()).map(row);
    align(["state", "input", "next state", "output"], rows)
}

fn align<const COLUMNS: usize>(
    head: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    let lines: Vec<_> = std::iter::once(head.map(str::to_owned))
        .chain(rows)
        .collect();
    let width = |column: usize| {
        lines
            .iter()
            .map(|line| line[column].len())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let pad = |(cell, width): (&String, usize)| format!("{cell:width$}");
    let write = |line: &[String; COLUMNS]| {
        let cells: Vec<String> = line.iter().zip(widths).map(pad).collect();
        cells.join("  ").trim_end().to_owned()
    };
    lines.iter().map(write).collect::<Vec<_>>().join("\n")
}
