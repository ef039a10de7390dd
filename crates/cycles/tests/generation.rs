//! The generated cycles, compared with a count of necklaces, with a filter of all sequences, and
//! with the results of running the tests.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_cycles::{Access, Cycle, Edge, default_edges, generate, is_critical};

fn edges(patterns: &str) -> Vec<Edge> {
    let all = patterns.split_whitespace().map(Edge::matching);
    all.collect::<Result<Vec<_>, _>>().expect("each pattern matches an edge").concat()
}

fn names_of_length(length: usize, edges: &[Edge]) -> Vec<String> {
    let all = generate(length, edges);
    all.iter().filter(|c| c.edges().len() == length).map(Cycle::name).collect()
}

const CLASSIC: &str = "Rfe Fre Coe Pod**";

#[test]
fn short_classic_cycles_are_the_known_families() {
    let edges = edges(CLASSIC);
    assert!(generate(3, &edges).is_empty());
    assert_eq!(names_of_length(4, &edges), ["2+2W", "LB", "MP", "R", "S", "SB"]);
    let five = ["RWC", "WRC", "WRR+2W", "WRW+2W", "WRW+WR", "WWC"];
    assert_eq!(names_of_length(5, &edges), five);
    let six = [
        "3.2W", "3.LB", "3.SB", "IRIW", "IRRWIW", "IRWIW", "ISA2", "W+RWC", "Z6.0", "Z6.1", "Z6.2",
        "Z6.3", "Z6.4", "Z6.5",
    ];
    assert_eq!(names_of_length(6, &edges), six);
}

/// Returns the number of critical cycles of a length, for a number of kinds of program order.
///
/// Between two edges of program order there is one of five communications: `Rfe`, `Fre`, `Coe`,
/// or, with two edges, `Fre Rfe`, `Coe Rfe`. They determine the accesses. So a cycle is a
/// necklace of at least two beads. A bead is a kind of program order with a communication. The
/// weight of a bead is its number of edges. There are `3 * kinds` beads of weight two and `2 *
/// kinds` beads of weight three.
fn necklaces(length: usize, kinds: usize) -> usize {
    let mut weights = vec![2; 3 * kinds];
    weights.extend(vec![3; 2 * kinds]);
    let mut total = 0;
    for beads in 2..=length / 2 {
        // Burnside's lemma: the strings that a rotation does not change repeat `period` beads.
        let fixed = |rotation: usize| {
            let period = gcd(rotation, beads);
            let repeats = beads / period;
            if length.is_multiple_of(repeats) {
                strings(period, length / repeats, &weights)
            } else {
                0
            }
        };
        total += (0..beads).map(fixed).sum::<usize>() / beads;
    }
    total
}

fn gcd(a: usize, b: usize) -> usize {
    if a == 0 { b } else { gcd(b % a, a) }
}

/// Returns the number of strings of `beads` beads with a total weight.
fn strings(beads: usize, weight: usize, weights: &[usize]) -> usize {
    if beads == 0 {
        return usize::from(weight == 0);
    }
    let possible = weights.iter().filter(|w| **w <= weight);
    possible.map(|w| strings(beads - 1, weight - w, weights)).sum()
}

#[test]
fn the_number_of_cycles_is_the_number_of_necklaces() {
    for (edges, kinds, longest) in
        [(edges(CLASSIC), 1, 9), (edges("**e Pod** MFenced**"), 2, 8), (default_edges(), 4, 6)]
    {
        let all = generate(longest, &edges);
        for length in 2..=longest {
            let found = all.iter().filter(|cycle| cycle.edges().len() == length).count();
            assert_eq!(found, necklaces(length, kinds), "{kinds} kinds, length {length}");
        }
    }
    assert_eq!(generate(6, &default_edges()).len(), 794);
}

/// Calls `visit` with every sequence of at most `length` of these edges.
fn sequences(length: usize, edges: &[Edge], visit: &mut impl FnMut(&[Edge])) {
    fn extend(
        path: &mut Vec<Edge>,
        length: usize,
        edges: &[Edge],
        visit: &mut impl FnMut(&[Edge]),
    ) {
        visit(path);
        if path.len() < length {
            for edge in edges {
                path.push(*edge);
                extend(path, length, edges, visit);
                path.pop();
            }
        }
    }
    extend(&mut Vec::new(), length, edges, visit);
}

