//! The lower bound: no set cheaper than a given cost has a member of every clause.
//!
//! Plain branch and bound. A node takes the open clause with the fewest allowed members and tries
//! each of them. A later branch forbids the members of the earlier ones. A branch ends when its cost
//! plus the cheapest members of disjoint open clauses reaches the given cost. Direction: exact, up to
//! a limit on the work.

/// The maximum number of steps of the search. A step looks at a member of a clause.
const MAX_WORK: u64 = 30_000_000;

/// The result of the search for a cheaper set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    /// Every hitting set has at least the given cost.
    Proved,
    /// A cheaper hitting set.
    Cheaper(Vec<usize>),
    /// The search was too long.
    TooHard,
}

/// Searches for a set that is cheaper than `cost` and has a member of every clause. The members of
/// clauses are positions in `costs`, and all costs are positive.
pub(crate) fn cheaper_hitting_set(clauses: &[Vec<usize>], costs: &[u64], cost: u64) -> Bound {
    let mut search = Search {
        costs,
        limit: cost,
        chosen: Vec::new(),
        is_forbidden: vec![false; costs.len()],
        work: 0,
    };
    let open: Vec<&[usize]> = without_supersets(clauses);
    match search.branch(&open, 0) {
        Some(true) => Bound::Cheaper(search.chosen),
        Some(false) => Bound::Proved,
        None => Bound::TooHard,
    }
}

/// Returns the clauses that are not supersets of others. The clauses are sorted.
fn without_supersets(clauses: &[Vec<usize>]) -> Vec<&[usize]> {
    let mut by_size: Vec<&[usize]> = clauses.iter().map(Vec::as_slice).collect();
    by_size.sort_by_key(|clause| clause.len());
    let mut kept: Vec<&[usize]> = Vec::new();
    for clause in by_size {
        let contains = |member: &usize| clause.binary_search(member).is_ok();
        if !kept.iter().any(|smaller| smaller.iter().all(contains)) {
            kept.push(clause);
        }
    }
    kept
}

struct Search<'a> {
    costs: &'a [u64],
    /// Sets of this cost and more expensive ones are not of interest.
    limit: u64,
    chosen: Vec<usize>,
    is_forbidden: Vec<bool>,
    work: u64,
}

impl Search<'_> {
    /// Returns whether some set of the branch is cheaper than the limit; it is then in `chosen`.
    /// Returns `None` if the search is too long.
    fn branch(&mut self, open: &[&[usize]], cost: u64) -> Option<bool> {
        self.work += 1 + open.iter().map(|clause| clause.len() as u64).sum::<u64>();
        if self.work > MAX_WORK {
            return None;
        }
        if cost.saturating_add(self.remaining_cost(open)) >= self.limit {
            return Some(false);
        }
        let allowed = |clause: &[usize]| clause.iter().filter(|m| !self.is_forbidden[**m]).count();
        let Some(next) = open.iter().min_by_key(|clause| allowed(clause)) else {
            return Some(true);
        };
        let mut members: Vec<usize> =
            next.iter().copied().filter(|member| !self.is_forbidden[*member]).collect();
        let hits = |member: usize| {
            open.iter().filter(|clause| clause.binary_search(&member).is_ok()).count()
        };
        self.work += members.len() as u64 * open.len() as u64;
        members.sort_by_cached_key(|member| std::cmp::Reverse(hits(*member)));
        let mut result = Some(false);
        for member in &members {
            let rest: Vec<&[usize]> =
                open.iter().copied().filter(|c| c.binary_search(member).is_err()).collect();
            self.chosen.push(*member);
            result = self.branch(&rest, cost.saturating_add(self.costs[*member]));
            if result != Some(false) {
                return result;
            }
            self.chosen.pop();
            self.is_forbidden[*member] = true;
        }
        members.iter().for_each(|member| self.is_forbidden[*member] = false);
        result
    }

    /// Returns a cost that is necessary to hit the open clauses: the sum of the cheapest allowed
    /// members of disjoint clauses.
    fn remaining_cost(&self, open: &[&[usize]]) -> u64 {
        let mut is_used = vec![false; self.costs.len()];
        let mut cost = 0_u64;
        for clause in open {
            let allowed = || clause.iter().filter(|member| !self.is_forbidden[**member]);
            if allowed().any(|member| is_used[*member]) {
                continue;
            }
            // A clause whose members are all forbidden cannot be hit.
            let Some(cheapest) = allowed().map(|member| self.costs[*member]).min() else {
                return u64::MAX;
            };
            cost = cost.saturating_add(cheapest);
            allowed().for_each(|member| is_used[*member] = true);
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_testkit::Random;

    /// Returns the cost of a cheapest hitting set by trying all sets.
    fn brute_force(clauses: &[Vec<usize>], costs: &[u64]) -> u64 {
        let sets = 0_u32..1 << costs.len();
        let hits = |set: &u32| clauses.iter().all(|c| c.iter().any(|m| set & (1 << m) != 0));
        let cost =
            |set: u32| (0..costs.len()).filter(move |m| set & (1 << m) != 0).map(|m| costs[m]);
        sets.filter(hits).map(|set| cost(set).sum()).min().unwrap_or(u64::MAX)
    }

    #[test]
    fn bound_is_that_of_brute_force_random() {
        let mut random = Random::new(7);
        for _ in 0..300 {
            let members = 1 + random.below(9);
            let costs: Vec<u64> = (0..members).map(|_| 1 + random.below(5) as u64).collect();
            let clauses: Vec<Vec<usize>> = (0..random.below(8))
                .map(|_| (0..members).filter(|_| random.below(3) == 0).collect::<Vec<usize>>())
                .filter(|clause| !clause.is_empty())
                .collect();
            let cheapest = brute_force(&clauses, &costs);
            assert_eq!(cheaper_hitting_set(&clauses, &costs, cheapest), Bound::Proved);
            match cheaper_hitting_set(&clauses, &costs, cheapest + 1) {
                Bound::Cheaper(set) => {
                    assert_eq!(set.iter().map(|m| costs[*m]).sum::<u64>(), cheapest);
                    assert!(clauses.iter().all(|c| c.iter().any(|m| set.contains(m))));
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn long_search_ends() {
        let mut random = Random::new(1);
        let mut triple = || {
            let mut members: Vec<usize> = (0..3).map(|_| random.below(150)).collect();
            members.sort_unstable();
            members.dedup();
            members
        };
        let clauses: Vec<Vec<usize>> = (0..900).map(|_| triple()).collect();
        let costs = vec![1; 150];
        assert_eq!(cheaper_hitting_set(&clauses, &costs, 75), Bound::TooHard);
    }
}
