//! Which fences make a program right under a model, at the lowest cost?
//!
//! The repaired text is compiled again and compared with the program that was verified, for every client. Where the
//! code differs, the new program is verified, too. Only then the text is returned.

use super::Control;
use super::check::EngineChoice;
use crate::search::SearchOptions;
use crate::source::Source;
use fencepost_engines::robust::RobustBy;
use fencepost_engines::{Engine, Explicit, Task, Verdict};
use fencepost_frontends::litmus::forbid::{forbid, forbidden};
use fencepost_frontends::repaired::Original;
use fencepost_frontends::{EditError, FenceSyntax};
use fencepost_infer::candidates::{Candidates, Restrictions};
use fencepost_infer::lazy::{self, Question};
use fencepost_infer::menu::{Dish, Menu};
use fencepost_infer::repair::{Inference, Sufficiency, Unrepairable};
use fencepost_infer::{clause, papers};
use fencepost_ir::{Atom, Placement, Problem, Written};
use fencepost_models::ModelSpec;
use fencepost_models::coherence::Domain;
use fencepost_report::Paint;
use fencepost_report::repair::{self, Shown, Subject};
use fencepost_report::repair_json::{Beside, InferReport};
use fencepost_report::trace::Story;
use fencepost_report::trace_file::TraceFile;
use fencepost_report::violation::{sentence, shown_by};
use fencepost_report::{diff, paint::printable};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;

/// How fences are found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Method {
    /// Clauses are learned from violations.
    #[default]
    Lazy,
    /// The papers' method: orderings that avoid every error state, enforced on every path; under an abstraction
    /// with heads of this length, if one is given.
    Fixpoint(Option<(Domain, u32)>),
}

impl Method {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Lazy => "lazy",
            Method::Fixpoint(_) => "fixpoint",
        }
    }
}

/// What may be placed, and how it is looked for.
#[derive(Clone, Debug, Default)]
pub struct RepairOptions {
    /// How fences are found.
    pub method: Method,
    /// The engine that verifies placements.
    pub verifier: EngineChoice,
    /// The kinds that may be placed; empty: those that make a difference under the model.
    pub fences: Vec<Dish>,
    /// Costs other than the usual ones.
    pub costs: Vec<(Dish, u32)>,
    /// List every cheapest placement.
    pub all: bool,
    /// Reconsider the fences that the program has.
    pub from_scratch: bool,
    /// Lines before which no fence may stand.
    pub forbidden_lines: Vec<u32>,
    /// Functions that fences may stand in; empty: all.
    pub only_in: Vec<String>,
}

/// A request for the cheapest fences.
///
/// ```
/// use fencepost::{Model, Source};
///
/// let source = Source::parse("sb.fp", "shared int x, y;
/// thread p { x = 1; a = y; }
/// thread q { y = 1; b = x; }
/// final forall p.a == 1 || q.b == 1;
/// ")?;
/// let repaired = source.repair(Model::TSO).run()?;
/// println!("{}", repaired.diff());
/// assert_eq!(repaired.diff().matches("\n+").count(), 3); // two fences and the header
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a request does nothing until it is run"]
pub struct Repair<'s> {
    source: Cow<'s, Source>,
    model: ModelSpec,
    repair: RepairOptions,
    options: SearchOptions,
    control: Control<'s>,
}

/// Why a request makes no sense.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RepairError {
    /// The language has no such fence.
    NoSuchFence {
        /// What was asked for.
        fence: String,
        /// The language.
        language: &'static str,
        /// What it has.
        known: String,
    },
    /// A cost for drains, which are not to be placed.
    UnusedDrainCost,
    /// No fence could stand before this line.
    NoPlace {
        /// The line.
        line: u32,
        /// Lines before which one could.
        known: String,
    },
    /// There is no such function.
    NoSuchFunction {
        /// Its name.
        name: String,
        /// Functions that there are.
        known: String,
    },
    /// The model has no abstraction.
    NoAbstraction,
}

impl fmt::Display for RepairError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RepairError::NoSuchFence { language, known, .. } => {
                write!(f, "{language} has no such fence; it has {known}")
            }
            RepairError::UnusedDrainCost => {
                f.write_str("drains are placed only if --fences names them")
            }
            RepairError::NoPlace { known, .. } => {
                write!(f, "no fence could stand there; one could at {known}")
            }
            RepairError::NoSuchFunction { known, .. } => {
                write!(f, "there is no such function; there are {known}")
            }
            RepairError::NoAbstraction => f.write_str("an abstraction needs tso or pso"),
        }
    }
}

impl std::error::Error for RepairError {}

