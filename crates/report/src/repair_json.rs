//! The answer of inference as JSON. `infer.schema.json` in the book describes the format. Within
//! one major version, keys are added but never renamed or removed.

use crate::json::{InputError, TraceRecord, rounded};
use crate::repair::{FencedRun, Subject};
use crate::verdict_line::{explain, reason_word};
use crate::violation;
use fencepost_engines::{Inconclusive, RobustDefinition, Statistics};
use fencepost_infer::constraint::Constraint;
use fencepost_infer::fence_costs::FenceKind;
use fencepost_infer::repair::{Constraints, Inference, Repair, Sufficiency, Unrepairable};
use fencepost_ir::{Atom, Barrier, FenceKinds, Label, PlaceId, Placement};
use fencepost_models::ModelSpec;
use serde::Serialize;

/// The output of `fencepost infer --format json` for one model.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct InferReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `infer`.
    pub command: String,
    /// The file name, as given by the user.
    pub file: String,
    /// The model's name.
    pub model: String,
    /// Similar models that the result does not cover.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub not_covered: &'static [&'static str],
    /// The inference method.
    pub method: String,
    /// The engine that verifies placements.
    pub engine: String,
    /// For robustness: the definition, `strict` or `without-failed-spins`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub definition: Option<&'static str>,
    /// `correct`, `repaired`, `unrepairable` or `gave_up`; none when the input has errors.
    pub result: Option<&'static str>,
    /// A stable word for the reason why there is no repair.
    pub reason: Option<&'static str>,
    /// The reason why there is no repair, in a sentence.
    pub message: Option<String>,
    /// Whether no cheaper placement is sufficient.
    pub optimal: bool,
    /// How the placements were checked: `verified` or `bounded`.
    pub sufficient: Option<&'static str>,
    /// When bounded: the largest number of pending accesses for which they are sufficient.
    pub bound: Option<u32>,
    /// The cost of each placement; when inference gave up, a lower bound on the cost of a repair.
    pub cost: u32,
    /// The placements; the first is recommended and has justifications.
    pub placements: Vec<PlacementRecord>,
    /// If all placements were requested: whether there are more of this cost than are listed.
    pub more_placements: bool,
    /// The avoid formula of the papers' method.
    pub constraints: Option<ConstraintsRecord>,
    /// The fences of the original source that the recommended placement omits or changes.
    pub redundant: Vec<RedundantRecord>,
    /// The recommended change, as a unified diff.
    pub diff: String,
    /// The folder in which `patch -p1` applies the diff, if it is not the current one.
    pub diff_folder: Option<String>,
    /// The names of the files that the change concerns.
    pub changed_files: Vec<String>,
    /// The verdict for each client.
    pub clients: Vec<ClientRecord>,
    /// The number of placements tried before the last one.
    pub rounds: usize,
    /// The wall-clock time in seconds.
    pub seconds: f64,
    /// The CPU time of all threads in seconds. None if it is unknown.
    pub cpu_seconds: Option<f64>,
    /// The path of the repaired source, if it was written. The first path if several files were
    /// written.
    pub written: Option<String>,
    /// The paths of all files that were written.
    pub written_files: Vec<String>,
    /// The path of the certificate of optimality, if it was written.
    pub certificate: Option<String>,
    /// The violation that no fence prevents.
    pub violation: Option<ViolationRecord>,
    /// Errors in the input.
    pub errors: Vec<InputError>,
}

/// The output of `fencepost infer --format json` for several models.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MultiModelReport {
    /// The version of Fencepost.
    pub fencepost: String,
    /// Always `infer`.
    pub command: String,
    /// The file name, as given by the user.
    pub file: String,
    /// The answer under each model, in the order of the request; empty when the input has errors.
    pub reports: Vec<InferReport>,
    /// Errors in the input.
    pub errors: Vec<InputError>,
}

