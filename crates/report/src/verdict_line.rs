//! The row for each model, the heading of a picture, and what ended an inconclusive search.

use crate::paint::{Paint, counted};
use crate::suspect::Doubt;
use crate::trace::Story;
use crate::violation::sentence;
use fencepost_engines::explicit::LARGEST_BOUND;
use fencepost_engines::growing::Growing;
use fencepost_engines::verdict::Why;
use fencepost_engines::{Answer, Decider, Evidence, Inconclusive, Verdict, Violation};
use fencepost_ir::{Observable, Problem, Property, Quantifier};
use fencepost_models::{ModelSpec, Reductions};
use fencepost_search::Stop;
use fencepost_translate::contexts::Bound;

/// What became of one question: a program under a model.
#[derive(Clone, Debug)]
pub struct Finding<'a> {
    /// What the reader calls the source.
    pub file: &'a str,
    /// The program.
    pub problem: &'a Problem,
    /// The model.
    pub model: &'a ModelSpec,
    /// The engine's name.
    pub engine: &'a str,
    /// The reductions in use.
    pub reductions: Reductions,
    /// How long it took.
    pub seconds: f64,
    /// What came of it.
    pub result: Found,
}

/// What came of a question.
#[derive(Clone, Debug)]
pub enum Found {
    /// An answer.
    Answer(Answer),
    /// None: it was interrupted before this question's turn came.
    NotRun,
    /// None: a bug of ours, described here.
    Crashed(String),
}

/// What is found, without its details.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// All properties hold.
    Verified,
    /// One does not.
    Violated,
    /// Everything within the bound on pending accesses was explored, and all is well there.
    Bounded,
    /// Not known.
    Inconclusive,
    /// A bug of ours.
    Crashed,
}

impl Finding<'_> {
    /// The short form.
    pub fn class(&self) -> Class {
        match &self.result {
            Found::Answer(answer) => match &answer.verdict {
                Verdict::Verified(_) => Class::Verified,
                Verdict::Violated(_) => Class::Violated,
                Verdict::Inconclusive(Inconclusive {
                    why: Why::Buffers | Why::Preemptions(_) | Why::Within(_) | Why::Room(_),
                    ..
                }) => Class::Bounded,
                Verdict::Inconclusive(_) => Class::Inconclusive,
            },
            Found::NotRun => Class::Inconclusive,
            Found::Crashed(_) => Class::Crashed,
        }
    }

    /// The run to show: that of a violation, or of a witness.
    pub fn evidence(&self) -> Option<&Evidence> {
        match &self.result {
            Found::Answer(answer) => match &answer.verdict {
                Verdict::Violated(evidence) | Verdict::Verified(Some(evidence)) => Some(evidence),
                Verdict::Verified(None) | Verdict::Inconclusive(_) => None,
            },
            Found::NotRun | Found::Crashed(_) => None,
        }
    }

    /// The run to show, told.
    ///
    /// # Panics
    /// When it does not replay: every engine replays what it reports.
    pub fn story(&self) -> Option<Story<'_>> {
        let trace = self.evidence()?.trace.as_ref()?;
        let story = crate::trace::tell(self.problem, self.model, self.reductions, trace);
        Some(story.expect("an engine reports only runs that replay"))
    }

    /// The run of an abstract model that leaves it open whether there is a violation, told.
    pub fn doubt(&self) -> Option<Doubt<'_>> {
        let Found::Answer(answer) = &self.result else { return None };
        let suspect = answer.suspect.as_deref()?;
        Some(Doubt::new(self.problem, self.model, self.reductions, suspect))
    }

    /// What is wrong, or why there is no answer, or why a verification says little, in one sentence;
    /// none when all is well.
    pub fn message(&self, story: Option<&Story<'_>>) -> Option<String> {
        match &self.result {
            Found::Answer(answer) => match &answer.verdict {
                Verdict::Verified(None) => vacuous(self.problem, answer).map(String::from),
                Verdict::Verified(Some(evidence)) | Verdict::Violated(evidence) => {
                    Some(sentence(self.problem, evidence.violation, story))
                }
                Verdict::Inconclusive(inconclusive) => {
                    let doubt = (inconclusive.why == Why::Spurious).then(|| self.doubt()).flatten();
                    let mut text = match doubt {
                        Some(doubt) => format!("possibly spurious: {}", doubt.sentence()),
                        None => explain(*inconclusive),
                    };
                    let deadlocks = self.problem.properties.contains(&Property::DeadlockFree);
                    if deadlocks && matches!(inconclusive.why, Why::Within(_)) {
                        text.push_str("; deadlocks are not looked for");
                    }
                    if let Some(growing) = answer.growing {
                        text.push_str(&format!("; {}", grows(self.problem, growing)));
                    }
                    Some(text)
                }
            },
            Found::NotRun => Some("interrupted before it was this one's turn".into()),
            Found::Crashed(what) => Some(format!("internal error: {what}")),
        }
    }

    /// The stable word for what is wrong, or for why there is no answer.
    pub fn reason(&self) -> Option<&'static str> {
        match &self.result {
            Found::Answer(answer) => match &answer.verdict {
                Verdict::Verified(_) => None,
                Verdict::Violated(evidence) => Some(crate::violation::word(evidence.violation)),
                Verdict::Inconclusive(inconclusive) => Some(reason(inconclusive.why)),
            },
            Found::NotRun => Some("interrupted"),
            Found::Crashed(_) => Some("internal-error"),
        }
    }
}

