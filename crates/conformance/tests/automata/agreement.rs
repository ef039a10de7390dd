//! Mutual exclusion under TSO and PSO: the automata engine agrees with the verdicts stated in the
//! corpus and with the abstraction.

use super::queries::{MODELS, contradiction, limited_to, replay_failure, run};
use crate::common::{catch_panic, corpus, lower, model};
use fencepost_engines::{Abstraction, Automata, Task, Verdict};
use fencepost_models::coherence::Domain;
use fencepost_testkit::is_campaign;
use std::fs;
use toml::Table;

/// The maximum number of states of the engine under test.
const MAX_STATES: u64 = 3_000;
/// The maximum number of states of an abstract search.
const MAX_ABSTRACT_STATES: u64 = 4_000;

/// The numbers of compared verdicts.
#[derive(Debug, Default)]
struct Tally {
    /// Verdicts of the engine.
    verified: usize,
    violated: usize,
    inconclusive: usize,
    /// Programs that both the engine and the abstraction verify.
    both: usize,
}

/// Returns the word of a verdict stated in the corpus.
fn word(text: &str) -> &'static str {
    ["verified", "violated"].into_iter().find(|word| *word == text).unwrap_or("inconclusive")
}

/// Compares the engine, the abstraction and the stated verdict on one program under one model.
fn compare(source: &str, name: &str, truth: &str, tally: &mut Tally) -> Result<(), String> {
    let (problem, model) = (&lower(source)?[0], &model(name));
    let task = Task { problem, model };
    let answer = run(&Automata::default(), task, limited_to(MAX_STATES));
    match &answer.verdict {
        Verdict::Verified(_) => tally.verified += 1,
        Verdict::Violated(_) => tally.violated += 1,
        Verdict::Inconclusive(_) => tally.inconclusive += 1,
    }
    if let Some(reason) = replay_failure(problem, model, &answer.verdict) {
        return Err(reason);
    }
    let mut verdicts = vec![("the corpus".into(), word(truth))];
    verdicts.push(("automata".into(), answer.verdict.word()));
    for k in [0, 1] {
        let proof =
            run(&Abstraction { domain: Domain::Full, k }, task, limited_to(MAX_ABSTRACT_STATES));
        verdicts.push((format!("fd k={k}"), proof.verdict.word()));
    }
    let proved = verdicts[2..].iter().any(|(_, word)| *word == "verified");
    if proved && matches!(answer.verdict, Verdict::Verified(_)) {
        tally.both += 1;
    }
    contradiction(&verdicts).map_or(Ok(()), Err)
}

#[test]
fn mutex_verdicts_agree_campaign() {
    let folder = corpus().join("mutex");
    let text =
        fs::read_to_string(folder.join("expected.toml")).expect("the folder has expectations");
    let expected: Table = text.parse().expect("the expectations are well-formed");
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for (stem, truths) in expected.iter().step_by(if is_campaign() { 1 } else { 2 }) {
        let source = fs::read_to_string(folder.join(format!("{stem}.fp"))).expect("a program");
        for (name, _) in MODELS {
            let truth = truths.get(name).and_then(|truth| truth.as_str()).unwrap_or_default();
            let compared = catch_panic(|| compare(&source, name, truth, &mut tally));
            wrong.extend(compared.err().map(|what| format!("{stem} {name}: {what}")));
        }
    }
    println!("{tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known = tally.verified + tally.violated;
    assert!(known > tally.inconclusive, "most programs are decided: {tally:?}");
    assert!(tally.both > 0, "some programs are verified by both: {tally:?}");
}
