//! The answer of `infer --weaken` as text: which orders and fences can be weaker under the models
//! that were checked, and what breaks if they are weaker still.
//!
//! The text never claims more than the models: compilers and other machines are not covered.

use crate::paint::{Paint, counted, printable};
use crate::repair::{FencedRun, MAX_STATEMENT};
use crate::verdict_line::{explain, shown};
use crate::wording::{self, statement};
use fencepost_infer::weaken::{WeakViolation, WeakenAnswer, Weakenings};
use fencepost_ir::{
    FenceKinds, OrderEffect, Place, PlaceId, Placement, Problem, WrittenFences, placement,
};
use fencepost_models::ModelSpec;
use std::fmt::Write;

/// The input of a weakening.
#[derive(Clone, Copy, Debug)]
pub struct WeakenSubject<'a> {
    /// The name of the source file.
    pub file: &'a str,
    /// The models.
    pub models: &'a [ModelSpec],
    /// The problems, with places and order places.
    pub problems: &'a [Problem],
}

/// An order or a fence of the original, and what a weakening leaves of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeakenedPart {
    /// The name of the file.
    pub file: String,
    /// The file and the line as text: `:7`, or `lock.h:7` in an included file.
    pub place: String,
    /// The line in the original source, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// `load`, `store`, `update` or `fence`.
    pub what: &'static str,
    /// The order or the fence in the original source.
    pub from: String,
    /// What is left of it; none for a fence that is not needed.
    pub to: Option<String>,
    /// The access or the fence, as the source writes it.
    pub text: String,
    /// The function or thread template.
    pub function: String,
    /// Whether the original is an order without an effect, which cannot be weaker.
    pub is_weakest: bool,
}

impl WeakenedPart {
    /// Whether the part can be weaker.
    pub fn is_weaker(&self) -> bool {
        self.to.as_ref() != Some(&self.from)
    }

    fn change(&self) -> String {
        let to = self.to.as_deref().unwrap_or("removed");
        if self.is_weaker() { format!("{} -> {to}", self.from) } else { self.from.clone() }
    }
}

impl WeakenSubject<'_> {
    /// Returns the orders and fences of the original, with what a weakening leaves of each.
    pub fn parts(&self, left: &Placement) -> Vec<WeakenedPart> {
        let (orders, fences) = (left.orders(), left.by_place());
        let program = &self.problems[0].program;
        let part = |(at, place): (usize, &Place)| {
            let id = PlaceId::from_index(at);
            let (what, from, to) = if let Some(site) = &place.order {
                let left = orders.get(&id).copied().unwrap_or_default();
                let to = site.choice(left).map(|choice| choice.name.clone());
                (site.kind.name(), site.written_choice().name.clone(), to)
            } else {
                let (own, _) = place.written?;
                let left = fences.get(&id).map_or(FenceKinds::default(), |(kinds, _)| *kinds);
                let is_removed = left == FenceKinds::default();
                ("fence", own.listed(), (!is_removed).then(|| left.listed()))
            };
            let info = program.label(place.label);
            let included = program.included.get(&place.label);
            let file = included.map_or(self.file, String::as_str).into();
            let (line, column, function) =
                (info.span.line, info.span.column, info.function.clone());
            let text = statement(program, place.label, MAX_STATEMENT);
            let own = place.order.as_ref().map(|site| site.written_choice().effect);
            let is_weakest = own == Some(OrderEffect::default());
            let place = wording::place(program, place.label);
            Some(WeakenedPart {
                file,
                place,
                line,
                column,
                what,
                from,
                to,
                text,
                function,
                is_weakest,
            })
        };
        program.places.iter().enumerate().filter_map(part).collect()
    }

    fn models_text(&self) -> String {
        let names: Vec<String> = self.models.iter().map(shown).collect();
        match &names[..] {
            [others @ .., last] if !others.is_empty() => {
                format!("{} and {last}", others.join(", "))
            }
            names => names.join(""),
        }
    }

    /// Returns the run of a violation of a weaker program.
    pub fn run<'v>(&'v self, violation: &'v WeakViolation) -> FencedRun<'v> {
        let original = &self.problems[violation.problem];
        let left = &violation.left;
        let program = placement::fenced(&original.program, left, WrittenFences::Dropped);
        let model = &self.models[violation.model];
        let problem = Problem { program, ..original.clone() };
        FencedRun { problem, model, evidence: &violation.evidence }
    }

    /// Returns the run of a violation of the original program.
    pub fn original_run<'v>(&'v self, violation: &'v WeakViolation) -> FencedRun<'v> {
        let problem = self.problems[violation.problem].clone();
        FencedRun { problem, model: &self.models[violation.model], evidence: &violation.evidence }
    }
}