impl MultiModelReport {
    /// Creates a report.
    pub fn new(
        version: &str,
        file: &str,
        reports: Vec<InferReport>,
        errors: Vec<InputError>,
    ) -> Self {
        let (fencepost, command, file) = (version.into(), "infer".into(), file.into());
        MultiModelReport { fencepost, command, file, reports, errors }
    }
}

/// A sufficient placement of fences.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PlacementRecord {
    /// The cost of the placement.
    pub cost: u32,
    /// The fences, in source order.
    pub fences: Vec<FenceRecord>,
}

/// A fence and its position.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct FenceRecord {
    /// The file name, as given by the user, or the name of an included file.
    pub file: String,
    /// The line of the following statement in the original source, from 1.
    pub line: u32,
    /// The column of the following statement, from 1.
    pub column: u32,
    /// The kind, as `--fences` names it.
    pub kind: String,
    /// The statement to add.
    pub statement: String,
    /// For a changed memory order: the old and the new order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<OrderRecord>,
    /// The position relative to the original source.
    pub position: Position,
    /// The procedure or thread template that contains the fence.
    pub function: String,
    /// The violation without the fence; only in the recommended placement.
    pub justification: Option<ViolationRecord>,
}

/// A changed memory order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OrderRecord {
    /// `load`, `store` or `update`.
    pub access: &'static str,
    /// The order in the original source.
    pub from: String,
    /// The new order.
    pub to: String,
}

/// The position of a fence or of a changed order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Position {
    /// Before this statement.
    Before(String),
    /// In place of this fence of the original source.
    Instead(String),
    /// The order of this access.
    OrderOf(String),
    /// At the end of a block.
    #[serde(rename = "end of block")]
    EndOfBlock,
}

/// An avoid formula over orderings `before < after` of statements.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ConstraintsRecord {
    /// The size of a smallest set of orderings that satisfies the formula.
    pub fewest: usize,
    /// The minimal models of the formula: sets of orderings, smallest first.
    pub models: Vec<Vec<OrderingRecord>>,
    /// Whether `models` has all minimal models.
    pub complete: bool,
    /// The number of states from which the formula was computed.
    pub states: u64,
    /// The number of steps between these states.
    pub edges: u64,
    /// The bound on pending accesses, if it restricted the search.
    pub bound: Option<u32>,
}

/// An ordering `before < after`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct OrderingRecord {
    /// The statement that takes effect first.
    pub before: StatementRecord,
    /// The statement that must not overtake `before`.
    pub after: StatementRecord,
}

/// A statement of the source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct StatementRecord {
    /// The file name, as given by the user, or the name of an included file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The source text.
    pub text: String,
    /// The procedure or thread template that contains the statement.
    pub function: String,
}

impl ConstraintsRecord {
    fn new(subject: &Subject<'_>, constraints: &Constraints) -> Self {
        let program = &subject.problems[0].program;
        let side = |label| {
            let info = program.label(label);
            StatementRecord {
                file: file_of(subject, label),
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

/// A violation and its run, in the format of `check`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ViolationRecord {
    /// The client, if the file has clients.
    pub client: Option<String>,
    /// The model's name.
    pub model: String,
    /// A stable word for the violation.
    pub reason: &'static str,
    /// The property violated, as the language writes it.
    pub property: String,
    /// The violation, in a sentence.
    pub message: String,
    /// The path of the stored trace, if one was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace_file: Option<String>,
    /// The run.
    #[serde(flatten)]
    pub trace: Option<TraceRecord>,
}

/// A fence of the original source that is redundant or too strong.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RedundantRecord {
    /// The file name, as given by the user, or the name of an included file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The kinds in the original source.
    pub kind: String,
    /// The kinds in the repair; none if the fence is redundant.
    pub instead: Option<String>,
    /// The procedure or thread template that contains the fence.
    pub function: String,
}

/// The verdict for one program with the recommended placement.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ClientRecord {
    /// The client; none in a file without clients.
    pub client: Option<String>,
    /// `verified`, `violated` or `inconclusive`.
    pub verdict: &'static str,
    /// A stable word for the inconclusive reason.
    pub reason: Option<&'static str>,
    /// The inconclusive reason, in a sentence.
    pub message: Option<String>,
    /// The analysis that decided: `explicit`, ..., or an abstract domain such as `fd k=1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// The number of states stored by the last search.
    pub states: u64,
    /// The bound on pending accesses of the last search.
    pub bound: Option<u32>,
}

/// Data that the caller adds to the answer of inference.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReportExtras {
    /// The version of Fencepost.
    pub version: String,
    /// The change, as a unified diff.
    pub diff: String,
    /// The wall-clock time in seconds.
    pub seconds: f64,
    /// The CPU time in seconds. None if it is unknown.
    pub cpu_seconds: Option<f64>,
    /// The names of the files that the repair changes.
    pub changed_files: Vec<String>,
    /// The folder in which the diff applies, if it is not the current one.
    pub diff_folder: Option<String>,
    /// The paths of the files that were written.
    pub written_files: Vec<String>,
    /// The path of the certificate of optimality, if it was written.
    pub certificate: Option<String>,
    /// The paths of stored traces: one for each fence, or one for an unrepairable program.
    pub trace_files: Vec<Option<String>>,
}