impl Source {
    /// Asks for the cheapest fences that make the programs right under a model.
    pub fn repair(&self, model: ModelSpec) -> Repair<'_> {
        Repair {
            source: self.with_places(),
            model,
            repair: RepairOptions::default(),
            options: SearchOptions::default(),
            control: Control::default(),
        }
    }
}

impl<'s> Repair<'s> {
    search_methods!();

    /// What may be placed, and how it is looked for.
    pub fn repair_options(mut self, options: RepairOptions) -> Self {
        self.repair = options;
        self
    }

    /// Looks for fences.
    pub fn run(self) -> Result<Repaired<'s>, RepairError> {
        Ok(self.prepare()?.run())
    }

    /// Checks the request, without running it.
    pub fn prepare(self) -> Result<PreparedRepair<'s>, RepairError> {
        let mut problems = self.source.programs().to_vec();
        let text = self.source.text();
        // A robust test has the outcomes it has under SC, whatever is asked about them.
        let robust = matches!(self.repair.verifier, EngineChoice::Robust(_));
        let forbidding = self.source.is_litmus() && !robust;
        let condition = forbidding.then(|| forbid(text, &mut problems)).flatten();
        let fences = self.source.frontend().fences(text);
        if let Method::Fixpoint(Some((domain, k))) = self.repair.method
            && self.model.abstracted(domain, k, true).is_none()
        {
            return Err(RepairError::NoAbstraction);
        }
        let menu = menu(&self.repair, &self.model, &fences)?;
        let restrictions = restrictions(&self.repair, &problems)?;
        let written = if self.repair.from_scratch { Written::Dropped } else { Written::Kept };
        let candidates = Candidates::new(&problems, &menu, &restrictions, written);
        Ok(PreparedRepair { request: self, problems, condition, fences, candidates })
    }
}

/// What may be placed.
fn menu(
    options: &RepairOptions,
    model: &ModelSpec,
    fences: &FenceSyntax,
) -> Result<Menu, RepairError> {
    let cost = |dish: &Dish| match dish {
        Dish::Fence(kinds) => fences.insertable(*kinds).map(|fence| fence.cost),
        Dish::Drain => fences.drain.map(|_| dish.usual_price()),
    };
    let mut asked = Vec::new();
    for dish in &options.fences {
        let Some(cost) = cost(dish) else {
            let known = fences
                .offered()
                .map(|fence| format!("{} ({})", Dish::Fence(fence.kinds).name(), fence.short()));
            let known = known.collect::<Vec<_>>().join(", ");
            let (fence, language) = (dish.name(), fences.language);
            return Err(RepairError::NoSuchFence { fence, language, known });
        };
        asked.push((*dish, cost));
    }
    let mut menu = if asked.is_empty() {
        Menu::useful(model, fences.offered().map(|fence| (fence.kinds, fence.cost)))
    } else {
        Menu::new(asked)
    };
    for (kind, cost) in &options.costs {
        let offered = menu.dishes.iter().any(|(other, _)| other == kind);
        if *kind == Dish::Drain && !offered {
            return Err(RepairError::UnusedDrainCost);
        }
        menu.charge(*kind, *cost);
    }
    Ok(menu)
}

/// Where fences may be put.
fn restrictions(
    options: &RepairOptions,
    problems: &[Problem],
) -> Result<Restrictions, RepairError> {
    let program = &problems[0].program;
    let places = program.places.iter().map(|place| program.label(place.label));
    let lines: BTreeSet<u32> = places.clone().map(|info| info.span.line).collect();
    let functions: BTreeSet<&str> = places.map(|info| info.function.as_str()).collect();
    if let Some(line) = options.forbidden_lines.iter().find(|line| !lines.contains(line)) {
        let known = listed(lines.iter().map(u32::to_string));
        return Err(RepairError::NoPlace { line: *line, known });
    }
    if let Some(name) = options.only_in.iter().find(|name| !functions.contains(name.as_str())) {
        let known = listed(functions.iter().map(|name| format!("`{name}`")));
        return Err(RepairError::NoSuchFunction { name: printable(name), known });
    }
    Ok(Restrictions {
        forbidden_lines: options.forbidden_lines.iter().copied().collect(),
        functions: options.only_in.iter().cloned().collect(),
    })
}

/// What there is, but not more than a reader wants to see.
fn listed(all: impl Iterator<Item = String>) -> String {
    const MOST: usize = 20;
    let all: Vec<String> = all.collect();
    match all.len() {
        0 => "none".into(),
        len if len > MOST => format!("{}, ... ({len} in all)", all[..MOST].join(", ")),
        _ => all.join(", "),
    }
}