/// The name of a variable; a register's begins with its thread's.
pub fn variable(problem: &Problem, what: Observable) -> String {
    let program = &problem.program;
    match what {
        Observable::Loc(loc) => program.location(loc).name.clone(),
        Observable::Reg(t, reg) => {
            let thread = program.thread(t);
            format!("{}.{}", thread.name, thread.registers[reg.index()].name)
        }
    }
}

/// Which variable keeps a search from ending.
fn grows(problem: &Problem, growing: Growing) -> String {
    let name = variable(problem, growing.what);
    let seen = counted(growing.values as u64, "value");
    format!("`{name}` keeps growing ({seen} so far)")
}

/// Why a program that is verified keeps its properties for want of anything to keep them.
fn vacuous(problem: &Problem, answer: &Answer) -> Option<&'static str> {
    let about_final_states = |property: &Property| match property {
        Property::Final(Quantifier::Forall | Quantifier::Never, _) | Property::Operations(_) => {
            true
        }
        Property::Final(Quantifier::Exists, _)
        | Property::Assertions
        | Property::MutualExclusion
        | Property::Invariant(_)
        | Property::DeadlockFree => false,
    };
    if matches!(answer.by, Decider::Attack | Decider::Spin) {
        None // final states are not collected
    } else if answer.statistics.states == 0 {
        Some("`init` cannot run to its end: nothing was explored")
    } else if answer.outcomes.is_empty() && problem.properties.iter().any(about_final_states) {
        Some("no final state is reachable: `final` conditions hold of none")
    } else {
        None
    }
}

/// The stable word for why there is no conclusion.
pub fn reason(why: Why) -> &'static str {
    match why {
        Why::Stopped(Stop::States) => "states",
        Why::Stopped(Stop::Memory) => "memory",
        Why::Stopped(Stop::Time) => "time",
        Why::Stopped(Stop::Interrupted) => "interrupted",
        Why::Stopped(Stop::Depth) => "depth",
        Why::Buffers => "buffers",
        Why::NoWitness => "no-witness",
        Why::Values => "values",
        Why::Spurious => "spurious",
        Why::UnderApproximated => "under-approximated",
        Why::Preemptions(_) => "preemptions",
        Why::NotRobust => "not-robust",
        Why::Model => "model",
        Why::Frees => "frees",
        Why::Within(Bound::Switches(_)) => "contexts",
        Why::Within(Bound::Ages(_)) => "delay",
        Why::NoWitnessWithin(_) => "no-witness",
        Why::Untranslated => "untranslated",
        Why::Room(_) => "buffers",
        Why::Tool => "tool",
    }
}

