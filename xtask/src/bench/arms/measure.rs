//! Runs `auto` and its arms on a program.

use super::super::run::{MAX_COUNTED, MEMORY, Runner as CommonRunner};
use super::MIN_SECONDS;
use super::programs::Subject;
use crate::process;
use serde::{Deserialize, Serialize};
use std::process::Command;
use std::time::Duration;

/// A run of an arm may take this much longer than `auto`, so that noise does not decide.
const SLACK: f64 = 1.1;

/// Rows in which `auto` takes at most this many CPU seconds are measured [`REPEATS`] times.
const MAX_REPEATED: f64 = 3.0;

/// How many times `auto` and the fastest arm run alternately. The smallest times count.
const REPEATS: usize = 3;

/// The answer of a run that is killed at the time limit.
const LIMIT: &str = "limit";

/// What a user can run instead of `auto`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arm {
    /// `check --engine explicit`
    Explicit,
    /// `check --engine abstraction --k N`
    Abstraction(&'static str),
    /// `check --engine automata`
    Automata,
    /// `check --engine stateless`
    Stateless,
    /// `check --engine translate`: up to a number of context switches, so it only finds violations.
    Translate,
    /// `robust`: a robust program has its properties if it has them under SC, which is checked, too.
    Robust,
}

impl Arm {
    /// All arms.
    pub(super) const ALL: [Arm; 8] = [
        Arm::Explicit,
        Arm::Abstraction("0"),
        Arm::Abstraction("1"),
        Arm::Abstraction("2"),
        Arm::Automata,
        Arm::Stateless,
        Arm::Translate,
        Arm::Robust,
    ];

    /// Returns the name in tables and records.
    pub(super) fn name(self) -> &'static str {
        match self {
            Arm::Explicit => "explicit",
            Arm::Abstraction("0") => "abstraction-0",
            Arm::Abstraction("1") => "abstraction-1",
            Arm::Abstraction(_) => "abstraction-2",
            Arm::Automata => "automata",
            Arm::Stateless => "stateless",
            Arm::Translate => "translate",
            Arm::Robust => "robust",
        }
    }

    fn arguments(self) -> Vec<&'static str> {
        match self {
            Arm::Robust => vec!["robust"],
            Arm::Abstraction(k) => vec!["check", "--engine", "abstraction", "--k", k],
            Arm::Explicit | Arm::Automata | Arm::Stateless | Arm::Translate => {
                vec!["check", "--engine", self.name()]
            }
        }
    }

    /// Returns whether an answer of this arm decides the properties of the program.
    fn is_conclusive(self, answer: &str) -> bool {
        match self {
            // A program that is not robust may have its properties.
            Arm::Robust => answer == "verified",
            Arm::Explicit
            | Arm::Abstraction(_)
            | Arm::Automata
            | Arm::Stateless
            | Arm::Translate => is_decided(answer),
        }
    }
}

fn is_decided(answer: &str) -> bool {
    ["verified", "violated"].contains(&answer)
}

/// A run of `auto` or of an arm.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    /// The name of the arm, or `auto`.
    pub(super) arm: String,
    /// `verified`, `violated` or `inconclusive`; `slower`: killed, because it needs more time than
    /// `auto`; `limit`: killed at the time limit; `failed`: no answer.
    pub(super) answer: String,
    /// Why there is no verdict.
    pub(super) reason: Option<String>,
    /// Whether the answer decides the properties.
    pub(super) is_conclusive: bool,
    /// The CPU seconds of the process.
    pub(super) cpu_seconds: f64,
    /// The instructions of the process.
    pub(super) instructions: Option<u64>,
}

/// A program under a model.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct ArmRow {
    /// The name of the row.
    pub(super) row: String,
    pub(super) program: String,
    pub(super) model: String,
    pub(super) auto: Run,
    /// What decided, according to `auto`.
    pub(super) decided_by: Option<String>,
    /// The arms. Empty if `auto` answers in less than [`MIN_SECONDS`].
    pub(super) arms: Vec<Run>,
    /// How an answer contradicts another one or the expected one.
    pub(super) wrong: Option<String>,
}

