//! What inference answers, for programs. The form is described by `infer.schema.json` in the book; within one
//! major version keys are added, never renamed or dropped.

use crate::json::{InputError, TraceRecord};
use crate::repair::{Shown, Subject};
use crate::verdict_line::{explain, reason};
use crate::violation;
use fencepost_engines::{Inconclusive, Statistics};
use fencepost_infer::constraint::Constraint;
use fencepost_infer::menu::Dish;
use fencepost_infer::repair::{Constraints, Inference, Repair, Sufficiency, Unrepairable};
use fencepost_ir::{Atom, Barrier, FenceKinds, PlaceId, Placement};
use fencepost_models::ModelSpec;
use serde::Serialize;

/// The whole answer of `fencepost infer --format json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct InferReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `infer`.
    pub command: String,
    /// The file, as it was named.
    pub file: String,
    /// The model's name.
    pub model: String,
    /// The way of inference.
    pub method: String,
    /// The verifier's name.
    pub engine: String,
    /// `correct`, `repaired`, `unrepairable` or `gave_up`; none when the input could not be used.
    pub result: Option<&'static str>,
    /// A stable word for why there is no repair, or what ended the search.
    pub reason: Option<&'static str>,
    /// The same in a sentence, for people.
    pub message: Option<String>,
    /// Whether no cheaper placement is enough.
    pub optimal: bool,
    /// How well it is known that the placements are enough: `verified` or `bounded`.
    pub sufficient: Option<&'static str>,
    /// The largest number of pending accesses for which they are, when bounded.
    pub bound: Option<u32>,
    /// What each placement costs; when inference gave up, the least that a repair costs.
    pub cost: u32,
    /// The placements; the first is recommended, and justified.
    pub placements: Vec<PlacementRecord>,
    /// Whether there are more placements of this cost than are listed, if all were asked for.
    pub more_placements: bool,
    /// The orderings that the papers' method enforces.
    pub constraints: Option<ConstraintsRecord>,
    /// The author's fences that the recommended placement does without, or has with other kinds.
    pub redundant: Vec<RedundantRecord>,
    /// The recommended change, as a unified diff.
    pub diff: String,
    /// The programs it was about: one for each client.
    pub clients: Vec<ClientRecord>,
    /// How many placements were tried before the last one.
    pub rounds: usize,
    /// Seconds it took.
    pub seconds: f64,
    /// Where the new source was written, if it was.
    pub written: Option<String>,
    /// What no fence prevents.
    pub violation: Option<ViolationRecord>,
    /// Inputs that could not be used.
    pub errors: Vec<InputError>,
}

/// The whole answer for several models.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SeveralReports {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `infer`.
    pub command: String,
    /// The file, as it was named.
    pub file: String,
    /// The answer under each model, in the order asked for; none when the input could not be used.
    pub reports: Vec<InferReport>,
    /// Inputs that could not be used.
    pub errors: Vec<InputError>,
}

impl SeveralReports {
    /// These answers; or what could not be used.
    pub fn new(
        version: &str,
        file: &str,
        reports: Vec<InferReport>,
        errors: Vec<InputError>,
    ) -> Self {
        let (fencepost, command, file) = (version.into(), "infer".into(), file.into());
        SeveralReports { fencepost, command, file, reports, errors }
    }
}

/// Fences that are enough.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlacementRecord {
    /// What it costs.
    pub cost: u32,
    /// The fences, in the order of the source.
    pub fences: Vec<FenceRecord>,
}

/// A fence and its place.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FenceRecord {
    /// The file, as it was named.
    pub file: String,
    /// The line of what follows it in the source as it was, from 1.
    pub line: u32,
    /// The column of that, from 1.
    pub column: u32,
    /// The kind, as `--fences` names it.
    pub kind: String,
    /// The statement to add.
    pub statement: String,
    /// What it stands before.
    pub position: Position,
    /// The procedure or thread template it is in.
    pub function: String,
    /// What goes wrong without it; of the recommended placement only.
    pub justification: Option<ViolationRecord>,
}

/// Where a fence stands.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// Before this statement.
    Before(String),
    /// In the place of this fence of the author.
    Instead(String),
    /// At the end of a block.
    #[serde(rename = "end of block")]
    EndOfBlock,
}

/// An avoid formula over orderings `before < after` of statements.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConstraintsRecord {
    /// How many orderings satisfy it at least.
    pub fewest: usize,
    /// Its minimal models: sets of orderings, small ones first.
    pub models: Vec<Vec<OrderingRecord>>,
    /// Whether these are all.
    pub complete: bool,
    /// States it was computed from.
    pub states: u64,
    /// Steps between them.
    pub edges: u64,
    /// The bound on pending accesses, if it mattered.
    pub bound: Option<u32>,
}

/// `before < after`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OrderingRecord {
    /// What takes effect first.
    pub before: StatementRecord,
    /// What may not overtake it.
    pub after: StatementRecord,
}

/// A statement of the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StatementRecord {
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// Its text.
    pub text: String,
    /// The procedure or thread template it is in.
    pub function: String,
}

