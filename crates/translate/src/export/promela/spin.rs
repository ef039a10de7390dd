//! What SPIN says: the report of a verifier (`pan`), and a trail as `spin -t -p -T` tells it.
//!
//! Both are text for people; what is not recognised is skipped. [`Report::of`] therefore believes that everything
//! was searched only when the report says how many states there were and complains about nothing.

use super::{Line, Promela};

/// What a verifier reports.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// How many errors it found.
    pub errors: u64,
    /// The first one.
    pub error: Option<Error>,
    /// Why not everything was searched, in its own words; none when everything was.
    pub incomplete: Option<String>,
    /// States it stored.
    pub states: u64,
    /// Transitions it took.
    pub transitions: u64,
    /// The longest path it followed.
    pub depth: u64,
    /// Bytes of a state.
    pub vector: u64,
    /// Memory it used, in millions of bytes.
    pub megabytes: f64,
    /// Seconds it took, by its own clock.
    pub seconds: f64,
}

/// What a verifier calls an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// This assertion fails.
    Assertion(String),
    /// No process can go on, and one of them is not at its end.
    InvalidEndState,
    /// Something else, in its words.
    Other(String),
}

/// What a verifier says when it gives up.
const COMPLAINTS: [&str; 4] =
    ["max search depth too small", "out of memory", "reached -DMEMLIM", "VECTORSZ"];

impl Report {
    /// From what `pan` writes.
    pub fn of(output: &str) -> Report {
        let mut report = Report::default();
        let mut counted = false;
        for line in output.lines() {
            let line = line.trim();
            if let Some(rest) = line.strip_prefix("pan:1:") {
                report.error.get_or_insert_with(|| Error::of(rest.trim()));
            }
            let complaint = COMPLAINTS.iter().any(|complaint| line.contains(complaint));
            if complaint || line.starts_with("Warning: Search not completed") {
                let words = line.trim_start_matches("error: ").trim_start_matches("Warning: ");
                if complaint || report.incomplete.is_none() {
                    report.incomplete = Some(words.into());
                }
            }
            if let Some(errors) = after(line, "errors:") {
                report.errors = errors as u64;
                report.vector = after(line, "State-vector").unwrap_or(0.0) as u64;
                report.depth = after(line, "depth reached").unwrap_or(0.0) as u64;
            }
            let count = || first(line).unwrap_or(0.0);
            if line.contains("states, stored") {
                report.states = count() as u64;
                counted = true;
            } else if line.contains(" transitions (=") {
                report.transitions = count() as u64;
            } else if line.contains("total actual memory usage") {
                report.megabytes = count();
            } else if let Some(seconds) = after(line, "elapsed time") {
                report.seconds = seconds;
            }
        }
        if matches!(&report.error, Some(Error::Other(words)) if words.contains("VECTORSZ")) {
            (report.error, report.errors) = (None, 0);
        }
        if !counted && report.incomplete.is_none() {
            report.incomplete = Some("the verifier did not finish".into());
        }
        report
    }
}

impl Error {
    fn of(text: &str) -> Error {
        let what = text.split(" (at depth").next().unwrap_or(text).trim();
        match what.strip_prefix("assertion violated") {
            Some(assertion) => Error::Assertion(assertion.trim().into()),
            None if what.starts_with("invalid end state") => Error::InvalidEndState,
            None => Error::Other(what.into()),
        }
    }
}

/// The number at the beginning.
fn first(text: &str) -> Option<f64> {
    text.split(|c: char| c.is_whitespace() || c == ',').find(|t| !t.is_empty())?.parse().ok()
}

/// The number after a word.
fn after(text: &str, word: &str) -> Option<f64> {
    first(text.split_once(word)?.1)
}

/// A trail, as far as it is about steps of the program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trail {
    /// The alternatives of `choose` in `init`.
    pub init: Vec<u32>,
    /// The steps.
    pub steps: Vec<Line>,
    /// The line of the assertion that fails in the end.
    pub fails: Option<u32>,
}