/// Why there is no conclusion, and what is known all the same.
pub fn explain(inconclusive: Inconclusive) -> String {
    if let Why::Preemptions(most) = inconclusive.why {
        return format!("no violation up to {}", counted(u64::from(most), "preemption"));
    }
    match inconclusive.why {
        Why::Room(room) => return format!("no violation with buffers up to {room}"),
        Why::Within(bound) => return format!("no violation {}", within(bound)),
        Why::NoWitnessWithin(bound) => {
            let within = within(bound);
            return format!("no final state satisfies `final exists` {within}");
        }
        _ => {}
    }
    if let why @ (Why::NotRobust | Why::Model | Why::Frees | Why::Untranslated | Why::Tool) =
        inconclusive.why
    {
        return ended_by(why).into();
    }
    let clean = inconclusive.clean_up_to.map(|n| format!("no violation with buffers up to {n}"));
    match (inconclusive.why, clean) {
        (Why::Buffers, Some(clean)) => format!("{clean}, but they can grow further"),
        (why, Some(clean)) => format!("{}; {clean}", ended_by(why)),
        (why, None) => format!("{}; no violation found so far", ended_by(why)),
    }
}

/// A bound of the translation, in words.
pub fn within(bound: Bound) -> String {
    match bound {
        Bound::Switches(k) => {
            format!("up to {} of each thread", counted(u64::from(k), "context switch"))
        }
        Bound::Ages(k) => {
            let switches = counted(u64::from(k), "context switch");
            format!("with stores pending for at most {switches} of their thread")
        }
    }
}

/// What ended a search, in words.
pub fn ended_by(why: Why) -> &'static str {
    match why {
        Why::Stopped(Stop::States) => "state limit reached",
        Why::Stopped(Stop::Memory) => "memory limit reached",
        Why::Stopped(Stop::Time) => "time limit reached",
        Why::Stopped(Stop::Interrupted) => "interrupted",
        Why::Stopped(Stop::Depth) => "limit on the length of runs reached",
        Why::Buffers => "buffers can grow further",
        Why::NoWitness => {
            "no final state found satisfies `final exists`, but buffers can grow further"
        }
        Why::Values => "a store buffer can hold more than 64 different values",
        Why::Spurious => "a violation was found that may not exist",
        Why::UnderApproximated => "not all behaviours were looked at",
        Why::Preemptions(_) => "bound on preemptions reached",
        Why::NotRobust => "right under SC, but not robust: SC runs do not tell",
        Why::Model => "this engine does not decide that under this model",
        Why::Frees => "robustness is not decided for programs that free records",
        Why::Within(_) => "bound on context switches reached",
        Why::NoWitnessWithin(_) => {
            "no final state found satisfies `final exists` within the bound on context switches"
        }
        Why::Untranslated => "programs that free records cannot be translated",
        Why::Room(_) => "bound on buffers reached",
        Why::Tool => "no answer from the tool",
    }
}

/// What to do about a search that did not conclude. `fixed` says that the user fixed the bound on
/// pending accesses.
pub fn advice(finding: &Finding<'_>, fixed: bool) -> Option<&'static str> {
    let Found::Answer(answer) = &finding.result else { return None };
    let Verdict::Inconclusive(inconclusive) = &answer.verdict else { return None };
    if answer.growing.is_some() {
        return Some(
            "give the variable a range, as in `int(0..7)`, or bound the loop that makes it grow",
        );
    }
    advice_on(*inconclusive, fixed)
}

/// The same for a search that ended so.
pub fn advice_on(inconclusive: Inconclusive, fixed: bool) -> Option<&'static str> {
    match inconclusive.why {
        Why::Stopped(Stop::States) => Some("raise --max-states"),
        Why::Stopped(Stop::Memory) if inconclusive.clean_up_to.is_some() => {
            Some("raise --memory, or settle for a bound with --max-buffer N --accept-bounded")
        }
        Why::Stopped(Stop::Memory) => Some("raise --memory"),
        Why::Stopped(Stop::Time) if inconclusive.clean_up_to.is_some() => {
            Some("raise --time, or settle for a bound with --max-buffer N --accept-bounded")
        }
        Why::Stopped(Stop::Time) => Some("raise --time"),
        Why::Buffers if fixed => {
            Some("leave out --buffer to try larger ones, or settle for this with --accept-bounded")
        }
        Why::Buffers if inconclusive.clean_up_to >= Some(LARGEST_BOUND) => {
            Some("settle for this with --accept-bounded")
        }
        Why::NoWitness => Some("raise --max-buffer"),
        Why::Buffers => Some("raise --max-buffer, or settle for this with --accept-bounded"),
        Why::Spurious => Some("a larger --k keeps more order; --engine auto finds out by itself"),
        Why::Values => Some("give variables ranges, as in `int(0..7)`, or use --engine explicit"),
        Why::Preemptions(_) => {
            Some("raise --preemptions or leave it out, or settle for this with --accept-bounded")
        }
        Why::NotRobust => Some("use another engine; `fencepost robust` shows the run"),
        Why::Model => Some("another engine may know"),
        Why::Frees => Some("use `fencepost check`"),
        Why::Within(Bound::Switches(_)) => {
            Some("raise --contexts, or settle for this with --accept-bounded")
        }
        Why::Within(Bound::Ages(_)) => {
            Some("raise --delay, or settle for this with --accept-bounded")
        }
        Why::NoWitnessWithin(_) => Some("raise the bound, or use another engine"),
        Why::Untranslated => Some("use another engine"),
        Why::Room(_) => Some("raise --buffers, or settle for this with --accept-bounded"),
        Why::Tool => None,
        Why::Stopped(Stop::Interrupted | Stop::Depth) | Why::UnderApproximated => None,
    }
}

