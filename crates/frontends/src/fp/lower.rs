//! From the checked tree to the program representation: one program for each client.
//!
//! - Every shared access is a statement of its own; expressions are evaluated from left to right
//!   into temporaries where they must be.
//! - Calls are inlined. A parameter that is never assigned and receives a constant or a register is
//!   not copied: its uses read the argument.
//! - A jump is no statement. What only leads on is removed at the end, as is what cannot be reached.
//! - Labels are given by source position and kind of operation, and are the same in all programs of
//!   a file.

mod call;
mod code;
mod condition;
mod expr;
mod labels;
mod layout;
mod stmt;
mod thread;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use fencepost_ir::{Diagnostics, LabelInfo, Problem, Program, Property, Span, Thread, ThreadId};

use super::codes;
use super::limits;
use super::names::too_many;
use super::tree::{Claim, Client, Unit};
use condition::Conditions;
use labels::Labels;
use layout::Layout;
use thread::{ClientThread, Lowerer};

/// What lowering keeps while it works on the threads of a file.
struct Context<'a> {
    unit: &'a Unit,
    layout: &'a Layout,
    labels: Labels<'a>,
    diagnostics: &'a mut Diagnostics,
    /// Warnings that were given; instances of a template share them.
    warned: BTreeSet<(&'static str, Span)>,
    /// How much was built, see [`limits::TOTAL`].
    built: u64,
    /// How much the conditions of one program weigh.
    claims: u64,
}

/// The beginning of the file.
const START: Span = Span { start: 0, end: 0, line: 1, column: 1 };

/// Conditions are copied for each client; their text is about as large as they are.
fn weight_of_claims(unit: &Unit) -> u64 {
    let claims = unit.claims.iter().map(|claim| match claim {
        Claim::Final(_, cond) | Claim::Invariant(cond) => cond.span,
        Claim::MutualExclusion | Claim::DeadlockFree => Span::default(),
    });
    let all = claims.chain(unit.observe.iter().map(|expr| expr.span));
    all.map(|span| u64::from(span.end - span.start)).sum()
}

/// The programs of a checked file. Of use only if no error was reported.
pub fn lower(unit: &Unit, source: &str, diagnostics: &mut Diagnostics) -> Vec<Problem> {
    let layout = Layout::new(unit);
    let mut context = Context {
        unit,
        layout: &layout,
        labels: Labels::new(source),
        diagnostics,
        warned: BTreeSet::new(),
        built: 0,
        claims: weight_of_claims(unit),
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
    /// Takes from the budget for everything that is built; reports when it is used up.
    fn spend(&mut self, amount: u64, span: Span) -> bool {
        let before = self.built;
        self.built = self.built.saturating_add(amount);
        if self.built > limits::TOTAL && before <= limits::TOTAL {
            self.diagnostics
                .error(codes::TOO_LARGE, span, "the programs of this file are too large together")
                .label("up to this one")
                .hint("use fewer threads, or put clients into files of their own");
        }
        self.built <= limits::TOTAL
    }

    /// The threads of all templates.
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
        if let Some(client) = client {
            let made = ClientThread::plan(self.unit, client);
            init |= !client.first.is_empty();
            let total = (templates.len() + client.threads.len()) as u64;
            if total > limits::THREADS {
                too_many(self.diagnostics, client.span, "threads", total, limits::THREADS);
                return None;
            }
            for (at, part) in made.threads.iter().enumerate() {
                let id = ThreadId::from_index(threads.len());
                threads.push(Lowerer::client(self, format!("client({at})"), part, client.span));
                results.extend(part.results(id));
            }
            results.extend(made.first.results_of_init());
            plan = Some(made);
        }
        if threads.is_empty() {
            self.diagnostics
                .error(codes::EMPTY, START, "there is nothing to run")
                .hint("add a `thread`, or a `client` that calls operations");
            return None;
        }
        let init = init.then(|| Lowerer::init(self, plan.as_ref().map(|p| &p.first)));
        let program = Program {
            locations: self.layout.locations.clone(),
            pools: self.layout.pools.clone(),
            init,
            threads,
            labels: Vec::new(),
            places: Vec::new(),
        };
        let copied: usize = templates.iter().map(|t| t.code.len() + t.registers.len()).sum();
        let weight = copied as u64 + self.layout.weight + self.labels.len() as u64;
        let span = client.map_or(START, |c| c.span);
        if !self.spend(weight + self.claims, span) {
            return None;
        }
        let text = client.map(|c| c.text.as_str());
        let (claims, observed) =
            Conditions { unit: self.unit, layout: self.layout, results: &results, client: text }
                .all(&program, &self.labels, self.diagnostics);
        let mut properties = Vec::new();
        if self.unit.asserts {
            properties.push(Property::Assertions);
        }
        properties.extend(claims);
        Some(Problem { name: text.unwrap_or_default().to_string(), program, properties, observed })
    }

    /// Gives all problems the same table of labels, without those that nothing uses.
    fn finish(self, problems: &mut [Problem]) {
        let mut used = vec![false; self.labels.len()];
        for problem in problems.iter() {
            for thread in problem.program.threads.iter().chain(&problem.program.init) {
                for stmt in &thread.code {
                    used[stmt.label.index()] = true;
                }
            }
        }
        let mut renamed = Vec::with_capacity(used.len());
        let mut kept: Vec<LabelInfo> = Vec::new();
        for (info, used) in self.labels.into_infos().into_iter().zip(used) {
            renamed.push(fencepost_ir::Label::from_index(kept.len()));
            if used {
                kept.push(info);
            }
        }
        for problem in problems {
            for thread in problem.program.threads.iter_mut().chain(&mut problem.program.init) {
                for stmt in &mut thread.code {
                    stmt.label = renamed[stmt.label.index()];
                }
            }
            problem.program.labels = kept.clone();
        }
    }
}
