//! `cargo xtask compare c DIR`: runs `fencepost check` on C tests of another checker and compares
//! the answers with its recorded ones.
//!
//! The folder has a table `genmc.tsv` of tests with their options, a table `genmc-runs.tsv` of
//! answers (verdict, number of executions, CPU seconds), and the tests below `genmc/`. A test below
//! `correct/` has no violation. A test below `wrong/` has a defect, some of them only in weaker
//! models than ours. A data race is a defect of such a test, unless the test switches the detection
//! of races off.
//! The number of complete executions under SC is compared with that of `--engine stateless`.
//!
//! A violation of a correct test is an error. Everything else is reported.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use serde_json::Value;

/// The usage message.
pub(crate) const USAGE: &str = "usage: cargo xtask compare c DIR [OPTION...]

  --only NAME   tests whose name contains this; may be given again
  --time S      seconds for each program and model [default: 10]
  --counts      compare the numbers of executions, too
  --binary PATH the binary to run [default: the release build]";

/// The options of the command line.
struct Options {
    folder: PathBuf,
    only: Vec<String>,
    time: u32,
    counts: bool,
    binary: PathBuf,
}

/// A program of a test with its options.
struct Job {
    test: String,
    /// The name in the table of answers: the file, with its macros in brackets.
    variant: String,
    file: PathBuf,
    arguments: Vec<String>,
    /// The value of `--data-races`.
    data_races: &'static str,
}

/// The recorded answer under SC.
struct Recorded {
    executions: Option<u64>,
    seconds: f64,
}

/// The answers for one program.
#[derive(Default)]
struct Answers {
    /// By model: the verdict, and the message of a violation or the reason without a verdict.
    verdicts: BTreeMap<String, (String, String)>,
    /// The first error message, if the program was not read.
    unread: Option<String>,
    executions: Option<u64>,
    seconds: f64,
}

