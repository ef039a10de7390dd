//! What the compiler does not check: the order of layers, headers, sizes, leftovers.
//!
//! The rules, one function each:
//! 1. [`layers`]: a crate depends only on crates of lower layers; `search` on none of ours.
//! 2. [`headers`]: every source file begins with a `//!` comment.
//! 3. [`sizes`]: no source file is longer than [`LONGEST`] lines.
//! 4. [`leftovers`]: no `todo!`, no `dbg!`, no ignored test, no `unwrap()` in library code.

use std::fs;
use std::path::{Path, PathBuf};

/// More lines than this, and a file is about two things.
const LONGEST: usize = 600;

/// Our crates with their layer. A crate may depend on crates of a strictly lower layer only.
const LAYERS: &[(&str, u32)] = &[
    ("fencepost-ir", 0),
    ("fencepost-corpus", 0),
    ("fencepost-search", 0),
    ("fencepost-automata", 0),
    ("fencepost-explore", 0),
    ("fencepost-monitor", 0),
    ("fencepost-cycles", 0),
    ("fencepost-frontends", 1),
    ("fencepost-models", 1),
    ("fencepost-testkit", 2),
    ("fencepost-translate", 1),
    ("fencepost-certify", 1),
    ("fencepost-engines", 2),
    ("fencepost-infer", 3),
    ("fencepost-report", 4),
    ("fencepost", 5),
    ("fencepost-conformance", 6),
];

/// Everything that is not tidy, sorted.
pub(crate) fn complaints(root: &Path) -> Vec<String> {
    let mut all = Vec::new();
    layers(root, &mut all);
    for file in sources(root) {
        let name = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        match fs::read_to_string(&file) {
            Ok(text) => {
                headers(&name, &text, &mut all);
                sizes(&name, &text, &mut all);
                leftovers(&name, &text, &mut all);
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
    let crates = crates.flatten().map(|entry| entry.path()).chain([root.join("corpus")]);
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
        all.push(format!("{name}: begins without a `//!` header"));
    }
}

fn sizes(name: &str, text: &str, all: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > LONGEST {
        all.push(format!("{name}: {lines} lines; more than {LONGEST} want to be two files"));
    }
}

fn leftovers(name: &str, text: &str, all: &mut Vec<String>) {
    // Spelt in pieces, so that this file does not complain about itself.
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

/// All Rust files of the workspace, sorted.
fn sources(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders =
        ["crates", "corpus", "xtask", "fuzz"].map(|folder| root.join(folder)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                if path.file_name().is_some_and(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|ext| ext == "rs") {
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
        let root =
            Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies below the root");
        assert_eq!(complaints(root), Vec::<String>::new());
    }

    #[test]
    fn untidy_files_are_noticed() {
        let mut all = Vec::new();
        headers("a.rs", "fn main() {}", &mut all);
        sizes("a.rs", &"\n".repeat(LONGEST + 1), &mut all);
        leftovers("crates/x/src/a.rs", concat!("to", "do!() x.unw", "rap()"), &mut all);
        assert_eq!(all.len(), 4, "{all:?}");
    }
}
