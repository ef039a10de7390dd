//! Good certificates are accepted; each forgery is rejected, and the message says where and why.

use std::collections::BTreeSet;

use fencepost_ir::{Pc, Problem};
use fencepost_testkit::Random;

use super::{abstractions, certificate, closure, problem, rejected, rules, written};
use crate::buffer::Rules;
use crate::format::{CertState, Domain, Element, Entry, Model};
use crate::order::covers;
use crate::rejected::Reason;

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

/// One store in a loop, so that its buffer has no bound.
const SPIN: &str = "shared int x, y;
thread p { do { x = 1; x = 2; r = y; } while (r == 0); fence; s = x; assert(s == 2); }
thread q { y = 1; }
final never x == 1;
invariant x <= 2;
property deadlock_free;";

#[test]
fn good_certificates_are_accepted() {
    for model in [Model::Tso, Model::Pso] {
        for rules in
            [rules(model, Domain::Fd, 0), rules(model, Domain::Fd, 1), rules(model, Domain::Pd, 1)]
        {
            for source in [PETERSON, SPIN] {
                let problem = problem(source);
                let text = certificate(&problem, rules);
                let certified = crate::check(&problem, &mut text.as_bytes())
                    .unwrap_or_else(|rejected| panic!("{rules:?}: {rejected}"));
                assert_eq!(certified.states + 1, text.lines().count());
                assert_eq!(
                    (certified.model, certified.domain, certified.k),
                    (model, rules.domain, rules.k)
                );
                assert_eq!(certified.properties.len(), problem.properties.len() + 1);
            }
        }
    }
    let sc = rules(Model::Sc, Domain::Fd, 0);
    let text = certificate(&problem(SPIN), sc);
    assert!(crate::check(&problem(SPIN), &mut text.as_bytes()).is_ok());
}

#[test]
fn a_covering_state_is_enough() {
    // With k = 1, a state with a head is not needed where the same state without it is there.
    let problem = problem("shared int x; thread p { x = 1; } final forall x == 1;");
    let one = closure(&problem, rules(Model::Tso, Domain::Fd, 1)).0;
    let none = closure(&problem, rules(Model::Tso, Domain::Fd, 0)).0;
    assert_ne!(one, none);
    let text = written(&problem, rules(Model::Tso, Domain::Fd, 1), &none);
    assert!(crate::check(&problem, &mut text.as_bytes()).is_ok());
}

#[test]
fn no_state_can_be_left_out() {
    let rules = rules(Model::Pso, Domain::Fd, 0);
    for source in [PETERSON, SPIN] {
        let problem = problem(source);
        let (states, _) = closure(&problem, rules);
        let begin = states.iter().find(|s| s.threads.iter().all(|t| t.pc == Pc(0)));
        assert!(begin.is_some());
        for left_out in states.iter().step_by(1 + states.len() / 60) {
            let text = written(&problem, rules, states.iter().filter(|s| *s != left_out));
            let rejected = rejected(&problem, text);
            assert!(matches!(rejected.reason, Reason::NotClosed | Reason::Initial), "{rejected}");
        }
    }
}

#[test]
fn no_number_can_be_changed() {
    let rules = rules(Model::Pso, Domain::Fd, 0);
    let problem = problem(
        "shared int x, y; thread p { x = 1; fence store_store; y = 1; x = 2; r = x; }
        thread q { a = y; b = x; assert(!(a == 1 && b == 0)); }",
    );
    // With k = 0 no state covers another one: each is needed as it is.
    let text = certificate(&problem, rules);
    assert!(crate::check(&problem, &mut text.as_bytes()).is_ok());
    let header = text.lines().next().expect("a header").len();
    let mut changed = 0;
    for (at, byte) in text.bytes().enumerate().skip(header).step_by(7) {
        if byte.is_ascii_digit() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if byte == b'0' { b'1' } else { b'0' };
            let _ = rejected(&problem, forged);
            changed += 1;
        }
    }
    assert!(changed > 100);
}

#[test]
fn a_step_that_leads_out_is_told() {
    let problem =
        problem("shared int x;\nthread p {\n  x = 1;\n  r = x;\n}\nfinal forall p.r == 1;");
    let rules = rules(Model::Tso, Domain::Pd, 0);
    let (states, _) = closure(&problem, rules);
    let loaded: BTreeSet<CertState> =
        states.iter().filter(|s| s.threads[0].registers != [1]).cloned().collect();
    let told = rejected(&problem, written(&problem, rules, &loaded)).to_string();
    assert_eq!(
        told,
        "line 3: not closed: thread p executes L1 (line 4: `x`) and gets 1, and the state after it is \
         not covered by any state of the certificate
  state:
    memory: x = 0
    p: at L1 (line 4: `x`), r = 0; pending in some order: x = 1 (the last)
  after:
    memory: x = 0
    p: at L2 (line 5: `}`), r = 1; pending in some order: x = 1 (the last)"
    );
    let kept: BTreeSet<CertState> = states.iter().filter(|s| s.memory == [0]).cloned().collect();
    let told = rejected(&problem, written(&problem, rules, &kept)).to_string();
    let start = "line 3: not closed: the store x = 1 of thread p takes effect (more to this location stay \
                 pending), and the state after it";
    assert!(told.starts_with(start), "{told}");
}

