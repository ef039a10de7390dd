//! Comparison of the search of ordered systems with a naive search that keeps states in a list.

use crate::antichain::Antichain;
use crate::visited::{Arena, StateId, Visited};
use crate::*;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::Mutex;

/// The covering relation of the toy system. Only states with the same place are related.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Order {
    /// `a` covers `b` if their heads are equal and the set of `a` is a superset.
    Subset,
    /// Any two states with the same head have a join: the union of their sets.
    Union,
    /// As `Union`, but every relation is reported as a join, even if the join equals one of the
    /// states.
    Joins,
    /// As `Union`, but only states with overlapping sets have a join.
    Overlap,
    /// As `Union`; a state with head 0 also covers states with any head and a subset.
    Both,
}

const ORDERS: [Order; 5] = [Order::Subset, Order::Union, Order::Joins, Order::Overlap, Order::Both];

/// A state: a place (the key), a head and a set.
type State = (u32, u8, u32);

/// A system whose steps are given by a formula. Steps are monotone: a larger set enables more
/// steps, to larger sets.
struct Toy {
    places: u32,
    edges: u32,
    order: Order,
    initial: Vec<State>,
    /// How often each state was expanded.
    expanded: Mutex<BTreeMap<State, usize>>,
    /// Whether steps to farther states become facts.
    records_farther: bool,
}

fn write((place, head, set): State) -> Vec<u8> {
    [&place.to_le_bytes()[..], &[head], &set.to_le_bytes()].concat()
}

fn read(state: &[u8]) -> State {
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().expect("four bytes"));
    (number(&state[..4]), state[4], number(&state[5..]))
}

impl Toy {
    fn new(places: u32, edges: u32, order: Order) -> Self {
        let initial = vec![(0, 1, 1), (0, 2, 0x10), (0, 1, 3)];
        Toy { places, edges, order, initial, expanded: Mutex::default(), records_farther: false }
    }

    fn successors(&self, (place, head, set): State) -> Vec<State> {
        let mut next = Vec::new();
        for k in 0..self.edges {
            let mixed = u64::from(place * 31 + k + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed >> 32 ^ mixed >> 15) as u32;
            let needed = if k > 0 && mixed.is_multiple_of(3) { 1 << (mixed >> 8 & 7) } else { 0 };
            if set & needed != needed {
                continue;
            }
            let place = (place + 1 + mixed % (2 + place / 2 + k)) % self.places;
            let kept = set & !(1 << (mixed >> 13 & 7));
            let added = if mixed % 5 < 2 { 1 << (mixed >> 16 & 7) } else { 0 };
            next.push((place, if head == 0 { 0 } else { (mixed >> 20) as u8 & 3 }, kept | added));
        }
        next
    }

    fn covers(&self, (place, head, set): State, (p, h, s): State) -> bool {
        let free = self.order == Order::Both && head == 0;
        place == p && (head == h || free) && set & s == s
    }

    fn is_covered(&self, members: &[State], state: State) -> bool {
        members.iter().any(|m| self.covers(*m, state))
    }

    /// Returns all reachable states.
    fn reachable(&self) -> BTreeSet<State> {
        let mut seen: BTreeSet<State> = self.initial.iter().copied().collect();
        let mut todo: Vec<State> = seen.iter().copied().collect();
        while let Some(state) = todo.pop() {
            todo.extend(self.successors(state).into_iter().filter(|next| seen.insert(*next)));
        }
        seen
    }

    /// Computes the least set of unions that is closed under steps, by a worklist.
    fn unions(&self) -> BTreeSet<State> {
        let mut sets: BTreeMap<(u32, u8), u32> = BTreeMap::new();
        let mut todo = self.initial.clone();
        while let Some((place, head, set)) = todo.pop() {
            let known = sets.get(&(place, head)).copied();
            let union = known.unwrap_or(0) | set;
            if known != Some(union) {
                sets.insert((place, head), union);
                todo.extend(self.successors((place, head, union)));
            }
        }
        sets.into_iter().map(|((place, head), set)| (place, head, set)).collect()
    }

