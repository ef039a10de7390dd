//! `cargo xtask bench --arms`: compares `auto` with the engines that a user could have chosen
//! instead.
//!
//! `auto` runs several engines, its *arms*, one after the other. The price of not knowing the best
//! arm is the ratio of the CPU time of `auto` and of the fastest arm that answers. The aim is a
//! ratio of at most [`AIM`] on every row.
//!
//! `auto` runs first. An arm runs until it needs more CPU time than `auto`, because a slower arm does
//! not change the ratio. Rows in which `auto` answers in less than [`MIN_SECONDS`] are not compared:
//! they measure the start of the process. Two conclusive answers that differ are an error.

mod measure;
mod programs;
mod table;

use super::Options;
use measure::{ArmRow, Runner};
use std::path::Path;

/// The measurements of a commit.
type Record = crate::record::Record<ArmRow>;

/// The largest ratio aimed at.
const AIM: f64 = 1.3;

/// The CPU seconds of the shortest run of `auto` that is compared.
const MIN_SECONDS: f64 = 0.1;

/// Does what the options say. Returns whether no verdict is wrong.
pub(super) fn arms(root: &Path, options: &Options) -> Result<bool, String> {
    let is_selected = |name: &str| {
        options.only.is_empty() || options.only.iter().any(|only| name.contains(only.as_str()))
    };
    let found = match &options.from {
        Some(file) => Record::read(file)?,
        None => {
            let mut subjects = programs::subjects(root, options.all)?;
            subjects.retain(|subject| is_selected(&subject.row()));
            if options.list {
                subjects.iter().for_each(|subject| println!("{}", subject.row()));
                return Ok(true);
            }
            let runner = Runner { common: super::runner(root, options)? };
            if options.instructions && runner.common.callgrind.is_none() {
                println!("instructions are not counted: valgrind is not installed");
            }
            let mut record = Record::of_commit(root, runner.common.limit)?;
            println!("{} rows, at most {} CPU seconds each", subjects.len(), runner.common.limit);
            println!("{}", table::heading());
            for subject in &subjects {
                let row = runner.measure(subject)?;
                if row.is_shown() {
                    println!("{}", table::line(&row));
                }
                record.rows.push(row);
            }
            record
        }
    };
    print!("\n{}", table::sorted(&found.rows));
    if let Some(file) = &options.json {
        found.write(file)?;
    }
    if options.record {
        found.keep(root, "arms-")?;
    }
    Ok(found.rows.iter().all(|row| row.wrong.is_none()))
}
