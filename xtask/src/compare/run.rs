//! Runs both tools and parses their output.

use super::programs::Subject;
use crate::process::{self, Finished};
use fencepost_bench::promela;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The depths of SPIN's search. A deeper search is incomplete, so the next depth is tried, and behind
/// the last one there is no verdict. A large depth costs a short search a part of a second.
const DEPTHS: [&str; 2] = ["-m100000", "-m20000000"];

/// What SPIN prints if the depth is too small.
const TOO_DEEP: &str = "max search depth too small";

/// The bytes of SPIN's megabytes.
const MEGABYTE: f64 = 1_048_576.0;

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
    /// The limit on CPU time of one run.
    pub(super) limit: Duration,
    /// SPIN's limit on memory in megabytes.
    pub(super) memory: u32,
    /// Whether SPIN compresses states (`-DCOLLAPSE`).
    pub(super) collapse: bool,
}

/// What searches a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Tool {
    /// `fencepost check --engine explicit`.
    Ours,
    /// SPIN on the output of `fencepost translate --to promela`.
    Exported,
    /// SPIN on the model written by hand.
    Hand,
    /// SPIN on the model written by hand, without partial-order reduction.
    HandUnreduced,
}

impl Tool {
    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Ours => "ours",
            Tool::Exported => "exported",
            Tool::Hand => "hand",
            Tool::HandUnreduced => "hand-unreduced",
        }
    }
}

/// The verdict of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) struct ToolResult {
    pub(super) tool: Tool,
    pub(super) verdict: Verdict,
    /// The number of stored states.
    pub(super) states: f64,
    /// The number of explored transitions.
    pub(super) transitions: f64,
    /// The CPU seconds of the search.
    pub(super) cpu_seconds: f64,
    /// Ours: all memory of the search. SPIN: the memory for states, without the hash table and the
    /// stack, whose sizes are chosen beforehand.
    pub(super) bytes_per_state: Option<f64>,
    /// The CPU seconds needed to generate and compile the verifier.
    pub(super) preparation: f64,
    /// A remark for the reader, such as the reason for a missing verdict.
    pub(super) remark: Option<String>,
}

impl ToolResult {
    fn unknown(tool: Tool, remark: String) -> Self {
        ToolResult {
            tool,
            verdict: Verdict::Unknown,
            states: 0.0,
            transitions: 0.0,
            cpu_seconds: 0.0,
            bytes_per_state: None,
            preparation: 0.0,
            remark: Some(remark),
        }
    }
}

