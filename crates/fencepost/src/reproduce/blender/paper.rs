//! The figures of \[KVY11\]: Tables 1 and 2, Fig. 6, and what section 6 says besides.
//!
//! The marks of the tables, a full, half or empty circle, are words here. States are in thousands in the paper.
//! What the paper leaves open is `None`. Where the words of section 6 and a mark of Table 2 do not
//! fit, the words count: Fast1c with `pd` and k = 2 is sub-optimal.

use fencepost_models::coherence::Domain;

/// Nothing can go wrong.
pub(super) const PROVED: &str = "proved";
/// A violation was found that does not happen.
pub(super) const SPURIOUS: &str = "spurious";
/// A violation that does happen.
pub(super) const VIOLATED: &str = "violated";
/// No fewer fences are enough.
pub(super) const OPTIMAL: &str = "optimal";
/// Fewer fences are enough.
pub(super) const SUB_OPTIMAL: &str = "sub-optimal";
/// No fences seem to be enough.
pub(super) const UNFIXABLE: &str = "unfixable";
/// The paper's tool could not tell.
pub(super) const MEMORY: &str = "out of memory";

/// One cell of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) domain: Domain,
    pub(super) k: u32,
    /// What the paper says.
    pub(super) word: Option<&'static str>,
    /// How many states it had.
    pub(super) states: Option<u64>,
}

/// One program under one model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) algorithm: &'static str,
    /// Its name in the corpus.
    pub(super) program: &'static str,
    pub(super) model: &'static str,
    /// How many fences are enough, according to the paper; for lines about fences only.
    pub(super) fences: Option<u64>,
    pub(super) cells: &'static [Cell],
}

const SET: (Domain, u32) = (Domain::Set, 0);
const FD0: (Domain, u32) = (Domain::Full, 0);
const FD1: (Domain, u32) = (Domain::Full, 1);
const FD2: (Domain, u32) = (Domain::Full, 2);
const PD0: (Domain, u32) = (Domain::Partial, 0);
const PD1: (Domain, u32) = (Domain::Partial, 1);
const PD2: (Domain, u32) = (Domain::Partial, 2);

/// No number of states is given.
const NONE: u64 = 0;

const fn cell((domain, k): (Domain, u32), word: &'static str, states: u64) -> Cell {
    Cell { domain, k, word: Some(word), states: if states == NONE { None } else { Some(states) } }
}

/// Not in the paper.
const fn ours((domain, k): (Domain, u32)) -> Cell {
    Cell { domain, k, word: None, states: None }
}

/// Fewest fences for each thread; not in the paper.
const OPEN: Option<u64> = None;