impl Promela {
    /// From what `spin -t -p -T` writes about this model.
    pub fn trail(&self, output: &str) -> Trail {
        let mut trail = Trail::default();
        let mut last: Option<(&str, &Line)> = None;
        for text in output.lines() {
            if let Some(line) = failed(text) {
                trail.fails = Some(line);
            }
            let Some((number, line)) = told(text) else { continue };
            let Ok(at) = self.steps.binary_search_by_key(&line, |step| step.line) else {
                continue;
            };
            let step = &self.steps[at];
            // The first two lines of a `d_step` stand for it, and SPIN may show both, or one of them twice.
            let again = last.is_some_and(|(before, known)| {
                before == number
                    && (known.line == line || known.line + 1 == line)
                    && (known.thread, known.pc, &known.choices)
                        == (step.thread, step.pc, &step.choices)
            });
            last = Some((number, step));
            if again {
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

/// The number of a step and the line of the model, from a line like
/// `  5: proc  1 (p_0:1) model.pml:14 (state 13) [y = 9]`.
fn told(text: &str) -> Option<(&str, u32)> {
    let (number, rest) = text.trim_start().split_once(':')?;
    number.parse::<u64>().ok()?;
    let rest = rest.trim_start().strip_prefix("proc")?;
    let (_, rest) = rest.split_once(") ")?;
    if !rest.contains("\t[") && !rest.contains(" [") {
        return None; // where a process is in the end
    }
    let place = rest.split(" (state").next()?;
    Some((number, place.rsplit_once(':')?.1.trim().parse().ok()?))
}

/// The line of the model, from a line like `spin: model.pml:28, Error: assertion violated`.
fn failed(text: &str) -> Option<u32> {
    let place = text.strip_prefix("spin: ")?.split(", Error: assertion violated").next()?;
    text.contains("Error: assertion violated").then_some(())?;
    place.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_ir::{Pc, ThreadId};

    #[test]
    fn a_report_is_read() {
        let output = "pan:1: assertion violated (r==2) (at depth 11)\npan: wrote a.pml.trail\n\n\
            Warning: Search not completed\n\
            State-vector 20 byte, depth reached 11, errors: 1\n\
            \x20      12 states, stored\n        0 states, matched\n\
            \x20      13 transitions (= stored+matched)\n\
            \x20 128.730\ttotal actual memory usage\n\npan: elapsed time 0.25 seconds\n";
        let report = Report::of(output);
        assert_eq!(report.errors, 1);
        assert_eq!(report.error, Some(Error::Assertion("(r==2)".into())));
        assert_eq!((report.states, report.transitions, report.depth), (12, 13, 11));
        assert_eq!((report.vector, report.megabytes, report.seconds), (20, 128.73, 0.25));
        assert_eq!(report.incomplete.as_deref(), Some("Search not completed"));
    }

    #[test]
    fn what_is_cut_short_is_not_complete() {
        let deep = Report::of("error: max search depth too small\n 1e+08 states, stored\n");
        assert_eq!(deep.states, 100_000_000);
        assert_eq!(deep.incomplete.as_deref(), Some("max search depth too small"));
        let full = Report::of("pan: out of memory\n\t5 states, stored\n");
        assert_eq!(full.incomplete.as_deref(), Some("pan: out of memory"));
        assert!(Report::of("").incomplete.is_some());
        assert!(Report::of("\t5 states, stored\n").incomplete.is_none());
        let large = Report::of(
            "pan:1: VECTORSZ is too small, edit pan.h (at depth 0)\n 1 states, stored\n",
        );
        assert!(large.incomplete.is_some_and(|why| why.contains("VECTORSZ")) && large.errors == 0);
        let stuck = Report::of("pan:1: invalid end state (at depth 3)\n\t5 states, stored\n");
        assert_eq!(stuck.error, Some(Error::InvalidEndState));
    }

    #[test]
    fn a_trail_is_read() {
        let line = |line, thread: Option<u16>, pc, choices: &[u32]| Line {
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
            vector: 1024,
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
        assert_eq!(trail.fails, Some(28));
    }
}