    fn search(&self, threads: usize, limits: Limits) -> Exploration<Antichain> {
        self.expanded.lock().expect("no thread panicked").clear();
        explore_ordered(
            self,
            Options {
                limits,
                cancel: &Cancel::default(),
                progress: &Progress::default(),
                threads: NonZeroUsize::new(threads).expect("at least one thread"),
                stop_at: None,
            },
        )
    }

    fn expanded(&self) -> BTreeMap<State, usize> {
        self.expanded.lock().expect("no thread panicked").clone()
    }
}

impl Encoding for Toy {}

impl TransitionSystem for Toy {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial<S: Sink>(&self, (): &mut (), sink: &mut S) {
        for state in &self.initial {
            sink.successor(&write(*state));
        }
    }

    fn expand<S: Sink>(&self, state: &[u8], (): &mut (), sink: &mut S) {
        let state = read(state);
        *self.expanded.lock().expect("no thread panicked").entry(state).or_default() += 1;
        for next in self.successors(state) {
            if self.records_farther && sink.is_farther(&write(next)) {
                sink.fact(&[write(state), write(next)].concat());
            }
            sink.successor(&write(next));
        }
        if state.0 > self.places / 2 {
            sink.target(3, state.0);
        }
    }
}

impl Ordered for Toy {
    type Work = ();

    fn work(&self) {}

    fn key(&self, state: &[u8], (): &mut (), key: &mut Vec<u8>) {
        assert!(key.is_empty());
        key.extend_from_slice(&state[..4]);
    }

    fn relate(&self, kept: &[u8], new: &[u8], (): &mut (), joined: &mut Vec<u8>) -> Relation {
        assert!(joined.is_empty() && kept != new && kept[..4] == new[..4]);
        let (kept, new) = (read(kept), read(new));
        if self.order != Order::Joins && self.covers(kept, new) {
            return Relation::Covered;
        }
        if self.order != Order::Joins && self.covers(new, kept) {
            return Relation::Covers;
        }
        let joins = match self.order {
            Order::Subset => false,
            Order::Union | Order::Joins | Order::Both => kept.1 == new.1,
            Order::Overlap => kept.1 == new.1 && kept.2 & new.2 != 0,
        };
        if !joins {
            return Relation::Unrelated;
        }
        joined.extend_from_slice(&write((new.0, new.1, kept.2 | new.2)));
        Relation::Joined
    }
}

fn members(found: &Exploration<Antichain>) -> Vec<State> {
    found.members().map(read).collect()
}

const SYSTEMS: [(u32, u32); 4] = [(1, 1), (40, 3), (600, 3), (1_500, 3)];

#[test]
fn members_are_an_antichain_closed_under_steps() {
    for order in ORDERS {
        for (places, edges) in SYSTEMS {
            let toy = Toy::new(places, edges, order);
            let found = toy.search(2, Limits::default());
            assert_eq!(found.coverage, Coverage::Exhaustive);
            let all = members(&found);
            assert_eq!(found.states, all.len() as u64);
            assert!(places == 1 || (found.states > 30 && found.stored > 2 * found.states));
            let mut at: BTreeMap<u32, Vec<State>> = BTreeMap::new();
            for state in &all {
                at.entry(state.0).or_default().push(*state);
            }
            for (m, state) in toy.initial.iter().map(|s| (None, *s)).chain(
                all.iter().flat_map(|m| toy.successors(*m).into_iter().map(move |s| (Some(m), s))),
            ) {
                let here = at.get(&state.0).expect("the place is reached");
                assert!(toy.is_covered(here, state), "{order:?}: {state:?}, after {m:?}");
            }
            for here in at.values() {
                for (i, a) in here.iter().enumerate() {
                    let others = here.iter().enumerate().filter(|(j, _)| i != *j);
                    assert!(others.into_iter().all(|(_, b)| !toy.covers(*a, *b)), "{a:?}");
                }
            }
            let all: BTreeSet<State> = all.into_iter().collect();
            match order {
                Order::Subset => {
                    let reachable = toy.reachable();
                    let maximal = reachable.iter().filter(|state| {
                        let here = reachable.range((state.0, 0, 0)..(state.0 + 1, 0, 0));
                        here.filter(|s| toy.covers(**s, **state)).count() == 1
                    });
                    assert_eq!(all, maximal.copied().collect());
                }
                Order::Union | Order::Joins => assert_eq!(all, toy.unions()),
                Order::Overlap | Order::Both => {} // the members depend on the insertion order
            }
        }
    }
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    for order in ORDERS {
        let toy = Toy::new(3_000, 3, order);
        for limits in [Limits::default(), Limits { states: 4_000, ..Limits::default() }] {
            let one = toy.search(1, limits);
            assert!(one.stored > one.states, "some states were replaced");
            let expanded = toy.expanded();
            for threads in [2, 3] {
                let many = toy.search(threads, limits);
                assert_eq!(
                    (one.coverage, one.states, one.stored, one.transitions, one.depth),
                    (many.coverage, many.states, many.stored, many.transitions, many.depth)
                );
                assert_eq!((&one.targets, &one.facts), (&many.targets, &many.facts));
                assert!(one.members().eq(many.members()));
                assert_eq!(expanded, toy.expanded());
                for target in &one.targets {
                    assert_eq!(one.path(target.state), many.path(target.state));
                }
            }
        }
    }
}

