//! Which writes and covers an execution without undo still needs, see `stream.rs`.

use crate::history::Location;
use crate::layout::Layout;
use crate::monitor::Monitor;
use crate::mutation::{self, Mutation};

/// The clocks that the clock of a later event can be joined from.
pub(crate) struct LiveClocks {
    /// For each chain, then for each thread: the numbers in the clocks, sorted.
    numbers: Vec<Vec<u32>>,
    relaxed_width: usize,
    mutation: Option<Mutation>,
}

impl LiveClocks {
    /// Collects the numbers of the clocks of all threads and addresses.
    pub(crate) fn new(monitor: &Monitor) -> LiveClocks {
        let (layout, cells) = (monitor.layout, &monitor.cells);
        let Layout { threads, relaxed_width, .. } = layout;
        let numbers = (0..layout.clock_width()).map(|entry| {
            let mut numbers: Vec<u32> = Vec::new();
            for thread in 0..threads {
                numbers.push(cells.get(layout.past(thread) + entry));
                if entry < relaxed_width {
                    numbers.push(cells.get(layout.stores(thread) + entry));
                    numbers.push(cells.get(layout.before_loads(thread) + entry));
                    numbers.push(cells.get(layout.before_stores(thread) + entry));
                }
            }
            for location in &monitor.locations {
                let last = location.last();
                numbers.push(cells.get(last.clock + entry));
                numbers.push(cells.get(monitor.readers_clock(last) + entry));
                let overwritten = location.overwritten.iter();
                numbers.extend(overwritten.filter_map(|(_, clock)| clock.get(entry)));
            }
            numbers.sort_unstable();
            numbers.dedup();
            numbers.shrink_to_fit();
            numbers
        });
        LiveClocks { numbers: numbers.collect(), relaxed_width, mutation: monitor.mutation() }
    }

    /// Returns whether a clock contains event `number` of an entry, but not event `next`.
    fn separates(&self, entry: usize, number: u32, next: Option<u32>) -> bool {
        let Some(next) = next else { return true };
        let numbers = &self.numbers[entry];
        let at = numbers.partition_point(|&other| other < number);
        numbers.get(at).is_some_and(|&other| other < next)
    }

    /// Drops the writes and covers of an address that no later event needs.
    pub(crate) fn prune(&self, location: &mut Location) {
        self.prune_writes(location);
        self.prune_covers(location);
        if location.writes.capacity() > 4 * location.writes.len() {
            location.writes.shrink_to(2 * location.writes.len());
        }
        if location.covers.capacity() > 4 * location.covers.len() {
            location.covers.shrink_to(2 * location.covers.len());
        }
    }

    fn prune_writes(&self, location: &mut Location) {
        let dropped = mutation::is_active(self.mutation, Mutation::WritesDroppedTooEarly);
        let mut next = vec![None; self.numbers.len() - self.relaxed_width];
        // The write that the last kept one refers to as its newest blind write. All kept writes
        // between the two refer to it, too.
        let mut blind = 0;
        retain_from_newest(&mut location.writes, |write| {
            if write.index == 0 {
                return true;
            }
            let thread = write.thread as usize;
            let number = write.number_in_thread;
            let later = next[thread].replace(number);
            let keeps = later.is_none()
                || write.index == blind
                || (self.separates(self.relaxed_width + thread, number, later) && !dropped);
            if keeps {
                blind = write.newest_blind;
            }
            keeps
        });
    }

    fn prune_covers(&self, location: &mut Location) {
        let dropped = mutation::is_active(self.mutation, Mutation::CoversDroppedTooEarly);
        let mut next = vec![None; self.relaxed_width];
        retain_from_newest(&mut location.covers, |cover| {
            let chain = cover.chain as usize;
            let later = next[chain].replace(cover.position);
            later.is_none() || (self.separates(chain, cover.position, later) && !dropped)
        });
    }
}

/// Keeps the elements for which `keeps` returns true. Calls it from the last element to the first.
fn retain_from_newest<T: Copy>(elements: &mut Vec<T>, mut keeps: impl FnMut(&T) -> bool) {
    let mut start = elements.len();
    for at in (0..elements.len()).rev() {
        if keeps(&elements[at]) {
            start -= 1;
            elements[start] = elements[at];
        }
    }
    elements.drain(..start);
}
