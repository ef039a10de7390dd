//! The check of a certificate: one pass reads the states, a second pass executes their steps.
//!
//! A certificate is accepted when
//!
//! 1. every state is well-formed for the program (`wellformed`),
//! 2. no state violates a property (`property`) or is a hang (`hang`),
//! 3. no step of a state faults or fails an assertion, and every successor is covered by a state of
//!    the certificate (`semantics`, `covering`),
//! 4. there is an initial state, and every initial state is covered by a state of the certificate.
//!
//! By induction, every reachable state of the exact model is represented by a state of the
//! certificate: the initial states by 4, the successors by 3. By 2, no represented state is an
//! error.
//!
//! The check allocates no memory based on numbers in the header. Memory use grows with the states
//! that are read.

use std::collections::HashMap;
use std::io::BufRead;

use fencepost_ir::validate::validate;
use fencepost_ir::{Problem, Program};

use crate::buffer::Rules;
use crate::format::{CertState, Domain, Header, Model, VERSION};
use crate::limits::{Limits, state_bytes};
use crate::lines::Lines;
use crate::rejection::{Rejection, RejectionReason};
use crate::semantics::Semantics;
use crate::{covering, describe, hang, property, wellformed};

/// The result of an accepted certificate. The properties hold under the exact memory model with
/// store buffers of any length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certified {
    /// The number of states in the certificate.
    pub states: usize,
    /// The memory model.
    pub model: Model,
    /// The abstract domain.
    pub domain: Domain,
    /// The maximum number of entries in a head.
    pub k: u32,
    /// The proved properties as text: absence of faults, then the problem's properties in order.
    pub properties: Vec<String>,
}

/// Checks that a certificate proves all properties of a problem. Does not panic for any input
/// bytes.
pub fn check(problem: &Problem, text: &mut impl BufRead) -> Result<Certified, Rejection> {
    check_within(problem, text, &Limits::NONE)
}

/// Checks a certificate as [`check`] does, within limits. A check that is stopped ends in a rejection
/// with the reason [`RejectionReason::Stopped`].
pub fn check_within(
    problem: &Problem,
    text: &mut impl BufRead,
    limits: &Limits<'_>,
) -> Result<Certified, Rejection> {
    check_problem(problem)?;
    let mut lines = Lines::new(text);
    let certified = check_states(problem, &mut lines, limits)?;
    match lines.next_line()? {
        None => Ok(certified),
        Some(line) => {
            let states = certified.states;
            let detail =
                format!("the file continues after the {states} states that its header declares");
            Err(Rejection::new(RejectionReason::Format, detail).at_line(line.number))
        }
    }
}

/// Checks that certificates can be about a problem.
pub(crate) fn check_problem(problem: &Problem) -> Result<(), Rejection> {
    validate(problem).map_err(|broken| {
        let rules: Vec<String> = broken.iter().map(ToString::to_string).collect();
        Rejection::new(RejectionReason::Problem, rules.join("; "))
    })?;
    property::check_certifiable(problem)
        .map_err(|detail| Rejection::new(RejectionReason::Problem, detail.to_string()))
}

/// Reads a header and its states, and checks that they prove all properties of a problem.
pub(crate) fn check_states(
    problem: &Problem,
    lines: &mut Lines<'_, impl BufRead>,
    limits: &Limits<'_>,
) -> Result<Certified, Rejection> {
    let header = read_header(problem, lines)?;
    let rules = Rules::abstract_buffers(header.model, header.domain, header.k);
    let semantics = Semantics::new(&problem.program, rules);
    let certificate = Certificate::read(problem, &semantics, &header, lines, limits)?;
    certificate.check_initial_states(&semantics)?;
    for at in 0..certificate.states.len() {
        certificate.check_successors(problem, &semantics, at, limits)?;
    }
    Ok(Certified {
        states: certificate.states.len(),
        model: rules.model,
        domain: rules.domain,
        k: rules.k,
        properties: property::property_names(problem),
    })
}

fn read_header(
    problem: &Problem,
    lines: &mut Lines<'_, impl BufRead>,
) -> Result<Header, Rejection> {
    let Some(line) = lines.next_line()? else {
        let detail = if lines.read() == 0 { "the file is empty" } else { "the states are missing" };
        return Err(Rejection::new(RejectionReason::Truncated, detail));
    };
    let number = line.number;
    let format = |detail: String| Rejection::new(RejectionReason::Format, detail).at_line(number);
    let header = Header::parse(&line.bytes).map_err(|error| {
        let which = if number == 1 { "the first line" } else { "the line" };
        format(format!("{which} is not a header: {error}"))
    })?;
    if header.certificate != VERSION {
        let version = header.certificate;
        return Err(format(format!(
            "format version {version} is not supported; the supported version is {VERSION}"
        )));
    }
    if header.domain == Domain::Set && header.k != 0 {
        return Err(format("k must be 0: the domain `set` has no head".into()));
    }
    if header.client != problem.name {
        let (theirs, ours) = (&header.client, &problem.name);
        let detail = format!(
            "the certificate is for client {theirs:?}, but the program has client {ours:?}"
        );
        return Err(Rejection::new(RejectionReason::Client, detail).at_line(number));
    }
    Ok(header)
}

