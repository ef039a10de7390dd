//! What inference answers, as text: the verdict, where each fence stands, and the run that comes back
//! without it.
//!
//! Lines are those of the source as it was, before any fence was added. Every run is told on the
//! program it was found with: the source with the fences that were there.

use crate::paint::{Paint, counted, printable};
use crate::picture::run_text;
use crate::trace::Story;
use crate::verdict_line::{ROBUST, advice_on, explain, shown, unit, within};
use crate::violation::sentence;
use crate::wording::statement;
use fencepost_engines::{Bound, Decider, Evidence, Inconclusive, InconclusiveReason, Statistics};
use fencepost_frontends::FenceSyntax;
use fencepost_infer::candidates::Candidates;
use fencepost_infer::clause::atoms;
use fencepost_infer::repair::{
    Constraints, GaveUp, Inference, Lesson, Repair, Round, Sufficiency, Unrepairable,
};
use fencepost_ir::{Atom, Barrier, FenceKinds, PlaceId, Placement, Problem, Written, placement};
use fencepost_models::{ModelSpec, Reductions};
use std::borrow::Cow;
use std::fmt::Write;

/// How much of a statement is shown beside a fence.
const STATEMENT: usize = 40;

/// What an inference was about.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// What the reader calls the source.
    pub file: &'a str,
    /// Under which model.
    pub model: &'a ModelSpec,
    /// The way of inference.
    pub method: &'a str,
    /// The verifier behind it.
    pub engine: &'a str,
    /// The problems it was asked about, with places and without new fences.
    pub problems: &'a [Problem],
    /// What could be placed.
    pub candidates: &'a Candidates,
    /// How its language writes fences.
    pub fences: &'a FenceSyntax,
    /// The reductions in use.
    pub reductions: Reductions,
}

/// A run to show: a problem with some fences, and what happens in it.
#[derive(Clone, Debug)]
pub struct Shown<'a> {
    /// The problem, with the fences that were there.
    pub problem: Problem,
    /// Under which model.
    pub model: &'a ModelSpec,
    /// What happens.
    pub evidence: &'a Evidence,
}

impl Shown<'_> {
    /// The run, told; none when there is no run.
    pub fn story(&self) -> Option<Story<'_>> {
        Some(Story::new(&self.problem, Cow::Borrowed(self.evidence.run()?)))
    }

    /// What is wrong in it, in one sentence.
    pub fn message(&self) -> String {
        sentence(&self.problem, self.evidence.violation().into(), self.story().as_ref())
    }

    /// The picture with a heading and its reasons.
    pub fn picture(&self, name: &str, paint: Paint) -> String {
        let Some(story) = self.story() else {
            return format!("{name}  {}\n", self.message());
        };
        let name = match self.problem.name.as_str() {
            "" => name.into(),
            client => format!("{name}  client {}", printable(client)),
        };
        run_text(&name, self.model, self.evidence.shown(), &story, paint)
    }
}

impl<'a> Subject<'a> {
    /// A run of a problem with a placement, under the model of the question.
    pub fn with(&self, problem: usize, placement: &Placement, evidence: &'a Evidence) -> Shown<'a> {
        let Subject { problems, candidates, model, .. } = *self;
        let program = placement::fenced(&problems[problem].program, placement, candidates.written);
        let problem = Problem { program, ..problems[problem].clone() };
        Shown { problem, model, evidence }
    }

    /// The run that comes back without one barrier of a repair.
    pub fn without(&self, repair: &'a Repair, atom: Atom) -> Option<Shown<'a>> {
        let need = repair.needed_for.iter().find(|need| need.atom == atom)?;
        let (problem, evidence) = need.violation.as_ref()?;
        let mut fewer = repair.placements[0].clone();
        fewer.atoms.remove(&atom);
        Some(self.with(*problem, &fewer, evidence))
    }

    /// Whether a repair is one without this barrier, too.
    fn is_needless(&self, repair: &Repair, atom: Atom) -> bool {
        repair.needed_for.iter().any(|need| need.atom == atom && need.needless)
    }

    /// The run that nothing can be done about. `sc` is the model of that name.
    pub fn hopeless(&self, why: &'a Unrepairable, sc: &'a ModelSpec) -> Option<Shown<'a>> {
        match why {
            Unrepairable::WrongUnderSc { problem, evidence, under_model: true } => {
                Some(self.with(*problem, &Placement::default(), evidence))
            }
            Unrepairable::WrongUnderSc { problem, evidence, under_model: false } => {
                Some(Shown { problem: self.problems[*problem].clone(), model: sc, evidence })
            }
            Unrepairable::OutOfReach { problem, placement, evidence } => {
                Some(self.with(*problem, placement, evidence))
            }
            Unrepairable::NoWitness { .. } => None,
        }
    }

    fn program(&self) -> &'a fencepost_ir::Program {
        &self.problems[0].program
    }

