//! Why rows differ from the paper's, and what else a reader should know.

/// Nobody has found out yet.
pub(super) const UNKNOWN: &str = "The reason is not known.";

/// Table 2, states of another order.
pub(super) const MORE: &str = "The verdict is the paper's; for the states the reason is not known. Other ways to write the \
    algorithm, with loads that wait for a value as in the paper, were tried and store more than the paper, too. \
    What was not tried: the paper's sync empties all buffers in one step, where our fence waits for commits that are \
    steps of their own.";

/// A search without sleep sets that was cut.
pub(super) const ENDLESS: &str = "Without sleep sets the search in this order had not come to its end after 500 \
    states, and was cut.";

/// Sleep sets that do not spare states.
pub(super) const VISITS: &str = "In this order sleep sets do not spare states, only ways to them. The paper says that in \
    general they spare transitions.";

/// Contents that are more than the paper's.
pub(super) const COMMITTED: &str = "The paper shows one state. Ours is what all states together have there, so that any \
    number of the oldest stores may be committed.";

/// Fig. 4, two buffers.
pub(super) const AT_ONCE: &str = "In the paper both buffers have no bound at once. Here the threads stop after some \
    rounds, and `rounds` is how many times (x,1)(x,0) and (y,1)(y,0) are in the buffers at once in a run of the exact model.";

/// Fig. 4, deadlock.
pub(super) const STUCK: &str = "Both threads have stopped in state 4 and nothing is pending: x and y are 0, and each thread \
    waits for a 1.";

/// Fig. 4, continuation.
pub(super) const ON: &str = "Both threads have gone on from state 4 and have not stored since.";
