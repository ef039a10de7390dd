//! What a reader sees of a violation, for every kind of it.

use crate::common::{MESSAGE, PETERSON, STORE_BUFFERING, find, lower, model};
use fencepost_engines::Settings;
use fencepost_models::Reductions;
use fencepost_report::Paint;
use fencepost_report::picture::{Look, WIDTH, picture};
use fencepost_report::verdict_line::{heading, row};
use fencepost_report::why::reasons;

/// The row, the heading, the picture and the reasons of a program under a model.
fn shown(source: &str, name: &str, look: Look, settings: Settings) -> String {
    let problem = lower(source);
    let model = model(name);
    let finding = find(&problem, &model, settings);
    let story = finding.story();
    let mut text = row(&finding, story.as_ref(), name.len(), look.paint);
    if let (Some(story), Some(evidence)) = (&story, finding.shown()) {
        text.push_str(&heading("test.fp", &model, evidence, story, look.paint));
        text.push_str(&picture(story, look));
        for reason in reasons(&problem.program, &model, &story.run) {
            text.push_str(&format!("  Why: {reason}\n"));
        }
    }
    text
}

fn plain(source: &str, model: &str) -> String {
    shown(source, model, Look { width: WIDTH, paint: Paint::Plain }, Settings::default())
}

#[test]
fn peterson() {
    insta::assert_snapshot!("peterson_sc", plain(PETERSON, "sc"));
    insta::assert_snapshot!("peterson_tso", plain(PETERSON, "tso"));
    insta::assert_snapshot!("peterson_pso", plain(PETERSON, "pso"));
    insta::assert_snapshot!("peterson_rmo", plain(PETERSON, "rmo"));
}

#[test]
fn a_store_that_overtakes_a_store() {
    insta::assert_snapshot!("message_pso", plain(MESSAGE, "pso"));
    insta::assert_snapshot!("message_rmo", plain(MESSAGE, "rmo"));
}

#[test]
fn a_witness_and_a_missing_one() {
    insta::assert_snapshot!("store_buffering_sc", plain(STORE_BUFFERING, "sc"));
    insta::assert_snapshot!("store_buffering_tso", plain(STORE_BUFFERING, "tso"));
}

#[test]
fn loads_that_wait_while_stores_go_ahead() {
    let source = "\
shared int x, y;
thread p { r = x; y = 1; }
thread q { s = y; x = 1; }
final never p.r == 1 && q.s == 1;
";
    insta::assert_snapshot!("load_buffering_rmo", plain(source, "rmo"));
}

#[test]
fn a_load_before_an_own_store_that_nobody_missed() {
    let source = "\
shared int x, y;
thread p { x = 1; r1 = x; r2 = y; }
thread q { y = 1; x = 2; }
final never p.r1 == 1 && p.r2 == 0 && x == 1;
";
    insta::assert_snapshot!("n6_tso", plain(source, "tso"));
}

#[test]
fn what_also_happens_without_buffers_is_said_to() {
    let source = "shared int x;\nthread p { x = 1; assert(false); }\n";
    assert!(plain(source, "tso").contains("this also happens under SC"));
    assert!(plain(source, "sc").contains("Nothing is reordered under SC"));
}

#[test]
fn deadlock_with_atomic_blocks() {
    let source = "\
shared bool a, b;
thread p { atomic { assume(!a); a = true; } atomic { assume(!b); b = true; } }
thread q { atomic { assume(!b); b = true; } atomic { assume(!a); a = true; } }
property deadlock_free;
";
    insta::assert_snapshot!("deadlock_tso", plain(source, "tso"));
}

