//! The check: one pass that reads the states, one that takes their steps.
//!
//! A certificate is accepted when
//!
//! 1. every state is well-formed for the program (`wellformed`),
//! 2. no state breaks a property (`property`),
//! 3. no step of a state faults or fails an assertion, and what follows is covered by a state
//!    (`semantics`, `order`),
//! 4. every initial state is covered by a state.
//!
//! Then every reachable state of the exact model is represented by a state of the certificate: the
//! initial ones by 4, and by 3 those one step further. And by 2 none of them is an error.
//!
//! Nothing is allocated because a header says so: memory grows with the states that are there.

use std::collections::HashMap;
use std::io::{BufRead, Read};

use fencepost_ir::validate::validate;
use fencepost_ir::{Problem, Program};

use crate::buffer::Rules;
use crate::format::{CertState, Domain, Header, Model, VERSION};
use crate::rejected::{Reason, Rejected};
use crate::semantics::Semantics;
use crate::{order, property, wellformed, words};

/// No state of a program of legal size needs a longer line.
const LONGEST_LINE: u64 = 4 << 20;

/// What an accepted certificate proves: the properties, for the exact memory model with store buffers of
/// any length.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certified {
    /// How many states it has.
    pub states: usize,
    /// The memory model.
    pub model: Model,
    /// The abstract domain.
    pub domain: Domain,
    /// How many entries a head holds at most.
    pub k: u32,
    /// What was checked, in words: faults always, then the problem's properties in order.
    pub properties: Vec<String>,
}

/// Checks that a certificate proves all properties of a problem. Whatever the bytes are, the answer
/// is one of the two; nothing panics.
pub fn check(problem: &Problem, text: &mut impl BufRead) -> Result<Certified, Rejected> {
    validate(problem).map_err(|broken| {
        let rules: Vec<String> = broken.iter().map(ToString::to_string).collect();
        Rejected::new(Reason::Problem, rules.join("; "))
    })?;
    property::can_certify(problem)
        .map_err(|what| Rejected::new(Reason::Problem, what.to_string()))?;
    let header = read_header(problem, text)?;
    let rules = Rules { model: header.model, domain: header.domain, k: header.k };
    let semantics = Semantics::new(&problem.program, rules);
    let certificate = Certificate::read(problem, &semantics, &header, text)?;
    certificate.begins(&semantics)?;
    for at in 0..certificate.states.len() {
        certificate.is_closed_at(problem, &semantics, at)?;
    }
    Ok(Certified {
        states: certificate.states.len(),
        model: rules.model,
        domain: rules.domain,
        k: rules.k,
        properties: property::names(problem),
    })
}

/// A line without its end, or none at the end of the file; and whether the end was there.
fn read_line(text: &mut impl BufRead, line: u64) -> Result<Option<(Vec<u8>, bool)>, Rejected> {
    let mut bytes = Vec::new();
    let read = text.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes);
    let read =
        read.map_err(|error| Rejected::new(Reason::Unreadable, error.to_string()).at(line))?;
    let ended = bytes.pop_if(|byte| *byte == b'\n').is_some();
    if read as u64 == LONGEST_LINE && !ended {
        return Err(Rejected::new(Reason::Format, "a line of more than 4 MiB").at(line));
    }
    Ok((read > 0).then_some((bytes, ended)))
}

fn read_header(problem: &Problem, text: &mut impl BufRead) -> Result<Header, Rejected> {
    let format = |what: String| Rejected::new(Reason::Format, what).at(1);
    let Some((line, _)) = read_line(text, 1)? else {
        return Err(Rejected::new(Reason::Truncated, "the file is empty"));
    };
    let header = Header::parse(&line).map_err(|e| format(format!("no header: {e}")))?;
    if header.certificate != VERSION {
        let version = header.certificate;
        return Err(format(format!("version {version} of the format; known is {VERSION}")));
    }
    if header.domain == Domain::Set && header.k != 0 {
        return Err(format("the domain set has no head: k must be 0".into()));
    }
    if header.client != problem.name {
        let (theirs, ours) = (&header.client, &problem.name);
        let what = format!("it is about {theirs:?}, and the program's client is {ours:?}");
        return Err(Rejected::new(Reason::Client, what).at(1));
    }
    Ok(header)
}

