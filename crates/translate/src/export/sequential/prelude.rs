//! The fixed parts of every sequential C program: the interface to verifiers, and a driver that
//! enumerates all choices without a verifier.

use super::super::c::prelude::updates;
use super::super::c::{END_OF_RUN, PreludeParts};
use super::super::text::TextWriter;

/// Reserved names, besides those of all C programs.
pub(super) const WORDS: &str = "\
    again before check cut error exists found invariants jmp_buf choices_known choices_made leave_slot longjmp most \
    next_choices next_slot now offer SLOTS THREADS reset run runs setjmp STEP stderr stdout taken thread used \
    violation witness CHOICES RUNS";

/// Writes the part of the leading comment that explains the program.
pub(super) fn about(out: &mut TextWriter<'_>) {
    for line in [
        "",
        "The threads run one after another. Their contexts have slots in the order of the simulated run; slot 0 is the",
        "initial state. A thread occupies one slot for each of its contexts. Every shared variable x has a copy for",
        "each slot: x_at. If the preceding slot is still free, the value of x is guessed (x_guess). The thread that",
        "occupies that slot later must leave exactly this value, or the run is discarded. So a failure is only",
        "recorded in `error`, and asserted when all guesses are confirmed. Before each STEP, a thread may begin",
        "contexts, or stop.",
        "",
        "CBMC is recognised. For other verifiers, use -DFENCEPOST_VERIFIER; they must explore all values of",
        "__VERIFIER_nondet_int, which GenMC does not. Run the verifier a second time with -DFENCEPOST_REACHABLE: the",
        "assertion \"end of run\" must FAIL. If it does not fail, \"no errors\" means nothing. Without a verifier, use",
        "-DFENCEPOST_ENUMERATE: the program tries all choices and prints the result. Its exit code is 0 if there is",
        "no violation, 1 if there is one, 2 if the result is unknown. Otherwise, the program executes one random run.",
        "Overflow is also a fault of the program: let the verifier check for it.",
    ] {
        out.line(format!(" * {line}").trim_end());
    }
}

/// Writes the head of the program.
pub(super) fn write(
    uses: PreludeParts,
    any_number: bool,
    witnesses: usize,
    out: &mut TextWriter<'_>,
) {
    let mut all = |lines: &[&str]| lines.iter().for_each(|line| out.line(line));
    all(&[
        "#if defined(__CPROVER__)",
        "#include <assert.h>",
        "#define assume(condition) __CPROVER_assume(condition)",
        "int nondet_int(void);",
        "#elif defined(FENCEPOST_VERIFIER)",
        "#if defined(__has_include)",
        "#if __has_include(<genmc.h>)",
        "#error \"GenMC does not explore the values of __VERIFIER_nondet_int: use --to c\"",
        "#endif",
        "#endif",
        "#include <assert.h>",
        "void __VERIFIER_assume(int);",
        "int __VERIFIER_nondet_int(void);",
        "#define assume(condition) __VERIFIER_assume(condition)",
        "#define nondet_int() __VERIFIER_nondet_int()",
        "#elif defined(FENCEPOST_ENUMERATE)",
        "#include <setjmp.h>",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "#include <string.h>",
        "#else",
        "#include <assert.h>",
        "#include <stdlib.h>",
        "#include <time.h>",
        "/* The run ends and is discarded. */",
        "#define assume(condition) do { if (!(condition)) exit(0); } while (0)",
        "#define FENCEPOST_RUN",
        "#endif",
        "",
        "#if defined(FENCEPOST_ENUMERATE)",
        "#if !defined(CHOICES)",
        "#define CHOICES 1000  /* A run with more choices is cut off. */",
        "#endif",
        "#if !defined(RUNS)",
        "#define RUNS 1000000000UL  /* The largest number of runs. */",
        "#endif",
        "static jmp_buf again;",
        "static unsigned long runs, cut;",
        "/* The choices of this run: the alternative taken and the last alternative; the number made, and replayed. */",
        "static unsigned taken[CHOICES], most[CHOICES];",
        "static int choices_made, choices_known;",
        "/* The run ends and is discarded. */",
        "#define assume(condition) do { if (!(condition)) longjmp(again, 1); } while (0)",
        "#define assert(condition) do { if (!(condition)) violation(#condition); } while (0)",
        "static void violation(const char *what) {",
        "  printf(\"violation in run %lu: %s\\n\", runs + 1, what);",
        "  exit(1);",
        "}",
        "static int choose(int lo, int hi) {",
        "  assume(lo <= hi);",
        "  if (choices_made == CHOICES) {",
        "    cut++;",
        "    longjmp(again, 1);",
        "  }",
        "  if (choices_made == choices_known) {",
        "    taken[choices_known] = 0;",
        "    most[choices_known++] = (unsigned)hi - (unsigned)lo;",
        "  }",
        "  return (int)((unsigned)lo + taken[choices_made++]);",
        "}",
        "/* Advances to the next choices, like an odometer. Returns whether there are any. */",
        "static int next_choices(void) {",
        "  choices_known = choices_made;",
        "  choices_made = 0;",
        "  while (choices_known > 0 && taken[choices_known - 1] == most[choices_known - 1]) choices_known--;",
        "  if (choices_known > 0) taken[choices_known - 1]++;",
        "  return choices_known > 0;",
        "}",
    ]);
    if any_number {
        all(&[
            "static int nondet_int(void) {",
            "  printf(\"a guess without a range cannot be enumerated: declare ranges\\n\");",
            "  exit(2);",
            "}",
        ]);
    }
    all(&[
        "#elif defined(FENCEPOST_RUN)",
        "static int choose(int lo, int hi) {",
        "  assume(lo <= hi);",
        "  return lo + rand() % (hi - lo + 1);",
        "}",
    ]);
    if any_number {
        all(&["#define nondet_int() rand()"]);
    }
    all(&[
        "#else",
        "static int choose(int lo, int hi) {",
        "  int value = nondet_int();",
        "  assume(lo <= value && value <= hi);",
        "  return value;",
        "}",
        "#endif",
        "",
    ]);
    if witnesses > 0 {
        all(&[
            "#if defined(FENCEPOST_ENUMERATE)",
            &format!("static int found[{witnesses}];"),
            "#define witness(number, condition) do { if (condition) found[number] = 1; } while (0)",
            "#else",
            "/* This assertion is expected to fail: a run that violates it is the witness. */",
            "#define witness(number, condition) do { if (!error) assert(!(condition)); } while (0)",
            "#endif",
            "",
        ]);
    }
    all(&["#define in_range(value, lo, hi) ((lo) <= (value) && (value) <= (hi))"]);
    updates(uses, &mut all);
    all(&[""]);
}

