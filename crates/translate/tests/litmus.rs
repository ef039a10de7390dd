//! Tests of the litmus export: the text, the rejected programs, equal outcomes of the corpus when
//! it is read back, and correct computations. For the computations, a small processor executes the
//! text of single threads, besides our own front end.

use crate::common::{corpus, outcomes};
use fencepost_engines::{Budget, Engine, Explicit, Settings, Task};
use fencepost_ir::{Diagnostics, Problem, Value};
use fencepost_models::ModelSpec;
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::{Random, problem, report_comparisons, seeds};
use fencepost_translate::export::{Export, litmus::litmus};
use fencepost_translate::{Unsupported, UnsupportedInLitmus};
use std::collections::{BTreeMap, BTreeSet};

fn export_text(problem: &Problem) -> Result<String, Unsupported> {
    let about = ["A program.".to_string()];
    let line = |span: fencepost_ir::Span| Some(span.line);
    litmus(&Export { problem, about: &about, line: &line }, "name")
}

/// Checks the text of an exported program.
#[track_caller]
fn check_export(source: &str, expected: &str) {
    assert_eq!(export_text(&problem(source)).expect("the program can be exported"), expected);
}

/// Checks the reason why a program is rejected.
#[track_caller]
fn check_rejected(source: &str, expected: &str) {
    let why = export_text(&problem(source)).expect_err("the program must be rejected").to_string();
    assert!(why.contains(expected), "{why}");
}

#[test]
fn message_passing_is_exported() {
    check_export(
        "shared int x, y = 2;
         thread writer { x = 1; fence store_store; y = 1; }
         thread reader { r1 = y; fence load_load, load_store; r2 = x; }
         final never (reader.r1 == 1 && reader.r2 == 0);",
        r"X86 name
(* A program. *)
(* P0 = writer, P1 = reader *)
(* 1:EAX = reader.r1, 1:EBX = reader.r2 *)
{
y=2;
}
 P0         | P1          ;
 MOV [x],$1 | MOV EAX,[y] ;
 SFENCE     | LFENCE      ;
 MOV [y],$1 | MOV EBX,[x] ;
locations [1:EAX; 1:EBX;]
~exists (1:EAX=1 /\ 1:EBX=0)
",
    );
}

#[test]
fn stronger_fences_are_noted() {
    check_export(
        "shared int x;
         thread p { x = 1;
           fence store_load;
           fence load_load, store_store;
           r = x; fence; }
         final forall (p.r != 1 || x == 1);",
        r"X86 name
(* A program. *)
(* P0 = p *)
(* 0:EAX = p.r *)
(* MFENCE for line 3 of P0 also orders stores with stores and loads with loads and loads with stores *)
(* LFENCE for line 4 of P0 also orders loads with stores *)
{
}
 P0          ;
 MOV [x],$1  ;
 MFENCE      ;
 SFENCE      ;
 LFENCE      ;
 MOV EAX,[x] ;
 MFENCE      ;
locations [0:EAX; x;]
forall (~(0:EAX=1) \/ [x]=1)
",
    );
}

#[test]
fn updates_are_locked_instructions() {
    check_export(
        "shared int x, y;
         thread p { a = swap(x, 1); swap(y, a); b = fetch_add(x, 3); fetch_add(x, 3); fetch_sub(x, 1); fetch_xor(y, b); }
         observe p.a;",
        r"X86 name
(* A program. *)
(* P0 = p *)
(* 0:EAX = p.a *)
(* Locked instructions are full fences; the original updates are not, under PSO and RMO *)
(* herd does not support LOCK XADD *)
(* Overflow is a fault of the program, but wraps in this test *)
{
}
 P0                ;
 MOV EAX,$1        ;
 XCHG [x],EAX      ;
 MOV EBX,EAX       ;
 XCHG [y],EBX      ;
 MOV EBX,$3        ;
 LOCK XADD [x],EBX ;
 LOCK ADD [x],$3   ;
 LOCK DEC [x]      ;
 LOCK XOR [y],EBX  ;
locations [0:EAX;]
forall (true)
",
    );
}

