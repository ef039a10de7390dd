//! The window of a thread: the rules for reads and writes, and the steps of the thread.

use std::collections::BTreeMap;

use fencepost_ir::{Acquire, FenceKinds, Loc, Op, Pc, Program, Reg, Thread, Value, flow};

use super::super::memory::{check_location_range, check_register_range};
use super::entry::{Entry, Operand, Picks};

/// The code of a thread.
#[derive(Clone, Copy)]
pub(super) struct Code<'a> {
    pub(super) program: &'a Program,
    pub(super) thread: &'a Thread,
}

/// The state of a thread.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Window {
    /// The next statement to fetch.
    pc: Pc,
    registers: Vec<Operand>,
    /// The entries by key. The order of the keys is program order.
    entries: BTreeMap<usize, Entry>,
}

/// The run is discarded: a guess is wrong, or a statement fails.
struct Discarded;

/// Where a read takes its value from.
enum Source {
    Memory,
    /// The write of an earlier entry, with its key, its value and what the value picks.
    Forwarded(usize, Value, Picks),
}

impl Window {
    pub(super) fn start(thread: &Thread) -> Window {
        let registers = vec![Operand::Value(0, 0); thread.registers.len()];
        Window { pc: Pc(0), registers, entries: BTreeMap::new() }
    }

