//! The guide explains every rule of the contract, and a test stands behind every rule.

use std::{
    fs,
    path::{Path, PathBuf},
};

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