#[test]
fn compare_and_swap_needs_the_larger_dialect() {
    check_export(
        "shared int x; thread p { bool ok = cas(x, 0, 1); cas(x, 1, 2); } final exists (p.ok && x == 2);",
        r"X86_64 name
(* A program. *)
(* P0 = p *)
(* 0:rcx = p.ok *)
(* Locked instructions are full fences; the original updates are not, under PSO and RMO *)
{
}
 P0                     ;
 movl $0,%eax           ;
 movl $1,%ebx           ;
 lock cmpxchgl (x),%ebx ;
 movl $0,%ecx           ;
 jne L00                ;
 movl $1,%ecx           ;
 L00:                   ;
 movl $1,%eax           ;
 movl $2,%ebx           ;
 lock cmpxchgl (x),%ebx ;
locations [0:rcx; x;]
exists (0:rcx=1 /\ [x]=2)
",
    );
}

#[test]
fn simple_atomic_blocks_are_single_instructions() {
    check_export(
        "shared int x; thread p { atomic { x = x + 1; } atomic { x = 2; } atomic { r = x; x = 3; } atomic { s = x; } }
         observe p.r, p.s;",
        r"X86 name
(* A program. *)
(* P0 = p *)
(* 0:EAX = p.r, 0:EBX = p.s *)
(* Overflow is a fault of the program, but wraps in this test *)
{
}
 P0           ;
 LOCK INC [x] ;
 MOV EAX,$2   ;
 XCHG [x],EAX ;
 MOV EAX,$3   ;
 XCHG [x],EAX ;
 MFENCE       ;
 MOV EBX,[x]  ;
 LFENCE       ;
locations [0:EAX; 0:EBX;]
forall (true)
",
    );
}

#[test]
fn names_are_legal_and_unique() {
    check_export(
        "shared int a[2] = {0, 7}, a_1, lock, P1, _x, L00; shared bool b = true; init { a_1 = 3; b = false; lock = -1; }
         thread p(i in 0..1) { a[1] = 1; lock = 1; L00 = a[0]; bool never; b = !never; }
         final exists (!b && !p(0).never && a[1] == 1 || _x != 0 || P1 == a_1);",
        r"X86 name
(* A program. *)
(* P0 = p(0) *)
(* a_0 = a[0], a_1_2 = a[1], v_lock = lock, v_P1 = P1, v__x = _x, 0:EBX = p(0).never *)
{
a_1_2=7;
a_1=3;
v_lock=-1;
}
 P0              ;
 MOV [a_1_2],$1  ;
 MOV [v_lock],$1 ;
 MOV EAX,[a_0]   ;
 MOV [L00],EAX   ;
 MOV EAX,EBX     ;
 XOR EAX,$1      ;
 MOV [b],EAX     ;
locations [b; 0:EBX; a_1_2; v__x; v_P1; a_1;]
exists ([b]=0 /\ 0:EBX=0 /\ [a_1_2]=1 \/ ~([v__x]=0) \/ [v_P1]=[a_1])
",
    );
}