impl InferReport {
    /// Creates a report for an input with errors.
    pub fn unusable(version: &str, file: &str, model: &str, errors: Vec<InputError>) -> Self {
        InferReport {
            fencepost: version.into(),
            command: "infer".into(),
            file: file.into(),
            model: model.into(),
            not_covered: &[],
            method: String::new(),
            engine: String::new(),
            definition: None,
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
            diff_folder: None,
            changed_files: Vec::new(),
            clients: Vec::new(),
            rounds: 0,
            seconds: 0.0,
            cpu_seconds: None,
            written: None,
            written_files: Vec::new(),
            certificate: None,
            violation: None,
            errors,
        }
    }

    /// Creates the report of an inference. `sc` is the model of that name.
    pub fn new(
        subject: &Subject<'_>,
        inference: &Inference,
        sc: &ModelSpec,
        extras: &ReportExtras,
    ) -> Self {
        let mut report =
            Self::unusable(&extras.version, subject.file, &subject.model.name, Vec::new());
        report.not_covered = subject.model.not_covered();
        report.method = subject.method.into();
        report.engine = subject.engine.into();
        report.definition = subject.definition.map(RobustDefinition::name);
        report.diff.clone_from(&extras.diff);
        report.diff_folder.clone_from(&extras.diff_folder);
        report.changed_files.clone_from(&extras.changed_files);
        report.seconds = rounded(extras.seconds);
        report.cpu_seconds = extras.cpu_seconds.map(rounded);
        report.written = extras.written_files.first().cloned();
        report.written_files.clone_from(&extras.written_files);
        report.certificate.clone_from(&extras.certificate);
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
                report.cost = repair.cost;
                report.placements = placements(subject, repair, extras);
                report.more_placements = repair.has_more;
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
                    Unrepairable::ViolatedUnderSc { problem, .. } => {
                        (problem, "sc", "violated even under SC: correct the program")
                    }
                    Unrepairable::NotPreventable { problem, .. } => {
                        (problem, "out-of-reach", "no allowed fence prevents the run")
                    }
                    Unrepairable::NoWitness { problem } => (
                        problem,
                        "no-witness",
                        "no run of the repaired program satisfies its `final exists`",
                    ),
                };
                report.result = Some("unrepairable");
                report.reason = Some(word);
                report.message = Some(message.into());
                report.violation = subject.unrepairable_run(why, sc).map(|shown| {
                    let file = extras.trace_files.first().cloned().flatten();
                    ViolationRecord::new(&shown, file)
                });
                let mut client = ClientRecord::new(subject, *problem, &[], &[]);
                client.verdict = "violated";
                report.clients = vec![client];
            }
            Inference::GaveUp(gave_up) => {
                report.result = Some("gave_up");
                let first = gave_up.undecided.first().map(|(_, why)| why);
                report.reason = Some(first.map_or("interrupted", |why| reason_word(why.reason())));
                report.message = gave_up.reason.clone().or(first.map(explain));
                if gave_up.reason.is_some() {
                    report.reason = Some("method");
                }
                report.cost = gave_up.cost;
                report.clients = clients(&gave_up.undecided, &[]);
                report.rounds = gave_up.rounds.len();
            }
        }
        report
    }
}

