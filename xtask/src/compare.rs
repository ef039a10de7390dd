//! `cargo xtask compare spin`: runs SPIN's verifier and our explicit engine on the same programs.
//!
//! Both use the same model and the same bound on pending stores. Ours is `fencepost check --engine
//! explicit`; SPIN gets the output of `fencepost translate --to promela`. Both run on one core by
//! default and with their partial-order reduction. Times are those of whole processes. The time to
//! generate and compile SPIN's verifier has a separate column and is not compared.
//!
//! A difference of verdicts is an error. Times are only reported: the last line says on how many rows
//! with more than [`MANY`] states ours is slower.

mod run;
mod table;

use run::{ToolResult, ToolRunner, Verdict};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Duration;
use table::Row;

/// Rows with fewer states are too short to compare times.
const MANY: f64 = 100_000.0;

/// The usage message.
pub(crate) const USAGE: &str = "usage: cargo xtask compare spin [OPTION...]

  --model M     sc, tso or pso; may be given again [default: all three]
  --only NAME   programs whose name contains this; may be given again
  --buffers N   pending stores (TSO: of a thread; PSO: of a thread to a location) [default: 2]
  --threads N   our search threads [default: 1]
  --time S      seconds for each run [default: 120]
  --binary PATH the binary to measure [default: the release build, built first]";

/// The options of the command line.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Options {
    models: Vec<String>,
    only: Vec<String>,
    buffers: u32,
    threads: u32,
    time: u64,
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
    };
    let result = std::fs::create_dir_all(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))
        .and_then(|()| rows(root, &options, &runner));
    // A failure here leaves a few small files in the folder for temporary files.
    std::fs::remove_dir_all(&folder).ok();
    match result {
        Ok(rows) => summarise(&rows),
        Err(message) => {
            eprintln!("compare: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs every program under every model and prints each row as soon as it is known.
fn rows(root: &Path, options: &Options, runner: &ToolRunner) -> Result<Vec<Row>, String> {
    println!(
        "at most {} pending stores; ours on {} thread(s), SPIN on one; {} s for each run",
        options.buffers, options.threads, options.time
    );
    println!("{}", table::heading());
    let mut rows = Vec::new();
    for file in programs(root, &options.only)? {
        for model in &options.models {
            let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let ours = runner.ours(&file, model)?;
            let spin = runner.spin(&file, model)?;
            let row = Row { name, model: model.clone(), ours, spin };
            println!("{}", row.line());
            rows.push(row);
        }
    }
    Ok(rows)
}

/// Prints the summary. Fails if verdicts differ or nothing was compared.
fn summarise(rows: &[Row]) -> ExitCode {
    let decided = |found: &ToolResult| matches!(found.verdict, Verdict::Holds | Verdict::Violated);
    let both: Vec<&Row> = rows.iter().filter(|r| decided(&r.ours) && decided(&r.spin)).collect();
    let differ: Vec<&&Row> = both.iter().filter(|r| r.ours.verdict != r.spin.verdict).collect();
    println!();
    println!("{} rows, {} decided by both", rows.len(), both.len());
    let large: Vec<&&Row> =
        both.iter().filter(|r| r.ours.states.max(r.spin.states) > MANY).collect();
    let slower: Vec<&&&Row> = large.iter().filter(|r| r.ours.seconds > r.spin.seconds).collect();
    match (large.len(), slower.len()) {
        (0, _) => println!("no row has more than {MANY} states: too few to compare times"),
        (all, 0) => {
            println!("ours is not slower on any of {all} rows with more than {MANY} states")
        }
        (all, some) => {
            println!("OURS IS SLOWER on {some} of {all} rows with more than {MANY} states:");
            slower.iter().for_each(|row| println!("{}", row.line()));
        }
    }
    if !differ.is_empty() {
        println!("VERDICTS DIFFER on {} rows:", differ.len());
        differ.iter().for_each(|row| println!("{}", row.line()));
        return ExitCode::FAILURE;
    }
    if both.is_empty() {
        println!("NOTHING WAS COMPARED");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Returns the programs of the mutex corpus, sorted by name.
fn programs(root: &Path, only: &[String]) -> Result<Vec<PathBuf>, String> {
    let folder = root.join("corpus/mutex");
    let io_error = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(io_error)? {
        let path = entry.map_err(io_error)?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let wanted = only.is_empty() || only.iter().any(|part| name.contains(part.as_str()));
        if wanted && path.extension().is_some_and(|extension| extension == "fp") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options {
        models: Vec::new(),
        only: Vec::new(),
        buffers: 2,
        threads: 1,
        time: 120,
        binary: None,
    };
    let mut arguments = arguments.iter();
    if arguments.next().map(String::as_str) != Some("spin") {
        return Err("name the tool to compare with: `spin`".into());
    }
    while let Some(option) = arguments.next() {
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
        assert_eq!((some.buffers, some.time), (4, 9));
        for wrong in
            ["", "cbmc", "spin --model rmo", "spin --buffers 0", "spin --time", "spin -x 1"]
        {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