#[test]
fn replaced_states_are_not_expanded() {
    // The third initial state replaces the first two before any state is expanded.
    let mut toy = Toy::new(1, 0, Order::Both);
    toy.initial = vec![(0, 1, 1), (0, 2, 4), (0, 0, 7)];
    let found = toy.search(1, Limits::default());
    assert_eq!((found.states, found.stored), (1, 3));
    assert_eq!(toy.expanded(), BTreeMap::from([((0, 0, 7), 1)]));
    // Many initial states need more than one round. Successors from the first round replace states
    // of the second round.
    let mut toy = Toy::new(50_000, 1, Order::Subset);
    toy.initial = (0..toy.places).map(|place| (place, 1, 0xf00)).collect();
    let found = toy.search(2, Limits::default());
    let expanded = toy.expanded();
    assert!(members(&found).iter().all(|member| expanded[member] == 1));
    assert!(expanded.values().all(|times| *times == 1));
    assert!(toy.initial.iter().any(|state| !expanded.contains_key(state)));
    assert!(found.stored > expanded.len() as u64);
}

#[test]
fn limits_apply_to_stored_states() {
    let toy = Toy::new(5_000, 3, Order::Union);
    let whole = toy.search(1, Limits::default());
    let limits = Limits { states: whole.states + 1, ..Limits::default() };
    let cut = toy.search(1, limits);
    assert_eq!(cut.coverage, Coverage::Cut(Stop::States));
    assert!(cut.stored >= limits.states && cut.stored < whole.stored);
    let limits = Limits { bytes: whole.bytes / 2, ..Limits::default() };
    assert_eq!(toy.search(1, limits).coverage, Coverage::Cut(Stop::Memory));
}

#[test]
fn each_state_on_a_path_covers_a_successor_of_the_previous_one() {
    for order in ORDERS {
        let toy = Toy::new(600, 3, order);
        let found = toy.search(1, Limits::default());
        let mut longest = 0;
        for (shard, kept) in found.shards.iter().enumerate() {
            let arena: &Arena = kept.as_ref();
            for index in 0..arena.len() {
                let path = found.path(StateId::new(shard, index));
                let path: Vec<State> = path.into_iter().map(read).collect();
                longest = longest.max(path.len());
                assert_eq!(path.last(), Some(&read(arena.state(index))));
                assert!(toy.initial.iter().any(|s| toy.covers(path[0], *s)));
                for pair in path.windows(2) {
                    let next = toy.successors(pair[0]);
                    assert!(next.iter().any(|s| toy.covers(pair[1], *s)), "{pair:?}");
                }
            }
        }
        assert_eq!(longest as u32, found.depth + 1);
    }
}

/// Returns the recorded steps to farther states.
fn farther(found: &Exploration<Antichain>) -> BTreeSet<(State, State)> {
    let steps = found.facts.iter().map(|fact| fact.split_at(fact.len() / 2));
    steps.map(|(from, to)| (read(from), read(to))).collect()
}

