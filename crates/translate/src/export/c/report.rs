//! Parses the output of verifiers for exported C programs: CBMC (plain text) and GenMC.
//!
//! Both are informal text. A report is accepted only if the tool states its result and the result
//! agrees with the parsed lines. Everything else is an error, so an output that is not understood
//! never looks like a verified program.

use super::END_OF_RUN;
use std::collections::BTreeSet;

/// What a verifier reports about a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The first failed assertion of the program, in the words of the tool.
    pub violation: Option<String>,
    /// The conditions that have a witness. See [`witness_text`](super::witness_text).
    pub witnesses: BTreeSet<usize>,
    /// Whether some run reaches the end. See [`END_OF_RUN`].
    pub reaches_end: bool,
    /// Whether a loop has more iterations than the tool unrolled. GenMC does not report this.
    pub exceeds_unrolling: bool,
    /// The number of checked properties (CBMC) or of complete executions (GenMC).
    pub count: u64,
}

impl Report {
    /// Records a failed assertion.
    fn add_failure(&mut self, description: &str) {
        let witness = description.split_once("\"witness ").and_then(|(_, rest)| {
            let (number, _) = rest.split_once('"')?;
            number.parse().ok()
        });
        if let Some(number) = witness {
            self.witnesses.insert(number);
        } else if description.contains(&format!("\"{END_OF_RUN}\"")) {
            self.reaches_end = true;
        } else if self.violation.is_none() {
            self.violation = Some(description.into());
        }
    }

    /// Parses the output of CBMC. The error describes why the output is not a result.
    pub fn parse_cbmc(output: &str) -> Result<Report, String> {
        let mut report = Report::default();
        let mut failed = 0;
        let (mut stated, mut summary) = (None, None);
        for line in output.lines().map(str::trim_end) {
            if let Some((description, status)) = parse_property(line) {
                report.count += 1;
                match status {
                    "SUCCESS" => {}
                    "FAILURE" => {
                        failed += 1;
                        match description.starts_with("unwinding assertion") {
                            true => report.exceeds_unrolling = true,
                            false => report.add_failure(description),
                        }
                    }
                    other => return Err(format!("a property has the status {other}: {line}")),
                }
            } else if let Some(rest) = line.strip_prefix("** ") {
                let words: Vec<&str> = rest.split_whitespace().collect();
                if let [failed, "of", all, "failed", ..] = words[..] {
                    summary = failed.parse::<u64>().ok().zip(all.parse::<u64>().ok());
                }
            } else if let Some(word) = line.strip_prefix("VERIFICATION ") {
                stated = Some(word.to_string());
            }
        }
        let expected = if failed > 0 { "FAILED" } else { "SUCCESSFUL" };
        if summary == Some((failed, report.count)) && stated.as_deref() == Some(expected) {
            return Ok(report);
        }
        Err(last_lines(output))
    }

    /// Parses the output of GenMC. The error describes why the output is not a result.
    pub fn parse_genmc(output: &str) -> Result<Report, String> {
        let mut report = Report::default();
        let (mut clean, mut error, mut assertion, mut has_count) = (false, None, None, false);
        for line in output.lines().map(str::trim) {
            if line.starts_with("No errors were detected") {
                clean = true;
            } else if let Some(what) =
                line.strip_prefix("Error detected: ").or_else(|| line.strip_prefix("Error: "))
            {
                error = error.or(Some(what));
            } else if let Some(what) = line.strip_prefix("Assertion violation: ") {
                assertion = assertion.or(Some(what));
            } else if let Some(rest) = line.strip_prefix("Number of complete executions explored: ")
            {
                let digits = rest.split_whitespace().next().unwrap_or_default();
                report.count = digits.parse().map_err(|_| last_lines(output))?;
                has_count = true;
            }
        }
        match (clean, error, assertion) {
            (true, None, None) if has_count => Ok(report),
            (false, Some(error), Some(assertion)) if error.starts_with("Safety violation") => {
                report.add_failure(assertion);
                Ok(report)
            }
            _ => Err(last_lines(output)),
        }
    }
}

/// Returns the description and the status of a property, from a line such as `[p.assertion.1] line
/// 5 assertion r == 2: FAILURE`.
fn parse_property(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix('[')?.split_once("] ")?;
    if !name.contains('.') || name.contains(char::is_whitespace) {
        return None;
    }
    let (description, status) = rest.rsplit_once(": ")?;
    let described = description.strip_prefix("line ").and_then(|rest| rest.split_once(' '));
    Some((described.map_or(description, |(_, description)| description), status))
}

