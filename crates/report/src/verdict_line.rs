//! The row for each model, the heading of a picture, the reasons for inconclusive verdicts, and the
//! advice for them.

use crate::finding::{Class, Finding, QueryResult};
use crate::paint::{Paint, count, counted, printable};
use crate::trace::TraceRows;
use crate::violation::describe_claim;
use fencepost_engines::explicit::LARGEST_BOUND;
use fencepost_engines::growing_variable::GrowingVariable;
use fencepost_engines::{
    Answer, Bound, Claim, ClaimWithRun, Decider, Inconclusive, InconclusiveReason,
    RobustDefinition, Unsupported, Verdict,
};
use fencepost_ir::{Observable, Problem, Violation};
use fencepost_models::ModelSpec;
use fencepost_search::Stop;
use fencepost_translate::contexts;
use std::borrow::Cow;

/// Returns the name of a variable; the name of a register starts with its thread: `p.r`.
pub fn variable_name(problem: &Problem, what: Observable) -> String {
    let program = &problem.program;
    match what {
        Observable::Loc(loc) => program.location(loc).name.clone(),
        Observable::Reg(t, reg) => {
            let thread = program.thread(t);
            format!("{}.{}", thread.name, thread.registers[reg.index()].name)
        }
        Observable::At(..) => program.observable_name(what),
    }
}

/// Describes a variable that takes ever more values.
pub(crate) fn growth_note(problem: &Problem, growing: GrowingVariable) -> String {
    let name = variable_name(problem, growing.what);
    let values = counted(growing.values as u64, "value");
    format!("`{name}` keeps growing ({values} so far)")
}

/// Says which values were abstracted, or for which numbers a verdict holds; none if it holds for all.
pub(crate) fn value_note(answer: &Answer) -> Option<String> {
    if let Some(values) = &answer.abstracted_values {
        return Some(format!("values abstracted: {values}; their overflow is not checked"));
    }
    number_note(answer.decider).filter(|_| answer.verdict.is_verified()).map(Into::into)
}

/// Says for which numbers a verdict of this method holds; none if for all.
pub(crate) fn number_note(decider: Decider) -> Option<&'static str> {
    match decider {
        Decider::Counters { covers_overflow: true } => Some("for numbers of any size"),
        Decider::Counters { covers_overflow: false } => {
            Some("for numbers of any size; their overflow is not checked")
        }
        Decider::Explicit
        | Decider::Abstraction(..)
        | Decider::Forgetting(_)
        | Decider::Hiding(_)
        | Decider::Automata
        | Decider::Stateless
        | Decider::Attack
        | Decider::Translation
        | Decider::Spin
        | Decider::Cbmc
        | Decider::GenMc => None,
    }
}

/// Returns the stable word for an inconclusive reason, as used in JSON.
pub fn reason_word(reason: &InconclusiveReason) -> &'static str {
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
            Bound::Iterations(_) => "iterations",
            Bound::Contexts(contexts::Bound::Switches(_)) => "contexts",
            Bound::Contexts(contexts::Bound::Ages(_)) => "delay",
            Bound::Source(_) => "source-bound",
        },
        InconclusiveReason::Spurious => "spurious",
        InconclusiveReason::Unsupported { reason } => match reason {
            Unsupported::Values => "values",
            Unsupported::UnderApproximated => "under-approximated",
            Unsupported::NotRobust => "not-robust",
            Unsupported::Model => "model",
            Unsupported::Frees => "frees",
            Unsupported::Hangs => "hangs",
            Unsupported::HangsUnchecked => "hangs-unchecked",
            Unsupported::HangsOfValues => "hangs-unchecked",
            Unsupported::ValuesOfModel => "model",
            Unsupported::Progress => "progress",
            Unsupported::ControlPoints => "control-points",
            Unsupported::TooManyIterations => "unwind",
            Unsupported::NoInitialState => "no-initial-state",
            Unsupported::NoFinalState | Unsupported::NoResults => "no-final-state",
            Unsupported::Translation(_) => "untranslated",
            Unsupported::Tool => "tool",
            _ => "unsupported",
        },
    }
}

