//! `choose` for tools that explore schedules but no data, such as GenMC and Nidhugg.
//!
//! Such a tool cannot choose a value: GenMC's `__VERIFIER_nondet_int` returns the same sequence in
//! every execution. So the choice is a race. `choose` sets a cell of its thread to 0, starts a
//! thread that counts the cell up to the last value, reads the cell once, and waits for the thread
//! to end. Under SC the read returns each value in some schedule, and nothing else. The choice does
//! not restrict the order of other accesses, because no other thread accesses the cell. Direction:
//! exact.
//!
//! The counting threads have no loops, because a tool that bounds loops would omit values silently.
//! Rejected: one thread per value. Its stores to one cell can be ordered in many ways, and a tool
//! explores all of them.

use super::super::actions::{Action, Env};
use super::super::names::Names;
use super::super::text::TextWriter;
use fencepost_ir::{Problem, ThreadId};
use std::collections::BTreeSet;

/// The largest number of values of a choice by race.
const MAX_VALUES: u64 = 64;

/// The choices of a program.
#[derive(Clone, Debug, Default)]
pub(in crate::export) struct Choices {
    /// For each choice: its largest value minus its smallest one.
    spans: BTreeSet<u64>,
    /// The cell of each thread that chooses. `None` stands for `init`.
    cells: Vec<(Option<ThreadId>, String)>,
}

impl Choices {
    /// Collects the choices of a program, and names their cells.
    pub(super) fn of(problem: &Problem, names: &mut Names) -> Choices {
        let mut choices = Choices::default();
        let program = &problem.program;
        let threads = program.thread_ids().map(|id| (Some(id), program.thread(id)));
        for (id, thread) in program.init.iter().map(|init| (None, init)).chain(threads) {
            let mut chooses = false;
            for stmt in &thread.code {
                if let Action::Choose { lo, hi, .. } = Action::of(&stmt.op, &Env::default()) {
                    choices.spans.insert(hi.abs_diff(lo));
                    chooses = true;
                }
            }
            if chooses {
                let name = id.map_or("init", |id| &names.threads[id.index()]);
                let cell = names.add_global(&format!("choice_{name}"));
                choices.cells.push((id, cell));
            }
        }
        choices
    }

    /// Returns the functions that a program must not redefine.
    pub(super) fn reserved_words(problem: &Problem) -> String {
        let threads = problem.program.threads.iter().chain(&problem.program.init);
        let mut words = String::from("choose_by_race counter last cell value");
        for stmt in threads.flat_map(|thread| &thread.code) {
            if let Action::Choose { lo, hi, .. } = Action::of(&stmt.op, &Env::default()) {
                words += &format!(" count_to_{}", hi.abs_diff(lo));
            }
        }
        words
    }

    /// Returns the cell of a thread; `None` in programs whose `choose` needs no cell.
    pub(super) fn cell(&self, thread: Option<ThreadId>) -> Option<&str> {
        let mut found = self.cells.iter().filter(|(id, _)| *id == thread);
        found.next().map(|(_, name)| name.as_str())
    }

    /// Writes `choose` as a race.
    pub(super) fn write(&self, out: &mut TextWriter<'_>) {
        let values = self.spans.last().map_or(0, |span| span + 1);
        if values > MAX_VALUES {
            out.line(&format!(
                "#error \"a choice of {values} values is too large for tools without data \
                 nondeterminism: use CBMC, or a translation with --buffers\""
            ));
            return;
        }
        out.line(
            "/* A choice by schedule: a thread counts, and the thread that chooses reads once. */",
        );
        out.line("#include <stdatomic.h>");
        for (_, cell) in &self.cells {
            out.line(&format!("static _Atomic int {cell};"));
        }
        for span in &self.spans {
            let parameter = if *span == 0 { "void *unused" } else { "void *cell" };
            out.open(&format!("static void *count_to_{span}({parameter}) {{"));
            if *span == 0 {
                out.line("(void)unused;");
            }
            for value in 1..=*span {
                out.line(&format!("atomic_store((_Atomic int *)cell, {value});"));
            }
            out.line("return NULL;");
            out.close("}");
        }
        out.open("static int choose_by_race(_Atomic int *cell, int last) {");
        out.line("pthread_t counter;");
        out.line("int value;");
        out.line("atomic_store(cell, 0);");
        let mut function = String::new();
        for (at, span) in self.spans.iter().enumerate() {
            match at + 1 == self.spans.len() {
                true => function += &format!("count_to_{span}"),
                false => function += &format!("last == {span} ? count_to_{span} : "),
            }
        }
        if self.spans.len() == 1 {
            out.line("(void)last;");
        }
        out.line(&format!("pthread_create(&counter, NULL, {function}, cell);"));
        out.line("value = atomic_load(cell);");
        out.line("pthread_join(counter, NULL);");
        out.line("return value;");
        out.close("}");
        out.line("#define choose(cell, lo, hi) ((lo) + choose_by_race(&cell, (int)((hi) - (lo))))");
    }
}
