//! Hitting sets: the cheapest set that has a member in common with every clause.
//!
//! Branch and bound, exact. A node picks the unhit clause with the fewest members left and tries each of
//! them; a member tried before is forbidden in the later branches, so no set is met twice. The lower bound
//! is that of disjoint clauses: each costs at least its cheapest member. Rejected: a SAT solver with a
//! cardinality encoding, which is slower on the few dozen clauses that inference meets.
//!
//! [`Clauses::minimal`] lists the sets from which nothing can be left out, whatever they cost
//! (Murakami and Uno's algorithm: a member stays only while some clause is hit by it alone).

use crate::set::Set;

/// More sets of one cost than this are not collected.
const MOST: usize = 10_000;

/// What members cost, in units of whoever asks.
pub type Cost = u64;

/// Clauses over the numbers `0..members`: "at least one of these". None is a superset of another.
#[derive(Clone, Debug, Default)]
pub struct Clauses {
    members: usize,
    clauses: Vec<Set>,
}

impl Clauses {
    /// No clauses over this many members.
    pub fn over(members: usize) -> Self {
        Clauses { members, clauses: Vec::new() }
    }

    /// The clauses, in the order they came.
    pub fn iter(&self) -> impl Iterator<Item = &Set> {
        self.clauses.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.clauses.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// Adds a clause. False when an earlier one says as much.
    pub fn add(&mut self, clause: Set) -> bool {
        if self.clauses.iter().any(|known| known.is_subset(&clause)) {
            return false;
        }
        self.clauses.retain(|known| !clause.is_subset(known));
        self.clauses.push(clause);
        true
    }

    /// Whether a set hits every clause.
    pub fn are_hit_by(&self, set: &Set) -> bool {
        self.clauses.iter().all(|clause| clause.meets(set))
    }

    /// A cheapest set that hits every clause, always the same. None when a clause is empty.
    pub fn cheapest(&self, costs: &[Cost]) -> Option<Set> {
        self.search(costs, 1).pop()
    }

    /// All cheapest sets that hit every clause, in order of their smallest members, but not more
    /// than `limit`, and never more than ten thousand. Empty when a clause is.
    pub fn all_cheapest(&self, costs: &[Cost], limit: usize) -> Vec<Set> {
        let mut found = self.search(costs, limit.min(MOST));
        found.sort_by(|a, b| a.iter().cmp(b.iter()));
        found
    }

    fn search(&self, costs: &[Cost], limit: usize) -> Vec<Set> {
        assert!(costs.iter().all(|cost| *cost > 0), "every member costs something");
        let mut search = Search {
            costs,
            limit,
            best: Cost::MAX,
            found: Vec::new(),
            chosen: Set::below(self.members),
            forbidden: Set::below(self.members),
        };
        let clauses: Vec<&Set> = self.clauses.iter().collect();
        search.branch(&clauses, 0);
        search.found
    }

    /// What a set costs.
    pub fn cost(set: &Set, costs: &[Cost]) -> Cost {
        set.iter().map(|member| costs[member]).sum()
    }

    /// The sets that hit every clause and from which nothing can be left out; not more than
    /// `limit`, and whether these are all. In no particular order, but always the same.
    pub fn minimal(&self, limit: usize) -> (Vec<Set>, bool) {
        let mut search =
            Minimal { members: self.members, clauses: &self.clauses, limit, found: Vec::new() };
        let candidates = Set::of(self.members, 0..self.members);
        let all = search.extend(&mut Vec::new(), &candidates);
        (search.found, all)
    }
}

struct Search<'a> {
    costs: &'a [Cost],
    /// How many sets of the same cost to find.
    limit: usize,
    best: Cost,
    found: Vec<Set>,
    chosen: Set,
    forbidden: Set,
}

impl Search<'_> {
    /// Goes through the sets that contain `chosen`, avoid `forbidden` and hit the `unhit` clauses.
    fn branch(&mut self, unhit: &[&Set], cost: Cost) {
        if self.is_beyond(cost) {
            return;
        }
        if unhit.is_empty() {
            if cost < self.best {
                self.best = cost;
                self.found.clear();
            }
            self.found.push(self.chosen.clone());
            return;
        }
        let Some(bound) = self.bound(unhit) else { return };
        if self.is_beyond(cost + bound) {
            return;
        }
        let left = |clause: &Set| {
            let mut left = clause.clone();
            left.subtract(&self.forbidden);
            left
        };
        let narrow = unhit.iter().map(|clause| left(clause)).min_by_key(Set::len);
        let narrow = narrow.expect("some clause is not hit");
        let mut members: Vec<usize> = narrow.iter().collect();
        members.sort_by_key(|member| (self.costs[*member], *member));
        for member in &members {
            self.chosen.insert(*member);
            let rest: Vec<&Set> = unhit.iter().copied().filter(|c| !c.contains(*member)).collect();
            self.branch(&rest, cost + self.costs[*member]);
            self.chosen.remove(*member);
            self.forbidden.insert(*member);
        }
        members.iter().for_each(|member| self.forbidden.remove(*member));
    }

    /// Whether sets of this cost are of no interest: dearer than the best, or enough are known.
    fn is_beyond(&self, cost: Cost) -> bool {
        cost > self.best || (cost == self.best && self.found.len() >= self.limit)
    }

    /// What hitting the clauses costs at least; none when it is impossible.
    fn bound(&self, unhit: &[&Set]) -> Option<Cost> {
        let mut used = self.forbidden.clone();
        let mut bound = 0;
        let mut by_size: Vec<&Set> = unhit.to_vec();
        by_size.sort_by_key(|clause| clause.len());
        for clause in by_size {
            let free = clause.iter().filter(|member| !self.forbidden.contains(*member));
            let cheapest = free.map(|member| self.costs[member]).min()?;
            let fresh = clause.iter().all(|m| !used.contains(m) || self.forbidden.contains(m));
            if fresh {
                bound += cheapest;
                used.union_with(clause);
            }
        }
        Some(bound)
    }
}