#[test]
fn a_state_covered_at_the_next_depth_is_farther() {
    // There are more initial states than in one round: successors from the first round are stored
    // when the second round runs.
    let mut toy = Toy { records_farther: true, ..Toy::new(50_000, 1, Order::Subset) };
    toy.initial = (0..toy.places).map(|place| (place, 1, 0xf00)).collect();
    let farther = farther(&toy.search(2, Limits { depth: 1, ..Limits::default() }));
    let expanded = toy.expanded();
    assert!(expanded.len() > 40_000);
    for state in expanded.into_keys() {
        for next in toy.successors(state) {
            if !toy.covers((next.0, 1, 0xf00), next) {
                assert!(farther.contains(&(state, next)), "{state:?} {next:?}");
            }
        }
    }
}

#[test]
fn a_state_covered_at_this_depth_or_before_is_not_farther() {
    // With these two orders, the members at the end of a level do not depend on the insertion
    // order.
    for order in [Order::Subset, Order::Union] {
        for places in 2..10 {
            let toy = Toy { records_farther: true, ..Toy::new(places, 2, order) };
            let found = toy.search(1, Limits::default());
            let farther = farther(&found);
            // A naive search computes the members before each level. Each level has one round.
            let (mut kept, mut expected) = (Vec::new(), BTreeSet::new());
            let mut level = Vec::new();
            for state in &toy.initial {
                add(&toy, &mut kept, &mut level, *state);
            }
            while !level.is_empty() {
                let (before, now) = (kept.clone(), std::mem::take(&mut level));
                for state in now.iter().filter(|state| before.contains(state)) {
                    for next in toy.successors(*state) {
                        if !toy.is_covered(&before, next) {
                            expected.insert((*state, next));
                        }
                        add(&toy, &mut kept, &mut level, next);
                    }
                }
            }
            assert!(!expected.is_empty());
            assert_eq!(farther, expected, "{order:?}, {places} places");
        }
    }
}

/// Adds a state to a list of members, directly by the definition.
fn add(toy: &Toy, kept: &mut Vec<State>, level: &mut Vec<State>, mut state: State) {
    loop {
        if toy.is_covered(kept, state) {
            return;
        }
        kept.retain(|member| !toy.covers(state, *member));
        let joins = |m: &State| toy.order != Order::Subset && (m.0, m.1) == (state.0, state.1);
        let Some(at) = kept.iter().position(joins) else { break };
        state.2 |= kept.remove(at).2;
    }
    kept.push(state);
    level.push(state);
}

impl Labelled for Toy {
    type Scratch = ();

    fn scratch(&self) {}

    fn initial(&self, (): &mut (), steps: &mut Steps<'_>) {
        for state in &self.initial {
            steps.to(&write(*state), &[]);
        }
    }

    fn steps(&self, state: &[u8], (): &mut (), steps: &mut Steps<'_>) {
        for next in self.successors(read(state)) {
            steps.to(&write(next), &[next.0]);
        }
    }
}

#[test]
fn steps_lead_to_the_first_covering_member() {
    for order in ORDERS {
        let toy = Toy::new(600, 3, order);
        let found = toy.search(1, Limits::default());
        let all = members(&found);
        let node = |state: State| all.iter().position(|m| toy.covers(*m, state)).map(|n| n as u32);
        let cancel = Cancel::default();
        for threads in 1..=3 {
            let threads = NonZeroUsize::new(threads).expect("at least one thread");
            let graph = graph_ordered(&found, &toy, threads, &cancel).expect("not cancelled");
            assert_eq!(graph.nodes(), all.len() + 1);
            let initial: BTreeSet<u32> = toy.initial.iter().filter_map(|s| node(*s)).collect();
            assert_eq!(graph.initial(), initial.into_iter().collect::<Vec<_>>());
            for (at, member) in all.iter().enumerate() {
                let to = graph.steps(at as u32).map(|(to, label)| {
                    let label = graph.labels()[label as usize].to_vec();
                    (Some(to), label)
                });
                let expected = toy.successors(*member).into_iter().map(|s| (node(s), vec![s.0]));
                assert!(to.eq(expected), "{member:?}");
            }
        }
    }
}

