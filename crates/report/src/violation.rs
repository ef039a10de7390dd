//! One sentence about a violation or a witness.

use crate::data_race::describe_race;
use crate::hang::{describe_hang, describe_livelock};
use crate::paint::{clip, printable};
use crate::trace::TraceRows;
use crate::wording::{place, statement};
use fencepost_engines::Claim;
use fencepost_ir::{
    BinOp, Condition, Consistency, Expr, Label, Observable, Operation, Operations, Problem,
    Property, ThreadId, UnOp, Violation,
};

/// Returns the stable word for a claim, as used in JSON.
pub fn claim_word(claim: Claim) -> &'static str {
    match claim {
        Claim::Witness(_) => "witness",
        Claim::Violation(violation) => match violation {
            Violation::Fault(..) => "fault",
            Violation::Assertion(..) => "assertion",
            Violation::MutualExclusion(..) => "mutual-exclusion",
            Violation::Invariant(_) => "invariant",
            Violation::Final(_) => "final",
            Violation::Operations(_) => "operations",
            Violation::Hang => "hang",
            Violation::Livelock { .. } => "livelock",
            Violation::NoWitness(_) => "no-witness",
            Violation::NotRobust => "not-robust",
            Violation::DataRace(_) => "data-race",
        },
    }
}

/// Returns the property that a claim is about, as the language writes it. For a fault, returns its
/// description; for an assertion, its source text.
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
        Claim::Violation(Violation::Hang) => "no hangs".into(),
        Claim::Violation(Violation::Livelock { .. }) => "progress".into(),
        Claim::Violation(Violation::NotRobust) => "robust".into(),
        Claim::Violation(Violation::DataRace(_)) => "no data races".into(),
        Claim::Violation(
            Violation::Invariant(at) | Violation::Final(at) | Violation::Operations(at),
        ) => problem.properties.get(at).map(describe_property).unwrap_or_default(),
    }
}

/// Formats a property as the language writes it.
pub fn describe_property(property: &Property) -> String {
    match property {
        Property::Assertions => "assertions".into(),
        Property::MutualExclusion => "mutual_exclusion".into(),
        Property::DeadlockFree => "deadlock_free".into(),
        Property::Progress => "progress".into(),
        Property::Operations(operations) => {
            format!("{} operations", operations.consistency.word())
        }
        Property::Invariant(condition) => format!("invariant {}", text(condition, 200)),
        Property::FinalForall(condition) => format!("final forall {}", text(condition, 200)),
        Property::FinalNever(condition) => format!("final never {}", text(condition, 200)),
    }
}

fn text(condition: &Condition, max: usize) -> String {
    clip(&printable(&condition.text), max)
}

/// Returns the claim that a run proves: the violation at its end, or else a witness.
pub fn claim_of_run(trace_rows: &TraceRows<'_>) -> Option<Claim> {
    let witness = || {
        let condition =
            trace_rows.problem.sometimes.iter().position(|c| trace_rows.run.satisfies(c));
        condition.map(Claim::Witness)
    };
    trace_rows.run.violation.map(Claim::Violation).or_else(witness)
}