/// Runs the comparison.
pub(crate) fn compare(root: &Path, arguments: &[String]) -> ExitCode {
    let result = options(root, arguments).and_then(|options| {
        let (jobs, recorded) = (jobs(&options)?, recorded(&options)?);
        Ok((options, jobs, recorded))
    });
    let (options, jobs, recorded) = match result {
        Ok(found) => found,
        Err(message) => {
            eprintln!("compare: {message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut summary = Summary::default();
    for job in &jobs {
        let answers = run(&options, job);
        let known = recorded.get(&(job.test.clone(), job.variant.clone()));
        println!("{}", summary.row(job, &answers, known));
    }
    print!("{}", summary.text());
    if summary.false_alarms == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options(root: &Path, arguments: &[String]) -> Result<Options, String> {
    let mut folder = None;
    let mut options = Options {
        folder: PathBuf::new(),
        only: Vec::new(),
        time: 10,
        counts: false,
        binary: root.join("target/release/fencepost"),
    };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--only" => options.only.push(value()?.clone()),
            "--time" => {
                let text = value()?;
                options.time = text.parse().map_err(|_| format!("{text} is not a number"))?;
            }
            "--counts" => options.counts = true,
            "--binary" => options.binary = value()?.into(),
            _ if argument.starts_with('-') => return Err(format!("unknown option {argument}")),
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    options.folder = folder.ok_or("the folder of the tests is missing")?;
    if !options.binary.exists() {
        let binary = options.binary.display();
        return Err(format!("{binary} does not exist: run `cargo build --release` first"));
    }
    Ok(options)
}

/// Returns the rows of a table, without its head.
fn table(path: &Path) -> Result<Vec<Vec<String>>, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let cells = |line: &str| line.split('\t').map(|cell| cell.trim().to_string()).collect();
    Ok(text.lines().skip(1).map(cells).collect())
}

fn jobs(options: &Options) -> Result<Vec<Job>, String> {
    let tests = options.folder.join("genmc");
    let mut jobs = Vec::new();
    for row in table(&options.folder.join("genmc.tsv"))? {
        let [test, variants, all_arguments, ..] = &row[..] else { continue };
        if !options.only.is_empty() && !options.only.iter().any(|only| test.contains(only)) {
            continue;
        }
        for alternative in all_arguments.split(";;") {
            let (checker, compiler) = alternative.split_once('|').unwrap_or((alternative, ""));
            let is_race_defect =
                test.starts_with("wrong/") && !checker.contains("-disable-race-detection");
            let data_races = if is_race_defect { "error" } else { "off" };
            let mut macros = Vec::new();
            let mut arguments = Vec::new();
            for option in compiler.split_whitespace() {
                if option.starts_with("-D") {
                    macros.push(option);
                    arguments.push(option.to_string());
                } else if let Some(folder) = option.strip_prefix("-I") {
                    let folder = folder.strip_prefix("./tests/").unwrap_or(folder);
                    arguments.push(format!("-I{}", tests.join(folder).display()));
                }
            }
            for name in variants.split_whitespace() {
                let file = tests.join(test).join("variants").join(name);
                let brackets = if macros.is_empty() {
                    String::new()
                } else {
                    format!("[{}]", macros.join(" "))
                };
                let variant = format!("{name}{brackets}");
                let (test, arguments) = (test.clone(), arguments.clone());
                jobs.push(Job { test, variant, file, arguments, data_races });
            }
        }
    }
    Ok(jobs)
}

fn recorded(options: &Options) -> Result<BTreeMap<(String, String), Recorded>, String> {
    let mut recorded = BTreeMap::new();
    for row in table(&options.folder.join("genmc-runs.tsv"))? {
        let [test, variant, model, verdict, executions, _, seconds] = &row[..] else { continue };
        if model == "sc" {
            let executions = executions.parse().ok().filter(|_| verdict == "SAFE");
            let seconds = seconds.parse().unwrap_or(0.0);
            recorded.insert((test.clone(), variant.clone()), Recorded { executions, seconds });
        }
    }
    Ok(recorded)
}

/// Checks one program under all models.
fn run(options: &Options, job: &Job) -> Answers {
    let mut answers = Answers::default();
    match check(options, job, &["--model", "sc,tso,pso", "--data-races", job.data_races]) {
        Ok(results) => {
            for result in &results {
                let text = |name: &str| result[name].as_str().unwrap_or("").to_string();
                let why =
                    if text("verdict") == "violated" { text("message") } else { text("reason") };
                answers.verdicts.insert(text("model"), (text("verdict"), why));
            }
        }
        Err(message) => answers.unread = Some(message),
    }
    if options.counts && answers.unread.is_none() {
        let stateless =
            ["--model", "sc", "--engine", "stateless", "--threads", "1", "--data-races", "off"];
        if let Ok(results) = check(options, job, &stateless)
            && let Some(result) = results.first()
        {
            let blocked = result["blocked"].as_u64().unwrap_or(0);
            let complete = result["states"].as_u64().map(|all| all.saturating_sub(blocked));
            answers.executions = complete.filter(|_| result["verdict"] == "verified");
            answers.seconds = result["cpu_seconds"].as_f64().unwrap_or(0.0);
        }
    }
    answers
}

/// Runs `fencepost check` and returns its results, or the first error.
fn check(options: &Options, job: &Job, more: &[&str]) -> Result<Vec<Value>, String> {
    let time = options.time.to_string();
    let mut command = Command::new(&options.binary);
    command.arg("check").arg(&job.file).args(&job.arguments).args(more);
    command.args(["--format", "json", "--time", &time]);
    let output = command.output().map_err(|error| error.to_string())?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| String::from_utf8_lossy(&output.stderr).lines().take(1).collect::<String>())?;
    let results = report["results"].as_array().cloned().unwrap_or_default();
    if results.is_empty() {
        let error = &report["errors"][0];
        let text = |name: &str| error[name].as_str().unwrap_or("").to_string();
        return Err(format!("{} {}", text("code"), text("message")));
    }
    Ok(results)
}

/// What is counted over all programs.
#[derive(Default)]
struct Summary {
    programs: u32,
    read: u32,
    false_alarms: u32,
    undecided: u32,
    defects: u32,
    defects_found: u32,
    counted: u32,
    equal_counts: u32,
    slower: u32,
}

impl Summary {
    /// Counts one program and returns its row.
    fn row(&mut self, job: &Job, answers: &Answers, recorded: Option<&Recorded>) -> String {
        self.programs += 1;
        let mut row = format!("{:<44} {:<40}", job.test, job.variant);
        if let Some(message) = &answers.unread {
            let _ = write!(row, " NOT READ {message}");
            return row;
        }
        self.read += 1;
        let is_correct = job.test.starts_with("correct/");
        let mut remarks = String::new();
        for model in ["sc", "tso", "pso"] {
            let (verdict, why) = match answers.verdicts.get(model) {
                Some((verdict, why)) => (verdict.as_str(), why.as_str()),
                None => ("?", ""),
            };
            let word = match verdict {
                "verified" => "ok",
                "violated" => "VIOL",
                _ => "?",
            };
            let _ = write!(row, " {word:<4}");
            let is_violated = verdict == "violated";
            if is_correct && is_violated {
                self.false_alarms += 1;
            }
            if is_correct && verdict == "inconclusive" {
                self.undecided += 1;
            }
            if verdict != "verified" && remarks.is_empty() {
                remarks = format!("{model}: {why}");
            }
            if !is_correct && model == "sc" {
                self.defects += 1;
                self.defects_found += u32::from(is_violated);
            }
        }
        if let (Some(Recorded { executions: Some(theirs), seconds }), Some(ours)) =
            (recorded, answers.executions)
        {
            self.counted += 1;
            let is_equal = *theirs == ours;
            self.equal_counts += u32::from(is_equal);
            let sign = if is_equal { "=" } else { "DIFFERS" };
            let _ = write!(row, " {ours} {sign} {theirs}");
            if *seconds > 0.2 {
                let ratio = seconds / answers.seconds.max(0.001);
                self.slower += u32::from(ratio < 1.0);
                let _ = write!(row, " {ratio:.1}x faster");
            }
        }
        let _ = write!(row, " {remarks}");
        row
    }

    fn text(&self) -> String {
        format!(
            "{} of {} programs read; correct programs: {} wrong violations, {} undecided; wrong \
             programs: {} of {} violated under SC; executions: {} of {} equal; slower rows: {}\n",
            self.read,
            self.programs,
            self.false_alarms,
            self.undecided,
            self.defects_found,
            self.defects,
            self.equal_counts,
            self.counted,
            self.slower
        )
    }
}