impl ArmRow {
    /// Returns the fastest arm that answers.
    pub(super) fn fastest(&self) -> Option<&Run> {
        let conclusive = self.arms.iter().filter(|arm| arm.is_conclusive);
        conclusive.min_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds))
    }

    /// Returns the time of `auto` divided by that of the fastest arm. Instructions count instead of
    /// seconds if both are known. If `auto` reaches the limit, this is a lower bound. If `auto` gives
    /// up earlier, the ratio is infinite.
    pub(super) fn ratio(&self) -> Option<f64> {
        let fastest = self.fastest()?;
        if !self.auto.is_conclusive && self.auto.answer != LIMIT {
            return Some(f64::INFINITY);
        }
        Some(match (self.auto.instructions, fastest.instructions) {
            (Some(auto), Some(fastest)) => auto as f64 / fastest as f64,
            _ => self.auto.cpu_seconds / fastest.cpu_seconds.max(1e-4),
        })
    }

    /// Returns whether the row is compared: `auto` is slow, or does not answer.
    pub(super) fn is_shown(&self) -> bool {
        self.auto.cpu_seconds >= MIN_SECONDS || !self.auto.is_conclusive || self.wrong.is_some()
    }
}

/// The settings of all runs.
#[derive(Clone, Debug)]
pub(super) struct Runner {
    /// The binary, the folder, the limit, and whether instructions are counted.
    pub(super) common: CommonRunner,
}

impl Runner {
    /// Measures a program under a model.
    pub(super) fn measure(&self, subject: &Subject) -> Result<ArmRow, String> {
        let limit = self.common.limit as f64;
        let (auto, decided_by) = self.run(subject, None, limit)?;
        let mut row = ArmRow {
            row: subject.row(),
            program: subject.program.clone(),
            model: subject.model.into(),
            auto,
            decided_by,
            arms: Vec::new(),
            wrong: None,
        };
        if row.is_shown() {
            let limit = match row.auto.is_conclusive {
                true => (row.auto.cpu_seconds * SLACK).min(limit),
                false => limit,
            };
            for arm in Arm::ALL {
                row.arms.push(self.run(subject, Some(arm), limit)?.0);
            }
            self.repeat(subject, &mut row)?;
            self.count(subject, &mut row)?;
        }
        row.wrong = contradiction(&row, subject.expected);
        Ok(row)
    }

    /// Runs `auto` and the fastest arm alternately and keeps the smallest times.
    fn repeat(&self, subject: &Subject, row: &mut ArmRow) -> Result<(), String> {
        if !row.auto.is_conclusive || row.auto.cpu_seconds > MAX_REPEATED {
            return Ok(());
        }
        for _ in 1..REPEATS {
            let Some(at) = row.fastest_index() else { return Ok(()) };
            let limit = self.common.limit as f64;
            for arm in [None, Some(Arm::ALL[at])] {
                let (again, _) = self.run(subject, arm, limit)?;
                let kept = match arm {
                    None => &mut row.auto,
                    Some(_) => &mut row.arms[at],
                };
                if again.answer == kept.answer && again.cpu_seconds < kept.cpu_seconds {
                    kept.cpu_seconds = again.cpu_seconds;
                }
            }
        }
        Ok(())
    }

    /// Counts the instructions of `auto` and of the fastest arm of a short row.
    fn count(&self, subject: &Subject, row: &mut ArmRow) -> Result<(), String> {
        let Some(callgrind) = &self.common.callgrind else { return Ok(()) };
        if !row.auto.is_conclusive || row.auto.cpu_seconds > MAX_COUNTED {
            return Ok(());
        }
        let Some(at) = row.fastest_index() else { return Ok(()) };
        row.auto.instructions = Some(callgrind.count(&mut self.command(subject, None))?);
        let arm = Some(Arm::ALL[at]);
        row.arms[at].instructions = Some(callgrind.count(&mut self.command(subject, arm))?);
        Ok(())
    }

    /// Returns the command for an arm, or for `auto`.
    fn command(&self, subject: &Subject, arm: Option<Arm>) -> Command {
        let mut command = Command::new(&self.common.binary);
        match arm {
            None => command.args(["check", "--engine", "auto"]),
            Some(arm) => command.args(arm.arguments()),
        };
        command.arg(&subject.file).args(["--model", subject.model]);
        if let Some(client) = &subject.client {
            command.args(["--client", client]);
        }
        // The limit is on CPU time, and the parent enforces it.
        command.args(["--format", "json", "--memory", MEMORY, "--threads", "1", "--time", "0"]);
        command.env_clear();
        command
    }

