//! The oracle for race reversal: after every execution of a test, all races are reversed without
//! anything that is known from earlier executions. Nothing may be missing.

use crate::explorer::EarlyExit;
use crate::optimal::Optimal;
use crate::race_reversal::{LastMove, Reversal};
use crate::system::System;
use crate::wakeup_tree::{SequenceItem, WeakInitial, weak_initial};
use std::ops::ControlFlow;

impl<S: System> Optimal<'_, '_, S> {
    /// Asserts that each race of the current execution is explored or planned.
    pub(crate) fn assert_all_races_are_reversed(&mut self) -> ControlFlow<EarlyExit> {
        let events = self.usable_events();
        let mut racing = Vec::new();
        for second in 0..self.explorer.execution.len() {
            let thread = self.explorer.execution.events()[second].mv.thread;
            self.add_racing_events(second, &mut racing);
            for first in racing.drain(..) {
                let execution = &self.explorer.execution;
                let reversals = match self.explorer.system.is_unconditional(execution, second) {
                    true => {
                        vec![Reversal { first, others: Vec::new(), last: LastMove::Event(second) }]
                    }
                    false => self.find_reversals(first, events, thread)?.enabled,
                };
                for reversal in reversals {
                    let covered = self.is_covered(&reversal);
                    assert!(covered, "race of {first} and {second}: {reversal:?} is missing");
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Returns whether the sleep set, the first removed event or the wake-up tree covers a reversal.
    fn is_covered(&self, reversal: &Reversal) -> bool {
        let execution = &self.explorer.execution;
        let item = |event: usize| SequenceItem {
            mv: &execution.events()[event].mv,
            footprint: execution.footprint(event),
            stays: false,
        };
        let first = reversal.first;
        let kept = (first..self.usable_events()).filter(|at| !reversal.removes(execution, *at));
        let last = reversal.last_move(execution);
        let sequence: Vec<SequenceItem<'_>> = kept.map(item).chain([last]).collect();
        let node = &self.nodes[first];
        let asleep = node.sleep.iter().map(SequenceItem::from);
        let covers = |first| !matches!(weak_initial(first, &sequence), WeakInitial::No);
        asleep.chain([item(first)]).any(covers) || !node.tree.clone().insert(sequence).inserted
    }
}
