//! Lowering: translates the checked tree to the program representation, one program for each
//! client.
//!
//! - Every shared access is a separate statement. Expressions are evaluated from left to right,
//!   into temporaries where necessary.
//! - Calls are inlined. If a parameter is never assigned and its argument is a constant or a
//!   register, uses of the parameter read the argument. Otherwise the argument is copied.
//! - A jump is not a statement. Statements that only jump and unreachable statements are removed at
//!   the end.
//! - A label is identified by source position and kind of operation. All programs of a file share
//!   their labels.

mod array;
mod call;
mod client;
mod condition;
mod control_point;
mod either;
mod expr;
mod labels;
mod layout;
mod order;
mod place;
mod stmt;
mod switch;
mod thread;
mod wait;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use fencepost_ir::rotate_waits::rotate_waits;
use fencepost_ir::{
    AccessOrder, Diagnostics, Label, LabelInfo, Observable, Op, Place, Problem, Program, Property,
    Span, Stmt, Thread, ThreadId,
};

use super::client::START;
use super::codes;
use super::limits;
use super::names::too_many;
use super::tree::{Claim, Client, Unit};
use crate::Request;
use client::ClientPlan;
use condition::Conditions;
use labels::Labels;
use layout::Layout;
use thread::Lowerer;

/// The state of lowering that all threads of a file share.
struct Context<'a> {
    unit: &'a Unit,
    layout: &'a Layout,
    labels: Labels<'a>,
    /// The places for fences by label, if the request asks for places.
    places: Option<BTreeMap<Label, Place>>,
    /// The orders of accesses.
    orders: BTreeMap<Label, AccessOrder>,
    /// The fences and branches that implement orders.
    implied: BTreeSet<Label>,
    /// Whether the places include accesses whose order can be changed.
    marks_orders: bool,
    diagnostics: &'a mut Diagnostics,
    /// The diagnostics that are reported once, not for each instance of a template.
    reported: BTreeSet<(&'static str, Span)>,
    /// The size of everything built so far, see [`limits::TOTAL`].
    built: u64,
    /// The size of the conditions of one program.
    conditions: u64,
}

/// Estimates the size of the conditions by the length of their text. Each client has a copy of the
/// conditions.
fn conditions_size(unit: &Unit) -> u64 {
    let claims = unit.claims.iter().map(|claim| match claim {
        Claim::Final(_, cond) | Claim::Invariant(cond) => cond.span,
        Claim::MutualExclusion
        | Claim::DeadlockFree
        | Claim::MayHang
        | Claim::Progress
        | Claim::Operations(..) => Span::default(),
    });
    let all = claims.chain(unit.observe.iter().map(|expr| expr.span));
    all.map(|span| u64::from(span.end - span.start)).sum()
}

/// Lowers a checked file. The result is valid only if no error was reported.
///
/// The programs have places for fences if the request asks for them.
pub fn lower(
    unit: &Unit,
    source: &str,
    request: &Request<'_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Problem> {
    let layout = Layout::new(unit);
    let mut context = Context {
        unit,
        layout: &layout,
        labels: Labels::new(source),
        places: request.places.then(BTreeMap::new),
        orders: BTreeMap::new(),
        implied: BTreeSet::new(),
        marks_orders: request.orders,
        diagnostics,
        reported: BTreeSet::new(),
        built: 0,
        conditions: conditions_size(unit),
    };
    let threads = context.templates();
    if context.diagnostics.has_errors() {
        return Vec::new();
    }
    let none = [None];
    let clients: Vec<Option<&Client>> = unit.clients.iter().map(Some).collect();
    let clients = if clients.is_empty() { &none[..] } else { &clients[..] };
    let mut problems = Vec::new();
    for client in clients {
        if let Some(problem) = context.problem(*client, &threads) {
            problems.push(problem);
        }
        if context.diagnostics.has_errors() {
            break;
        }
    }
    context.finish(&mut problems);
    problems
}

