//! Complete litmus tests, written by hand from the definitions of their cycles, and rejected
//! cycles.

use fencepost_cycles::{Cycle, CycleError, Edge};

fn cycle(edges: &str) -> Cycle {
    edges.parse().unwrap_or_else(|error| panic!("{edges}: {error}"))
}

/// Checks the text of the test. `expected` starts with the name of the test.
fn check(edges: &str, expected: &str) {
    assert_eq!(cycle(edges).litmus_text(), format!("X86 {expected}"));
}

#[test]
fn store_buffering() {
    check(
        "Fre PodWR Fre PodWR",
        r#"SB
"PodWR Fre PodWR Fre"
Cycle=Fre PodWR Fre PodWR
Com=Fr Fr
Orig=PodWR Fre PodWR Fre
{
}
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
locations [x; y; 0:EAX; 1:EAX;]
exists (0:EAX=0 /\ 1:EAX=0)
"#,
    );
}

#[test]
fn message_passing_with_a_fence() {
    check(
        "Rfe MFencedRR Fre PodWW",
        r#"MP+po+mfence
"PodWW Rfe MFencedRR Fre"
Cycle=Rfe MFencedRR Fre PodWW
Com=Rf Fr
Orig=PodWW Rfe MFencedRR Fre
{
}
 P0         | P1          ;
 MOV [x],$1 | MOV EAX,[y] ;
 MOV [y],$1 | MFENCE      ;
            | MOV EBX,[x] ;
locations [x; y; 1:EAX; 1:EBX;]
exists (1:EAX=1 /\ 1:EBX=0)
"#,
    );
}

#[test]
fn independent_reads_of_independent_writes() {
    check(
        "PodRR Fre Rfe PodRR Fre Rfe",
        r#"IRIW
"Rfe PodRR Fre Rfe PodRR Fre"
Cycle=Rfe PodRR Fre Rfe PodRR Fre
Com=Rf Fr Rf Fr
Orig=Rfe PodRR Fre Rfe PodRR Fre
{
}
 P0         | P1          | P2         | P3          ;
 MOV [x],$1 | MOV EAX,[x] | MOV [y],$1 | MOV EAX,[y] ;
            | MOV EBX,[y] |            | MOV EBX,[x] ;
locations [x; y; 1:EAX; 1:EBX; 3:EAX; 3:EBX;]
exists (1:EAX=1 /\ 1:EBX=0 /\ 3:EAX=1 /\ 3:EBX=0)
"#,
    );
}

#[test]
fn three_threads_and_locations() {
    check(
        "PodWR Fre PodWW Rfe PodRR Fre",
        r#"W+RWC
"PodWW Rfe PodRR Fre PodWR Fre"
Cycle=Rfe PodRR Fre PodWR Fre PodWW
Com=Rf Fr Fr
Orig=PodWW Rfe PodRR Fre PodWR Fre
{
}
 P0         | P1          | P2          ;
 MOV [x],$1 | MOV EAX,[y] | MOV [z],$1  ;
 MOV [y],$1 | MOV EBX,[z] | MOV EAX,[x] ;
locations [x; y; z; 1:EAX; 1:EBX; 2:EAX;]
exists (1:EAX=1 /\ 1:EBX=0 /\ 2:EAX=0)
"#,
    );
}

#[test]
fn a_thread_reads_its_own_store() {
    check(
        "PodWR Fre Rfi PodRR Fre",
        r#"SB+po+rfi-po
"PodWR Fre Rfi PodRR Fre"
Cycle=Rfi PodRR Fre PodWR Fre
Com=Fr Fr
Orig=PodWR Fre Rfi PodRR Fre
{
}
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[y] ;
             | MOV EBX,[x] ;
locations [x; y; 0:EAX; 1:EAX; 1:EBX;]
exists (0:EAX=0 /\ 1:EAX=1 /\ 1:EBX=0)
"#,
    );
}

