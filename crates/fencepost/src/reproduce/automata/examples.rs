//! The examples of \[LW10\]: Fig. 2, Fig. 4 and Table 1.
//!
//! Whatever the paper says of them is a question to the engine here. Where it is about the state of both threads at
//! once, which no property of ours can name, the program is changed so that threads stop, and the question
//! is whether they can: [`stops`]. How much two buffers hold at once is counted in a run of the exact model.

use super::super::{Broken, Runner};
use super::{Explored, Search, in_order, notes};
use fencepost_engines::automata::{Order, Until};
use fencepost_engines::{Automata, Verdict};
use fencepost_ir::{Loc, ThreadId, Value};
use fencepost_models::replay::{Moment, Pending};
use fencepost_report::reproduction::{Figure, Figures, Row};

const FIG_2: &str = include_str!("../../../../../corpus/papers/automata-fig2.fp");
const FIG_4: &str = include_str!("../../../../../corpus/papers/automata-fig4.fp");
const TABLE_1: &str = include_str!("../../../../../corpus/papers/automata-table1.fp");

/// How many rounds of Fig. 4 both buffers are to hold at once.
const ROUNDS: usize = 4;

/// All of them.
pub(super) fn rows(runner: &mut Runner) -> Result<(), Broken> {
    if runner.wants("Fig. 2") {
        sleep_sets(runner)?;
        contents(runner, "Fig. 2", FIG_2, &FIG_2_CONTENTS)?;
    }
    if runner.wants("Fig. 4") {
        contents(runner, "Fig. 4", FIG_4, &FIG_4_CONTENTS)?;
        both_at_once(runner)?;
        for question in &FIG_4_QUESTIONS {
            possible(runner, question)?;
        }
    }
    if runner.wants("Table 1") {
        for question in &TABLE_1_QUESTIONS {
            possible(runner, question)?;
        }
    }
    Ok(())
}

/// A row about one example.
struct Example {
    group: &'static str,
    part: &'static str,
    row: String,
    model: &'static str,
    paper: Figures,
    ours: Figures,
    agrees: bool,
    note: &'static str,
}

impl Example {
    /// Adds it; `met` is what cut a search short.
    fn push(self, runner: &mut Runner, met: Option<&'static str>) {
        runner.rows.push(Row {
            group: self.group.into(),
            part: self.part,
            row: self.row,
            column: self.model.to_uppercase(),
            paper: self.paper,
            ours: if met.is_none() { self.ours } else { Figures::new() },
            ran: met.is_none(),
            agrees: met.is_none() && self.agrees,
            note: met.unwrap_or(if self.agrees { self.note } else { notes::UNKNOWN }).into(),
        });
    }
}

/// How many states a search without sleep sets may store: ten times what is enough with them.
const WITHOUT: u64 = 500;

/// Fig. 2 and 3: how many states sleep sets save, in the order of the paper and in another.
fn sleep_sets(runner: &mut Runner) -> Result<(), Broken> {
    for (order, name, paper) in [
        (Order::Statements, "statements first", Some(Figure::Flag(true))),
        (Order::Commits, "commits first", None),
    ] {
        let row = format!("Fig. 2 {name}");
        let mut found = Vec::new();
        for sleep in [true, false] {
            let engine = Automata { sleep, ..in_order(order) };
            let search = Search::new(&row, "tso", Until::End);
            let states = if sleep { search.states } else { WITHOUT };
            let search = Search { engine, states, ..search };
            let Some(explored) = search.explore(runner, FIG_2)? else { return Ok(()) };
            found.push(explored);
        }
        let without = found.pop().expect("two searches");
        let with = found.pop().expect("two searches");
        let stored = |explored: &Explored| explored.looked.answer.statistics.states;
        let (ours, theirs) = (stored(&with), stored(&without));
        // That the other one does not end is an answer, unless the user allows no more.
        let met = with.met.or(without.met.filter(|_| theirs < WITHOUT));
        let ends = without.met.is_none();
        let example = Example {
            group: "Fig. 2",
            part: "sleep sets",
            row,
            model: "tso",
            agrees: paper.is_none() || ours < theirs,
            paper: Figures::new().with("fewer", paper),
            ours: Figures::new()
                .with("fewer", Figure::Flag(ours < theirs))
                .with("stored", Figure::Number(ours))
                .with("visited", Figure::Number(with.looked.visited))
                .with("stored without", Figure::Number(theirs))
                .with("visited without", Figure::Number(without.looked.visited))
                .with("ends without", Figure::Flag(ends))
                .with("seconds", Figure::Seconds(with.seconds + without.seconds)),
            note: match (ends, ours < theirs) {
                (false, _) => notes::ENDLESS,
                (true, true) => "",
                (true, false) => notes::VISITS,
            },
        };
        example.push(runner, met);
    }
    Ok(())
}

