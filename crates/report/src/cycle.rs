//! Why a run is not sequentially consistent: accesses that come before each other in a circle.

use crate::paint::{Paint, printable};
use crate::trace::Story;
use crate::wording::{place, statement};
use fencepost_engines::happens::{Because, Link, Node, cycle};
use fencepost_ir::Program;
use serde::Serialize;

/// One edge of the circle, for programs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LinkRecord {
    /// The thread of the access that comes before.
    pub from_thread: String,
    /// Its line.
    pub from_line: u32,
    /// The thread of the access that comes after.
    pub to_thread: String,
    /// Its line.
    pub to_line: u32,
    /// `program-order`, `reads-from`, `reads-before` or `written-before`.
    pub because: &'static str,
}

/// The circle of a run; empty if it is sequentially consistent. It begins with the first access that is late.
fn circle(story: &Story<'_>) -> Vec<Link> {
    let mut links = cycle(story.problem, &story.run).unwrap_or_default();
    let in_order = |link: &Link| link.because == Because::ProgramOrder;
    let first = (links.iter().enumerate().filter(|(_, link)| in_order(link)))
        .min_by_key(|(_, link)| link.from.moment);
    if let Some((at, _)) = first {
        links.rotate_left(at);
    }
    links
}

/// The same for programs.
pub fn records(story: &Story<'_>) -> Vec<LinkRecord> {
    let program = &story.problem.program;
    let thread = |node: Node| program.thread(node.thread).name.clone();
    let line = |node: Node| program.label(node.label).span.line;
    let record = |link: &Link| LinkRecord {
        from_thread: thread(link.from),
        from_line: line(link.from),
        to_thread: thread(link.to),
        to_line: line(link.to),
        because: match link.because {
            Because::ProgramOrder => "program-order",
            Because::ReadsFrom => "reads-from",
            Because::ReadsBefore => "reads-before",
            Because::WrittenBefore => "written-before",
        },
    };
    circle(story).iter().map(record).collect()
}

/// Where an access is: `p(0):7`.
fn at(program: &Program, node: Node) -> String {
    format!("{}{}", printable(&program.thread(node.thread).name), place(program, node.label))
}

/// An access: `p(0):7` with its text.
fn shown(program: &Program, node: Node) -> String {
    format!("{} `{}`", at(program, node), statement(program, node.label, 40))
}

/// The circle, a line for each edge.
fn lines(story: &Story<'_>) -> Vec<String> {
    let program = &story.problem.program;
    let line = |link: &Link| {
        let (from, to) = (shown(program, link.from), shown(program, link.to));
        match link.because {
            Because::ProgramOrder => format!("{from} comes before {to} in program order,"),
            Because::ReadsFrom => format!("{to} read what {from} wrote,"),
            Because::ReadsBefore => format!("{from} read before {to} wrote,"),
            Because::WrittenBefore => format!("{from} wrote before {to} wrote over it,"),
        }
    };
    let links = circle(story);
    let mut lines: Vec<String> = links.iter().map(line).collect();
    if let (Some(last), Some(first)) = (lines.last_mut(), links.first()) {
        last.pop();
        last.push_str(&format!(": so {} comes before itself.", at(program, first.from)));
    }
    lines
}

/// The same below a picture.
pub fn told(story: &Story<'_>, paint: Paint) -> String {
    let head = format!("  {}\n", paint.strong("Not sequentially consistent:"));
    lines(story).iter().fold(head, |text, line| format!("{text}    {line}\n"))
}

/// What happens, in one sentence.
pub fn sentence(story: &Story<'_>) -> String {
    let program = &story.problem.program;
    let links = circle(story);
    let overtakes = |link: &&Link| link.because == Because::ProgramOrder;
    match links.iter().find(overtakes) {
        Some(link) => format!(
            "{} goes ahead of {}, and others can tell",
            shown(program, link.to),
            shown(program, link.from)
        ),
        None => "a run is not sequentially consistent".into(),
    }
}