/// Describes a claim in one sentence. `trace_rows` is the run that proves the claim, if there is
/// one.
pub fn describe_claim(
    problem: &Problem,
    claim: Claim,
    trace_rows: Option<&TraceRows<'_>>,
) -> String {
    let program = &problem.program;
    let name = |t: ThreadId| program.thread(t).name.as_str();
    let who = |t: Option<ThreadId>| t.map_or("init", name);
    let at =
        |label: Label| format!("`{}` ({})", statement(program, label, 60), place(program, label));
    let final_state = |quantifier: &str, what: &str, condition: &Condition, with_values: bool| {
        let shown = text(condition, 80);
        let values = if with_values {
            condition_values(problem, condition, trace_rows)
        } else {
            String::new()
        };
        format!("final {quantifier}: {what} `{shown}`{values}")
    };
    let violation = match claim {
        Claim::Witness(at) => {
            let condition = &problem.sometimes[at];
            let with_values = !determines_values(&condition.expr);
            return final_state("exists", "a final state satisfies", condition, with_values);
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
        Violation::Hang => format!("hang: {}", describe_hang(trace_rows)),
        Violation::Livelock { thread, cycle_start } => {
            describe_livelock(problem, thread, cycle_start, trace_rows)
        }
        Violation::NotRobust => trace_rows
            .map_or("a run is not sequentially consistent".into(), |trace_rows| {
                crate::cycle::describe_reordering(trace_rows)
            }),
        Violation::DataRace(race) => describe_race(program, race),
        Violation::NoWitness(at) => {
            let condition = &problem.sometimes[at];
            final_state("exists", "no final state satisfies", condition, false)
        }
        Violation::Invariant(at) | Violation::Operations(at) | Violation::Final(at) => {
            match &problem.properties[at] {
                Property::Invariant(condition) => format!(
                    "invariant: `{}` does not hold{}",
                    text(condition, 80),
                    condition_values(problem, condition, trace_rows)
                ),
                Property::Operations(operations) => {
                    unexplained_results(problem, operations, trace_rows)
                }
                Property::FinalForall(condition) => {
                    final_state("forall", "a final state does not satisfy", condition, true)
                }
                Property::FinalNever(condition) => {
                    let with_values = !determines_values(&condition.expr);
                    final_state("never", "a final state satisfies", condition, with_values)
                }
                other @ (Property::Assertions
                | Property::MutualExclusion
                | Property::DeadlockFree
                | Property::Progress) => describe_property(other),
            }
        }
    }
}

/// Describes the results of operations that the required consistency does not allow.
fn unexplained_results(
    problem: &Problem,
    operations: &Operations,
    trace_rows: Option<&TraceRows<'_>>,
) -> String {
    let program = &problem.program;
    let shown = |thread: ThreadId, operation: &Operation| {
        let what = Observable::Reg(thread, operation.result?.1);
        let value = program.observable_type(what).show(trace_rows?.run.value(what)?);
        Some(format!("{} = {value}", operation.name))
    };
    // The location of a result has the name of the operation.
    let first = operations.first.iter().filter_map(|loc| {
        let what = Observable::Loc(*loc);
        Some(format!("init: {} = {}", program.location(*loc).name, trace_rows?.run.value(what)?))
    });
    let of_threads = operations.threads.iter().filter_map(|(thread, all)| {
        let results: Vec<String> = all.iter().filter_map(|one| shown(*thread, one)).collect();
        let name = &program.thread(*thread).name;
        (!results.is_empty()).then(|| format!("{name}: {}", results.join(", ")))
    });
    let parts: Vec<String> = first.chain(of_threads).collect();
    let reason = match operations.consistency {
        Consistency::Sequential => "no interleaving of the operations explains these results",
        Consistency::Linearizable => {
            "not linearizable: no order of the operations that respects real time explains these \
             results"
        }
    };
    if parts.is_empty() {
        format!("operations: {reason}")
    } else {
        format!("operations: {}: {reason}", parts.join("; "))
    }
}

/// Whether a condition, when it holds, determines every value in it: `x == 1 && p.r == 0`.
fn determines_values(expr: &Expr<Observable>) -> bool {
    match expr {
        Expr::Binary(BinOp::And, a, b) => determines_values(a) && determines_values(b),
        Expr::Binary(BinOp::Eq, a, b) => {
            matches!((&**a, &**b), (Expr::Var(_), Expr::Const(_)) | (Expr::Const(_), Expr::Var(_)))
        }
        Expr::Unary(UnOp::Not, a) => matches!(**a, Expr::Var(_)),
        Expr::Const(_) | Expr::Var(_) | Expr::Unary(..) | Expr::Binary(..) | Expr::Select(..) => {
            false
        }
    }
}

/// Formats the values in a condition at the end of the run: `: x = 2, p.r = 0`.
fn condition_values(
    problem: &Problem,
    condition: &Condition,
    trace_rows: Option<&TraceRows<'_>>,
) -> String {
    let Some(trace_rows) = trace_rows else { return String::new() };
    let mut seen: Vec<Observable> = Vec::new();
    condition.expr.for_each_var(&mut |what| {
        // The last step shows where the threads are.
        if !seen.contains(what) && !matches!(what, Observable::At(..)) {
            seen.push(*what);
        }
    });
    let shown: Vec<String> = seen
        .into_iter()
        .filter_map(|what| {
            let program = &problem.program;
            let value = program.observable_type(what).show(trace_rows.run.value(what)?);
            Some(format!("{} = {value}", program.observable_name(what)))
        })
        .collect();
    if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) }
}
