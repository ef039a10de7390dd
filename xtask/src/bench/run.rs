//! Runs a row: the released binary as a subprocess, with a time limit.

use super::callgrind::Callgrind;
use super::rows::{Engine, Row};
use crate::process;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The memory limit of a run. It is fixed, so that it does not depend on the machine.
pub(super) const MEMORY: &str = "4G";

/// The CPU seconds of the longest run whose instructions are counted. Callgrind takes about 50 times
/// as long.
pub(super) const MAX_COUNTED: f64 = 0.5;

/// The seconds of the shortest run that is repeated with two threads.
const MIN_TWO_THREADS: f64 = 0.5;

/// The seconds after the time limit in which a run may print its partial answer.
const GRACE: Duration = Duration::from_secs(20);

/// The settings of all runs.
#[derive(Clone, Debug)]
pub(super) struct Runner {
    /// The released binary.
    pub(super) binary: PathBuf,
    /// The folder for programs and output.
    pub(super) folder: PathBuf,
    /// The time limit of a run in seconds.
    pub(super) limit: u64,
    /// Counts instructions if present.
    pub(super) callgrind: Option<Callgrind>,
}

/// The figures of a row.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct Measurement {
    /// The name of the row.
    pub(super) row: String,
    pub(super) engine: String,
    pub(super) family: String,
    pub(super) program: String,
    pub(super) parameter: u32,
    pub(super) model: String,
    /// `verified`, `violated`, `inconclusive`; of `infer`: `repaired`, `correct`, `gave_up`.
    pub(super) answer: String,
    /// Why there is no answer: `time`, `memory`, ...
    pub(super) reason: Option<String>,
    /// Whether the answer contradicts the expected one, or the run failed.
    pub(super) wrong: bool,
    /// The states, executions or rounds.
    pub(super) count: u64,
    /// Wall-clock seconds.
    pub(super) seconds: f64,
    pub(super) cpu_seconds: f64,
    /// The largest number of bytes of a search that stores states.
    pub(super) bytes: Option<u64>,
    /// The instructions of the process.
    pub(super) instructions: Option<u64>,
    /// The time with one thread divided by the time with two.
    pub(super) speedup: Option<f64>,
}

impl Measurement {
    /// Returns whether the row has an answer.
    pub(super) fn is_decided(&self) -> bool {
        !["inconclusive", "gave_up", "no answer"].contains(&self.answer.as_str())
    }
}

impl Runner {
    /// Measures a row. A failed run gives a row that is wrong, so that the others are still measured.
    pub(super) fn measure(&self, row: &Row) -> Result<Measurement, String> {
        let mut found = self.run(row, 1).unwrap_or_else(|message| Measurement {
            reason: Some(message),
            wrong: true,
            ..unanswered(row)
        });
        if let Some(callgrind) = &self.callgrind
            && found.is_decided()
            && found.cpu_seconds <= MAX_COUNTED
        {
            found.instructions = Some(self.instructions(row, callgrind)?);
        }
        if found.is_decided() && found.seconds >= MIN_TWO_THREADS {
            let two = self.run(row, 2)?;
            found.speedup = (two.answer == found.answer).then(|| found.seconds / two.seconds);
        }
        Ok(found)
    }

    /// Runs a row with some threads and parses its answer.
    fn run(&self, row: &Row, threads: u32) -> Result<Measurement, String> {
        match self.answer(row, threads)? {
            Some(answer) => parse(row, &answer),
            None => Ok(unanswered(row)),
        }
    }

    /// Counts the instructions of a row. The run has no time limit, so the count does not depend on
    /// the speed of the machine.
    pub(super) fn instructions(&self, row: &Row, callgrind: &Callgrind) -> Result<u64, String> {
        callgrind.count(&mut self.command(row, 1, 0)?)
    }

    /// Writes the program of a row and returns the command that runs it.
    fn command(&self, row: &Row, threads: u32, limit: u64) -> Result<Command, String> {
        let file = self.folder.join(format!("{}.fp", row.program()));
        fs::write(&file, row.family.program(row.value, row.fences))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        let mut command = Command::new(&self.binary);
        command.args(row.engine.arguments()).arg(file).args(["--model", row.model]);
        if let Some(client) = row.family.client() {
            command.args(["--client", client]);
        }
        command.args(["--format", "json", "--memory", MEMORY]);
        command.args(["--threads", &threads.to_string(), "--time", &limit.to_string()]);
        command.env_clear();
        Ok(command)
    }

