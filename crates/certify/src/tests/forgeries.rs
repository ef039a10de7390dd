//! Valid certificates are accepted. Forged certificates are rejected with the place and the reason.

use std::cell::Cell;
use std::collections::BTreeSet;

use fencepost_ir::{Pc, Problem};
use fencepost_testkit::Random;

use super::{
    abstractions, check_rejected, closure, closure_certificate, problem, rules, write_certificate,
};
use crate::buffer::Rules;
use crate::covering::covers;
use crate::format::{CertState, Domain, Element, Entry, Model};
use crate::limits::Limits;
use crate::rejection::RejectionReason;

const PETERSON: &str = "shared bool want[2]; shared int(0..2) turn;
thread p(i in 0..2) {
  loop {
    want[i] = true; fence; turn = 1 - i; fence;
    do { w = want[1 - i]; t = turn; } while (w && t == 1 - i);
    critical { skip; }
    want[i] = false;
  }
}
property mutual_exclusion;";

/// Stores in a spin loop: the store buffer is unbounded.
const SPIN: &str = "shared int x, y;
thread p { do { x = 1; x = 2; r = y; } while (r == 0); fence; s = x; assert(s == 2); }
thread q { y = 1; }
final never x == 1;
invariant x <= 2;
property deadlock_free;";

#[test]
fn valid_certificates_are_accepted() {
    for model in [Model::Tso, Model::Pso] {
        for rules in
            [rules(model, Domain::Fd, 0), rules(model, Domain::Fd, 1), rules(model, Domain::Pd, 1)]
        {
            for source in [PETERSON, SPIN] {
                let problem = problem(source);
                let text = closure_certificate(&problem, rules);
                let certified = crate::check(&problem, &mut text.as_bytes())
                    .unwrap_or_else(|rejected| panic!("{rules:?}: {rejected}"));
                assert_eq!(certified.states + 1, text.lines().count());
                assert_eq!(
                    (certified.model, certified.domain, certified.k),
                    (model, rules.domain, rules.k)
                );
                // The absence of faults and of hangs is always proved.
                assert_eq!(certified.properties.len(), problem.properties.len() + 2);
            }
        }
    }
    let sc = rules(Model::Sc, Domain::Fd, 0);
    let text = closure_certificate(&problem(SPIN), sc);
    assert!(crate::check(&problem(SPIN), &mut text.as_bytes()).is_ok());
}

#[test]
fn covering_state_replaces_covered_state() {
    // With k = 1, a state with a head is redundant if the certificate has the same state with the
    // head in the set.
    let problem = problem("shared int x; thread p { x = 1; } final forall x == 1;");
    let one = closure(&problem, rules(Model::Tso, Domain::Fd, 1)).0;
    let none = closure(&problem, rules(Model::Tso, Domain::Fd, 0)).0;
    assert_ne!(one, none);
    let text = write_certificate(&problem, rules(Model::Tso, Domain::Fd, 1), &none);
    assert!(crate::check(&problem, &mut text.as_bytes()).is_ok());
}

#[test]
fn removing_a_state_is_detected() {
    let rules = rules(Model::Pso, Domain::Fd, 0);
    for source in [PETERSON, SPIN] {
        let problem = problem(source);
        let (states, _) = closure(&problem, rules);
        let begin = states.iter().find(|s| s.threads.iter().all(|t| t.pc == Pc(0)));
        assert!(begin.is_some());
        for removed in states.iter().step_by(1 + states.len() / 60) {
            let text = write_certificate(&problem, rules, states.iter().filter(|s| *s != removed));
            let rejected = check_rejected(&problem, text);
            assert!(
                matches!(rejected.reason, RejectionReason::NotClosed | RejectionReason::Initial),
                "{rejected}"
            );
        }
    }
}

#[test]
fn changing_a_number_is_detected() {
    let rules = rules(Model::Pso, Domain::Fd, 0);
    let problem = problem(
        "shared int x, y; thread p { x = 1; fence store_store; y = 1; x = 2; r = x; }
        thread q { a = y; b = x; assert(!(a == 1 && b == 0)); }",
    );
    // In `fd` with k = 0, no state covers another, so every state is required unchanged.
    let text = closure_certificate(&problem, rules);
    assert!(crate::check(&problem, &mut text.as_bytes()).is_ok());
    let header = text.lines().next().expect("the certificate must have a header").len();
    let mut changed = 0;
    for (at, byte) in text.bytes().enumerate().skip(header).step_by(7) {
        if byte.is_ascii_digit() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if byte == b'0' { b'1' } else { b'0' };
            let _ = check_rejected(&problem, forged);
            changed += 1;
        }
    }
    assert!(changed > 100);
}