    fn title(&self, paint: Paint) -> String {
        format!("{}  {}", printable(self.file), paint.strong(&shown(self.model)))
    }

    /// A barrier in a few words: `store_load before :14`. In a litmus test, where threads share lines:
    /// ``P0: MFENCE before `MOV EAX,[y]` (line 5)``.
    pub fn brief(&self, atom: Atom) -> String {
        let place = self.program().place(atom.place);
        let info = self.program().label(place.label);
        let line = info.span.line;
        if self.fences.told_by_thread {
            let thread = printable(&info.function);
            let what = self.written(atom);
            return match place.written {
                Some((own, _)) if atom.barrier == Barrier::Fence(own) => {
                    format!("{thread}: {what} (line {line})")
                }
                Some(_) | None => {
                    format!("{thread}: {what} {} (line {line})", self.position(atom))
                }
            };
        }
        let what = match atom.barrier {
            Barrier::Fence(kinds) => kinds.listed(),
            Barrier::Drain(_) => self.written(atom),
        };
        let preposition = match (place.written, place.at_end) {
            (Some(_), _) => "at",
            (None, true) => "before the end at",
            (None, false) => "before",
        };
        format!("{what} {preposition} :{line}")
    }

    /// Several barriers in a few words.
    pub fn briefly(&self, placement: &Placement) -> String {
        let all: Vec<String> = placement.atoms.iter().map(|atom| self.brief(*atom)).collect();
        if all.is_empty() { "no fences".into() } else { all.join(", ") }
    }

    /// A barrier as the language writes it; what it has no statement for, by its kinds.
    pub fn statement(&self, barrier: Barrier) -> String {
        let (kinds, drains) = match barrier {
            Barrier::Fence(kinds) => (kinds, Vec::new()),
            Barrier::Drain(store) => (FenceKinds::default(), vec![store]),
        };
        let texts = self.fences.statements(self.program(), kinds, &drains);
        texts.map_or_else(|_| kinds.listed(), |texts| texts.join(" "))
    }

    /// The same without what ends the statement.
    pub fn written(&self, atom: Atom) -> String {
        self.statement(atom.barrier).trim_end_matches(';').into()
    }

    /// The kinds of a fence as readers of its language know them.
    pub fn kinds(&self, kinds: FenceKinds) -> String {
        if self.fences.told_by_thread {
            self.statement(Barrier::Fence(kinds)).trim_end_matches(';').into()
        } else {
            kinds.listed()
        }
    }

    /// Where a barrier stands: "before `turn = 1`".
    pub fn position(&self, atom: Atom) -> String {
        let place = self.program().place(atom.place);
        if let Some((own, _)) = place.written {
            let is_own = atom.barrier == Barrier::Fence(own);
            let what = if is_own { "as it is:" } else { "instead of" };
            format!("{what} `{}`", statement(self.program(), place.label, STATEMENT))
        } else if place.at_end {
            let end = if self.fences.has_blocks { "at the end of the block" } else { "at the end" };
            end.into()
        } else {
            format!("before `{}`", statement(self.program(), place.label, STATEMENT))
        }
    }

