//! `cargo xtask bench`: measures every engine on families of programs with a parameter.
//!
//! Each row runs the released binary as a subprocess and reads its JSON document. The programs and
//! their expected verdicts are in the package `fencepost-bench`; [`rows`] says which engine runs on
//! which. A row that reaches the time limit says so. A wrong verdict is an error.

mod arms;
mod callgrind;
mod chart;
mod check;
mod growth;
mod record;
mod rows;
mod run;
mod table;

use callgrind::Callgrind;
use record::Record;
use rows::Row;
use run::{MAX_COUNTED, Measurement, Runner};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The usage message.
pub(crate) const USAGE: &str = "usage: cargo xtask bench [OPTION...]

  --only TEXT    rows whose name contains this, such as `infer` or `explicit bakery`; repeatable
  --list         prints the names of the rows
  --time S       seconds for each row [default: 10]
  --instructions counts the instructions of short rows with callgrind
  --json FILE    writes the measurements
  --record       writes the measurements to bench/record/COMMIT.json
  --svg FILE     draws the measurements
  --compare OLD  compares with measurements of --json; fails if a row needs more instructions
  --from FILE    takes the measurements from this file instead of measuring
  --binary PATH  the binary to measure [default: the release build, built first]

  --arms         compares `auto` with its arms on the programs of `bench/` and a part of `corpus/`
  --all          with --arms: on every program of `corpus/`

  --check        compares the instructions of five short rows with bench/record/instructions.json
  --update       with --check: records them";

/// The options of the command line.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
struct Options {
    only: Vec<String>,
    list: bool,
    time: Option<u64>,
    instructions: bool,
    json: Option<PathBuf>,
    record: bool,
    svg: Option<PathBuf>,
    compare: Option<PathBuf>,
    from: Option<PathBuf>,
    binary: Option<PathBuf>,
    arms: bool,
    all: bool,
    check: bool,
    update: bool,
}

/// Runs the benchmark.
pub(crate) fn bench(root: &Path, arguments: &[String]) -> ExitCode {
    let options = match options(arguments) {
        Ok(options) => options,
        Err(message) => {
            eprintln!("{message}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(root, &options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("bench: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Does what the options say. Returns whether there is no regression and no wrong verdict.
fn run(root: &Path, options: &Options) -> Result<bool, String> {
    if options.arms {
        return arms::arms(root, options);
    }
    let is_selected = |row: &Row| {
        let name = row.name();
        options.only.is_empty() || options.only.iter().any(|only| name.contains(only))
    };
    let selected: Vec<Row> = rows::rows().into_iter().filter(is_selected).collect();
    if options.list {
        selected.iter().for_each(|row| println!("{}", row.name()));
        return Ok(true);
    }
    if options.check {
        let Some(callgrind) = Callgrind::find() else {
            println!("bench --check: skipped, valgrind is not installed (Debian: valgrind)");
            return Ok(true);
        };
        let record = root.join("bench/record/instructions.json");
        return check::check(&runner(root, options)?, &callgrind, &record, options.update);
    }
    let found = match &options.from {
        Some(file) => Record::read(file)?,
        None => {
            let runner = runner(root, options)?;
            let mut record = Record::of_commit(root, runner.limit)?;
            record.rows = measure(&selected, &runner)?;
            record
        }
    };
    show(&found);
    report(root, options, &found)
}

/// Builds the binary and prepares the folder for programs.
fn runner(root: &Path, options: &Options) -> Result<Runner, String> {
    let binary = options.binary.clone().map_or_else(|| crate::release::build(root), Ok)?;
    let folder = root.join("target/bench");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let callgrind = match options.instructions {
        true => Callgrind::find(),
        false => None,
    };
    Ok(Runner { binary, folder, limit: options.time.unwrap_or(10), callgrind })
}

/// Measures the rows and prints each as soon as it is known.
fn measure(rows: &[Row], runner: &Runner) -> Result<Vec<Measurement>, String> {
    let counts = runner.callgrind.is_some();
    println!("{} rows, at most {} s each; programs in target/bench", rows.len(), runner.limit);
    match counts {
        true => println!("instructions: rows with at most {MAX_COUNTED} CPU seconds"),
        false => println!("instructions are not counted: this needs --instructions and valgrind"),
    }
    println!("{}", table::heading(counts));
    let mut all = Vec::new();
    for row in rows {
        let found = runner.measure(row).map_err(|message| format!("{}: {message}", row.name()))?;
        println!("{}", table::line(&found, counts));
        all.push(found);
    }
    Ok(all)
}

/// Prints the growth and the summary.
fn show(found: &Record) {
    let parameter = |name: &str| fencepost_bench::family(name).map_or("?", |f| f.parameter);
    println!("\n{}\n{}", table::growth(&found.rows, parameter), table::summary(&found.rows));
}

/// Writes the files and compares. Returns whether there is no regression and no wrong verdict.
fn report(root: &Path, options: &Options, found: &Record) -> Result<bool, String> {
    if let Some(file) = &options.json {
        found.write(file)?;
    }
    if options.record {
        found.keep(root, "")?;
    }
    if let Some(file) = &options.svg {
        let title = format!("fencepost {}, {} s for each row", found.commit, found.limit);
        fs::write(file, chart::chart(&title, &found.rows))
            .map_err(|error| format!("{}: {error}", file.display()))?;
    }
    let mut is_good = true;
    for row in found.rows.iter().filter(|row| row.wrong) {
        println!("{}: {}", row.row, table::complaint(row));
        is_good = false;
    }
    if let Some(file) = &options.compare {
        let old = Record::read(file)?;
        let comparison = record::compare(&old, found);
        print!("{}", comparison.text(&old));
        is_good &= comparison.regressions.is_empty();
    }
    Ok(is_good)
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut arguments = arguments.iter();
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{option} needs a value"));
        match option.as_str() {
            "--only" => options.only.push(value()?.clone()),
            "--list" => options.list = true,
            "--time" => match value()?.parse() {
                Ok(seconds) if seconds > 0 => options.time = Some(seconds),
                _ => return Err("--time needs a number above 0".into()),
            },
            "--instructions" => options.instructions = true,
            "--json" => options.json = Some(value()?.into()),
            "--record" => options.record = true,
            "--svg" => options.svg = Some(value()?.into()),
            "--compare" => options.compare = Some(value()?.into()),
            "--from" => options.from = Some(value()?.into()),
            "--binary" => options.binary = Some(value()?.into()),
            "--arms" => options.arms = true,
            "--all" => options.all = true,
            "--check" => options.check = true,
            "--update" => options.update = true,
            _ => return Err(format!("`{option}` is not an option")),
        }
    }
    if options.update && !options.check {
        return Err("--update requires --check".into());
    }
    if options.all && !options.arms {
        return Err("--all requires --arms".into());
    }
    let other = options.svg.is_some() || options.compare.is_some() || options.check;
    if options.arms && other {
        return Err("--arms excludes --svg, --compare and --check".into());
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
        assert_eq!(parsed("").expect("no option is needed"), Options::default());
        let found = parsed("--only infer --only auto --time 3 --svg a.svg --check --update");
        let found = found.expect("these are options");
        assert_eq!((found.only.len(), found.time), (2, Some(3)));
        assert_eq!((found.svg, found.check, found.update), (Some("a.svg".into()), true, true));
        for wrong in [
            "infer",
            "--time",
            "--time 0",
            "--time x",
            "--update",
            "--only",
            "--all",
            "--arms --check",
        ] {
            assert!(parsed(wrong).is_err(), "{wrong}");
        }
    }
}