fn placements(
    subject: &Subject<'_>,
    repair: &Repair,
    extras: &ReportExtras,
) -> Vec<PlacementRecord> {
    let all = repair.placements.iter().enumerate();
    let record = |(at, placement): (usize, &Placement)| {
        let fences = placement.atoms.iter().enumerate().map(|(which, atom)| {
            let mut fence = FenceRecord::new(subject, *atom);
            if at == 0 {
                let file = extras.trace_files.get(which).cloned().flatten();
                let without = subject.run_without(repair, *atom);
                fence.justification = without.map(|shown| ViolationRecord::new(&shown, file));
            }
            fence
        });
        PlacementRecord { cost: repair.cost, fences: fences.collect() }
    };
    all.map(record).collect()
}

fn redundant(subject: &Subject<'_>, placement: &Placement) -> Vec<RedundantRecord> {
    let program = &subject.problems[0].program;
    let record = |(place, own, left): (PlaceId, FenceKinds, FenceKinds)| {
        let label = program.place(place).label;
        let info = program.label(label);
        RedundantRecord {
            file: file_of(subject, label),
            line: info.span.line,
            column: info.span.column,
            kind: own.listed(),
            instead: (left != Default::default()).then(|| left.listed()),
            function: info.function.clone(),
        }
    };
    subject.redundant(placement).into_iter().map(record).collect()
}

/// Returns the name of the file of a label.
fn file_of(subject: &Subject<'_>, label: Label) -> String {
    let included = &subject.problems[0].program.included;
    included.get(&label).map_or(subject.file, String::as_str).into()
}

impl FenceRecord {
    fn new(subject: &Subject<'_>, atom: Atom) -> Self {
        let program = &subject.problems[0].program;
        let place = program.place(atom.place);
        let info = program.label(place.label);
        FenceRecord {
            file: file_of(subject, place.label),
            line: info.span.line,
            column: info.span.column,
            kind: match atom.barrier {
                Barrier::Fence(kinds) => FenceKind::Fence(kinds).name(),
                Barrier::Drain(_) => FenceKind::Drain.name(),
                Barrier::Order(_) => "order".into(),
            },
            statement: subject.statement(atom),
            order: subject.order_change(atom).map(|change| OrderRecord {
                access: change.site.kind.name(),
                from: change.from.into(),
                to: change.to.into(),
            }),
            position: match (place.written, &place.order, place.at_end) {
                (Some(_), _, _) => Position::Instead(info.text.clone()),
                (None, Some(_), _) => Position::OrderOf(info.text.clone()),
                (None, None, true) => Position::EndOfBlock,
                (None, None, false) => Position::Before(info.text.clone()),
            },
            function: info.function.clone(),
            justification: None,
        }
    }
}

impl ViolationRecord {
    pub(crate) fn new(shown: &FencedRun<'_>, trace_file: Option<String>) -> Self {
        let trace_rows = shown.trace_rows();
        let evidence = shown.evidence;
        let trace = (trace_rows.as_ref())
            .map(|trace_rows| TraceRecord::new(shown.model, trace_rows, evidence.is_shortest()));
        let client = &shown.problem.name;
        ViolationRecord {
            client: (!client.is_empty()).then(|| client.clone()),
            model: shown.model.name.to_string(),
            reason: violation::claim_word(evidence.violation().into()),
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
            reason: why.map(|why| reason_word(why.reason())),
            message: why.map(explain),
            decided_by: None,
            states: figures.states,
            bound: figures.bound,
        }
    }
}