/// What a thread's buffer can hold before a statement, according to the paper.
struct Contents {
    thread: &'static str,
    /// The statement, as the program has it.
    before: &'static str,
    paper: &'static str,
}

/// Fig. 3, state 4, and what is symmetric to it.
const FIG_2_CONTENTS: [Contents; 2] = [
    Contents { thread: "p", before: "x = 0", paper: "(x,1)((x,0)(x,1))*" },
    Contents { thread: "q", before: "y = 0", paper: "(y,1)((y,0)(y,1))*" },
];

/// Section 5: both threads in state 1.
const FIG_4_CONTENTS: [Contents; 2] = [
    Contents { thread: "p", before: "x = 1", paper: "((x,1)(x,0))*" },
    Contents { thread: "q", before: "y = 1", paper: "((y,1)(y,0))*" },
];

/// What buffers can hold where the paper shows it.
fn contents(
    runner: &mut Runner,
    group: &'static str,
    source: &str,
    expected: &[Contents],
) -> Result<(), Broken> {
    let search = Search::new(group, "tso", Until::Noted);
    let Some(explored) = search.explore(runner, source)? else { return Ok(()) };
    let program = &explored.problem.program;
    let line = |before: &str| source.lines().position(|text| text.trim().starts_with(before));
    for Contents { thread, before, paper } in expected {
        let line = line(before).expect("the program has the statement") as u32 + 1;
        let here = explored.looked.reached.iter().filter(|point| {
            let label = program.thread(point.thread).stmt(point.pc).label;
            program.thread(point.thread).name == *thread && program.label(label).span.line == line
        });
        let here: Vec<_> = here.collect();
        let bounded = here.iter().all(|point| point.is_finite);
        let found: Vec<String> = here.iter().map(|point| point.contents.clone()).collect();
        let example = Example {
            group,
            part: "contents",
            row: format!("{group} {thread} before {before}"),
            model: "tso",
            paper: Figures::new()
                .with("bounded", Figure::Flag(false))
                .with("contents", Figure::List(vec![(*paper).into()])),
            ours: Figures::new()
                .with("bounded", Figure::Flag(bounded))
                .with("seconds", Figure::Seconds(explored.seconds))
                .with("contents", Figure::List(found)),
            agrees: !bounded,
            note: notes::COMMITTED,
        };
        example.push(runner, explored.met);
    }
    let endless = explored.looked.widest.iter().filter(|contents| !contents.is_finite);
    let endless: Vec<String> = endless.map(|contents| contents.expression.clone()).collect();
    let example = Example {
        group,
        part: "one state",
        row: format!("{group} buffers without bound in one state"),
        model: "tso",
        paper: Figures::new()
            .with("buffers", Figure::Number(expected.len() as u64))
            .with("contents", Figure::List(expected.iter().map(|c| c.paper.into()).collect())),
        agrees: endless.len() == expected.len(),
        ours: Figures::new()
            .with("buffers", Figure::Number(endless.len() as u64))
            .with("contents", Figure::List(endless)),
        note: "",
    };
    example.push(runner, explored.met);
    Ok(())
}

/// What is put into Fig. 4 for a thread that may stop.
const STOP: &str = "if (choose(0..2) == 1) break;";

/// The marks of Fig. 4: state 4, and the load that leads out of it.
const STATE_4: &str = "critical { skip; }";
const FROM_4_TO_1: &str = "// 4 -> 1";

/// Fig. 4 where threads stop: in state 4, or after the load that leads out of it. The question is whether both
/// can, and then both have stored 0 last.
fn stops(in_4: &str, after_4: &str) -> String {
    let text = FIG_4.replace(STATE_4, in_4).replace(FROM_4_TO_1, &format!("\n{after_4}"));
    text.replace("property mutual_exclusion;", "final exists (x == 0 && y == 0);")
}

/// Fig. 4 where threads stop in state 1, after this number of rounds of each.
fn rounds(p: usize, q: usize) -> String {
    let text = stops("skip;", "n = n + 1; if (n == ROUNDS) break;");
    let (first, second) = text.split_once("thread q {").expect("Fig. 4 has two threads");
    let first = first.replace("thread p {", "thread p { n = 0;").replace("ROUNDS", &p.to_string());
    format!("{first}thread q {{ n = 0;{}", second.replace("ROUNDS", &q.to_string()))
}

