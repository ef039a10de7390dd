//! How to run verifiers on the exported C: their options, and the number of unrollings that the
//! loops need.

use super::Language;
use super::simulation::Simulation;
use fencepost_ir::Problem;
use fencepost_translate::contexts::Bound;
use fencepost_translate::loop_bounds::{LoopBounds, loop_bounds};
use fencepost_translate::{Translation, Unsupported};

/// The options with which CBMC 6 accepts programs with threads.
pub const CBMC_OPTIONS: [&str; 2] = ["--no-pointer-check", "--no-pointer-primitive-check"];

/// Returns lines about the loops of a translation that is written as C; none for other languages.
pub(crate) fn loop_notes(
    original: &Problem,
    translation: &Translation,
    simulation: Simulation,
    language: Language,
) -> Result<Vec<String>, Unsupported> {
    match language {
        Language::Fp | Language::Promela | Language::Litmus => Ok(Vec::new()),
        Language::C => {
            Ok(describe(&loop_bounds(translation, original)?, "GenMC: --unroll=", " or no bound"))
        }
        Language::SequentialC => {
            let mut bounds = loop_bounds(translation, original)?;
            if let Simulation::Contexts(_, Bound::Switches(k)) = simulation {
                // The loop in `STEP` begins contexts: at most all of them.
                bounds.iterations = bounds.iterations.max(k.saturating_add(2));
            }
            Ok(describe(&bounds, "others: at least ", ""))
        }
    }
}

/// Describes the loops of a program. `other` introduces the number for tools other than CBMC;
/// `or_none` follows it if these tools need no bound on loops that end.
fn describe(bounds: &LoopBounds, other: &str, or_none: &str) -> Vec<String> {
    let n = bounds.unrollings();
    if bounds.unbounded.is_empty() && bounds.iterations <= 1 {
        return vec!["No loops: tools need no bound on iterations.".into()];
    }
    let options = format!("CBMC: --unwind {n} --unwinding-assertions; {other}{n}");
    if bounds.unbounded.is_empty() {
        return vec![
            format!("Every loop has at most {} iterations. {options}{or_none}.", bounds.iterations),
            "A smaller bound omits runs. GenMC does not report this; CBMC does.".into(),
        ];
    }
    let threads = match &bounds.unbounded[..] {
        [one] => format!("thread {one}"),
        [first @ .., last] => format!("threads {} and {last}", first.join(", ")),
        [] => unreachable!("the list is not empty"),
    };
    vec![
        format!("Loops without a known bound: {threads}. Any bound N on iterations is a bound on the result:"),
        format!("runs with more iterations are not checked. At least: {options}."),
        "CBMC reports the omitted runs as a failed unwinding assertion; GenMC does not report them.".into(),
    ]
}

/// Explains how to run verifiers on a translation. Empty for languages other than C.
pub(crate) fn explain(language: Language, loops: &[String]) -> String {
    let mut lines: Vec<String> = match language {
        Language::Fp | Language::Promela | Language::Litmus => return String::new(),
        Language::C => [
            "CBMC: cbmc PROGRAM.c --no-pointer-check --no-pointer-primitive-check, because CBMC 6 rejects",
            "  pointer checks in programs with threads.",
            "GenMC: genmc --sc PROGRAM.c. Choices are explored as races of threads.",
            "Nidhugg and similar tools: compile with -DFENCEPOST_VERIFIER.",
        ]
        .map(String::from)
        .into(),
        Language::SequentialC => [
            "CBMC: cbmc PROGRAM.c. Other tools: -DFENCEPOST_VERIFIER; they must explore all values of",
            "  __VERIFIER_nondet_int. GenMC does not.",
        ]
        .map(String::from)
        .into(),
    };
    lines.extend(loops.iter().cloned());
    lines.extend(
        [
            "Run the tool again with -DFENCEPOST_REACHABLE. The assertion \"end of run\" must fail. If it does",
            "  not fail, the tool explored no run to its end, and \"no errors\" means nothing.",
        ]
        .map(String::from),
    );
    lines.iter().map(|line| format!("{line}\n")).collect()
}
