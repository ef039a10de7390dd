//! Tests of what users of C and Rust expect: arrays of records and of arrays, local arrays,
//! fixed-width integers, memory orders and `switch`.
//!
//! Most tests compare the code of a program with the code of the same program written without the
//! construct. The tests of the random programs compare lowering with an interpreter.

use fencepost_ir::{Diagnostics, Op, Problem, Stmt, Value};

use super::interpret::{RunResult, run_code};
use super::{format, lower, lower_for};
use crate::Request;

#[track_caller]
fn lowered(source: &str) -> Problem {
    let mut diagnostics = Diagnostics::new();
    let problems = lower(source, &mut diagnostics);
    let found: Vec<&str> = diagnostics.iter().map(|d| d.message.as_str()).collect();
    problems.unwrap_or_else(|| panic!("{found:?} in {source}")).remove(0)
}

fn ops(problem: &Problem) -> Vec<Vec<(Op, u32)>> {
    let threads = problem.program.threads.iter();
    let ops = |code: &[Stmt]| code.iter().map(|stmt| (stmt.op.clone(), stmt.next.0)).collect();
    threads.map(|thread| ops(&thread.code)).collect()
}

/// Checks that two bodies have the same operations. The declarations may differ.
#[track_caller]
fn same(declarations: [&str; 2], bodies: [&str; 2]) {
    let program = |at: usize| {
        lowered(&format!("{} thread p(i in 0..2) {{ {} }}", declarations[at], bodies[at]))
    };
    let (new, old) = (program(0), program(1));
    assert_eq!(ops(&new), ops(&old), "{} and {}", bodies[0], bodies[1]);
}

/// Returns the codes and messages of a source text.
fn errors(source: &str) -> Vec<String> {
    let mut diagnostics = Diagnostics::new();
    lower(source, &mut diagnostics);
    diagnostics.iter().map(|d| format!("{}: {}", d.code, d.message)).collect()
}

const ACQUIRE: &str = "fence load_load, load_store;";
const RELEASE: &str = "fence load_store, store_store;";

#[test]
fn an_access_with_an_order_is_a_plain_access_between_fences() {
    let declarations = ["shared int x, y[2];"; 2];
    let same = |new: &str, old: &str| same(declarations, [new, old]);
    same("r = x.load(relaxed);", "r = x;");
    same("r = x.load(acquire);", &format!("r = x; {ACQUIRE}"));
    same("r = y[i].load(seq_cst);", &format!("r = y[i]; {ACQUIRE}"));
    same("r = x.load();", &format!("r = x; {ACQUIRE}"));
    same("x.store(1, relaxed);", "x = 1;");
    same("y[i].store(1, release);", &format!("{RELEASE} y[i] = 1;"));
    same("x.store(1, seq_cst);", &format!("{RELEASE} x = 1; fence store_load;"));
    same("r = x.swap(1, relaxed);", "r = swap(x, 1);");
    same("r = x.swap(1, acquire);", &format!("r = swap(x, 1); {ACQUIRE}"));
    same("x.fetch_add(1, release);", &format!("{RELEASE} fetch_add(x, 1);"));
    same("x.fetch_sub(1, acq_rel);", &format!("{RELEASE} fetch_sub(x, 1); {ACQUIRE}"));
    same("x.fetch_or(1, seq_cst);", &format!("{RELEASE} fetch_or(x, 1); {ACQUIRE}"));
    same(
        "r = x.compare_exchange(0, 1, acq_rel, acquire);",
        &format!("{RELEASE} r = cas(x, 0, 1); {ACQUIRE}"),
    );
    same("r = x.cas(0, 1, acq_rel);", &format!("{RELEASE} r = cas(x, 0, 1); {ACQUIRE}"));
    same("r = x.cas(0, 1, release);", &format!("{RELEASE} r = cas(x, 0, 1);"));
    // A failure without acquire has no fence after the update.
    same(
        "r = x.compare_exchange(0, 1, acquire, relaxed);",
        &format!("r = cas(x, 0, 1); if (r) {ACQUIRE}"),
    );
    same(
        "r = x.compare_exchange(0, 1, release, acquire);",
        &format!("{RELEASE} r = cas(x, 0, 1); if (!r) {ACQUIRE}")
            .replace("if (!r) ", "if (r) ; else "),
    );
    same("r = x.cmpxchg(0, 1, acq_rel);", &format!("{RELEASE} r = cmpxchg(x, 0, 1); {ACQUIRE}"));
    same("r = x.cmpxchg(r, 1, relaxed);", "r = cmpxchg(x, r, 1);");
    same(
        "r = x.cmpxchg(3, 1, acquire, relaxed);",
        &format!("r = cmpxchg(x, 3, 1); if (r == 3) {ACQUIRE}"),
    );
    // The result overwrites the expected value.
    same(
        "r = y[1]; r = x.cmpxchg(r + 1, 1, acquire, relaxed);",
        &format!("r = y[1]; e = r + 1; r = cmpxchg(x, e, 1); if (r == e) {ACQUIRE}"),
    );
    same("x.cmpxchg(3, 1, acquire, relaxed);", "x.cas(3, 1, acquire, relaxed);");
    same("fence acquire;", ACQUIRE);
    same("fence release;", RELEASE);
    same("fence acq_rel;", "fence load_load, load_store, store_store;");
    same("fence seq_cst;", "fence full;");
    same("fence Ordering::SeqCst;", "fence;");
    // Inside `atomic`, accesses act directly on memory.
    same("atomic { x.store(1, seq_cst); }", "atomic { x = 1; }");
    // Other spellings.
    same("r = x.load(Ordering::Acquire);", "r = x.load(acquire);");
    same("r = x.load(std::memory_order::acquire);", "r = x.load(memory_order_acquire);");
    same("x.store(1, Ordering::Release);", "x.store(1, memory_order_release);");
}

