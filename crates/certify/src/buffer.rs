//! Abstract store buffers: what stores, loads and fences do to them, and what they may commit.
//!
//! Source: \[KVY11\] 4.1 (fully disjunctive) and 4.3 (partially disjunctive), as the book's page
//! "Abstract store buffers" defines them, for TSO too. Direction: more behaviours than the exact
//! buffers, never fewer.

use fencepost_ir::{FenceKinds, Loc, Value};

use crate::format::{CertThread, Domain, Element, Entry, Model};

/// Epochs beyond this one are not told apart.
pub(crate) const LAST_EPOCH: u8 = 3;

/// Which abstraction of which memory model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) model: Model,
    pub(crate) domain: Domain,
    pub(crate) k: u32,
}

/// How a pending store takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// The oldest entry of a head.
    Head,
    /// `fd`: the element stays (FLUSH-SN).
    Kept,
    /// `fd`: the element leaves (FLUSH-SD).
    Removed,
    /// `pd`, `set`: the class stays (FLUSH-NE).
    MoreToCome,
    /// `pd`, `set`: the class leaves (FLUSH-E).
    TheLast,
}

/// A commit: what is written, and the thread after it.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) loc: Loc,
    pub(crate) value: Value,
    pub(crate) how: How,
    pub(crate) after: CertThread,
}

/// What a thread's stores have in common whether they are in the head or in the set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mark {
    pub(crate) loc: Loc,
    pub(crate) epoch: u8,
    pub(crate) before: bool,
}

impl Entry {
    pub(crate) fn mark(&self) -> Mark {
        Mark { loc: self.loc, epoch: self.epoch, before: self.before }
    }
}

impl Element {
    /// The class it belongs to.
    pub(crate) fn mark(&self) -> Mark {
        Mark { loc: self.loc, epoch: self.epoch, before: self.before }
    }
}

impl CertThread {
    /// The marks of all that is pending.
    pub(crate) fn pending(&self) -> impl Iterator<Item = Mark> + '_ {
        self.head.iter().map(Entry::mark).chain(self.set.iter().map(Element::mark))
    }

    pub(crate) fn nothing_pending(&self) -> bool {
        self.head.is_empty() && self.set.is_empty()
    }

    pub(crate) fn nothing_pending_to(&self, loc: Loc) -> bool {
        self.pending().all(|store| store.loc != loc)
    }

    /// Whether something of the thread is before a barrier: then it may not load.
    pub(crate) fn behind_barrier(&self) -> bool {
        self.pending().any(|store| store.before)
    }

    /// The elements to a location, older classes first.
    fn elements(&self, loc: Loc) -> impl DoubleEndedIterator<Item = &Element> {
        self.set.iter().filter(move |element| element.loc == loc)
    }

    /// Numbers epochs without gaps. Due after something has left.
    fn renumber(&mut self) {
        let mut epochs: Vec<u8> = self.pending().map(|store| store.epoch).collect();
        epochs.sort_unstable();
        epochs.dedup();
        let Some(youngest) = epochs.last() else {
            self.epoch = 0;
            return;
        };
        let number = |epoch: u8| {
            let older = epochs.iter().filter(|other| **other < epoch).count();
            u8::try_from(older).expect("there are four epochs")
        };
        self.epoch = if self.epoch == *youngest {
            number(*youngest)
        } else {
            (number(*youngest) + 1).min(LAST_EPOCH)
        };
        self.head.iter_mut().for_each(|entry| entry.epoch = number(entry.epoch));
        self.set.iter_mut().for_each(|element| element.epoch = number(element.epoch));
    }
}

impl Rules {
    /// The same rules where everything acts on memory directly.
    pub(crate) fn direct(self) -> Rules {
        Rules { model: Model::Sc, ..self }
    }

    /// Whether pending stores to both locations share a queue.
    pub(crate) fn same_group(self, a: Loc, b: Loc) -> bool {
        match self.model {
            Model::Sc | Model::Tso => true,
            Model::Pso => a == b,
        }
    }

    /// A store is issued (not under SC).
    pub(crate) fn store(self, thread: &mut CertThread, loc: Loc, value: Value) {
        let epoch = thread.epoch;
        let set_is_empty = !thread.set.iter().any(|e| self.same_group(e.loc, loc));
        let length = thread.head.iter().filter(|e| self.same_group(e.loc, loc)).count();
        if set_is_empty && length < self.k as usize {
            let at = match self.model {
                Model::Sc | Model::Tso => thread.head.len(),
                Model::Pso => thread.head.partition_point(|entry| entry.loc <= loc),
            };
            thread.head.insert(at, Entry { loc, value, epoch, before: false });
            return;
        }
        let last = match self.domain {
            Domain::Fd | Domain::Pd => true,
            Domain::Set => false,
        };
        let element = Element { loc, value, epoch, before: false, last };
        thread.set.iter_mut().filter(|e| e.loc == loc).for_each(|e| e.last = false);
        match thread.set.binary_search_by_key(&element.rank(), Element::rank) {
            Ok(at) => thread.set[at].last = last,
            Err(at) => thread.set.insert(at, element),
        }
    }

