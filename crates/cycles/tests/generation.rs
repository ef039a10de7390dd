//! What is generated: compared with counting by hand, with filtering all sequences, and with running the tests.

use std::collections::{BTreeMap, BTreeSet};

use fencepost_cycles::{Access, Cycle, Edge, default_edges, generate, is_critical};

fn edges(patterns: &str) -> Vec<Edge> {
    let all = patterns.split_whitespace().map(Edge::matching);
    all.collect::<Result<Vec<_>, _>>().expect("patterns name edges").concat()
}

fn names_of_length(length: usize, edges: &[Edge]) -> Vec<String> {
    let all = generate(length, edges);
    all.iter().filter(|c| c.edges().len() == length).map(Cycle::name).collect()
}

const CLASSIC: &str = "Rfe Fre Coe Pod**";

#[test]
fn classic_families() {
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

/// Between two edges of program order lies one of five ways to communicate: `Rfe`, `Fre`, `Coe`, or, with one edge
/// more, `Fre Rfe`, `Coe Rfe`. They decide the accesses. So a cycle is a necklace of at least two beads, each a kind of
/// program order with such a way: three times as many beads of weight two as there are kinds, and twice as many of
/// weight three.
fn necklaces(length: usize, kinds: usize) -> usize {
    let mut weights = vec![2; 3 * kinds];
    weights.extend(vec![3; 2 * kinds]);
    let mut total = 0;
    for beads in 2..=length / 2 {
        // Burnside: strings that a rotation leaves alone are made of `period` beads, repeated.
        let fixed = |turn: usize| {
            let period = gcd(turn, beads);
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

fn strings(beads: usize, weight: usize, weights: &[usize]) -> usize {
    if beads == 0 {
        return usize::from(weight == 0);
    }
    let fitting = weights.iter().filter(|w| **w <= weight);
    fitting.map(|w| strings(beads - 1, weight - w, weights)).sum()
}

#[test]
fn as_many_as_necklaces() {
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

/// Calls `visit` with every sequence of these edges of up to `length`.
fn sequences(length: usize, edges: &[Edge], visit: &mut impl FnMut(&[Edge])) {
    fn go(path: &mut Vec<Edge>, length: usize, edges: &[Edge], visit: &mut impl FnMut(&[Edge])) {
        visit(path);
        if path.len() < length {
            for edge in edges {
                path.push(*edge);
                go(path, length, edges, visit);
                path.pop();
            }
        }
    }
    go(&mut Vec::new(), length, edges, visit);
}

fn least_rotation(edges: &[Edge]) -> Vec<Edge> {
    let turned = (0..edges.len()).map(|at| [&edges[at..], &edges[..at]].concat());
    turned.min().expect("there are edges")
}

/// The classic definition, on accesses: a thread has at most two, to different locations; a location has two or
/// three, of different threads, and of three the last one does not conflict with the first by itself.
fn classic(edges: &[Edge]) -> bool {
    let Some(start) = edges.iter().rposition(|edge| edge.changes_location()) else { return false };
    let turned = [&edges[start + 1..], &edges[..=start]].concat();
    let mut threads: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut locations: BTreeMap<usize, Vec<(usize, Access)>> = BTreeMap::new();
    let (mut thread, mut location) = (0, 0);
    let count = edges.iter().filter(|edge| edge.is_external()).count().max(1);
    for (at, edge) in turned.iter().enumerate() {
        if edge.source() != turned[(at + turned.len() - 1) % turned.len()].target() {
            return false;
        }
        threads.entry(thread).or_default().push(location);
        locations.entry(location).or_default().push((thread, edge.source()));
        thread = (thread + usize::from(edge.is_external())) % count;
        location += usize::from(edge.changes_location());
    }
    let thread_fits = |at: &Vec<usize>| at.len() == 1 || (at.len() == 2 && at[0] != at[1]);
    let location_fits = |at: &Vec<(usize, Access)>| {
        let distinct: BTreeSet<usize> = at.iter().map(|(thread, _)| *thread).collect();
        distinct.len() == at.len() && (at.len() == 2 || (at.len() == 3 && at[2].1 == Access::Load))
    };
    location > 1 && threads.values().all(thread_fits) && locations.values().all(location_fits)
}

#[test]
fn the_classic_definition_gives_the_same() {
    for (edges, length) in
        [(edges(CLASSIC), 6), (edges("**e Pod** SFencedWW MFencedWR LFencedR*"), 5)]
    {
        let mut wanted = BTreeSet::new();
        sequences(length, &edges, &mut |path| {
            if classic(path) {
                wanted.insert(least_rotation(path));
            }
        });
        let found = generate(length, &edges);
        let rotations: BTreeSet<_> = found.iter().map(|c| least_rotation(c.edges())).collect();
        assert_eq!(rotations.len(), found.len());
        assert_eq!(rotations, wanted);
    }
}

#[test]
fn filtering_all_sequences_gives_the_same() {
    let some = edges("Rf* Fr* Co* Pod** Pos** Exch MFencedWR MFencesRR");
    for (edges, length) in [(Edge::all(), 4), (some, 5)] {
        let mut wanted = BTreeSet::new();
        sequences(length, &edges, &mut |path| {
            wanted.extend(Cycle::new(path).ok().filter(is_critical));
        });
        let found = generate(length, &edges);
        assert_eq!(found.len(), wanted.len());
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), wanted);
    }
}

#[test]
fn sorted_with_distinct_names() {
    for (edges, length) in [(Edge::all(), 5), (default_edges(), 7)] {
        let all = generate(length, &edges);
        assert!(all.is_sorted_by_key(|cycle| (cycle.edges().len(), cycle.name())));
        let names: BTreeSet<String> = all.iter().map(Cycle::name).collect();
        assert_eq!(names.len(), all.len());
        let rotations: BTreeSet<_> = all.iter().map(|c| least_rotation(c.edges())).collect();
        assert_eq!(rotations.len(), all.len());
    }
}

/// An instruction of a printed test: what it loads into, the location, what it stores.
#[derive(Clone, Debug)]
struct Instruction {
    register: Option<String>,
    location: String,
    value: Option<u32>,
}

/// The threads of a printed test and its condition, read back from the text.
fn read(text: &str) -> (Vec<Vec<Instruction>>, BTreeMap<String, u32>) {
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
                    let held = immediate.get(&register(source)).copied();
                    (Some(register(source)), inner(target), Some(held.expect("a value is held")))
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

/// Whether some interleaving ends as the condition says.
fn observable(
    threads: &[Vec<Instruction>],
    condition: &BTreeMap<String, u32>,
    values: &mut BTreeMap<String, u32>,
    at: &mut [usize],
) -> bool {
    let mut stuck = true;
    for thread in 0..threads.len() {
        let Some(next) = threads[thread].get(at[thread]) else { continue };
        stuck = false;
        let before = values.clone();
        let old = values.get(&next.location).copied().unwrap_or(0);
        values.extend(next.register.iter().map(|name| (name.clone(), old)));
        values.extend(next.value.map(|value| (next.location.clone(), value)));
        at[thread] += 1;
        let found = observable(threads, condition, values, at);
        at[thread] -= 1;
        *values = before;
        if found {
            return true;
        }
    }
    stuck && condition.iter().all(|(name, value)| values.get(name).copied().unwrap_or(0) == *value)
}

fn happens(threads: &[Vec<Instruction>], condition: &BTreeMap<String, u32>) -> bool {
    observable(threads, condition, &mut BTreeMap::new(), &mut vec![0; threads.len()])
}

/// A cycle does not happen in an interleaving. With nothing but the order of accesses to the same location it does:
/// then each thread falls apart into one for each location. Unless it is that very order which the cycle breaks: a
/// single thread leaves locations and comes back to the first (or never leaves it).
#[test]
fn conditions_mean_the_cycles() {
    let internal = edges("Rf* Fr* Co* Pod** PosWW PosRR PosWR PosRW Exch");
    for (edges, length) in [(default_edges(), 5), (edges(CLASSIC), 7), (internal, 5)] {
        for cycle in generate(length, &edges) {
            let (threads, condition) = read(&cycle.test());
            assert!(!happens(&threads, &condition), "{}", cycle.test());
            let mut apart: BTreeMap<(usize, String), Vec<Instruction>> = BTreeMap::new();
            for (thread, instructions) in threads.iter().enumerate() {
                for each in instructions {
                    let key = (thread, each.location.clone());
                    apart.entry(key).or_default().push(each.clone());
                }
            }
            let apart: Vec<_> = apart.into_values().collect();
            let moves = |thread: &&[Edge]| thread.iter().any(|edge| edge.changes_location());
            let moving = cycle.threads().filter(moves).count();
            assert_eq!(happens(&apart, &condition), moving > 1, "{}", cycle.test());
        }
    }
}
