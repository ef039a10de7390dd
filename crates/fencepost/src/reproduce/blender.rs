//! `reproduce blender`: the experiments of \[KVY11\], Tables 1 and 2, and the examples of Fig. 6 and 6.2.1.
//!
//! - [`proofs`]: programs with their fences, each under several abstractions (Table 1).
//! - [`fences`]: programs that miss fences: what the paper's method finds under each abstraction
//!   (Table 2), beside the fewest fences there are, proved for store buffers of any length.
//!
//! What must agree is what is said: proved or spurious, optimal, sub-optimal or unfixable, and how many fences are
//! enough. States need not agree: the programs are our own readings of the algorithms, local statements run
//! with the access before them, reductions leave states out, and our search for a violation ends at the
//! first. A difference has a reason in [`notes`], or the row says that there is none.

mod fences;
mod notes;
mod paper;
mod proofs;

use super::{Broken, Runner};
use fencepost_engines::Decider;
use fencepost_models::ModelSpec;
use fencepost_report::verdict_line::shown;
use paper::{ALGORITHMS, Cell, FENCES, Line, PROOFS};

/// What a reader should know before the first row.
pub(super) const ABOUT: &str = "\
    `proof`: a program with its fences, under an abstraction of its store buffers. `fences`: a program that misses fences; \
    `lazy` finds the fewest full fences for each thread and proves them enough for buffers of any length; the other \
    columns are the paper's method, whose fences are optimal if they are as few. What must agree is what is said, and the \
    number of fences. States are shown but not compared: the programs are our own readings of the algorithms, and our \
    searches leave out more.";

macro_rules! corpus {
    ($($dir:literal: $($name:literal)*;)*) => {
        &[$($(($name, include_str!(concat!("../../../../corpus/", $dir, "/", $name, ".fp")))),*),*]
    };
}

/// The programs, by name.
#[rustfmt::skip]
const PROGRAMS: &[(&str, &str)] = corpus! {
    "mutex":
        "sense0" "sense1" "peterson0" "peterson1-tso" "peterson2" "dekker0" "dekker1-tso" "dekker2"
        "bakery0" "bakery2-tso" "bakery2" "fast0" "fast1a" "fast1b" "fast1c" "fast2-tso" "fast3"
        "clh0" "clh2" "burns0" "dijkstra0";
    "papers": "blender-fig6";
};

/// Computes the rows.
pub(super) fn run(runner: &mut Runner) -> Result<(), Broken> {
    for algorithm in ALGORITHMS {
        if !runner.wants(algorithm) {
            continue;
        }
        let of = |line: &&Line| line.algorithm == algorithm;
        for line in PROOFS.iter().filter(of) {
            proofs::rows(runner, line)?;
        }
        for line in FENCES.iter().filter(of) {
            fences::rows(runner, line)?;
        }
    }
    Ok(())
}

/// The text of a program.
fn source(name: &str) -> &'static str {
    let found = PROGRAMS.iter().find(|(other, _)| *other == name);
    found.expect("every line has its program").1
}

/// What a line's rows are called.
fn row_name(line: &Line) -> String {
    format!("{} {}", line.algorithm, line.program)
}

/// What a cell's column is called.
fn column(model: &ModelSpec, cell: &Cell) -> String {
    format!("{} {}", shown(model), Decider::Abstraction(cell.domain, cell.k))
}

#[cfg(test)]
mod tests {
    use super::super::lowered;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_line_has_its_program() {
        for line in PROOFS.iter().chain(&FENCES) {
            assert!(ALGORITHMS.contains(&line.algorithm), "{}", line.algorithm);
            assert_eq!(lowered(source(line.program)).len(), 1, "{}", line.program);
        }
        let used: BTreeSet<&str> = PROOFS.iter().chain(&FENCES).map(|line| line.program).collect();
        let there: BTreeSet<&str> = PROGRAMS.iter().map(|(name, _)| *name).collect();
        assert_eq!(used, there);
    }

    #[test]
    fn every_reason_is_about_a_cell_of_the_tables() {
        for reason in notes::REASONS {
            let lines = PROOFS.iter().chain(&FENCES);
            let mut lines =
                lines.filter(|l| (l.program, l.model) == (reason.program, reason.model));
            let here = |cell: &Cell| (cell.domain, cell.k) == reason.cell;
            assert!(lines.any(|line| line.cells.iter().any(here)), "{reason:?}");
        }
    }

    /// The sums of the columns of the tables, and how often each mark is in them.
    #[test]
    fn the_figures_are_those_of_the_paper() {
        let pso = |lines: &[Line]| -> Vec<Line> {
            lines.iter().filter(|line| line.model == "pso").copied().collect()
        };
        let sum = |lines: &[Line], at: usize| -> u64 {
            lines.iter().filter_map(|line| line.cells.get(at)?.states).sum()
        };
        let count = |lines: &[Line], word: &str| {
            lines.iter().flat_map(|line| line.cells).filter(|cell| cell.word == Some(word)).count()
        };
        let table = pso(&PROOFS);
        let sums: Vec<u64> = (0..3).map(|at| sum(&table, at)).collect();
        assert_eq!(sums, [81_400, 47_200, 94_600]);
        assert_eq!((count(&table, paper::PROVED), count(&table, paper::SPURIOUS)), (10, 8));
        let table: Vec<Line> =
            pso(&FENCES).into_iter().filter(|line| line.cells.len() == 5).collect();
        let sums: Vec<u64> = (0..5).map(|at| sum(&table, at)).collect();
        assert_eq!(sums, [1_522_900, 4_898_700, 937_300, 6_456_100, 6_258_700]);
        let words = [paper::OPTIMAL, paper::SUB_OPTIMAL, paper::UNFIXABLE, paper::MEMORY];
        assert_eq!(words.map(|word| count(&table, word)), [14, 13, 4, 14]);
    }
}
