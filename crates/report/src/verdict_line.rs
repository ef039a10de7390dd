//! The row for each model, the heading of a picture, and what ended an inconclusive search, in words.

use crate::finding::{Class, Finding, Found};
use crate::paint::{Paint, counted};
use crate::trace::Story;
use crate::violation::sentence;
use fencepost_engines::explicit::LARGEST_BOUND;
use fencepost_engines::growing::Growing;
use fencepost_engines::{
    Answer, Bound, Claim, Decider, Inconclusive, InconclusiveReason, Shown, Unsupported, Verdict,
};
use fencepost_ir::{Observable, Problem, Property, Violation};
use fencepost_models::ModelSpec;
use fencepost_search::Stop;
use fencepost_translate::contexts;
use std::borrow::Cow;

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
pub(crate) fn grows(problem: &Problem, growing: Growing) -> String {
    let name = variable(problem, growing.what);
    let seen = counted(growing.values as u64, "value");
    format!("`{name}` keeps growing ({seen} so far)")
}

/// Why a program that is verified keeps its properties for want of anything to keep them.
pub(crate) fn vacuous(problem: &Problem, answer: &Answer) -> Option<&'static str> {
    let about_final_states = |property: &Property| match property {
        Property::FinalForall(_) | Property::FinalNever(_) | Property::Operations(_) => true,
        Property::Assertions
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
pub fn reason(reason: &InconclusiveReason) -> &'static str {
    match reason {
        InconclusiveReason::Limit(Stop::States) => "states",
        InconclusiveReason::Limit(Stop::Memory) => "memory",
        InconclusiveReason::Limit(Stop::Time) => "time",
        InconclusiveReason::Limit(Stop::Interrupted) => "interrupted",
        InconclusiveReason::Limit(Stop::Depth) => "depth",
        InconclusiveReason::Bound { witness_missing: true, .. } => "no-witness",
        InconclusiveReason::Bound { bound, witness_missing: false } => match bound {
            Bound::Buffers | Bound::BuffersUpTo(_) => "buffers",
            Bound::Preemptions(_) => "preemptions",
            Bound::Contexts(contexts::Bound::Switches(_)) => "contexts",
            Bound::Contexts(contexts::Bound::Ages(_)) => "delay",
        },
        InconclusiveReason::Spurious => "spurious",
        InconclusiveReason::Unsupported { reason } => match reason {
            Unsupported::Values => "values",
            Unsupported::UnderApproximated => "under-approximated",
            Unsupported::NotRobust => "not-robust",
            Unsupported::Model => "model",
            Unsupported::Frees => "frees",
            Unsupported::Translation(_) => "untranslated",
            Unsupported::Tool => "tool",
            _ => "unsupported",
        },
    }
}

/// Why there is no conclusion, and what is known all the same.
pub fn explain(inconclusive: &Inconclusive) -> String {
    let reason = inconclusive.reason();
    match reason {
        InconclusiveReason::Bound { bound, witness_missing } => match (bound, witness_missing) {
            (Bound::Preemptions(most), _) => {
                return format!("no violation up to {}", counted(u64::from(*most), "preemption"));
            }
            (Bound::BuffersUpTo(room), false) => {
                return format!("no violation with buffers up to {room}");
            }
            (Bound::Contexts(bound), false) => return format!("no violation {}", within(*bound)),
            (Bound::Contexts(bound), true) => {
                let within = within(*bound);
                return format!("no final state satisfies `final exists` {within}");
            }
            (Bound::Buffers, _) | (Bound::BuffersUpTo(_), true) => {}
        },
        InconclusiveReason::Unsupported { reason } => match reason {
            Unsupported::Values | Unsupported::UnderApproximated => {}
            _ => return reason.text().into_owned(),
        },
        InconclusiveReason::Limit(_) | InconclusiveReason::Spurious => {}
    }
    let clean = inconclusive.clean_up_to().map(|n| format!("no violation with buffers up to {n}"));
    match clean {
        Some(clean) if inconclusive.is_bounded() => format!("{clean}, but they can grow further"),
        Some(clean) => format!("{}; {clean}", ended_by(reason)),
        None => format!("{}; no violation found so far", ended_by(reason)),
    }
}

/// A bound of the translation, in words.
pub fn within(bound: contexts::Bound) -> String {
    match bound {
        contexts::Bound::Switches(k) => {
            format!("up to {} of each thread", counted(u64::from(k), "context switch"))
        }
        contexts::Bound::Ages(k) => {
            let switches = counted(u64::from(k), "context switch");
            format!("with stores pending for at most {switches} of their thread")
        }
    }
}