impl ConstraintsRecord {
    fn new(subject: &Subject<'_>, constraints: &Constraints) -> Self {
        let program = &subject.problems[0].program;
        let side = |label| {
            let info = program.label(label);
            StatementRecord {
                line: info.span.line,
                column: info.span.column,
                text: info.text.clone(),
                function: info.function.clone(),
            }
        };
        let ordering =
            |c: &Constraint| OrderingRecord { before: side(c.before), after: side(c.after) };
        let models = constraints.models.iter().map(|model| model.iter().map(ordering).collect());
        ConstraintsRecord {
            fewest: constraints.fewest,
            models: models.collect(),
            complete: constraints.complete,
            states: constraints.states,
            edges: constraints.edges,
            bound: constraints.bound,
        }
    }
}

/// Something that goes wrong: a run as `check` has it, and what is wrong with it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ViolationRecord {
    /// In which client, where there are some.
    pub client: Option<String>,
    /// Under which model.
    pub model: String,
    /// A stable word for what is violated.
    pub reason: &'static str,
    /// The property concerned, as the language writes it.
    pub property: String,
    /// The same in a sentence, for people.
    pub message: String,
    /// Where the run was stored, if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_file: Option<String>,
    /// The run.
    #[serde(flatten)]
    pub trace: Option<TraceRecord>,
}

/// A fence of the author that is not needed as it is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RedundantRecord {
    /// Its line, from 1.
    pub line: u32,
    /// Its column, from 1.
    pub column: u32,
    /// What it is.
    pub kind: String,
    /// What is left of it; none if nothing is.
    pub instead: Option<String>,
    /// The procedure or thread template it is in.
    pub function: String,
}

/// What is known of one program with the recommended placement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClientRecord {
    /// The client; none in a file without clients.
    pub client: Option<String>,
    /// `verified`, `violated` or `inconclusive`.
    pub verdict: &'static str,
    /// A stable word for what ended an inconclusive search.
    pub reason: Option<&'static str>,
    /// The same in a sentence, for people.
    pub message: Option<String>,
    /// Which way of looking made the verdict: `explicit`, or an abstract domain as in `fd k=1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// States stored by the last search.
    pub states: u64,
    /// The bound on pending accesses it used.
    pub bound: Option<u32>,
}

/// What the binary adds to an answer.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Beside {
    /// The version of Fencepost.
    pub version: String,
    /// The change, as a diff.
    pub diff: String,
    /// How long it took.
    pub seconds: f64,
    /// Where the new source was written.
    pub written: Option<String>,
    /// Where runs were stored: one for each fence, or that of what cannot be repaired.
    pub trace_files: Vec<Option<String>>,
}

impl InferReport {
    /// An input that could not be used.
    pub fn unusable(version: &str, file: &str, model: &str, errors: Vec<InputError>) -> Self {
        InferReport {
            fencepost: version.into(),
            command: "infer".into(),
            file: file.into(),
            model: model.into(),
            method: String::new(),
            engine: String::new(),
            result: None,
            reason: None,
            message: None,
            optimal: false,
            sufficient: None,
            bound: None,
            cost: 0,
            placements: Vec::new(),
            more_placements: false,
            constraints: None,
            redundant: Vec::new(),
            diff: String::new(),
            clients: Vec::new(),
            rounds: 0,
            seconds: 0.0,
            written: None,
            violation: None,
            errors,
        }
    }

    /// An answer. `sc` is the model of that name.
    pub fn new(
        subject: &Subject<'_>,
        inference: &Inference,
        sc: &ModelSpec,
        beside: &Beside,
    ) -> Self {
        let mut report =
            Self::unusable(&beside.version, subject.file, &subject.model.name, Vec::new());
        report.method = subject.method.into();
        report.engine = subject.engine.into();
        report.diff.clone_from(&beside.diff);
        report.seconds = (beside.seconds * 1e6).round() / 1e6;
        report.written.clone_from(&beside.written);
        let clients = |open: &[(usize, Inconclusive)], figures: &[Statistics]| {
            let all = 0..subject.problems.len();
            all.map(|at| ClientRecord::new(subject, at, open, figures)).collect()
        };
        match inference {
            Inference::Repaired(repair) => {
                let first = &repair.placements[0];
                let (sufficient, open) = match &repair.sufficiency {
                    Sufficiency::Verified => ("verified", &[][..]),
                    Sufficiency::Bounded(open) => ("bounded", &open[..]),
                };
                report.result = Some(if first.atoms.is_empty() { "correct" } else { "repaired" });
                report.optimal = repair.optimal;
                report.sufficient = Some(sufficient);
                report.bound = open.iter().filter_map(|(_, why)| why.clean_up_to()).min();
                report.cost = repair.price;
                report.placements = placements(subject, repair, beside);
                report.more_placements = repair.more;
                report.constraints =
                    repair.constraints.as_ref().map(|c| ConstraintsRecord::new(subject, c));
                report.redundant = redundant(subject, first);
                report.clients = clients(open, &repair.statistics);
                for (record, by) in report.clients.iter_mut().zip(&repair.deciders) {
                    record.decided_by = Some(by.to_string());
                }
                report.rounds = repair.rounds.len();
            }
            Inference::Unrepairable(why) => {
                let (problem, word, message) = match why {
                    Unrepairable::WrongUnderSc { problem, .. } => {
                        (problem, "sc", "wrong under sequential consistency")
                    }
                    Unrepairable::OutOfReach { problem, .. } => {
                        (problem, "out-of-reach", "no fence that may be placed prevents the run")
                    }
                    Unrepairable::NoWitness { problem } => (
                        problem,
                        "no-witness",
                        "no run that a `final exists` asks for is left, or there is none",
                    ),
                };
                report.result = Some("unrepairable");
                report.reason = Some(word);
                report.message = Some(message.into());
                report.violation = subject.hopeless(why, sc).map(|shown| {
                    let file = beside.trace_files.first().cloned().flatten();
                    ViolationRecord::new(&shown, file)
                });
                let mut client = ClientRecord::new(subject, *problem, &[], &[]);
                client.verdict = "violated";
                report.clients = vec![client];
            }
            Inference::GaveUp(gave_up) => {
                report.result = Some("gave_up");
                let first = gave_up.undecided.first().map(|(_, why)| why);
                report.reason = Some(first.map_or("interrupted", |why| reason(why.reason())));
                report.message = gave_up.because.clone().or(first.map(explain));
                if gave_up.because.is_some() {
                    report.reason = Some("method");
                }
                report.cost = gave_up.price;
                report.clients = clients(&gave_up.undecided, &[]);
                report.rounds = gave_up.rounds.len();
            }
        }
        report
    }
}