/// Returns the first line of the answer.
pub fn headline(subject: &WeakenSubject<'_>, answer: &WeakenAnswer, paint: Paint) -> String {
    let models = subject.models_text();
    let result = match answer {
        WeakenAnswer::Found(found) => {
            let parts = found.left.first().map(|left| subject.parts(left)).unwrap_or_default();
            let weaker = parts.iter().filter(|part| part.is_weaker()).count();
            let all = parts.iter().filter(|part| !part.is_weakest).count();
            match (parts.len(), weaker) {
                (0, _) => paint.good("nothing to weaken: the program writes no order and no fence"),
                (_, 0) => {
                    paint.good("CANNOT BE WEAKER: every order and fence is as weak as possible")
                }
                (_, _) => {
                    let word = paint.good("CAN BE WEAKER");
                    let list = match (found.left.len(), found.complete) {
                        (1, true) => "the only maximal weakening".to_string(),
                        (count, true) => format!("one of {count} maximal weakenings"),
                        (count, false) => format!("one of more than {count} maximal weakenings"),
                    };
                    let what = if all == 1 { "order or fence" } else { "orders and fences" };
                    format!("{word}: {weaker} of {all} {what} ({list}; verified under {models})")
                }
            }
        }
        WeakenAnswer::Violated(violation) => {
            let run = subject.original_run(violation);
            let model = shown(run.model);
            format!("{} under {model}: {}", paint.bad("VIOLATED"), run.message())
        }
        WeakenAnswer::Undecided { model, reason } => {
            let model = shown(&subject.models[*model]);
            let why = explain(reason);
            format!("{}: not verified under {model}: {why}", paint.unsure("NO ANSWER"))
        }
        WeakenAnswer::Stopped(_) => {
            format!("{}: a limit was reached; raise the limits", paint.unsure("NO ANSWER"))
        }
    };
    format!("{}  {}  {result}\n", printable(subject.file), paint.strong(&models))
}

/// Returns what the answer covers and what it does not.
pub fn coverage(subject: &WeakenSubject<'_>, found: &Weakenings) -> String {
    let models = subject.models_text();
    let covers_arm = subject.models.iter().any(ModelSpec::has_ordered_accesses);
    let others = if covers_arm { "" } else { ", such as ARM," };
    let mut text = format!(
        "note: this holds for {models} only. Compilers and other machines{others} are not \
         covered:\n      they may need the stronger orders.\n"
    );
    if found.undecided > 0 {
        let programs = counted(found.undecided as u64, "weaker program");
        writeln!(text, "note: {programs} could not be decided and count as not correct")
            .expect("writing to a string cannot fail");
    }
    text
}

/// Returns one line for each order and fence: what it can be in the first weakening. Orders that
/// have no effect in the original are only counted.
pub fn parts(subject: &WeakenSubject<'_>, found: &Weakenings) -> String {
    let Some(left) = found.left.first() else { return String::new() };
    let parts = subject.parts(left);
    let weakest = parts.iter().filter(|part| part.is_weakest).count();
    let rows: Vec<[String; 4]> = parts
        .iter()
        .filter(|part| !part.is_weakest)
        .map(|part| {
            let stays = if part.is_weaker() { "" } else { "stays: " };
            [
                part.place.clone(),
                part.what.into(),
                format!("{stays}{}", part.change()),
                format!("`{}` in {}", part.text, printable(&part.function)),
            ]
        })
        .collect();
    let widest = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let [lines, kinds, changes] = [0, 1, 2].map(|column| widest(column).unwrap_or(0));
    let mut text = String::new();
    for [line, kind, change, place] in &rows {
        writeln!(text, "  {line:<lines$}  {kind:<kinds$}  {change:<changes$}  {place}")
            .expect("writing to a string cannot fail");
    }
    if weakest > 0 {
        let orders = counted(weakest as u64, "order");
        let verb = if weakest == 1 { "is" } else { "are" };
        writeln!(text, "  {orders} of other accesses {verb} as weak as possible already")
            .expect("writing to a string cannot fail");
    }
    text
}

/// Returns the other maximal weakenings.
pub fn others(subject: &WeakenSubject<'_>, found: &Weakenings) -> String {
    let mut text = String::new();
    for (at, left) in found.left.iter().enumerate().skip(1) {
        let parts = subject.parts(left);
        let weaker = parts.iter().filter(|part| part.is_weaker());
        let weaker: Vec<String> =
            weaker.map(|part| format!("{} {} {}", part.place, part.what, part.change())).collect();
        writeln!(text, "maximal weakening {}: {}", at + 1, weaker.join(", "))
            .expect("writing to a string cannot fail");
    }
    if !found.complete {
        text.push_str("... and more maximal weakenings\n");
    }
    text
}

/// Returns the traces of the violations that occur if a part of the first weakening is weaker.
pub fn traces(subject: &WeakenSubject<'_>, found: &Weakenings, paint: Paint) -> String {
    let program = &subject.problems[0].program;
    let mut text = String::new();
    for (at, (atom, violation)) in found.needs.iter().enumerate() {
        let place = program.place(atom.place);
        let line = wording::place(program, place.label);
        let what = statement(program, place.label, MAX_STATEMENT);
        let name = format!("trace {}: with a weaker `{what}` ({line})", at + 1);
        let picture = match violation {
            Some(violation) => subject.run(violation).picture(&name, paint),
            None => format!("{name}: no answer within the limits\n"),
        };
        writeln!(text, "\n{}", picture.trim_end()).expect("writing to a string cannot fail");
    }
    text
}
