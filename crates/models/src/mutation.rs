//! Mutations: deliberate errors in the semantics. They show that the tests detect such errors.
//!
//! A mutation is a value, so the tests need no separate build. Without debug assertions, as in a
//! release build, [`Mutated::is`] is the constant `false`, and the compiler removes all mutations.

/// One error: in a rule of a model, in the partial-order reduction, or in the construction of
/// clauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutation {
    /// Loads ignore the thread's own pending stores.
    NoForwarding,
    /// Any pending store may be committed, not only the oldest.
    OutOfOrderCommit,
    /// Fences do nothing.
    IgnoredFence,
    /// Updates do not wait for pending stores.
    UpdateWithoutDrain,
    /// Table: the sum of an update is not wrapped into the range of its location.
    SumsNotWrapped,
    /// Table: an access with an unknown address blocks no later access.
    UnknownAddressIgnored,
    /// Speculation: stores and updates do not wait for unresolved branches.
    StoresIgnoreGuesses,
    /// Speculation: a wrong guess is kept.
    WrongGuessesKept,
    /// Speculation: loads wait for unresolved branches.
    LoadsWaitForGuesses,
    /// Speculation: a fault or a failed assertion counts although an earlier branch is unresolved.
    SpeculativeFailuresCount,
    /// Speculation: a fault of a speculative load is forgotten.
    SpeculativeFaultsForgotten,
    /// Speculation: records are allocated and freed although an earlier branch is unresolved.
    AllocationsIgnoreGuesses,
    /// Speculation: a thread enters a critical section although an earlier branch is unresolved.
    SpeculativeCriticalSections,
    /// Speculation: a state in which every step refutes a guess counts as a deadlock.
    WrongGuessesDeadlock,
    /// ARM: reads of one location may be performed in any order.
    LoadsIncoherent,
    /// ARM: a read waits for unresolved branches.
    ControlOrdersLoads,
    /// ARM: acquire order has no effect.
    AcquireIgnored,
    /// ARM: a write does not wait for the addresses of earlier accesses.
    WritesIgnoreAddresses,
    /// ARM: a selection waits for its condition.
    SelectionsWait,
    /// ARM: a run in which a selection was guessed wrong is not discarded.
    WrongSelectionsKept,
    /// ARM: a read that takes a presumed value knows it.
    PresumedValuesCertain,
    /// ARM: a plain store that repeats a pending one is removed although other threads may write
    /// in between.
    RedundantWritesIgnoreOthers,
    /// ARM: a repeated write is removed although it must wait for more than the first one.
    RedundantWritesIgnoreOrder,
    /// ARM: a load is performed promptly although other threads may store to its location.
    PromptReadsDisturbed,
    /// ARM: a repeated guess has the other direction.
    RepeatedGuessesDiffer,
    /// ARM: a guess waits although a load behind it can be performed.
    GuessesTooLate,
    /// ARM: a forgotten write is never committed.
    ForgetsWrites,
    /// ARM: a write is forgotten although a pending read takes its value.
    ForgetsReadWrites,
    /// ARM: a thread fetches no access while any write is pending.
    FetchesTooLate,
    /// ARM: the guess of a branch must contradict the guess of the comparison that it tests.
    GuessesContradict,
    /// Arm: other threads write no values, so a guess that needs such a value seems wrong.
    OthersWriteNothing,
    /// Abstract: a store committed from a set never stays pending.
    CommittedNeverStays,
    /// Abstract: a store committed from a set always stays pending.
    CommittedAlwaysStays,
    /// Abstract: the last value may leave the set before the others (`fd`), or another value may be
    /// the last to leave (`pd`).
    LastLeavesEarly,
    /// Abstract: the first value in a set counts as the last.
    StaleLast,
    /// Abstract: elements of the set are committed before the entries of the head.
    SetBeforeHead,
    /// Abstract: stores enter the head although older stores are in the set.
    HeadReopened,
    /// Abstract: every state covers every state with the same key.
    CoversTooMuch,
    /// Abstract: a remembered relation of two parts has the wrong direction.
    RelationsSwapped,
    /// Abstract: the join of two parts is the stored part.
    JoinsForgotten,
    /// Symbolic: a cycle counts as repeatable without validation by re-execution.
    CyclesNotValidated,
    /// Symbolic: a cycle may change the contents that it extends in any way.
    CycleEffectsUnchecked,
    /// Symbolic: a store of any value counts as a silent commit.
    SilentCommitsIgnoreMemory,
    /// Tables: the result of a load does not depend on memory.
    LoadsIgnoreMemory,
    /// Partial order: every access commutes with the steps of other threads.
    AccessesCommute,
    /// Partial order: every atomic block commutes with the steps of other threads.
    BlocksCommute,
    /// Partial order: a thread that waits for a latch counts as waiting for every thread.
    WaitsForAnyThread,
    /// Partial order: every commit commutes with the steps of other threads.
    CommitsCommute,
    /// Partial order: the value of every load in a window counts as unused.
    LoadsUnused,
    /// Partial order: a load whose value is not used counts as a load that does not fault.
    UnusedLoadsDoNotFault,
    /// Partial order: a step is explored alone although it leads back to a known state.
    NoCycleProviso,
    /// Partial order: a load is executed with the step before it although its value is used.
    QuietLoads,
    /// Partial order: a load is executed with the step before it although the thread has a pending
    /// store to its location.
    QuietForwarding,
    /// Partial order: values of a register are equal if one value of the next load does not show a
    /// difference.
    EqualForOneValue,
    /// Partial order: entering or leaving a critical section counts as invisible.
    CriticalSectionsInvisible,
    /// Partial order: a race is explored alone although another thread may still access its location.
    RacesIgnoreOthers,
    /// Partial order: reaching or leaving a control point of an invariant counts as invisible.
    ControlPointsInvisible,
    /// Grace periods: a thread with pending accesses can be seen.
    GracePeriodIgnoresPending,
    /// Grace periods: a thread inside of a section can be seen.
    GracePeriodIgnoresSections,
    /// Grace periods: the thread's own pending accesses do not matter.
    GracePeriodIsNoFence,
    /// Sections: the end of an inner section ends the outer section.
    SectionsDoNotNest,
    /// Reductions: no grace period sees when sections begin and when accesses become pending.
    SectionsInvisible,
    /// Reductions: a late step issues one access.
    LateStepsIssueOneAccess,
    /// Reductions: a late step goes on although another thread may soon access its locations.
    LateStepsIgnoreOthers,
    /// Partial order: every access that is issued and performed in one step commutes.
    AccessesCommuteAtOnce,
    /// Symmetry: the initial states are not compared with the renamed ones.
    SymmetryIgnoresInitialStates,
    /// Symmetry: pending stores are not renamed.
    SymmetryIgnoresPendingStores,
    /// Symmetry: values are not renamed.
    SymmetryIgnoresValues,
    /// Clauses: a full fence orders only loads after stores.
    FullFenceOnlyStoreLoad,
    /// Clauses: a drain blocks no run.
    DrainsIgnored,
    /// Clauses: a full fence blocks every run with an access before the fence.
    FullFenceBlocksAll,
}

/// The active mutation, if any.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Mutated(Option<Mutation>);

impl Mutated {
    /// No mutation.
    pub const NONE: Mutated = Mutated(None);

    /// Activates a mutation.
    pub const fn with(mutation: Mutation) -> Self {
        Mutated(Some(mutation))
    }

    /// Returns whether this mutation is active. Always `false` without debug assertions.
    #[inline]
    pub fn is(self, mutation: Mutation) -> bool {
        cfg!(debug_assertions) && self.0 == Some(mutation)
    }
}