impl ToolRunner {
    /// Runs a tool. Returns `None` if there is no model written by hand.
    pub(super) fn run(
        &self,
        tool: Tool,
        subject: &Subject,
        model: &str,
    ) -> Result<Option<ToolResult>, String> {
        match tool {
            Tool::Ours => self.ours(&subject.file, model).map(Some),
            Tool::Exported => {
                let (source, preparation) = match self.export(&subject.file, model)? {
                    Ok(exported) => exported,
                    Err(complaint) => return Ok(Some(ToolResult::unknown(tool, complaint))),
                };
                let mut found = self.spin(tool, &source, &[], checks_deadlocks(&subject.file)?)?;
                found.preparation += preparation;
                Ok(Some(found))
            }
            Tool::Hand | Tool::HandUnreduced => {
                let Some(by_hand) = subject.by_hand else { return Ok(None) };
                let source = self.folder.join(format!("{}.pml", by_hand.model.family));
                let (name, text) = promela::MEMORY;
                for (file, text) in [(&source, by_hand.model.text), (&self.folder.join(name), text)]
                {
                    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))?;
                }
                let macros = promela::macros(by_hand.threads, by_hand.fences, model, self.buffers);
                self.spin(tool, &source, &macros, false).map(Some)
            }
        }
    }

    /// Runs our explicit engine.
    fn ours(&self, file: &Path, model: &str) -> Result<ToolResult, String> {
        let mut command = Command::new(&self.binary);
        command.args(["check", "--engine", "explicit", "--format", "json", "--model", model]);
        command.args(["--threads", &self.threads.to_string(), "--time", "0"]);
        if model != "sc" {
            command.args(["--buffer", &self.buffers.to_string()]);
        }
        let ran = self.start(command.arg(file))?;
        if ran.was_killed {
            return Ok(self.stopped(Tool::Ours, &ran));
        }
        let found = ours(&ran.output, self.buffers, ran.cpu_seconds);
        Ok(found.unwrap_or_else(|complaint| {
            let why = ran.errors.lines().next().unwrap_or_default();
            ToolResult::unknown(Tool::Ours, format!("{complaint}: {why}"))
        }))
    }

    /// Writes our translation of a program. Returns the file and the CPU seconds.
    fn export(&self, file: &Path, model: &str) -> Result<Result<(PathBuf, f64), String>, String> {
        let mut translate = Command::new(&self.binary);
        translate.arg("translate").arg(file).args(["--model", model, "--to", "promela"]);
        if model != "sc" {
            translate.args(["--buffers", &self.buffers.to_string()]);
        }
        let ran = match self.prepare(&mut translate)? {
            Ok(ran) => ran,
            Err(complaint) => return Ok(Err(complaint)),
        };
        let promela = self.folder.join("program.pml");
        fs::write(&promela, ran.output).map_err(|e| format!("{}: {e}", promela.display()))?;
        Ok(Ok((promela, ran.cpu_seconds)))
    }

    /// Generates SPIN's verifier for a model and runs it.
    fn spin(
        &self,
        tool: Tool,
        source: &Path,
        macros: &[String],
        checks_deadlocks: bool,
    ) -> Result<ToolResult, String> {
        let mut preparation = 0.0;
        let mut generate = Command::new("spin");
        generate.args(macros).arg("-a").arg(source);
        let mut compile = Command::new("cc");
        compile.args(["-O2", "-DSAFETY", "-DVECTORSZ=4096"]);
        compile.arg(format!("-DMEMLIM={}", self.memory));
        if tool == Tool::HandUnreduced {
            compile.arg("-DNOREDUCE");
        }
        if self.collapse {
            compile.arg("-DCOLLAPSE");
        }
        compile.args(["-o", "pan", "pan.c"]);
        for command in [&mut generate, &mut compile] {
            match self.prepare(command)? {
                Ok(ran) => preparation += ran.cpu_seconds,
                Err(complaint) => return Ok(ToolResult::unknown(tool, complaint)),
            }
        }
        let mut found = ToolResult::unknown(tool, "not started".into());
        for depth in DEPTHS {
            let mut verify = Command::new(self.folder.join("pan"));
            verify.arg(depth);
            // SPIN reports a state without steps as an error by default.
            if !checks_deadlocks {
                verify.arg("-E");
            }
            let ran = self.start(&mut verify)?;
            found = match ran.was_killed {
                true => self.stopped(tool, &ran),
                false => spin(tool, &ran.output, ran.cpu_seconds),
            };
            if found.verdict != Verdict::Unknown || !ran.output.contains(TOO_DEEP) {
                break;
            }
        }
        Ok(ToolResult { preparation, ..found })
    }

    fn stopped(&self, tool: Tool, ran: &Finished) -> ToolResult {
        let remark = format!("stopped after {} CPU seconds", self.limit.as_secs());
        ToolResult { cpu_seconds: ran.cpu_seconds, ..ToolResult::unknown(tool, remark) }
    }

    /// Runs a preparatory command. Returns its first line of output as the error if it fails.
    fn prepare(&self, command: &mut Command) -> Result<Result<Finished, String>, String> {
        let name = command.get_program().to_string_lossy().into_owned();
        let name = name.rsplit('/').next().unwrap_or_default().to_string();
        let ran = self.start(command)?;
        Ok(match () {
            () if ran.was_killed => {
                Err(format!("{name}: stopped after {} CPU seconds", self.limit.as_secs()))
            }
            () if ran.success => Ok(ran),
            () => {
                let mut lines = ran.errors.lines().chain(ran.output.lines());
                Err(format!("{name}: {}", lines.next().unwrap_or("fails")))
            }
        })
    }

    /// Runs a command in the temporary folder.
    fn start(&self, command: &mut Command) -> Result<Finished, String> {
        process::run(command.current_dir(&self.folder), &self.folder, self.limit)
    }
}