#[test]
fn an_order_is_checked() {
    let order =
        |access: &str| errors(&format!("shared int x; thread p {{ {access} assert(r == 0); }}"));
    for (access, message) in [
        ("r = x.load(release);", "FP0240: a load cannot have the order `release`"),
        ("r = x.load(acq_rel);", "FP0240: a load cannot have the order `acq_rel`"),
        ("x.store(1, acquire); r = 0;", "FP0240: a store cannot have the order `acquire`"),
        ("r = x.load(aquire);", "FP0240: `aquire` is not a memory order"),
        ("r = x.load(1);", "FP0240: `1` is not a memory order"),
        (
            "r = x.compare_exchange(0, 1, acquire, release) ? 1 : 0;",
            "FP0240: a failed compare-and-exchange cannot have the order `release`",
        ),
        ("r = x.read(acquire);", "FP0241: locations have no method `read`"),
        ("r = x.store(1, release);", "FP0026: `store` returns nothing"),
        ("r = x.swap(acquire);", "FP0011: there is no location, constant or register `acquire`"),
        ("r = x.load(acquire, acquire);", "FP0025: `load` takes 0 to 1 arguments"),
        ("r = 0; r.store(1, release);", "FP0023: `r` is a register, not a location"),
        ("r = 0; fence relaxed;", "FP0017: there is no fence kind `relaxed`"),
    ] {
        assert_eq!(order(access), [message], "{access}");
    }
    let guard = "shared int x; thread p { either { when(x.load(acquire) == 0); } or { skip; } }";
    assert_eq!(errors(guard), ["FP0042: a guard can only read"]);
    let condition = "shared int x; thread p { x = 1; } final forall x.load(relaxed) == 1;";
    let message = "FP0038: a condition cannot contain accesses with a memory order";
    assert_eq!(errors(condition), [message]);
}

/// The fences of an order are no places: inference cannot remove or replace them. A written fence
/// is a place.
#[test]
fn the_fences_of_an_order_are_no_places() {
    let places = |body: &str| {
        let source =
            format!("shared int x, y; thread p {{ {body} }} thread q {{ r = y; assert(r == 0); }}");
        let request = Request { places: true, ..Request::default() };
        let problems = lower_for(&source, &request, &mut Diagnostics::new()).expect("no errors");
        let program = &problems[0].program;
        let written = program.places.iter().filter(|place| place.written.is_some()).count();
        let fences = program.threads[0].code.iter().filter(|s| matches!(s.op, Op::Fence(_)));
        (program.places.len(), written, fences.count())
    };
    assert_eq!(places("x.store(1, release); r = y.load(acquire); x = r;"), (7, 0, 2));
    assert_eq!(places("x = 1; r = y; x = r;"), (7, 0, 0));
    assert_eq!(places("x = 1; fence release; r = y; x = r;"), (7, 1, 1));
}

#[test]
fn the_text_of_an_ordered_access_is_the_source() {
    let problem = lowered("shared int x; thread p { x.store(1, Ordering::Release); }");
    for stmt in problem.program.threads[0].code.iter().filter(|s| s.op != Op::Halt) {
        let text = &problem.program.label(stmt.label).text;
        assert_eq!(text, "x.store(1, Ordering::Release)", "{:?}", stmt.op);
    }
}