fn least_rotation(edges: &[Edge]) -> Vec<Edge> {
    let rotations = (0..edges.len()).map(|at| [&edges[at..], &edges[..at]].concat());
    rotations.min().expect("the cycle has edges")
}

/// Returns whether a cycle is critical by the classic definition, in terms of accesses: a thread
/// has at most two accesses, to different locations. A location has two or three accesses, of
/// different threads. The last of three is a load, so that no single communication leads from the
/// first to the last.
fn is_classic(edges: &[Edge]) -> bool {
    let Some(start) = edges.iter().rposition(|edge| edge.changes_location()) else { return false };
    let rotated = [&edges[start + 1..], &edges[..=start]].concat();
    let mut threads: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut locations: BTreeMap<usize, Vec<(usize, Access)>> = BTreeMap::new();
    let (mut thread, mut location) = (0, 0);
    let count = edges.iter().filter(|edge| edge.is_external()).count().max(1);
    for (at, edge) in rotated.iter().enumerate() {
        if edge.source() != rotated[(at + rotated.len() - 1) % rotated.len()].target() {
            return false;
        }
        threads.entry(thread).or_default().push(location);
        locations.entry(location).or_default().push((thread, edge.source()));
        thread = (thread + usize::from(edge.is_external())) % count;
        location += usize::from(edge.changes_location());
    }
    let is_valid_thread = |at: &Vec<usize>| at.len() == 1 || (at.len() == 2 && at[0] != at[1]);
    let is_valid_location = |at: &Vec<(usize, Access)>| {
        let distinct: BTreeSet<usize> = at.iter().map(|(thread, _)| *thread).collect();
        distinct.len() == at.len() && (at.len() == 2 || (at.len() == 3 && at[2].1 == Access::Load))
    };
    location > 1
        && threads.values().all(is_valid_thread)
        && locations.values().all(is_valid_location)
}

#[test]
fn generated_cycles_match_the_classic_definition() {
    for (edges, length) in
        [(edges(CLASSIC), 6), (edges("**e Pod** SFencedWW MFencedWR LFencedR*"), 5)]
    {
        let mut expected = BTreeSet::new();
        sequences(length, &edges, &mut |path| {
            if is_classic(path) {
                expected.insert(least_rotation(path));
            }
        });
        let found = generate(length, &edges);
        let rotations: BTreeSet<_> = found.iter().map(|c| least_rotation(c.edges())).collect();
        assert_eq!(rotations.len(), found.len());
        assert_eq!(rotations, expected);
    }
}

#[test]
fn generated_cycles_are_all_critical_sequences() {
    let some = edges("Rf* Fr* Co* Pod** Pos** Exch MFencedWR MFencesRR");
    for (edges, length) in [(Edge::all(), 4), (some, 5)] {
        let mut expected = BTreeSet::new();
        sequences(length, &edges, &mut |path| {
            expected.extend(Cycle::new(path).ok().filter(is_critical));
        });
        let found = generate(length, &edges);
        assert_eq!(found.len(), expected.len());
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }
}

#[test]
fn generated_cycles_are_sorted_and_have_distinct_names() {
    for (edges, length) in [(Edge::all(), 5), (default_edges(), 7)] {
        let all = generate(length, &edges);
        assert!(all.is_sorted_by_key(|cycle| (cycle.edges().len(), cycle.name())));
        let names: BTreeSet<String> = all.iter().map(Cycle::name).collect();
        assert_eq!(names.len(), all.len());
        let rotations: BTreeSet<_> = all.iter().map(|c| least_rotation(c.edges())).collect();
        assert_eq!(rotations.len(), all.len());
    }
}

/// An instruction of a printed test: the register that it loads into, the location, and the value
/// that it stores.
#[derive(Clone, Debug)]
struct Instruction {
    register: Option<String>,
    location: String,
    value: Option<u32>,
}

