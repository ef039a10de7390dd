//! Tests of clients, from the file and from the command line, and of properties of operations.

use fencepost_ir::{Consistency, Diagnostics, Op, Operations, Problem, Property, text};
use proptest::prelude::*;

use crate::Request;
use crate::fp::lower_for;

/// A simplified work-stealing deque.
const DEQUE: &str = "const EMPTY = -1; const ABORT = 0 - 2; shared int n, a[4]; init { n = 1; }
operation void push(int v) as p, owner { k = n; a[k] = v; n = k + 1; }
operation int take() as t, repeats, owner {
  k = n; if (k == 0) return EMPTY; v = a[k - 1]; n = k - 1; return v;
}
operation int steal() as s, aborts ABORT {
  k = n; if (k == 0) return EMPTY; v = a[k - 1];
  critical { skip; } atomic { skip; } if (!cas(n, k, k - 1)) return ABORT; return v;
}
";

fn lowered(source: &str, clients: Option<&[&str]>) -> Result<Vec<Problem>, Vec<String>> {
    let clients: Option<Vec<String>> =
        clients.map(|all| all.iter().map(ToString::to_string).collect());
    let mut diagnostics = Diagnostics::new();
    let request = Request { clients: clients.as_deref(), ..Request::default() };
    let problems = lower_for(source, &request, &mut diagnostics);
    problems.ok_or_else(|| diagnostics.iter().map(|d| d.message.clone()).collect())
}

fn operations(problem: &Problem) -> Vec<&Operations> {
    let mut found = Vec::new();
    for property in &problem.properties {
        if let Property::Operations(operations) = property {
            found.push(operations);
        }
    }
    found
}

#[test]
fn operations_are_listed_with_their_code() {
    let source = format!("{DEQUE} property sequentially_consistent operations; client pp(tp|s);");
    let problems = lowered(&source, None).expect("no errors");
    let program = &problems[0].program;
    let [claim] = operations(&problems[0])[..] else { panic!("one property") };
    assert_eq!(claim.consistency, Consistency::Sequential);
    assert_eq!(claim.span.text(&source), "sequentially_consistent operations");
    let mut out = String::new();
    for (thread, all) in &claim.threads {
        out.push_str(&format!("-- {}\n", program.thread(*thread).name));
        for operation in all {
            let (name, body) = (&operation.name, &operation.body);
            let result = operation.result.map(|(inside, kept)| {
                let kept = &program.thread(*thread).registers[kept.index()].name;
                (&body.registers[inside.index()].name, kept)
            });
            let (aborts, repeats) = (operation.aborts, operation.repeats);
            out.push_str(&format!("{name}: {result:?} aborts {aborts:?} repeats {repeats}\n"));
            out.push_str(&text::print_thread(program, body));
            assert!(operation.seen.is_empty());
        }
    }
    insta::assert_snapshot!("operations_are_listed_with_their_code", out);
}

#[test]
fn linearizable_operations_record_invocation_and_return() {
    let source = format!("{DEQUE} property linearizable operations; client tp|s|s;");
    let problems = lowered(&source, None).expect("no errors");
    let program = &problems[0].program;
    let [claim] = operations(&problems[0])[..] else { panic!("one property") };
    assert_eq!(claim.consistency, Consistency::Linearizable);
    for (thread, all) in &claim.threads {
        let code = &program.thread(*thread).code;
        let invoked: Vec<_> = code
            .iter()
            .filter_map(|s| if let Op::Invoke { seen } = &s.op { Some(seen.clone()) } else { None })
            .collect();
        let returned: Vec<_> = code
            .iter()
            .filter_map(|s| if let Op::Return { result } = s.op { Some(result) } else { None })
            .collect();
        assert_eq!(invoked, all.iter().map(|o| o.seen.clone()).collect::<Vec<_>>());
        assert_eq!(returned, all.iter().map(|o| o.result.map(|(_, r)| r)).collect::<Vec<_>>());
        for operation in all {
            // One register for each other thread.
            let others: Vec<_> = operation.seen.iter().map(|(other, _)| *other).collect();
            let expected: Vec<_> = program.thread_ids().filter(|id| id != thread).collect();
            assert_eq!(others, expected);
        }
        let mut registers: Vec<_> = all.iter().flat_map(|o| &o.seen).map(|(_, r)| *r).collect();
        registers.extend(all.iter().filter_map(|o| o.result).map(|(_, r)| r));
        let count = registers.len();
        registers.sort_unstable();
        registers.dedup();
        assert_eq!(registers.len(), count, "no two uses share a register");
    }
    // Conditions can mention the results.
    let source = format!("{source} final never s2 == 7;");
    let problems = lowered(&source, None).expect("no errors");
    let names: Vec<_> =
        problems[0].observed.iter().map(|o| problems[0].program.observable_name(*o)).collect();
    assert_eq!(names, ["client(2).s2"]);
}

