//! Hitting sets: computes the cheapest set that intersects every clause.
//!
//! Exact branch and bound. A node branches on the members of the unhit clause with the fewest
//! allowed members. Later branches forbid the members of earlier ones, so the search visits no set
//! twice. The lower bound sums the cheapest members of disjoint unhit clauses. Rejected: a SAT
//! solver with a cardinality encoding, which is slower on the few dozen clauses of a typical
//! inference. Both searches take exponential time in the worst case, so they poll a cancellation
//! flag.
//!
//! [`Clauses::minimal`] lists the inclusion-minimal hitting sets (Murakami and Uno's algorithm:
//! every chosen member must be the only one that hits some clause).

use crate::set::Set;
use fencepost_search::{Cancel, Stop};

/// The maximum number of sets of equal cost that a search collects.
const MAX_SETS: usize = 10_000;

/// The cost of a member or a set, in units of the caller.
pub type Cost = u64;

/// Clauses over the numbers `0..members`. A set hits a clause if it contains at least one of its
/// members. No clause is a superset of another.
#[derive(Clone, Debug, Default)]
pub struct Clauses {
    members: usize,
    clauses: Vec<Set>,
}

impl Clauses {
    /// Returns an empty list of clauses over `members` numbers.
    pub fn new(members: usize) -> Self {
        Clauses { members, clauses: Vec::new() }
    }

    /// Iterates over the clauses in insertion order.
    pub fn iter(&self) -> impl Iterator<Item = &Set> {
        self.clauses.iter()
    }

    /// Returns the number of clauses.
    pub fn len(&self) -> usize {
        self.clauses.len()
    }

    /// Returns whether there is no clause.
    pub fn is_empty(&self) -> bool {
        self.clauses.is_empty()
    }

    /// Adds a clause and removes its supersets. Returns false if an earlier clause implies the new
    /// one.
    pub fn add(&mut self, clause: Set) -> bool {
        if self.clauses.iter().any(|known| known.is_subset(&clause)) {
            return false;
        }
        self.clauses.retain(|known| !clause.is_subset(known));
        self.clauses.push(clause);
        true
    }

    /// Returns whether a set hits every clause.
    pub fn are_hit_by(&self, set: &Set) -> bool {
        self.clauses.iter().all(|clause| clause.intersects(set))
    }

    /// Returns a cheapest hitting set, deterministically. None if a clause is empty. Returns an
    /// error if the search was cancelled.
    pub fn cheapest(&self, costs: &[Cost], cancel: &Cancel) -> Result<Option<Set>, Stop> {
        Ok(self.search(costs, 1, cancel)?.pop())
    }

    /// Returns all cheapest hitting sets in lexicographic order, but at most `limit` and at most
    /// ten thousand. Returns no set if a clause is empty, and an error if the search was cancelled.
    pub fn all_cheapest(
        &self,
        costs: &[Cost],
        limit: usize,
        cancel: &Cancel,
    ) -> Result<Vec<Set>, Stop> {
        let mut found = self.search(costs, limit.min(MAX_SETS), cancel)?;
        found.sort_by(|a, b| a.iter().cmp(b.iter()));
        Ok(found)
    }

    fn search(&self, costs: &[Cost], limit: usize, cancel: &Cancel) -> Result<Vec<Set>, Stop> {
        assert!(costs.iter().all(|cost| *cost > 0), "every member has a positive cost");
        let mut search = Search {
            costs,
            limit,
            best: Cost::MAX,
            found: Vec::new(),
            chosen: Set::empty(self.members),
            forbidden: Set::empty(self.members),
            cancel,
        };
        let clauses: Vec<&Set> = self.clauses.iter().collect();
        search.branch(&clauses, 0)?;
        Ok(search.found)
    }

    /// Returns the cost of a set.
    pub fn cost(set: &Set, costs: &[Cost]) -> Cost {
        set.iter().map(|member| costs[member]).sum()
    }

