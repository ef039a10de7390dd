//! A search that goes on with a larger bound, or with a higher limit on states, finds what a search with
//! that bound or limit finds.

use super::*;

/// The steps of a graph that add at most `bound` to a state.
struct WithinBound {
    graph: Formula,
    bound: u32,
}

impl Encoding for WithinBound {}

impl TransitionSystem for WithinBound {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial<S: Sink>(&self, (): &mut (), sink: &mut S) {
        self.graph.initial(&mut (), sink);
    }

    fn expand<S: Sink>(&self, state: &[u8], (): &mut (), sink: &mut S) {
        let from = u32::from_le_bytes(state.try_into().expect("four bytes"));
        for next in self.graph.successors(from) {
            match next.saturating_sub(from) > self.bound {
                true => sink.bounded(),
                false => sink.successor(&next.to_le_bytes()),
            }
        }
        if from % 1000 == 999 {
            sink.target(3, from);
        }
        if from.is_multiple_of(100) {
            sink.fact(&from.to_le_bytes());
        }
    }
}

fn options<'a>(cancel: &'a Cancel, progress: &'a Progress, threads: usize) -> Options<'a> {
    let threads = NonZeroUsize::new(threads).expect("at least one thread");
    Options { limits: Limits::default(), cancel, progress, threads, stop_at: None }
}

#[test]
fn a_resumed_search_visits_the_states_of_the_larger_bound() {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    for (states, seed, threads) in [(50, 1, 1), (3_000, 2, 1), (40_000, 3, 2), (40_000, 4, 2)] {
        let system = |bound| WithinBound { graph: Formula { states, edges: 3, seed }, bound };
        let options = || options(&cancel, &progress, threads);
        let mut found = explore(&system(1), options());
        let mut resumed = 0;
        for bound in [4, 30, states / 3, states] {
            if found.coverage != Coverage::Bounded {
                break;
            }
            resumed += 1;
            found = resume(&system(bound), found, options());
            let fresh = explore(&system(bound), options());
            assert_eq!((found.coverage, found.bounded), (fresh.coverage, fresh.bounded));
            assert_eq!((found.states, &found.facts), (fresh.states, &fresh.facts));
            assert_eq!(found.target(3).is_some(), fresh.target(3).is_some());
            let target = found.targets.first().map(|target| target.state);
            let path = target.map(|state| found.path(state)).unwrap_or_default();
            for pair in path.windows(2) {
                let [from, to] =
                    [pair[0], pair[1]].map(|s| u32::from_le_bytes(s.try_into().expect("four")));
                assert!(system(bound).graph.successors(from).contains(&to), "a path has steps");
            }
        }
        assert!(resumed > 1 && found.coverage == Coverage::Exhaustive);
    }
}

#[test]
fn a_resumed_search_respects_its_limits() {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let system =
        |bound| WithinBound { graph: Formula { states: 40_000, edges: 3, seed: 3 }, bound };
    let found = explore(&system(1), options(&cancel, &progress, 1));
    let limits = Limits { states: found.states + 10, ..Limits::default() };
    let found =
        resume(&system(40_000), found, Options { limits, ..options(&cancel, &progress, 1) });
    assert_eq!(found.coverage, Coverage::Cut(Stop::States));
}

#[test]
fn a_paused_search_goes_on_as_if_it_had_not_been_paused() {
    let (cancel, progress) = (Cancel::default(), Progress::default());
    let mut paused = 0;
    for (states, seed, threads) in [(50, 1, 1), (3_000, 2, 1), (40_000, 3, 2), (150_000, 4, 1)] {
        let system = WithinBound { graph: Formula { states, edges: 3, seed }, bound: states / 2 };
        let within = |states: u64| {
            let limits = Limits { states, ..Limits::default() };
            Options { limits, ..options(&cancel, &progress, threads) }
        };
        let fresh = explore(&system, within(u64::MAX));
        let mut limit = 1;
        let mut found = explore(&system, within(limit));
        while found.is_paused() {
            assert_eq!(found.coverage, Coverage::Cut(Stop::States));
            let again = explore(&system, within(limit));
            assert_eq!((found.states, found.transitions), (again.states, again.transitions));
            paused += 1;
            limit = limit * 3 + 1;
            found = resume(&system, found, within(limit));
        }
        assert_eq!((found.coverage, found.bounded), (fresh.coverage, fresh.bounded));
        assert_eq!((found.states, found.transitions), (fresh.states, fresh.transitions));
        assert_eq!((found.depth, &found.facts), (fresh.depth, &fresh.facts));
        assert_eq!((&found.targets, found.cut.len()), (&fresh.targets, fresh.cut.len()));
        for target in &found.targets {
            assert_eq!(found.path(target.state), fresh.path(target.state));
        }
    }
    assert!(paused > 20, "only {paused} pauses");
}