/// Returns the last lines of an output, for a message.
fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.len() {
        0 => "it printed nothing".into(),
        n => lines[n.saturating_sub(5)..].join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CBMC: &str = "CBMC version 6.6.0 (cbmc-6.6.0) 64-bit x86_64 linux\n\
        ** Results:\n<builtin-library-pthread_join> function pthread_join\n\
        [pthread_join.assertion.1] line 12 a: b: SUCCESS\n\n\
        program.c function p\n[p.overflow.1] line 4 arithmetic overflow on signed + in a + 1: SUCCESS\n";

    #[test]
    fn cbmc_results_are_parsed() {
        let clean = format!("{CBMC}\n** 0 of 2 failed (1 iterations)\nVERIFICATION SUCCESSFUL\n");
        let expected = Report { count: 2, ..Report::default() };
        assert_eq!(Report::parse_cbmc(&clean), Ok(expected));
        let failed = format!(
            "{CBMC}[p.assertion.2] line 5 assertion r == 2: FAILURE\n\
             [p.unwind.0] line 9 unwinding assertion loop 0: FAILURE\n\
             [main.assertion.1] line 20 assertion (!(x == 1)) && \"witness 1\": FAILURE\n\
             [main.assertion.2] line 22 assertion 0 && \"end of run\": FAILURE\n\n\
             ** 4 of 6 failed (5 iterations)\nVERIFICATION FAILED\n"
        );
        let expected = Report {
            violation: Some("assertion r == 2".into()),
            witnesses: BTreeSet::from([1]),
            reaches_end: true,
            exceeds_unrolling: true,
            count: 6,
        };
        assert_eq!(Report::parse_cbmc(&failed), Ok(expected));
    }

    #[test]
    fn incomplete_cbmc_output_is_an_error() {
        for output in [
            "",
            "garbage\n",
            "pointer handling for concurrency is unsound\n",
            "VERIFICATION SUCCESSFUL\n",
            &format!("{CBMC}** 0 of 3 failed (1 iterations)\nVERIFICATION SUCCESSFUL\n"),
            &format!("{CBMC}** 1 of 2 failed (1 iterations)\nVERIFICATION FAILED\n"),
            &format!("{CBMC}** 0 of 2 failed (1 iterations)\nVERIFICATION FAILED\n"),
            &format!("{CBMC}** 0 of 2 failed (1 iterations)\n"),
            &format!(
                "{CBMC}[p.a.1] line 1 x: UNKNOWN\n** 0 of 3 failed (1 iterations)\nVERIFICATION SUCCESSFUL\n"
            ),
        ] {
            assert!(Report::parse_cbmc(output).is_err(), "{output}");
        }
    }

    #[test]
    fn genmc_results_are_parsed() {
        let clean = "GenMC v0.11.0 (LLVM 17.0.6)\n*** Verification complete.\n\
            No errors were detected.\nNumber of complete executions explored: 6\n\
            Number of blocked executions seen: 10\nTotal wall-clock time: 0.03s\n";
        let report = Report::parse_genmc(clean).expect("a result");
        assert_eq!(report, Report { count: 6, ..Report::default() });
        for (text, expected) in [
            ("r == 2", Report { violation: Some("r == 2".into()), count: 1, ..Report::default() }),
            ("0 && \"end of run\"", Report { reaches_end: true, count: 1, ..Report::default() }),
            (
                "(!(x == 1)) && \"witness 0\"",
                Report { witnesses: BTreeSet::from([0]), count: 1, ..Report::default() },
            ),
        ] {
            for word in ["Error detected", "Error"] {
                let output = format!(
                    "{word}: Safety violation!\nEvent (2, 2) in graph:\n<-1, 0> main:\n    (0, 0): B\n\n\
                     Assertion violation: {text}\nNumber of complete executions explored: 1\n"
                );
                assert_eq!(Report::parse_genmc(&output).as_ref(), Ok(&expected));
            }
        }
    }

    #[test]
    fn other_genmc_output_is_an_error() {
        for output in [
            "",
            "program.c:3:1: error: expected expression\n",
            "No errors were detected.\n",
            "Number of complete executions explored: 4\n",
            "No errors were detected.\nNumber of complete executions explored: many\n",
            "Error: Non-atomic race!\nNumber of complete executions explored: 1\n",
            "Error: Safety violation!\nNumber of complete executions explored: 1\n",
            "Assertion violation: r == 2\nNo errors were detected.\n\
             Number of complete executions explored: 1\n",
        ] {
            assert!(Report::parse_genmc(output).is_err(), "{output}");
        }
    }
}