#[test]
fn the_initial_states_must_be_there() {
    let problem = problem("shared int x; init { x = choose(0..3); } thread p { r = x; }");
    let rules = rules(Model::Pso, Domain::Fd, 0);
    let (states, _) = closure(&problem, rules);
    let text = written(&problem, rules, states.iter().filter(|s| s.memory != [2]));
    let rejected = rejected(&problem, text);
    assert_eq!((rejected.reason, rejected.line), (Reason::Initial, None));
    assert!(rejected.to_string().contains("memory: x = 2"), "{rejected}");
    assert_eq!(super::rejected(&problem, written(&problem, rules, [])).reason, Reason::Initial);
}

#[test]
fn states_with_errors_are_noticed() {
    let rules = rules(Model::Pso, Domain::Fd, 0);
    let peterson = problem(PETERSON);
    let (mut states, _) = closure(&peterson, rules);
    let inside = |pc: Pc| peterson.program.threads[0].stmt(pc).critical;
    let mut both =
        states.iter().find(|s| inside(s.threads[0].pc)).expect("somebody enters").clone();
    both.threads[1].pc = both.threads[0].pc;
    states.insert(both);
    let told = rejected(&peterson, written(&peterson, rules, &states)).to_string();
    let what = "violated: mutual exclusion: p(0) and p(1) are in critical sections\n  state:";
    assert!(told.contains(what), "{told}");

    let wrong = [
        ("invariant x == 0;", "violated: invariant `x == 0`"),
        ("invariant 1 / (1 - x) == 1;", "violated: invariant"),
        ("final forall x == 0;", "violated: final forall `x == 0`"),
        ("final never x == 1;", "violated: final never `x == 1`"),
        ("final never 1 / y == 1;", "violated: final never"),
    ];
    for (property, what) in wrong {
        let problem = problem(&format!("shared int x, y; thread p {{ x = 1; }} {property}"));
        let told = rejected(&problem, certificate(&problem, rules)).to_string();
        assert!(told.contains(what), "{told}");
    }
}

#[test]
fn steps_that_fail_are_noticed() {
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
            "takes effect (more like it stay pending): use of a record that is not allocated",
        ),
        ("thread p { atomic { r = x; assert(r == 1); } }", "`atomic"),
        ("thread p { atomic { loop { skip; } } }", "runs too long"),
        ("thread p { atomic { r = choose(0..300); s = choose(0..300); } }", "runs too long"),
        ("init { x = 1 / x; } thread p { skip; }", "in `init`: division by zero"),
        ("init { loop { skip; } } thread p { skip; }", "in `init`: an atomic or init block"),
        ("thread p { assume(false); } property deadlock_free;", "violated: deadlock freedom"),
    ];
    for (code, what) in wrong {
        let source = format!(
            "record N {{ int v; }} pool N[1]; shared N top; shared int x, a[2]; shared bool b0; \
             shared int(0..2) b; {code}"
        );
        let problem = problem(&source);
        let rejected = rejected(&problem, certificate(&problem, rules));
        assert_eq!(rejected.reason, Reason::Violated, "{rejected}");
        assert!(rejected.to_string().contains(what), "{rejected}");
    }
}

#[test]
fn blocks_within_the_limits_are_accepted() {
    let sources = [
        "shared int x; thread p { atomic { r = choose(0..256); s = choose(0..256); x = 1; r = 0; s = 0; } }",
        "shared int x; thread p { atomic { r = choose(0..4); assume(r == 9); x = 1; } } final never x == 1;",
        "shared int x; thread p { x = 1; atomic { x += 1; x += 1; } } final forall x == 3;",
        "shared int x; thread p { k = 0; atomic { while (k < 20000) { k += 1; } } }",
    ];
    for source in sources {
        let problem = problem(source);
        let text = certificate(&problem, rules(Model::Pso, Domain::Pd, 1));
        let checked = crate::check(&problem, &mut text.as_bytes());
        assert!(checked.is_ok(), "{source}: {checked:?}");
    }
}

#[test]
fn statements_do_what_they_say() {
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
            let text = certificate(&problem, rules(model, Domain::Fd, 1));
            let checked = crate::check(&problem, &mut text.as_bytes());
            assert!(checked.is_ok(), "{source}: {}", checked.unwrap_err());
        }
    }
}