#[test]
fn uncovered_successor_is_reported_with_step_and_states() {
    let problem =
        problem("shared int x;\nthread p {\n  x = 1;\n  r = x;\n}\nfinal forall p.r == 1;");
    let rules = rules(Model::Tso, Domain::Pd, 0);
    let (states, _) = closure(&problem, rules);
    let loaded: BTreeSet<CertState> =
        states.iter().filter(|s| s.threads[0].registers != [1]).cloned().collect();
    let message = check_rejected(&problem, write_certificate(&problem, rules, &loaded)).to_string();
    assert_eq!(
        message,
        "line 3: not closed: thread p executes L1 (line 4: `x`) with value 1, but no state of the certificate \
         covers the state after this step
  state:
    memory: x = 0
    p: at L1 (line 4: `x`), r = 0; pending in unknown order: x = 1 (last value)
  after:
    memory: x = 0
    p: at L2 (line 5: `}`), r = 1; pending in unknown order: x = 1 (last value)"
    );
    let kept: BTreeSet<CertState> = states.iter().filter(|s| s.memory == [0]).cloned().collect();
    let message = check_rejected(&problem, write_certificate(&problem, rules, &kept)).to_string();
    let start = "line 3: not closed: thread p commits x = 1 (its class stays pending), but no state of the \
                 certificate covers";
    assert!(message.starts_with(start), "{message}");
}

#[test]
fn uncovered_initial_state_is_reported() {
    let problem = problem("shared int x; init { x = choose(0..3); } thread p { r = x; }");
    let rules = rules(Model::Pso, Domain::Fd, 0);
    let (states, _) = closure(&problem, rules);
    let text = write_certificate(&problem, rules, states.iter().filter(|s| s.memory != [2]));
    let rejected = check_rejected(&problem, text);
    assert_eq!((rejected.reason, rejected.line), (RejectionReason::Initial, None));
    assert!(rejected.to_string().contains("memory: x = 2"), "{rejected}");
    assert_eq!(
        super::check_rejected(&problem, write_certificate(&problem, rules, [])).reason,
        RejectionReason::Initial
    );
}