    /// The fences of the author that a repair from scratch does without, or has weaker: their places,
    /// with what it has there instead.
    pub fn redundant(&self, placement: &Placement) -> Vec<(PlaceId, FenceKinds, FenceKinds)> {
        if self.candidates.written == Written::Kept {
            return Vec::new();
        }
        let there = placement.by_place();
        let places = self.program().places.iter().enumerate();
        let written = places.filter_map(|(at, place)| {
            let (own, _) = place.written?;
            let place = PlaceId::from_index(at);
            let left = there.get(&place).map_or(FenceKinds::default(), |(kinds, _)| *kinds);
            (left != own).then_some((place, own, left))
        });
        written.collect()
    }
}

/// How many fences and drains a placement has.
fn number(placement: &Placement) -> String {
    let is_fence = |atom: &&Atom| matches!(atom.barrier, Barrier::Fence(_));
    let fences = placement.atoms.iter().filter(is_fence).count() as u64;
    let drains = placement.atoms.len() as u64 - fences;
    match (fences, drains) {
        (_, 0) => counted(fences, "fence"),
        (0, _) => counted(drains, "drain"),
        _ => format!("{} and {}", counted(fences, "fence"), counted(drains, "drain")),
    }
}

/// The first line of the answer.
pub fn headline(subject: &Subject<'_>, inference: &Inference, paint: Paint) -> String {
    let said = match inference {
        Inference::Repaired(repair) => repaired(subject, repair, paint),
        Inference::Unrepairable(why) => {
            let word = paint.bad("CANNOT BE REPAIRED");
            let why = match why {
                Unrepairable::WrongUnderSc { .. } => "wrong under sequential consistency",
                Unrepairable::OutOfReach { .. } => {
                    "no fence that may be placed prevents the run below"
                }
                Unrepairable::NoWitness { .. } => {
                    "no run that a `final exists` asks for is left, or there is none"
                }
            };
            format!("{word}: {why}")
        }
        Inference::GaveUp(gave_up) => {
            let word = paint.unsure("NO ANSWER");
            let limit = gave_up.undecided.first().map(|(_, why)| why.reason());
            let why = match (&gave_up.because, limit) {
                (Some(because), _) => because.clone(),
                (None, Some(limit)) => crate::verdict_line::ended_by(limit).to_string(),
                (None, None) => "interrupted".into(),
            };
            let least = match gave_up.price {
                0 => String::new(),
                price => format!("; every repair costs at least {price}"),
            };
            format!("{word}: {why}{least}")
        }
    };
    format!("{}  {said}\n", subject.title(paint))
}

