//! Programs of the corpus: small enough that everything can be counted.

use crate::common::{corpus, lower};
use crate::compare::{Scope, Tally, compare};
use std::fs;

fn folder(name: &str, scope: Scope) -> Tally {
    let files = fs::read_dir(corpus().join(name)).expect("the corpus is there");
    let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "fp"));
    paths.sort();
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for path in paths {
        let source = fs::read_to_string(&path).expect("a file of the corpus");
        for problem in lower(&source).expect("the corpus compiles") {
            let found = compare(&problem, scope, &mut tally);
            wrong.extend(found.iter().map(|d| format!("{}: {d}", path.display())));
        }
    }
    println!("{name}: {tally:?}");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
    tally
}

#[test]
fn litmus() {
    let tally = folder("litmus", Scope { k: 3, states: 10_000, translated: 40_000 });
    assert!(tally.compared > 4 * tally.cut, "{tally:?}");
    assert!(tally.relaxed > 0, "{tally:?}");
}