#[test]
fn programs_without_a_counterpart_are_rejected() {
    for (statement, why) in [
        (
            "if (r == 1) x = 1;",
            "line 2, `if (r == 1)`: a litmus test must be a straight-line program",
        ),
        ("loop { x = 1; }", "this is a loop"),
        ("while (x == 0) { }", "straight-line"),
        ("drain x;", "line 2, `drain x`: x86 cannot drain the stores to a single location"),
        ("r = choose(0..2);", "one test per value"),
        ("assume(r == 0);", "threads do not block"),
        ("assert(r == 0);", "`final forall`"),
        ("a[r] = 1;", "computed at run time"),
        ("x = r * 2;", "no instruction for `*`"),
        ("x = r < 2 ? 1 : 0;", "no instruction for `?:`"),
        ("r = fetch_or(x, 1); y = r;", "returns the old value"),
        ("atomic { x = 1; y = 1; }", "only an atomic block with one access"),
        ("atomic { r = x; x = r + r; y = r; }", "only an atomic block with one access"),
        ("atomic { r = x; y = r; }", "only an atomic block with one access"),
    ] {
        let source = format!("shared int x, y, a[2]; thread p {{ int r;\n{statement}\n}}");
        check_rejected(&source, why);
    }
    let fifteen: String = (0..15).map(|n| format!("r{n} = x; ")).collect();
    check_rejected(&format!("shared int x; thread p {{ {fifteen} }}"), "more registers");
    for (text, why) in [
        ("invariant x == 0;", "no invariants"),
        ("property deadlock_free;", "cannot check for deadlocks"),
        ("property mutual_exclusion;", "critical sections"),
        ("final exists (x == 1); final never (y == 1);", "one test per condition"),
        ("final exists (x < 1);", "line 2: a condition of a litmus test has no `<`"),
        ("final exists (x + 1 == 1);", "can only compare a location"),
        ("init { x = y; }", "store only numbers"),
        ("record Node { int value; } pool Node[2];", "no records"),
    ] {
        let source = format!("shared int x, y; thread p {{ critical {{ x = 1; }} }}\n{text}");
        check_rejected(&source, why);
    }
}

#[test]
fn most_litmus_tests_of_the_corpus_are_exported() {
    let (mut number, mut rejected) = (0, Vec::new());
    for (name, _, problem) in corpus(&["litmus"]) {
        match export_text(&problem) {
            Ok(_) => number += 1,
            Err(why) => rejected.push((name, why.to_string())),
        }
    }
    for (name, why) in &rejected {
        let known = [
            ("drain", "x86 cannot drain"),
            ("ctrl", "branch"),
            ("spin", "branch"),
            ("await", "branch"),
            ("assume", "only an atomic block"),
            ("addr", "computed at"),
            ("may", "computed at"),
        ];
        let expected = known.iter().filter(|(part, _)| name.contains(part)).map(|(_, why)| why);
        assert!(expected.into_iter().any(|expected| why.contains(expected)), "{name}: {why}");
    }
    assert!(number > 4 * rejected.len(), "{number} are exported, {} are not", rejected.len());
}

/// Returns the outcomes of a program under a model.
fn outcomes_under(problem: &Problem, model: &str) -> BTreeSet<Vec<Value>> {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let budget = Budget { cancel: &cancel, progress: &progress };
    let model = ModelSpec::by_name(model).expect("a built-in model");
    let task = Task { problem, model: &model };
    let answer = Explicit.outcomes(task, Settings::default(), budget);
    assert!(answer.outcomes_complete, "{problem}");
    answer.outcomes
}

/// Returns the observables in the `locations` list of a test.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    let (_, list) = text.split_once("locations [").expect("the test has a `locations` list");
    let (list, _) = list.split_once(']').expect("the list ends");
    list.split(';').map(str::trim).filter(|what| !what.is_empty())
}

/// Returns the outcomes of a test under a model, in the order of its `locations` list.
fn outcomes_of_test(text: &str, model: &str) -> BTreeSet<Vec<Value>> {
    let mut diagnostics = Diagnostics::new();
    let test = fencepost_frontends::litmus::read(text, "name", false, &mut diagnostics);
    let test = test.unwrap_or_else(|| panic!("{text}\n{diagnostics:?}"));
    let shown = |what: &str| {
        let found = test.state_vars.iter().position(|s| s.trim_matches(['[', ']']) == what);
        found.unwrap_or_else(|| panic!("{what} is not observed\n{text}"))
    };
    let order: Vec<usize> = listed(text).map(shown).collect();
    let outcomes = outcomes_under(&test.problem, model);
    outcomes.iter().map(|outcome| order.iter().map(|at| outcome[*at]).collect()).collect()
}

