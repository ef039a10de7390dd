//! `cargo xtask compare spin`: runs SPIN's verifier and our explicit engine on the same programs.
//!
//! All tools use the same model and the same bound on pending stores. Ours is `fencepost check
//! --engine explicit`. SPIN gets the output of `fencepost translate --to promela`, and for the families
//! of `bench/spin/` a model that is written by hand, with and without SPIN's partial-order reduction.
//! All run on one core by default. Times are CPU seconds of whole processes. The time to generate
//! and compile SPIN's verifier has a separate column and is not compared.
//!
//! A difference of verdicts is an error. States and times are only reported.

mod programs;
mod run;
mod table;

use programs::Subject;
use run::{Tool, ToolRunner};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use table::Row;

/// The measurements of a commit.
type Record = crate::record::Record<Row>;

/// The tools, in the order of the table. Ours comes first.
const TOOLS: [Tool; 4] = [Tool::Ours, Tool::Exported, Tool::Hand, Tool::HandUnreduced];

/// The usage message.
pub(crate) const USAGE: &str = "usage: cargo xtask compare spin [OPTION...]

  --model M     sc, tso or pso; may be given again [default: all three]
  --only NAME   programs whose name contains this; may be given again
  --corpus      the mutex corpus instead of the families with a model written by hand
  --buffers N   pending stores (TSO: of a thread; PSO: of a thread to a location) [default: 2]
  --threads N   our search threads [default: 1]
  --time S      CPU seconds for each run [default: 120]
  --memory MB   SPIN's limit on memory [default: 4096]
  --collapse    let SPIN compress states (-DCOLLAPSE)
  --json FILE   writes the measurements
  --record      writes the measurements to bench/record/spin-COMMIT.json
  --binary PATH the binary to measure [default: the release build, built first]";

/// The options of the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Options {
    models: Vec<String>,
    only: Vec<String>,
    corpus: bool,
    buffers: u32,
    threads: u32,
    time: u64,
    memory: u32,
    collapse: bool,
    json: Option<PathBuf>,
    record: bool,
    binary: Option<PathBuf>,
}