#[test]
fn truncated_files_are_noticed() {
    let problem = problem(SPIN);
    let text = certificate(&problem, rules(Model::Tso, Domain::Fd, 1));
    let lines = text.lines().count();
    let whole_lines: String = text.lines().take(3).map(|line| format!("{line}\n")).collect();
    let told = rejected(&problem, whole_lines).to_string();
    assert_eq!(told, format!("truncated: ends after 2 of {} states", lines - 1));
    let header = text.lines().next().expect("a header").len();
    for end in (0..text.len() - 1).step_by(11) {
        let rejected = rejected(&problem, &text[..end]);
        let expected = if end <= header { rejected.reason } else { Reason::Truncated };
        assert_eq!(rejected.reason, expected, "{rejected}");
    }
    assert!(
        crate::check(&problem, &mut &text.as_bytes()[..text.len() - 1]).is_ok(),
        "only a newline"
    );
    let longer = text.clone() + text.lines().last().expect("a state") + "\n";
    assert!(rejected(&problem, longer).to_string().contains("the file goes on after"));
}

#[test]
fn any_bytes_are_answered() {
    let problem = problem(SPIN);
    let rules = rules(Model::Pso, Domain::Fd, 1);
    let text = certificate(&problem, rules);
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
        let _ = rejected(&problem, bytes);
    }
    assert_eq!(rejected(&problem, vec![b'['; 5 << 20]).what, "a line of more than 4 MiB");
    let mut random = Random::new(0);
    for _ in 0..500 {
        let mut bytes = text.clone().into_bytes();
        let at = random.below(bytes.len());
        bytes[at] = [b'0', b'9', b'-', b',', b'[', b']', b'\n', b'"', 0xc3][random.below(9)];
        let _ = crate::check(&problem, &mut &bytes[..]);
    }
}

#[test]
fn other_programs_are_noticed() {
    let rules = rules(Model::Pso, Domain::Fd, 0);
    let text = certificate(&problem(PETERSON), rules);
    let unfenced = problem(&PETERSON.replace("fence;", "fence load_load;"));
    let told = rejected(&unfenced, &text);
    assert_eq!(told.reason, Reason::NotClosed, "{told}");
    let told = rejected(&problem(SPIN), &text);
    assert_eq!(
        told.to_string(),
        "line 2: not a state of this program: 3 values in memory, but the program has 2"
    );
    let client = problem("shared int x; operation void set() as s { x = 1; } client s|s;");
    assert_eq!(rejected(&client, &text).reason, Reason::Client);
    let own = certificate(&client, rules);
    assert!(crate::check(&client, &mut own.as_bytes()).is_ok());
}

/// The states that no other one covers.
fn largest(problem: &Problem, rules: Rules) -> Vec<CertState> {
    let (states, _) = closure(problem, rules);
    let covered = |a: &&CertState| states.iter().any(|b| b != *a && covers(rules, b, a));
    let largest: Vec<CertState> = states.iter().filter(|a| !covered(a)).cloned().collect();
    assert!(largest.len() < states.len());
    largest
}

#[test]
fn other_models_and_domains_are_noticed() {
    let spin = problem(SPIN);
    let forge = |from, to, text: &str| {
        let forged = text.replacen(from, to, 1);
        assert_ne!(forged, text);
        rejected(&spin, forged)
    };
    let few = largest(&spin, rules(Model::Pso, Domain::Pd, 0));
    let text = written(&spin, rules(Model::Pso, Domain::Pd, 0), &few);
    assert!(crate::check(&spin, &mut text.as_bytes()).is_ok(), "covered states are not needed");
    assert_eq!(forge("\"pd\"", "\"fd\"", &text).reason, Reason::NotClosed);
    let pd = certificate(&spin, rules(Model::Pso, Domain::Pd, 1));
    assert!(
        forge("\"k\":1", "\"k\":0", &pd).to_string().contains("a head of 1 entries, but k is 0")
    );
    assert!(forge("\"pd\"", "\"set\"", &pd).to_string().contains("the domain set has no head"));
    assert!(forge("\"pso\"", "\"sc\"", &pd).to_string().contains("stores are pending under sc"));
    let order = problem(
        "shared int x, y; thread p { x = 1; y = 1; }
        thread q { a = y; b = x; assert(!(a == 1 && b == 0)); }",
    );
    let tso = certificate(&order, rules(Model::Tso, Domain::Fd, 2));
    assert!(crate::check(&order, &mut tso.as_bytes()).is_ok());
    let pso = rejected(&order, tso.replacen("\"tso\"", "\"pso\"", 1));
    assert_eq!(pso.reason, Reason::NotClosed, "{pso}");
}

