//! Exclusive pairs: which exclusive stores (`STXR`) can be the next ones after an exclusive load
//! (`LDXR`).
//!
//! Direction: over-approximation. Every path of the control flow counts.

use std::collections::{BTreeMap, BTreeSet};

use super::super::table::TableInstruction;
use super::ast::{Column, JumpCondition, Operation};

/// The exclusive pairs of a column. Cells are given by their index.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// For each exclusive load, the exclusive stores that control can reach from it before another
    /// exclusive instruction.
    stores: BTreeMap<usize, BTreeSet<usize>>,
}

impl Pairs {
    /// Computes the pairs of a column.
    pub(super) fn new(column: &Column) -> Self {
        let mut pairs = Pairs::default();
        for at in 0..column.cells.len() {
            if is_load(column, at) {
                pairs.stores.insert(at, reachable_stores(column, at));
            }
        }
        pairs
    }

    /// Returns whether the column has a pair.
    pub(super) fn is_any(&self) -> bool {
        self.stores.values().any(|stores| !stores.is_empty())
    }

    /// Returns whether an exclusive load has a store.
    pub(super) fn has_store(&self, load: usize) -> bool {
        self.stores.get(&load).is_some_and(|stores| !stores.is_empty())
    }

    /// Returns whether an exclusive store has a load.
    pub(super) fn has_load(&self, store: usize) -> bool {
        self.stores.values().any(|stores| stores.contains(&store))
    }

    /// Returns all pairs of a load and a store.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        self.stores
            .iter()
            .flat_map(|(load, stores)| stores.iter().map(move |store| (*load, *store)))
    }
}

fn operation(column: &Column, at: usize) -> Option<&Operation> {
    column.cells[at].instruction.as_ref().map(|instruction| &instruction.operation)
}

fn is_load(column: &Column, at: usize) -> bool {
    matches!(operation(column, at), Some(Operation::Load { exclusive: true, .. }))
}

fn is_store(column: &Column, at: usize) -> bool {
    matches!(operation(column, at), Some(Operation::Store { status: Some(_), .. }))
}

fn reachable_stores(column: &Column, load: usize) -> BTreeSet<usize> {
    let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut pending = successors(column, load);
    while let Some(at) = pending.pop() {
        if at >= column.cells.len() || !seen.insert(at) {
            continue;
        }
        if is_store(column, at) {
            found.insert(at);
        } else if !is_load(column, at) {
            pending.extend(successors(column, at));
        }
    }
    found
}

/// Returns the cells to which control may continue after a cell.
fn successors(column: &Column, at: usize) -> Vec<usize> {
    let has_label =
        |name: &str, cell: usize| column.cells[cell].labels.iter().any(|(label, _)| label == name);
    let instruction = column.cells[at].instruction.as_ref();
    let to = instruction.and_then(TableInstruction::jump_target);
    let to = to.and_then(|name| (0..column.cells.len()).find(|cell| has_label(name, *cell)));
    let falls_through = !matches!(
        operation(column, at),
        Some(Operation::Return | Operation::Jump { when: JumpCondition::Always, .. })
    );
    to.into_iter().chain(falls_through.then_some(at + 1)).collect()
}
