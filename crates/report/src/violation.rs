//! One sentence about what went wrong, or about what was to be shown.

use crate::paint::{clip, printable};
use crate::trace::Story;
use crate::wording::{place, statement};
use fencepost_engines::Violation;
use fencepost_ir::{
    BinOp, Condition, Consistency, Expr, Label, Observable, Operation, Operations, Problem,
    Property, Quantifier, ThreadId, UnOp, Value,
};
use fencepost_models::Wrong;
use fencepost_models::replay::End;

/// The stable word for the kind of a violation.
pub fn word(violation: Violation) -> &'static str {
    match violation {
        Violation::Fault(..) => "fault",
        Violation::Assertion(..) => "assertion",
        Violation::MutualExclusion(..) => "mutual-exclusion",
        Violation::Invariant(_) => "invariant",
        Violation::Final(_) => "final",
        Violation::Operations(_) => "operations",
        Violation::Deadlock => "deadlock",
        Violation::NoWitness(_) => "no-witness",
        Violation::Witness(_) => "witness",
        Violation::NotRobust => "not-robust",
    }
}

/// The property concerned, as the language writes it; a fault and an assertion name what fails.
pub fn property(problem: &Problem, violation: Violation) -> String {
    match violation {
        Violation::Fault(fault, ..) => fault.describe().into(),
        Violation::Assertion(_, label) => {
            label.map_or("assert".into(), |l| statement(&problem.program, l, 200))
        }
        Violation::MutualExclusion(..) => "mutual_exclusion".into(),
        Violation::Deadlock => "deadlock_free".into(),
        Violation::NotRobust => "robust".into(),
        Violation::Invariant(at)
        | Violation::Final(at)
        | Violation::Operations(at)
        | Violation::NoWitness(at)
        | Violation::Witness(at) => problem.properties.get(at).map(describe).unwrap_or_default(),
    }
}

/// A property as the language writes it.
pub fn describe(property: &Property) -> String {
    match property {
        Property::Assertions => "assertions".into(),
        Property::MutualExclusion => "mutual_exclusion".into(),
        Property::DeadlockFree => "deadlock_free".into(),
        Property::Operations(operations) => {
            format!("{} operations", operations.consistency.word())
        }
        Property::Invariant(condition) => format!("invariant {}", text(condition, 200)),
        Property::Final(quantifier, condition) => {
            format!("final {} {}", quantifier_name(*quantifier), text(condition, 200))
        }
    }
}

fn quantifier_name(quantifier: Quantifier) -> &'static str {
    match quantifier {
        Quantifier::Exists => "exists",
        Quantifier::Forall => "forall",
        Quantifier::Never => "never",
    }
}

fn text(condition: &Condition, most: usize) -> String {
    clip(&printable(&condition.text), most)
}

/// What a run shows: what goes wrong at its end, or a witness for a `final exists`.
pub fn shown_by(story: &Story<'_>) -> Option<Violation> {
    match story.run.end {
        End::Stumbled(thread, stumble) => Some(match stumble.fault {
            Some(fault) => Violation::Fault(fault, thread, stumble.label),
            None => Violation::Assertion(thread, stumble.label),
        }),
        End::Wrong(Wrong::MutualExclusion(a, b)) => Some(Violation::MutualExclusion(a, b)),
        End::Wrong(Wrong::Invariant(at)) => Some(Violation::Invariant(at)),
        End::Wrong(Wrong::Final(at)) => Some(Violation::Final(at)),
        End::Wrong(Wrong::Operations(at)) => Some(Violation::Operations(at)),
        End::Wrong(Wrong::Deadlock) => Some(Violation::Deadlock),
        End::Fine if !story.run.is_final => None,
        End::Fine => {
            let reached = |property: &Property| match property {
                Property::Final(Quantifier::Exists, condition) => {
                    let value = condition.expr.eval(&|what| value(story, *what).unwrap_or(0));
                    value.is_ok_and(|value| value != 0)
                }
                Property::Final(..)
                | Property::Assertions
                | Property::MutualExclusion
                | Property::Invariant(_)
                | Property::DeadlockFree
                | Property::Operations(_) => false,
            };
            story.problem.properties.iter().position(reached).map(Violation::Witness)
        }
    }
}

/// The value of an observable at the end of a run.
fn value(story: &Story<'_>, what: Observable) -> Option<Value> {
    match what {
        Observable::Loc(loc) => story.memory().get(loc.index()).copied(),
        Observable::Reg(t, reg) => {
            story.run.last.registers.get(t.index())?.get(reg.index()).copied()
        }
    }
}