    pub(super) fn pc(&self) -> Pc {
        self.pc
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value of a register. The window is empty.
    pub(super) fn register(&self, reg: Reg) -> Value {
        match self.registers[reg.index()] {
            Operand::Value(value, _) => value,
            Operand::Entry(_) => unreachable!("no entry is left that a register could name"),
        }
    }

    /// Returns the window after fetching the next statement, for each choice and each guess.
    pub(super) fn fetch(&self, code: Code) -> Vec<Window> {
        let stmt = code.thread.stmt(self.pc);
        let fetched = |next: Pc, guess: Option<bool>| {
            let mut window = Window { pc: next, ..self.clone() };
            window.push(code, self.pc, guess);
            window.settle(code).is_ok().then_some(window)
        };
        let skipped = || Window { pc: stmt.next, ..self.clone() };
        let found = match &stmt.op {
            Op::Halt => Vec::new(),
            Op::Skip | Op::Leave => vec![Some(skipped())],
            // Such a fence is for models without ordered accesses.
            Op::Fence(_) if code.program.orders.contains_key(&stmt.label) => vec![Some(skipped())],
            Op::Fence(_) if code.program.implied.contains(&stmt.label) => vec![Some(skipped())],
            Op::Branch { then, .. } if code.program.implied.contains(&stmt.label) => {
                vec![Some(Window { pc: *then, ..self.clone() })]
            }
            Op::Choose { reg, lo, hi } => {
                let with = |value: Value| {
                    check_register_range(code.program, code.thread, *reg, value).ok()?;
                    let mut window = skipped();
                    window.registers[reg.index()] = Operand::Value(value, 0);
                    Some(window)
                };
                (*lo..=*hi).map(with).collect()
            }
            Op::Branch { then, otherwise, .. } => {
                vec![fetched(*then, Some(true)), fetched(*otherwise, Some(false))]
            }
            Op::Assume(_) | Op::Assert(_) => vec![fetched(stmt.next, Some(true))],
            Op::Assign { .. }
            | Op::Load { .. }
            | Op::Store { .. }
            | Op::Update { .. }
            | Op::Fence(_) => vec![fetched(stmt.next, None)],
            Op::Drain(_)
            | Op::New { .. }
            | Op::Free { .. }
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Invoke { .. }
            | Op::Return { .. }
            | Op::Join
            | Op::SectionBegin { .. }
            | Op::SectionEnd { .. }
            | Op::GracePeriod { .. } => panic!("the model `arm` does not define {:?}", stmt.op),
        };
        found.into_iter().flatten().collect()
    }

    /// Appends an entry. The register that the statement sets names the entry from now on.
    fn push(&mut self, code: Code, pc: Pc, guess: Option<bool>) {
        let op = &code.thread.stmt(pc).op;
        let mut operands = BTreeMap::new();
        flow::for_each_expr(op, &mut |expr| {
            expr.for_each_var(&mut |reg| {
                operands.insert(*reg, self.registers[reg.index()]);
            });
        });
        let key = self.entries.last_key_value().map_or(0, |(last, _)| last + 1);
        self.entries.insert(key, Entry::new(pc, operands, guess));
        if let Some(reg) = op.target() {
            self.registers[reg.index()] = Operand::Entry(key);
        }
    }

    /// Returns the window after each guess whether a comparison succeeds or the condition of a
    /// selection holds.
    pub(super) fn guess_comparisons(&self, code: Code) -> Vec<Window> {
        let mut found = Vec::new();
        for (key, entry) in &self.entries {
            let is_selection = entry.selection(code).is_some();
            if (entry.is_comparison(code) || is_selection) && entry.guess.is_none() {
                for guess in [true, false] {
                    let mut window = self.with_entry(*key, |entry| entry.guess = Some(guess));
                    if window.settle(code).is_ok() {
                        found.push(window);
                    }
                }
            }
        }
        found
    }

    /// Returns the window after each read that may be performed, for each guess.
    pub(super) fn perform_reads(&self, code: Code, memory: &[Value]) -> Vec<Window> {
        let mut found = Vec::new();
        for (key, entry) in &self.entries {
            let Some(Ok(loc)) = entry.location(code) else { continue };
            if !entry.has_pending_read(code) || !self.may_read(code, *key) {
                continue;
            }
            let Some(source) = self.source(code, *key, loc) else { continue };
            let (first, value, picks) = match source {
                Source::Memory => (0, memory[loc.index()], 0),
                Source::Forwarded(write, value, picks) => (write, value, picks),
            };
            let mut window = self.clone();
            if let Some(entry) = window.entries.get_mut(key) {
                entry.read = Some(value);
                entry.read_picks = picks;
            }
            for mut window in window.guess_addresses(code, first, *key, loc) {
                if window.settle(code).is_ok() {
                    found.push(window);
                }
            }
        }
        found
    }

    /// Returns whether the order of accesses allows a read, apart from accesses to its location.
    fn may_read(&self, code: Code, key: usize) -> bool {
        let is_strong = self.entries[&key].order(code).acquire == Acquire::Strong;
        let waits_for_release = |(_, earlier): (&usize, &Entry)| {
            is_strong && earlier.has_pending_write(code) && earlier.order(code).release
        };
        let is_unresolved = |(_, earlier): (&usize, &Entry)| {
            earlier.is_control(code)
                || earlier.has_unknown_address(code)
                || earlier.is_undecided(code)
        };
        let mut fences = self.fences_before(code, key);
        self.is_past_fences(code, key, true)
            && self.is_past_acquires(code, key)
            && !self.entries.range(..key).any(waits_for_release)
            && !fences.any(|(fence, kinds)| {
                kinds.contains(FenceKinds::INSTRUCTION)
                    && self.entries.range(..fence).any(is_unresolved)
            })
    }

    /// Returns where a read of this location takes its value from, or `None` if it must wait.
    fn source(&self, code: Code, key: usize, loc: Loc) -> Option<Source> {
        let mut writes = self.entries.range(..key).rev();
        let write =
            writes.find(|(_, entry)| entry.has_pending_write(code) && entry.is_at(code, loc));
        // A read that is forwarded does not wait for reads before the write.
        let first = write.map_or(0, |(write, _)| *write);
        let waits_for_read = |(earlier, entry): (&usize, &Entry)| {
            let is_before_write = write.is_some() && *earlier <= first;
            !is_before_write && entry.has_pending_read(code) && entry.is_at(code, loc)
        };
        if self.entries.range(first..key).any(waits_for_read) {
            return None;
        }
        let Some((write, entry)) = write else { return Some(Source::Memory) };
        let is_acquire = self.entries[&key].order(code).acquire != Acquire::None;
        if is_acquire && (entry.is_update(code) || entry.order(code).exclusive) {
            return None;
        }
        let value = entry.written_value(code)?.ok()?;
        let value = check_location_range(code.program, loc, value).ok()?;
        Some(Source::Forwarded(*write, value, entry.written_picks(code, *write)))
    }

    /// Returns the window for each guess about the unknown addresses of the entries from `first` up
    /// to `key`, whose read of this location is performed.
    fn guess_addresses(self, code: Code, first: usize, key: usize, loc: Loc) -> Vec<Window> {
        let is_unknown = |entry: &Entry| entry.has_unknown_address(code);
        let unknown = self.entries.range(first..key).filter(|(_, entry)| is_unknown(entry));
        let unknown: Vec<usize> = unknown.map(|(key, _)| *key).collect();
        let mut windows = vec![self];
        for at in unknown {
            let mut guessed = Vec::new();
            for window in windows {
                let entry = &window.entries[&at];
                if entry.same != Some(loc) {
                    guessed.push(window.with_entry(at, |entry| {
                        entry.elsewhere.insert(loc);
                    }));
                }
                let is_only_read = entry.reads(code) && !entry.writes(code);
                let may_be_same = entry.same.is_none_or(|same| same == loc);
                if is_only_read && may_be_same && !entry.elsewhere.contains(&loc) {
                    guessed.push(window.with_entry(at, |entry| entry.same = Some(loc)));
                }
            }
            windows = guessed;
        }
        windows
    }

    fn with_entry(&self, key: usize, change: impl FnOnce(&mut Entry)) -> Window {
        let mut window = self.clone();
        if let Some(entry) = window.entries.get_mut(&key) {
            change(entry);
        }
        window
    }

    /// Returns the window after each write that may be performed, with the location and the value.
    pub(super) fn perform_writes(&self, code: Code) -> Vec<(Window, Loc, Value)> {
        let mut found = Vec::new();
        for (key, entry) in &self.entries {
            let (Some(Ok(loc)), Some(Ok(value))) =
                (entry.location(code), entry.written_value(code))
            else {
                continue;
            };
            let fits = check_location_range(code.program, loc, value).is_ok();
            if !entry.has_pending_write(code) || !fits || !self.may_write(code, *key, loc) {
                continue;
            }
            let mut window = self.with_entry(*key, |entry| entry.is_written = true);
            if entry.order(code).exclusive && !entry.is_update(code) {
                match self.reservation(code, *key) {
                    Some(load) if self.entries[&load].is_at(code, loc) => {
                        window.entries.remove(&load);
                    }
                    Some(_) | None => continue,
                }
            }
            if window.settle(code).is_ok() {
                found.push((window, loc, value));
            }
        }
        found
    }

    /// Returns whether a write to this location may be performed, apart from holds of other threads.
    fn may_write(&self, code: Code, key: usize, loc: Loc) -> bool {
        let entry = &self.entries[&key];
        let is_release = entry.order(code).release;
        let mut earlier = self.entries.range(..key);
        let blocks = |earlier: &Entry| {
            earlier.is_control(code)
                || earlier.has_unknown_address(code)
                || earlier.is_undecided(code)
                || earlier.is_picking_acquire(code)
                || (earlier.is_pending(code) && (is_release || earlier.is_at(code, loc)))
        };
        !earlier.any(|(_, earlier)| blocks(earlier))
            && !entry.has_pending_read(code)
            && (!entry.is_comparison(code) || entry.truth(code).is_some())
            && entry.written_picks(code, key) == 0
            && self.is_past_fences(code, key, false)
            && self.is_past_acquires(code, key)
    }

    /// Returns the last exclusive load before an exclusive store.
    fn reservation(&self, code: Code, key: usize) -> Option<usize> {
        let mut earlier = self.entries.range(..key).rev();
        earlier.find(|(_, entry)| entry.is_reservation(code)).map(|(key, _)| *key)
    }

    /// Returns the fences before an entry, with their keys.
    fn fences_before<'a>(
        &'a self,
        code: Code<'a>,
        key: usize,
    ) -> impl Iterator<Item = (usize, FenceKinds)> + 'a {
        self.entries.range(..key).filter_map(move |(key, entry)| match entry.op(code) {
            Op::Fence(kinds) => Some((*key, *kinds)),
            _ => None,
        })
    }

    /// Returns whether no fence orders a pending access before it with the read or the write of an
    /// entry.
    fn is_past_fences(&self, code: Code, key: usize, is_read: bool) -> bool {
        self.fences_before(code, key).all(|(fence, kinds)| {
            let loads =
                kinds.contains(FenceKinds::LOAD_LOAD) || kinds.contains(FenceKinds::LOAD_STORE);
            let stores =
                kinds.contains(FenceKinds::STORE_STORE) || kinds.contains(FenceKinds::STORE_LOAD);
            let is_full = kinds.contains(FenceKinds::STORE_LOAD) || (loads && stores);
            self.entries.range(..fence).all(|(_, earlier)| {
                let is_ordered_read =
                    earlier.has_pending_read(code) && !earlier.order(code).discards_value;
                let is_ordered_write = earlier.has_pending_write(code) && !is_read;
                let is_ordered = (is_full && earlier.is_pending(code))
                    || (loads && is_ordered_read)
                    || (stores && is_ordered_write);
                !is_ordered
            })
        })
    }

    /// Returns whether all earlier reads with acquire order are performed, and everything before an
    /// earlier read-modify-write with acquire and release that writes.
    fn is_past_acquires(&self, code: Code, key: usize) -> bool {
        self.entries.range(..key).all(|(at, earlier)| {
            let is_acquire = earlier.order(code).acquire != Acquire::None;
            let is_acquire_release = is_acquire
                && earlier.order(code).release
                && !earlier.order(code).exclusive
                && earlier.is_update(code)
                && earlier.writes(code);
            let is_pending = |(_, before): (&usize, &Entry)| before.is_pending(code);
            let is_waited_for = (is_acquire && earlier.has_pending_read(code))
                || (is_acquire_release && self.entries.range(..at).any(is_pending));
            !is_waited_for
        })
    }

    /// Returns whether the thread holds a location.
    pub(super) fn holds(&self, code: Code, loc: Loc) -> bool {
        self.entries.iter().any(|(key, entry)| {
            let is_pair = (entry.is_update(code) && entry.has_pending_write(code))
                || entry.is_reservation(code);
            let is_held = (is_pair && entry.read.is_some() && entry.is_at(code, loc))
                || (entry.same == Some(loc) && entry.has_pending_read(code));
            let is_earlier_write = |(_, earlier): (&usize, &Entry)| {
                earlier.has_pending_write(code) && earlier.is_at(code, loc)
            };
            is_held && !self.entries.range(..key).any(is_earlier_write)
        })
    }

    /// Delivers the values that are known, checks guesses, and removes complete entries, until
    /// nothing changes.
    fn settle(&mut self, code: Code) -> Result<(), Discarded> {
        while self.settle_once(code)? {}
        Ok(())
    }

    fn settle_once(&mut self, code: Code) -> Result<bool, Discarded> {
        let keys: Vec<usize> = self.entries.keys().copied().collect();
        for key in keys {
            let entry = &self.entries[&key];
            if let Some(truth) = entry.truth(code) {
                let truth = truth.map_err(|_| Discarded)?;
                if entry.is_comparison(code) && entry.guess.is_none() {
                    *self = self.with_entry(key, |entry| entry.guess = Some(truth));
                    return Ok(true);
                }
                if entry.guess.is_none() && entry.selection(code).is_some() {
                    *self = self.with_entry(key, |entry| entry.guess = Some(truth));
                    return Ok(true);
                }
                if entry.guess != Some(truth) {
                    return Err(Discarded);
                }
                let instead = entry.truth_picks(code);
                self.forget(key, instead);
            }
            let entry = &self.entries[&key];
            if let Some(loc) = entry.location(code) {
                let loc = loc.map_err(|_| Discarded)?;
                if entry.elsewhere.contains(&loc) || entry.same.is_some_and(|same| same != loc) {
                    return Err(Discarded);
                }
            }
            if let (Some(reg), Some(value), false) =
                (entry.op(code).target(), entry.result(code), entry.is_delivered)
            {
                let value = value.map_err(|_| Discarded)?;
                check_register_range(code.program, code.thread, reg, value)
                    .map_err(|_| Discarded)?;
                let picks = entry.result_picks(code, key);
                self.deliver(key, Operand::Value(value, picks));
                return Ok(true);
            }
            if self.is_complete(code, key) {
                self.entries.remove(&key);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Gives the value of an entry to the registers and entries that wait for it.
    fn deliver(&mut self, key: usize, value: Operand) {
        let operands = self.entries.values_mut().flat_map(|entry| entry.operands.values_mut());
        for operand in operands.chain(&mut self.registers) {
            if *operand == Operand::Entry(key) {
                *operand = value;
            }
        }
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.is_delivered = true;
        }
    }

    /// Forgets a guess that is resolved. What relied on it now picks `instead`.
    fn forget(&mut self, guess: usize, instead: Picks) {
        self.entries.values_mut().for_each(|entry| entry.forget(guess, instead));
        self.registers.iter_mut().for_each(|operand| operand.forget(guess, instead));
    }

    /// Returns whether an entry has no further effect. An exclusive load has one until its store is
    /// performed.
    fn is_complete(&self, code: Code, key: usize) -> bool {
        let entry = &self.entries[&key];
        let has_delivered = entry.op(code).target().is_none() || entry.is_delivered;
        if entry.is_undecided(code) || entry.is_picking_acquire(code) {
            return false;
        }
        match entry.op(code) {
            Op::Fence(_) => self.entries.first_key_value().is_some_and(|(first, _)| *first == key),
            Op::Branch { .. } | Op::Assume(_) | Op::Assert(_) => entry.truth(code).is_some(),
            Op::Assign { .. } if entry.selection(code).is_some() => {
                has_delivered && entry.truth(code).is_some()
            }
            Op::Update { .. } => {
                let is_resolved = entry.guess.is_none() || entry.truth(code).is_some();
                !entry.is_pending(code) && has_delivered && is_resolved
            }
            _ => !entry.is_pending(code) && has_delivered && !entry.is_reservation(code),
        }
    }
}
