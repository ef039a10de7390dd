//! Data races of C programs, compared with a second implementation: happens-before as a transitive
//! closure, on all interleavings of small programs.

mod naive;

use fencepost_engines::data_races::MAX_EXECUTIONS;
use fencepost_engines::{Budget, Settings, find_data_race};
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::{Random, c_problem, report_comparisons, seeds};

/// Returns the lines of the race of a C program, if it has one.
fn race(source: &str) -> Option<[u32; 2]> {
    let problem = c_problem(source).expect("a well-formed program");
    let budget = Budget { cancel: &Cancel::default(), progress: &Progress::default() };
    let search = find_data_race(&problem, MAX_EXECUTIONS, Settings::default(), budget)?;
    assert_eq!(search.stopped, None, "the search is complete\n{source}");
    let line = |label| problem.program.label(label).span.line;
    search.found.map(|found| found.race.accesses.map(|access| line(access.label)))
}

#[test]
fn random_programs_have_a_race_in_both_implementations() {
    let (mut compared, mut racy) = (0, 0);
    for seed in seeds(200) {
        let program = naive::Program::random(&mut Random::new(seed));
        let source = program.source();
        let expected = program.has_race();
        assert_eq!(race(&source).is_some(), expected, "seed {seed}\n{source}");
        compared += 1;
        racy += u64::from(expected);
    }
    assert!(compared < 100 || (racy > compared / 10 && racy < compared / 10 * 9), "{racy}");
    report_comparisons("programs with their data races", compared);
}

const HEADERS: &str = "#include <pthread.h>\n#include <stdatomic.h>\n";

/// Two threads with the bodies of `f` and `g`, and `main`.
fn threads(globals: &str, f: &str, g: &str) -> String {
    format!(
        "{HEADERS}{globals}\nvoid *f(void *a) {{ {f} return 0; }}\nvoid *g(void *a) {{ {g} return 0; }}\n\
         int main() {{ pthread_t p, q; pthread_create(&p, 0, f, 0); pthread_create(&q, 0, g, 0);\n\
         pthread_join(p, 0); pthread_join(q, 0); return 0; }}\n"
    )
}

fn message_passing(release: &str, acquire: &str) -> String {
    let f = format!("data = 1; atomic_store_explicit(&flag, 1, memory_order_{release});");
    let g = format!("if (atomic_load_explicit(&flag, memory_order_{acquire})) data = 2;");
    threads("int data; atomic_int flag;", &f, &g)
}

#[test]
fn message_passing_needs_release_and_acquire() {
    assert_eq!(race(&message_passing("release", "acquire")), None);
    assert_eq!(race(&message_passing("seq_cst", "seq_cst")), None);
    assert!(race(&message_passing("relaxed", "acquire")).is_some());
    assert!(race(&message_passing("release", "relaxed")).is_some());
}

#[test]
fn fences_synchronise() {
    let f = "data = 1; atomic_thread_fence(memory_order_release); \
             atomic_store_explicit(&flag, 1, memory_order_relaxed);";
    let g = |fence: &str| {
        format!("int r = atomic_load_explicit(&flag, memory_order_relaxed); {fence} if (r) data++;")
    };
    let globals = "int data; atomic_int flag;";
    let acquire = "atomic_thread_fence(memory_order_acquire);";
    assert_eq!(race(&threads(globals, f, &g(acquire))), None);
    assert!(race(&threads(globals, f, &g(""))).is_some());
}

#[test]
fn increments_race_unless_a_mutex_protects_them() {
    assert_eq!(race(&threads("int x;", "x++;", "x++;")), Some([4, 5]));
    let locked = "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);";
    let globals = "int x; pthread_mutex_t m;";
    assert_eq!(race(&threads(globals, locked, locked)), None);
    assert!(race(&threads(globals, locked, "x++;")).is_some());
    assert_eq!(race(&threads("atomic_int x;", "x++;", "x++;")), None);
    assert_eq!(race(&threads("volatile int x;", "x++;", "x++;")), None);
}

#[test]
fn a_plain_access_races_with_an_atomic_one() {
    let load = "__atomic_load_n(&x, __ATOMIC_SEQ_CST);";
    assert!(race(&threads("int x;", load, "x = 1;")).is_some());
    assert_eq!(race(&threads("int x;", load, "int r = x;")), None);
}

#[test]
fn the_accesses_of_a_macro_are_distinguished() {
    let globals = "#define SEND(d, f) d = 1; __atomic_store_n(&f, 1, __ATOMIC_RELEASE)\n\
                   int data, flag;";
    let g = "if (__atomic_load_n(&flag, __ATOMIC_ACQUIRE)) data = 2;";
    assert_eq!(race(&threads(globals, "SEND(data, flag);", g)), None);
}

#[test]
fn creation_and_joining_synchronise() {
    let source = |before: &str, between: &str, after: &str| {
        format!(
            "{HEADERS}int x;\nvoid *f(void *a) {{ x++; return 0; }}\n\
             int main() {{ pthread_t p; {before} pthread_create(&p, 0, f, 0);\n{between}\n\
             pthread_join(p, 0);\n{after}\n return 0; }}\n"
        )
    };
    assert_eq!(race(&source("x = 1;", "", "x = 3;")), None);
    assert_eq!(race(&source("", "x = 2;", "")), Some([6, 4]));
}

#[test]
fn a_seqlock_with_plain_data_has_a_race() {
    let f = "atomic_fetch_add(&n, 1); a = 1; b = 1; atomic_fetch_add(&n, 1);";
    let g = "int s, x, y; do { s = atomic_load(&n); x = a; y = b; } \
             while ((s & 1) || atomic_load(&n) != s);";
    assert!(race(&threads("int a, b; atomic_int n;", f, g)).is_some());
}

#[test]
fn a_failed_iteration_of_a_spin_loop_has_races() {
    let f = "data = 1; atomic_store(&flag, 1);";
    let g = "int ready, r; do { ready = atomic_load(&flag); r = data; } while (!ready);";
    assert!(race(&threads("int data; atomic_int flag;", f, g)).is_some());
    let g = "while (!atomic_load(&flag)) ; int r = data;";
    assert_eq!(race(&threads("int data; atomic_int flag;", f, g)), None);
}

#[test]
fn a_freed_object_can_be_allocated_by_another_thread() {
    let globals = "#include <stdlib.h>\nstruct s { int v; };";
    let body = "struct s *p = malloc(sizeof(struct s)); p->v = 1; free(p);";
    assert_eq!(race(&threads(globals, body, body)), None);
}

#[test]
fn blocks_race_with_accesses_outside_only() {
    let globals = "void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); int x;";
    let block = "__VERIFIER_atomic_begin(); x++; __VERIFIER_atomic_end();";
    assert_eq!(race(&threads(globals, block, block)), None);
    assert!(race(&threads(globals, block, "x = 5;")).is_some());
}