struct Minimal<'a> {
    members: usize,
    clauses: &'a [Set],
    limit: usize,
    found: Vec<Set>,
}

impl Minimal<'_> {
    /// Extends `chosen` by members of `candidates` in all ways that keep every chosen member needed.
    /// False when the limit was met.
    fn extend(&mut self, chosen: &mut Vec<usize>, candidates: &Set) -> bool {
        let hit = |clause: &Set| chosen.iter().any(|member| clause.contains(*member));
        let unhit: Vec<&Set> = self.clauses.iter().filter(|clause| !hit(clause)).collect();
        let left = |clause: &Set| clause.iter().filter(|m| candidates.contains(*m)).count();
        let Some(narrow) = unhit.iter().min_by_key(|clause| left(clause)) else {
            if self.found.len() == self.limit {
                return false;
            }
            self.found.push(Set::of(self.members, chosen.iter().copied()));
            return true;
        };
        let mut rest = candidates.clone();
        rest.subtract(narrow);
        let members: Vec<usize> = narrow.iter().filter(|m| candidates.contains(*m)).collect();
        for member in members {
            chosen.push(member);
            let all = !self.each_is_needed(chosen) || self.extend(chosen, &rest);
            chosen.pop();
            if !all {
                return false;
            }
            rest.insert(member);
        }
        true
    }

    /// Whether every chosen member is the only one to hit some clause.
    fn each_is_needed(&self, chosen: &[usize]) -> bool {
        chosen.iter().all(|member| {
            self.clauses.iter().any(|clause| {
                clause.contains(*member)
                    && chosen.iter().all(|other| other == member || !clause.contains(*other))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_testkit::{Random, compared, seeds};

    fn random(seed: u64) -> (Clauses, Vec<Cost>) {
        let mut draw = Random::new(seed);
        let members = 1 + draw.below(9);
        let mut clauses = Clauses::over(members);
        for _ in 0..draw.below(8) {
            let size = 1 + draw.below(4);
            clauses.add(Set::of(members, (0..size).map(|_| draw.below(members))));
        }
        let costs = (0..members).map(|_| 1 + draw.below(4) as Cost).collect();
        (clauses, costs)
    }

    fn hitting(clauses: &Clauses, members: usize) -> Vec<Set> {
        (0..1usize << members)
            .map(|bits| Set::of(members, (0..members).filter(|m| bits >> m & 1 == 1)))
            .filter(|set| clauses.are_hit_by(set))
            .collect()
    }

    #[test]
    fn random_clauses_have_the_cheapest_sets_of_brute_force() {
        let mut sets = 0;
        for seed in seeds(300) {
            sets += 1;
            let (clauses, costs) = random(seed);
            let all = hitting(&clauses, costs.len());
            let best = all.iter().map(|set| Clauses::cost(set, &costs)).min();
            let mut expected: Vec<Set> =
                all.into_iter().filter(|s| Some(Clauses::cost(s, &costs)) == best).collect();
            expected.sort_by(|a, b| a.iter().cmp(b.iter()));
            assert_eq!(clauses.all_cheapest(&costs, usize::MAX), expected, "seed {seed}");
            let one = clauses.cheapest(&costs);
            assert!(one.is_some_and(|one| expected.contains(&one)), "seed {seed}");
            assert_eq!(clauses.all_cheapest(&costs, 2).len(), expected.len().min(2), "seed {seed}");
        }
        compared("cheapest hitting sets: brute force", sets);
    }

    #[test]
    fn random_clauses_have_the_minimal_sets_of_brute_force() {
        let mut sets = 0;
        for seed in seeds(300) {
            sets += 1;
            let (clauses, costs) = random(seed);
            let all = hitting(&clauses, costs.len());
            let minimal = |set: &&Set| !all.iter().any(|o| o != *set && o.is_subset(set));
            let mut expected: Vec<Set> = all.iter().filter(minimal).cloned().collect();
            let (mut found, complete) = clauses.minimal(usize::MAX);
            assert!(complete);
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "seed {seed}");
        }
        compared("minimal hitting sets: brute force", sets);
    }

    #[test]
    fn an_empty_clause_cannot_be_hit() {
        let mut clauses = Clauses::over(3);
        clauses.add(Set::of(3, [1]));
        clauses.add(Set::below(3));
        assert_eq!(clauses.cheapest(&[1, 1, 1]), None);
        assert_eq!(clauses.minimal(9), (Vec::new(), true));
    }
}