/// The states of a certificate, and where to look for one that covers a given one.
struct Certificate {
    states: Vec<CertState>,
    by_key: HashMap<u64, Vec<usize>>,
}

/// The line of a state.
fn line_of(at: usize) -> u64 {
    at as u64 + 2
}

impl Certificate {
    /// Reads all states; those that make no sense or break a property end it.
    fn read(
        problem: &Problem,
        semantics: &Semantics<'_>,
        header: &Header,
        text: &mut impl BufRead,
    ) -> Result<Certificate, Rejected> {
        let mut certificate = Certificate { states: Vec::new(), by_key: HashMap::new() };
        let due = header.states;
        loop {
            let at = certificate.states.len();
            let line = line_of(at);
            let Some((bytes, ended)) = read_line(text, line)? else { break };
            if at as u64 == due {
                let what = format!("the file goes on after the {due} states of its header");
                return Err(Rejected::new(Reason::Format, what).at(line));
            }
            let state = match CertState::parse(&bytes) {
                Ok(state) => state,
                Err(_) if !ended => {
                    let what = format!("ends in the middle of a line, after {at} of {due} states");
                    return Err(Rejected::new(Reason::Truncated, what).at(line));
                }
                Err(error) => {
                    let what = format!("no state: {error}");
                    return Err(Rejected::new(Reason::Format, what).at(line));
                }
            };
            wellformed::check(semantics, &state)
                .map_err(|what| Rejected::new(Reason::State, what).at(line))?;
            if let Some(what) = property::violated(problem, &state) {
                let rejected = Rejected::new(Reason::Violated, what).at(line);
                return Err(rejected.showing("state", words::state(&problem.program, &state)));
            }
            let key = order::key(semantics.rules, &state);
            certificate.by_key.entry(key).or_default().push(at);
            certificate.states.push(state);
        }
        let found = certificate.states.len();
        if found as u64 != due {
            let what = format!("ends after {found} of {due} states");
            return Err(Rejected::new(Reason::Truncated, what));
        }
        Ok(certificate)
    }

    /// Whether some state covers this one.
    fn covers(&self, rules: Rules, state: &CertState) -> bool {
        let candidates = self.by_key.get(&order::key(rules, state));
        candidates.into_iter().flatten().any(|at| order::covers(rules, &self.states[*at], state))
    }

    /// Whether all initial states are covered.
    fn begins(&self, semantics: &Semantics<'_>) -> Result<(), Rejected> {
        let program = semantics.program;
        semantics.for_each_initial(&mut |begin| match begin {
            Ok(state) if self.covers(semantics.rules, &state) => Ok(()),
            Ok(state) => {
                let what = "an initial state is not covered by any state of the certificate";
                let rejected = Rejected::new(Reason::Initial, what);
                Err(rejected.showing("initial state", words::state(program, &state)))
            }
            Err(failure) => {
                let init = program.init.as_ref().expect("only `init` can fail before the threads");
                Err(Rejected::new(Reason::Violated, words::failed_init(program, init, &failure)))
            }
        })
    }

    /// Whether what follows a state is covered, and no error.
    fn is_closed_at(
        &self,
        problem: &Problem,
        semantics: &Semantics<'_>,
        at: usize,
    ) -> Result<(), Rejected> {
        let (program, state): (&Program, _) = (semantics.program, &self.states[at]);
        let reject = |reason, what: String| {
            let rejected = Rejected::new(reason, what).at(line_of(at));
            rejected.showing("state", words::state(program, state))
        };
        let mut steps = 0_u64;
        semantics.for_each_step(state, &mut |event, after| {
            steps += 1;
            match after {
                Ok(after) if self.covers(semantics.rules, &after) => Ok(()),
                Ok(after) => {
                    let what = format!(
                        "{}, and the state after it is not covered by any state of the certificate",
                        words::event(program, &event)
                    );
                    let after = words::state(program, &after);
                    Err(reject(Reason::NotClosed, what).showing("after", after))
                }
                Err(failure) => {
                    Err(reject(Reason::Violated, words::failed(program, &event, &failure)))
                }
            }
        })?;
        match property::stuck(problem, state) {
            Some(what) if steps == 0 => Err(reject(Reason::Violated, what)),
            Some(_) | None => Ok(()),
        }
    }
}
