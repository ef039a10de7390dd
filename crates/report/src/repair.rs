//! The answer of inference as text: the verdict, the position of each fence, and a trace that shows
//! what breaks without the fence.
//!
//! Line numbers refer to the original source, before any fence was added. Every run is replayed on
//! the program in which it was found: the source with the fences of that query.

use crate::paint::{Paint, counted, printable};
use crate::picture::run_text;
use crate::trace::TraceRows;
use crate::verdict_line::{
    ROBUST, advice_for, context_bound_text, count_unit, definition_note, explain, shown,
};
use crate::violation::describe_claim;
use crate::wording::{self, statement};
use fencepost_engines::{
    Bound, Decider, Evidence, Inconclusive, InconclusiveReason, RobustDefinition, Statistics,
};
use fencepost_frontends::FenceSyntax;
use fencepost_infer::candidates::Candidates;
use fencepost_infer::repair::{Constraints, GaveUp, Inference, Repair, Sufficiency, Unrepairable};
use fencepost_ir::{
    Atom, Barrier, FenceKinds, Label, Place, PlaceId, Placement, Problem, WrittenFences, placement,
};
use fencepost_models::{ModelSpec, Reductions};
use std::borrow::Cow;
use std::fmt::Write;

/// The maximal length of a statement that is shown with a fence.
pub(crate) const MAX_STATEMENT: usize = 40;

/// The input of an inference.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The name of the source file.
    pub file: &'a str,
    /// The memory model.
    pub model: &'a ModelSpec,
    /// The inference method.
    pub method: &'a str,
    /// The engine that verifies placements.
    pub engine: &'a str,
    /// The definition of robustness, if the engine decides robustness.
    pub definition: Option<RobustDefinition>,
    /// The problems, with places and without new fences.
    pub problems: &'a [Problem],
    /// The fences that may be placed.
    pub candidates: &'a Candidates,
    /// The fence syntax of the source language.
    pub fences: &'a FenceSyntax,
    /// The reductions of the search.
    pub reductions: Reductions,
}

/// A violation of a problem with a given placement of fences.
#[derive(Clone, Debug)]
pub struct FencedRun<'a> {
    /// The problem with the fences.
    pub problem: Problem,
    /// The memory model.
    pub model: &'a ModelSpec,
    /// The violation and its run.
    pub evidence: &'a Evidence,
}

impl FencedRun<'_> {
    /// Returns the rows of the run; none when the evidence has no run.
    pub fn trace_rows(&self) -> Option<TraceRows<'_>> {
        Some(TraceRows::new(&self.problem, Cow::Borrowed(self.evidence.run()?)))
    }

    /// Describes the violation in one sentence.
    pub fn message(&self) -> String {
        describe_claim(&self.problem, self.evidence.violation().into(), self.trace_rows().as_ref())
    }

    /// Returns the picture of the run, with its heading and reasons.
    pub fn picture(&self, name: &str, paint: Paint) -> String {
        let Some(trace_rows) = self.trace_rows() else {
            return format!("{name}  {}\n", self.message());
        };
        let name = match self.problem.name.as_str() {
            "" => name.into(),
            client => format!("{name}  client {}", printable(client)),
        };
        run_text(&name, self.model, self.evidence.claim_with_run(), &trace_rows, paint)
    }
}

