//! Coherence indices: which write an access makes or reads, for its address.
//!
//! Source: \[BM08\], section 2. The index is optional in a trace. With it, the reader of a trace
//! checks that the lines are in an order in which every read reads the last write. The monitor
//! assumes such an order.

/// The number of writes to each address so far.
#[derive(Default)]
pub(super) struct WriteCounts(Vec<u32>);

impl WriteCounts {
    /// Adds an access. `index` is the number of the write that it makes or reads, if it is given.
    /// Returns an error if the access cannot be here in the order.
    pub(super) fn add(
        &mut self,
        address: u32,
        writes: bool,
        index: Option<u32>,
    ) -> Result<(), String> {
        let at = address as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, 0);
        }
        // A trace has fewer than 2^32 events.
        self.0[at] = self.0[at].saturating_add(u32::from(writes));
        let last = self.0[at];
        let Some(index) = index.filter(|index| *index != last) else { return Ok(()) };
        let problem = if writes {
            format!("`index` {index}: this is write {last} to the address")
        } else {
            format!("`index` {index}: the last write to the address before this line is {last}")
        };
        Err(format!("{problem}; the lines must be in the order of execution"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_with_a_wrong_index_is_rejected() {
        let mut counts = WriteCounts::default();
        assert_eq!(counts.add(3, false, Some(0)), Ok(()));
        assert_eq!(counts.add(3, true, Some(1)), Ok(()));
        assert_eq!(counts.add(3, true, None), Ok(()));
        assert_eq!(counts.add(3, false, Some(2)), Ok(()));
        assert_eq!(counts.add(0, false, Some(0)), Ok(()));
        let stale = counts.add(3, false, Some(1)).expect_err("write 2 comes before");
        assert!(stale.contains("the last write to the address before this line is 2"), "{stale}");
        let late = counts.add(3, true, Some(5)).expect_err("this is write 3");
        assert!(late.contains("`index` 5: this is write 3"), "{late}");
    }
}