    /// Runs a row and returns its JSON document, or `None` if the process must be killed.
    fn answer(&self, row: &Row, threads: u32) -> Result<Option<String>, String> {
        let mut command = self.command(row, threads, self.limit)?;
        let limit = Duration::from_secs(self.limit) + GRACE;
        let finished = process::run(&mut command, &self.folder, limit)?;
        if finished.was_killed {
            return Ok(None);
        }
        if finished.output.is_empty() {
            return Err(finished.errors.lines().next().unwrap_or("no output").into());
        }
        Ok(Some(finished.output))
    }
}

/// The measurement of a row whose process was killed.
fn unanswered(row: &Row) -> Measurement {
    Measurement {
        row: row.name(),
        engine: row.engine.name().into(),
        family: row.family.name.into(),
        program: row.program(),
        parameter: row.value,
        model: row.model.into(),
        answer: "no answer".into(),
        reason: Some("killed".into()),
        wrong: false,
        count: 0,
        seconds: 0.0,
        cpu_seconds: 0.0,
        bytes: None,
        instructions: None,
        speedup: None,
    }
}

/// Parses the output of `fencepost --format json`.
fn parse(row: &Row, json: &str) -> Result<Measurement, String> {
    let document: serde_json::Value =
        serde_json::from_str(json).map_err(|_| "no answer in JSON")?;
    let (result, answer, count) = match row.engine {
        Engine::Infer => (&document, "result", "rounds"),
        Engine::Explicit
        | Engine::Abstraction
        | Engine::Automata
        | Engine::Stateless
        | Engine::Auto
        | Engine::Robust => (&document["results"][0], "verdict", "states"),
    };
    let number =
        |key: &str| result[key].as_f64().ok_or_else(|| format!("no number `{key}` in the answer"));
    let answer = result[answer].as_str().ok_or("no verdict in the answer")?;
    let mut found = Measurement {
        answer: answer.into(),
        reason: result["reason"].as_str().map(String::from),
        count: number(count)? as u64,
        seconds: number("seconds")?,
        cpu_seconds: number("cpu_seconds")?,
        bytes: result["peak_bytes"].as_u64().filter(|bytes| *bytes > 0),
        ..unanswered(row)
    };
    found.wrong = found.is_decided() && row.expected().is_some_and(|expected| expected != answer);
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::super::rows::rows;
    use super::*;

    fn row(name: &str) -> Row {
        rows().into_iter().find(|row| row.name() == name).expect("a row")
    }

    #[test]
    fn an_answer_of_check_is_parsed() {
        let json = |verdict: &str, reason: &str| {
            format!(
                r#"{{"results": [{{"verdict": "{verdict}", "reason": {reason}, "states": 12,
                    "seconds": 0.5, "cpu_seconds": 0.25, "peak_bytes": 600}}]}}"#
            )
        };
        let row = row("explicit clh3-fenced pso");
        let found = parse(&row, &json("verified", "null")).expect("an answer");
        assert_eq!((found.count, found.bytes, found.cpu_seconds), (12, Some(600), 0.25));
        assert!(found.is_decided() && !found.wrong);
        let late = parse(&row, &json("inconclusive", "\"time\"")).expect("an answer");
        assert_eq!((late.reason.as_deref(), late.wrong), (Some("time"), false));
        assert!(!late.is_decided());
        assert!(parse(&row, &json("violated", "null")).expect("an answer").wrong);
        assert!(parse(&row, "{}").is_err());
        assert!(parse(&row, "panic").is_err());
    }

    #[test]
    fn an_answer_of_infer_is_parsed() {
        let json = r#"{"result": "repaired", "reason": null, "rounds": 3, "seconds": 1.5,
            "cpu_seconds": 1.25}"#;
        let found = parse(&row("infer clh3 pso"), json).expect("an answer");
        assert_eq!((found.count, found.bytes, found.wrong), (3, None, false));
        assert!(parse(&row("infer clh3 tso"), json).expect("an answer").wrong);
    }
}