/// Fig. 4: both buffers hold several rounds in one state of a run of the exact model.
fn both_at_once(runner: &mut Runner) -> Result<(), Broken> {
    let row = "Fig. 4 both at once".to_string();
    let search = Search::new(&row, "tso", Until::End);
    // The other thread needs a round of the first to be committed for each of its own.
    let source = rounds(2 * ROUNDS + 1, ROUNDS);
    let Some(explored) = search.explore(runner, &source)? else { return Ok(()) };
    let witness = match &explored.looked.answer.verdict {
        Verdict::Verified(verified) => verified.witness(),
        Verdict::Violated(_) | Verdict::Inconclusive(_) => None,
    };
    let moments = witness.iter().flat_map(|witness| &witness.run().moments);
    let most = moments.map(held).max().unwrap_or(0);
    let example = Example {
        group: "Fig. 4",
        part: "at once",
        row,
        model: "tso",
        paper: Figures::new().with("possible", Figure::Flag(true)),
        ours: Figures::new()
            .with("possible", Figure::Flag(most >= ROUNDS))
            .with("rounds", Figure::Number(most as u64))
            .with("states", Figure::Number(explored.looked.answer.statistics.states))
            .with("seconds", Figure::Seconds(explored.seconds)),
        agrees: most >= ROUNDS,
        note: notes::AT_ONCE,
    };
    example.push(runner, explored.met);
    Ok(())
}

/// How many whole rounds both buffers hold.
fn held(moment: &Moment) -> usize {
    let of = |thread: ThreadId| {
        let pending = &moment.pending[thread.index()];
        let is = |store: &Pending, value: Value| {
            store.loc == Some(Loc(thread.0.into())) && store.value == Some(value)
        };
        let rounds = pending.rchunks_exact(2);
        rounds.take_while(|round| is(&round[0], 1) && is(&round[1], 0)).count()
    };
    of(ThreadId(0)).min(of(ThreadId(1)))
}

/// Whether something is possible.
struct Question {
    group: &'static str,
    row: &'static str,
    model: &'static str,
    /// What the paper says.
    paper: bool,
    /// A program with a `final exists`.
    source: fn() -> String,
    note: &'static str,
}

fn stuck() -> String {
    stops(STOP, "")
}

fn on() -> String {
    stops("skip;", STOP)
}

fn table_1() -> String {
    TABLE_1.into()
}

/// Section 5, below Fig. 4.
#[rustfmt::skip]
const FIG_4_QUESTIONS: [Question; 4] = [
    Question { group: "Fig. 4", row: "deadlock in state 4", model: "sc", paper: true, source: stuck, note: notes::STUCK },
    Question { group: "Fig. 4", row: "deadlock in state 4", model: "tso", paper: true, source: stuck, note: notes::STUCK },
    Question { group: "Fig. 4", row: "both go on from state 4", model: "sc", paper: false, source: on, note: notes::ON },
    Question { group: "Fig. 4", row: "both go on from state 4", model: "tso", paper: true, source: on, note: notes::ON },
];

/// Table 1: what only a load of the own pending store makes possible.
#[rustfmt::skip]
const TABLE_1_QUESTIONS: [Question; 2] = [
    Question { group: "Table 1", row: "both finish", model: "sc", paper: false, source: table_1, note: "" },
    Question { group: "Table 1", row: "both finish", model: "tso", paper: true, source: table_1, note: "" },
];

fn possible(runner: &mut Runner, question: &Question) -> Result<(), Broken> {
    let Question { group, row, model, paper, source, note } = *question;
    let row = format!("{group} {row}");
    let search = Search::new(&row, model, Until::End);
    let Some(explored) = search.explore(runner, &source())? else { return Ok(()) };
    let possible = !explored.is_violated();
    let example = Example {
        group,
        part: "possible",
        row,
        model,
        paper: Figures::new().with("possible", Figure::Flag(paper)),
        ours: Figures::new()
            .with("possible", Figure::Flag(possible))
            .with("states", Figure::Number(explored.looked.answer.statistics.states))
            .with("seconds", Figure::Seconds(explored.seconds)),
        agrees: possible == paper,
        note,
    };
    example.push(runner, explored.met);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::lowered;
    use super::*;

    /// A mark that is not there any more would leave the program as it was.
    #[test]
    fn the_changed_programs_are_what_they_are_called() {
        for (text, stops) in [(stuck(), 2), (on(), 2), (rounds(9, 4), 0)] {
            assert!(!text.contains(STATE_4) && !text.contains(FROM_4_TO_1), "{text}");
            assert_eq!(text.matches(STOP).count(), stops, "{text}");
            assert!(
                text.contains("final exists") && !text.contains("property mutual_exclusion"),
                "{text}"
            );
            assert_eq!(lowered(&text).len(), 1);
        }
        let (first, second) = (rounds(9, 4), "thread q { n = 0;");
        let (p, q) = first.split_once(second).expect("two threads");
        assert!(p.contains("n == 9") && !p.contains("n == 4"), "{p}");
        assert!(q.contains("n == 4") && !q.contains("n == 9"), "{q}");
    }
}
