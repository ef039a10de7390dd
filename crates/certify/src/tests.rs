//! Tests: what the checker accepts and what it rejects, and whether its steps are those of the book.
//!
//! Good certificates come from a naive closure: all states that the checker's own steps reach.

mod coverage;
mod forgeries;
mod rules;

use std::collections::BTreeSet;
use std::convert::Infallible;

use fencepost_ir::Problem;
use fencepost_testkit::problem;

use crate::buffer::Rules;
use crate::format::{CertState, Domain, Header, Model, VERSION};
use crate::rejected::Rejected;
use crate::semantics::Semantics;

/// Longer than any queue of the programs here: nothing is abstracted.
const EXACT: Rules = Rules { model: Model::Pso, domain: Domain::Fd, k: 99 };

fn rules(model: Model, domain: Domain, k: u32) -> Rules {
    Rules { model, domain, k }
}

/// All states that steps reach, and whether no step failed.
fn closure(problem: &Problem, rules: Rules) -> (BTreeSet<CertState>, bool) {
    let semantics = Semantics::new(&problem.program, rules);
    let mut open = Vec::new();
    let mut found = BTreeSet::new();
    let mut sound = true;
    let Ok(()) = semantics.for_each_initial(&mut |begin| {
        match begin {
            Ok(state) => open.push(state),
            Err(_) => sound = false,
        }
        Ok::<(), Infallible>(())
    });
    while let Some(state) = open.pop() {
        if found.contains(&state) {
            continue;
        }
        let Ok(()) = semantics.for_each_step(&state, &mut |_, after| {
            match after {
                Ok(after) => open.push(after),
                Err(_) => sound = false,
            }
            Ok::<(), Infallible>(())
        });
        found.insert(state);
    }
    (found, sound)
}

/// A certificate with these states.
fn written<'a>(
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

/// The certificate that the closure makes.
fn certificate(problem: &Problem, rules: Rules) -> String {
    written(problem, rules, &closure(problem, rules).0)
}

/// Why it is rejected.
fn rejected(problem: &Problem, text: impl AsRef<[u8]>) -> Rejected {
    match crate::check(problem, &mut text.as_ref()) {
        Ok(certified) => panic!("accepted: {certified:?}"),
        Err(rejected) => rejected,
    }
}

/// All domains with all lengths of heads that are asked about here.
fn abstractions(model: Model) -> Vec<Rules> {
    let heads = [0, 1, 2];
    let with_heads = |domain| heads.map(|k| rules(model, domain, k));
    let mut all = vec![rules(model, Domain::Set, 0)];
    all.extend(with_heads(Domain::Fd));
    all.extend(with_heads(Domain::Pd));
    all
}