/// What ended a search, in words.
pub fn ended_by(reason: &InconclusiveReason) -> Cow<'static, str> {
    let text = match reason {
        InconclusiveReason::Limit(stop) => stopped_by(*stop),
        InconclusiveReason::Bound { bound, witness_missing: true } => match bound {
            Bound::Contexts(_) => {
                "no final state found satisfies `final exists` within the bound on context switches"
            }
            Bound::Buffers | Bound::BuffersUpTo(_) | Bound::Preemptions(_) => {
                "no final state found satisfies `final exists`, but buffers can grow further"
            }
        },
        InconclusiveReason::Bound { bound, witness_missing: false } => match bound {
            Bound::Buffers => "buffers can grow further",
            Bound::BuffersUpTo(_) => "bound on buffers reached",
            Bound::Preemptions(_) => "bound on preemptions reached",
            Bound::Contexts(_) => "bound on context switches reached",
        },
        InconclusiveReason::Spurious => "a violation was found that may not exist",
        InconclusiveReason::Unsupported { reason } => return reason.text(),
    };
    text.into()
}

/// Which limit ended a search, in words.
pub fn stopped_by(stop: Stop) -> &'static str {
    match stop {
        Stop::States => "state limit reached",
        Stop::Memory => "memory limit reached",
        Stop::Time => "time limit reached",
        Stop::Interrupted => "interrupted",
        Stop::Depth => "limit on the length of runs reached",
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
    advice_on(inconclusive, fixed)
}

/// The same for a search that ended so.
pub fn advice_on(inconclusive: &Inconclusive, fixed: bool) -> Option<&'static str> {
    let clean = inconclusive.clean_up_to();
    match inconclusive.reason() {
        InconclusiveReason::Limit(stop) => match stop {
            Stop::States => Some("raise --max-states"),
            Stop::Memory if clean.is_some() => {
                Some("raise --memory, or settle for a bound with --max-buffer N --accept-bounded")
            }
            Stop::Memory => Some("raise --memory"),
            Stop::Time if clean.is_some() => {
                Some("raise --time, or settle for a bound with --max-buffer N --accept-bounded")
            }
            Stop::Time => Some("raise --time"),
            Stop::Interrupted | Stop::Depth => None,
        },
        InconclusiveReason::Bound { bound, witness_missing: true } => match bound {
            Bound::Contexts(_) => Some("raise the bound, or use another engine"),
            Bound::Buffers | Bound::BuffersUpTo(_) | Bound::Preemptions(_) => {
                Some("raise --max-buffer")
            }
        },
        InconclusiveReason::Bound { bound, witness_missing: false } => Some(match bound {
            Bound::Buffers if fixed => {
                "leave out --buffer to try larger ones, or settle for this with --accept-bounded"
            }
            Bound::Buffers if clean >= Some(LARGEST_BOUND) => {
                "settle for this with --accept-bounded"
            }
            Bound::Buffers => "raise --max-buffer, or settle for this with --accept-bounded",
            Bound::BuffersUpTo(_) => "raise --buffers, or settle for this with --accept-bounded",
            Bound::Preemptions(_) => {
                "raise --preemptions or leave it out, or settle for this with --accept-bounded"
            }
            Bound::Contexts(contexts::Bound::Switches(_)) => {
                "raise --contexts, or settle for this with --accept-bounded"
            }
            Bound::Contexts(contexts::Bound::Ages(_)) => {
                "raise --delay, or settle for this with --accept-bounded"
            }
        }),
        InconclusiveReason::Spurious => {
            Some("a larger --k keeps more order; --engine auto finds out by itself")
        }
        InconclusiveReason::Unsupported { reason } => match reason {
            Unsupported::Values => {
                Some("give variables ranges, as in `int(0..7)`, or use --engine explicit")
            }
            Unsupported::NotRobust => Some("use another engine; `fencepost robust` shows the run"),
            Unsupported::Model => Some("another engine may know"),
            Unsupported::Frees => Some("use `fencepost check`"),
            Unsupported::Translation(_) => Some("use another engine"),
            _ => None,
        },
    }
}

/// The row of a model: verdict, what it is about, figures. `names` is the width of the model's
/// column.
pub fn row(finding: &Finding<'_>, story: Option<&Story<'_>>, names: usize, paint: Paint) -> String {
    let name = format!("{:<names$}", shown(&finding.model));
    let not_robust = Claim::Violation(Violation::NotRobust);
    let not_robust = finding.shown().is_some_and(|shown| shown.claim == not_robust);
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
    found: Shown<'_>,
    story: &Story<'_>,
    paint: Paint,
) -> String {
    let word = match found.claim {
        Claim::Witness(_) => paint.good("WITNESS"),
        Claim::Violation(Violation::NotRobust) => paint.bad("NOT ROBUST"),
        Claim::Violation(_) => paint.bad("VIOLATED"),
    };
    let what = sentence(story.problem, found.claim, Some(story));
    let shortest = if found.shortest { "shortest trace, " } else { "" };
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