fn placements(subject: &Subject<'_>, repair: &Repair, beside: &Beside) -> Vec<PlacementRecord> {
    let all = repair.placements.iter().enumerate();
    let record = |(at, placement): (usize, &Placement)| {
        let fences = placement.atoms.iter().enumerate().map(|(which, atom)| {
            let mut fence = FenceRecord::new(subject, *atom);
            if at == 0 {
                let file = beside.trace_files.get(which).cloned().flatten();
                let without = subject.without(repair, *atom);
                fence.justification = without.map(|shown| ViolationRecord::new(&shown, file));
            }
            fence
        });
        PlacementRecord { cost: repair.price, fences: fences.collect() }
    };
    all.map(record).collect()
}

fn redundant(subject: &Subject<'_>, placement: &Placement) -> Vec<RedundantRecord> {
    let program = &subject.problems[0].program;
    let record = |(place, own, left): (PlaceId, FenceKinds, FenceKinds)| {
        let info = program.label(program.place(place).label);
        RedundantRecord {
            line: info.span.line,
            column: info.span.column,
            kind: own.listed(),
            instead: (left != Default::default()).then(|| left.listed()),
            function: info.function.clone(),
        }
    };
    subject.redundant(placement).into_iter().map(record).collect()
}

impl FenceRecord {
    fn new(subject: &Subject<'_>, atom: Atom) -> Self {
        let program = &subject.problems[0].program;
        let place = program.place(atom.place);
        let info = program.label(place.label);
        FenceRecord {
            file: subject.file.into(),
            line: info.span.line,
            column: info.span.column,
            kind: match atom.barrier {
                Barrier::Fence(kinds) => Dish::Fence(kinds).name(),
                Barrier::Drain(_) => Dish::Drain.name(),
            },
            statement: subject.statement(atom.barrier),
            position: match (place.written, place.at_end) {
                (Some(_), _) => Position::Instead(info.text.clone()),
                (None, true) => Position::EndOfBlock,
                (None, false) => Position::Before(info.text.clone()),
            },
            function: info.function.clone(),
            justification: None,
        }
    }
}

impl ViolationRecord {
    fn new(shown: &Shown<'_>, trace_file: Option<String>) -> Self {
        let story = shown.story();
        let evidence = shown.evidence;
        let trace = (story.as_ref())
            .map(|story| TraceRecord::new(shown.model, story, evidence.is_shortest()));
        let client = &shown.problem.name;
        ViolationRecord {
            client: (!client.is_empty()).then(|| client.clone()),
            model: shown.model.name.to_string(),
            reason: violation::word(evidence.violation().into()),
            property: violation::property(&shown.problem, evidence.violation().into()),
            message: shown.message(),
            trace_file,
            trace,
        }
    }
}

impl ClientRecord {
    fn new(
        subject: &Subject<'_>,
        at: usize,
        open: &[(usize, Inconclusive)],
        figures: &[Statistics],
    ) -> Self {
        let name = &subject.problems[at].name;
        let why = open.iter().find(|(problem, _)| *problem == at).map(|(_, why)| why);
        let figures = figures.get(at).copied().unwrap_or_default();
        ClientRecord {
            client: (!name.is_empty()).then(|| name.clone()),
            verdict: if why.is_some() { "inconclusive" } else { "verified" },
            reason: why.map(|why| reason(why.reason())),
            message: why.map(explain),
            decided_by: None,
            states: figures.states,
            bound: figures.bound,
        }
    }
}