#[test]
fn the_corpus_keeps_its_outcomes() {
    let (mut equal, mut fewer) = (0, 0);
    for (name, _, problem) in corpus(&["litmus"]) {
        let Ok(text) = export_text(&problem) else { continue };
        for model in ["sc", "tso", "pso", "rmo"] {
            let (expected, found) =
                (outcomes_under(&problem, model), outcomes_of_test(&text, model));
            let is_stronger = text.contains("also orders")
                || (text.contains("Locked") && matches!(model, "pso" | "rmo"));
            if is_stronger {
                assert!(found.is_subset(&expected), "{name} {model}\n{text}");
                fewer += usize::from(found != expected);
            } else {
                assert_eq!(found, expected, "{name} {model}\n{text}");
                equal += 1;
            }
        }
    }
    assert!(equal > 250 && fewer > 10, "{equal} exports have equal outcomes, {fewer} have fewer");
}

/// A processor with one thread, for both dialects.
#[derive(Default)]
struct Processor {
    memory: BTreeMap<String, i64>,
    registers: BTreeMap<String, i64>,
    equal: bool,
    skip_to: Option<String>,
}

impl Processor {
    /// Runs a test with one thread. Returns the values of the observables in its `locations` list.
    fn run(text: &str) -> Vec<i64> {
        let mut processor = Processor::default();
        let att = text.starts_with("X86_64");
        let (_, rest) = text.split_once("{\n").expect("an initial state");
        let (initial, rest) = rest.split_once("}\n P0").expect("a program");
        for item in initial.lines() {
            let (name, value) = item.trim_end_matches(';').split_once('=').expect("a value");
            processor.memory.insert(name.into(), value.parse().expect("a number"));
        }
        let (program, _) = rest.split_once("locations [").expect("the test has a `locations` list");
        let lines = program.lines().skip(1).map(|line| line.trim_end_matches(';').trim());
        for line in lines.filter(|line| !line.is_empty()) {
            processor.step(line, att);
        }
        listed(text)
            .map(|what| match what.strip_prefix("0:") {
                Some(register) => *processor.register(&family(register)),
                None => *processor.location(what),
            })
            .collect()
    }

    fn register(&mut self, name: &str) -> &mut i64 {
        self.registers.entry(name.into()).or_default()
    }

    fn location(&mut self, name: &str) -> &mut i64 {
        self.memory.entry(name.into()).or_default()
    }

    fn operand(&mut self, text: &str) -> &mut i64 {
        let inside = text.strip_prefix(['[', '(']).and_then(|t| t.strip_suffix([']', ')']));
        match inside {
            Some(location) => self.location(location),
            None => self.register(&family(text)),
        }
    }

    fn value(&mut self, text: &str) -> i64 {
        match text.strip_prefix('$') {
            Some(number) => number.parse().expect("a number"),
            None => *self.operand(text),
        }
    }

    fn step(&mut self, line: &str, att: bool) {
        if let Some(label) = line.strip_suffix(':') {
            self.skip_to.take_if(|to| to == label);
            return;
        }
        if self.skip_to.is_some() {
            return;
        }
        let upper = line.to_uppercase();
        let name = upper.trim_start_matches("LOCK ").split(' ').next().unwrap_or("");
        let name = if att && !name.starts_with('J') { name.trim_end_matches('L') } else { name };
        let mut operands: Vec<&str> = line.rsplit(' ').next().unwrap_or("").split(',').collect();
        if att && name != "CMPXCHG" {
            operands.reverse();
        }
        let [first, second] = [operands[0], operands.get(1).copied().unwrap_or("$1")];
        let (before, by) = match name {
            "MOV" => (0, self.value(second)),
            "JNE" | "MFENCE" | "SFENCE" | "LFENCE" => (0, 0),
            _ => (*self.operand(first), self.value(second)),
        };
        match name {
            "MOV" => *self.operand(first) = by,
            "ADD" | "INC" => *self.operand(first) = before.wrapping_add(by),
            "SUB" | "DEC" => *self.operand(first) = before.wrapping_sub(by),
            "AND" => *self.operand(first) = before & by,
            "OR" => *self.operand(first) = before | by,
            "XOR" => *self.operand(first) = before ^ by,
            "XCHG" => {
                *self.operand(first) = by;
                *self.operand(second) = before;
            }
            "XADD" => {
                *self.operand(second) = before;
                *self.operand(first) = before.wrapping_add(by);
            }
            "CMPXCHG" => {
                self.equal = before == *self.register("A");
                if self.equal {
                    *self.operand(first) = by;
                } else {
                    *self.register("A") = before;
                }
            }
            "JNE" if self.equal => {}
            "JNE" => self.skip_to = Some(first.into()),
            "MFENCE" | "SFENCE" | "LFENCE" => {}
            other => panic!("{other} in {line}"),
        }
    }
}

