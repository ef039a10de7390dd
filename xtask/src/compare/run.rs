//! Runs both tools and parses their output.

use crate::process::{self, Finished};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The settings of both tools.
#[derive(Clone, Debug)]
pub(super) struct ToolRunner {
    /// Our binary.
    pub(super) binary: PathBuf,
    /// The folder for temporary files.
    pub(super) folder: PathBuf,
    /// The bound on pending stores.
    pub(super) buffers: u32,
    /// The number of our search threads.
    pub(super) threads: u32,
    /// The time limit of one run.
    pub(super) limit: Duration,
}

/// The verdict of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Verdict {
    /// There is no violation within the bound on pending stores.
    Holds,
    /// There is a violation.
    Violated,
    /// The tool did not finish.
    Unknown,
}

impl Verdict {
    pub(super) fn word(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown => "?",
        }
    }
}

/// A verdict with its figures.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ToolResult {
    pub(super) verdict: Verdict,
    /// The number of stored states.
    pub(super) states: f64,
    /// The CPU time of the whole process.
    pub(super) seconds: f64,
    pub(super) megabytes: f64,
    /// The CPU seconds needed to generate and compile the verifier.
    pub(super) preparation: f64,
    /// A remark for the reader, such as the reason for a missing verdict.
    pub(super) remark: Option<String>,
}

impl ToolResult {
    fn unknown(remark: String) -> Self {
        ToolResult {
            verdict: Verdict::Unknown,
            states: 0.0,
            seconds: 0.0,
            megabytes: 0.0,
            preparation: 0.0,
            remark: Some(remark),
        }
    }
}

impl ToolRunner {
    /// Runs our explicit engine.
    pub(super) fn ours(&self, file: &Path, model: &str) -> Result<ToolResult, String> {
        let mut command = Command::new(&self.binary);
        command.args(["check", "--engine", "explicit", "--format", "json", "--model", model]);
        command.args(["--threads", &self.threads.to_string()]);
        command.args(["--time", &self.limit.as_secs().to_string()]);
        if model != "sc" {
            command.args(["--buffer", &self.buffers.to_string()]);
        }
        // The engine has its own time limit. The process is killed only if the engine exceeds it.
        let Some(ran) = self.run(command.arg(file), self.limit + Duration::from_secs(30))? else {
            return Ok(ToolResult::unknown("exceeds its time limit".into()));
        };
        let found = ours(&ran.output, self.buffers, ran.cpu_seconds);
        Ok(found.unwrap_or_else(|complaint| {
            let why = ran.errors.lines().next().unwrap_or_default();
            ToolResult::unknown(format!("{complaint}: {why}"))
        }))
    }

    /// Generates SPIN's verifier for the translation and runs it.
    pub(super) fn spin(&self, file: &Path, model: &str) -> Result<ToolResult, String> {
        let promela = self.folder.join("program.pml");
        let mut translate = Command::new(&self.binary);
        translate.arg("translate").arg(file).args(["--model", model, "--to", "promela"]);
        if model != "sc" {
            translate.args(["--buffers", &self.buffers.to_string()]);
        }
        let text = match self.prepare(&mut translate)? {
            Ok(ran) => ran.output,
            Err(complaint) => return Ok(ToolResult::unknown(complaint)),
        };
        std::fs::write(&promela, text)
            .map_err(|error| format!("{}: {error}", promela.display()))?;
        let mut preparation = 0.0;
        let mut generate = Command::new("spin");
        generate.args(["-a", "program.pml"]);
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-DSAFETY", "-DMEMLIM=8192", "-o", "pan", "pan.c"]);
        for command in [&mut generate, &mut compile] {
            match self.prepare(command)? {
                Ok(ran) => preparation += ran.cpu_seconds,
                Err(complaint) => return Ok(ToolResult::unknown(complaint)),
            }
        }
        let mut verify = Command::new(self.folder.join("pan"));
        verify.arg("-m1000000");
        // SPIN reports a state without steps as an error by default.
        if !checks_deadlocks(file)? {
            verify.arg("-E");
        }
        let found = match self.run(&mut verify, self.limit)? {
            None => ToolResult::unknown(format!("stopped after {} s", self.limit.as_secs())),
            Some(ran) => spin(&ran.output, ran.cpu_seconds),
        };
        Ok(ToolResult { preparation, ..found })
    }

    /// Runs a preparatory command. Returns its first line of output as the error if it fails.
    fn prepare(&self, command: &mut Command) -> Result<Result<Finished, String>, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let name = name.rsplit('/').next().unwrap_or_default().to_string();
        Ok(match self.run(command, self.limit)? {
            None => Err(format!("{name}: stopped after {} s", self.limit.as_secs())),
            Some(ran) if ran.success => Ok(ran),
            Some(ran) => {
                let mut lines = ran.errors.lines().chain(ran.output.lines());
                Err(format!("{name}: {}", lines.next().unwrap_or("fails")))
            }
        })
    }

    /// Runs a command in the temporary folder. Returns `None` if it exceeds the limit.
    fn run(&self, command: &mut Command, limit: Duration) -> Result<Option<Finished>, String> {
        let finished = process::run(command.current_dir(&self.folder), &self.folder, limit)?;
        Ok(Some(finished).filter(|finished| !finished.was_killed))
    }
}

