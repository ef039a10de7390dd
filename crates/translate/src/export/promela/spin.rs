//! Parses the output of SPIN: the report of a verifier (`pan`), and the text of a trail (`spin -t
//! -p -T`).
//!
//! Both are informal text. Unrecognised lines are skipped. So [`Report::parse`] treats a search as
//! complete only if the report has a number of states and no sign of an incomplete search.

use super::{Promela, StepLine};

/// The report of a verifier.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// The number of errors.
    pub errors: u64,
    /// The first error.
    pub error: Option<Error>,
    /// Why the search is incomplete, in the words of the verifier; `None` if it is complete.
    pub incomplete: Option<String>,
    /// The number of stored states.
    pub states: u64,
    /// The number of transitions.
    pub transitions: u64,
    /// The depth of the search.
    pub depth: u64,
    /// The size of a state, in bytes.
    pub state_vector_bytes: u64,
    /// The memory used, in megabytes (10^6 bytes).
    pub megabytes: f64,
    /// The time by the clock of the verifier, in seconds.
    pub seconds: f64,
}

/// An error that a verifier reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// A failed assertion.
    Assertion(String),
    /// A deadlock: no process is enabled, and some process is not at its end.
    InvalidEndState,
    /// Another error, in the words of the verifier.
    Other(String),
}

/// Phrases in the output of a verifier that gives up.
const INCOMPLETE_MARKERS: [&str; 4] =
    ["max search depth too small", "out of memory", "reached -DMEMLIM", "VECTORSZ"];

impl Report {
    /// Parses the output of `pan`.
    pub fn parse(output: &str) -> Report {
        let mut report = Report::default();
        let mut has_state_count = false;
        for line in output.lines() {
            let line = line.trim();
            if let Some(rest) = line.strip_prefix("pan:1:") {
                report.error.get_or_insert_with(|| Error::parse(rest.trim()));
            }
            let gives_up = INCOMPLETE_MARKERS.iter().any(|marker| line.contains(marker));
            if gives_up || line.starts_with("Warning: Search not completed") {
                let words = line.trim_start_matches("error: ").trim_start_matches("Warning: ");
                if gives_up || report.incomplete.is_none() {
                    report.incomplete = Some(words.into());
                }
            }
            if let Some(errors) = number_after(line, "errors:") {
                report.errors = errors as u64;
                report.state_vector_bytes =
                    number_after(line, "State-vector").unwrap_or(0.0) as u64;
                report.depth = number_after(line, "depth reached").unwrap_or(0.0) as u64;
            }
            let count = || leading_number(line).unwrap_or(0.0);
            if line.contains("states, stored") {
                report.states = count() as u64;
                has_state_count = true;
            } else if line.contains(" transitions (=") {
                report.transitions = count() as u64;
            } else if line.contains("total actual memory usage") {
                report.megabytes = count();
            } else if let Some(seconds) = number_after(line, "elapsed time") {
                report.seconds = seconds;
            }
        }
        if matches!(&report.error, Some(Error::Other(words)) if words.contains("VECTORSZ")) {
            (report.error, report.errors) = (None, 0);
        }
        if !has_state_count && report.incomplete.is_none() {
            report.incomplete = Some("the verifier did not finish".into());
        }
        report
    }
}

impl Error {
    fn parse(text: &str) -> Error {
        let what = text.split(" (at depth").next().unwrap_or(text).trim();
        match what.strip_prefix("assertion violated") {
            Some(assertion) => Error::Assertion(assertion.trim().into()),
            None if what.starts_with("invalid end state") => Error::InvalidEndState,
            None => Error::Other(what.into()),
        }
    }
}

/// Returns the number at the beginning of a text.
fn leading_number(text: &str) -> Option<f64> {
    text.split(|c: char| c.is_whitespace() || c == ',').find(|t| !t.is_empty())?.parse().ok()
}

/// Returns the number after a word.
fn number_after(text: &str, word: &str) -> Option<f64> {
    leading_number(text.split_once(word)?.1)
}

/// The steps of a trail that are steps of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trail {
    /// The alternatives of `choose` in `init`.
    pub init: Vec<u32>,
    /// The steps of threads.
    pub steps: Vec<StepLine>,
    /// The line of the assertion that fails at the end.
    pub failed_assertion_line: Option<u32>,
}

impl Promela {
    /// Parses the output of `spin -t -p -T` for this model.
    pub fn trail(&self, output: &str) -> Trail {
        let mut trail = Trail::default();
        let mut last: Option<(&str, &StepLine)> = None;
        for text in output.lines() {
            if let Some(line) = parse_failed_assertion(text) {
                trail.failed_assertion_line = Some(line);
            }
            let Some((number, line)) = parse_step_line(text) else { continue };
            let Ok(at) = self.steps.binary_search_by_key(&line, |step| step.line) else {
                continue;
            };
            let step = &self.steps[at];
            // The first two lines of a `d_step` stand for it. SPIN may print both, or one of them
            // twice.
            let is_repeated = last.is_some_and(|(before, known)| {
                before == number
                    && (known.line == line || known.line + 1 == line)
                    && (known.thread, known.pc, &known.choices)
                        == (step.thread, step.pc, &step.choices)
            });
            last = Some((number, step));
            if is_repeated {
                continue;
            }
            match step.thread {
                Some(_) => trail.steps.push(step.clone()),
                None => trail.init.extend(&step.choices),
            }
        }
        trail
    }
}

