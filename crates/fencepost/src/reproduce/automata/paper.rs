//! The figures of \[LW10\] Table 2. Seconds have a decimal comma there.

/// One line of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) algorithm: &'static str,
    /// What the paper calls it.
    pub(super) version: &'static str,
    /// Its text.
    pub(super) source: &'static str,
    /// States stored.
    pub(super) stored: u64,
    /// States visited.
    pub(super) visited: u64,
    pub(super) seconds: f64,
    /// The longest path.
    pub(super) depth: u64,
    pub(super) errors: u64,
}

macro_rules! line {
    ($algorithm:literal, $version:literal, $program:literal,
     $stored:literal, $visited:literal, $seconds:literal, $depth:literal, $errors:literal) => {
        Line {
            algorithm: $algorithm,
            version: $version,
            source: include_str!(concat!("../../../../../corpus/mutex/", $program, ".fp")),
            stored: $stored,
            visited: $visited,
            seconds: $seconds,
            depth: $depth,
            errors: $errors,
        }
    };
}

/// Table 2.
#[rustfmt::skip]
pub(super) const TABLE_2: [Line; 8] = [
    line!("Dekker", "single entry", "dekker0-once", 183, 301, 2.446, 22, 2),
    line!("Dekker", "single entry + sync", "dekker1-once-tso", 111, 161, 1.194, 22, 0),
    line!("Dekker", "repeated entry", "dekker0", 3_236, 6_231, 22.881, 785, 36),
    line!("Dekker", "repeated entry + sync", "dekker1-tso", 343, 631, 3.016, 79, 0),
    line!("Peterson", "single entry", "peterson0-once", 120, 173, 1.969, 15, 2),
    line!("Peterson", "single entry + sync", "peterson1-once-tso", 54, 66, 0.399, 13, 0),
    line!("Peterson", "repeated entry", "peterson0", 355, 432, 3.097, 50, 10),
    line!("Peterson", "repeated entry + sync", "peterson1-tso", 65, 92, 0.392, 22, 0),
];
