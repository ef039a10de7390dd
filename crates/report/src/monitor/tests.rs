//! Tests of whole runs: arbitrary input, limits, files and pipes.

use super::*;
use fencepost_engines::Budget;
use fencepost_search::{Cancel, Progress};
use fencepost_testkit::Random;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::Ordering;

const BOTH: [Model; 2] = [Model::Tso, Model::Pso];

/// Monitors the text of a file.
fn monitor_file(text: &[u8], bytes: u64, cancel: &Cancel) -> Result<MonitorAnswer, TraceError> {
    let text = text.to_vec();
    let mut open =
        || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(io::Cursor::new(text.clone()))) };
    let progress = Progress::default();
    monitor_trace(TraceInput::File(&mut open), &BOTH, bytes, Budget { cancel, progress: &progress })
}

/// Monitors the text of a pipe.
fn monitor_pipe(text: &[u8], bytes: u64, cancel: &Cancel) -> Result<MonitorAnswer, TraceError> {
    let progress = Progress::default();
    let input = TraceInput::Pipe(Box::new(text));
    monitor_trace(input, &BOTH, bytes, Budget { cancel, progress: &progress })
}

/// Returns the answers as text.
fn text(answer: &MonitorAnswer) -> String {
    let verdicts = answer.verdicts.iter();
    let verdicts = verdicts.map(|(model, verdict)| super::answer(*model, verdict, Paint::Plain));
    title("t", answer, Paint::Plain) + &verdicts.collect::<String>()
}

/// Parts of input files. The test concatenates them at random with random bytes.
const PIECES: &[&str] = &[
    "{\"thread\":0,\"op\":\"store\",\"address\":\"x\"}\n",
    "{\"thread\":0,\"op\":\"load\",\"address\":\"y\"}\n",
    "{\"thread\":1,\"op\":\"store\",\"address\":\"y\"}\n",
    "{\"thread\":1,\"op\":\"load\",\"address\":\"x\",\"at\":\"a.c:7\"}\n",
    "{\"thread\":1,\"op\":\"drain\",\"address\":\"z\"}\n",
    "{\"thread\":2,\"op\":\"fence\",\"kind\":\"store_store\"}\n",
    "{\"thread\":2,\"op\":\"block\",\"accesses\":[]}\n",
    "{\"thread\":2,\"op\":\"block\",\"accesses\":[{\"op\":\"load\",\"address\":\"y\"},\
     {\"op\":\"store\",\"address\":\"x\"},{\"op\":\"update\",\"address\":\"y\"}]}\n",
    "# remark\n",
    "\n",
    "{",
    "\"op\":",
    "[[[[",
    "-1e999",
    "\\ud800\"",
];

#[test]
fn arbitrary_input_does_not_panic_and_files_get_the_answers_of_pipes() {
    let mut random = Random::new(1);
    let (mut read, mut rejected, mut found) = (0, 0, 0);
    for round in 0..3000 {
        let mut bytes = Vec::new();
        // Two of three rounds use only complete lines.
        let pieces = if round % 3 == 0 { PIECES.len() + 1 } else { 10 };
        for _ in 0..random.below(20) {
            match PIECES.get(random.below(pieces)) {
                Some(piece) => bytes.extend_from_slice(piece.as_bytes()),
                None => bytes.extend((0..random.below(9)).map(|_| random.below(256) as u8)),
            }
        }
        let cancel = Cancel::default();
        let [file, pipe] =
            [monitor_file, monitor_pipe].map(|monitor| monitor(&bytes, u64::MAX, &cancel));
        match (file, pipe) {
            (Err(_), Err(_)) => rejected += 1,
            (Ok(file), Ok(pipe)) => {
                read += 1;
                assert_eq!(text(&file), text(&pipe));
                let is_borderline = |(_, verdict): &(Model, MonitorVerdict)| {
                    matches!(verdict, MonitorVerdict::Borderline { .. })
                };
                found += file.verdicts.iter().filter(|verdict| is_borderline(verdict)).count();
            }
            (file, pipe) => panic!("{file:?} {pipe:?}"),
        }
    }
    assert!(read > 1000 && rejected > 500 && found > 100, "{read} {rejected} {found}");
}

/// Returns a long trace without borderline events: two threads pass a message back and forth.
fn ping_pong(rounds: usize) -> String {
    let round = (0..2).map(|thread| {
        let op = |op: &str, address: &str| {
            format!("{{\"thread\":{thread},\"op\":\"{op}\",\"address\":\"{address}\"}}\n")
        };
        op("update", "turn") + &op("store", "data") + &op("load", "data")
    });
    round.collect::<String>().repeat(rounds)
}

#[test]
fn a_trace_above_the_memory_limit_is_inconclusive() {
    // The clocks grow with the number of threads times the number of addresses.
    let lines = (0..3000u32).map(|n| {
        format!("{{\"thread\":{n},\"op\":\"store\",\"address\":{}}}\n", n.wrapping_mul(7))
    });
    let lines: String = lines.collect();
    let cancel = Cancel::default();
    let answer = monitor_file(lines.as_bytes(), 1 << 24, &cancel).expect("well-formed");
    let unfinished = answer.unfinished.expect("the limit is reached");
    assert_eq!(unfinished.stop, Stop::Memory);
    assert!(unfinished.events > 100 && unfinished.events < 3000, "{unfinished:?}");
    assert_eq!(unfinished.events, answer.events);
    for (_, verdict) in &answer.verdicts {
        assert!(matches!(verdict, MonitorVerdict::Inconclusive(_)), "{verdict:?}");
    }
    assert!(text(&answer).contains("memory limit reached after"), "{}", text(&answer));
    // The events of a pipe are kept, those of a file are not.
    let long = ping_pong(20_000);
    let file = monitor_file(long.as_bytes(), 2_500_000, &cancel).expect("well-formed");
    assert_eq!(file.unfinished, None);
    let pipe = monitor_pipe(long.as_bytes(), 2_500_000, &cancel).expect("well-formed");
    assert!(text(&pipe).contains("or use a file, not a pipe"), "{}", text(&pipe));
}