/// Returns the step number and the line of the model, from a line such as `  5: proc  1 (p_0:1)
/// model.pml:14 (state 13) [y = 9]`.
fn parse_step_line(text: &str) -> Option<(&str, u32)> {
    let (number, rest) = text.trim_start().split_once(':')?;
    number.parse::<u64>().ok()?;
    let rest = rest.trim_start().strip_prefix("proc")?;
    let (_, rest) = rest.split_once(") ")?;
    if !rest.contains("\t[") && !rest.contains(" [") {
        return None; // the final position of a process
    }
    let place = rest.split(" (state").next()?;
    Some((number, place.rsplit_once(':')?.1.trim().parse().ok()?))
}

/// Returns the line of the model, from a line such as `spin: model.pml:28, Error: assertion
/// violated`.
fn parse_failed_assertion(text: &str) -> Option<u32> {
    let place = text.strip_prefix("spin: ")?.split(", Error: assertion violated").next()?;
    text.contains("Error: assertion violated").then_some(())?;
    place.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{Pc, ThreadId};

    #[test]
    fn reports_are_parsed() {
        let output = "pan:1: assertion violated (r==2) (at depth 11)\npan: wrote a.pml.trail\n\n\
            Warning: Search not completed\n\
            State-vector 20 byte, depth reached 11, errors: 1\n\
            \x20      12 states, stored\n        0 states, matched\n\
            \x20      13 transitions (= stored+matched)\n\
            \x20 128.730\ttotal actual memory usage\n\npan: elapsed time 0.25 seconds\n";
        let report = Report::parse(output);
        assert_eq!(report.errors, 1);
        assert_eq!(report.error, Some(Error::Assertion("(r==2)".into())));
        assert_eq!((report.states, report.transitions, report.depth), (12, 13, 11));
        assert_eq!(
            (report.state_vector_bytes, report.megabytes, report.seconds),
            (20, 128.73, 0.25)
        );
        assert_eq!(report.incomplete.as_deref(), Some("Search not completed"));
    }

    #[test]
    fn truncated_searches_are_incomplete() {
        let deep = Report::parse("error: max search depth too small\n 1e+08 states, stored\n");
        assert_eq!(deep.states, 100_000_000);
        assert_eq!(deep.incomplete.as_deref(), Some("max search depth too small"));
        let full = Report::parse("pan: out of memory\n\t5 states, stored\n");
        assert_eq!(full.incomplete.as_deref(), Some("pan: out of memory"));
        assert!(Report::parse("").incomplete.is_some());
        assert!(Report::parse("\t5 states, stored\n").incomplete.is_none());
        let large = Report::parse(
            "pan:1: VECTORSZ is too small, edit pan.h (at depth 0)\n 1 states, stored\n",
        );
        assert!(large.incomplete.is_some_and(|why| why.contains("VECTORSZ")) && large.errors == 0);
        let stuck = Report::parse("pan:1: invalid end state (at depth 3)\n\t5 states, stored\n");
        assert_eq!(stuck.error, Some(Error::InvalidEndState));
    }

    #[test]
    fn trails_are_parsed() {
        let line = |line, thread: Option<u16>, pc, choices: &[u32]| StepLine {
            line,
            thread: thread.map(ThreadId),
            pc: Pc(pc),
            choices: choices.to_vec(),
        };
        let steps = vec![
            line(9, Some(0), 4, &[]),
            line(10, Some(0), 4, &[]),
            line(15, Some(1), 2, &[1]),
            line(40, None, 0, &[0]),
            line(41, None, 0, &[1]),
        ];
        let model = Promela {
            text: String::new(),
            steps,
            witnesses: Vec::new(),
            deadlock_free: false,
            state_vector_bytes: 1024,
        };
        let trail = model.trail(
            "  1:\tproc  0 (:init::1) m.pml:41 (state 3)\t[r = 1]\n\
             \x20 1:\tproc  0 (:init::1) m.pml:40 (state 3)\t[r = 0]\n\
             \x20 2:\tproc  1 (p_0:1) m.pml:9 (state 5)\t[((x==0))]\n\
             \x20 2:\tproc  1 (p_0:1) m.pml:10 (state 2)\t[tmp = y]\n\
             \x20 3:\tproc  1 (p_0:1) m.pml:11 (state 2)\t[r = y]\n\
             \x20 4:\tproc  2 (p_1:1) m.pml:15 (state 2)\t[r = y]\n\
             spin: m.pml:28, Error: assertion violated\n\
             \x20 5:\tproc  2 (p_1:1) m.pml:28 (state 23)\t[assert((r==2))]\n\
             \x20 5:\tproc  1 (p_0:1) m.pml:9 (state 1)\n",
        );
        assert_eq!(trail.init, [1, 0]);
        assert_eq!(trail.steps, [line(9, Some(0), 4, &[]), line(15, Some(1), 2, &[1])]);
        assert_eq!(trail.failed_assertion_line, Some(28));
    }
}