#[test]
fn records_by_value_are_one_array_for_each_field() {
    let declarations = [
        "record Cell { bool full; int data[2]; } shared Cell ring[3], one;",
        "shared bool full[3]; shared int data[6]; shared bool f; shared int d[2];",
    ];
    let bodies = [
        "ring[i].full = true; r = ring[1].data[1]; ring[2 - i].data[0] = r; one.full = cas(one.data[i], 0, 1);",
        "full[i] = true; r = data[3]; data[(2 - i) * 2] = r; f = cas(d[i], 0, 1);",
    ];
    same(declarations, bodies);
    let problem = lowered(&format!("{} thread p {{ skip; }}", declarations[0]));
    let names: Vec<&str> = problem.program.locations.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(
        names[..5],
        ["ring[0].full", "ring[1].full", "ring[2].full", "ring[0].data[0]", "ring[0].data[1]"]
    );
    assert_eq!(names[9..], ["one.full", "one.data[0]", "one.data[1]"]);
    assert!(problem.program.pools.is_empty());
}

#[test]
fn each_index_is_checked_against_its_dimension() {
    let declarations = ["shared int m[2][3];", "shared int m[6];"];
    same(declarations, ["m[i][2] = 1; r = m[1][i + 1];", "m[3 * i + 2] = 1; r = m[4 + i];"]);
    let problem = lowered("shared int m[2][2], k; thread p { r = k; m[r][1] = 1; }");
    let names: Vec<&str> = problem.program.locations.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(names, ["m[0][0]", "m[0][1]", "m[1][0]", "m[1][1]", "k"]);
    let init = lowered(
        "shared int m[2][2] = {{1, 2}, {3, 4}}, n[2][2] = {5, 6, 7, 8}; thread p { skip; }",
    );
    let values: Vec<Value> = init.program.locations.iter().map(|l| l.init).collect();
    assert_eq!(values, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn indices_are_checked() {
    let check = |body: &str| {
        let declarations = "record Cell { int v; } shared Cell ring[2]; shared int m[2][2], x;";
        errors(&format!("{declarations} thread p {{ int a[2] = 1; {body} x = a[1]; }}"))
    };
    assert_eq!(check(""), [""; 0]);
    for (body, message) in [
        ("m[0] = 1;", "FP0027: `m` has 2 indices, not 1"),
        ("m[0][1][0] = 1;", "FP0027: `m` has 2 indices, not 3"),
        ("m = 1;", "FP0027: `m` is an array"),
        ("x[0] = 1;", "FP0027: `x` is not an array"),
        ("a[2] = 1;", "FP0027: index 2 is out of bounds"),
        ("a[0][0] = 1;", "FP0027: `a` has 1 index, not 2"),
        ("a = 1;", "FP0027: `a` is an array"),
        ("x = a;", "FP0027: `a` is an array"),
        ("m[2][0] = 1;", "FP0102: index 2 is out of bounds"),
        ("m[0][2] = 1;", "FP0102: index 2 is out of bounds"),
        ("ring.v = 1;", "FP0027: `ring` is an array"),
        ("ring[0] = 1;", "FP0023: `ring` holds records"),
        ("ring[0].w = 1;", "FP0013: record `Cell` has no field `w`"),
        ("x = new Cell;", "FP0035: there are no references to record `Cell`"),
        ("int b[65];", "FP0006: too many elements of a local array: 65"),
        ("int b[0];", "FP0022: the number of elements of an array is 0"),
        ("int b[2] = {1, 2, 3};", "FP0027: 3 values for 2 elements"),
        (
            "int b[2][2] = {{1, 2}, 3}; x = b[0][0];",
            "FP0027: the lists do not have the shape of the array",
        ),
        ("int a[3];", "FP0010: register `a` is declared twice"),
    ] {
        assert_eq!(check(body), [message], "{body}");
    }
}

#[test]
fn elements_of_local_arrays_are_registers() {
    let problem = lowered(
        "shared int x; thread p { int a[2][2]; a[1][0] = x; x = a[1][0]; } final forall p.a[1][0] == 0;",
    );
    let program = &problem.program;
    let names: Vec<&str> = program.threads[0].registers.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["a[0][0]", "a[0][1]", "a[1][0]", "a[1][1]"]);
    let used = "shared int x; thread p { r = x; a = r; x = a; } final forall p.a == 0;";
    assert_eq!(program.threads[0].code.len(), lowered(used).program.threads[0].code.len() - 1);
}

/// The check of an index must not run if the access does not.
#[test]
fn an_index_is_checked_only_where_it_is_used() {
    let body = |cond: &str| {
        let source = format!("shared int x; thread p {{ int a[2]; i = x; {cond} x = 1; }}");
        let problem = lowered(&source);
        let code = &problem.program.threads[0].code;
        let at = |found: fn(&Op) -> bool| code.iter().position(|stmt| found(&stmt.op));
        let branch = at(|op| matches!(op, Op::Branch { .. }));
        let check = at(|op| matches!(op, Op::Assign { .. }));
        (branch.expect("a branch"), check.expect("a check"))
    };
    for cond in
        ["if (i < 2 && a[i] == 0)", "if (i > 1 || a[i] == 0)", "if (i < 2 ? a[i] == 0 : false)"]
    {
        let (branch, check) = body(cond);
        assert!(branch < check, "{cond}");
    }
}

#[test]
fn number_types_are_checked() {
    let check = |body: &str| {
        let declarations = "shared u8 b; shared i16 s; shared int x; shared int(0..3, block) k; shared int(0..4, wrap) w;";
        errors(&format!("{declarations} thread p {{ {body} }}"))
    };
    for accepted in [
        "b = x; x = b; b = b + x; b += 1; b = -b; b = ~b; b <<= 1;"
            .replace("b <<= 1;", "b = b << x;"),
        "b = s; s = b; if (b < x && s == x) b = x > 1 ? b : x; w = 7; w = x; k = x; x = k;".into(),
        "r = b; r = r + 1; b = r; fetch_add(b, x); fetch_add(w, 1); fetch_or(w, 1); swap(w, 9);"
            .into(),
    ] {
        assert_eq!(check(&accepted), [""; 0], "{accepted}");
    }
    for (body, message) in [
        ("b = 256;", "FP0022: 256 is not a value of `u8`"),
        ("if (b == -1) skip;", "FP0022: -1 is not a value of `u8`"),
        ("b = b + s;", "FP0020: expected `u8`, found `i16`"),
        ("b = true;", "FP0020: expected `u8`, found `bool`"),
        ("usize r; x = r;", "FP0242: there is no integer type `usize`"),
        ("x = 2147483648;", "FP0004: this number does not fit in 32 bits"),
        ("x = x + 4294967296;", "FP0004: this number does not fit in 32 bits"),
        ("if (x == -2147483649) skip;", "FP0004: this number does not fit in 32 bits"),
        ("x = choose(1, 4294967296);", "FP0004: this number does not fit in 32 bits"),
        ("u32 r = 4294967296; x = r;", "FP0022: 4294967296 is not a value of `u32`"),
        ("u64 r = -1; x = r;", "FP0022: -1 is not a value of `u64`"),
        ("u64 r = 18446744073709551616; x = r;", "FP0004: this number does not fit in 64 bits"),
        (
            "i64 r = 9223372036854775808; x = r;",
            "FP0022: 9223372036854775808 is not a value of `i64`",
        ),
        ("i64 r = -9223372036854775809; x = r;", "FP0004: this number does not fit in 64 bits"),
        ("fetch_add(k, 1);", "FP0243: an update cannot wait for a range that blocks"),
        ("int(0..3, saturate) r; x = r;", "FP0017: there is no treatment `saturate`"),
        ("int(0..3, block) a[2];", "FP0243: a local array cannot have a range that blocks"),
    ] {
        assert_eq!(check(body), [message], "{body}");
    }
    let parameter = "proc void f(int(0..3, block) a) { skip; } thread p { f(1); }";
    assert_eq!(errors(parameter)[0], "FP0243: only variables can have a range that blocks");
}

#[test]
fn a_switch_is_a_chain_of_branches_with_fall_through() {
    let declarations = ["shared int x, y;"; 2];
    same(
        declarations,
        [
            "r = x; switch (r) { case 1: y = 1; break; case 2: case 3: y = 2; default: y = 3; }",
            "r = x; if (r == 1) goto a; if (r == 2) goto b; if (r == 3) goto b; goto c;
             a: y = 1; goto d; b: y = 2; c: y = 3; d: skip;",
        ]
        .map(|body| body.replace(" d: skip;", " d: ;"))
        .each_ref()
        .map(String::as_str),
    );
    // `continue` belongs to the loop, `break` to the `switch`.
    same(
        declarations,
        [
            "while (x == 0) { r = y; switch (r) { case 0: break; case 1: continue; } y = 5; }",
            "again: if (x == 0) { r = y; if (r == 0) goto on; if (r == 1) goto again; on: y = 5; goto again; }",
        ],
    );
    let returns = "proc int f(int a) { switch (a) { case 0: return 1; default: return 2; } } \
        shared int x; thread p { x = f(x); }";
    assert_eq!(errors(returns), [""; 0]);
    let ends = "proc int f(int a) { switch (a) { case 0: return 1; default: break; } } \
        shared int x; thread p { x = f(x); }";
    assert_eq!(errors(ends), ["FP0034: `f` may end without a `return`"]);
}

#[test]
fn a_switch_is_checked() {
    let check = |body: &str| {
        errors(&format!("enum E {{ one, two }} shared int x; shared E e; thread p {{ {body} }}"))
    };
    for (body, message) in [
        (
            "switch (x) { case 1: break; case 2 - 1: break; }",
            "FP0244: this `switch` has two such labels",
        ),
        ("switch (x) { default: default: break; }", "FP0244: this `switch` has two such labels"),
        ("switch (null) { default: break; }", "FP0244: `switch` on `null`"),
        ("switch (e) { case 1: break; }", "FP0020: expected `E`, found `int`"),
        ("switch (x) { case x: break; }", "FP0021: `x` is not a constant"),
        ("switch (x) { x = 1; }", "FP0003: expected `case` or `default`, found `x`"),
        ("switch (x) { case 1: continue; }", "FP0031: `continue` outside of a loop"),
    ] {
        assert_eq!(check(body), [message], "{body}");
    }
}

#[test]
fn the_formatter_prints_all_of_it() {
    let source = "record Cell{u8 seq;int v[2];} shared Cell ring[2];
shared int m[2][2]={{1,2},{3,4}};
shared int(0..4,wrap) k;
thread p{ int a[2]={1,2}; r=ring[0].seq.load( Ordering :: Acquire );
switch(r){case 1: // one
k=a[r];break;
case 2:case 3: m[r][0]=1; default:skip;}
switch (r) { case 1: k = 2; } fence acquire; }
";
    let expected = "record Cell { u8 seq; int v[2]; }
shared Cell ring[2];
shared int m[2][2] = {{1, 2}, {3, 4}};
shared int(0..4, wrap) k;
thread p {
  int a[2] = {1, 2};
  r = ring[0].seq.load(Ordering::Acquire);
  switch (r) {
    case 1: // one
      k = a[r];
      break;
    case 2:
    case 3:
      m[r][0] = 1;
    default:
      skip;
  }
  switch (r) { case 1: k = 2; }
  fence acquire;
}
";
    let formatted = format::format(source, &mut Diagnostics::new()).expect("no errors");
    assert_eq!(formatted, expected);
}

/// Runs the first thread alone. Returns the first locations, or `None` for a fault.
#[track_caller]
fn memory(declarations: &str, body: &str, locations: usize) -> Option<Vec<Value>> {
    match run_code(&lowered(&format!("{declarations} thread p {{ {body} }}"))) {
        RunResult::Done(memory, _) => Some(memory[..locations].to_vec()),
        RunResult::Fault => None,
        RunResult::Blocked | RunResult::StepLimit => panic!("{body} does not end"),
    }
}

#[test]
fn programs_compute_what_the_book_says() {
    let numbers = "shared u8 b = 254; shared i8 s = 127; shared int(-1..3, wrap) w; shared int r;";
    for (body, expected) in [
        ("b += 3;", Some([1, 127, 0, 0])),
        ("b = b - 255; s++; w = -2;", Some([255, -128, 2, 0])),
        ("fetch_add(b, 5); fetch_sub(w, 7); r = s;", Some([3, 127, 1, 127])),
        ("b = 300 + r; s = b; r = b - 45;", Some([44, 44, 0, 255])),
        ("r = (b - 255 < 0) ? 1 : 2;", Some([254, 127, 0, 2])),
        ("b = b << (r + 8);", None),
        ("b = b / r;", None),
    ] {
        assert_eq!(memory(numbers, body, 4), expected.map(Vec::from), "{body}");
    }
    let arrays = "shared int m[2][2], r; record Cell { int v[2]; } shared Cell c[2];";
    for (body, expected) in [
        ("r = 1; m[r][0] = 5; m[0][r] = 6;", Some([0, 6, 5, 0, 1])),
        ("r = 2; m[0][r] = 5;", None),
        ("r = 2; m[r][0] = 5;", None),
        ("r = -1; m[1][r] = 5;", None),
        ("r = 2; c[0].v[r] = 5;", None),
        ("r = 1; c[r].v[0] = 5; r = c[1].v[0];", Some([0, 0, 0, 0, 5])),
        ("int a[3] = {1, 2, 3}; r = 2; a[r] = a[r - 1] + 5; r = a[2];", Some([0, 0, 0, 0, 7])),
        ("int a[3]; r = 3; a[r] = 1;", None),
        ("int a[2][2] = {{1, 2}, {3, 4}}; r = 1; m[0][0] = a[r][r - 1];", Some([3, 0, 0, 0, 1])),
        ("int a[2][2]; r = 2; r = a[0][r];", None),
    ] {
        assert_eq!(memory(arrays, body, 5), expected.map(Vec::from), "{body}");
    }
    for (value, expected) in [(0, 3), (1, 10), (2, 30), (3, 30), (4, 100)] {
        let body = format!(
            "x = {value}; switch (x) {{ case 1: x = 10; break; case 2: case 3: x = 30; break; \
             case 0: x = 3; break; default: x = 99; case 7: x = x + 1; }}"
        );
        assert_eq!(memory("shared int x;", &body, 1), Some(vec![expected]), "{value}");
    }
}

/// Runs the only thread of a program and returns the final values of its locations, as they print.
fn final_values(program: &str) -> Result<Vec<String>, ()> {
    let problem = lowered(program);
    match super::interpret::run_code(&problem) {
        super::interpret::RunResult::Done(memory, _) => {
            let locations = problem.program.locations.iter().zip(memory);
            Ok(locations.map(|(location, value)| location.ty.show(value)).collect())
        }
        _ => Err(()),
    }
}

#[test]
fn wide_integers_wrap_and_print_as_numbers() {
    for (declarations, body, expected) in [
        ("shared u32 x = 4294967295;", "x += 1;", "0"),
        ("shared u32 x;", "x = x - 1;", "4294967295"),
        ("shared i32 x = 2147483647;", "x += 1;", "-2147483648"),
        ("shared u64 x = 0xffffffffffffffff;", "x = x - 1;", "18446744073709551614"),
        ("shared u64 x = 18446744073709551615;", "fetch_add(x, 2);", "1"),
        ("shared u64 x;", "fetch_sub(x, 1);", "18446744073709551615"),
        ("shared i64 x = -9223372036854775808;", "x = -x;", "-9223372036854775808"),
        ("shared i64 x = -9223372036854775808;", "x -= 1;", "9223372036854775807"),
        ("shared u64 x = 0x8000000000000000;", "x = x / 3;", "3074457345618258602"),
        ("shared u64 x = 0x8000000000000000;", "x = x >> 63;", "1"),
        ("shared i64 x = -8;", "x = x >> 1;", "-4"),
        ("const BIG = 0xffffffffffffffff; shared u64 x = BIG / 2;", "skip;", "9223372036854775807"),
        ("shared u64 x;", "x = -1 + 0; int r = -1; x = r;", "18446744073709551615"),
        ("shared u32 x;", "u64 r = 0x1234567890; x = r;", "878082192"),
        ("shared u64 x;", "r = 0xffffffffff; x = r + 1;", "1099511627776"),
        ("shared u64 x;", "x = x == 0 ? 0xffffffffffffffff : 1;", "18446744073709551615"),
        ("shared u64 a[2] = {1, 0xffffffffffffffff};", "a[0] = a[1] * a[1];", "1"),
    ] {
        let program = format!("{declarations} thread p {{ {body} }}");
        assert_eq!(
            final_values(&program).map(|all| all[0].clone()),
            Ok(expected.into()),
            "{program}"
        );
    }
}

#[test]
fn a_wide_integer_that_does_not_fit_in_an_int_is_a_fault() {
    for (ty, fits, too_large) in [
        ("u32", "2147483647", "2147483648"),
        ("u64", "2147483647", "18446744073709551615"),
        ("i64", "-2147483648", "-2147483649"),
    ] {
        for statement in ["x = w;", "x += w;", "int r = w; x = r;", "int r; r += w; x = r;"] {
            let program = |value| {
                format!("shared int x; shared {ty} w = {value}; thread p {{ {statement} }}")
            };
            assert_eq!(final_values(&program(fits)), Ok(vec![fits.into(); 2]), "{statement}");
            assert_eq!(final_values(&program(too_large)), Err(()), "{statement}");
        }
    }
}
