//! What is printed for a run that no allowed fence prevents: the reason, and what to do.

use crate::paint::printable;
use crate::repair::Subject;
use fencepost_ir::{Atom, Program};
use std::collections::BTreeSet;

/// Returns the names of the included files that have accesses but no places.
fn files_without_places(program: &Program) -> String {
    let code = program.threads.iter().flat_map(|thread| &thread.code);
    let accesses = code.filter(|stmt| stmt.op.address().is_some());
    let files: BTreeSet<&String> =
        accesses.filter_map(|stmt| program.included.get(&stmt.label)).collect();
    let with_places = program.places.iter().filter_map(|p| program.included.get(&p.label));
    let with_places: BTreeSet<&String> = with_places.collect();
    let files = files.difference(&with_places);
    files.map(|file| format!("`{}`", printable(file))).collect::<Vec<_>>().join(", ")
}

/// Returns advice for a run that no candidate prevents. `elsewhere` are the barriers that would
/// prevent the run if they were allowed.
pub fn out_of_reach(subject: &Subject<'_>, elsewhere: &[Atom]) -> String {
    let files = files_without_places(subject.program());
    if elsewhere.is_empty() && !files.is_empty() {
        return format!(
            "  Shared accesses are in included files in which no fence can be inserted: {files}.\n  \
             try: save these files with the encoding UTF-8, and write their accesses as statements \
             of functions, not of macros\n",
        );
    }
    if elsewhere.is_empty() {
        return "  The reordered accesses are in one statement or in one use of a macro; no fence fits \
                between them.\n  try: split it, with one shared access in each statement\n"
            .into();
    }
    let all: Vec<String> = elsewhere.iter().map(|atom| subject.barrier_text(*atom)).collect();
    format!(
        "  Each of these would prevent the run, but is not allowed: {}\n  \
         try: allow one of them (see --forbid, --only-in and --fences)\n",
        all.join(", ")
    )
}
