//! Mutual exclusion programs that the engine verifies get a certificate, and the independent
//! checker accepts the certificate.

use super::queries::{MODELS, limited_to, run, with_time_limit};
use crate::common::{lower, model};
use fencepost_engines::certificate::{NoCertificate, write_certificate};
use fencepost_engines::{Automata, Decider, Task, Verdict};
use fencepost_testkit::corpus;

/// The maximum number of states of the engine under test.
const MAX_STATES: u64 = 2_000;
/// The maximum number of states of the search that writes the certificate.
const MAX_CERTIFICATE_STATES: u64 = 20_000;

/// The numbers of certificates.
#[derive(Debug, Default)]
struct Tally {
    accepted: usize,
    /// Programs without a certificate: the abstraction of the certificate is too coarse or has too
    /// many states.
    none: usize,
}

#[test]
fn verified_programs_get_accepted_certificates_campaign() {
    let mut tally = Tally::default();
    let mut wrong = Vec::new();
    for (file, source) in corpus::sample("mutex", 2) {
        let problem = &lower(&source).expect("the corpus compiles")[0];
        for (name, _) in MODELS {
            let model = &model(name);
            let task = Task { problem, model };
            let answer = run(&Automata::default(), task, limited_to(MAX_STATES));
            let Verdict::Verified(_) = answer.verdict else { continue };
            assert_eq!(answer.decider, Decider::Automata);
            let mut written = Vec::new();
            let states = with_time_limit(|budget| {
                write_certificate(
                    task,
                    &answer,
                    limited_to(MAX_CERTIFICATE_STATES),
                    budget,
                    &mut written,
                )
            });
            let case = format!("{file} {name}");
            match states {
                Ok(states) => match fencepost_certify::check(problem, &mut written.as_slice()) {
                    Ok(certified) if certified.states as u64 == states => tally.accepted += 1,
                    Ok(certified) => wrong.push(format!("{case}: {certified:?}, not {states}")),
                    Err(rejected) => wrong.push(format!("{case}: {rejected}")),
                },
                Err(NoCertificate::Spurious | NoCertificate::Stopped(_)) => tally.none += 1,
                Err(reason) => wrong.push(format!("{case}: {reason}")),
            }
        }
    }
    println!("{tally:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tally.accepted > tally.none, "most verified programs have a certificate: {tally:?}");
}