/// The row of a model: verdict, what it is about, figures. `names` is the width of the model's
/// column.
pub fn row(finding: &Finding<'_>, story: Option<&Story<'_>>, names: usize, paint: Paint) -> String {
    let name = format!("{:<names$}", shown(finding.model));
    let not_robust = finding.evidence().is_some_and(|e| e.violation == Violation::NotRobust);
    let word = match finding.class() {
        Class::Verified if finding.engine == ROBUST => paint.good("robust      "),
        Class::Verified => paint.good("verified    "),
        Class::Violated if not_robust => paint.bad("NOT ROBUST  "),
        Class::Violated => paint.bad("VIOLATED    "),
        Class::Bounded | Class::Inconclusive => paint.unsure("inconclusive"),
        Class::Crashed => paint.bad("error       "),
    };
    let message = finding.message(story).map(|m| format!("{m}  "));
    let figures = match &finding.result {
        Found::Answer(answer) => {
            let states = counted(answer.statistics.states, unit(answer.by));
            let by = match answer.by {
                Decider::Explicit => String::new(),
                Decider::Abstraction(..)
                | Decider::Automata
                | Decider::Stateless
                | Decider::Attack
                | Decider::Translation
                | Decider::Spin => format!("{}: ", answer.by),
            };
            paint.faint(&format!("({by}{states}, {})", seconds(finding.seconds)))
        }
        Found::NotRun | Found::Crashed(_) => String::new(),
    };
    format!("  {name}  {word}  {}{figures}\n", message.unwrap_or_default())
}

/// The name of the engine that is SPIN.
pub const SPIN: &str = "spin";

/// The name of the engine whose `verified` means robust.
pub const ROBUST: &str = "robust";

/// What the figures of a way of looking count.
pub fn unit(by: Decider) -> &'static str {
    match by {
        Decider::Stateless => "run",
        Decider::Explicit
        | Decider::Abstraction(..)
        | Decider::Automata
        | Decider::Attack
        | Decider::Translation
        | Decider::Spin => "state",
    }
}

/// A remark below a row.
pub fn remark(text: &str, names: usize, paint: Paint) -> String {
    format!("{}{}\n", " ".repeat(names + 18), paint.faint(text))
}

/// The line above a picture.
pub fn heading(
    name: &str,
    model: &ModelSpec,
    evidence: &Evidence,
    story: &Story<'_>,
    paint: Paint,
) -> String {
    let word = match evidence.violation {
        Violation::Witness(_) => paint.good("WITNESS"),
        Violation::NotRobust => paint.bad("NOT ROBUST"),
        Violation::Fault(..)
        | Violation::Assertion(..)
        | Violation::MutualExclusion(..)
        | Violation::Invariant(_)
        | Violation::Final(_)
        | Violation::Operations(_)
        | Violation::Deadlock
        | Violation::NoWitness(_) => paint.bad("VIOLATED"),
    };
    let what = sentence(story.problem, evidence.violation, Some(story));
    let shortest = if evidence.shortest { "shortest trace, " } else { "" };
    let events = counted(story.events() as u64, "event");
    format!("{name}  {}  {word}  {what}  ({shortest}{events})\n", paint.strong(&shown(model)))
}

/// A model's name as a reader writes it.
pub fn shown(model: &ModelSpec) -> String {
    model.name.to_uppercase()
}

/// A duration as a reader wants it.
pub fn seconds(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.2} s") } else { format!("{seconds:.1} s") }
}
