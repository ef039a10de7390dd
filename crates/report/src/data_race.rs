//! Data races as text and as JSON.

use crate::paint::{counted, printable};
use crate::wording::{place, statement};
use fencepost_engines::RaceSearch;
use fencepost_ir::{DataRace, Program, RacingAccess};
use fencepost_search::Stop;
use serde::Serialize;

/// What to do about a data race.
pub const HINT: &str = "protect both accesses with a mutex, or make them atomic; if another access \
     should order them, give it release and acquire order";

/// Describes a data race in one sentence.
pub fn describe_race(program: &Program, race: DataRace) -> String {
    let [first, second] = race.accesses.map(|access| describe_access(program, access));
    let location = printable(&program.location(race.loc).name);
    format!("data race: {first} and {second} access `{location}` without synchronisation")
}

fn describe_access(program: &Program, access: RacingAccess) -> String {
    let RacingAccess { thread, label, .. } = access;
    format!(
        "`{}` ({}, {}{} by thread {})",
        statement(program, label, 60),
        place(program, label),
        if access.is_plain { "" } else { "atomic " },
        kind_word(access),
        printable(&program.thread(thread).name)
    )
}

fn kind_word(access: RacingAccess) -> &'static str {
    if access.writes { "write" } else { "read" }
}

/// Says what a search without a race did not explore. Returns none if it explored everything.
pub fn incomplete_note(search: &RaceSearch) -> Option<String> {
    let explored = counted(search.executions, "execution");
    let before = |limit: &str| format!("races: no race found before the {limit}");
    Some(match search.stopped? {
        Stop::States => format!("races: no race in the first {explored}"),
        Stop::Depth => format!("races: no race in {explored}, but long ones are cut"),
        Stop::Time => before("time limit"),
        Stop::Memory => before("memory limit"),
        Stop::Interrupted => before("interruption"),
    })
}

/// A data race as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RaceRecord {
    /// The race in one sentence.
    pub message: String,
    /// The location.
    pub location: String,
    /// The two accesses, in the order of an execution.
    pub accesses: [RacingAccessRecord; 2],
}

/// An access of a data race as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RacingAccessRecord {
    /// The thread's name.
    pub thread: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The source text.
    pub text: String,
    /// `read` or `write`.
    pub kind: &'static str,
    /// Whether the access is atomic or volatile.
    pub atomic: bool,
}

impl RaceRecord {
    /// Returns the record of a race.
    pub fn new(program: &Program, race: DataRace) -> Self {
        let access = |access: RacingAccess| {
            let info = program.label(access.label);
            RacingAccessRecord {
                thread: program.thread(access.thread).name.clone(),
                line: info.span.line,
                column: info.span.column,
                text: info.text.clone(),
                kind: kind_word(access),
                atomic: !access.is_plain,
            }
        };
        RaceRecord {
            message: describe_race(program, race),
            location: program.location(race.loc).name.clone(),
            accesses: race.accesses.map(access),
        }
    }
}
