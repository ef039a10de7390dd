//! `cargo xtask tidy`: repository rules that the compiler does not check.
//!
//! One function per rule:
//! 1. [`layers`]: a crate depends only on crates of lower layers; `search` on none of ours.
//! 2. [`headers`]: every source file begins with a `//!` comment.
//! 3. [`sizes`]: no source file is longer than [`MAX_LINES`] lines.
//! 4. [`leftovers`]: no `todo!`, no `dbg!`, no ignored test, no `unwrap()` in library code.
//! 5. [`prose::phrases`] and [`prose::line_length`]: plain English and wrapped Markdown.

mod prose;

use std::fs;
use std::path::{Path, PathBuf};

/// The maximum number of lines of a source file.
const MAX_LINES: usize = 600;

/// The extensions of the files that are checked.
const TEXT_EXTENSIONS: &[&str] = &["rs", "md", "fp", "litmus", "toml", "trycmd"];

/// Our crates with their layers. A crate may depend only on crates of a strictly lower layer.
const LAYERS: &[(&str, u32)] = &[
    ("fencepost-ir", 0),
    ("fencepost-bench", 0),
    ("fencepost-corpus", 0),
    ("fencepost-search", 0),
    ("fencepost-automata", 0),
    ("fencepost-explore", 0),
    ("fencepost-monitor", 0),
    ("fencepost-record", 0),
    ("fencepost-cycles", 0),
    ("fencepost-frontends", 1),
    ("fencepost-models", 1),
    ("fencepost-testkit", 2),
    ("fencepost-translate", 1),
    ("fencepost-certify", 1),
    ("fencepost-test", 1),
    ("fencepost-engines", 2),
    ("fencepost-infer", 3),
    ("fencepost-report", 4),
    ("fencepost", 5),
    ("fencepost-conformance", 6),
];

/// Returns all violations of the rules, sorted.
pub(crate) fn findings(root: &Path) -> Vec<String> {
    let mut all = Vec::new();
    layers(root, &mut all);
    for file in texts(root) {
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        // Some inputs of tests are not UTF-8 on purpose.
        match fs::read(&file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) {
            Ok(text) => {
                prose::phrases(&name, &text, &mut all);
                if name.ends_with(".md") {
                    prose::line_length(&name, &text, &mut all);
                } else if name.ends_with(".rs") {
                    headers(&name, &text, &mut all);
                    sizes(&name, &text, &mut all);
                    leftovers(&name, &text, &mut all);
                }
            }
            Err(error) => all.push(format!("{name}: {error}")),
        }
    }
    all.sort();
    all
}

fn layers(root: &Path, all: &mut Vec<String>) {
    let Ok(crates) = fs::read_dir(root.join("crates")) else {
        all.push("there is no folder `crates`".into());
        return;
    };
    let crates = crates
        .flatten()
        .map(|entry| entry.path())
        .chain(["bench", "corpus"].map(|name| root.join(name)));
    for folder in crates {
        let manifest = folder.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap_or_default();
        let Ok(manifest) = text.parse::<toml::Table>() else {
            all.push(format!("{}: not a manifest", manifest.display()));
            continue;
        };
        let name = manifest.get("package").and_then(|p| p.get("name")?.as_str()).unwrap_or("");
        let Some(layer) = layer(name) else {
            all.push(format!("crate {name:?} has no layer: add it to LAYERS in xtask/src/tidy.rs"));
            continue;
        };
        let dependencies = manifest.get("dependencies").and_then(|d| d.as_table());
        for dependency in dependencies.into_iter().flat_map(|d| d.keys()) {
            let ours = self::layer(dependency);
            if ours.is_some_and(|other| other >= layer) {
                all.push(format!("{name} depends on {dependency}, which is not in a lower layer"));
            }
        }
    }
}

fn layer(name: &str) -> Option<u32> {
    LAYERS.iter().find(|(known, _)| *known == name).map(|(_, layer)| *layer)
}

fn headers(name: &str, text: &str, all: &mut Vec<String>) {
    if !text.starts_with("//!") {
        all.push(format!("{name}: does not start with a `//!` header"));
    }
}

fn sizes(name: &str, text: &str, all: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > MAX_LINES {
        all.push(format!("{name}: {lines} lines; split files of more than {MAX_LINES} lines"));
    }
}

fn leftovers(name: &str, text: &str, all: &mut Vec<String>) {
    // Written in pieces, so that this file does not violate the rule itself.
    let never = [
        concat!("to", "do!("),
        concat!("dbg", "!("),
        concat!("#[ign", "ore"),
        concat!("FIX", "ME"),
    ];
    for word in never {
        if text.contains(word) {
            all.push(format!("{name}: contains `{word}`"));
        }
    }
    let library = name.starts_with("crates/") && name.contains("/src/") && !name.contains("tests");
    let code = text.split("#[cfg(test)]").next().unwrap_or("");
    if library && code.contains(concat!(".unw", "rap()")) {
        all.push(format!(
            "{name}: calls unwrap() in library code; use expect() with the invariant"
        ));
    }
}

/// Returns all files with code or prose of the workspace, sorted.
fn texts(root: &Path) -> Vec<PathBuf> {
    let is_text = |path: &Path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| TEXT_EXTENSIONS.contains(&extension))
    };
    let top = fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = top.filter(|path| path.is_file() && is_text(path)).collect();
    let mut folders = ["bench", "book", "crates", "corpus", "xtask", "fuzz"]
        .map(|folder| root.join(folder))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "target") {
                    folders.push(path);
                }
            } else if is_text(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("xtask is a folder of the workspace");
        assert_eq!(findings(root), Vec::<String>::new());
    }

    #[test]
    fn each_rule_reports_a_violation() {
        let mut all = Vec::new();
        headers("a.rs", "fn main() {}", &mut all);
        sizes("a.rs", &"\n".repeat(MAX_LINES + 1), &mut all);
        leftovers("crates/x/src/a.rs", concat!("to", "do!() x.unw", "rap()"), &mut all);
        assert_eq!(all.len(), 4, "{all:?}");
    }
}
