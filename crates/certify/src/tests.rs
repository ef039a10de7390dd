//! Tests of the checker: accepted and rejected certificates, and the transition rules of the book.
//!
//! Valid certificates come from a naive closure: all states reachable by the checker's own steps.

mod forgeries;
mod optimality;
mod over_approximation;
mod rules;

use std::collections::BTreeSet;
use std::convert::Infallible;

use fencepost_ir::Problem;
use fencepost_testkit::problem;

use crate::buffer::Rules;
use crate::format::{CertState, Domain, Header, Model, VERSION};
use crate::rejection::Rejection;
use crate::semantics::Semantics;

/// An exact abstraction: k exceeds the length of all queues in these programs.
const EXACT: Rules =
    Rules { model: Model::Pso, domain: Domain::Fd, k: 99, last_epoch: crate::buffer::LAST_EPOCH };

fn rules(model: Model, domain: Domain, k: u32) -> Rules {
    Rules::abstract_buffers(model, domain, k)
}

/// Returns all reachable states, and whether no step failed.
fn closure(problem: &Problem, rules: Rules) -> (BTreeSet<CertState>, bool) {
    let semantics = Semantics::new(&problem.program, rules);
    let mut worklist = Vec::new();
    let mut found = BTreeSet::new();
    let mut sound = true;
    let Ok(()) = semantics.for_each_initial(&mut |begin| {
        match begin {
            Ok(state) => worklist.push(state),
            Err(_) => sound = false,
        }
        Ok::<(), Infallible>(())
    });
    while let Some(state) = worklist.pop() {
        if found.contains(&state) {
            continue;
        }
        let Ok(()) = semantics.for_each_step(&state, &mut |_, after| {
            match after {
                Ok(after) => worklist.push(after),
                Err(_) => sound = false,
            }
            Ok::<(), Infallible>(())
        });
        found.insert(state);
    }
    (found, sound)
}

/// Returns a certificate with the given states.
fn write_certificate<'a>(
    problem: &Problem,
    rules: Rules,
    states: impl IntoIterator<Item = &'a CertState>,
) -> String {
    let lines: Vec<String> = states.into_iter().map(CertState::to_line).collect();
    let header = Header {
        certificate: VERSION,
        model: rules.model,
        domain: rules.domain,
        k: rules.k,
        client: problem.name.clone(),
        states: lines.len() as u64,
    };
    std::iter::once(header.to_line()).chain(lines).map(|line| line + "\n").collect()
}

/// Returns the certificate of all reachable states.
fn closure_certificate(problem: &Problem, rules: Rules) -> String {
    write_certificate(problem, rules, &closure(problem, rules).0)
}

/// Checks a certificate that must be rejected. Returns the rejection.
fn check_rejected(problem: &Problem, text: impl AsRef<[u8]>) -> Rejection {
    match crate::check(problem, &mut text.as_ref()) {
        Ok(certified) => panic!("accepted: {certified:?}"),
        Err(rejected) => rejected,
    }
}

/// Returns all tested domains and head lengths.
fn abstractions(model: Model) -> Vec<Rules> {
    let heads = [0, 1, 2];
    let with_heads = |domain| heads.map(|k| rules(model, domain, k));
    let mut all = vec![rules(model, Domain::Set, 0)];
    all.extend(with_heads(Domain::Fd));
    all.extend(with_heads(Domain::Pd));
    all
}