impl Context<'_> {
    /// Adds to the total size. Reports an error if the total exceeds its limit.
    fn spend(&mut self, amount: u64, span: Span) -> bool {
        let before = self.built;
        self.built = self.built.saturating_add(amount);
        if self.built > limits::TOTAL && before <= limits::TOTAL {
            self.diagnostics
                .error(codes::TOO_LARGE, span, "the programs of this file are too large in total")
                .label("the limit is exceeded here")
                .hint("use fewer threads, or move some clients to another file");
        }
        self.built <= limits::TOTAL
    }

    /// Lowers the threads of all templates.
    fn templates(&mut self) -> Vec<Thread> {
        let total: u64 = self.unit.templates.iter().map(|t| t.instances()).sum();
        if total > limits::THREADS {
            let span = self.unit.templates.last().map(|t| t.body.close).unwrap_or_default();
            too_many(self.diagnostics, span, "threads", total, limits::THREADS);
            return Vec::new();
        }
        let mut threads = Vec::new();
        for template in &self.unit.templates {
            match template.param {
                None => threads.push(Lowerer::template(self, template, None)),
                Some((lo, hi)) => {
                    for value in lo..=hi {
                        threads.push(Lowerer::template(self, template, Some(value)));
                    }
                }
            }
        }
        threads
    }

    fn problem(&mut self, client: Option<&Client>, templates: &[Thread]) -> Option<Problem> {
        let mut threads = templates.to_vec();
        let mut results = Vec::new();
        let mut init = self.unit.init.is_some();
        let mut plan = None;
        let mut kept = Vec::new();
        let mut operations = None;
        let runs_last = self.unit.finally.is_some() || client.is_some_and(|c| !c.last.is_empty());
        if let Some(client) = client {
            let client_plan = ClientPlan::new(self.unit, client, templates.len());
            init |= !client.first.is_empty();
            let total = (templates.len() + client.threads.len()) as u64;
            if total > limits::THREADS {
                too_many(self.diagnostics, client.span, "threads", total, limits::THREADS);
                return None;
            }
            let consistency = self.unit.consistency();
            for (at, uses) in client_plan.threads.iter().enumerate() {
                let thread = Lowerer::client(self, &client_plan, at, consistency, client.span);
                threads.push(thread.thread);
                results.extend(client::results(uses, &thread.kept, client_plan.id(at)));
                kept.push(thread.kept);
            }
            results.extend(client::results_of_init(&client_plan.first));
            plan = Some(client_plan);
        }
        if threads.is_empty() {
            self.diagnostics.error(codes::EMPTY, START, "there is no thread to run").hint(
                if self.unit.procs.iter().any(|p| p.letter.is_some()) {
                    "add a `client` that calls operations, or give one with `--client`"
                } else {
                    "add a `thread`, or a `client` that calls operations"
                },
            );
            return None;
        }
        if runs_last {
            let uses = plan.as_ref().map_or(&[][..], |plan| plan.last.as_slice());
            let id = ThreadId::from_index(threads.len());
            let total = threads.len() as u64 + 1;
            if total > limits::THREADS {
                let span = client.map_or(START, |c| c.span);
                too_many(self.diagnostics, span, "threads", total, limits::THREADS);
                return None;
            }
            let last = Lowerer::last_thread(self, uses);
            results.extend(client::results(uses, &last.kept, id));
            threads.push(last.thread);
            kept.push(last.kept);
        }
        if let (Some(client), Some(plan)) = (client, &plan) {
            operations = self.operations(plan, &kept, client);
        }
        let first = plan.as_ref().map(|p| p.first.as_slice());
        let mut init = init.then(|| Lowerer::init(self, first, &[]));
        let mut locations = self.layout.locations.clone();
        // Without choices, the operations before the threads have only one result.
        let chooses = |init: &Thread| init.code.iter().any(|s| matches!(s.op, Op::Choose { .. }));
        if let (Some(operations), Some(first)) = (&mut operations, first)
            && init.as_ref().is_some_and(chooses)
        {
            let results = client::first_results(first, &mut locations);
            operations.first = results.iter().copied().flatten().collect();
            init = Some(Lowerer::init(self, Some(first), &results));
        }
        threads.iter_mut().for_each(rotate_waits);
        let program = Program {
            locations,
            pools: self.layout.pools.clone(),
            init,
            threads,
            labels: Vec::new(),
            places: Vec::new(),
            ..Program::default()
        };
        let copied: usize = templates.iter().map(|t| t.code.len() + t.registers.len()).sum();
        let size = copied as u64 + self.layout.size + self.labels.len() as u64;
        let span = client.map_or(START, |c| c.span);
        if !self.spend(size + self.conditions, span) {
            return None;
        }
        let text = client.map(|c| c.text.as_str());
        let conditions = Conditions {
            unit: self.unit,
            layout: self.layout,
            results: &results,
            operations: operations.as_ref(),
            client: text,
        };
        let name = text.unwrap_or_default().to_string();
        let mut problem = Problem { name, program, ..Problem::default() };
        if self.unit.asserts {
            problem.properties.push(Property::Assertions);
        }
        conditions.add_to(&mut problem, &self.labels, self.diagnostics);
        Some(problem)
    }

    /// Removes unused labels and stores the same label table in all problems.
    fn finish(mut self, problems: &mut [Problem]) {
        let places = self.places.take().unwrap_or_default();
        let mut used = vec![false; self.labels.len()];
        for problem in problems.iter_mut() {
            for stmt in all_code(problem).into_iter().flatten() {
                used[stmt.label.index()] = true;
            }
            for (_, label) in problem.control_points() {
                used[label.index()] = true;
            }
        }
        let mut renamed = Vec::with_capacity(used.len());
        let mut kept: Vec<LabelInfo> = Vec::new();
        for (info, used) in self.labels.into_infos().into_iter().zip(&used) {
            renamed.push(Label::from_index(kept.len()));
            if *used {
                kept.push(info);
            }
        }
        let places =
            place::renumbered(places, |label| used[label.index()].then(|| renamed[label.index()]));
        let keep = |label: &Label| used[label.index()].then(|| renamed[label.index()]);
        let ordered = self.orders.iter().filter(|(_, order)| **order != AccessOrder::PLAIN);
        let orders: BTreeMap<Label, AccessOrder> =
            ordered.filter_map(|(label, order)| Some((keep(label)?, *order))).collect();
        let implied: BTreeSet<Label> = self.implied.iter().filter_map(keep).collect();
        for problem in problems {
            problem.program.orders.clone_from(&orders);
            problem.program.implied.clone_from(&implied);
            for stmt in all_code(problem).into_iter().flatten() {
                stmt.label = renamed[stmt.label.index()];
            }
            for property in &mut problem.properties {
                if let Property::Invariant(condition) = property {
                    condition.expr.for_each_var_mut(&mut |what| {
                        if let Observable::At(_, label) = what {
                            *label = renamed[label.index()];
                        }
                    });
                }
            }
            problem.program.labels = kept.clone();
            problem.program.places = places.clone();
        }
    }
}

/// Returns the code of all threads, of `init`, and of isolated operations.
fn all_code(problem: &mut Problem) -> Vec<&mut Vec<Stmt>> {
    let Program { threads, init, .. } = &mut problem.program;
    let mut all: Vec<&mut Vec<Stmt>> =
        threads.iter_mut().chain(init).map(|t| &mut t.code).collect();
    for property in &mut problem.properties {
        match property {
            Property::Operations(operations) => {
                let uses = operations.threads.iter_mut().flat_map(|(_, uses)| uses);
                all.extend(uses.map(|operation| &mut operation.body.code));
            }
            Property::Assertions
            | Property::MutualExclusion
            | Property::DeadlockFree
            | Property::Progress
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::Invariant(_) => {}
        }
    }
    all
}