fn repaired(subject: &Subject<'_>, repair: &Repair, paint: Paint) -> String {
    let placement = &repair.placements[0];
    let number = number(placement);
    let other = repair.deciders.iter().find(|by| **by != Decider::Explicit);
    let by = other.unwrap_or(&Decider::Explicit);
    let states = repair.statistics.iter().map(|s: &Statistics| s.states).sum();
    let states = counted(states, unit(*by));
    let search = match by {
        Decider::Explicit => format!("explicit search, {states}"),
        by @ Decider::Abstraction(..) => {
            format!("abstraction {by} for buffers of any length, {states}")
        }
        by @ (Decider::Automata | Decider::Attack) => {
            format!("{by} for buffers of any length, {states}")
        }
        by @ (Decider::Stateless | Decider::Translation | Decider::Spin) => {
            format!("{by}, {states}")
        }
    };
    let clients = subject.problems.len() as u64;
    let cost = if repair.optimal {
        format!("cost {}; cheapest possible; ", repair.price)
    } else {
        format!("cost {}; ", repair.price)
    };
    let from_scratch = subject.candidates.written == Written::Dropped;
    match &repair.sufficiency {
        Sufficiency::Verified => {
            let robust = subject.engine == ROBUST;
            let verified = if robust { "robust" } else { "verified" };
            let proof = match clients {
                1 => format!("{verified} by {search}"),
                _ => format!("{} {verified} by {search}", counted(clients, "client")),
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
            let preemptions = open.iter().find_map(|(_, why)| match why.reason() {
                InconclusiveReason::Bound { bound: Bound::Preemptions(most), .. } => {
                    Some(format!("up to {}", counted(u64::from(*most), "preemption")))
                }
                InconclusiveReason::Bound { bound: Bound::Contexts(bound), .. } => {
                    Some(within(*bound))
                }
                _ => None,
            });
            let word = paint.unsure("sufficient");
            let decided = match clients {
                1 => String::new(),
                _ => format!("{} of {clients} clients verified; ", clients - open.len() as u64),
            };
            let open = match preemptions {
                Some(within) => within,
                None => format!("with buffers up to {bound}, but they can grow further"),
            };
            if placement.atoms.is_empty() {
                let word = paint.unsure("no fence needed");
                format!("{word} {open} ({decided}{search})")
            } else {
                let verb = if placement.atoms.len() == 1 { "is" } else { "are" };
                format!("{number} {verb} {word} {open} ({cost}{decided}{search})")
            }
        }
    }
}

/// A line for each barrier: where it is, and which run shows that it is needed.
pub fn fences(subject: &Subject<'_>, repair: &Repair, paint: Paint) -> String {
    let rows: Vec<[String; 4]> = (repair.placements[0].atoms.iter().enumerate())
        .map(|(at, atom)| {
            let place = subject.program().place(atom.place);
            let info = subject.program().label(place.label);
            let needed = match subject.without(repair, *atom) {
                Some(_) => format!("without it: trace {} below", at + 1),
                None if subject.is_needless(repair, *atom) => {
                    "without it: verified all the same".into()
                }
                None => "without it: not known, a limit was met".into(),
            };
            let position = subject.position(*atom);
            [
                format!(":{}", info.span.line),
                subject.written(*atom),
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
            .expect("strings take text");
    }
    text
}

/// The orderings of the papers' method.
pub fn orderings(subject: &Subject<'_>, constraints: &Constraints) -> String {
    let Constraints { fewest, models, complete, states, edges, bound } = constraints;
    let side = |label| {
        let info = subject.program().label(label);
        format!(":{} `{}`", info.span.line, statement(subject.program(), label, STATEMENT))
    };
    let bound = bound.map_or(String::new(), |n| format!(", at most {n} accesses pending"));
    let figures = format!("{}, {}{bound}", counted(*states, "state"), counted(*edges, "step"));
    let orderings = counted(*fewest as u64, "ordering");
    let mut text = format!("the formula needs {orderings} at least ({figures})\n");
    for (at, model) in models.iter().enumerate() {
        writeln!(text, "  {}:", if at == 0 { "either" } else { "or" }).expect("strings take text");
        for constraint in model {
            let (before, after) = (side(constraint.before), side(constraint.after));
            writeln!(text, "    {before} < {after}").expect("strings take text");
        }
    }
    if !complete {
        text.push_str("  ... and more\n");
    }
    text
}

/// The runs that come back, each without one barrier.
pub fn traces(subject: &Subject<'_>, repair: &Repair, paint: Paint) -> String {
    let mut text = String::new();
    for (at, atom) in repair.placements[0].atoms.iter().enumerate() {
        if let Some(shown) = subject.without(repair, *atom) {
            let name = format!("trace {}: without {}", at + 1, subject.brief(*atom));
            writeln!(text, "\n{}", shown.picture(&name, paint).trim_end())
                .expect("strings take text");
        }
    }
    text
}

/// The other placements that cost the same.
pub fn alternatives(subject: &Subject<'_>, repair: &Repair) -> String {
    let others = &repair.placements[1..];
    if others.is_empty() {
        return "no other placement costs as little\n".into();
    }
    let mut text = match others.len() {
        1 => "one other placement costs the same:\n".to_string(),
        many => format!("{many} other placements cost the same:\n"),
    };
    for placement in others {
        writeln!(text, "  {}", subject.briefly(placement)).expect("strings take text");
    }
    if repair.more {
        text.push_str("  ... and more\n");
    }
    text
}

/// The author's fences that a repair from scratch does without.
pub fn redundant(subject: &Subject<'_>, placement: &Placement) -> String {
    let mut text = String::new();
    for (place, own, left) in subject.redundant(placement) {
        let label = subject.program().place(place).label;
        let info = subject.program().label(label);
        let line = info.span.line;
        let thread = if subject.fences.told_by_thread {
            format!("in {} ", printable(&info.function))
        } else {
            String::new()
        };
        let own_text = statement(subject.program(), label, STATEMENT);
        let verdict = if left == FenceKinds::default() {
            "is redundant".to_string()
        } else if own.contains(left) {
            format!("can be weaker: {} is enough", subject.kinds(left))
        } else {
            format!("becomes {}", subject.kinds(left))
        };
        writeln!(text, "  :{line}  `{own_text}` {thread}{verdict}").expect("strings take text");
    }
    text
}

/// What is open: the clients that are not decided, each with the reason.
pub fn undecided(subject: &Subject<'_>, open: &[(usize, Inconclusive)]) -> String {
    let mut text = String::new();
    for (problem, why) in open {
        match subject.problems[*problem].name.as_str() {
            "" => {} // the only one, and the headline has said it
            client => {
                let client = printable(client);
                writeln!(text, "  client {client}: {}", explain(why)).expect("strings take text");
            }
        }
    }
    text
}

/// What to do about problems that are not decided. `fixed` says that the user fixed the bound on
/// pending accesses.
pub fn advice(open: &[(usize, Inconclusive)], fixed: bool) -> String {
    let advice = open.iter().find_map(|(_, why)| advice_on(why, fixed));
    advice.map_or_else(String::new, |advice| format!("  try: {advice}\n"))
}

/// What inference knows when it gives up.
pub fn gave_up(subject: &Subject<'_>, gave_up: &GaveUp) -> String {
    let mut text = undecided(subject, &gave_up.undecided);
    if gave_up.because.is_some() {
        text.push_str("  try: --method lazy\n");
    } else if gave_up.placement.atoms.is_empty() {
        text.push_str("  so far nothing shows that a fence is needed\n");
    } else {
        let so_far = subject.briefly(&gave_up.placement);
        writeln!(text, "  the cheapest that is not ruled out: {so_far}")
            .expect("strings take text");
    }
    text
}

/// What to do about a run that no candidate prevents. `elsewhere` are the barriers that would prevent it
/// if they were allowed.
pub fn out_of_reach(subject: &Subject<'_>, elsewhere: &[Atom]) -> String {
    if elsewhere.is_empty() {
        return "  The accesses that change places are in one statement, where no fence can stand.\n  \
                try: write it as several statements, one for each shared access\n"
            .into();
    }
    let all: Vec<String> = elsewhere.iter().map(|atom| subject.brief(*atom)).collect();
    format!(
        "  Each of these would prevent it, but is not allowed: {}\n  \
         try: allow one of them (--forbid, --only-in and --fences say what is allowed)\n",
        all.join(", ")
    )
}

/// How the answer was found: the placements tried, and what was learnt from each.
pub fn explanation(subject: &Subject<'_>, rounds: &[Round], paint: Paint) -> String {
    let mut text = String::new();
    for (at, round) in rounds.iter().enumerate() {
        let head = paint.strong(&format!("round {}", at + 1));
        writeln!(text, "{head}: with {}", subject.briefly(&round.placement))
            .expect("strings take text");
        for lesson in &round.lessons {
            text.push_str(&told(subject, round, lesson));
        }
    }
    text
}

fn told(subject: &Subject<'_>, round: &Round, lesson: &Lesson) -> String {
    let shown = subject.with(lesson.problem, &lesson.placement, &lesson.evidence);
    let client = match shown.problem.name.as_str() {
        "" => String::new(),
        client => format!("client {}: ", printable(client)),
    };
    let more: Placement =
        lesson.placement.atoms.difference(&round.placement.atoms).copied().collect();
    let also = match more.atoms.is_empty() {
        true => String::new(),
        false => format!(" (also with {})", subject.briefly(&more)),
    };
    let choices: Vec<String> =
        atoms(&lesson.clause, subject.candidates).map(|atom| subject.brief(atom)).collect();
    let choices = match &choices[..] {
        [only] => format!("needs {only}"),
        several => format!("needs one of: {}", several.join(", ")),
    };
    format!("  {client}{}{also}\n    {choices}\n", shown.message())
}