/// Returns whether the program has the property `deadlock_free`.
fn checks_deadlocks(file: &Path) -> Result<bool, String> {
    let source =
        fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut code = source.lines().map(|line| line.split("//").next().unwrap_or_default());
    Ok(code.any(|line| line.contains("deadlock_free")))
}

/// Parses the output of `fencepost check --format json`. A search that is complete within the bound
/// counts as verified, because SPIN has the same bound.
fn ours(json: &str, buffers: u32, cpu_seconds: f64) -> Result<ToolResult, String> {
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
    let states = number("states").ok_or("no states in the answer")?;
    let bytes = number("peak_bytes").ok_or("no memory in the answer")?;
    Ok(ToolResult {
        tool: Tool::Ours,
        verdict,
        states,
        transitions: number("transitions").ok_or("no transitions in the answer")?,
        cpu_seconds,
        bytes_per_state: (states > 0.0).then(|| bytes / states),
        preparation: 0.0,
        remark: message.filter(|_| verdict == Verdict::Unknown),
    })
}

/// Parses the output of SPIN's verifier.
fn spin(tool: Tool, output: &str, cpu_seconds: f64) -> ToolResult {
    let before = |words: &str| {
        let line = output.lines().find(|line| line.contains(words))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let errors = output.lines().find_map(|line| line.split("errors: ").nth(1));
    // An error is a violated assertion of the program, or one of SPIN's own limits.
    let own = [TOO_DEEP, "reached -DMEMLIM", "VECTORSZ", "out of memory"];
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
    let states = before("states, stored").unwrap_or(0.0);
    // The actual memory is allocated in large pieces, the equivalent memory is without compression.
    let memory = before("equivalent memory usage for states").map(|equivalent| {
        before("actual memory usage for states").map_or(equivalent, |actual| actual.min(equivalent))
    });
    ToolResult {
        tool,
        verdict,
        states,
        transitions: before(" transitions (= stored+matched)").unwrap_or(0.0),
        cpu_seconds,
        bytes_per_state: memory.filter(|_| states > 0.0).map(|mb| mb * MEGABYTE / states),
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
       79 transitions (= stored+matched)
    0.003\tequivalent memory usage for states (stored*(State-vector + overhead))
  128.730\ttotal actual memory usage
";

    #[test]
    fn spin_output_gives_verdict_and_figures() {
        let read = |output: &str| spin(Tool::Hand, output, 0.5);
        let holds = format!("State-vector 20 byte, depth reached 18, errors: 0{END}");
        let found = read(&holds);
        assert_eq!(found.verdict, Verdict::Holds);
        assert_eq!((found.states, found.transitions, found.cpu_seconds), (63.0, 79.0, 0.5));
        assert_eq!(found.bytes_per_state.map(f64::floor), Some(49.0));
        let violated = format!("pan:1: assertion violated (x<6)\ndepth reached 16, errors: 1{END}");
        assert_eq!(read(&violated).verdict, Verdict::Violated);
        let cut = format!("error: max search depth too small\ndepth reached 2, errors: 0{END}");
        assert_eq!(read(&cut).verdict, Verdict::Unknown);
        assert_eq!(read("").verdict, Verdict::Unknown);
        assert_eq!(read("errors: 0\n1.234567e+08 states, stored").states, 123_456_700.0);
    }

    #[test]
    fn a_search_that_is_complete_within_the_bound_holds() {
        let answer = |verdict: &str, clean: &str| {
            format!(
                r#"{{"results": [{{"verdict": "{verdict}", "states": 7, "transitions": 8,
                    "peak_bytes": 700, "message": "a message", "clean_up_to": {clean}}}]}}"#
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
        let found = ours(&answer("verified", "null"), 2, 0.5).expect("an answer");
        assert_eq!(found.bytes_per_state, Some(100.0));
    }
}