/// Returns the name of a register without its width.
fn family(register: &str) -> String {
    let name = register.trim_start_matches('%').to_uppercase();
    match name.strip_prefix(['E', 'R']) {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            rest.trim_end_matches('D').into()
        }
        Some(rest) => rest.trim_end_matches('X').into(),
        None => panic!("{register} is not a register"),
    }
}

/// Generates random statements.
struct Statements(Random);

impl Statements {
    fn register(&mut self) -> &'static str {
        ["r", "s", "t", "u"][self.0.below(4)]
    }

    fn location(&mut self) -> &'static str {
        ["x", "y", "a[1]"][self.0.below(3)]
    }

    fn value(&mut self, depth: usize) -> String {
        match self.0.below(if depth == 0 { 3 } else { 7 }) {
            0 => self.0.below(4).to_string(),
            1 | 2 => self.register().into(),
            3 => format!("-({})", self.value(depth - 1)),
            4 => format!("~({})", self.value(depth - 1)),
            _ => {
                let operator = ["+", "-", "&", "|", "^"][self.0.below(5)];
                format!("({} {operator} {})", self.value(depth - 1), self.value(depth - 1))
            }
        }
    }

    fn statement(&mut self) -> String {
        let (reg, at, value) = (self.register(), self.location(), self.value(3));
        match self.0.below(11) {
            0 => format!("{reg} = {at};"),
            1 => format!("{at} = {value};"),
            2 | 3 => format!("{reg} = {value};"),
            4 => format!("{reg} = swap({at}, {value});"),
            5 => format!("{reg} = fetch_add({at}, {value});"),
            6 => format!("ok = cas({at}, {}, {value}); {at} = ok ? 1 : 0;", self.0.below(3)),
            7 => format!("swap({at}, {value}); fetch_xor({at}, {value});"),
            8 => format!(
                "atomic {{ {reg} = {at}; {at} = {reg} - {}; }} fetch_sub({at}, 1);",
                self.0.below(3)
            ),
            9 => format!("fetch_and({at}, {value}); fence;"),
            _ => format!("atomic {{ {at} = {value}; }} ok = !ok;"),
        }
    }
}

#[test]
fn random_instructions_compute_the_values_of_the_program() {
    let (mut same, mut drawn, mut dialects) = (0, 0, [0, 0]);
    for seed in seeds(80) {
        drawn += 1;
        let mut draw = Statements(Random::new(seed));
        let statements: Vec<String> = (0..1 + draw.0.below(8)).map(|_| draw.statement()).collect();
        let source = format!(
            "shared int x = 1, y, a[2] = 3; thread p {{ int r, s, t, u; bool ok;\n{}\n}} observe x, y, a[1], p.{}, p.ok;",
            statements.join("\n"),
            draw.register(),
        );
        let problem = problem(&source);
        let text = match export_text(&problem) {
            Ok(text) => text,
            Err(Unsupported::LitmusStatement {
                reason: UnsupportedInLitmus::Registers, ..
            }) => continue,
            Err(why) => panic!("{source}\n{why}"),
        };
        // Overflow is a fault, so there is no outcome then.
        let expected = outcomes(&problem, 10_000).outcomes;
        let Some(only) = expected.first() else { continue };
        assert_eq!(Processor::run(&text), *only, "{source}\n{text}");
        assert_eq!(outcomes_of_test(&text, "rmo"), expected, "{source}\n{text}");
        same += 1;
        dialects[usize::from(text.starts_with("X86_64"))] += 1;
    }
    report_comparisons("instructions: processor and program", same);
    assert!(same * 4 > drawn * 3 && dialects.iter().all(|n| *n > 10), "{same}, {dialects:?}");
}