impl<'a> Subject<'a> {
    /// Returns a violation of a problem with a placement, under the model of the inference.
    pub fn fenced_run(
        &self,
        problem: usize,
        placement: &Placement,
        evidence: &'a Evidence,
    ) -> FencedRun<'a> {
        let Subject { problems, candidates, model, .. } = *self;
        let program = placement::fenced(&problems[problem].program, placement, candidates.written);
        let problem = Problem { program, ..problems[problem].clone() };
        FencedRun { problem, model, evidence }
    }

    /// Returns the violation that occurs without one barrier of a repair.
    pub fn run_without(&self, repair: &'a Repair, atom: Atom) -> Option<FencedRun<'a>> {
        let need = repair.needed_for.iter().find(|need| need.atom == atom)?;
        let (problem, evidence) = need.violation.as_ref()?;
        let mut fewer = repair.placements[0].clone();
        fewer.atoms.remove(&atom);
        Some(self.fenced_run(*problem, &fewer, evidence))
    }

    /// Whether a repair remains sufficient without this barrier.
    fn is_unneeded(&self, repair: &Repair, atom: Atom) -> bool {
        repair.needed_for.iter().any(|need| need.atom == atom && need.redundant)
    }

    /// Returns the violation that no fence prevents. `sc` is the model of that name.
    pub fn unrepairable_run(
        &self,
        why: &'a Unrepairable,
        sc: &'a ModelSpec,
    ) -> Option<FencedRun<'a>> {
        match why {
            Unrepairable::ViolatedUnderSc { problem, evidence, under_model: true } => {
                Some(self.fenced_run(*problem, &Placement::default(), evidence))
            }
            Unrepairable::ViolatedUnderSc { problem, evidence, under_model: false } => {
                Some(FencedRun { problem: self.problems[*problem].clone(), model: sc, evidence })
            }
            Unrepairable::NotPreventable { problem, placement, evidence } => {
                Some(self.fenced_run(*problem, placement, evidence))
            }
            Unrepairable::NoWitness { .. } => None,
        }
    }

    pub(crate) fn program(&self) -> &'a fencepost_ir::Program {
        &self.problems[0].program
    }

    fn title(&self, paint: Paint) -> String {
        format!("{}  {}", printable(self.file), paint.strong(&shown(self.model)))
    }

    /// Formats a barrier: `store_load before :14`. In a litmus test, where threads share lines:
    /// ``P0: MFENCE before `MOV EAX,[y]` (line 5)``.
    pub fn barrier_text(&self, atom: Atom) -> String {
        let place = self.program().place(atom.place);
        let info = self.program().label(place.label);
        let line = info.span.line;
        if self.fences.located_by_thread {
            let thread = printable(&info.function);
            let what = self.fence_text(atom);
            return match place.written {
                Some((own, _)) if atom.barrier == Barrier::Fence(own) => {
                    format!("{thread}: {what} (line {line})")
                }
                Some(_) | None => {
                    format!("{thread}: {what} {} (line {line})", self.position(atom))
                }
            };
        }
        format!("{} {}", self.barrier_words(atom), self.spot(place))
    }

    /// Formats a barrier up to its position: `store_load before`.
    pub(crate) fn barrier_words(&self, atom: Atom) -> String {
        let place = self.program().place(atom.place);
        let what = match atom.barrier {
            Barrier::Fence(kinds) => kinds.listed(),
            Barrier::Drain(_) => self.fence_text(atom),
            Barrier::Order(_) => {
                let what = place.order.as_ref().map_or("order", |site| site.kind.name());
                return format!("{what} {} at", self.fence_text(atom));
            }
        };
        let preposition = match (place.written, place.at_end) {
            (Some(_), _) => "at",
            (None, true) => "before the end at",
            (None, false) => "before",
        };
        format!("{what} {preposition}")
    }

    /// Formats the position of a place: `:14`, or `:14:7` if its line has several places. In an
    /// included file: `lock.h:14`.
    fn spot(&self, place: &Place) -> String {
        let program = self.program();
        let span = |place: &Place| program.label(place.label).span;
        let own = span(place);
        let path = |place: &Place| program.included.get(&place.label);
        let alike = |other: &&Place| {
            other.order.is_some() == place.order.is_some() && path(other) == path(place)
        };
        let mut places = program.places.iter().filter(alike).map(span);
        let shares_line = places.any(|other| other.line == own.line && other.column != own.column);
        let line = wording::place(program, place.label);
        match shares_line && !self.fences.located_by_thread {
            true => format!("{line}:{}", own.column),
            false => line,
        }
    }

    /// Formats the barriers of a placement.
    pub fn placement_text(&self, placement: &Placement) -> String {
        let all: Vec<String> =
            placement.atoms.iter().map(|atom| self.barrier_text(*atom)).collect();
        if all.is_empty() { "no fences".into() } else { all.join(", ") }
    }

    /// Returns a barrier as the language writes it; its kinds if the language has no statement for
    /// it. For a memory order: the name of the order.
    pub fn statement(&self, atom: Atom) -> String {
        match atom.barrier {
            Barrier::Fence(kinds) => self.fence_statement(kinds, &[]),
            Barrier::Drain(store) => self.fence_statement(FenceKinds::default(), &[store]),
            Barrier::Order(_) => self.order_change(atom).map_or("", |change| change.to).into(),
        }
    }

    fn fence_statement(&self, kinds: FenceKinds, drains: &[Label]) -> String {
        let texts = self.fences.statements(self.program(), kinds, drains);
        texts.map_or_else(|_| kinds.listed(), |texts| texts.join(" "))
    }

    /// Returns a barrier as the language writes it, without a semicolon. For a memory order: the
    /// change, as in `relaxed -> release`.
    pub fn fence_text(&self, atom: Atom) -> String {
        match self.order_change(atom) {
            Some(change) => change.text(),
            None => self.statement(atom).trim_end_matches(';').into(),
        }
    }

    /// Formats fence kinds: an instruction in a litmus test, the names of the kinds otherwise.
    pub fn kinds_text(&self, kinds: FenceKinds) -> String {
        if self.fences.located_by_thread {
            self.fence_statement(kinds, &[]).trim_end_matches(';').into()
        } else {
            kinds.listed()
        }
    }

    /// Describes the position of a barrier: "before `turn = 1`".
    pub fn position(&self, atom: Atom) -> String {
        let place = self.program().place(atom.place);
        if let Some(change) = self.order_change(atom) {
            let access = statement(self.program(), change.site.access, MAX_STATEMENT);
            format!("at {} `{access}`", change.site.kind.name())
        } else if let Some((own, _)) = place.written {
            let is_own = atom.barrier == Barrier::Fence(own);
            let what = if is_own { "unchanged:" } else { "instead of" };
            format!("{what} `{}`", statement(self.program(), place.label, MAX_STATEMENT))
        } else if place.at_end {
            let end = if self.fences.has_blocks { "at the end of the block" } else { "at the end" };
            end.into()
        } else {
            format!("before `{}`", statement(self.program(), place.label, MAX_STATEMENT))
        }
    }

    /// Returns the fences of the original source that a repair from scratch omits or changes: the
    /// place, the original kinds and the kinds of the repair.
    pub fn redundant(&self, placement: &Placement) -> Vec<(PlaceId, FenceKinds, FenceKinds)> {
        if self.candidates.written == WrittenFences::Kept {
            return Vec::new();
        }
        let by_place = placement.by_place();
        let places = self.program().places.iter().enumerate();
        let written = places.filter_map(|(at, place)| {
            let (own, _) = place.written?;
            let place = PlaceId::from_index(at);
            let left = by_place.get(&place).map_or(FenceKinds::default(), |(kinds, _)| *kinds);
            (left != own).then_some((place, own, left))
        });
        written.collect()
    }
}