/// What happens, in one sentence. `story` is the run that shows it, where there is one.
pub fn sentence(problem: &Problem, violation: Violation, story: Option<&Story<'_>>) -> String {
    let program = &problem.program;
    let name = |t: ThreadId| program.thread(t).name.as_str();
    let who = |t: Option<ThreadId>| t.map_or("init", name);
    let at =
        |label: Label| format!("`{}` ({})", statement(program, label, 60), place(program, label));
    match violation {
        Violation::Fault(fault, thread, label) => {
            let place = label.map(|l| format!(" at {}", at(l))).unwrap_or_default();
            format!("fault: {} in {}{place}", fault.describe(), who(thread))
        }
        Violation::Assertion(thread, label) => {
            let what = label.map_or("an assertion".into(), at);
            format!("assertion: {what} fails in {}", who(thread))
        }
        Violation::MutualExclusion(a, b) => format!(
            "mutual exclusion: {} and {} are both in their critical section",
            name(a),
            name(b)
        ),
        Violation::Deadlock => format!("deadlock: {}", stuck(problem, story)),
        Violation::NotRobust => story
            .map_or("a run is not sequentially consistent".into(), |story| {
                crate::cycle::sentence(story)
            }),
        Violation::Invariant(at) => match &problem.properties[at] {
            Property::Invariant(condition) => format!(
                "invariant: `{}` does not hold{}",
                text(condition, 80),
                values(problem, condition, story)
            ),
            other => describe(other),
        },
        Violation::Operations(at) => match &problem.properties[at] {
            Property::Operations(operations) => returned(problem, operations, story),
            other => describe(other),
        },
        Violation::Final(at) | Violation::NoWitness(at) | Violation::Witness(at) => {
            match &problem.properties[at] {
                Property::Final(quantifier, condition) => {
                    let shown = text(condition, 80);
                    let values = match quantifier {
                        Quantifier::Exists | Quantifier::Never if tells_values(&condition.expr) => {
                            String::new()
                        }
                        _ => values(problem, condition, story),
                    };
                    match quantifier {
                        Quantifier::Forall => format!(
                            "final forall: a final state does not satisfy `{shown}`{values}"
                        ),
                        Quantifier::Never => {
                            format!("final never: a final state satisfies `{shown}`{values}")
                        }
                        Quantifier::Exists if matches!(violation, Violation::Witness(_)) => {
                            format!("final exists: a final state satisfies `{shown}`{values}")
                        }
                        Quantifier::Exists => {
                            format!("final exists: no final state satisfies `{shown}`")
                        }
                    }
                }
                other => describe(other),
            }
        }
    }
}

/// What operations returned, and that nothing explains it.
fn returned(problem: &Problem, operations: &Operations, story: Option<&Story<'_>>) -> String {
    let program = &problem.program;
    let shown = |thread: ThreadId, operation: &Operation| {
        let what = Observable::Reg(thread, operation.result?.1);
        let value = program.observable_type(what).show(value(story?, what)?);
        Some(format!("{} = {value}", operation.name))
    };
    let parts: Vec<String> = operations
        .threads
        .iter()
        .filter_map(|(thread, all)| {
            let results: Vec<String> = all.iter().filter_map(|one| shown(*thread, one)).collect();
            let name = &program.thread(*thread).name;
            (!results.is_empty()).then(|| format!("{name}: {}", results.join(", ")))
        })
        .collect();
    let order = match operations.consistency {
        Consistency::Sequential => "no order of the operations returns this",
        Consistency::Linearizable => {
            "no order of the operations returns this that keeps those in order of which one \
             returned before the other began"
        }
    };
    if parts.is_empty() {
        format!("operations: {order}")
    } else {
        format!("operations: {}: {order}", parts.join("; "))
    }
}

/// Whether a condition that holds tells every value it mentions: `x == 1 && p.r == 0`.
fn tells_values(expr: &Expr<Observable>) -> bool {
    match expr {
        Expr::Binary(BinOp::And, a, b) => tells_values(a) && tells_values(b),
        Expr::Binary(BinOp::Eq, a, b) => {
            matches!((&**a, &**b), (Expr::Var(_), Expr::Const(_)) | (Expr::Const(_), Expr::Var(_)))
        }
        Expr::Unary(UnOp::Not, a) => matches!(**a, Expr::Var(_)),
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
            false
        }
    }
}

/// `: x = 2, p.r = 0`, the values a condition mentions at the end of the run.
fn values(problem: &Problem, condition: &Condition, story: Option<&Story<'_>>) -> String {
    let Some(story) = story else { return String::new() };
    let mut seen: Vec<Observable> = Vec::new();
    condition.expr.for_each_var(&mut |what| {
        if !seen.contains(what) {
            seen.push(*what);
        }
    });
    let shown: Vec<String> = seen
        .into_iter()
        .filter_map(|what| {
            let program = &problem.program;
            let value = program.observable_type(what).show(value(story, what)?);
            Some(format!("{} = {value}", program.observable_name(what)))
        })
        .collect();
    if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) }
}

/// Where each thread waits.
fn stuck(problem: &Problem, story: Option<&Story<'_>>) -> String {
    let Some(story) = story else { return "no thread can go on".into() };
    let program = &problem.program;
    let parts: Vec<String> = program
        .thread_ids()
        .map(|t| {
            let name = &program.thread(t).name;
            match story.stuck_at(t) {
                Some(label) => format!(
                    "{name} waits at `{}` ({})",
                    statement(program, label, 40),
                    place(program, label)
                ),
                None => format!("{name} has finished"),
            }
        })
        .collect();
    parts.join(", ")
}