#[test]
fn what_certificates_cannot_prove_is_refused() {
    let exists = problem("shared int x; thread p { x = 1; } final exists x == 1;");
    let told = rejected(&exists, "").to_string();
    assert!(told.contains("certificates say nothing about `final exists x == 1`"), "{told}");
    let operations = problem(
        "shared int x; operation int get() as g { return x; } client g|g; property linearizable operations;",
    );
    let told = rejected(&operations, "").to_string();
    assert!(
        told.contains("certificates say nothing about `property linearizable operations`"),
        "{told}"
    );
}

/// What is wrong with the second state of a certificate after a change.
fn misshapen(change: impl Fn(&mut CertState), domain: Domain) -> String {
    let problem = problem("shared int x, y; thread p { x = 1; y = 1; r = x; }");
    let rules = rules(Model::Pso, domain, 0);
    let (states, _) = closure(&problem, rules);
    let mut states: Vec<CertState> = states.into_iter().collect();
    let at = states.iter().position(|s| s.threads[0].set.len() == 2).expect("two are pending");
    change(&mut states[at]);
    let rejected = rejected(&problem, written(&problem, rules, &states));
    assert_eq!(
        (rejected.reason, rejected.line),
        (Reason::State, Some(at as u64 + 2)),
        "{rejected}"
    );
    rejected.what
}

#[test]
fn misshapen_states_are_noticed() {
    let fd = |change: &dyn Fn(&mut CertState)| misshapen(change, Domain::Fd);
    let own = |change: &dyn Fn(&mut crate::CertThread)| fd(&|s| change(&mut s.threads[0]));
    let like = |e: &Element| Entry { loc: e.loc, value: e.value, epoch: e.epoch, before: e.before };
    assert_eq!(fd(&|s| s.memory.push(0)), "3 values in memory, but the program has 2");
    assert_eq!(fd(&|s| s.allocated.push(true)), "1 cells, but the program has 0");
    assert_eq!(fd(&|s| s.threads.clear()), "0 threads, but the program has 1");
    assert!(own(&|t| t.registers.clear()).contains("0 registers"));
    assert!(own(&|t| t.pc = Pc(99)).contains("no statement @99"));
    assert!(own(&|t| t.set[1].loc.0 = 2).contains("no location m2"));
    assert!(own(&|t| t.set.swap(0, 1)).contains("not in order"));
    assert!(own(&|t| t.set.insert(0, t.set[0])).contains("there twice"));
    assert!(own(&|t| t.head.push(like(&t.set[0]))).contains("but k is 0"));
    assert!(own(&|t| t.set[0].last = false).contains("0 last values"));
    let younger = |t: &mut crate::CertThread| {
        t.set.insert(1, Element { epoch: 1, last: false, ..t.set[0] });
        t.epoch = 1;
    };
    assert!(own(&younger).contains("not in the youngest class"));
    assert!(own(&|t| t.set[1].epoch = 2).contains("epochs {0, 2}"));
    assert!(own(&|t| t.epoch = 2).contains("the current one 2"));
    assert!(misshapen(|s| s.threads[0].set[0].last = true, Domain::Set).contains("domain is set"));
}

#[test]
fn heads_must_be_in_order() {
    let problem = problem("shared int x, y; thread p { x = 1; y = 1; fence store_load; x = 2; }");
    let rules = rules(Model::Pso, Domain::Fd, 1);
    let (states, _) = closure(&problem, rules);
    let mut swapped = states.iter().find(|s| s.threads[0].head.len() == 2).expect("both").clone();
    swapped.threads[0].head.swap(0, 1);
    let told = rejected(&problem, written(&problem, rules, [&swapped]));
    assert!(told.what.contains("not in the order of locations"), "{told}");
    let older = states.iter().find(|s| !s.threads[0].set.is_empty()).expect("a second x");
    let mut older = older.clone();
    older.threads[0].head.iter_mut().for_each(|entry| entry.before = false);
    older.threads[0].set.iter_mut().for_each(|element| element.before = true);
    let told = rejected(&problem, written(&problem, rules, [&older]));
    assert!(told.what.contains("older than the head"), "{told}");
}

#[test]
fn every_domain_writes_what_it_reads() {
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
fn the_book_is_right() {
    let book = include_str!("../../../../book/src/certificates.md");
    let source = "shared int x; thread p { x = 1; } final forall x == 1;";
    assert!(book.contains(source));
    let problem = problem(source);
    let (_, example) = book.split_once("under TSO:\n\n```text\n").expect("an example");
    let (example, _) = example.split_once("```").expect("it ends");
    assert!(crate::check(&problem, &mut example.as_bytes()).is_ok());
    let two: String = example.lines().take(3).map(|line| format!("{line}\n")).collect();
    let told = rejected(&problem, two.replace("\"states\":3", "\"states\":2")).to_string();
    assert!(book.contains(&told), "{told}");
}