/// Inserts states into one antichain, all with the same hash. Returns the antichain and its
/// members.
fn insert_all(toy: &Toy, states: &[State]) -> (Antichain, Vec<State>) {
    let mut kept: Antichain = Visited::<Toy>::new();
    let mut work = <Antichain as Visited<Toy>>::work(toy);
    for (n, state) in states.iter().enumerate() {
        kept.insert(toy, 7, &write(*state), StateId(n as u32), &mut work);
    }
    let members = kept.member_states().map(read).collect();
    (kept, members)
}

#[test]
fn insertion_follows_its_definition() {
    let toy = |order| Toy::new(10, 0, order);
    let cases: [(Order, &[State], &[State]); 11] = [
        (Order::Subset, &[(1, 1, 3), (1, 1, 1)], &[(1, 1, 3)]),
        (Order::Subset, &[(1, 1, 1), (1, 1, 2), (1, 1, 4), (1, 1, 5)], &[(1, 1, 2), (1, 1, 5)]),
        // Equal hashes, different keys.
        (Order::Subset, &[(1, 1, 3), (2, 1, 1), (2, 1, 3)], &[(1, 1, 3), (2, 1, 3)]),
        (Order::Union, &[(1, 1, 1), (1, 2, 1), (1, 1, 6)], &[(1, 2, 1), (1, 1, 7)]),
        (Order::Joins, &[(1, 1, 3), (1, 1, 1)], &[(1, 1, 3)]),
        (Order::Joins, &[(1, 1, 1), (1, 2, 1), (1, 1, 3)], &[(1, 2, 1), (1, 1, 3)]),
        // The last state has a join with both others, which have no join with each other.
        (Order::Overlap, &[(1, 1, 3), (1, 1, 12), (1, 1, 6)], &[(1, 1, 15)]),
        (Order::Overlap, &[(1, 1, 3), (1, 2, 7), (1, 1, 12)], &[(1, 1, 3), (1, 2, 7), (1, 1, 12)]),
        // A join covers a member that was inserted before the joined states.
        (Order::Both, &[(1, 2, 6), (1, 0, 1), (1, 0, 2), (1, 0, 4)], &[(1, 0, 7)]),
        // The last state has a join with the first member, but the second member covers it.
        (Order::Both, &[(1, 1, 8), (1, 0, 3), (1, 1, 3)], &[(1, 1, 8), (1, 0, 3)]),
        // The last state covers the join of the first and third, and has a join with the second.
        (Order::Both, &[(1, 1, 1), (1, 0, 6), (1, 1, 8), (1, 0, 9)], &[(1, 0, 15)]),
    ];
    for (order, states, expected) in cases {
        assert_eq!(insert_all(&toy(order), states).1, expected, "{order:?} {states:?}");
    }
}

#[test]
fn removed_states_stay_in_the_arena() {
    let (kept, _) = insert_all(&Toy::new(10, 0, Order::Joins), &[(1, 1, 3), (1, 1, 1)]);
    assert_eq!(kept.as_ref().len(), 1, "a join that equals the stored state adds no state");
    let toy = Toy::new(10, 0, Order::Both);
    let (kept, members) = insert_all(&toy, &[(1, 1, 1), (1, 1, 2), (1, 1, 4)]);
    assert_eq!(members, [(1, 1, 7)]);
    let arena: &Arena = kept.as_ref();
    let stored: Vec<State> = (0..arena.len()).map(|index| read(arena.state(index))).collect();
    assert_eq!(stored, [(1, 1, 1), (1, 1, 3), (1, 1, 7)]);
    assert_eq!(arena.parent(2), StateId(2), "a join has the parent of the inserted state");
    let member = |index| Visited::<Toy>::is_member(&kept, index);
    assert_eq!([member(0), member(1), member(2)], [false, false, true]);
    let mut work = <Antichain as Visited<Toy>>::work(&toy);
    let mut find = |state, end| kept.covering_member(&toy, 7, &write(state), end, &mut work);
    assert_eq!(find((1, 1, 5), usize::MAX), Some(2));
    assert_eq!(find((1, 1, 5), 2), None, "only members with an index below `end`");
    assert_eq!(find((1, 1, 7), 3), Some(2));
    assert_eq!(find((1, 1, 7), 2), None);
    assert_eq!(find((1, 1, 8), usize::MAX), None, "a state with a join is not covered");
    assert_eq!(find((2, 1, 1), usize::MAX), None, "another key");
}
