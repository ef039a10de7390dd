//! One sentence about what went wrong, or about what was to be shown.

use crate::paint::{clip, printable};
use crate::trace::Story;
use crate::wording::{place, statement};
use fencepost_engines::Claim;
use fencepost_ir::{
    BinOp, Condition, Consistency, Expr, Label, Observable, Operation, Operations, Problem,
    Property, ThreadId, UnOp, Violation,
};

/// The stable word for what is shown.
pub fn word(claim: Claim) -> &'static str {
    match claim {
        Claim::Witness(_) => "witness",
        Claim::Violation(violation) => match violation {
            Violation::Fault(..) => "fault",
            Violation::Assertion(..) => "assertion",
            Violation::MutualExclusion(..) => "mutual-exclusion",
            Violation::Invariant(_) => "invariant",
            Violation::Final(_) => "final",
            Violation::Operations(_) => "operations",
            Violation::Deadlock => "deadlock",
            Violation::NoWitness(_) => "no-witness",
            Violation::NotRobust => "not-robust",
        },
    }
}

/// The property concerned, as the language writes it; a fault and an assertion name what fails.
pub fn property(problem: &Problem, claim: Claim) -> String {
    let exists = |at: usize| {
        let condition = problem.sometimes.get(at);
        condition.map(|c| format!("final exists {}", text(c, 200))).unwrap_or_default()
    };
    match claim {
        Claim::Witness(at) | Claim::Violation(Violation::NoWitness(at)) => exists(at),
        Claim::Violation(Violation::Fault(fault, ..)) => fault.describe().into(),
        Claim::Violation(Violation::Assertion(_, label)) => {
            label.map_or("assert".into(), |l| statement(&problem.program, l, 200))
        }
        Claim::Violation(Violation::MutualExclusion(..)) => "mutual_exclusion".into(),
        Claim::Violation(Violation::Deadlock) => "deadlock_free".into(),
        Claim::Violation(Violation::NotRobust) => "robust".into(),
        Claim::Violation(
            Violation::Invariant(at) | Violation::Final(at) | Violation::Operations(at),
        ) => problem.properties.get(at).map(describe).unwrap_or_default(),
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
        Property::FinalForall(condition) => format!("final forall {}", text(condition, 200)),
        Property::FinalNever(condition) => format!("final never {}", text(condition, 200)),
    }
}

fn text(condition: &Condition, most: usize) -> String {
    clip(&printable(&condition.text), most)
}

/// What a run shows: what goes wrong at its end, or a witness.
pub fn shown_by(story: &Story<'_>) -> Option<Claim> {
    let witness = || {
        let condition = story.problem.sometimes.iter().position(|c| story.run.satisfies(c));
        condition.map(Claim::Witness)
    };
    story.run.violation.map(Claim::Violation).or_else(witness)
}

/// What happens, in one sentence. `story` is the run that shows it, where there is one.
pub fn sentence(problem: &Problem, claim: Claim, story: Option<&Story<'_>>) -> String {
    let program = &problem.program;
    let name = |t: ThreadId| program.thread(t).name.as_str();
    let who = |t: Option<ThreadId>| t.map_or("init", name);
    let at =
        |label: Label| format!("`{}` ({})", statement(program, label, 60), place(program, label));
    let final_state = |quantifier: &str, what: &str, condition: &Condition, tell: bool| {
        let shown = text(condition, 80);
        let values = if tell { values(problem, condition, story) } else { String::new() };
        format!("final {quantifier}: {what} `{shown}`{values}")
    };
    let violation = match claim {
        Claim::Witness(at) => {
            let condition = &problem.sometimes[at];
            let tell = !tells_values(&condition.expr);
            return final_state("exists", "a final state satisfies", condition, tell);
        }
        Claim::Violation(violation) => violation,
    };
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
        Violation::NoWitness(at) => {
            let condition = &problem.sometimes[at];
            final_state("exists", "no final state satisfies", condition, false)
        }
        Violation::Invariant(at) | Violation::Operations(at) | Violation::Final(at) => {
            match &problem.properties[at] {
                Property::Invariant(condition) => format!(
                    "invariant: `{}` does not hold{}",
                    text(condition, 80),
                    values(problem, condition, story)
                ),
                Property::Operations(operations) => returned(problem, operations, story),
                Property::FinalForall(condition) => {
                    final_state("forall", "a final state does not satisfy", condition, true)
                }
                Property::FinalNever(condition) => {
                    let tell = !tells_values(&condition.expr);
                    final_state("never", "a final state satisfies", condition, tell)
                }
                other @ (Property::Assertions
                | Property::MutualExclusion
                | Property::DeadlockFree) => describe(other),
            }
        }
    }
}

/// What operations returned, and that nothing explains it.
fn returned(problem: &Problem, operations: &Operations, story: Option<&Story<'_>>) -> String {
    let program = &problem.program;
    let shown = |thread: ThreadId, operation: &Operation| {
        let what = Observable::Reg(thread, operation.result?.1);
        let value = program.observable_type(what).show(story?.run.value(what)?);
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
            let value = program.observable_type(what).show(story.run.value(what)?);
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