#[test]
fn a_cancelled_run_says_how_many_events_were_checked() {
    let long = ping_pong(10_000);
    let progress = Progress::default();
    let cancel = Cancel::default();
    // The reader cancels the run after some bytes, as a time limit would.
    struct CancellingReader<'a>(&'a [u8], &'a Cancel);
    impl Read for CancellingReader<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0.len() < 500_000 {
                self.1.time_out();
            }
            self.0.read(buffer)
        }
    }
    let reader = BufReader::new(CancellingReader(long.as_bytes(), &cancel));
    let budget = Budget { cancel: &cancel, progress: &progress };
    let input = TraceInput::Pipe(Box::new(reader));
    let answer = monitor_trace(input, &[Model::Pso], u64::MAX, budget).expect("well-formed");
    let unfinished = answer.unfinished.expect("the run is cancelled");
    assert_eq!((unfinished.stop, unfinished.events), (Stop::Time, answer.events));
    assert!(answer.events > 10_000 && answer.events < 60_000, "{unfinished:?}");
    assert_eq!(progress.states.load(Ordering::Relaxed), answer.events);
    let text = text(&answer);
    assert!(text.contains("no answer  time limit reached after"), "{text}");
    assert!(text.contains("try: raise --time"), "{text}");
}

#[test]
fn a_violation_before_the_limit_remains_a_violation() {
    let violation: String = PIECES[..4].concat();
    let cancel = Cancel::default();
    let long = violation + &ping_pong(20_000);
    let answer = monitor_pipe(long.as_bytes(), 2_500_000, &cancel).expect("well-formed");
    assert!(answer.unfinished.is_some());
    let text = text(&answer);
    assert!(text.contains("could be reordered before"), "{text}");
    assert!(text.contains("line 4 reads before line 1 writes") || text.contains("a.c:7"), "{text}");
    assert!(text.contains("at least 1 event could violate"), "{text}");
}

#[test]
fn the_explanation_of_a_cancelled_run_has_the_lines_of_both_events() {
    // The cycle is far from the start, and the run is cancelled after it was found.
    let long = ping_pong(2_000) + &PIECES[..4].concat();
    let cancel = Cancel::default();
    let opened = Cell::new(0);
    let mut open = || -> io::Result<Box<dyn BufRead>> {
        opened.set(opened.get() + 1);
        if opened.get() == 2 {
            cancel.interrupt();
        }
        Ok(Box::new(io::Cursor::new(long.clone())))
    };
    let progress = Progress::default();
    let budget = Budget { cancel: &cancel, progress: &progress };
    let input = TraceInput::File(&mut open);
    let answer = monitor_trace(input, &[Model::Tso], u64::MAX, budget).expect("well-formed");
    let text = text(&answer);
    let expected =
        "the load at line 12004 (a.c:7) could be reordered before the write at line 12001";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("the cycle is not shown: a limit was reached"), "{text}");
}

#[test]
fn a_file_is_opened_again_only_for_an_explanation_and_may_not_change() {
    let violation: String = PIECES[..4].concat();
    let changed = violation.replace("\"load\"", "\"failed\"");
    for (first, second, opens) in [
        (&ping_pong(10), "", 1),
        (&violation, &*violation, 2),
        (&violation, &*changed, 2),
        (&violation, "", 2),
    ] {
        let opened = Cell::new(0);
        let mut open = || -> io::Result<Box<dyn BufRead>> {
            opened.set(opened.get() + 1);
            let text = if opened.get() == 1 { first } else { second };
            Ok(Box::new(io::Cursor::new(text.to_string())))
        };
        let (cancel, progress) = (Cancel::default(), Progress::default());
        let budget = Budget { cancel: &cancel, progress: &progress };
        let input = TraceInput::File(&mut open);
        let answer = monitor_trace(input, &[Model::Tso], u64::MAX, budget);
        assert_eq!(opened.get(), opens);
        let has_changed = opens == 2 && *second != violation;
        assert_eq!(matches!(answer, Err(TraceError::Changed)), has_changed, "{answer:?}");
    }
}

#[test]
fn a_block_after_many_events_starts_the_monitor_again() {
    // Under PSO the last block reads the old `x` and the new `y`.
    let block = "{\"thread\":8,\"op\":\"block\",\"accesses\":[{\"op\":\"load\",\"address\":\"x\"},\
                 {\"op\":\"load\",\"address\":\"y\"}]}\n";
    let stores = [PIECES[0], "{\"thread\":0,\"op\":\"store\",\"address\":\"y\"}\n"].concat();
    let long = ping_pong(5_000) + &stores + block + &ping_pong(1_000);
    let long = long + &stores + &block.replace("\"thread\":8", "\"thread\":9");
    let cancel = Cancel::default();
    for monitor in [monitor_file, monitor_pipe] {
        let answer = monitor(long.as_bytes(), u64::MAX, &cancel).expect("well-formed");
        let text = text(&answer);
        assert!(text.contains("TSO  no reordering could have violated"), "{text}");
        let expected =
            "PSO  the block at line 30003 could be reordered before the store at line 30001";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("2 events could violate"), "{text}");
    }
}