/// Fences are inferred for a text that was compiled, with fences that its language has.
const WRITABLE: &str = "the text of a program takes fences and is still a program";

/// A request that makes sense.
#[derive(Clone, Debug)]
pub struct PreparedRepair<'s> {
    request: Repair<'s>,
    problems: Vec<Problem>,
    condition: Option<String>,
    fences: FenceSyntax,
    candidates: Candidates,
}

impl<'s> PreparedRepair<'s> {
    /// The model.
    pub fn model(&self) -> &ModelSpec {
        &self.request.model
    }

    /// Looks for fences.
    ///
    /// # Panics
    /// When the repaired text does not compile to a program that is as right as the one that was verified: a bug
    /// in the front end.
    pub fn run(self) -> Repaired<'s> {
        let Repair { repair, options, control, model, .. } = &self.request;
        let engine = repair.verifier.engine();
        let question = Question {
            problems: &self.problems,
            model,
            candidates: &self.candidates,
            engine: engine.as_ref(),
            settings: options.settings,
            all: repair.all,
            abstraction: match repair.method {
                Method::Lazy => None,
                Method::Fixpoint(abstraction) => abstraction,
            },
        };
        let (inference, seconds) = control.run(options, |budget| match repair.method {
            Method::Lazy => lazy::infer(question, budget),
            Method::Fixpoint(_) => papers::infer(question, budget),
        });
        let text = self.repaired_text(&inference, engine.as_ref());
        let name = self.request.source.name();
        let before = self.request.source.text();
        let diff = text.as_ref().map(|text| diff::unified(name, before, text)).unwrap_or_default();
        let engine = engine.name();
        Repaired { prepared: self, inference, text, diff, seconds, engine }
    }

    fn original(&self) -> Original<'_> {
        let source = &self.request.source;
        Original {
            frontend: source.frontend(),
            text: source.text(),
            clients: source.clients(),
            problems: &self.problems,
        }
    }

    /// The repaired text, once it is known to be what was verified.
    fn repaired_text(&self, inference: &Inference, engine: &dyn Engine) -> Option<String> {
        let Inference::Repaired(repair) = inference else { return None };
        let Repair { options, control, model, .. } = &self.request;
        let repaired = self.original().repaired(&repair.placements[0], self.candidates.written);
        let repaired = repaired.expect(WRITABLE);
        for at in repaired.differing {
            let problem = repaired.problems[at].clone().with_requirements_of(&self.problems[at]);
            let task = Task { problem: &problem, model };
            let (answer, _) =
                control.run(options, |budget| engine.run(task, options.settings, budget));
            let holds = match answer.verdict {
                Verdict::Verified(_) => true,
                Verdict::Violated(_) => false,
                Verdict::Inconclusive(_) => repair.sufficiency != Sufficiency::Verified,
            };
            assert!(holds, "the text with the fences is as right as the program with them");
        }
        Some(repaired.text)
    }
}

/// What was found about fences.
#[derive(Clone, Debug)]
pub struct Repaired<'s> {
    prepared: PreparedRepair<'s>,
    inference: Inference,
    text: Option<String>,
    diff: String,
    seconds: f64,
    engine: &'static str,
}

/// A run that a fence prevents, found again in the text without that fence.
#[derive(Clone, Debug)]
pub struct PreventedRun {
    /// The client that it is a run of.
    pub client: String,
    /// The model.
    pub model: ModelSpec,
    /// For `fencepost replay`.
    pub file: TraceFile,
}