#[test]
fn records_and_faults() {
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
fn updates_and_fences() {
    let source = "\
shared int x, y, z;
thread p { a = fetch_sub(x, 2); b = cas(y, 1, 2); fence store_store; c = swap(z, 4); drain x; }
thread q { fence; x = 5; }
final forall p.c == 1;
";
    insta::assert_snapshot!("updates_pso", plain(source, "pso"));
}

#[test]
fn an_invariant_and_many_threads_make_a_list() {
    let source = "\
shared int x;
thread p(i in 0..4) { r = x; x = r + 1; }
invariant x <= 3;
";
    insta::assert_snapshot!("list_tso", plain(source, "tso"));
}

#[test]
fn a_wrong_initial_state() {
    let source = "shared int x = 7;\nthread p { x = 1; }\ninvariant x <= 3;\n";
    insta::assert_snapshot!("initial_sc", plain(source, "sc"));
    let init = "shared int x, a[2];\ninit { a[x + 2] = 1; }\nthread p { x = 1; }\n";
    insta::assert_snapshot!("init_fault_sc", plain(init, "sc"));
    let inside = "shared int x;\nthread p(i in 0..2) { critical { x = 1; } }\n\
                  property mutual_exclusion;\n";
    insta::assert_snapshot!("initially_critical_tso", plain(inside, "tso"));
}

#[test]
fn what_goes_wrong_before_the_first_step_names_its_thread() {
    let text = plain("thread p { r = 1; assert(r == 2); }\n", "sc");
    assert!(text.contains("`assert(r == 2)` (:1) fails in p"), "{text}");
    assert!(text.contains("  already so before the first step\n"), "{text}");
}

#[test]
fn a_thread_that_begins_in_its_critical_section_has_a_column() {
    let source = "shared int x;\nthread p { critical { x = 1; } }\n\
                  thread q { r = x; critical { skip; } }\nproperty mutual_exclusion;\n";
    insta::assert_snapshot!("critical_from_the_start_tso", plain(source, "tso"));
    let list = shown(source, "tso", Look { width: 0, paint: Paint::Plain }, Settings::default());
    assert!(list.contains("      p in critical section from the start\n"), "{list}");
}

#[test]
fn a_verification_of_nothing_says_so() {
    let endless =
        plain("shared int x;\nthread p { loop { r = x; } }\nfinal forall x == 1;\n", "sc");
    assert!(endless.contains("verified      no final state is reachable: `final`"), "{endless}");
    let stuck = plain("shared int x;\ninit { assume(x == 1); }\nthread p { x = 1; }\n", "sc");
    assert!(stuck.contains("verified      `init` cannot run to its end"), "{stuck}");
}

#[test]
fn very_long_pictures_show_their_ends() {
    let source = "shared int x;\nthread p { for (i in 0..400) { x = 1; } assert(false); }\n";
    let source = source.replace("for (i in 0..400)", "i = 0; while (i < 400)");
    let source = source.replace("x = 1;", "x = 1; i = i + 1;");
    for width in [WIDTH, 0] {
        let look = Look { width, paint: Paint::Plain };
        let text = shown(&source, "sc", look, Settings::default());
        let gap = "\n  ... 201 rows left out ... (all of them with --format json)\n";
        assert!(text.contains(gap), "{text}");
        assert!(text.contains("\n 100  ") && !text.contains("\n 101  "), "{text}");
        assert!(text.contains("\n 302  ") && !text.contains("\n 301  "), "{text}");
    }
}

#[test]
fn narrow_pictures_say_less_and_then_become_lists() {
    let narrow =
        |width| shown(PETERSON, "tso", Look { width, paint: Paint::Plain }, Settings::default());
    insta::assert_snapshot!("width_130", narrow(130));
    insta::assert_snapshot!("width_118", narrow(118));
    insta::assert_snapshot!("width_100", narrow(100));
    for width in [0, 20, 80] {
        assert!(narrow(width).contains("thread  event"), "width {width}");
    }
}

#[test]
fn colours_say_nothing_new() {
    let look = Look { width: WIDTH, paint: Paint::Coloured };
    let coloured = shown(PETERSON, "pso", look, Settings::default());
    assert!(coloured.contains("\u{1b}["));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = after.split_once('m').expect("a colour ends in m").1;
    }
    stripped.push_str(rest);
    let lines = |text: &str| text.lines().map(|l| l.trim_end().to_string()).collect::<Vec<_>>();
    assert_eq!(lines(&stripped), lines(&plain(PETERSON, "pso")));
}

#[test]
fn without_reductions_the_picture_has_the_same_kind_of_rows() {
    let settings = Settings { reductions: Reductions::NONE, ..Settings::default() };
    let look = Look { width: WIDTH, paint: Paint::Plain };
    insta::assert_snapshot!("message_pso_unfused", shown(MESSAGE, "pso", look, settings));
}
