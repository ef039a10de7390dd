//! Snapshots of the text output for every kind of violation.

use crate::common::{MESSAGE, PETERSON, STORE_BUFFERING, find, lower, model};
use fencepost_engines::Settings;
use fencepost_models::Reductions;
use fencepost_report::Paint;
use fencepost_report::picture::{PictureOptions, WIDTH, picture, run_text};
use fencepost_report::reorderings::describe_reorderings;
use fencepost_report::verdict_line::{heading, row};

/// Returns the row, the heading, the picture and the reasons for a program under a model.
fn shown(source: &str, name: &str, options: PictureOptions, settings: Settings) -> String {
    let problem = lower(source);
    let model = model(name);
    let finding = find(&problem, &model, settings);
    let trace_rows = finding.trace_rows();
    let mut text = row(&finding, trace_rows.as_ref(), name.len(), options.paint);
    if let (Some(trace_rows), Some(evidence)) = (&trace_rows, finding.shown()) {
        text.push_str(&heading("test.fp", &model, evidence, trace_rows, options.paint));
        text.push_str(&picture(trace_rows, options));
        for reason in describe_reorderings(&problem.program, &model, &trace_rows.run) {
            text.push_str(&format!("  Why: {reason}\n"));
        }
    }
    text
}

fn plain(source: &str, model: &str) -> String {
    shown(source, model, PictureOptions { width: WIDTH, paint: Paint::Plain }, Settings::default())
}

#[test]
fn peterson_violates_mutual_exclusion_under_weak_models() {
    insta::assert_snapshot!("peterson_sc", plain(PETERSON, "sc"));
    insta::assert_snapshot!("peterson_tso", plain(PETERSON, "tso"));
    insta::assert_snapshot!("peterson_pso", plain(PETERSON, "pso"));
    insta::assert_snapshot!("peterson_rmo", plain(PETERSON, "rmo"));
}

#[test]
fn a_store_overtakes_a_store() {
    insta::assert_snapshot!("message_pso", plain(MESSAGE, "pso"));
    insta::assert_snapshot!("message_rmo", plain(MESSAGE, "rmo"));
}

#[test]
fn final_exists_shows_a_witness_or_its_absence() {
    insta::assert_snapshot!("store_buffering_sc", plain(STORE_BUFFERING, "sc"));
    insta::assert_snapshot!("store_buffering_tso", plain(STORE_BUFFERING, "tso"));
}

#[test]
fn a_store_overtakes_a_load() {
    let source = "\
shared int x, y;
thread p { r = x; y = 1; }
thread q { s = y; x = 1; }
final never p.r == 1 && q.s == 1;
";
    insta::assert_snapshot!("load_buffering_rmo", plain(source, "rmo"));
}

#[test]
fn a_load_overtakes_a_store_that_no_other_load_observes() {
    let source = "\
shared int x, y;
thread p { x = 1; r1 = x; r2 = y; }
thread q { y = 1; x = 2; }
final never p.r1 == 1 && p.r2 == 0 && x == 1;
";
    insta::assert_snapshot!("n6_tso", plain(source, "tso"));
}

#[test]
fn a_violation_without_reordering_is_reported_as_an_sc_violation() {
    let source = "shared int x;\nthread p { x = 1; assert(false); }\n";
    assert!(plain(source, "tso").contains("this also happens under SC"));
    assert!(plain(source, "sc").contains("Nothing is reordered under SC"));
}

#[test]
fn a_deadlock_shows_where_each_thread_waits() {
    let source = "\
shared bool a, b;
thread p { atomic { assume(!a); a = true; } atomic { assume(!b); b = true; } }
thread q { atomic { assume(!b); b = true; } atomic { assume(!a); a = true; } }
property deadlock_free;
";
    insta::assert_snapshot!("deadlock_tso", plain(source, "tso"));
}

#[test]
fn a_hang_names_only_what_the_waiting_thread_reads_again_and_again() {
    let source =
        "shared int x, flag;\nthread p { a = x; while (flag == 0) skip; assert(a == 0); }\n";
    for name in ["sc", "tso", "rmo-nospec", "rmo"] {
        let (problem, model) = (lower(source), model(name));
        let finding = find(&problem, &model, Settings::default());
        let trace_rows = finding.trace_rows().expect("the program hangs");
        let shown = finding.shown().expect("the program hangs");
        let text = run_text("test.fp", &model, shown, &trace_rows, Paint::Plain);
        assert!(text.contains("waits at :2 while flag = 0"), "{name}: {text}");
        assert!(!text.contains("while x = 0"), "{name}: {text}");
    }
}

#[test]
fn faults_are_shown_with_their_statement() {
    let source = "\
record Node { int value; Node next; }
pool Node[2];
shared Node head;
init { n = new Node; n.value = 3; head = n; }
thread p { n = head; head = null; free(n); }
thread q { h = head; if (h != null) { v = h.value; } }
";
    insta::assert_snapshot!("use_after_free_sc", plain(source, "sc"));
    let outside = "shared int a[2];\nthread p { k = choose(0..3); a[k] = 1; }\n";
    insta::assert_snapshot!("out_of_bounds_sc", plain(outside, "sc"));
    let listed = "shared int a[2];\nthread p { a[choose(0, 5)] = 1; }\n";
    insta::assert_snapshot!("chosen_from_a_list_sc", plain(listed, "sc"));
}