/// Formats the number of fences, drains and changed orders of a placement.
fn count_barriers(placement: &Placement) -> String {
    let is_drain = |atom: &&Atom| matches!(atom.barrier, Barrier::Drain(_));
    let drains = placement.atoms.iter().filter(is_drain).count();
    let is_fence = |atom: &&Atom| matches!(atom.barrier, Barrier::Fence(_));
    let fences = placement.atoms.iter().filter(is_fence).count();
    // Several parts of an order are one change.
    let orders = placement.orders().len();
    let counts = [(fences, "fence"), (drains, "drain"), (orders, "changed order")];
    let some = counts.iter().filter(|(count, _)| *count > 0);
    let some: Vec<String> = some.map(|(count, what)| counted(*count as u64, what)).collect();
    if some.is_empty() { counted(0, "fence") } else { some.join(" and ") }
}

/// Returns the first line of the answer.
pub fn headline(subject: &Subject<'_>, inference: &Inference, paint: Paint) -> String {
    let result = match inference {
        Inference::Repaired(repair) => repaired(subject, repair, paint),
        Inference::Unrepairable(why) => {
            let word = paint.bad("CANNOT BE REPAIRED");
            let why = match why {
                Unrepairable::ViolatedUnderSc { .. } => {
                    "violated even under SC: correct the program"
                }
                Unrepairable::NotPreventable { .. } => "no allowed fence prevents the run below",
                Unrepairable::NoWitness { .. } => {
                    "no run of the repaired program satisfies its `final exists`"
                }
            };
            format!("{word}: {why}")
        }
        Inference::GaveUp(gave_up) => {
            let word = paint.unsure("NO ANSWER");
            let limit = gave_up.undecided.first().map(|(_, why)| why.reason());
            let why = match (&gave_up.reason, limit) {
                (Some(because), _) => because.clone(),
                (None, Some(limit)) => crate::verdict_line::reason_text(limit).to_string(),
                (None, None) => "interrupted".into(),
            };
            let least = match gave_up.cost {
                0 => String::new(),
                cost => format!("; every repair costs at least {cost}"),
            };
            format!("{word}: {why}{least}")
        }
    };
    format!("{}  {result}\n", subject.title(paint))
}