/// Explains an inconclusive verdict: the reason, the partial result, and what was not checked.
pub fn explain(inconclusive: &Inconclusive) -> String {
    let reason = explain_reason(inconclusive);
    match inconclusive.gap() {
        Some(gap) => format!("{reason}; {}", gap.text()),
        None => reason,
    }
}

fn explain_reason(inconclusive: &Inconclusive) -> String {
    let reason = inconclusive.reason();
    match reason {
        InconclusiveReason::Bound { bound, witness_missing } => match (bound, witness_missing) {
            (Bound::Preemptions(most), _) => {
                return format!("no violation up to {}", counted(u64::from(*most), "preemption"));
            }
            (Bound::Iterations(most), false) => {
                let iterations = counted(u64::from(*most), "iteration");
                return format!("no violation up to {iterations} of each loop");
            }
            (Bound::Iterations(most), true) => {
                let iterations = counted(u64::from(*most), "iteration");
                return format!(
                    "no final state satisfies `final exists` up to {iterations} of each loop"
                );
            }
            (Bound::BuffersUpTo(length), false) => {
                return format!("no violation with buffers up to {length}");
            }
            (Bound::Contexts(bound), false) => {
                return format!("no violation {}", context_bound_text(*bound));
            }
            (Bound::Contexts(bound), true) => {
                let within = context_bound_text(*bound);
                return format!("no final state satisfies `final exists` {within}");
            }
            (Bound::Source(text), _) => {
                return format!("no violation found, but some runs are not checked: {text}");
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
        Some(clean) => format!("{}; {clean}", reason_text(reason)),
        None => format!("{}; no violation found so far", reason_text(reason)),
    }
}

/// Describes a bound of the translation.
pub fn context_bound_text(bound: contexts::Bound) -> String {
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

/// Describes why a search is inconclusive.
pub fn reason_text(reason: &InconclusiveReason) -> Cow<'static, str> {
    let text = match reason {
        InconclusiveReason::Limit(stop) => limit_text(*stop),
        InconclusiveReason::Bound { bound, witness_missing: true } => match bound {
            Bound::Contexts(_) => {
                "no final state found satisfies `final exists` within the bound on context switches"
            }
            Bound::Buffers | Bound::BuffersUpTo(_) | Bound::Preemptions(_) => {
                "no final state found satisfies `final exists`, but buffers can grow further"
            }
            Bound::Source(_) | Bound::Iterations(_) => {
                "no final state found satisfies `final exists` within the bounds"
            }
        },
        InconclusiveReason::Bound { bound, witness_missing: false } => match bound {
            Bound::Buffers => "buffers can grow further",
            Bound::BuffersUpTo(_) => "buffer bound reached",
            Bound::Preemptions(_) => "preemption bound reached",
            Bound::Iterations(_) => "bound on iterations reached",
            Bound::Contexts(_) => "context-switch bound reached",
            Bound::Source(text) => return format!("some runs are not checked: {text}").into(),
        },
        InconclusiveReason::Spurious => "the violation found may be spurious",
        InconclusiveReason::Unsupported { reason } => return reason.text(),
    };
    text.into()
}

/// Describes the limit that stopped a search.
pub fn limit_text(stop: Stop) -> &'static str {
    match stop {
        Stop::States => "state limit reached",
        Stop::Memory => "memory limit reached",
        Stop::Time => "time limit reached",
        Stop::Interrupted => "interrupted",
        Stop::Depth => "run length limit reached",
    }
}

/// Returns advice for an inconclusive result, to be printed after "try:". `fixed` states that the
/// user fixed the bound on pending accesses.
pub fn advice(finding: &Finding<'_>, fixed: bool) -> Option<&'static str> {
    let QueryResult::Answer(answer) = &finding.result else { return None };
    let Verdict::Inconclusive(inconclusive) = &answer.verdict else { return None };
    let reason = inconclusive.reason();
    if answer.abstracted_values.is_some() && *reason == InconclusiveReason::Spurious {
        return Some("list more values in --abstract, or use --engine auto");
    }
    if answer.growing.is_some() {
        return Some(
            "give the variable a range, as in `int(0..7)`, bound the loop that makes it grow, or \
             abstract its values with --abstract",
        );
    }
    advice_for(inconclusive, fixed)
}

/// Returns advice for an inconclusive verdict. See [`advice`].
pub fn advice_for(inconclusive: &Inconclusive, fixed: bool) -> Option<&'static str> {
    let clean = inconclusive.clean_up_to();
    match inconclusive.reason() {
        InconclusiveReason::Limit(stop) => match stop {
            Stop::States => Some("raise --max-states"),
            Stop::Memory if clean.is_some() => {
                Some("raise --memory, or accept a bound with --max-buffer N --accept-bounded")
            }
            Stop::Memory => Some("raise --memory"),
            Stop::Time if clean.is_some() => {
                Some("raise --time, or accept a bound with --max-buffer N --accept-bounded")
            }
            Stop::Time => Some("raise --time"),
            Stop::Interrupted | Stop::Depth => None,
        },
        InconclusiveReason::Bound { bound, witness_missing: true } => match bound {
            Bound::Contexts(_) => Some("raise --contexts or --delay, or use another --engine"),
            Bound::Buffers | Bound::BuffersUpTo(_) | Bound::Preemptions(_) => {
                Some("raise --max-buffer")
            }
            Bound::Source(_) => Some("make the program smaller, so that no run reaches the bound"),
            Bound::Iterations(_) => Some("raise --unwind"),
        },
        InconclusiveReason::Bound { bound, witness_missing: false } => Some(match bound {
            Bound::Buffers if fixed => {
                "omit --buffer for larger buffers, or accept this bound with --accept-bounded"
            }
            Bound::Buffers if clean >= Some(LARGEST_BOUND) => {
                "accept this bound with --accept-bounded"
            }
            Bound::Buffers => "raise --max-buffer, or accept this bound with --accept-bounded",
            Bound::BuffersUpTo(_) => "raise --buffers, or accept this bound with --accept-bounded",
            Bound::Preemptions(_) => {
                "raise or omit --preemptions, or accept this bound with --accept-bounded"
            }
            Bound::Iterations(_) => "raise --unwind, or accept this bound with --accept-bounded",
            Bound::Contexts(contexts::Bound::Switches(_)) => {
                "raise --contexts, or accept this bound with --accept-bounded"
            }
            Bound::Contexts(contexts::Bound::Ages(_)) => {
                "raise --delay, or accept this bound with --accept-bounded"
            }
            Bound::Source(_) => {
                "make the program smaller, or accept this bound with --accept-bounded"
            }
        }),
        InconclusiveReason::Spurious => {
            Some("raise --k to keep more stores in order, or use --engine auto")
        }
        InconclusiveReason::Unsupported { reason } => match reason {
            Unsupported::Values => {
                Some("give variables ranges, as in `int(0..7)`, or use --engine explicit")
            }
            Unsupported::NotRobust => Some("another --engine; `fencepost robust` shows the run"),
            Unsupported::Model => Some("another --engine"),
            Unsupported::Frees => Some("use `fencepost check`"),
            Unsupported::Hangs => Some(
                "give variables smaller ranges, as in `int(0..7)`, or skip this check with \
                 --allow-hangs",
            ),
            Unsupported::Progress => Some("use --engine explicit, and --model sc, tso or pso"),
            Unsupported::Unrolled(_) => Some("raise --unwind"),
            Unsupported::NoEndReached => Some("raise --contexts, or use `fencepost check`"),
            Unsupported::Unconfirmed => Some("raise --time, --memory or --max-states"),
            Unsupported::HangsUnchecked => Some("use `fencepost check`, or --allow-hangs"),
            Unsupported::ControlPoints => Some("`fencepost check --engine explicit`"),
            Unsupported::TooManyIterations => Some("lower --unwind"),
            Unsupported::NoInitialState => Some("change the `assume` in `init` that is never true"),
            Unsupported::HangsOfValues => Some("skip this check with --allow-hangs"),
            Unsupported::ValuesOfModel => Some("use --model sc, tso or pso"),
            Unsupported::NoFinalState => Some(
                "let the loops of all threads end, or use `invariant` or `assert` instead of \
                 `final`",
            ),
            Unsupported::NoResults => Some("let the loops of all operations end"),
            Unsupported::Translation(_) => Some("another --engine"),
            _ => None,
        },
    }
}

/// Returns the row of a model: verdict, message, statistics. `names` is the width of the column
/// with the model's name.
pub fn row(
    finding: &Finding<'_>,
    trace_rows: Option<&TraceRows<'_>>,
    names: usize,
    paint: Paint,
) -> String {
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
    let message = finding.message(trace_rows).map(|m| format!("{m}  "));
    let figures = match &finding.result {
        QueryResult::Answer(answer) => {
            let states = counted(answer.statistics.states, count_unit(answer.decider));
            let by = match answer.decider {
                Decider::Explicit => String::new(),
                Decider::Abstraction(..)
                | Decider::Forgetting(_)
                | Decider::Hiding(_)
                | Decider::Counters { .. }
                | Decider::Automata
                | Decider::Stateless
                | Decider::Attack
                | Decider::Translation
                | Decider::Spin
                | Decider::Cbmc
                | Decider::GenMc => format!("{}: ", answer.decider),
            };
            let blocked = match answer.statistics.blocked {
                0 => String::new(),
                blocked => format!(", {} of them blocked", count(blocked)),
            };
            paint.faint(&format!("({by}{states}{blocked}, {})", times_text(finding)))
        }
        QueryResult::NotRun | QueryResult::Crashed(_) => String::new(),
    };
    format!("  {name}  {word}  {}{figures}\n", message.unwrap_or_default())
}

/// The name of the engine that runs SPIN.
pub const SPIN: &str = "spin";

/// The name of the engine that runs CBMC.
pub const CBMC: &str = "cbmc";

/// The name of the engine that runs GenMC.
pub const GENMC: &str = "genmc";

/// The name of the engine that checks robustness; its `verified` means robust.
pub const ROBUST: &str = "robust";

/// Says which definition of robustness was used. Returns none if both definitions agree on the
/// program and the default one was used.
pub(crate) fn definition_note(
    definition: RobustDefinition,
    problem: &Problem,
) -> Option<&'static str> {
    match definition {
        RobustDefinition::Strict => Some("every read counts"),
        RobustDefinition::WithoutFailedSpins => {
            definition.omits_reads(problem).then_some("failed spin iterations do not count")
        }
    }
}