#[test]
fn updates_fences_and_drains_are_shown() {
    let source = "\
shared int x, y, z;
thread p { a = fetch_sub(x, 2); b = cas(y, 1, 2); fence store_store; c = swap(z, 4); drain x; }
thread q { fence; x = 5; }
final forall p.c == 1;
";
    insta::assert_snapshot!("updates_pso", plain(source, "pso"));
}

#[test]
fn more_than_three_threads_are_shown_as_a_list() {
    let source = "\
shared int x;
thread p(i in 0..4) { r = x; x = r + 1; }
invariant x <= 3;
";
    insta::assert_snapshot!("list_tso", plain(source, "tso"));
}

#[test]
fn violations_in_the_initial_state_are_shown() {
    let source = "shared int x = 7;\nthread p { x = 1; }\ninvariant x <= 3;\n";
    insta::assert_snapshot!("initial_sc", plain(source, "sc"));
    let init = "shared int x, a[2];\ninit { a[x + 2] = 1; }\nthread p { x = 1; }\n";
    insta::assert_snapshot!("init_fault_sc", plain(init, "sc"));
    let inside = "shared int x;\nthread p(i in 0..2) { critical { x = 1; } }\n\
                  property mutual_exclusion;\n";
    insta::assert_snapshot!("initially_critical_tso", plain(inside, "tso"));
}

#[test]
fn a_failed_assertion_before_the_first_step_names_its_thread() {
    let text = plain("thread p { r = 1; assert(r == 2); }\n", "sc");
    assert!(text.contains("`assert(r == 2)` (:1) fails in p"), "{text}");
    assert!(text.contains("  before the first step\n"), "{text}");
}

#[test]
fn a_thread_that_starts_in_its_critical_section_has_a_column() {
    let source = "shared int x;\nthread p { critical { x = 1; } }\n\
                  thread q { r = x; critical { skip; } }\nproperty mutual_exclusion;\n";
    insta::assert_snapshot!("critical_from_the_start_tso", plain(source, "tso"));
    let list =
        shown(source, "tso", PictureOptions { width: 0, paint: Paint::Plain }, Settings::default());
    assert!(list.contains("      p in critical section from the start\n"), "{list}");
}

#[test]
fn conditions_that_are_checked_on_nothing_have_a_message() {
    let endless =
        plain("shared int(0..2) x;\nthread p { loop { x = 0; } }\nfinal forall x == 1;\n", "sc");
    assert!(endless.contains("inconclusive  no run ends: the conditions on final"), "{endless}");
    let client = plain(
        "shared int(0..2) x;\noperation int get() as g { loop { x = 0; } }\nclient g|g;\n\
         property sequentially_consistent operations;\n",
        "sc",
    );
    assert!(client.contains("no run ends: the results of operations"), "{client}");
    let stuck = plain("shared int x;\ninit { assume(x == 1); }\nthread p { x = 1; }\n", "sc");
    assert!(stuck.contains("inconclusive  no run starts: `init` cannot finish"), "{stuck}");
}

#[test]
fn long_pictures_show_only_the_first_and_last_rows() {
    let source = "shared int x;\nthread p { for (i in 0..400) { x = 1; } assert(false); }\n";
    let source = source.replace("for (i in 0..400)", "i = 0; while (i < 400)");
    let source = source.replace("x = 1;", "x = 1; i = i + 1;");
    for width in [WIDTH, 0] {
        let options = PictureOptions { width, paint: Paint::Plain };
        let text = shown(&source, "sc", options, Settings::default());
        let gap = "\n  ... 201 rows omitted ... (--format json has all rows)\n";
        assert!(text.contains(gap), "{text}");
        assert!(text.contains("\n 100  ") && !text.contains("\n 101  "), "{text}");
        assert!(text.contains("\n 302  ") && !text.contains("\n 301  "), "{text}");
    }
}

#[test]
fn narrow_pictures_are_shortened_and_then_become_lists() {
    let narrow = |width| {
        shown(PETERSON, "tso", PictureOptions { width, paint: Paint::Plain }, Settings::default())
    };
    insta::assert_snapshot!("width_130", narrow(130));
    insta::assert_snapshot!("width_118", narrow(118));
    insta::assert_snapshot!("width_100", narrow(100));
    for width in [0, 20, 80] {
        assert!(narrow(width).contains("thread  event"), "width {width}");
    }
}

#[test]
fn coloured_text_without_escape_codes_is_the_plain_text() {
    let options = PictureOptions { width: WIDTH, paint: Paint::Coloured };
    let coloured = shown(PETERSON, "pso", options, Settings::default());
    assert!(coloured.contains("\u{1b}["));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = after.split_once('m').expect("an escape code ends in m").1;
    }
    stripped.push_str(rest);
    let lines = |text: &str| text.lines().map(|l| l.trim_end().to_string()).collect::<Vec<_>>();
    assert_eq!(lines(&stripped), lines(&plain(PETERSON, "pso")));
}

#[test]
fn without_reductions_the_picture_has_the_same_kind_of_rows() {
    let settings = Settings { reductions: Reductions::NONE, ..Settings::default() };
    let options = PictureOptions { width: WIDTH, paint: Paint::Plain };
    insta::assert_snapshot!("message_pso_unfused", shown(MESSAGE, "pso", options, settings));
}
