//! The guide explains every rule of the contract and every method of the protocol, and a test stands behind every rule.

use std::{
    fs,
    path::{Path, PathBuf},
};

use endturn::{request::Request, schema::v1::*};

/// All Rust files below a directory, as one text.
fn source(directory: &Path) -> String {
    let mut text = String::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&fs::read_to_string(&path).unwrap());
                text.push_str(&path.to_string_lossy());
            }
        }
    }
    text
}

/// What stands in backticks.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The names of the rules: the first column of the contract's tables, and the list that follows them.
fn rules(architecture: &str) -> Vec<String> {
    let (_, contract) = architecture.split_once("\n## The contract\n").unwrap();
    let contract = contract.split("\n## ").next().unwrap();
    let mut rules = Vec::new();
    for line in contract.lines() {
        if let Some(row) = line.strip_prefix("| `") {
            let column = row.split('|').next().unwrap();
            rules.extend(names(&format!("`{column}")).map(str::to_owned));
        } else if line.starts_with("For every request") {
            rules.extend(names(line).map(str::to_owned));
        }
    }
    rules
}

#[test]
fn the_guide_explains_every_rule_and_a_test_names_it() {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let repository = package.join("../..");
    // A published package stands alone.
    let Ok(architecture) = fs::read_to_string(repository.join("ARCHITECTURE.md")) else {
        return;
    };
    let rules = rules(&architecture);
    assert!(rules.len() >= 35, "{rules:?}");

    let guide = source(&package.join("src/guide"));
    let explained: Vec<_> = names(&guide).collect();
    let mut tests = source(&package.join("tests"));
    tests.push_str(&source(&repository.join("crates/core/tests")));
    for rule in &rules {
        assert!(
            explained.contains(&rule.as_str()),
            "no chapter explains {rule}"
        );
        assert!(
            tests.contains(rule) || tests.contains(&rule.replace('-', "_")),
            "no test names {rule}"
        );
    }
}

/// The tables of the chapter on methods: the method and the other cells of each row, by heading.
fn method_tables(chapter: &str) -> Vec<(&str, &str, Vec<&str>)> {
    let mut heading = "";
    let mut rows = Vec::new();
    for line in chapter.lines() {
        let line = line.strip_prefix("//! ").unwrap_or_default();
        if let Some(text) = line.strip_prefix("# ") {
            heading = text;
        } else if let Some(row) = line.strip_prefix("| `") {
            let (method, cells) = row.split_once('`').unwrap();
            let cells = cells.split('|').skip(1).map(str::trim).collect();
            rows.push((heading, method, cells));
        }
    }
    rows
}

/// All names in one of the schema crate's tables, as it writes them itself.
fn schema_names(table: &impl serde::Serialize) -> Vec<String> {
    let table = serde_json::to_value(table).unwrap();
    let names = table.as_object().unwrap().values();
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// What the library says of a type: the type's name, its method, and whether it is open-ended.
macro_rules! requests {
    ($($type:ident)*) => {
        [$((stringify!($type), <$type as Request>::METHOD, <$type as Request>::OPEN_ENDED)),*]
    };
}

#[test]
fn the_guide_has_every_method_with_its_type_its_handler_and_its_call() {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let chapter = fs::read_to_string(source.join("guide/methods.rs")).unwrap();
    let rows = method_tables(&chapter);

    let mut schema = schema_names(&AGENT_METHOD_NAMES);
    schema.extend(schema_names(&CLIENT_METHOD_NAMES));
    schema.extend(schema_names(&PROTOCOL_LEVEL_METHOD_NAMES));
    for method in &schema {
        let count = rows.iter().filter(|(_, it, _)| it == method).count();
        assert_eq!(count, 1, "{method}");
    }
    let drafts = cfg!(feature = "unstable");
    for (heading, method, _) in &rows {
        let known = schema.iter().any(|it| it == method);
        assert!(known || (*heading == "Drafts" && !drafts), "{method}");
    }

    // A link that leads nowhere fails when the documentation is built; here it is seen that there is one.
    let linked = |cell: &str, path: &str| cell.starts_with("[`") && cell.contains(path);
    let methods_source = fs::read_to_string(source.join("request/methods.rs")).unwrap();
    for (heading, method, cells) in &rows {
        let (handler, call) = match *heading {
            "From the client to the agent" => ("(crate::agent::AgentBuilder::", "(crate::Client::"),
            "From the agent to the client" => ("(crate::client::ClientBuilder::", "(crate::"),
            "Drafts" => {
                for name in names(cells[0]) {
                    assert!(methods_source.contains(name), "{method}: {name}");
                }
                continue;
            }
            _ => continue,
        };
        assert!(linked(cells[0], "(crate::schema::v1::"), "{method}");
        assert!(linked(cells[1], handler), "{method}");
        assert!(linked(cells[2], call), "{method}");
        // `on_cancel` alone has no blocking counterpart.
        let blocking = cells[1].contains("[b](") || *method == "session/cancel";
        assert!(blocking, "{method}");
        assert!(cells[2].contains("[b](crate::blocking::"), "{method}");
    }

    let requests = requests! {
        AuthenticateRequest LogoutRequest NewSessionRequest LoadSessionRequest ResumeSessionRequest
        ListSessionsRequest DeleteSessionRequest SetSessionModeRequest
        SetSessionConfigOptionRequest CloseSessionRequest RequestPermissionRequest
        CreateElicitationRequest ReadTextFileRequest WriteTextFileRequest CreateTerminalRequest
        TerminalOutputRequest WaitForTerminalExitRequest KillTerminalRequest ReleaseTerminalRequest
    };
    for (name, method, open_ended) in requests {
        let (_, _, cells) = rows.iter().find(|(_, it, _)| *it == method).unwrap();
        assert!(cells[0].contains(&format!("[`{name}`]")), "{method}");
        let limit = if open_ended { "none" } else { "request" };
        assert_eq!(cells[4], limit, "{method}");
    }
    // These have a part of their own in the connection.
    let others = rows.iter().filter(|(heading, method, cells)| {
        let request = heading.starts_with("From the") && !cells[4].is_empty();
        request && !requests.iter().any(|(_, it, _)| it == method)
    });
    let others: Vec<_> = others.map(|(_, method, _)| *method).collect();
    assert_eq!(others, ["initialize", "session/prompt"]);
}

#[test]
fn every_chapter_is_in_the_index_of_the_guide_and_of_the_crate() {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src");
    let index = fs::read_to_string(source.join("guide/mod.rs")).unwrap();
    let of_the_crate = fs::read_to_string(source.join("lib.rs")).unwrap();
    for entry in fs::read_dir(source.join("guide")).unwrap() {
        let path = entry.unwrap().path();
        let chapter = path.file_stem().unwrap().to_str().unwrap();
        if chapter == "mod" {
            continue;
        }
        assert!(
            index.contains(&format!("//! | [`{chapter}`] |")),
            "{chapter}"
        );
        let link = format!("](guide::{chapter})");
        assert!(of_the_crate.contains(&link), "{chapter}");
    }
}
