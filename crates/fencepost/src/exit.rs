//! What the exit codes mean.

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Every requested verdict is *verified*; or the command did what it was asked to.
    Fine,
    /// `fmt --check` found files that are not formatted; `litmus --expect` found differences.
    Differs,
    /// Nothing was checked.
    Nothing,
    /// At least one verdict is inconclusive.
    Inconclusive,
    /// A violation; or a trace that does not replay.
    Violated,
    /// Wrong usage, or an input or output that cannot be used.
    Unusable,
    /// A bug of ours.
    Internal,
}

impl Exit {
    /// The number the shell sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Differs => 1,
            Exit::Unusable => 2,
            Exit::Nothing => 4,
            Exit::Inconclusive => 5,
            Exit::Internal => 6,
            Exit::Violated => 10,
        }
    }

    /// The more serious of two: 6, 2, 10, 5, 4, 1, 0.
    pub(crate) fn and(self, other: Exit) -> Exit {
        let rank = |exit: Exit| match exit {
            Exit::Fine => 0,
            Exit::Differs => 1,
            Exit::Nothing => 2,
            Exit::Inconclusive => 3,
            Exit::Violated => 4,
            Exit::Unusable => 5,
            Exit::Internal => 6,
        };
        if rank(other) > rank(self) { other } else { self }
    }
}

/// For `--help`.
pub(crate) const HELP: &str = "\
Exit codes:
   0  every requested verdict is `verified`
   1  `fmt --check` found files that are not formatted
  10  a violation was found
   5  at least one verdict is inconclusive, none is a violation
   4  nothing was checked
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it
With several files and models all are checked, and the most serious code wins: 6, 2, 10, 5, 4, 1, 0.";

/// For `robust --help`.
pub(crate) const ROBUST_HELP: &str = "\
Exit codes:
   0  every program is robust under every model; with --infer: made robust
  10  a run that is not sequentially consistent, or a property that does not hold under SC
   5  no answer within the limits, or one for bounded preemptions only (0 with --accept-bounded)
   4  nothing was checked
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it";

/// For `litmus --help`.
pub(crate) const LITMUS_HELP: &str = "\
Exit codes:
   0  every test was run; with --expect: and shows what is recorded
   1  with --expect: a difference
   5  not all states of some test are known, or not all tests were run
   4  there are no tests; with --expect: nothing to compare them with
   2  wrong usage, or a test that cannot be read, is not supported or faults
   6  an internal error of Fencepost: please report it";

/// For `translate --help`.
pub(crate) const TRANSLATE_HELP: &str = "\
Exit codes:
   0  translated; with --run: the tool verified the program
  10  with --run: a violation was found
   5  with --run: no answer within the limits, or one up to the bound only (0 with --accept-bounded)
   2  wrong usage, an input that cannot be used or translated, or a tool that is not there
   6  an internal error of Fencepost: please report it";

/// For `infer --help`.
pub(crate) const INFER_HELP: &str = "\
Exit codes:
   0  repaired and verified, or no fence is needed
  10  no fence helps: the program is wrong under sequential consistency, or out of reach
   5  no answer within the limits, or one for bounded buffers only (0 with --accept-bounded)
   2  wrong usage, or an input that cannot be used; nothing is written
   6  an internal error of Fencepost: please report it
Nothing is written unless the program is repaired.";

#[cfg(test)]
mod tests {
    use super::Exit::{Fine, Inconclusive, Internal, Nothing, Unusable, Violated};

    #[test]
    fn the_most_serious_wins() {
        let by_seriousness = [Internal, Unusable, Violated, Inconclusive, Nothing, Fine];
        let codes: Vec<u8> = by_seriousness.iter().map(|e| e.code()).collect();
        assert_eq!(codes, [6, 2, 10, 5, 4, 0]);
        for (at, worse) in by_seriousness.iter().enumerate() {
            for better in &by_seriousness[at..] {
                assert_eq!(worse.and(*better), *worse);
                assert_eq!(better.and(*worse), *worse);
            }
        }
    }
}