const fn line(
    (algorithm, program, model): (&'static str, &'static str, &'static str),
    fences: Option<u64>,
    cells: &'static [Cell],
) -> Line {
    Line { algorithm, program, model, fences, cells }
}

/// What Tables 1 and 2 call Sense, Pet, Dek, Lam, Fast and CLH; then what is not in them.
pub(super) const ALGORITHMS: [&str; 9] =
    ["Sense", "Peterson", "Dekker", "Bakery", "Fast", "CLH", "Burns", "Dijkstra", "Fig. 6"];

const TSO: &[Cell] = &[ours(SET), ours(FD0), ours(FD1), ours(FD2)];

/// Table 1: programs with their fences. The TSO versions are not in the paper.
#[rustfmt::skip]
pub(super) const PROOFS: [Line; 12] = [
    line(("Sense", "sense1", "pso"), OPEN, &[cell(SET, SPURIOUS, 600), cell(FD0, PROVED, 1_700), cell(FD1, PROVED, 800)]),
    line(("Peterson", "peterson2", "pso"), OPEN, &[cell(SET, SPURIOUS, 7_700), cell(FD0, PROVED, 2_400), cell(FD1, PROVED, 1_800)]),
    line(("Dekker", "dekker2", "pso"), OPEN, &[cell(SET, SPURIOUS, 9_700), cell(FD0, PROVED, 4_500), cell(FD1, PROVED, 3_100)]),
    line(("Bakery", "bakery2", "pso"), OPEN, &[cell(SET, SPURIOUS, 41_200), cell(FD0, PROVED, 22_200), cell(FD1, PROVED, 9_000)]),
    line(("Fast", "fast3", "pso"), OPEN, &[cell(SET, SPURIOUS, 22_200), cell(FD0, SPURIOUS, 16_400), cell(FD1, PROVED, 11_100)]),
    line(("CLH", "clh2", "pso"), OPEN, &[cell(SET, SPURIOUS, NONE), cell(FD0, SPURIOUS, NONE), cell(FD1, PROVED, 68_800)]),
    line(("Sense", "sense0", "tso"), OPEN, TSO),
    line(("Peterson", "peterson1-tso", "tso"), OPEN, TSO),
    line(("Dekker", "dekker1-tso", "tso"), OPEN, TSO),
    line(("Bakery", "bakery2-tso", "tso"), OPEN, TSO),
    line(("Fast", "fast2-tso", "tso"), OPEN, TSO),
    line(("CLH", "clh0", "tso"), OPEN, TSO),
];

/// Table 2, Fig. 6 and section 6.3.2: programs that miss fences. Other lines, those of TSO, Burns and Dijkstra, are
/// not in the paper. How many fences are missing is told by the names of the fenced versions in section 6.1.
#[rustfmt::skip]
pub(super) const FENCES: [Line; 24] = [
    line(("Sense", "sense0", "pso"), Some(1), &[cell(FD0, SUB_OPTIMAL, 57_600), cell(FD1, OPTIMAL, 58_600), cell(PD0, SUB_OPTIMAL, 31_900), cell(PD1, OPTIMAL, 44_300), cell(PD2, OPTIMAL, 6_100)]),
    line(("Peterson", "peterson0", "pso"), Some(2), &[cell(FD0, OPTIMAL, 69_200), cell(FD1, OPTIMAL, 524_500), cell(PD0, SUB_OPTIMAL, 25_300), cell(PD1, SUB_OPTIMAL, 244_700), cell(PD2, OPTIMAL, 1_124_200)]),
    line(("Dekker", "dekker0", "pso"), Some(2), &[cell(FD0, OPTIMAL, 424_200), cell(FD1, OPTIMAL, 3_238_100), cell(PD0, SUB_OPTIMAL, 16_500), cell(PD1, SUB_OPTIMAL, 358_100), cell(PD2, OPTIMAL, 2_350_000)]),
    line(("Bakery", "bakery0", "pso"), Some(2), &[cell(FD0, MEMORY, NONE), cell(FD1, MEMORY, NONE), cell(PD0, SUB_OPTIMAL, 421_000), cell(PD1, SUB_OPTIMAL, 4_045_900), cell(PD2, MEMORY, NONE)]),
    line(("Fast", "fast0", "pso"), Some(3), &[cell(FD0, MEMORY, NONE), cell(FD1, MEMORY, NONE), cell(PD0, UNFIXABLE, 220_600), cell(PD1, MEMORY, NONE), cell(PD2, MEMORY, NONE)]),
    line(("Fast", "fast1a", "pso"), Some(2), &[cell(FD0, SUB_OPTIMAL, 139_000), cell(FD1, OPTIMAL, 105_200), cell(PD0, UNFIXABLE, 33_000), cell(PD1, OPTIMAL, 88_100), cell(PD2, OPTIMAL, 41_900)]),
    line(("Fast", "fast1b", "pso"), Some(2), &[cell(FD0, SUB_OPTIMAL, 832_900), cell(FD1, OPTIMAL, 972_300), cell(PD0, UNFIXABLE, 78_600), cell(PD1, SUB_OPTIMAL, 501_600), cell(PD2, OPTIMAL, 878_400)]),
    line(("Fast", "fast1c", "pso"), Some(2), &[cell(FD0, MEMORY, NONE), cell(FD1, MEMORY, NONE), cell(PD0, UNFIXABLE, 110_400), cell(PD1, SUB_OPTIMAL, 1_173_400), cell(PD2, SUB_OPTIMAL, 1_858_100)]),
    line(("CLH", "clh0", "pso"), Some(2), &[cell(FD0, MEMORY, NONE), cell(FD1, MEMORY, NONE), cell(PD0, MEMORY, NONE), cell(PD1, MEMORY, NONE), cell(PD2, MEMORY, NONE)]),
    line(("Burns", "burns0", "pso"), OPEN, &[]),
    line(("Dijkstra", "dijkstra0", "pso"), OPEN, &[]),
    line(("Fig. 6", "blender-fig6", "pso"), Some(0), &[cell(FD0, SUB_OPTIMAL, NONE), cell(FD1, OPTIMAL, NONE)]),
    line(("Sense", "sense0", "tso"), OPEN, &[]),
    line(("Peterson", "peterson0", "tso"), OPEN, &[cell(PD0, SUB_OPTIMAL, NONE), cell(PD1, SUB_OPTIMAL, NONE), cell(PD2, OPTIMAL, NONE)]),
    line(("Dekker", "dekker0", "tso"), OPEN, &[]),
    line(("Bakery", "bakery0", "tso"), OPEN, &[]),
    line(("Fast", "fast0", "tso"), OPEN, &[]),
    line(("Fast", "fast1a", "tso"), OPEN, &[]),
    line(("Fast", "fast1b", "tso"), OPEN, &[]),
    line(("Fast", "fast1c", "tso"), OPEN, &[]),
    line(("CLH", "clh0", "tso"), OPEN, &[]),
    line(("Burns", "burns0", "tso"), OPEN, &[]),
    line(("Dijkstra", "dijkstra0", "tso"), OPEN, &[]),
    line(("Fig. 6", "blender-fig6", "tso"), OPEN, &[]),
];

/// Section 6.2.1: what is wrong with the run that `fd` with k = 0 takes for a violation of the fast mutex.
pub(super) const COMMITTED_TWICE: &str = "y = 0";