    /// Runs an arm, or `auto`. Returns the run and what decided.
    fn run(
        &self,
        subject: &Subject,
        arm: Option<Arm>,
        limit: f64,
    ) -> Result<(Run, Option<String>), String> {
        let mut command = self.command(subject, arm);
        let limit_reached = if limit < self.common.limit as f64 { "slower" } else { LIMIT };
        let limit = Duration::from_secs_f64(limit);
        let finished = process::run(&mut command, &self.common.folder, limit)?;
        let document = serde_json::from_str(&finished.output).unwrap_or(serde_json::Value::Null);
        let result = &document["results"][0];
        let text = |key: &str| result[key].as_str().map(String::from);
        let (answer, reason) = match text("verdict") {
            _ if finished.was_killed => (limit_reached.to_string(), None),
            Some(verdict) => (verdict, text("reason")),
            None => ("failed".into(), finished.errors.lines().next().map(String::from)),
        };
        let run = Run {
            arm: arm.map_or("auto", Arm::name).into(),
            is_conclusive: arm
                .map_or_else(|| is_decided(&answer), |arm| arm.is_conclusive(&answer)),
            answer,
            reason,
            cpu_seconds: finished.cpu_seconds,
            instructions: None,
        };
        Ok((run, text("decided_by")))
    }
}

impl ArmRow {
    fn fastest_index(&self) -> Option<usize> {
        let fastest = self.fastest()?;
        self.arms.iter().position(|arm| arm.arm == fastest.arm)
    }
}

/// Returns how the conclusive answers of a row contradict each other or the expected one.
fn contradiction(row: &ArmRow, expected: Option<&str>) -> Option<String> {
    if row.auto.answer == "failed" {
        let reason = row.auto.reason.as_deref().unwrap_or("no output");
        return Some(format!("auto fails: {reason}"));
    }
    let runs = || std::iter::once(&row.auto).chain(&row.arms).filter(|run| run.is_conclusive);
    let right = expected.or_else(|| runs().next().map(|run| run.answer.as_str()))?;
    let wrong = runs().find(|run| run.answer != right)?;
    Some(format!("{}: {}, others: {right}", wrong.arm, wrong.answer))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a run. A conclusive one has a verdict.
    pub(crate) fn run(arm: &str, answer: &str, cpu_seconds: f64) -> Run {
        Run {
            arm: arm.into(),
            answer: answer.into(),
            reason: None,
            is_conclusive: is_decided(answer),
            cpu_seconds,
            instructions: None,
        }
    }

    /// Returns a row.
    pub(crate) fn row(program: &str, auto: Run, arms: Vec<Run>) -> ArmRow {
        ArmRow {
            row: format!("{program} tso"),
            program: program.into(),
            model: "tso".into(),
            auto,
            decided_by: None,
            arms,
            wrong: None,
        }
    }

    #[test]
    fn the_fastest_conclusive_arm_gives_the_ratio() {
        let arms = vec![
            run("explicit", "inconclusive", 0.1),
            run("automata", "verified", 0.5),
            run("robust", "verified", 0.25),
        ];
        let mut found = row("a", run("auto", "verified", 1.0), arms);
        assert_eq!(found.ratio(), Some(4.0));
        found.auto.instructions = Some(300);
        assert_eq!(found.ratio(), Some(4.0), "instructions count only if both are known");
        found.arms[2].instructions = Some(100);
        assert_eq!(found.ratio(), Some(3.0));
        assert_eq!(row("a", run("auto", "verified", 1.0), Vec::new()).ratio(), None);
        let without = |answer| {
            row("a", run("auto", answer, 9.0), vec![run("robust", "verified", 3.0)]).ratio()
        };
        assert_eq!(without("limit"), Some(3.0));
        assert_eq!(without("inconclusive"), Some(f64::INFINITY));
    }

    #[test]
    fn contradictions_are_found() {
        let found = |arm: &str| {
            let arms = vec![run("explicit", "slower", 1.0), run("automata", arm, 0.5)];
            row("a", run("auto", "verified", 1.0), arms)
        };
        assert_eq!(contradiction(&found("verified"), None), None);
        assert_eq!(contradiction(&found("inconclusive"), Some("verified")), None);
        assert!(contradiction(&found("violated"), None).is_some());
        assert!(contradiction(&found("verified"), Some("violated")).is_some());
        assert!(contradiction(&row("a", run("auto", "failed", 0.0), Vec::new()), None).is_some());
    }

    #[test]
    fn a_program_that_is_not_robust_is_not_decided() {
        assert!(Arm::Robust.is_conclusive("verified") && !Arm::Robust.is_conclusive("violated"));
        assert!(Arm::Explicit.is_conclusive("violated"));
        assert!(!Arm::Automata.is_conclusive("inconclusive"));
    }
}
