//! Abstract store buffers: the effects of stores, loads, fences and commits.
//!
//! Source: \[KVY11\] 4.1 (fully disjunctive) and 4.3 (partially disjunctive), as the book's page
//! "Abstract store buffers" defines them, also for TSO. Direction: over-approximation of the exact
//! buffers.

use fencepost_ir::{FenceKinds, Loc, Value};

use crate::format::{CertThread, Domain, Element, Entry, Model};

/// The largest epoch of the abstractions.
pub(crate) const LAST_EPOCH: u8 = 3;

/// The transition rules: a memory model and an abstraction of its store buffers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub(crate) model: Model,
    pub(crate) domain: Domain,
    /// The maximum number of entries in the head of a group.
    pub(crate) k: u32,
    /// The largest epoch. Later stores also get this epoch, and their order is lost.
    pub(crate) last_epoch: u8,
}

/// The commit rule of a pending store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CommitKind {
    /// The oldest entry of a head is removed.
    Head,
    /// `fd`: the element stays (FLUSH-SN).
    ElementKept,
    /// `fd`: the element is removed (FLUSH-SD).
    ElementRemoved,
    /// `pd`, `set`: the class stays (FLUSH-NE).
    ClassKept,
    /// `pd`, `set`: the class is removed (FLUSH-E).
    ClassRemoved,
}

/// A commit: the written location and value, and the thread afterwards.
#[derive(Clone, Debug)]
pub(crate) struct Commit {
    pub(crate) loc: Loc,
    pub(crate) value: Value,
    pub(crate) kind: CommitKind,
    pub(crate) after: CertThread,
}

/// The class of a pending store: everything except its value. Entries of the head and elements of
/// the set have a class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Class {
    pub(crate) loc: Loc,
    pub(crate) epoch: u8,
    pub(crate) before_barrier: bool,
}

impl Entry {
    pub(crate) fn class(&self) -> Class {
        Class { loc: self.loc, epoch: self.epoch, before_barrier: self.before_barrier }
    }
}

impl Element {
    pub(crate) fn class(&self) -> Class {
        Class { loc: self.loc, epoch: self.epoch, before_barrier: self.before_barrier }
    }
}

impl CertThread {
    /// Returns the classes of all pending stores, with repetitions.
    pub(crate) fn pending(&self) -> impl Iterator<Item = Class> + '_ {
        self.head.iter().map(Entry::class).chain(self.set.iter().map(Element::class))
    }

    pub(crate) fn has_no_pending_store(&self) -> bool {
        self.head.is_empty() && self.set.is_empty()
    }

    pub(crate) fn has_no_pending_store_to(&self, loc: Loc) -> bool {
        self.pending().all(|store| store.loc != loc)
    }

    /// Returns whether a pending store is before a barrier. If so, loads are not enabled.
    pub(crate) fn has_store_before_barrier(&self) -> bool {
        self.pending().any(|store| store.before_barrier)
    }

    /// Returns the elements to a location, older classes first.
    fn elements(&self, loc: Loc) -> impl DoubleEndedIterator<Item = &Element> {
        self.set.iter().filter(move |element| element.loc == loc)
    }

    /// Renumbers the epochs without gaps. Must be called after a pending store is removed.
    fn renumber(&mut self, last_epoch: u8) {
        let mut epochs: Vec<u8> = self.pending().map(|store| store.epoch).collect();
        epochs.sort_unstable();
        epochs.dedup();
        let Some(youngest) = epochs.last() else {
            self.epoch = 0;
            return;
        };
        let number = |epoch: u8| {
            let older = epochs.iter().filter(|other| **other < epoch).count();
            u8::try_from(older).expect("there must be at most 256 epochs")
        };
        self.epoch = if self.epoch == *youngest {
            number(*youngest)
        } else {
            number(*youngest).saturating_add(1).min(last_epoch)
        };
        self.head.iter_mut().for_each(|entry| entry.epoch = number(entry.epoch));
        self.set.iter_mut().for_each(|element| element.epoch = number(element.epoch));
    }
}

impl Rules {
    /// Returns the rules of an abstraction.
    pub(crate) fn abstract_buffers(model: Model, domain: Domain, k: u32) -> Rules {
        Rules { model, domain, k, last_epoch: LAST_EPOCH }
    }

    /// Returns the rules of the exact model. All stores are in heads. The rules are exact as long
    /// as no thread reaches the last epoch.
    pub(crate) fn exact(model: Model) -> Rules {
        Rules { model, domain: Domain::Fd, k: u32::MAX, last_epoch: u8::MAX }
    }

    /// Returns the rules for execution directly on memory, as in `atomic` blocks.
    pub(crate) fn without_buffers(self) -> Rules {
        Rules { model: Model::Sc, ..self }
    }

    /// Returns whether pending stores to two locations share a queue.
    pub(crate) fn are_in_same_group(self, a: Loc, b: Loc) -> bool {
        match self.model {
            Model::Sc | Model::Tso => true,
            Model::Pso => a == b,
        }
    }

    /// Issues a store. Must not be called under SC.
    pub(crate) fn store(self, thread: &mut CertThread, loc: Loc, value: Value) {
        let epoch = thread.epoch;
        let set_is_empty = !thread.set.iter().any(|e| self.are_in_same_group(e.loc, loc));
        let length = thread.head.iter().filter(|e| self.are_in_same_group(e.loc, loc)).count();
        if set_is_empty && length < self.k as usize {
            let at = match self.model {
                Model::Sc | Model::Tso => thread.head.len(),
                Model::Pso => thread.head.partition_point(|entry| entry.loc <= loc),
            };
            thread.head.insert(at, Entry { loc, value, epoch, before_barrier: false });
            return;
        }
        let last = match self.domain {
            Domain::Fd | Domain::Pd => true,
            Domain::Set => false,
        };
        let element = Element { loc, value, epoch, before_barrier: false, last };
        thread.set.iter_mut().filter(|e| e.loc == loc).for_each(|e| e.last = false);
        match thread.set.binary_search_by_key(&element.sort_key(), Element::sort_key) {
            Ok(at) => thread.set[at].last = last,
            Err(at) => thread.set.insert(at, element),
        }
    }