/// Writes the macros for the steps of threads.
pub(super) fn steps(has_invariants: bool, out: &mut TextWriter<'_>) {
    let check = if has_invariants { " check(invariants());" } else { "" };
    for line in [
        "",
        "/* A thread stops at its first failure. The other threads must still confirm its guesses. */",
        "#define check(condition) do { if (!(condition)) { error = 1; return; } } while (0)",
        "",
        "/* Before a step, contexts may begin, or the thread may stop. */",
        "#define STEP(begin_context) \\",
        "  while (choose(0, 1)) { \\",
        "    if (choose(0, 1)) return; \\",
        &format!("    begin_context();{check} \\"),
        "  }",
    ] {
        out.line(line);
    }
}

/// Writes the `main` function.
pub(super) fn main(witnesses: usize, out: &mut TextWriter<'_>) {
    let mut all = |lines: &[&str]| lines.iter().for_each(|line| out.line(line));
    all(&[
        "",
        "int main(void) {",
        "#if defined(FENCEPOST_ENUMERATE)",
        "  do {",
        "    if (runs == RUNS) {",
        "      printf(\"no violation in %lu runs; there are more runs\\n\", runs);",
        "      return 2;",
        "    }",
        "    if (!setjmp(again)) {",
        "      reset();",
        "      run();",
        "    }",
        "    runs++;",
        "  } while (next_choices());",
        "  if (cut > 0) {",
        "    printf(\"no violation in %lu runs; %lu runs were cut off\\n\", runs, cut);",
        "    return 2;",
        "  }",
    ]);
    if witnesses > 0 {
        all(&[
            &format!("  for (int number = 0; number < {witnesses}; number++) {{"),
            "    if (!found[number]) violation(\"no witness for a `final exists`\");",
            "  }",
        ]);
    }
    all(&[
        "  printf(\"no violation in %lu runs\\n\", runs);",
        "#else",
        "#if defined(FENCEPOST_RUN)",
        "  srand((unsigned)time(NULL));",
        "#endif",
        "  run();",
        "#if defined(FENCEPOST_REACHABLE)",
        &format!("  assert(0 && \"{END_OF_RUN}\"); /* expected to fail */"),
        "#endif",
        "#endif",
        "  return 0;",
        "}",
    ]);
}