#[test]
fn operations_after_the_threads_run_in_the_last_thread() {
    let source = format!(
        "{DEQUE} property linearizable operations; client p(t|s)ts; finally {{ r = n; assert(r > 0); }}
        final never t2 == 7;"
    );
    let problems = lowered(&source, None).expect("no errors");
    let (problem, program) = (&problems[0], &problems[0].program);
    assert_eq!(problem.name, "p(t|s)ts");
    let last = program.last_thread().expect("a last thread");
    assert_eq!(program.thread(last).name, "finally");
    let [claim] = operations(problem)[..] else { panic!("one property") };
    assert_eq!(claim.last, Some(2));
    let (thread, all) = &claim.threads[2];
    assert_eq!(*thread, last);
    assert_eq!(all.iter().map(|o| o.name.as_str()).collect::<Vec<_>>(), ["t2", "s2"]);
    assert!(all.iter().all(|o| o.seen.is_empty()));
    let observed = problem.observed.iter().map(|o| program.observable_name(*o));
    assert_eq!(observed.collect::<Vec<_>>(), ["finally.t2"]);
    // A client from the command line is the same.
    let given = lowered(&source, Some(&["p (t|s) ts"])).expect("no errors");
    assert_eq!(given[0].name, "p(t|s)ts");
    assert_eq!(given[0].program.threads.len(), 3);
    assert_eq!(
        lowered(&source, Some(&["t|s ts)"])),
        Err(vec![
            "client `t|s ts)`, character 7: expected `|` or the end of the client, found `)`"
                .into()
        ])
    );
}

#[test]
fn without_clients_there_is_no_property_of_operations() {
    let source = format!("{DEQUE} property linearizable operations; thread q {{ push(1); }}");
    let problems = lowered(&source, None).expect("no errors");
    assert!(operations(&problems[0]).is_empty());
}

#[test]
fn the_number_of_operation_orders_is_limited() {
    let source = format!("{DEQUE} property sequentially_consistent operations;");
    // binomial(20, 10) = 184,756; binomial(24, 12) = 2,704,156.
    let (ten, twelve) = ("s".repeat(10), "s".repeat(12));
    assert!(lowered(&source, Some(&[&format!("{ten}|{ten}")])).is_ok());
    let text = format!("{twelve}|{twelve}");
    let message = format!("client `{text}`: too many operations for this property");
    assert_eq!(lowered(&source, Some(&[&text])).err(), Some(vec![message]));
    assert!(lowered(DEQUE, Some(&[&text])).is_ok());
}

#[test]
fn given_clients_replace_the_clients_of_the_file() {
    let source = format!("{DEQUE} client p|s; final forall s1 != 9;");
    let names = |problems: &[Problem]| problems.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
    let own = lowered(&source, None).expect("no errors");
    assert_eq!(names(&own), ["p|s"]);
    let given = lowered(&source, Some(&[" pp ( t | s s )", "p|s", "(t|s)"])).expect("no errors");
    assert_eq!(names(&given), ["pp(t|ss)", "p|s", "(t|s)"]);
    // A client lowers to the same program whether it is given or declared.
    let code = |problem: &Problem| {
        let threads = problem.program.threads.iter();
        threads.map(|t| t.code.iter().map(|s| s.op.clone()).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    assert_eq!(code(&given[1]), code(&own[0]));
    assert_eq!(given[1].program.init.is_some(), own[0].program.init.is_some());
}

#[test]
fn messages_about_clients_show_them() {
    let source = format!("{DEQUE} final forall s1 != 9;");
    let long = "s".repeat(100);
    let texts = [
        "",
        "pp(",
        "pp(t|s",
        "p|",
        "p||s",
        "px|s",
        "p|s)",
        "p s;",
        "p|p",
        "t|st",
        "p|s+",
        "é|s",
        "t",
        "\n",
        "p|s\n|",
        "(p)(s)",
        "p(s)s",
        "s1",
        "/* s",
        &format!("{long}|x"),
        "s",
    ];
    let mut out = String::new();
    for text in texts {
        let messages = lowered(&source, Some(&[text])).err().unwrap_or_default();
        out.push_str(&format!("{text:?}\n"));
        messages.iter().for_each(|message| out.push_str(&format!("  {message}\n")));
    }
    let twice = lowered(&source, Some(&["p|s", "p | s"])).err().unwrap_or_default();
    out.push_str(&format!("{twice:?}\n"));
    let none = lowered(&source, Some(&["t|p", "t|t"])).err().unwrap_or_default();
    out.push_str(&format!("{none:?}\n"));
    insta::assert_snapshot!("messages_about_clients_show_them", out);
}

/// A library without a client is not a program. The hint names the option `--client`.
#[test]
fn a_library_needs_a_client() {
    let mut diagnostics = Diagnostics::new();
    assert!(lower_for(DEQUE, &Request::default(), &mut diagnostics).is_none());
    let [found] = diagnostics.sorted()[..] else { panic!("one message") };
    assert_eq!(found.message, "there is no thread to run");
    assert!(found.hint.as_ref().is_some_and(|hint| hint.contains("--client")));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// Any client text gives a program or an error, never a panic.
    #[test]
    fn any_client_text_is_handled_without_panic(
        texts in proptest::collection::vec("[pts(| ]{0,8}|\\PC{0,6}|[a-z/*\n)]{0,9}", 0..3),
        places in any::<bool>(),
    ) {
        let source = format!("{DEQUE} property linearizable operations; thread q {{ n = 1; }}");
        let mut diagnostics = Diagnostics::new();
        let request = Request { clients: Some(&texts), places, ..Request::default() };
        let problems = lower_for(&source, &request, &mut diagnostics);
        prop_assert_eq!(problems.is_none(), diagnostics.has_errors());
        for found in diagnostics.iter() {
            prop_assert!(found.span.end as usize <= source.len());
        }
    }
}
