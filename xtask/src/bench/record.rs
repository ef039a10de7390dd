//! Compares stored measurements.

use super::run::Measurement;

/// The difference of two instruction counts of the same work. Compilers and inputs stay the same
/// within a comparison, so this is generous.
const NOISE: f64 = 0.02;

/// The measurements of a commit.
pub(super) type Record = crate::record::Record<Measurement>;

/// The differences between two records.
#[derive(Clone, PartialEq, Default, Debug)]
pub(super) struct Comparison {
    /// Rows that need more instructions than before, or that had an answer before.
    pub(super) regressions: Vec<String>,
    /// Rows that need fewer instructions, or that had no answer before.
    pub(super) improvements: Vec<String>,
    /// Rows with another number of states, executions or rounds.
    pub(super) counts: Vec<String>,
    /// The number of rows whose instructions are in both records.
    pub(super) compared: usize,
}

/// Compares the rows that are in both records. Seconds are not compared: they depend on the machine
/// and on what else it does.
pub(super) fn compare(old: &Record, new: &Record) -> Comparison {
    let mut found = Comparison::default();
    for now in &new.rows {
        let Some(before) = old.rows.iter().find(|before| before.row == now.row) else { continue };
        match (before.is_decided(), now.is_decided()) {
            (true, true) => {}
            (false, false) => continue,
            (true, false) => {
                let reason = now.reason.as_deref().unwrap_or(&now.answer);
                found.regressions.push(format!("{}: no answer any more ({reason})", now.row));
                continue;
            }
            (false, true) => {
                found.improvements.push(format!("{}: {}", now.row, now.answer));
                continue;
            }
        }
        if before.answer != now.answer {
            let change = format!("{}: {}, before {}", now.row, now.answer, before.answer);
            found.regressions.push(change);
        }
        if before.count != now.count {
            found.counts.push(format!("{}: {}, before {}", now.row, now.count, before.count));
        }
        if let (Some(then), Some(new)) = (before.instructions, now.instructions) {
            found.compared += 1;
            let ratio = new as f64 / then as f64;
            let change = format!(
                "{}: {new} instructions, before {then} ({:+.1} %)",
                now.row,
                100.0 * (ratio - 1.0)
            );
            if ratio > 1.0 + NOISE {
                found.regressions.push(change);
            } else if ratio < 1.0 - NOISE {
                found.improvements.push(change);
            }
        }
    }
    found
}

impl Comparison {
    /// Formats the differences.
    pub(super) fn text(&self, old: &Record) -> String {
        let modified = if old.modified { " with changes" } else { "" };
        let mut text = format!("compared with commit {}{modified}\n", old.commit);
        for (title, lines) in [
            ("regressions", &self.regressions),
            ("improvements", &self.improvements),
            ("other counts", &self.counts),
        ] {
            text += &format!("{title}: {}\n", lines.len());
            text.extend(lines.iter().map(|line| format!("  {line}\n")));
        }
        text += &match self.compared {
            0 => "no instructions to compare: both records need --instructions\n".to_string(),
            n => format!("instructions compared in {n} rows\n"),
        };
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(rows: &[(&str, &str, u64, Option<u64>)]) -> Record {
        let rows = rows.iter().map(|(row, answer, count, instructions)| Measurement {
            row: (*row).into(),
            engine: "explicit".into(),
            family: "clh".into(),
            program: "clh3-fenced".into(),
            parameter: 3,
            model: "pso".into(),
            answer: (*answer).into(),
            reason: None,
            wrong: false,
            count: *count,
            seconds: 1.0,
            cpu_seconds: 1.0,
            bytes: None,
            instructions: *instructions,
            speedup: None,
        });
        Record { commit: "abc".into(), modified: false, limit: 10, rows: rows.collect() }
    }

    #[test]
    fn only_changes_beyond_noise_are_reported() {
        let old = record(&[
            ("same", "verified", 5, Some(1000)),
            ("slower", "verified", 5, Some(1000)),
            ("faster", "verified", 5, Some(1000)),
            ("lost", "verified", 5, Some(1000)),
            ("won", "inconclusive", 5, None),
            ("open", "inconclusive", 5, None),
            ("states", "verified", 5, None),
        ]);
        let new = record(&[
            ("same", "verified", 5, Some(1019)),
            ("slower", "verified", 5, Some(1030)),
            ("faster", "verified", 5, Some(900)),
            ("lost", "inconclusive", 5, None),
            ("won", "verified", 5, Some(1000)),
            ("open", "inconclusive", 9, None),
            ("states", "verified", 6, None),
            ("added", "verified", 6, Some(1)),
        ]);
        let found = compare(&old, &new);
        let regressions = [
            "slower: 1030 instructions, before 1000 (+3.0 %)",
            "lost: no answer any more (inconclusive)",
        ];
        assert_eq!(found.regressions, regressions);
        let improvements = ["faster: 900 instructions, before 1000 (-10.0 %)", "won: verified"];
        assert_eq!(found.improvements, improvements);
        assert_eq!(found.counts, ["states: 6, before 5"]);
        assert_eq!(found.compared, 3);
        assert!(compare(&old, &old).regressions.is_empty());
    }

    #[test]
    fn another_verdict_is_a_regression() {
        let old = record(&[("a", "verified", 5, None)]);
        let new = record(&[("a", "violated", 5, None)]);
        let found = compare(&old, &new);
        assert_eq!(found.regressions, ["a: violated, before verified"]);
        assert!(found.text(&old).contains("no instructions to compare"));
    }
}