fn repaired(subject: &Subject<'_>, repair: &Repair, paint: Paint) -> String {
    let placement = &repair.placements[0];
    let number = count_barriers(placement);
    let other = repair.deciders.iter().find(|by| **by != Decider::Explicit);
    let by = other.unwrap_or(&Decider::Explicit);
    let states = repair.statistics.iter().map(|s: &Statistics| s.states).sum();
    let states = counted(states, count_unit(*by));
    let search = match by {
        Decider::Explicit => format!("explicit search, {states}"),
        by @ Decider::Abstraction(..) => {
            format!("abstraction {by} for buffers of any length, {states}")
        }
        by @ Decider::Forgetting(_) => {
            format!("abstraction {by} for windows of any length, {states}")
        }
        by @ (Decider::Automata | Decider::Attack) => {
            format!("{by} for buffers of any length, {states}")
        }
        Decider::Hiding(locations) => {
            format!("a proof without {}, {states}", counted((*locations).into(), "location"))
        }
        by @ Decider::Counters { .. } => {
            let note = crate::verdict_line::number_note(*by).unwrap_or_default();
            format!("{by}, {states}, {note}")
        }
        by @ (Decider::Stateless
        | Decider::Translation
        | Decider::Spin
        | Decider::Cbmc
        | Decider::GenMc) => format!("{by}, {states}"),
    };
    let clients = subject.problems.len() as u64;
    let cost = if repair.optimal {
        format!("cost {}; cheapest possible; ", repair.cost)
    } else {
        format!("cost {}; ", repair.cost)
    };
    let from_scratch = subject.candidates.written == WrittenFences::Dropped;
    match &repair.sufficiency {
        Sufficiency::Verified => {
            let robust = subject.engine == ROBUST;
            let verified = if robust { "robust" } else { "verified" };
            let definition = subject.definition;
            let note = |problem| definition_note(definition?, problem);
            let note = subject.problems.iter().find_map(note);
            let note = note.map_or(String::new(), |note| format!("; {note}"));
            let proof = match clients {
                1 => format!("{verified} by {search}{note}"),
                _ => format!("{} {verified} by {search}{note}", counted(clients, "client")),
            };
            let (already, repaired) = match robust {
                true => ("already robust", "MADE ROBUST"),
                false => ("already correct", "REPAIRED"),
            };
            match (placement.atoms.is_empty(), from_scratch) {
                (true, false) => {
                    let has_some = subject.program().places.iter().any(|p| p.written.is_some());
                    let what = if has_some { "no further fence" } else { "no fence" };
                    format!("{}: {what} needed ({proof})", paint.good(already))
                }
                (true, true) => format!("{} ({proof})", paint.good("no fence needed")),
                (false, false) => {
                    format!("{} with {number} ({cost}{proof})", paint.good(repaired))
                }
                (false, true) => {
                    format!("{} {number} ({cost}{proof})", paint.good("NEEDS"))
                }
            }
        }
        Sufficiency::Bounded(open) => {
            let bound = open.iter().filter_map(|(_, why)| why.clean_up_to()).min();
            let bound = bound.map_or("a bound".into(), |n| n.to_string());
            let other_bound = open.iter().find_map(|(_, why)| match why.reason() {
                InconclusiveReason::Bound { bound: Bound::Preemptions(most), .. } => {
                    Some(format!("up to {}", counted(u64::from(*most), "preemption")))
                }
                InconclusiveReason::Bound { bound: Bound::Contexts(bound), .. } => {
                    Some(context_bound_text(*bound))
                }
                InconclusiveReason::Bound { bound: Bound::Source(text), .. } => {
                    Some(format!("within a bound ({text})"))
                }
                _ => None,
            });
            let word = paint.unsure("sufficient");
            let decided = match clients {
                1 => String::new(),
                _ => format!("{} of {clients} clients verified; ", clients - open.len() as u64),
            };
            let extent = match other_bound {
                Some(extent) => extent,
                None => format!("with buffers up to {bound}, but they can grow further"),
            };
            if placement.atoms.is_empty() {
                let word = paint.unsure("no fence needed");
                format!("{word} {extent} ({decided}{search})")
            } else {
                let verb = if placement.atoms.len() == 1 { "is" } else { "are" };
                format!("{number} {verb} {word} {extent} ({cost}{decided}{search})")
            }
        }
    }
}