    /// Returns the inclusion-minimal hitting sets, but at most `limit`, and whether the list is
    /// complete: it is not if the search was cancelled. The order is unspecified but deterministic.
    pub fn minimal(&self, limit: usize, cancel: &Cancel) -> (Vec<Set>, bool) {
        let (members, clauses, found) = (self.members, &self.clauses, Vec::new());
        let mut search = Minimal { members, clauses, limit, found, cancel };
        let candidates = Set::of(self.members, 0..self.members);
        let complete = search.extend(&mut Vec::new(), &candidates);
        (search.found, complete)
    }
}

struct Search<'a> {
    costs: &'a [Cost],
    /// The maximum number of sets of equal cost.
    limit: usize,
    best: Cost,
    found: Vec<Set>,
    chosen: Set,
    forbidden: Set,
    cancel: &'a Cancel,
}

impl Search<'_> {
    /// Searches the sets that contain `chosen`, do not intersect `forbidden` and hit the `unhit`
    /// clauses.
    fn branch(&mut self, unhit: &[&Set], cost: Cost) -> Result<(), Stop> {
        if let Some(stop) = self.cancel.reason() {
            return Err(stop);
        }
        if self.can_prune(cost) {
            return Ok(());
        }
        if unhit.is_empty() {
            if cost < self.best {
                self.best = cost;
                self.found.clear();
            }
            self.found.push(self.chosen.clone());
            return Ok(());
        }
        let Some(bound) = self.lower_bound(unhit) else { return Ok(()) };
        if self.can_prune(cost + bound) {
            return Ok(());
        }
        let allowed = |clause: &Set| {
            let mut allowed = clause.clone();
            allowed.subtract(&self.forbidden);
            allowed
        };
        let smallest = unhit.iter().map(|clause| allowed(clause)).min_by_key(Set::len);
        let smallest = smallest.expect("some clause is not hit");
        let mut members: Vec<usize> = smallest.iter().collect();
        members.sort_by_key(|member| (self.costs[*member], *member));
        for member in &members {
            self.chosen.insert(*member);
            let rest: Vec<&Set> = unhit.iter().copied().filter(|c| !c.contains(*member)).collect();
            self.branch(&rest, cost + self.costs[*member])?;
            self.chosen.remove(*member);
            self.forbidden.insert(*member);
        }
        members.iter().for_each(|member| self.forbidden.remove(*member));
        Ok(())
    }

    /// Returns whether sets of this cost can be pruned: they cost more than the best set, or enough
    /// sets of that cost are known.
    fn can_prune(&self, cost: Cost) -> bool {
        cost > self.best || (cost == self.best && self.found.len() >= self.limit)
    }

    /// Returns a lower bound on the cost of hitting the clauses. None if it is impossible.
    fn lower_bound(&self, unhit: &[&Set]) -> Option<Cost> {
        let mut used = self.forbidden.clone();
        let mut bound = 0;
        let mut by_size: Vec<&Set> = unhit.to_vec();
        by_size.sort_by_key(|clause| clause.len());
        for clause in by_size {
            let allowed = clause.iter().filter(|member| !self.forbidden.contains(*member));
            let cheapest = allowed.map(|member| self.costs[member]).min()?;
            let is_disjoint =
                clause.iter().all(|m| !used.contains(m) || self.forbidden.contains(m));
            if is_disjoint {
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
    cancel: &'a Cancel,
}

impl Minimal<'_> {
    /// Extends `chosen` by members of `candidates` in all ways that keep every chosen member
    /// necessary. Returns false if the limit was reached or the search was cancelled.
    fn extend(&mut self, chosen: &mut Vec<usize>, candidates: &Set) -> bool {
        if self.cancel.reason().is_some() {
            return false;
        }
        let hit = |clause: &Set| chosen.iter().any(|member| clause.contains(*member));
        let unhit: Vec<&Set> = self.clauses.iter().filter(|clause| !hit(clause)).collect();
        let allowed = |clause: &Set| clause.iter().filter(|m| candidates.contains(*m)).count();
        let Some(smallest) = unhit.iter().min_by_key(|clause| allowed(clause)) else {
            if self.found.len() == self.limit {
                return false;
            }
            self.found.push(Set::of(self.members, chosen.iter().copied()));
            return true;
        };
        let mut rest = candidates.clone();
        rest.subtract(smallest);
        let members: Vec<usize> = smallest.iter().filter(|m| candidates.contains(*m)).collect();
        for member in members {
            chosen.push(member);
            let complete = !self.all_are_necessary(chosen) || self.extend(chosen, &rest);
            chosen.pop();
            if !complete {
                return false;
            }
            rest.insert(member);
        }
        true
    }

    /// Returns whether every chosen member is the only one that hits some clause.
    fn all_are_necessary(&self, chosen: &[usize]) -> bool {
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
    use fencepost_testkit::{Random, report_comparisons, seeds};

    fn random_clauses(seed: u64) -> (Clauses, Vec<Cost>) {
        let mut draw = Random::new(seed);
        let members = 1 + draw.below(9);
        let mut clauses = Clauses::new(members);
        for _ in 0..draw.below(8) {
            let size = 1 + draw.below(4);
            clauses.add(Set::of(members, (0..size).map(|_| draw.below(members))));
        }
        let costs = (0..members).map(|_| 1 + draw.below(4) as Cost).collect();
        (clauses, costs)
    }

    /// Returns all hitting sets, by brute force.
    fn all_hitting_sets(clauses: &Clauses, members: usize) -> Vec<Set> {
        (0..1usize << members)
            .map(|bits| Set::of(members, (0..members).filter(|m| bits >> m & 1 == 1)))
            .filter(|set| clauses.are_hit_by(set))
            .collect()
    }

    #[test]
    fn random_cheapest_sets_equal_those_of_brute_force() {
        let mut sets = 0;
        for seed in seeds(300) {
            sets += 1;
            let (clauses, costs) = random_clauses(seed);
            let all = all_hitting_sets(&clauses, costs.len());
            let best = all.iter().map(|set| Clauses::cost(set, &costs)).min();
            let mut expected: Vec<Set> =
                all.into_iter().filter(|s| Some(Clauses::cost(s, &costs)) == best).collect();
            expected.sort_by(|a, b| a.iter().cmp(b.iter()));
            let some = |limit| clauses.all_cheapest(&costs, limit, &Cancel::default());
            assert_eq!(some(2).map(|two| two.len()), Ok(expected.len().min(2)), "seed {seed}");
            let one = clauses.cheapest(&costs, &Cancel::default()).expect("not cancelled");
            assert!(one.is_some_and(|one| expected.contains(&one)), "seed {seed}");
            assert_eq!(some(usize::MAX), Ok(expected), "seed {seed}");
        }
        report_comparisons("cheapest hitting sets: brute force", sets);
    }

    #[test]
    fn random_minimal_sets_equal_those_of_brute_force() {
        let mut sets = 0;
        for seed in seeds(300) {
            sets += 1;
            let (clauses, costs) = random_clauses(seed);
            let all = all_hitting_sets(&clauses, costs.len());
            let minimal = |set: &&Set| !all.iter().any(|o| o != *set && o.is_subset(set));
            let mut expected: Vec<Set> = all.iter().filter(minimal).cloned().collect();
            let (mut found, complete) = clauses.minimal(usize::MAX, &Cancel::default());
            assert!(complete);
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "seed {seed}");
        }
        report_comparisons("minimal hitting sets: brute force", sets);
    }

    #[test]
    fn an_empty_clause_cannot_be_hit() {
        let mut clauses = Clauses::new(3);
        clauses.add(Set::of(3, [1]));
        clauses.add(Set::empty(3));
        let cancel = Cancel::default();
        assert_eq!(clauses.cheapest(&[1, 1, 1], &cancel), Ok(None));
        assert_eq!(clauses.minimal(9, &cancel), (Vec::new(), true));
    }

    #[test]
    fn a_cancelled_search_has_no_answer() {
        let mut clauses = Clauses::new(3);
        clauses.add(Set::of(3, [1]));
        let cancel = Cancel::default();
        cancel.time_out();
        assert_eq!(clauses.cheapest(&[1, 1, 1], &cancel), Err(Stop::Time));
        assert_eq!(clauses.all_cheapest(&[1, 1, 1], 9, &cancel), Err(Stop::Time));
        assert_eq!(clauses.minimal(9, &cancel), (Vec::new(), false));
    }
}