    /// What a load may read of its own thread's pending stores; nothing: it reads memory.
    pub(crate) fn forwarded(self, thread: &CertThread, loc: Loc) -> Vec<Value> {
        if let Some(youngest) = thread.elements(loc).next_back() {
            let class = thread.elements(loc).filter(|e| e.mark() == youngest.mark());
            return match self.domain {
                Domain::Fd | Domain::Pd => class.filter(|e| e.last).map(|e| e.value).collect(),
                Domain::Set => class.map(|e| e.value).collect(),
            };
        }
        thread.head.iter().rev().find(|e| e.loc == loc).map(|e| e.value).into_iter().collect()
    }

    /// Whether an update of the location may be executed.
    pub(crate) fn may_update(self, thread: &CertThread, loc: Loc) -> bool {
        match self.model {
            Model::Sc => true,
            Model::Tso => thread.nothing_pending(),
            Model::Pso => {
                thread.nothing_pending_to(loc)
                    && thread.pending().all(|s| !s.before && s.epoch >= thread.epoch)
            }
        }
    }

    /// Executes a fence. Returns whether it is enabled.
    pub(crate) fn fence(self, thread: &mut CertThread, kinds: FenceKinds) -> bool {
        if self.model == Model::Sc {
            return true;
        }
        if kinds == FenceKinds::FULL {
            return thread.nothing_pending();
        }
        if self.model == Model::Pso
            && kinds.contains(FenceKinds::STORE_STORE)
            && thread.pending().any(|store| store.epoch == thread.epoch)
        {
            thread.epoch = (thread.epoch + 1).min(LAST_EPOCH);
        }
        if kinds.contains(FenceKinds::STORE_LOAD) {
            thread.head.iter_mut().for_each(|entry| entry.before = true);
            thread.set.iter_mut().for_each(|element| element.before = true);
            // The last value comes first of two elements that are now the same, and is kept.
            thread.set.sort_unstable_by_key(|element| (element.rank(), !element.last));
            thread.set.dedup_by_key(|element| element.rank());
        }
        true
    }

    /// Calls `visit` on every commit that is possible, until it returns an error.
    pub(crate) fn for_each_commit<E>(
        self,
        thread: &CertThread,
        visit: &mut impl FnMut(Commit) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(oldest) = thread.pending().map(|store| store.epoch).min() else { return Ok(()) };
        for (at, entry) in thread.head.iter().enumerate() {
            let first = !thread.head[..at].iter().any(|e| self.same_group(e.loc, entry.loc));
            if first && entry.epoch == oldest {
                let mut after = thread.clone();
                after.head.remove(at);
                after.renumber();
                visit(Commit { loc: entry.loc, value: entry.value, how: How::Head, after })?;
            }
        }
        let some_before = thread.set.iter().any(|element| element.before);
        let mut previous = None;
        for class in thread.set.chunk_by(|a, b| a.mark() == b.mark()) {
            let mark = class[0].mark();
            let is_oldest = previous.replace(mark.loc) != Some(mark.loc);
            let behind_head = thread.head.iter().any(|e| self.same_group(e.loc, mark.loc));
            let must_wait = self.model == Model::Tso && some_before && !mark.before;
            if is_oldest && !behind_head && mark.epoch == oldest && !must_wait {
                self.commits_of_class(thread, class, visit)?;
            }
        }
        Ok(())
    }

    /// The commits of the oldest class of a location.
    fn commits_of_class<E>(
        self,
        thread: &CertThread,
        class: &[Element],
        visit: &mut impl FnMut(Commit) -> Result<(), E>,
    ) -> Result<(), E> {
        let mark = class[0].mark();
        let loc = mark.loc;
        let youngest = thread.elements(loc).all(|element| element.mark() == mark);
        let without = |leaves: &dyn Fn(&Element) -> bool| {
            let mut after = thread.clone();
            after.set.retain(|element| !leaves(element));
            after.renumber();
            after
        };
        let without_class = || without(&|element| element.mark() == mark);
        for element in class {
            let value = element.value;
            let stays = |how| Commit { loc, value, how, after: thread.clone() };
            match self.domain {
                Domain::Fd => {
                    visit(stays(How::Kept))?;
                    // Entries with other values are older than the last one.
                    if !(youngest && element.last && class.len() > 1) {
                        let after = without(&|other| other.rank() == element.rank());
                        visit(Commit { loc, value, how: How::Removed, after })?;
                    }
                }
                Domain::Pd => {
                    visit(stays(How::MoreToCome))?;
                    if !youngest || element.last {
                        let after = without_class();
                        visit(Commit { loc, value, how: How::TheLast, after })?;
                    }
                }
                Domain::Set => {
                    visit(stays(How::MoreToCome))?;
                    visit(Commit { loc, value, how: How::TheLast, after: without_class() })?;
                }
            }
        }
        Ok(())
    }
}
