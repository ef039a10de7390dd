//! Exit codes, and the sections about them in `--help`.

/// The result of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Exit {
    /// Every requested verdict is *verified*, or the command has done its work.
    Success,
    /// `fmt --check` found files that are not formatted; `litmus --expect` found differences.
    Differs,
    /// Nothing was checked.
    Nothing,
    /// At least one verdict is inconclusive.
    Inconclusive,
    /// A violation, or a trace that does not replay.
    Violated,
    /// Wrong usage, or an input or output that cannot be used.
    Unusable,
    /// A bug in Fencepost.
    Internal,
}

impl Exit {
    /// Returns the exit code of the process.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Differs => 1,
            Exit::Unusable => 2,
            Exit::Nothing => 4,
            Exit::Inconclusive => 5,
            Exit::Internal => 6,
            Exit::Violated => 10,
        }
    }

    /// Returns the more serious of two results. From most to least serious: 6, 2, 10, 5, 4, 1, 0.
    pub(crate) fn combine(self, other: Exit) -> Exit {
        let rank = |exit: Exit| match exit {
            Exit::Success => 0,
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

/// The exit codes in `fencepost --help` and `fencepost check --help`.
pub(crate) const HELP: &str = "\
Exit codes:
   0  every verdict is `verified`
   1  `fmt --check` found files that are not formatted
  10  at least one property is violated
   5  no property is violated, but at least one verdict is inconclusive
   4  nothing was checked
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it
With several files or models, the exit code is the most serious one: 6, 2, 10, 5, 4, 1, 0.";

/// The exit codes in `fencepost robust --help`.
pub(crate) const ROBUST_HELP: &str = "\
Exit codes:
   0  every program is robust under every model; with --infer: fences make it robust
  10  a run is not sequentially consistent, or a property is violated under SC
   5  no answer within the limits, or only up to a number of preemptions or iterations (0 with
      --accept-bounded)
   4  nothing was checked
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it";

/// The exit codes in `fencepost litmus --help`.
pub(crate) const LITMUS_HELP: &str = "\
Exit codes:
   0  all tests have run; with --expect: all results are as recorded
   1  with --expect: a result differs from the record
   5  the states of a test are incomplete, or not all tests have run
   4  there are no tests; with --expect: there are no records to compare with
   2  wrong usage, or a test that cannot be read, is not supported, or has a fault
   6  an internal error of Fencepost: please report it";

/// The exit codes in `fencepost translate --help`.
pub(crate) const TRANSLATE_HELP: &str = "\
Exit codes:
   0  the program is translated; with --run: the tool verified it
  10  with --run: a property is violated
   5  with --run: no answer within the limits, or only up to the bound (0 with --accept-bounded)
   2  wrong usage, an input that cannot be read or translated, or a tool that is not installed
   6  an internal error of Fencepost: please report it";

/// The exit codes in `fencepost infer --help`.
pub(crate) const INFER_HELP: &str = "\
Exit codes:
   0  the program is repaired and verified, or needs no fence; with --weaken: answered
  10  no fence helps: the program is wrong under SC, or no allowed fence prevents the violation
   5  no answer within the limits, or only for bounded buffers (0 with --accept-bounded)
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it
--write and --output change files only if the program is repaired.

Examples:
  fencepost infer lock.c --model pso                 the cheapest fences
  fencepost infer lock.c --model pso --strengthen    fences or stronger memory orders
  fencepost infer lock.c --model tso,pso --weaken    orders and fences that can be weaker";

/// The exit codes in `fencepost outcomes --help`.
pub(crate) const OUTCOMES_HELP: &str = "\
Exit codes:
   0  all outcomes are listed
   5  outcomes may be missing: a limit, a bound or Ctrl-C ended a search
   4  the file has no program
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it";

/// The exit codes in `fencepost clients --help`.
pub(crate) const CLIENTS_HELP: &str = "\
Exit codes:
   0  the clients are listed
   4  there is no client of this size
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it";

/// The exit codes in `fencepost replay --help`.
pub(crate) const REPLAY_HELP: &str = "\
Exit codes:
   0  every step happens as recorded, and the run ends in the recorded violation
  10  the run differs from the recorded one
   2  wrong usage, or a trace that cannot be used
   6  an internal error of Fencepost: please report it";

/// The exit codes in `fencepost certify --help`.
pub(crate) const CERTIFY_HELP: &str = "\
Exit codes:
   0  the certificate proves the program correct under the model it names
  10  the certificate is rejected
   5  no run of the program starts, or a limit or Ctrl-C ended the check
   2  wrong usage, or an input that cannot be used
   6  an internal error of Fencepost: please report it

Examples:
  fencepost check lock.fp --model tso --certificate lock.cert
  fencepost certify lock.cert lock.fp
  fencepost infer lock.fp --model pso --certificate fences.cert -o repaired.fp
  fencepost certify fences.cert lock.fp";

/// The exit codes in `fencepost fmt --help`.
pub(crate) const FMT_HELP: &str = "\
Exit codes:
   0  all programs are formatted
   1  with --check: a program is not formatted
   2  wrong usage, or a file that cannot be read, parsed or written
   6  an internal error of Fencepost: please report it";

/// The exit codes in `fencepost litmus generate --help`.
pub(crate) const GENERATE_HELP: &str = "\
Exit codes:
   0  all tests are generated
   5  a limit or Ctrl-C ended the generation
   4  the edges form no critical cycle of this length
   2  wrong usage, or a file that cannot be written
   6  an internal error of Fencepost: please report it";

/// The exit codes in the help of commands that only print.
pub(crate) const PRINT_HELP: &str = "\
Exit codes:
   0  the text is printed
   2  wrong usage, or an input or output that cannot be used
   6  an internal error of Fencepost: please report it";

#[cfg(test)]
mod tests {
    use super::Exit::{Inconclusive, Internal, Nothing, Success, Unusable, Violated};

    #[test]
    fn combining_keeps_the_more_serious_result() {
        let by_seriousness = [Internal, Unusable, Violated, Inconclusive, Nothing, Success];
        let codes: Vec<u8> = by_seriousness.iter().map(|e| e.code()).collect();
        assert_eq!(codes, [6, 2, 10, 5, 4, 0]);
        for (at, worse) in by_seriousness.iter().enumerate() {
            for better in &by_seriousness[at..] {
                assert_eq!(worse.combine(*better), *worse);
                assert_eq!(better.combine(*worse), *worse);
            }
        }
    }
}
