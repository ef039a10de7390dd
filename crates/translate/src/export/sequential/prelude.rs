//! What stands around every sequential C program: what a verifier provides, and for those who have none, a driver
//! that tries all choices one after another.

use super::super::c::Uses;
use super::super::c::prelude::updates;
use super::super::text::Text;

/// What a name must not be, besides the words of all C programs.
pub(super) const WORDS: &str = "\
    again before check cut error exists found invariants jmp_buf known leave_place longjmp made most \
    next_choices next_place now offer PLACES THREADS reset run runs setjmp STEP stderr stdout taken thread used \
    violation witness CHOICES RUNS";

/// How the program works, for the comment at its head.
pub(super) fn about(out: &mut Text<'_>) {
    for line in [
        "",
        "The threads run one after another. Their contexts have places in the order of the run that is meant; place 0",
        "is its beginning. A thread takes one place for each of its contexts. Of every shared variable x there is a",
        "copy for each place: x_at. Where the place before has not been taken yet, what x holds is guessed (x_guess);",
        "who takes that place must leave just this, or the run does not count. So what fails on the way is only",
        "noted in `error`, and asserted when all guesses are confirmed. Before each STEP a thread may begin contexts,",
        "or stop for good.",
        "",
        "CBMC is recognised; for other verifiers: -DFENCEPOST_VERIFIER. Without any: -DFENCEPOST_ENUMERATE makes a",
        "program that tries all choices and prints what it finds; it ends with 0 if there is no violation, 1 if there",
        "is one, 2 if it cannot tell. Else it is one random run, which shows little.",
        "Overflow is a fault of the program, too: let the verifier check for it.",
    ] {
        out.line(format!(" * {line}").trim_end());
    }
}

/// The head of the program.
pub(super) fn write(uses: Uses, any_number: bool, witnesses: usize, out: &mut Text<'_>) {
    let mut all = |lines: &[&str]| lines.iter().for_each(|line| out.line(line));
    all(&[
        "#if defined(__CPROVER__)",
        "#include <assert.h>",
        "#define assume(condition) __CPROVER_assume(condition)",
        "int nondet_int(void);",
        "#elif defined(FENCEPOST_VERIFIER)",
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
        "/* The run ends, and does not count. */",
        "#define assume(condition) do { if (!(condition)) exit(0); } while (0)",
        "#define FENCEPOST_RUN",
        "#endif",
        "",
        "#if defined(FENCEPOST_ENUMERATE)",
        "#if !defined(CHOICES)",
        "#define CHOICES 1000  /* A run with more choices is cut. */",
        "#endif",
        "#if !defined(RUNS)",
        "#define RUNS 1000000000UL  /* There are no more runs than these. */",
        "#endif",
        "static jmp_buf again;",
        "static unsigned long runs, cut;",
        "/* The choices of this run: what is taken and what is the most; made so far, and known from before. */",
        "static unsigned taken[CHOICES], most[CHOICES];",
        "static int made, known;",
        "/* The run ends, and does not count. */",
        "#define assume(condition) do { if (!(condition)) longjmp(again, 1); } while (0)",
        "#define assert(condition) do { if (!(condition)) violation(#condition); } while (0)",
        "static void violation(const char *what) {",
        "  printf(\"violation in run %lu: %s\\n\", runs + 1, what);",
        "  exit(1);",
        "}",
        "static int choose(int lo, int hi) {",
        "  assume(lo <= hi);",
        "  if (made == CHOICES) {",
        "    cut++;",
        "    longjmp(again, 1);",
        "  }",
        "  if (made == known) {",
        "    taken[known] = 0;",
        "    most[known++] = (unsigned)hi - (unsigned)lo;",
        "  }",
        "  return (int)((unsigned)lo + taken[made++]);",
        "}",
        "/* The next choices, like an odometer. Whether there are any. */",
        "static int next_choices(void) {",
        "  known = made;",
        "  made = 0;",
        "  while (known > 0 && taken[known - 1] == most[known - 1]) known--;",
        "  if (known > 0) taken[known - 1]++;",
        "  return known > 0;",
        "}",
    ]);
    if any_number {
        all(&[
            "static int nondet_int(void) {",
            "  printf(\"a guess without limits cannot be enumerated: declare ranges\\n\");",
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
            "/* This assertion is meant to fail: a run that breaks it is the witness. */",
            "#define witness(number, condition) do { if (!error) assert(!(condition)); } while (0)",
            "#endif",
            "",
        ]);
    }
    all(&["#define in_range(value, lo, hi) ((lo) <= (value) && (value) <= (hi))"]);
    updates(uses, &mut all);
    all(&[""]);
}

/// How threads make steps.
pub(super) fn steps(is_watching: bool, out: &mut Text<'_>) {
    let check = if is_watching { " check(invariants());" } else { "" };
    for line in [
        "",
        "/* A thread in which something fails stops; the others still have to confirm its guesses. */",
        "#define check(condition) do { if (!(condition)) { error = 1; return; } } while (0)",
        "",
        "/* Before a step: contexts may begin, or the thread may stop for good. */",
        "#define STEP(begin_context) \\",
        "  while (choose(0, 1)) { \\",
        "    if (choose(0, 1)) return; \\",
        &format!("    begin_context();{check} \\"),
        "  }",
    ] {
        out.line(line);
    }
}

/// The function where it all begins.
pub(super) fn main(witnesses: usize, out: &mut Text<'_>) {
    let mut all = |lines: &[&str]| lines.iter().for_each(|line| out.line(line));
    all(&[
        "",
        "int main(void) {",
        "#if defined(FENCEPOST_ENUMERATE)",
        "  do {",
        "    if (runs == RUNS) {",
        "      printf(\"no violation in %lu runs; there are more\\n\", runs);",
        "      return 2;",
        "    }",
        "    if (!setjmp(again)) {",
        "      reset();",
        "      run();",
        "    }",
        "    runs++;",
        "  } while (next_choices());",
        "  if (cut > 0) {",
        "    printf(\"no violation in %lu runs; %lu were cut\\n\", runs, cut);",
        "    return 2;",
        "  }",
    ]);
    if witnesses > 0 {
        all(&[
            &format!("  for (int number = 0; number < {witnesses}; number++) {{"),
            "    if (!found[number]) violation(\"a state that must exist does not\");",
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
        "#endif",
        "  return 0;",
        "}",
    ]);
}
