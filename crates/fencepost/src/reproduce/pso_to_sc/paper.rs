//! The figures of \[Zac\] Table 5.1, with the programs that stand for its rows.

/// One version of an algorithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    /// Its name in the corpus.
    pub(super) program: &'static str,
    /// Its text.
    pub(super) source: &'static str,
    /// How long the paper's tool took, if the paper has it.
    pub(super) seconds: Option<f64>,
}

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) algorithm: &'static str,
    /// Unsafe in the paper.
    pub(super) unfenced: Version,
    /// Safe in the paper.
    pub(super) fenced: Version,
    pub(super) note: &'static str,
}

macro_rules! line {
    ($algorithm:literal, $unfenced:literal $before:expr, $fenced:literal $after:expr, $note:expr) => {
        Line {
            algorithm: $algorithm,
            unfenced: Version {
                program: $unfenced,
                source: include_str!(concat!("../../../../../corpus/mutex/", $unfenced, ".fp")),
                seconds: $before,
            },
            fenced: Version {
                program: $fenced,
                source: include_str!(concat!("../../../../../corpus/mutex/", $fenced, ".fp")),
                seconds: $after,
            },
            note: $note,
        }
    };
}

/// Why there are two programs for one line.
const WHICH: &str = "The paper says \"Lamport's\" and no more: the fast mutex or the bakery. Its times stand beside those of the \
    fast mutex.";

/// Table 5.1, and the bakery.
#[rustfmt::skip]
pub(super) const TABLE_5_1: [Line; 5] = [
    line!("Dekker", "dekker0" Some(0.85), "dekker2" Some(1.73), ""),
    line!("Peterson", "peterson0" Some(0.59), "peterson2" Some(1.00), ""),
    line!("Lamport's fast mutex", "fast0" Some(15.21), "fast3" Some(448.70), WHICH),
    line!("Lamport's bakery", "bakery0" None, "bakery2" None, WHICH),
    line!("Szymanski", "szymanski0" Some(0.86), "szymanski2" Some(2.25), ""),
];