/// The exchange of the first thread follows program order, so the condition does not constrain the
/// value that it reads. The exchange of the second thread reads from the first.
#[test]
fn exchanges_become_xchg_instructions() {
    check(
        "PodWR Exch Rfe Exch PodWW Coe",
        r#"S+po-rmw+rmw-po
"PodWR Exch Rfe Exch PodWW Coe"
Cycle=Rfe Exch PodWW Coe PodWR Exch
Com=Rf Co
Orig=PodWR Exch Rfe Exch PodWW Coe
{
}
 P0           | P1           ;
 MOV [x],$2   | MOV EAX,$2   ;
 MOV EAX,$1   | XCHG [y],EAX ;
 XCHG [y],EAX | MOV [x],$1   ;
locations [x; y; 0:EAX; 1:EAX;]
exists ([x]=2 /\ [y]=2 /\ 1:EAX=1)
"#,
    );
}

#[test]
fn a_cycle_with_one_location_constrains_the_final_value() {
    check(
        "Coe PosWW",
        r#"CoWW
"PosWW Coe"
Cycle=Coe PosWW
Com=Co
Orig=PosWW Coe
{
}
 P0         ;
 MOV [x],$2 ;
 MOV [x],$1 ;
locations [x;]
exists ([x]=2)
"#,
    );
}

#[test]
fn locations_are_listed_by_name() {
    let text = cycle("PodWW Coe SFencedWW Coe PodWW Coe PodWW Coe").litmus_text();
    assert!(text.contains("locations [a; x; y; z;]\n"), "{text}");
    assert!(text.contains(r"exists ([a]=2 /\ [x]=2 /\ [y]=2 /\ [z]=2)"), "{text}");
}

#[test]
fn cycles_have_their_conventional_names() {
    for (edges, name) in [
        ("PodWW Rfe PodRW Coe", "S"),
        ("PodWW Coe PodWR Fre", "R"),
        ("PodRW Rfe PodRW Rfe", "LB"),
        ("Wse PodWW Wse PodWW", "2+2W"),
        ("Rfe PodRW Rfe PodRR Fre", "WRC"),
        ("Rfe PodRR Fre PodWR Fre", "RWC"),
        ("PodWW Rfe PodRW Rfe PodRR Fre", "ISA2"),
        ("Rfe PodRW Coe Rfe PodRR Fre", "IRRWIW"),
        ("Rfi PodRR Fre Rfi PodRR Fre", "SB+rfi-pos"),
        ("PosWR Fre PosWR Fre", "SB+poss"),
        ("Rfe PosRR Fre", "CoRR"),
        ("PodWW Coe PodWW MFencedWR Fre", "R+po+poW-mfence"),
        ("LFencedRR Fre SFencedWW Rfe", "MP+sfence+lfence"),
        ("PodWR Fre MFencedWR Fre PodWR Fre", "3.SB+mfence+po+po"),
        ("Rfe PodRR Fre PodWR Fre PodWR Fre", "W+RR+WR+WR"),
    ] {
        assert_eq!(cycle(edges).name(), name, "{edges}");
    }
}

#[test]
fn invalid_cycles_are_rejected() {
    for (edges, expected) in [
        ("", CycleError::NoExternalEdge),
        ("PosWR PosRW", CycleError::NoExternalEdge),
        ("PodWW Rfe", CycleError::Mismatch("Rfe".parse().unwrap(), "PodWW".parse().unwrap())),
        ("PodWW Coe", CycleError::SingleLocationChange),
        ("Rfe Fre", CycleError::NoProgramOrder),
        ("PodWW Coi Coe PodWW Coe", CycleError::TooManyStores),
        ("PodWR PosRR PosRR PosRR PosRR PosRR PosRR Fre PodWR Fre", CycleError::TooManyLoads),
    ] {
        assert_eq!(edges.parse::<Cycle>(), Err(expected), "{edges}");
    }
    assert!(matches!("Pod Fre".parse::<Cycle>(), Err(CycleError::UnknownEdge(_))));
}

/// A thread may have six loads. The limit counts each thread separately.
#[test]
fn registers_suffice_for_six_loads() {
    let text = cycle("PodWR PosRR PosRR PosRR PosRR PosRR Fre PodWR PosRR Fre").litmus_text();
    assert!(text.contains("MOV EDI,[x]"), "{text}");
}

#[test]
fn rotations_are_equal() {
    let edges: Vec<Edge> = cycle("Rfi PodRW Coe PodWR Exch PodWW Rfe PodRR Fre").edges().to_vec();
    for at in 0..edges.len() {
        let rotated = [&edges[at..], &edges[..at]].concat();
        assert_eq!(Cycle::new(&rotated).expect("a rotation is a cycle").edges(), edges);
    }
}
