//! The programs on which `auto` is compared with its arms.
//!
//! These are all families of `bench/`, with their fences and without them, and the programs of
//! `corpus/` for which some engine needs more than a tenth of a second ([`CORPUS`]). With `--all` it
//! is every program of `corpus/` that `fencepost check` accepts.

use fencepost_bench::{FAMILIES, Fences};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The models. The arms differ only where stores are buffered.
const MODELS: [&str; 2] = ["tso", "pso"];

/// The programs of `corpus/` for which `auto`, `explicit`, `automata` or `abstraction` with k = 0 or
/// 1 needs more than 0.1 CPU seconds under TSO or PSO (limit: 2 seconds), with the client of a
/// library. `--all --list` prints the others, too.
const CORPUS: &[(&str, Option<&str>)] = &[
    ("c/litmus/IRIW.c", None),
    ("c/mutex/bakery-relaxed.c", None),
    ("c/mutex/seqlock.c", None),
    ("c/sequential/goto-cleanup.c", None),
    ("c/sequential/intrusive-list.c", None),
    ("c/sequential/tagged-pointer.c", None),
    ("c/structures/chase-lev-fences.c", None),
    ("c/structures/chase-lev-grow-relaxed.c", None),
    ("c/structures/chase-lev.c", None),
    ("c/structures/ms-queue-relaxed.c", None),
    ("c/structures/ms-queue.c", None),
    ("c/threads/work-queue.c", None),
    ("mutex/bakery3.fp", None),
    ("mutex/dekker-data0.fp", None),
    ("mutex/dekker1-drain.fp", None),
    ("mutex/dijkstra0.fp", None),
    ("mutex/dijkstra1-tso.fp", None),
    ("mutex/fast0.fp", None),
    ("mutex/peterson-filter3.fp", None),
    ("mutex/peterson-filter4.fp", None),
    ("mutex/szymanski3.fp", None),
    ("papers/sober-bakery.fp", None),
    ("structures/chase-lev-printed.fp", Some("tttp(tptp|ss)")),
    ("structures/chase-lev.fp", Some("tttp(tptp|ss)")),
    ("structures/chase-lev.fp", Some("tttt(tpp|sss)")),
    ("structures/lifo-wsq-final.fp", Some("pp(ptp|ss)")),
    ("structures/lifo-wsq.fp", Some("pp(ptp|ss)")),
    ("structures/lifo-wsq.fp", Some("pp(ptt|ss)")),
    ("structures/msn-queue-final.fp", Some("(e|e|d)dd")),
    ("structures/msn-queue.fp", Some("e|e|d")),
];

/// A program and a model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Subject {
    /// The name: a family with its parameter, or a path in `corpus/`.
    pub(super) program: String,
    /// The file.
    pub(super) file: PathBuf,
    /// The client of a library.
    pub(super) client: Option<String>,
    pub(super) model: &'static str,
    /// The verdict, if it is known here.
    pub(super) expected: Option<&'static str>,
}

impl Subject {
    /// Returns the name of the row: `filter4-fenced tso`.
    pub(super) fn row(&self) -> String {
        format!("{} {}", self.program, self.model)
    }
}

/// Returns all programs under both models. Writes the programs of families to `target/bench`.
pub(super) fn subjects(root: &Path, all: bool) -> Result<Vec<Subject>, String> {
    let folder = root.join("target/bench");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut subjects = Vec::new();
    for family in FAMILIES {
        for fences in [Fences::Present, Fences::Removed] {
            for value in family.values.iter().filter(|_| family.has(fences)) {
                let program = family.program_name(*value, fences);
                let file = folder.join(format!("{program}.fp"));
                fs::write(&file, family.program(*value, fences))
                    .map_err(|error| format!("{}: {error}", file.display()))?;
                subjects.extend(MODELS.map(|model| Subject {
                    program: program.clone(),
                    file: file.clone(),
                    client: family.client().map(String::from),
                    model,
                    expected: Some(family.expected(fences, model)),
                }));
            }
        }
    }
    let listed =
        || CORPUS.iter().map(|(file, client)| (file.to_string(), client.map(String::from)));
    let corpus: BTreeSet<_> = match all {
        true => every_program(root)?,
        false => listed().collect(),
    };
    for (name, client) in corpus {
        let program = client.iter().fold(name.clone(), |name, client| format!("{name} {client}"));
        subjects.extend(MODELS.map(|model| Subject {
            program: program.clone(),
            file: root.join("corpus").join(&name),
            client: client.clone(),
            model,
            expected: None,
        }));
    }
    Ok(subjects)
}

/// Returns every `.fp` and C program of the corpus, with the clients that its expectations name.
fn every_program(root: &Path) -> Result<BTreeSet<(String, Option<String>)>, String> {
    let corpus = root.join("corpus");
    let mut found = BTreeSet::new();
    let mut folders = vec![corpus.clone()];
    while let Some(folder) = folders.pop() {
        let complain = |error: std::io::Error| format!("{}: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(complain)? {
            let path = entry.map_err(complain)?.path();
            let extension = path.extension().and_then(|extension| extension.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if matches!(extension, Some("fp" | "c")) {
                let clients = clients(&path)?;
                let name = path.strip_prefix(&corpus).unwrap_or(&path);
                let name = name.to_string_lossy().replace('\\', "/");
                found.extend(clients.into_iter().map(|client| (name.clone(), client)));
            }
        }
    }
    Ok(found)
}

/// Returns the clients of a library that `expected.toml` in its folder names, or `None` for a
/// program.
fn clients(file: &Path) -> Result<Vec<Option<String>>, String> {
    let program = Ok(vec![None]);
    let table = file.with_file_name("expected.toml");
    let Ok(text) = fs::read_to_string(&table) else { return program };
    let expected: Value =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", table.display()))?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let Some(Value::Object(entry)) = expected.get(&stem) else { return program };
    let clients = entry.iter().filter(|(key, value)| value.is_object() && *key != "outcomes");
    let clients: Vec<_> = clients.map(|(client, _)| Some(client.clone())).collect();
    if clients.is_empty() { program } else { Ok(clients) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder of the workspace")
    }

    #[test]
    fn the_listed_programs_are_programs_of_the_corpus() {
        let all = every_program(root()).expect("the corpus is readable");
        for (name, client) in CORPUS {
            let wanted = (name.to_string(), client.map(String::from));
            assert!(all.contains(&wanted), "{wanted:?}");
        }
    }

    #[test]
    fn rows_have_different_names() {
        let subjects = subjects(root(), false).expect("the folder can be written");
        let names: BTreeSet<String> = subjects.iter().map(Subject::row).collect();
        assert_eq!(names.len(), subjects.len());
        assert!(names.contains("filter4-fenced tso") && names.contains("msn3 pso"));
        assert!(names.contains("structures/msn-queue.fp e|e|d tso"));
    }
}