impl Repaired<'_> {
    /// What inference answers: placements, evidence for each fence, optimality.
    pub fn inference(&self) -> &Inference {
        &self.inference
    }

    /// The repaired text, if there is a repair.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The change as a unified diff; empty if there is none.
    pub fn diff(&self) -> &str {
        &self.diff
    }

    /// How long inference took.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The programs with places, as they were asked about.
    pub fn problems(&self) -> &[Problem] {
        &self.prepared.problems
    }

    /// For a litmus test: what its question is taken as.
    pub fn condition(&self) -> Option<&str> {
        self.prepared.condition.as_deref()
    }

    /// Whether a verified, or with `accept_bounded` a bounded, repair was found.
    pub fn is_accepted(&self, accept_bounded: bool) -> bool {
        match &self.inference {
            Inference::Repaired(repair) => match repair.sufficiency {
                Sufficiency::Verified => true,
                Sufficiency::Bounded(_) => accept_bounded,
            },
            Inference::Unrepairable(_) | Inference::GaveUp(_) => false,
        }
    }

    /// For the functions of [`fencepost_report::repair`].
    pub fn subject(&self) -> Subject<'_> {
        let PreparedRepair { request, problems, fences, candidates, .. } = &self.prepared;
        Subject {
            file: request.source.name(),
            model: &request.model,
            method: request.repair.method.name(),
            engine: self.engine,
            problems,
            candidates,
            fences,
            reductions: request.options.settings.reductions,
        }
    }

    /// What would prevent a run if every fence were allowed everywhere.
    pub fn fences_anywhere(&self, shown: &Shown<'_>) -> Vec<Atom> {
        let PreparedRepair { request, problems, fences, candidates, .. } = &self.prepared;
        let offered = fences.offered().map(|fence| (fence.kinds, fence.cost));
        let menu = Menu::useful(&request.model, offered);
        let anywhere = Restrictions::default();
        let all = Candidates::new(problems, &menu, &anywhere, candidates.written);
        let Some(story) = shown.story() else { return Vec::new() };
        let blocking = clause::clause(&shown.problem, &story.run, &all);
        clause::atoms(&blocking, &all).collect()
    }

    /// The headline and the change, for a reader.
    pub fn summary(&self, paint: Paint) -> String {
        let head = repair::headline(&self.subject(), &self.inference, paint);
        format!("{head}{}", diff::painted(&self.diff, paint))
    }

    /// A record for programs.
    pub fn report(&self, beside: &Beside) -> InferReport {
        InferReport::new(&self.subject(), &self.inference, &ModelSpec::SC, beside)
    }

    /// For each fence the run that it prevents, or the run that no fence prevents; none where there is no run.
    pub fn prevented_runs(&self) -> Vec<Option<PreventedRun>> {
        let model = &self.prepared.request.model;
        let wanted: Vec<(Option<usize>, Placement, ModelSpec)> = match &self.inference {
            Inference::Repaired(repair) => (repair.needed_for.iter())
                .map(|need| {
                    let mut fewer = repair.placements[0].clone();
                    fewer.atoms.remove(&need.atom);
                    let problem = need.violation.as_ref().map(|(problem, _)| *problem);
                    (problem, fewer, model.clone())
                })
                .collect(),
            Inference::Unrepairable(Unrepairable::WrongUnderSc { problem, .. }) => {
                vec![(Some(*problem), Placement::default(), ModelSpec::SC)]
            }
            Inference::Unrepairable(Unrepairable::OutOfReach { problem, placement, .. }) => {
                vec![(Some(*problem), placement.clone(), model.clone())]
            }
            Inference::Unrepairable(Unrepairable::NoWitness { .. }) | Inference::GaveUp(_) => {
                Vec::new()
            }
        };
        let run = |(problem, placement, model): (Option<usize>, Placement, ModelSpec)| {
            let problem = problem?;
            let original = self.prepared.original();
            let text = original.with(&placement, self.prepared.candidates.written);
            let text = text.expect(WRITABLE);
            // The stored test must forbid the outcome that the run ends with.
            let taken = self.prepared.condition.as_ref().and_then(|_| forbidden(&text));
            let file = self.trace_file(&taken.unwrap_or(text), problem, &model)?;
            let client = self.prepared.problems[problem].name.clone();
            Some(PreventedRun { client, model, file })
        };
        wanted.into_iter().map(run).collect()
    }

    /// A violation of a text, found again in it: marks of places are not in a stored source.
    fn trace_file(&self, text: &str, problem: usize, model: &ModelSpec) -> Option<TraceFile> {
        let Repair { source, options, control, .. } = &self.prepared.request;
        let compiled: Result<Vec<Problem>, EditError> = self.prepared.original().compile(text);
        let compiled = compiled.expect(WRITABLE).swap_remove(problem);
        let question = compiled.clone().with_requirements_of(&self.prepared.problems[problem]);
        let task = Task { problem: &question, model };
        let settings = options.settings;
        let (answer, _) = control.run(options, |budget| Explicit.run(task, settings, budget));
        let evidence = answer.verdict.into_evidence()?;
        // Replayed with all properties of the file, as the user's replay does.
        let run = model.replay(&compiled, settings.reductions, evidence.trace()?).ok()?;
        let story = Story::new(&compiled, Cow::Owned(run));
        let said = sentence(&compiled, shown_by(&story)?, Some(&story));
        Some(TraceFile::new(
            env!("CARGO_PKG_VERSION"),
            (source.name(), text),
            (model, settings.reductions),
            &story,
            said,
        ))
    }
}

impl EngineChoice {
    /// The engine that repairs until a program is robust.
    pub const ROBUST: EngineChoice = EngineChoice::Robust(RobustBy::Auto);
}
