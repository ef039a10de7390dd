//! The page `papers.md` of the book: what is implemented of each paper, what differs and why.
//!
//! The page is generated from the data of the tables. The test below compares it, and writes it if
//! the environment variable `FENCEPOST_UPDATE_PAGES` is set.

use super::paper::Paper;
use fencepost_corpus::PAPERS;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The maximal width of a line.
const WIDTH: usize = 100;

const INTRODUCTION: &str = "\
This page is generated from the data of [the tables](reproduce.md). For each paper it lists what is \
implemented, and every difference between the paper's figures and ours that the tables expect, with \
the reason and the rows. `fencepost reproduce TABLE` computes the rows again. PAPERS.md in the \
repository explains how we read unclear passages.";

/// Returns the page.
fn page() -> String {
    let mut out = format!("# The five papers\n\n{}", wrapped("", INTRODUCTION));
    for (name, text) in PAPERS {
        let paper = Paper::parse(name, text).unwrap_or_else(|error| panic!("{error}"));
        section(&mut out, name, &paper);
    }
    out
}

fn section(out: &mut String, name: &str, paper: &Paper) {
    let push = |out: &mut String, text: &str| {
        write!(out, "{text}").expect("writing to a string cannot fail");
    };
    push(out, &format!("\n## `{name}`\n\n{}\n", wrapped("", &format!("{}.", paper.title))));
    push(out, "| part of the paper | implemented by | difference |\n|---|---|---|\n");
    for item in &paper.implemented {
        let difference = if item.differs.is_empty() { "none" } else { item.differs.as_str() };
        let cells = [item.what.as_str(), &item.by, difference]
            .map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|"));
        push(out, &format!("| {} |\n", cells.join(" | ")));
    }
    let mut differing: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let (mut rows, mut compared) = (0, 0);
    for entry in paper.entries() {
        rows += 1;
        compared += usize::from(!entry.column.paper.is_empty());
        if let Some(differs) = &entry.column.differs {
            let row = format!("{} ({})", entry.name(), entry.column_name());
            differing.entry(entry.sentence(&differs.note)).or_default().push(row);
        }
    }
    let differ: usize = differing.values().map(Vec::len).sum();
    let summary = format!(
        "The table has {rows} rows. The paper has figures for {compared} of them, and {differ} are \
         expected to differ.",
    );
    push(out, &format!("\n{}", wrapped("", &summary)));
    for (note, rows) in differing {
        push(out, &format!("\n{}", wrapped("- ", note)));
        push(out, &wrapped("  ", &format!("Rows: {}.", rows.join(", ").replace('|', "\\|"))));
    }
}

/// Wraps a text after a head. Further lines are indented by the width of the head.
fn wrapped(head: &str, text: &str) -> String {
    let mut out = String::new();
    let mut line = head.to_string();
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(out, "{}", line.trim_end()).expect("writing to a string cannot fail");
            line = " ".repeat(head.len());
        }
        let gap = if line.trim().is_empty() || line == head { "" } else { " " };
        line.push_str(gap);
        line.push_str(word);
    }
    writeln!(out, "{line}").expect("writing to a string cannot fail");
    out
}

#[test]
fn the_page_about_the_papers_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../book/src/papers.md");
    if std::env::var_os("FENCEPOST_UPDATE_PAGES").is_some() {
        std::fs::write(&path, page()).expect("the page can be written");
    }
    let current = std::fs::read_to_string(&path).expect("the page exists");
    assert_eq!(current, page(), "run the test with FENCEPOST_UPDATE_PAGES=1 to update the page");
}