/// Returns one line for each barrier: its position, and the trace that shows why it is needed.
pub fn fences(subject: &Subject<'_>, repair: &Repair, paint: Paint) -> String {
    let rows: Vec<[String; 4]> = (repair.placements[0].atoms.iter().enumerate())
        .map(|(at, atom)| {
            let place = subject.program().place(atom.place);
            let info = subject.program().label(place.label);
            let needed = match subject.run_without(repair, *atom) {
                Some(_) => format!("without it: trace {} below", at + 1),
                None if subject.is_unneeded(repair, *atom) => "without it: still verified".into(),
                None => "without it: unknown (limit reached)".into(),
            };
            let position = subject.position(*atom);
            [
                subject.spot(place),
                subject.fence_text(*atom),
                format!("{position} in {}", printable(&info.function)),
                needed,
            ]
        })
        .collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let [lines, kinds, positions] = [0, 1, 2].map(|column| widest(column).unwrap_or(0));
    let mut text = String::new();
    for (at, [line, kind, position, needed]) in rows.iter().enumerate() {
        let kind = paint.strong(&format!("{kind:<kinds$}"));
        let line = format!("{line:<lines$}");
        writeln!(text, "{:>3}  {line}  {kind}  {position:<positions$}  {needed}", at + 1)
            .expect("writing to a string cannot fail");
    }
    text
}

/// Returns the avoid formula of the papers' method, as orderings of statements.
pub fn orderings(subject: &Subject<'_>, constraints: &Constraints) -> String {
    let Constraints { fewest, models, complete, states, edges, bound } = constraints;
    let side = |label| {
        let line = wording::place(subject.program(), label);
        format!("{line} `{}`", statement(subject.program(), label, MAX_STATEMENT))
    };
    let bound = bound.map_or(String::new(), |n| format!(", at most {n} accesses pending"));
    let figures = format!("{}, {}{bound}", counted(*states, "state"), counted(*edges, "step"));
    let orderings = counted(*fewest as u64, "ordering");
    let mut text = format!("the avoid formula needs at least {orderings} ({figures})\n");
    for (at, model) in models.iter().enumerate() {
        writeln!(text, "  {}:", if at == 0 { "either" } else { "or" })
            .expect("writing to a string cannot fail");
        for constraint in model {
            let (before, after) = (side(constraint.before), side(constraint.after));
            writeln!(text, "    {before} < {after}").expect("writing to a string cannot fail");
        }
    }
    if !complete {
        text.push_str("  ... and more\n");
    }
    text
}