/// Returns the unit of the statistics of a decider.
pub fn count_unit(by: Decider) -> &'static str {
    match by {
        Decider::Stateless | Decider::GenMc => "run",
        Decider::Cbmc => "assertion",
        Decider::Explicit
        | Decider::Abstraction(..)
        | Decider::Forgetting(_)
        | Decider::Hiding(_)
        | Decider::Counters { .. }
        | Decider::Automata
        | Decider::Attack
        | Decider::Translation
        | Decider::Spin => "state",
    }
}

/// Formats a remark below a row.
pub fn remark(text: &str, names: usize, paint: Paint) -> String {
    format!("{}{}\n", " ".repeat(names + 18), paint.faint(text))
}

/// Returns the line above a picture.
pub fn heading(
    name: &str,
    model: &ModelSpec,
    found: ClaimWithRun<'_>,
    trace_rows: &TraceRows<'_>,
    paint: Paint,
) -> String {
    let word = match found.claim {
        Claim::Witness(_) => paint.good("WITNESS"),
        Claim::Violation(Violation::NotRobust) => paint.bad("NOT ROBUST"),
        Claim::Violation(_) => paint.bad("VIOLATED"),
    };
    let what = describe_claim(trace_rows.problem, found.claim, Some(trace_rows));
    let shortest = if found.shortest { "shortest trace, " } else { "" };
    let events = counted(trace_rows.event_count() as u64, "event");
    format!("{name}  {}  {word}  {what}  ({shortest}{events})\n", paint.strong(&shown(model)))
}

/// Returns the model's name in upper case. A model file or a trace file may contain any name.
pub fn shown(model: &ModelSpec) -> String {
    printable(&model.name.to_uppercase())
}

/// Formats the wall-clock time of a query and, if known, its CPU time.
fn times_text(finding: &Finding<'_>) -> String {
    let wall = seconds_text(finding.seconds);
    match finding.cpu_seconds {
        Some(cpu) => format!("{wall}, CPU {}", seconds_text(cpu)),
        None => wall,
    }
}

/// Formats a duration in seconds.
pub fn seconds_text(seconds: f64) -> String {
    if seconds < 10.0 { format!("{seconds:.2} s") } else { format!("{seconds:.1} s") }
}
