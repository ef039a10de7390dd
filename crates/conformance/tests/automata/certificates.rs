//! What the engine verifies about mutual exclusion is proved a second time: the certificate that is written for its
//! verdict is accepted by the separate checker.

use super::ask::{MODELS, run, timed, within};
use crate::common::{lower, model};
use fencepost_engines::certificate::{NoCertificate, write_certificate};
use fencepost_engines::{Automata, Decider, Task, Verdict};
use fencepost_testkit::corpus;

/// States of the engine under test.
const STATES: u64 = 2_000;
/// States of the search that a certificate is made from.
const WRITTEN: u64 = 20_000;

/// How many certificates there are.
#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    /// The abstraction that certificates are written in is too coarse, or has too many states.
    none: usize,
}

#[test]
fn what_is_verified_is_certified_campaign() {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for (file, source) in corpus::sample("mutex", 2) {
        let problem = &lower(&source).expect("the corpus compiles")[0];
        for (name, _) in MODELS {
            let model = &model(name);
            let task = Task { problem, model };
            let answer = run(&Automata::default(), task, within(STATES));
            let Verdict::Verified(_) = answer.verdict else { continue };
            assert_eq!(answer.by, Decider::Automata);
            let mut written = Vec::new();
            let states = timed(|budget| {
                write_certificate(task, &answer, within(WRITTEN), budget, &mut written)
            });
            let about = format!("{file} {name}");
            match states {
                Ok(states) => match fencepost_certify::check(problem, &mut written.as_slice()) {
                    Ok(certified) if certified.states as u64 == states => tally.accepted += 1,
                    Ok(certified) => wrong.push(format!("{about}: {certified:?}, not {states}")),
                    Err(rejected) => wrong.push(format!("{about}: {rejected}")),
                },
                Err(NoCertificate::Spurious | NoCertificate::Stopped(_)) => tally.none += 1,
                Err(why) => wrong.push(format!("{about}: {why}")),
            }
        }
    }
    println!("{tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.accepted > tally.none, "most are certified: {tally:?}");
}
