//! Mutual exclusion under TSO and PSO: the engine against the truth that the corpus states, and against the
//! abstraction, which proves the same in another way.

use super::ask::{MODELS, contradiction, run, unreal, within};
use crate::common::{caught, corpus, lower, model};
use fencepost_engines::{Abstraction, Automata, Task, Verdict};
use fencepost_models::coherence::Domain;
use fencepost_testkit::is_campaign;
use std::fs;
use toml::Table;

/// States of the engine under test.
const STATES: u64 = 3_000;
/// States of an abstract search.
const ABSTRACT: u64 = 4_000;

/// How many verdicts could be compared.
#[derive(Debug, Default)]
struct Tally {
    /// Verdicts of the engine, by what they say.
    verified: usize,
    violated: usize,
    inconclusive: usize,
    /// Programs that both verify.
    both: usize,
}

/// The word for something that is stated or found.
fn word(text: &str) -> &'static str {
    ["verified", "violated"].into_iter().find(|word| *word == text).unwrap_or("inconclusive")
}

/// Asks both about one program under one model.
fn agree(source: &str, name: &str, truth: &str, tally: &mut Tally) -> Result<(), String> {
    let (problem, model) = (&lower(source)?[0], &model(name));
    let task = Task { problem, model };
    let answer = run(&Automata::default(), task, within(STATES));
    match &answer.verdict {
        Verdict::Verified(_) => tally.verified += 1,
        Verdict::Violated(_) => tally.violated += 1,
        Verdict::Inconclusive(_) => tally.inconclusive += 1,
    }
    if let Some(why) = unreal(problem, model, &answer.verdict) {
        return Err(why);
    }
    let mut words = vec![("the corpus".into(), word(truth))];
    words.push(("automata".into(), answer.verdict.word()));
    for k in [0, 1] {
        let proof = run(&Abstraction { domain: Domain::Full, k }, task, within(ABSTRACT));
        words.push((format!("fd k={k}"), proof.verdict.word()));
    }
    let proved = words[2..].iter().any(|(_, word)| *word == "verified");
    if proved && matches!(answer.verdict, Verdict::Verified(_)) {
        tally.both += 1;
    }
    contradiction(&words).map_or(Ok(()), Err)
}

#[test]
fn mutex_campaign() {
    let folder = corpus().join("mutex");
    let text = fs::read_to_string(folder.join("expected.toml")).expect("expectations are there");
    let expected: Table = text.parse().expect("they are well-formed");
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for (stem, truths) in expected.iter().step_by(if is_campaign() { 1 } else { 2 }) {
        let source = fs::read_to_string(folder.join(format!("{stem}.fp"))).expect("a program");
        for (name, _) in MODELS {
            let truth = truths.get(name).and_then(|truth| truth.as_str()).unwrap_or_default();
            let agreed = caught(|| agree(&source, name, truth, &mut tally));
            wrong.extend(agreed.err().map(|what| format!("{stem} {name}: {what}")));
        }
    }
    println!("{tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let known = tally.verified + tally.violated;
    assert!(known > tally.inconclusive, "most are decided: {tally:?}");
    assert!(tally.both > 0, "some are proved in both ways: {tally:?}");
}
