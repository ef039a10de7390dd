//! Why a run is not sequentially consistent: a cycle of happens-before.

use crate::paint::{Paint, printable};
use crate::trace::TraceRows;
use crate::wording::{place, statement};
use fencepost_engines::happens_before::{Edge, EdgeKind, Node, cycle};
use fencepost_ir::Program;
use serde::Serialize;

/// One edge of the cycle, as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LinkRecord {
    /// The thread of the first access.
    pub from_thread: String,
    /// The line of the first access.
    pub from_line: u32,
    /// The thread of the second access.
    pub to_thread: String,
    /// The line of the second access.
    pub to_line: u32,
    /// `program-order`, `reads-from`, `reads-before` or `written-before`.
    #[serde(rename = "because")]
    pub kind: &'static str,
}

/// Returns a happens-before cycle of a run; empty if the run is sequentially consistent. The cycle
/// starts with the program-order edge whose first access is issued earliest in the run.
fn happens_before_cycle(trace_rows: &TraceRows<'_>) -> Vec<Edge> {
    let mut links = cycle(trace_rows.problem, &trace_rows.run).unwrap_or_default();
    let in_order = |link: &Edge| link.kind == EdgeKind::ProgramOrder;
    let first = (links.iter().enumerate().filter(|(_, link)| in_order(link)))
        .min_by_key(|(_, link)| link.from.step);
    if let Some((at, _)) = first {
        links.rotate_left(at);
    }
    links
}

/// Returns the cycle as JSON records.
pub fn records(trace_rows: &TraceRows<'_>) -> Vec<LinkRecord> {
    let program = &trace_rows.problem.program;
    let thread = |node: Node| program.thread(node.thread).name.clone();
    let line = |node: Node| program.label(node.label).span.line;
    let record = |link: &Edge| LinkRecord {
        from_thread: thread(link.from),
        from_line: line(link.from),
        to_thread: thread(link.to),
        to_line: line(link.to),
        kind: match link.kind {
            EdgeKind::ProgramOrder => "program-order",
            EdgeKind::ReadsFrom => "reads-from",
            EdgeKind::FromRead => "reads-before",
            EdgeKind::Coherence => "written-before",
        },
    };
    happens_before_cycle(trace_rows).iter().map(record).collect()
}

/// Formats thread and line of an access: `p(0):7`.
fn at(program: &Program, node: Node) -> String {
    format!("{}{}", printable(&program.thread(node.thread).name), place(program, node.label))
}

/// Formats an access with its source text.
fn access_text(program: &Program, node: Node) -> String {
    format!("{} `{}`", at(program, node), statement(program, node.label, 40))
}

/// Returns one line for each edge of the cycle.
fn lines(trace_rows: &TraceRows<'_>) -> Vec<String> {
    let program = &trace_rows.problem.program;
    let line = |link: &Edge| {
        let (from, to) = (access_text(program, link.from), access_text(program, link.to));
        match link.kind {
            EdgeKind::ProgramOrder => format!("{from} is before {to} in program order,"),
            EdgeKind::ReadsFrom => format!("{to} reads the value of {from},"),
            EdgeKind::FromRead => format!("{from} reads before {to} writes,"),
            EdgeKind::Coherence => format!("{from} writes before {to} overwrites it,"),
        }
    };
    let links = happens_before_cycle(trace_rows);
    let mut lines: Vec<String> = links.iter().map(line).collect();
    if let (Some(last), Some(first)) = (lines.last_mut(), links.first()) {
        last.pop();
        last.push_str(&format!(": so {} happens before itself.", at(program, first.from)));
    }
    lines
}

/// Returns the text of the cycle, to be printed below the picture of the run.
pub fn cycle_text(trace_rows: &TraceRows<'_>, paint: Paint) -> String {
    let head =
        format!("  {}\n", paint.strong("Not sequentially consistent (happens-before cycle):"));
    lines(trace_rows).iter().fold(head, |text, line| format!("{text}    {line}\n"))
}

/// Describes the first reordering of the cycle in one sentence.
pub fn describe_reordering(trace_rows: &TraceRows<'_>) -> String {
    let program = &trace_rows.problem.program;
    let links = happens_before_cycle(trace_rows);
    let is_reordered = |link: &&Edge| link.kind == EdgeKind::ProgramOrder;
    match links.iter().find(is_reordered) {
        Some(link) => format!(
            "{} is observably reordered before {}",
            access_text(program, link.to),
            access_text(program, link.from)
        ),
        None => "a run is not sequentially consistent".into(),
    }
}
