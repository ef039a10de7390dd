//! Tests of RCU and SRCU: lowering, the registers of sections, and the facts about them.

use super::rejected::check_error;
use super::{lowered, source, statements};
use fencepost_ir::grace_period::{MAX_WAITS, Wait, may_wait_inside, occurs, waits};
use fencepost_ir::validate::{Rule, validate};
use fencepost_ir::{Domain, Op, Problem, Reg, ThreadId, Type};

fn problem(functions: &str) -> Problem {
    let text = format!("C T\n{{}}\n{functions}\nexists (x=0)\n");
    lowered(&text, false).problem
}

const SECTION: &str = "P1(int *x) { rcu_read_lock(); WRITE_ONCE(*x, 1); rcu_read_unlock(); }";

#[test]
fn sections_and_grace_periods_are_operations_without_fences() {
    let test = problem(&format!(
        "P0(int *x) {{ synchronize_rcu(); synchronize_rcu_expedited(); }}\n{SECTION}"
    ));
    assert_eq!(statements(&test, 0), ["grace_period domain0", "grace_period domain0"]);
    let section = ["begin_section domain0", "store x = 1", "end_section domain0"];
    assert_eq!(statements(&test, 1), section);
}

#[test]
fn an_srcu_structure_is_a_domain_and_a_section_has_an_index() {
    let test = problem(
        "P0(int *x, struct srcu_struct *s, struct srcu_struct *t) {
           int i = srcu_read_lock(s); int j; j = srcu_read_lock(t); srcu_read_unlock(s, i);
           srcu_read_unlock(&t, j); synchronize_srcu(t); }",
    );
    let expected = [
        "begin_section i = domain1",
        "begin_section j = domain2",
        "end_section domain1 i",
        "end_section domain2 j",
        "grace_period domain2",
    ];
    assert_eq!(statements(&test, 0), expected);
}

#[test]
fn invalid_calls_are_errors() {
    let check = |body: &str, code: &str, message: &str| {
        let text = source(&format!("P0(int *x, int **p) {{ {body} }}"));
        check_error(&text, code, 3, message);
    };
    check("srcu_read_lock();", "LT0001", "takes 1 argument, not 0");
    check("rcu_read_lock(x);", "LT0001", "takes 0 arguments, not 1");
    check("int r0 = rcu_read_lock();", "LT0001", "returns no value");
    check("synchronize_srcu(READ_ONCE(*p));", "LT0002", "must be a parameter");
}

#[test]
fn a_grace_period_waits_for_threads_and_srcu_for_indices() {
    let test = problem(
        "P0(int *x, struct srcu_struct *s) { synchronize_rcu(); synchronize_srcu(s); }
         P1(int *x, struct srcu_struct *s) {
           int i = srcu_read_lock(s); int j = srcu_read_lock(s);
           srcu_read_unlock(s, i); srcu_read_unlock(s, j); }
         P2(int *x) { rcu_read_lock(); rcu_read_unlock(); }",
    );
    let program = &test.program;
    let wait = |thread, held| Wait { thread: ThreadId(thread), held };
    let rcu = waits(program, ThreadId(0), Domain::RCU);
    assert_eq!(rcu, [wait(1, None), wait(2, Some((Reg(0), -1)))]);
    let held = match program.thread(ThreadId(1)).code[0].op {
        Op::SectionBegin { held, .. } => held,
        ref other => panic!("{other:?}"),
    };
    let srcu = waits(program, ThreadId(0), Domain(1));
    assert_eq!(srcu, [wait(1, Some((held, 1))), wait(1, Some((held, 2)))]);
    // A thread with sections also waits for itself.
    assert_eq!(waits(program, ThreadId(2), Domain::RCU).len(), 3);
    let ty = &program.thread(ThreadId(1)).registers[held.index()].ty;
    assert_eq!(*ty, Type::Int { range: Some((0, 3)) });
}

#[test]
fn waits_inside_of_sections_are_found() {
    let inside = |body: &str| {
        may_wait_inside(&problem(&format!("P0(int *x) {{ {body} }}\n{SECTION}")).program)
    };
    assert!(!inside("synchronize_rcu(); while (READ_ONCE(*x) == 0) {}"));
    assert!(!inside("rcu_read_lock(); rcu_read_unlock(); while (READ_ONCE(*x) == 0) {}"));
    assert!(!inside("while (READ_ONCE(*x) == 0) { rcu_read_lock(); rcu_read_unlock(); }"));
    assert!(inside("rcu_read_lock(); while (READ_ONCE(*x) == 0) {} rcu_read_unlock();"));
    assert!(inside("rcu_read_lock(); synchronize_rcu(); rcu_read_unlock();"));
    assert!(inside("rcu_read_lock(); spin_lock(x); rcu_read_unlock();"));
    assert!(inside(
        "rcu_read_lock(); rcu_read_lock(); rcu_read_unlock();
         while (READ_ONCE(*x) == 0) {} rcu_read_unlock();"
    ));
    assert!(inside("rcu_read_lock();"));
}

#[test]
fn a_grace_period_with_too_many_waits_is_an_error() {
    let sections = "srcu_read_lock(s); ".repeat(MAX_WAITS / 2 + 1);
    let text = format!(
        "P0(struct srcu_struct *s) {{ synchronize_srcu(s); }}
         P1(struct srcu_struct *s) {{ {sections} }}
         P2(struct srcu_struct *s) {{ {sections} }}"
    );
    check_error(&source(&text), "LT0004", 3, "waits for too many sections");
}

#[test]
fn the_rules_of_sections_are_validated() {
    let valid = problem(&format!("P0(int *x) {{ synchronize_rcu(); }}\n{SECTION}"));
    assert!(occurs(&valid.program) && validate(&valid).is_ok());
    let mut no_range = valid.clone();
    no_range.program.threads[0].registers[0].ty = Type::INT;
    let mut no_index = valid.clone();
    if let Op::SectionBegin { domain, .. } = &mut no_index.program.threads[1].code[0].op {
        *domain = Domain(1);
    }
    let mut assigned = valid;
    assigned.program.threads[1].code[1].op = Op::Choose { reg: Reg(0), lo: 0, hi: 1 };
    for broken in [no_range, no_index, assigned] {
        let rules = validate(&broken).expect_err("a broken rule");
        assert!(rules.iter().all(|broken| broken.rule == Rule::Section), "{rules:?}");
    }
}