/// Runs the comparison.
pub(crate) fn compare(root: &Path, arguments: &[String]) -> ExitCode {
    let options = match options(arguments) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    for (tool, version_option, hint) in
        [("spin", "-V", "Debian: spin"), ("cc", "--version", "Debian: gcc")]
    {
        if Command::new(tool).arg(version_option).output().is_err() {
            eprintln!("compare: `{tool}` is not installed ({hint})");
            return ExitCode::from(2);
        }
    }
    let binary = match options.binary.clone().map_or_else(|| crate::release::build(root), Ok) {
        Ok(binary) => binary,
        Err(message) => {
            eprintln!("compare: {message}");
            return ExitCode::FAILURE;
        }
    };
    let folder = std::env::temp_dir().join(format!("fencepost-compare-{}", std::process::id()));
    let runner = ToolRunner {
        binary,
        folder: folder.clone(),
        buffers: options.buffers,
        threads: options.threads,
        limit: Duration::from_secs(options.time),
        memory: options.memory,
        collapse: options.collapse,
    };
    let result = std::fs::create_dir_all(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))
        .and_then(|()| measure(root, &options, &runner));
    // A failure here leaves a few small files in the folder for temporary files.
    std::fs::remove_dir_all(&folder).ok();
    match result.and_then(|record| keep(root, &options, &record).map(|()| record.rows)) {
        Ok(rows) => summarise(&rows),
        Err(message) => {
            eprintln!("compare: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs every program under every model and prints each row as soon as it is known.
fn measure(root: &Path, options: &Options, runner: &ToolRunner) -> Result<Record, String> {
    println!(
        "at most {} pending stores; ours on {} thread(s), SPIN on one; {} CPU seconds for each run",
        options.buffers, options.threads, options.time
    );
    println!("{}", table::heading());
    let subjects = match options.corpus {
        true => programs::corpus(root)?,
        false => programs::benchmarks(&runner.folder)?,
    };
    let is_selected = |subject: &&Subject| {
        options.only.is_empty() || options.only.iter().any(|only| subject.name.contains(only))
    };
    let mut record = Record::of_commit(root, options.time)?;
    for subject in subjects.iter().filter(is_selected) {
        for model in &options.models {
            let mut results = Vec::new();
            for tool in TOOLS {
                results.extend(runner.run(tool, subject, model)?);
            }
            let row = Row {
                row: format!("{} {model}", subject.name),
                buffers: options.buffers,
                results,
                expected: subject.expected(model).map(String::from),
            };
            print!("{}", row.lines());
            record.rows.push(row);
        }
    }
    Ok(record)
}

/// Writes the files.
fn keep(root: &Path, options: &Options, record: &Record) -> Result<(), String> {
    if let Some(file) = &options.json {
        record.write(file)?;
    }
    if options.record {
        record.keep(root, "spin-")?;
    }
    Ok(())
}

/// Prints the summary. Fails if verdicts differ or nothing was compared.
fn summarise(rows: &[Row]) -> ExitCode {
    print!("\n{}", table::summary(rows));
    let wrong: Vec<&Row> = rows.iter().filter(|row| row.is_wrong()).collect();
    if !wrong.is_empty() {
        println!("VERDICTS DIFFER on {} rows:", wrong.len());
        wrong.iter().for_each(|row| print!("{}", row.lines()));
        return ExitCode::FAILURE;
    }
    if !rows.iter().any(Row::is_compared) {
        println!("NOTHING WAS COMPARED");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        models: Vec::new(),
        only: Vec::new(),
        corpus: false,
        buffers: 2,
        threads: 1,
        time: 120,
        memory: 4096,
        collapse: false,
        json: None,
        record: false,
        binary: None,
    };
    let mut arguments = arguments.iter();
    if arguments.next().map(String::as_str) != Some("spin") {
        return Err("name the tool to compare with: `spin`".into());
    }
    while let Some(option) = arguments.next() {
        let flag = match option.as_str() {
            "--corpus" => Some(&mut options.corpus),
            "--collapse" => Some(&mut options.collapse),
            "--record" => Some(&mut options.record),
            _ => None,
        };
        if let Some(flag) = flag {
            *flag = true;
            continue;
        }
        let value = arguments.next().ok_or_else(|| format!("{option} needs a value"))?;
        let number = || match value.parse::<u32>() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("{option} needs a number above 0, not `{value}`")),
        };
        match option.as_str() {
            "--model" if ["sc", "tso", "pso"].contains(&value.as_str()) => {
                options.models.push(value.clone());
            }
            "--model" => return Err(format!("`{value}` is not sc, tso or pso")),
            "--only" => options.only.push(value.clone()),
            "--buffers" => options.buffers = number()?,
            "--threads" => options.threads = number()?,
            "--time" => options.time = number()?.into(),
            "--memory" => options.memory = number()?,
            "--json" => options.json = Some(value.into()),
            // Processes run in a temporary folder, so the path must be absolute.
            "--binary" => {
                let path =
                    std::path::absolute(value).map_err(|error| format!("{value}: {error}"))?;
                options.binary = Some(path);
            }
            _ => return Err(format!("`{option}` is not an option")),
        }
    }
    if options.models.is_empty() {
        options.models = ["sc", "tso", "pso"].map(String::from).to_vec();
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Options, String> {
        options(&text.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_parsed() {
        let all = parsed("spin").expect("no option is needed");
        assert_eq!((all.models.len(), all.buffers, all.time), (3, 2, 120));
        let some = parsed("spin --model pso --only filter --buffers 4 --time 9");
        let some = some.expect("these are options");
        assert_eq!((some.models, some.only), (vec!["pso".into()], vec!["filter".into()]));
        assert_eq!((some.buffers, some.time, some.corpus), (4, 9, false));
        let flags =
            parsed("spin --corpus --record --collapse --memory 7").expect("these are options");
        assert!(flags.corpus && flags.record && flags.collapse && flags.memory == 7);
        for wrong in
            ["", "cbmc", "spin --model rmo", "spin --buffers 0", "spin --time", "spin -x 1"]
        {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