    /// Returns the values that a load may read by forwarding. If there are none, the load reads
    /// memory.
    pub(crate) fn forwarded_values(self, thread: &CertThread, loc: Loc) -> Vec<Value> {
        if let Some(youngest) = thread.elements(loc).next_back() {
            let class = thread.elements(loc).filter(|e| e.class() == youngest.class());
            return match self.domain {
                Domain::Fd | Domain::Pd => class.filter(|e| e.last).map(|e| e.value).collect(),
                Domain::Set => class.map(|e| e.value).collect(),
            };
        }
        thread.head.iter().rev().find(|e| e.loc == loc).map(|e| e.value).into_iter().collect()
    }

    /// Returns whether an update of the location is enabled.
    pub(crate) fn may_update(self, thread: &CertThread, loc: Loc) -> bool {
        match self.model {
            Model::Sc => true,
            Model::Tso => thread.has_no_pending_store(),
            Model::Pso => {
                thread.has_no_pending_store_to(loc)
                    && thread.pending().all(|s| !s.before_barrier && s.epoch >= thread.epoch)
            }
        }
    }

    /// Executes a fence. Returns whether the fence is enabled.
    pub(crate) fn fence(self, thread: &mut CertThread, kinds: FenceKinds) -> bool {
        if self.model == Model::Sc {
            return true;
        }
        if kinds == FenceKinds::FULL {
            return thread.has_no_pending_store();
        }
        if self.model == Model::Pso
            && kinds.contains(FenceKinds::STORE_STORE)
            && thread.pending().any(|store| store.epoch == thread.epoch)
        {
            thread.epoch = thread.epoch.saturating_add(1).min(self.last_epoch);
        }
        if kinds.contains(FenceKinds::STORE_LOAD) {
            thread.head.iter_mut().for_each(|entry| entry.before_barrier = true);
            thread.set.iter_mut().for_each(|element| element.before_barrier = true);
            // Of two elements that are now equal, the one with the last value sorts first and is
            // kept.
            thread.set.sort_unstable_by_key(|element| (element.sort_key(), !element.last));
            thread.set.dedup_by_key(|element| element.sort_key());
        }
        true
    }

    /// Calls `visit` for every enabled commit, until it returns an error.
    pub(crate) fn for_each_commit<E>(
        self,
        thread: &CertThread,
        visit: &mut impl FnMut(Commit) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some(oldest) = thread.pending().map(|store| store.epoch).min() else { return Ok(()) };
        for (at, entry) in thread.head.iter().enumerate() {
            let first = !thread.head[..at].iter().any(|e| self.are_in_same_group(e.loc, entry.loc));
            if first && entry.epoch == oldest {
                let mut after = thread.clone();
                after.head.remove(at);
                after.renumber(self.last_epoch);
                visit(Commit {
                    loc: entry.loc,
                    value: entry.value,
                    kind: CommitKind::Head,
                    after,
                })?;
            }
        }
        let some_before_barrier = thread.set.iter().any(|element| element.before_barrier);
        let mut previous = None;
        for elements in thread.set.chunk_by(|a, b| a.class() == b.class()) {
            let class = elements[0].class();
            let is_oldest = previous.replace(class.loc) != Some(class.loc);
            let behind_head = thread.head.iter().any(|e| self.are_in_same_group(e.loc, class.loc));
            let must_wait =
                self.model == Model::Tso && some_before_barrier && !class.before_barrier;
            if is_oldest && !behind_head && class.epoch == oldest && !must_wait {
                self.for_each_commit_of_class(thread, elements, visit)?;
            }
        }
        Ok(())
    }

    /// Calls `visit` for every commit from the oldest class of a location.
    fn for_each_commit_of_class<E>(
        self,
        thread: &CertThread,
        elements: &[Element],
        visit: &mut impl FnMut(Commit) -> Result<(), E>,
    ) -> Result<(), E> {
        let class = elements[0].class();
        let loc = class.loc;
        let youngest = thread.elements(loc).all(|element| element.class() == class);
        let without = |is_removed: &dyn Fn(&Element) -> bool| {
            let mut after = thread.clone();
            after.set.retain(|element| !is_removed(element));
            after.renumber(self.last_epoch);
            after
        };
        let without_class = || without(&|element| element.class() == class);
        for element in elements {
            let value = element.value;
            let unchanged = |kind| Commit { loc, value, kind, after: thread.clone() };
            match self.domain {
                Domain::Fd => {
                    visit(unchanged(CommitKind::ElementKept))?;
                    // If the class has other values, their entries are older than the last value.
                    if !(youngest && element.last && elements.len() > 1) {
                        let after = without(&|other| other.sort_key() == element.sort_key());
                        visit(Commit { loc, value, kind: CommitKind::ElementRemoved, after })?;
                    }
                }
                Domain::Pd => {
                    visit(unchanged(CommitKind::ClassKept))?;
                    if !youngest || element.last {
                        let after = without_class();
                        visit(Commit { loc, value, kind: CommitKind::ClassRemoved, after })?;
                    }
                }
                Domain::Set => {
                    visit(unchanged(CommitKind::ClassKept))?;
                    visit(Commit {
                        loc,
                        value,
                        kind: CommitKind::ClassRemoved,
                        after: without_class(),
                    })?;
                }
            }
        }
        Ok(())
    }
}
