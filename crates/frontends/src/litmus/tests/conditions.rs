//! Format and semantics of conditions.

use fencepost_ir::{Quantifier, Value};
use std::collections::BTreeSet;

use super::good;

/// Returns a test with this constraint. The test has two locations, an array and two threads.
fn with_constraint(constraint: &str) -> String {
    format!("X86 T\n{{ int a[2]; }}\n P0 | P1 ;\n MOV EAX,[x] | MOV [y],$x ;\n{constraint}\n")
}

#[test]
fn conditions_are_printed_in_herds_format() {
    for (constraint, printed) in [
        ("", "forall (true)"),
        ("exists x=1", "exists ([x]=1)"),
        ("exists (x=1);", "exists ([x]=1)"),
        ("exists [x]=1", "exists ([x]=1)"),
        ("exists x==1", "exists ([x]=1)"),
        ("final x=1", "exists ([x]=1)"),
        ("(x=1)", "exists ([x]=1)"),
        ("~exists x=1", "~exists ([x]=1)"),
        ("~ exists (x=1)", "~exists ([x]=1)"),
        ("not exists x=1", "~exists ([x]=1)"),
        ("forall x=0x10", "forall ([x]=16)"),
        ("forall x=1 with whatever comes", "forall ([x]=1)"),
        ("forall x=1 << whatever comes }", "forall ([x]=1)"),
        ("exists 0:EAX=1", "exists (0:EAX=1)"),
        ("exists P0:EAX=-1", "exists (0:EAX=-1)"),
        ("exists a[1]=1", "exists (a[1]=1)"),
        ("exists y=x", "exists ([y]=x)"),
        ("exists y=&x", "exists ([y]=x)"),
        ("exists y=a[1]", "exists ([y]=a[1])"),
        ("exists x=[y]", "exists ([x]=[y])"),
        ("exists 0:EAX=1:EBX", "exists (0:EAX=1:EBX)"),
        ("exists x={1,2}", "exists ([x]={1,2})"),
        ("exists x!=1", "exists (not ([x]=1))"),
        ("exists x<>1", "exists (not ([x]=1))"),
        ("exists ~x=1", "exists (not ([x]=1))"),
        ("exists not not x=1", "exists (not (not ([x]=1)))"),
        ("exists ~(x=1 /\\ y=1)", "exists (not ([x]=1 /\\ [y]=1))"),
        ("exists true /\\ (false)", "exists (true /\\ false)"),
        ("exists x=1 /\\ y=1 /\\ x=2", "exists ([x]=1 /\\ [y]=1 /\\ [x]=2)"),
        ("exists x=1 /\\ (y=1 /\\ x=2)", "exists ([x]=1 /\\ [y]=1 /\\ [x]=2)"),
        ("exists x=1 \\/ y=1 /\\ x=2", "exists ([x]=1 \\/ [y]=1 /\\ [x]=2)"),
        ("exists (x=1 \\/ y=1) /\\ x=2", "exists (([x]=1 \\/ [y]=1) /\\ [x]=2)"),
        ("exists x=1 => y=1", "exists ([x]=1 => [y]=1)"),
        ("exists x=1 /\\ y=1 => x=2", "exists ([x]=1 /\\ ([y]=1 => [x]=2))"),
        ("exists (x=1 /\\ y=1) => x=2", "exists (([x]=1 /\\ [y]=1) => [x]=2)"),
        ("exists (x=1 \\/ y=1) => x=2", "exists (([x]=1 \\/ [y]=1) => [x]=2)"),
        ("exists x=1 => y=1 \\/ x=2", "exists (([x]=1 => [y]=1) \\/ [x]=2)"),
        ("exists ~x=1 => y=1", "exists (not ([x]=1) => [y]=1)"),
    ] {
        let test = good(&with_constraint(constraint));
        assert_eq!(test.quantified_condition(), printed, "{constraint}");
    }
}

#[test]
fn states_show_registers_then_elements_then_locations() {
    for (constraint, state_vars) in [
        (
            "exists y=1 /\\ x=1 /\\ a[1]=0 /\\ 1:EBX=0 /\\ 0:ECX=0 /\\ 0:EAX=0",
            vec!["0:EAX", "0:ECX", "1:EBX", "a[1]", "[x]", "[y]"],
        ),
        ("locations [y; 0:EAX; x int; y int*;] exists x=1", vec!["0:EAX", "[x]", "[y]"]),
        ("locations [a[0]] locations [a[1];] forall true", vec!["a[0]", "a[1]"]),
        ("filter y=1 exists x=1", vec!["[x]"]),
        ("", vec![]),
    ] {
        assert_eq!(good(&with_constraint(constraint)).state_vars, state_vars, "{constraint}");
    }
}

/// Returns the values of x and y, each from 0 to 2, for which a condition holds.
fn holds(condition: &str) -> Vec<(Value, Value)> {
    let test = good(&with_constraint(&format!("locations [x; y] forall {condition}")));
    assert_eq!(test.state_vars, ["[x]", "[y]"]);
    let all = (0..3).flat_map(|x| (0..3).map(move |y| (x, y)));
    let one = |(x, y): (Value, Value)| BTreeSet::from([vec![x, y]]);
    all.filter(|&at| {
        test.evaluate(&one(at)).expect("the condition can be evaluated").holds(Quantifier::Forall)
    })
    .collect()
}

#[test]
fn conditions_hold_for_the_expected_values() {
    for (condition, expected) in [
        ("x=1 /\\ y=2", vec![(1, 2)]),
        ("x={0,2} /\\ y=0", vec![(0, 0), (2, 0)]),
        ("x={}", vec![]),
        ("x=[y]", vec![(0, 0), (1, 1), (2, 2)]),
        ("x!=[y] /\\ x!=0 /\\ ~y=0", vec![(1, 2), (2, 1)]),
        // `\/` binds looser than `/\`.
        ("x=0 /\\ y=0 \\/ x=1 /\\ y=1", vec![(0, 0), (1, 1)]),
        // `=>` binds tighter than `/\`: x=1, and if y=1 then false.
        ("x=1 /\\ y=1 => false", vec![(1, 0), (1, 2)]),
        // `=>` is right-associative: if x=0 then (if y=0 then false).
        ("(x=0 => y=0 => false) /\\ x=0", vec![(0, 1), (0, 2)]),
        // `not` binds tightest: (not x=0) => y=0 is x=0 or y=0.
        ("not x=0 => y=0", vec![(0, 0), (0, 1), (0, 2), (1, 0), (2, 0)]),
        ("false", vec![]),
    ] {
        assert_eq!(holds(condition), expected, "{condition}");
    }
}

#[test]
fn filtered_states_are_neither_shown_nor_counted() {
    let test = good(&with_constraint("filter y=1 exists x=1"));
    let outcomes = BTreeSet::from([vec![0, 1], vec![1, 0], vec![1, 1], vec![2, 1], vec![3, 0]]);
    let shown = test.evaluate(&outcomes).expect("the condition can be evaluated");
    assert_eq!(shown.states, BTreeSet::from([vec![0], vec![1], vec![2]]));
    assert_eq!((shown.positive, shown.negative), (1, 2));
    assert_eq!(test.format_state(&[2]), "[x]=2;");
}