/// Returns whether the program has the property `deadlock_free`.
fn checks_deadlocks(file: &Path) -> Result<bool, String> {
    let source =
        std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut code = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    Ok(code.any(|line| line.contains("deadlock_free")))
}

/// Parses the output of `fencepost check --format json`. A search that is complete within the bound
/// counts as verified, because SPIN has the same bound.
fn ours(json: &str, buffers: u32, seconds: f64) -> Result<ToolResult, String> {
    let answer: serde_json::Value =
        serde_json::from_str(json).map_err(|error| format!("no answer in JSON ({error})"))?;
    let result = &answer["results"][0];
    let number = |key: &str| result[key].as_f64();
    let is_complete = number("clean_up_to") == Some(f64::from(buffers));
    let verdict = match result["verdict"].as_str() {
        Some("verified") => Verdict::Holds,
        Some("violated") => Verdict::Violated,
        Some("inconclusive") if is_complete => Verdict::Holds,
        Some("inconclusive") => Verdict::Unknown,
        _ => return Err("no verdict in the answer".into()),
    };
    let message = result["message"].as_str().map(String::from);
    Ok(ToolResult {
        verdict,
        states: number("states").ok_or("no states in the answer")?,
        seconds,
        megabytes: number("peak_bytes").ok_or("no memory in the answer")? / 1e6,
        preparation: 0.0,
        remark: message.filter(|_| verdict == Verdict::Unknown),
    })
}

/// Parses the output of SPIN's verifier.
fn spin(output: &str, seconds: f64) -> ToolResult {
    let before = |words: &str| {
        let line = output.lines().find(|line| line.trim_end().ends_with(words))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let errors = output.lines().find_map(|line| line.split("errors: ").nth(1));
    // An error is a violated assertion of the program, or one of SPIN's own limits.
    let own = ["max search depth too small", "reached -DMEMLIM", "VECTORSZ", "out of memory"];
    let limit = own.iter().find(|own| output.contains(*own));
    let (verdict, remark) = match (errors.map(str::trim), limit) {
        (Some("0"), None) => (Verdict::Holds, None),
        (Some("0") | None, Some(limit)) => (Verdict::Unknown, Some(format!("a limit: {limit}"))),
        (Some(_), _) => (Verdict::Violated, None),
        (None, None) => {
            let line = output.lines().next().unwrap_or("no output");
            (Verdict::Unknown, Some(line.to_string()))
        }
    };
    ToolResult {
        verdict,
        states: before("states, stored").unwrap_or(0.0),
        seconds,
        megabytes: before("total actual memory usage").unwrap_or(0.0),
        preparation: 0.0,
        remark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: &str = "
       63 states, stored
       16 states, matched
  128.730\ttotal actual memory usage
";

    #[test]
    fn spin_output_gives_verdict_and_figures() {
        let holds = format!("State-vector 20 byte, depth reached 18, errors: 0{END}");
        let found = spin(&holds, 0.5);
        assert_eq!(found.verdict, Verdict::Holds);
        assert_eq!((found.states, found.megabytes, found.seconds), (63.0, 128.73, 0.5));
        let violated = format!("pan:1: assertion violated (x<6)\ndepth reached 16, errors: 1{END}");
        assert_eq!(spin(&violated, 0.5).verdict, Verdict::Violated);
        let cut = format!("error: max search depth too small\ndepth reached 2, errors: 0{END}");
        assert_eq!(spin(&cut, 0.5).verdict, Verdict::Unknown);
        assert_eq!(spin("", 0.5).verdict, Verdict::Unknown);
        assert_eq!(spin("errors: 0\n1.234567e+08 states, stored", 0.5).states, 123_456_700.0);
    }

    #[test]
    fn a_search_that_is_complete_within_the_bound_holds() {
        let answer = |verdict: &str, clean: &str| {
            format!(
                r#"{{"results": [{{"verdict": "{verdict}", "states": 7, "peak_bytes": 2000000,
                    "message": "a message", "clean_up_to": {clean}}}]}}"#
            )
        };
        let read = |verdict: &str, clean: &str| {
            ours(&answer(verdict, clean), 2, 0.5).expect("an answer").verdict
        };
        assert_eq!(read("verified", "null"), Verdict::Holds);
        assert_eq!(read("inconclusive", "2"), Verdict::Holds);
        assert_eq!(read("inconclusive", "1"), Verdict::Unknown);
        assert_eq!(read("violated", "null"), Verdict::Violated);
        assert!(ours("{}", 2, 0.5).is_err());
        assert_eq!(ours(&answer("verified", "null"), 2, 0.5).expect("an answer").megabytes, 2.0);
    }
}