/// The states of a certificate, indexed to find a covering state.
struct Certificate {
    states: Vec<CertState>,
    /// The line number of the first state.
    first_line: u64,
    /// Indices of states by [`covering::cover_key`].
    by_key: HashMap<u64, Vec<usize>>,
}

impl Certificate {
    /// Reads all states. Rejects the certificate if a state is malformed or violates a property.
    fn read(
        problem: &Problem,
        semantics: &Semantics<'_>,
        header: &Header,
        lines: &mut Lines<'_, impl BufRead>,
        limits: &Limits<'_>,
    ) -> Result<Certificate, Rejection> {
        let first_line = lines.read() + 1;
        let mut certificate =
            Certificate { states: Vec::new(), first_line, by_key: HashMap::new() };
        let expected = header.states;
        let mut total_bytes = 0;
        while (certificate.states.len() as u64) < expected {
            limits.check_stop()?;
            let at = certificate.states.len();
            let Some(line) = lines.next_line()? else {
                let detail = format!("the file ends after {at} of {expected} states");
                return Err(Rejection::new(RejectionReason::Truncated, detail));
            };
            let (line, bytes, ended) = (line.number, line.bytes, line.ended);
            let state = match CertState::parse(&bytes) {
                Ok(state) => state,
                Err(_) if !ended => {
                    let detail = format!(
                        "the file ends in the middle of a line, after {at} of {expected} states"
                    );
                    return Err(Rejection::new(RejectionReason::Truncated, detail).at_line(line));
                }
                Err(error) => {
                    let detail = format!("the line is not a state: {error}");
                    return Err(Rejection::new(RejectionReason::Format, detail).at_line(line));
                }
            };
            wellformed::check(semantics, &state)
                .map_err(|detail| Rejection::new(RejectionReason::State, detail).at_line(line))?;
            if let Some(detail) = property::violated_property(problem, &state) {
                let rejection = Rejection::new(RejectionReason::Violated, detail).at_line(line);
                return Err(
                    rejection.with_state("state", describe::state(&problem.program, &state))
                );
            }
            total_bytes += state_bytes(&state);
            limits.check_bytes(total_bytes)?;
            let key = covering::cover_key(semantics.rules, &state);
            certificate.by_key.entry(key).or_default().push(at);
            certificate.states.push(state);
        }
        Ok(certificate)
    }

    /// Returns whether some state of the certificate covers a state.
    fn covers(&self, rules: Rules, state: &CertState) -> bool {
        let candidates = self.by_key.get(&covering::cover_key(rules, state));
        candidates.into_iter().flatten().any(|at| covering::covers(rules, &self.states[*at], state))
    }

    /// Checks that there is an initial state and that all initial states are covered.
    fn check_initial_states(&self, semantics: &Semantics<'_>) -> Result<(), Rejection> {
        let program = semantics.program;
        let mut starts = false;
        semantics.for_each_initial(&mut |initial| match initial {
            Ok(state) if self.covers(semantics.rules, &state) => {
                starts = true;
                Ok(())
            }
            Ok(state) => {
                let detail = "an initial state is not covered by any state of the certificate";
                let rejection = Rejection::new(RejectionReason::Initial, detail);
                Err(rejection.with_state("initial state", describe::state(program, &state)))
            }
            Err(failure) => {
                let init =
                    program.init.as_ref().expect("only `init` can fail before the threads start");
                Err(Rejection::new(
                    RejectionReason::Violated,
                    describe::failed_init(program, init, &failure),
                ))
            }
        })?;
        if starts {
            return Ok(());
        }
        let detail = "`init` cannot finish, so there is nothing to prove";
        Err(Rejection::new(RejectionReason::NoRun, detail))
    }

    /// Checks that no step of a state fails, that all successors are covered, and that the state is
    /// not a hang.
    fn check_successors(
        &self,
        problem: &Problem,
        semantics: &Semantics<'_>,
        at: usize,
        limits: &Limits<'_>,
    ) -> Result<(), Rejection> {
        limits.check_stop()?;
        let (program, state): (&Program, _) = (semantics.program, &self.states[at]);
        let reject = |reason, detail: String| {
            let rejection = Rejection::new(reason, detail).at_line(self.first_line + at as u64);
            rejection.with_state("state", describe::state(program, state))
        };
        semantics.for_each_step(state, &mut |event, after| match after {
            Ok(after) if self.covers(semantics.rules, &after) => limits.check_stop(),
            Ok(after) => {
                let detail = format!(
                    "{}, but no state of the certificate covers the state after this step",
                    describe::event(program, &event)
                );
                let after = describe::state(program, &after);
                Err(reject(RejectionReason::NotClosed, detail).with_state("after", after))
            }
            Err(failure) => Err(reject(
                RejectionReason::Violated,
                describe::failed_step(program, &event, &failure),
            )),
        })?;
        match hang::violated_hang_freedom(problem, semantics, state) {
            Some(detail) => Err(reject(RejectionReason::Violated, detail.into())),
            None => Ok(()),
        }
    }
}