/// Parses the threads and the condition of a printed test.
fn parse_test(text: &str) -> (Vec<Vec<Instruction>>, BTreeMap<String, u32>) {
    let program = text.split("{\n}\n").nth(1).expect("a program");
    let (program, rest) = program.split_once("locations").expect("locations");
    let mut threads: Vec<Vec<Instruction>> = Vec::new();
    let mut immediate: BTreeMap<String, u32> = BTreeMap::new();
    for (row, line) in program.lines().enumerate() {
        for (thread, cell) in line.trim_end_matches(';').split('|').enumerate() {
            if row == 0 {
                threads.push(Vec::new());
                continue;
            }
            let Some((_, operands)) = cell.trim().split_once(' ') else { continue };
            let (target, source) = operands.split_once(',').expect("two operands");
            let inner = |word: &str| word.trim_matches(['[', ']']).to_string();
            let register = |name: &str| format!("{thread}:{name}");
            let number = source.strip_prefix('$').map(|n| n.parse().expect("a number"));
            let instruction = match (target.starts_with('['), number) {
                (true, Some(value)) => (None, inner(target), Some(value)),
                (true, None) => {
                    let value = immediate.get(&register(source)).copied();
                    (
                        Some(register(source)),
                        inner(target),
                        Some(value.expect("the register has an immediate value")),
                    )
                }
                (false, Some(value)) => {
                    immediate.insert(register(target), value);
                    continue;
                }
                (false, None) => (Some(register(target)), inner(source), None),
            };
            let (register, location, value) = instruction;
            threads[thread].push(Instruction { register, location, value });
        }
    }
    let condition =
        rest.split("exists (").nth(1).expect("a condition").trim().trim_end_matches(')');
    let atom = |atom: &str| {
        let (name, value) = atom.split_once('=').expect("an equation");
        (name.trim_matches(['[', ']']).to_string(), value.parse().expect("a number"))
    };
    (threads, condition.split(" /\\ ").map(atom).collect())
}

/// Returns whether some interleaving from this state satisfies the condition at its end.
fn is_reachable_from(
    threads: &[Vec<Instruction>],
    condition: &BTreeMap<String, u32>,
    values: &mut BTreeMap<String, u32>,
    at: &mut [usize],
) -> bool {
    let mut terminated = true;
    for thread in 0..threads.len() {
        let Some(next) = threads[thread].get(at[thread]) else { continue };
        terminated = false;
        let before = values.clone();
        let old = values.get(&next.location).copied().unwrap_or(0);
        values.extend(next.register.iter().map(|name| (name.clone(), old)));
        values.extend(next.value.map(|value| (next.location.clone(), value)));
        at[thread] += 1;
        let found = is_reachable_from(threads, condition, values, at);
        at[thread] -= 1;
        *values = before;
        if found {
            return true;
        }
    }
    terminated
        && condition.iter().all(|(name, value)| values.get(name).copied().unwrap_or(0) == *value)
}

/// Returns whether some interleaving satisfies the condition.
fn is_reachable(threads: &[Vec<Instruction>], condition: &BTreeMap<String, u32>) -> bool {
    is_reachable_from(threads, condition, &mut BTreeMap::new(), &mut vec![0; threads.len()])
}

/// The condition of a cycle is not reachable in an interleaving. It is reachable if only the
/// order of accesses to the same location is preserved: then each thread is split into one thread
/// for each location. The exception is a cycle that violates this order itself: at most one
/// thread changes the location.
#[test]
fn conditions_hold_exactly_if_the_cycle_occurs() {
    let internal = edges("Rf* Fr* Co* Pod** PosWW PosRR PosWR PosRW Exch");
    for (edges, length) in [(default_edges(), 5), (edges(CLASSIC), 7), (internal, 5)] {
        for cycle in generate(length, &edges) {
            let (threads, condition) = parse_test(&cycle.litmus_text());
            assert!(!is_reachable(&threads, &condition), "{}", cycle.litmus_text());
            let mut split: BTreeMap<(usize, String), Vec<Instruction>> = BTreeMap::new();
            for (thread, instructions) in threads.iter().enumerate() {
                for instruction in instructions {
                    let key = (thread, instruction.location.clone());
                    split.entry(key).or_default().push(instruction.clone());
                }
            }
            let split: Vec<_> = split.into_values().collect();
            let changes_location =
                |thread: &&[Edge]| thread.iter().any(|edge| edge.changes_location());
            let changing = cycle.threads().filter(changes_location).count();
            assert_eq!(is_reachable(&split, &condition), changing > 1, "{}", cycle.litmus_text());
        }
    }
}