#[test]
fn states_that_violate_properties_are_rejected() {
    let rules = rules(Model::Pso, Domain::Fd, 0);
    let peterson = problem(PETERSON);
    let (mut states, _) = closure(&peterson, rules);
    let inside = |pc: Pc| peterson.program.threads[0].stmt(pc).critical;
    let mut both = states
        .iter()
        .find(|s| inside(s.threads[0].pc))
        .expect("a thread must reach its critical section")
        .clone();
    both.threads[1].pc = both.threads[0].pc;
    states.insert(both);
    let message =
        check_rejected(&peterson, write_certificate(&peterson, rules, &states)).to_string();
    let what = "violated: mutual exclusion: p(0) and p(1) are in critical sections\n  state:";
    assert!(message.contains(what), "{message}");

    let wrong = [
        ("invariant x == 0;", "violated: invariant `x == 0`"),
        ("invariant 1 / (1 - x) == 1;", "violated: invariant"),
        ("final forall x == 0;", "violated: final forall `x == 0`"),
        ("final never x == 1;", "violated: final never `x == 1`"),
        ("final never 1 / y == 1;", "violated: final never"),
    ];
    for (property, what) in wrong {
        let problem = problem(&format!("shared int x, y; thread p {{ x = 1; }} {property}"));
        let message = check_rejected(&problem, closure_certificate(&problem, rules)).to_string();
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn failing_steps_are_rejected() {
    let rules = rules(Model::Pso, Domain::Fd, 0);
    let wrong = [
        ("thread p { r = x; assert(r == 1); }", "the assertion fails"),
        ("thread p { r = x; s = 1 / r; }", "division by zero"),
        ("thread p { r = a[x]; r = a[r + 2]; }", "out of bounds"),
        ("thread p { b = 7; }", "value outside the declared range"),
        ("thread p { r = cas(b, 0, 7); }", "value outside the declared range"),
        ("thread p { n = top; n.v = 1; }", "null reference"),
        ("thread p { n = top; free(n); }", "null reference"),
        ("thread p { n = new N; free(n); n.v = 1; }", "use after free"),
        ("thread p { n = new N; free(n); free(n); }", "free of a record that is not allocated"),
        ("thread p { n = new N; n = new N; }", "no free record left"),
        (
            "thread p { n = new N; n.v = 1; top = n; } thread q { m = top; if (m != null) { free(m); } }",
            "(an equal store stays pending): use of a record that is not allocated",
        ),
        ("thread p { atomic { r = x; assert(r == 1); } }", "`atomic"),
        ("thread p { atomic { loop { skip; } } }", "runs too long"),
        ("thread p { atomic { r = choose(0..300); s = choose(0..300); } }", "runs too long"),
        ("init { x = 1 / x; } thread p { skip; }", "in `init`: division by zero"),
        ("init { loop { skip; } } thread p { skip; }", "in `init`: an atomic or init block"),
        ("thread p { assume(false); } property deadlock_free;", "violated: hang"),
        ("thread p { while (x == 0) skip; }", "violated: hang"),
        ("thread p { x = 1; do { r = x; s = a[0]; } while (r + s != 2); }", "violated: hang"),
        (
            "thread p { while (swap(b0, true)) skip; } thread q { r = swap(b0, true); while (r) skip; }",
            "violated: hang",
        ),
        ("thread p { while (!cas(x, 1, 2)) skip; }", "violated: hang"),
        ("thread p { atomic { assume(x == 1); } }", "violated: hang"),
        ("thread p { loop { skip; } }", "violated: hang"),
        ("thread p { while (x == 0) { r = choose(0..3); } }", "violated: hang"),
    ];
    for (code, what) in wrong {
        let source = format!(
            "record N {{ int v; }} pool N[1]; shared N top; shared int x, a[2]; shared bool b0; \
             shared int(0..2) b; {code}"
        );
        let problem = problem(&source);
        let rejected = check_rejected(&problem, closure_certificate(&problem, rules));
        assert_eq!(rejected.reason, RejectionReason::Violated, "{rejected}");
        assert!(rejected.to_string().contains(what), "{rejected}");
    }
}

#[test]
fn blocks_within_the_limits_are_accepted() {
    let sources = [
        "shared int x; thread p { atomic { r = choose(0..256); s = choose(0..256); x = 1; r = 0; s = 0; } }",
        "shared int x; thread p { atomic { r = choose(0..4); assume(r == 9); x = 1; } } final never x == 1;
            property may_hang;",
        "shared int x; thread p { while (x == 0) skip; } property may_hang;",
        "shared int x; thread p { while (x == 0) skip; } thread q { x = 1; }",
        "shared int x; thread p { while (x == 0) { if (choose(0..2) == 1) break; } }",
        // A false `assume` outside of `atomic` discards the run. A loop that stores is no wait.
        "shared int x; thread p { r = x; assume(r == 1); } thread q { while (x == 0) skip; }",
        "shared int x, y; thread p { while (x == 0) { y = 0; } }",
        "shared int x; thread p { x = 1; atomic { x += 1; x += 1; } } final forall x == 3;",
        "shared int x; thread p { k = 0; atomic { while (k < 20000) { k += 1; } } }",
    ];
    for source in sources {
        let problem = problem(source);
        let text = closure_certificate(&problem, rules(Model::Pso, Domain::Pd, 1));
        let checked = crate::check(&problem, &mut text.as_bytes());
        assert!(checked.is_ok(), "{source}: {checked:?}");
    }
}

#[test]
fn statements_have_specified_effects() {
    let sources = [
        "record N { int v; int w; } pool N[1]; shared int x, y;
         thread p { n = new N; n.v = 5; n.w = 6; free(n); m = new N; x = m.v; y = m.w; }
         final forall x == 0 && y == 0;",
        "shared int x = 3;
         thread p { a = swap(x, 4); b = fetch_add(x, 2); c = cas(x, 5, 9); d = cas(x, 6, 1); e = fetch_or(x, 6); }
         final forall p.a == 3 && p.b == 4 && !p.c && p.d && p.e == 1 && x == 7;",
        "shared int x; thread p { x = 1; assume(x == 2); x = 3; } final never x == 3; invariant x < 2;",
        "shared int a[3]; thread p { i = 1; a[i + 1] = 4; r = a[2 * i]; s = a[0] == 0 ? r : 9; }
         final forall p.s == 4 && a[1] == 0;",
    ];
    for source in sources {
        let problem = problem(source);
        for model in [Model::Sc, Model::Tso, Model::Pso] {
            let text = closure_certificate(&problem, rules(model, Domain::Fd, 1));
            let checked = crate::check(&problem, &mut text.as_bytes());
            assert!(checked.is_ok(), "{source}: {}", checked.unwrap_err());
        }
    }
}

#[test]
fn truncated_files_are_rejected() {
    let problem = problem(SPIN);
    let text = closure_certificate(&problem, rules(Model::Tso, Domain::Fd, 1));
    let lines = text.lines().count();
    let whole_lines: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    let message = check_rejected(&problem, whole_lines).to_string();
    assert_eq!(message, format!("truncated: the file ends after 2 of {} states", lines - 1));
    let header = text.lines().next().expect("the certificate must have a header").len();
    for end in (0..text.len() - 1).step_by(11) {
        let rejected = check_rejected(&problem, &text[..end]);
        let expected = if end <= header { rejected.reason } else { RejectionReason::Truncated };
        assert_eq!(rejected.reason, expected, "{rejected}");
    }
    assert!(
        crate::check(&problem, &mut &text.as_bytes()[..text.len() - 1]).is_ok(),
        "a missing newline at the end must be accepted"
    );
    let longer =
        text.clone() + text.lines().last().expect("the certificate must have a state") + "\n";
    assert!(check_rejected(&problem, longer).to_string().contains("the file continues after"));
}

#[test]
fn arbitrary_bytes_do_not_panic() {
    let problem = problem(SPIN);
    let rules = rules(Model::Pso, Domain::Fd, 1);
    let text = closure_certificate(&problem, rules);
    let strange: [&[u8]; 7] = [
        b"",
        b"\n\n",
        b"\xff\xfe\x00",
        b"[[[[[[[[",
        b"{}",
        b"{\"certificate\":2,\"model\":\"pso\",\"domain\":\"fd\",\"k\":1,\"client\":\"\",\"states\":1}",
        b"{\"certificate\":1,\"model\":\"tso\",\"domain\":\"fd\",\"k\":4294967295,\"client\":\"\",\
          \"states\":18446744073709551615}\n[[0,0],[],[[0,[],0,[],[]]]]\n",
    ];
    for bytes in strange {
        let _ = check_rejected(&problem, bytes);
    }
    assert_eq!(
        check_rejected(&problem, vec![b'['; 5 << 20]).detail,
        "the line is longer than 4 MiB"
    );
    let mut random = Random::new(0);
    for _ in 0..500 {
        let mut bytes = text.clone().into_bytes();
        let at = random.below(bytes.len());
        bytes[at] = [b'0', b'9', b'-', b',', b'[', b']', b'\n', b'"', 0xc3][random.below(9)];
        let _ = crate::check(&problem, &mut &bytes[..]);
    }
}

#[test]
fn certificates_of_other_programs_are_rejected() {
    let rules = rules(Model::Pso, Domain::Fd, 0);
    let text = closure_certificate(&problem(PETERSON), rules);
    let unfenced = problem(&PETERSON.replace("fence;", "fence load_load;"));
    let rejection = check_rejected(&unfenced, &text);
    assert_eq!(rejection.reason, RejectionReason::NotClosed, "{rejection}");
    let rejection = check_rejected(&problem(SPIN), &text);
    assert_eq!(
        rejection.to_string(),
        "line 2: not a state of this program: 3 values in memory, but the program has 2"
    );
    let client = problem("shared int x; operation void set() as s { x = 1; } client s|s;");
    assert_eq!(check_rejected(&client, &text).reason, RejectionReason::Client);
    let own = closure_certificate(&client, rules);
    assert!(crate::check(&client, &mut own.as_bytes()).is_ok());
}

/// Returns the reachable states that no other reachable state covers.
fn uncovered_states(problem: &Problem, rules: Rules) -> Vec<CertState> {
    let (states, _) = closure(problem, rules);
    let covered = |a: &&CertState| states.iter().any(|b| b != *a && covers(rules, b, a));
    let uncovered_states: Vec<CertState> = states.iter().filter(|a| !covered(a)).cloned().collect();
    assert!(uncovered_states.len() < states.len());
    uncovered_states
}

#[test]
fn changed_model_or_domain_is_rejected() {
    let spin = problem(SPIN);
    let forge = |from, to, text: &str| {
        let forged = text.replacen(from, to, 1);
        assert_ne!(forged, text);
        check_rejected(&spin, forged)
    };
    let few = uncovered_states(&spin, rules(Model::Pso, Domain::Pd, 0));
    let text = write_certificate(&spin, rules(Model::Pso, Domain::Pd, 0), &few);
    assert!(crate::check(&spin, &mut text.as_bytes()).is_ok(), "covered states must be redundant");
    assert_eq!(forge("\"pd\"", "\"fd\"", &text).reason, RejectionReason::NotClosed);
    let pd = closure_certificate(&spin, rules(Model::Pso, Domain::Pd, 1));
    assert!(
        forge("\"k\":1", "\"k\":0", &pd).to_string().contains("a head has 1 entries, but k is 0")
    );
    assert!(forge("\"pd\"", "\"set\"", &pd).to_string().contains("the domain `set` has no head"));
    assert!(forge("\"pso\"", "\"sc\"", &pd).to_string().contains("stores are pending under sc"));
    let order = problem(
        "shared int x, y; thread p { x = 1; y = 1; }
        thread q { a = y; b = x; assert(!(a == 1 && b == 0)); }",
    );
    let tso = closure_certificate(&order, rules(Model::Tso, Domain::Fd, 2));
    assert!(crate::check(&order, &mut tso.as_bytes()).is_ok());
    let pso = check_rejected(&order, tso.replacen("\"tso\"", "\"pso\"", 1));
    assert_eq!(pso.reason, RejectionReason::NotClosed, "{pso}");
}

#[test]
fn uncertifiable_properties_are_rejected() {
    let exists = problem("shared int x; thread p { x = 1; } final exists x == 1;");
    let message = check_rejected(&exists, "").to_string();
    assert!(message.contains("certificates cannot prove `final exists x == 1`"), "{message}");
    let operations = problem(
        "shared int x; operation int get() as g { return x; } client g|g; property linearizable operations;",
    );
    let message = check_rejected(&operations, "").to_string();
    assert!(
        message.contains("certificates cannot prove `property linearizable operations`"),
        "{message}"
    );
}

/// Applies `change` to a state with two pending stores. Returns the details of the rejection.
fn malformed_state_error(change: impl Fn(&mut CertState), domain: Domain) -> String {
    let problem = problem("shared int x, y; thread p { x = 1; y = 1; r = x; }");
    let rules = rules(Model::Pso, domain, 0);
    let (states, _) = closure(&problem, rules);
    let mut states: Vec<CertState> = states.into_iter().collect();
    let at = states
        .iter()
        .position(|s| s.threads[0].set.len() == 2)
        .expect("a state must have two pending stores");
    change(&mut states[at]);
    let rejected = check_rejected(&problem, write_certificate(&problem, rules, &states));
    assert_eq!(
        (rejected.reason, rejected.line),
        (RejectionReason::State, Some(at as u64 + 2)),
        "{rejected}"
    );
    rejected.detail
}

#[test]
fn malformed_states_are_rejected() {
    let fd = |change: &dyn Fn(&mut CertState)| malformed_state_error(change, Domain::Fd);
    let own = |change: &dyn Fn(&mut crate::CertThread)| fd(&|s| change(&mut s.threads[0]));
    let like = |e: &Element| Entry {
        loc: e.loc,
        value: e.value,
        epoch: e.epoch,
        before_barrier: e.before_barrier,
    };
    assert_eq!(fd(&|s| s.memory.push(0)), "3 values in memory, but the program has 2");
    assert_eq!(fd(&|s| s.allocated.push(true)), "1 cells, but the program has 0");
    assert_eq!(fd(&|s| s.threads.clear()), "0 threads, but the program has 1");
    assert!(own(&|t| t.registers.clear()).contains("0 registers"));
    assert!(own(&|t| t.pc = Pc(99)).contains("statement @99 does not exist"));
    assert!(own(&|t| t.set[1].loc.0 = 2).contains("location m2 does not exist"));
    assert!(own(&|t| t.set.swap(0, 1)).contains("not sorted"));
    assert!(own(&|t| t.set.insert(0, t.set[0])).contains("contain a duplicate"));
    assert!(own(&|t| t.head.push(like(&t.set[0]))).contains("but k is 0"));
    assert!(own(&|t| t.set[0].last = false).contains("0 last values"));
    let younger = |t: &mut crate::CertThread| {
        t.set.insert(1, Element { epoch: 1, last: false, ..t.set[0] });
        t.epoch = 1;
    };
    assert!(own(&younger).contains("not in the youngest class"));
    assert!(own(&|t| t.set[1].epoch = 2).contains("epochs: {0, 2}"));
    assert!(own(&|t| t.epoch = 2).contains("current epoch 2"));
    assert!(
        malformed_state_error(|s| s.threads[0].set[0].last = true, Domain::Set)
            .contains("domain is set")
    );
}

#[test]
fn heads_out_of_order_are_rejected() {
    let problem = problem("shared int x, y; thread p { x = 1; y = 1; fence store_load; x = 2; }");
    let rules = rules(Model::Pso, Domain::Fd, 1);
    let (states, _) = closure(&problem, rules);
    let mut swapped = states
        .iter()
        .find(|s| s.threads[0].head.len() == 2)
        .expect("both stores must be in the head")
        .clone();
    swapped.threads[0].head.swap(0, 1);
    let rejection = check_rejected(&problem, write_certificate(&problem, rules, [&swapped]));
    assert!(rejection.detail.contains("not sorted by location"), "{rejection}");
    let older =
        states.iter().find(|s| !s.threads[0].set.is_empty()).expect("a store must be in the set");
    let mut older = older.clone();
    older.threads[0].head.iter_mut().for_each(|entry| entry.before_barrier = false);
    older.threads[0].set.iter_mut().for_each(|element| element.before_barrier = true);
    let rejection = check_rejected(&problem, write_certificate(&problem, rules, [&older]));
    assert!(rejection.detail.contains("older than the head"), "{rejection}");
}

#[test]
fn written_states_parse_unchanged() {
    let problem = problem(SPIN);
    for model in [Model::Tso, Model::Pso] {
        for rules in abstractions(model) {
            for state in closure(&problem, rules).0 {
                let line = state.to_line();
                assert_eq!(CertState::parse(line.as_bytes()), Ok(state));
            }
        }
    }
}

#[test]
fn examples_in_the_book_are_correct() {
    let book = include_str!("../../../../book/src/certificates.md");
    let source = "shared int x; thread p { x = 1; } final forall x == 1;";
    assert!(book.contains(source));
    let problem = problem(source);
    let (_, example) =
        book.split_once("under TSO:\n\n```text\n").expect("the book must have an example");
    let (example, _) = example.split_once("```").expect("the example must end");
    assert!(crate::check(&problem, &mut example.as_bytes()).is_ok());
    let two: String = example.lines().take(3).map(|line| format!("{line}\n")).collect();
    let message = check_rejected(&problem, two.replace("\"states\":3", "\"states\":2")).to_string();
    assert!(book.contains(&message), "{message}");
}

/// An empty set covers no initial state, and it is closed. It must not count as a proof.
#[test]
fn a_program_without_a_run_has_no_certificate() {
    let problem = problem(
        "shared int x; init { x = 1; assume(x == 2); } thread p { x = 3; } final forall x == 4;",
    );
    for model in [Model::Sc, Model::Tso, Model::Pso] {
        for rules in abstractions(model) {
            let rejection = check_rejected(&problem, write_certificate(&problem, rules, []));
            assert_eq!(rejection.reason, RejectionReason::NoRun, "{rejection}");
        }
    }
}

#[test]
fn limits_stop_a_check() {
    let problem = problem(PETERSON);
    let rules = rules(Model::Tso, Domain::Fd, 1);
    let text = closure_certificate(&problem, rules);
    let check = |limits: &Limits<'_>| {
        crate::check_within(&problem, &mut text.as_bytes(), limits).map_err(|r| r.to_string())
    };
    let states = check(&Limits::NONE).expect("a valid certificate").states as u64;
    let stopped = |reason: &str| Err(format!("stopped: {reason}"));
    assert_eq!(check(&Limits { bytes: 1000, ..Limits::NONE }), stopped("memory limit reached"));
    // The limit also ends the second pass, over the steps of the states.
    for polls in [0, states / 2, states + 2, states + states / 2] {
        let left = Cell::new(polls);
        let stop = || match left.get() {
            0 => Some("time limit reached"),
            polls => {
                left.set(polls - 1);
                None
            }
        };
        let limits = Limits { stop: &stop, ..Limits::NONE };
        assert_eq!(check(&limits), stopped("time limit reached"), "{polls} of {states}");
    }
}
