//! Bounds of the front end: an engine that asks whether a run reaches one.
//!
//! A front end may cut runs at a bound, for example at the eighth nested call of a recursive
//! function ([`Program::bounds`](fencepost_ir::Program::bounds)). An engine sees such a run as
//! discarded. Therefore the engine first gets the problem in which reaching a bound is a violation,
//! too. If no run reaches a bound, its answer is the answer to the problem itself. If one does, the
//! engine gets the problem itself, and a verdict "verified" is weakened: it names the bound.
//!
//! Certificates and lists of several traces are about the problem itself. There, the question about
//! bounds is asked afterwards, and only if the problem is verified.
//!
//! Rejected: a search that reports both at once. Every engine would need a second kind of finding.

use crate::engine::{Answer, Budget, Engine, Settings, Task, refuse_exclusive_pairs};
use crate::robust::RobustDefinition;
use crate::verdict::{Bound, InconclusiveReason, Verdict};
use fencepost_ir::{Expr, Op, Problem, Property, Violation};

/// An engine that takes the bounds of the front end into account.
pub struct Bounded(pub Box<dyn Engine + Sync>);

impl Engine for Bounded {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn robust_definition(&self) -> Option<RobustDefinition> {
        self.0.robust_definition()
    }

    fn run(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        if let Some(answer) = refuse_exclusive_pairs(task) {
            return answer;
        }
        if task.problem.program.bounds.is_empty() {
            return self.0.run(task, settings, budget);
        }
        let checks_assertions = task.problem.properties.contains(&Property::Assertions);
        if settings.certifiable || settings.traces > 1 || !checks_assertions {
            let answer = self.0.run(task, settings, budget);
            if !answer.verdict.is_verified() {
                return answer;
            }
            return match self.reached_bound(task, settings, budget) {
                Some(reason) => Answer { verdict: answer.verdict.weakened(reason), ..answer },
                None => answer,
            };
        }
        let question = with_bounds_as_assertions(task.problem.clone());
        let first = self.0.run(Task { problem: &question, ..task }, settings, budget);
        let Some(bound) = violated_bound(task.problem, &first.verdict) else {
            return first;
        };
        let answer = self.0.run(task, settings, budget);
        if !answer.verdict.is_verified() {
            return answer;
        }
        Answer { verdict: answer.verdict.weakened(bound), ..answer }
    }

    /// The bounds restrict only proofs.
    fn find_violations(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        self.0.find_violations(task, settings, budget)
    }

    fn searches_few_threads(&self) -> bool {
        self.0.searches_few_threads()
    }

    fn outcomes(&self, task: Task<'_>, settings: Settings, budget: Budget<'_>) -> Answer {
        let answer = self.0.outcomes(task, settings, budget);
        if task.problem.program.bounds.is_empty() || answer.verdict.evidence().is_some() {
            return answer;
        }
        match self.reached_bound(task, settings, budget) {
            Some(reason) => {
                let verdict = answer.verdict.weakened(reason);
                Answer { verdict, outcomes_complete: false, ..answer }
            }
            None => answer,
        }
    }
}

impl Bounded {
    /// Returns why the bounds restrict a verdict: a run reaches one of them, or this is not known.
    fn reached_bound(
        &self,
        task: Task<'_>,
        settings: Settings,
        budget: Budget<'_>,
    ) -> Option<InconclusiveReason> {
        let mut question = task.problem.without_requirements();
        question.properties.push(Property::Assertions);
        let question = with_bounds_as_assertions(question);
        let settings = Settings { shortest: false, certifiable: false, traces: 1, ..settings };
        let found = self.0.run(Task { problem: &question, ..task }, settings, budget);
        match &found.verdict {
            Verdict::Verified(_) => None,
            Verdict::Inconclusive(inconclusive) => Some(inconclusive.reason().clone()),
            Verdict::Violated(_) => {
                let bound = violated_bound(task.problem, &found.verdict);
                Some(bound.expect("only a bound can be violated in a verified program"))
            }
        }
    }
}

/// Returns the bound that a violation reaches.
fn violated_bound(problem: &Problem, verdict: &Verdict) -> Option<InconclusiveReason> {
    let Violation::Assertion(_, Some(label)) = verdict.evidence()?.violation() else {
        return None;
    };
    let bound = problem.program.bounds.iter().find(|bound| bound.label == label)?;
    let bound = Bound::Source(bound.text.clone());
    Some(InconclusiveReason::Bound { bound, witness_missing: false })
}

/// Returns the problem in which each bound is an assertion that fails.
fn with_bounds_as_assertions(mut problem: Problem) -> Problem {
    let program = &mut problem.program;
    let bounds = std::mem::take(&mut program.bounds);
    for stmt in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
        if bounds.iter().any(|bound| bound.label == stmt.label) && matches!(stmt.op, Op::Assume(_))
        {
            stmt.op = Op::Assert(Expr::Const(0));
        }
    }
    problem
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Explicit;
    use fencepost_ir::{Bound as SourceBound, Label, LabelInfo, Pc, Program, Span, Stmt, Thread};
    use fencepost_ir::{Reg, Register, Type};
    use fencepost_models::ModelSpec;
    use fencepost_search::{Cancel, Progress};

    /// A thread that chooses 0 or 1 and reaches the bound if the number is at least `least`.
    fn problem(least: i64) -> Problem {
        let reg = Reg(0);
        let small = Expr::Binary(
            fencepost_ir::BinOp::Lt,
            Box::new(Expr::Var(reg)),
            Box::new(Expr::Const(least)),
        );
        let ops = [
            (Label(0), Op::Choose { reg, lo: 0, hi: 1 }, 1),
            (Label(0), Op::Branch { cond: small, then: Pc(3), otherwise: Pc(2) }, 0),
            (Label(1), Op::Assume(Expr::Const(0)), 3),
            (Label(0), Op::Halt, 0),
        ];
        let stmt = |(label, op, next)| Stmt { label, op, next: Pc(next), critical: false };
        let info = |text: &str| LabelInfo {
            span: Span::default(),
            text: text.into(),
            function: "t".into(),
        };
        let registers = vec![Register { name: "r".into(), ty: Type::INT }];
        let code = ops.into_iter().map(stmt).collect();
        let program = Program {
            threads: vec![Thread { name: "t".into(), registers, code }],
            labels: vec![info("r = ?"), info("f()")],
            bounds: vec![SourceBound { label: Label(1), text: "deep recursion".into() }],
            ..Program::default()
        };
        Problem { program, properties: vec![Property::Assertions], ..Problem::default() }
    }

    fn verdict(problem: &Problem) -> Verdict {
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        let model = ModelSpec::by_name("sc").expect("a built-in model");
        let engine = Bounded(Box::new(Explicit));
        engine.run(Task { problem, model: &model }, Settings::default(), budget).verdict
    }

    #[test]
    fn a_bound_that_a_run_reaches_is_in_the_verdict() {
        let verdict = verdict(&problem(1));
        let bound = Bound::Source("deep recursion".into());
        let reason = InconclusiveReason::Bound { bound, witness_missing: false };
        assert_eq!(verdict.inconclusive_reason(), Some(&reason));
    }

    #[test]
    fn a_bound_that_no_run_reaches_does_not_matter() {
        assert!(verdict(&problem(2)).is_verified());
    }
}