/// Returns the traces of the violations, each without one barrier.
pub fn traces(subject: &Subject<'_>, repair: &Repair, paint: Paint) -> String {
    let mut text = String::new();
    for (at, atom) in repair.placements[0].atoms.iter().enumerate() {
        if let Some(shown) = subject.run_without(repair, *atom) {
            let name = format!("trace {}: without {}", at + 1, subject.barrier_text(*atom));
            writeln!(text, "\n{}", shown.picture(&name, paint).trim_end())
                .expect("writing to a string cannot fail");
        }
    }
    text
}

/// Returns the other placements of the same cost.
pub fn alternatives(subject: &Subject<'_>, repair: &Repair) -> String {
    let others = &repair.placements[1..];
    if others.is_empty() {
        return "no other placement has the same cost\n".into();
    }
    let mut text = match others.len() {
        1 => "one other placement has the same cost:\n".to_string(),
        many => format!("{many} other placements have the same cost:\n"),
    };
    for placement in others {
        writeln!(text, "  {}", subject.placement_text(placement))
            .expect("writing to a string cannot fail");
    }
    if repair.has_more {
        text.push_str("  ... and more\n");
    }
    text
}

/// Returns the fences of the original source that a repair from scratch omits or changes.
pub fn redundant(subject: &Subject<'_>, placement: &Placement) -> String {
    let mut text = String::new();
    for (place, own, left) in subject.redundant(placement) {
        let label = subject.program().place(place).label;
        let info = subject.program().label(label);
        let line = wording::place(subject.program(), label);
        let thread = if subject.fences.located_by_thread {
            format!("in {} ", printable(&info.function))
        } else {
            String::new()
        };
        let own_text = statement(subject.program(), label, MAX_STATEMENT);
        let verdict = if left == FenceKinds::default() {
            "is redundant".to_string()
        } else if own.contains(left) {
            format!("can be weaker: {} is enough", subject.kinds_text(left))
        } else {
            format!("becomes {}", subject.kinds_text(left))
        };
        writeln!(text, "  {line}  `{own_text}` {thread}{verdict}")
            .expect("writing to a string cannot fail");
    }
    text
}

/// Returns the undecided clients, each with the reason.
pub fn undecided(subject: &Subject<'_>, open: &[(usize, Inconclusive)]) -> String {
    let mut text = String::new();
    for (problem, why) in open {
        match subject.problems[*problem].name.as_str() {
            "" => {} // the only problem; the headline has the reason
            client => {
                let client = printable(client);
                writeln!(text, "  client {client}: {}", explain(why))
                    .expect("writing to a string cannot fail");
            }
        }
    }
    text
}

/// Returns advice for undecided problems. `fixed` states that the user fixed the bound on pending
/// accesses.
pub fn advice(open: &[(usize, Inconclusive)], fixed: bool) -> String {
    let advice = open.iter().find_map(|(_, why)| advice_for(why, fixed));
    advice.map_or_else(String::new, |advice| format!("  try: {advice}\n"))
}

/// Returns the partial result of an inference that gave up.
pub fn gave_up(subject: &Subject<'_>, gave_up: &GaveUp) -> String {
    let mut text = undecided(subject, &gave_up.undecided);
    if gave_up.reason.is_some() {
        text.push_str("  try: --method lazy\n");
    } else if gave_up.placement.atoms.is_empty() {
        text.push_str("  no fence is known to be needed so far\n");
    } else {
        let so_far = subject.placement_text(&gave_up.placement);
        writeln!(text, "  cheapest placement not ruled out so far: {so_far}")
            .expect("writing to a string cannot fail");
    }
    text
}
