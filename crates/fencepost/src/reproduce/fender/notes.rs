//! Why figures differ from the paper's.
//!
//! Each reason was tried out: the program was changed as the reason says, and its number of constraints
//! was then the paper's. A reason holds only as long as our figure is the one it explains.

/// Why a row differs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reason {
    pub(super) algorithm: &'static str,
    /// The client as the tables print it; empty for the row of all clients.
    pub(super) client: &'static str,
    pub(super) models: &'static [&'static str],
    /// Our number of constraints.
    constraints: usize,
    note: &'static str,
}

const WEAK: &[&str] = &["rmo", "pso"];

const MSN_FINAL: &str = "The paper's invariants are about final states, ours only about what operations \
    return. Here nothing returned tells that a node was linked before its `next` was null, which cuts off what \
    others appended. With a check that the final list has every value not dequeued, the number of \
    constraints is the paper's.";
const MSN_FRESH: &str = "Our new nodes hold null. Where they hold an arbitrary link, the second dequeue can \
    follow the link of a node that was published before its `next` was written; with that, and a check \
    of the final list, the number of constraints is the paper's.";
const TREIBER_FRESH: &str = "Our new nodes hold null, which is the right link in an empty stack. Where they hold \
    an arbitrary link, a pop can install it: with that, and a check of the final list, the number of \
    constraints is the paper's.";
const TREIBER_FINAL: &str = "The paper's invariants are about final states, ours only about what operations \
    return, and no result tells here that the link of a node was published late. With a check that the final \
    stack has every value not popped, the number of constraints is the paper's.";
const VYSET_FINAL: &str = "The paper's invariants are about final states, ours only about what operations \
    return. With a check that the final list has the keys added and not removed, the number of constraints is \
    the paper's.";
const VYSET_KEY: &str = "A node whose key is not written yet has key 0 in our program, so that it is passed by as \
    if it were not there: no result is wrong. Where the unwritten key is that of another element, and \
    the final list is checked, the number of constraints is the paper's.";
const VYSET_KEYS: &str = "In our program the operations of a thread use two keys in turn, so that nobody follows \
    the link of an added node in this client. Where all operations use one key, and the final list is checked, \
    the number of constraints is the paper's.";
const LIFO_LOST: &str = "A loss that the paper does not see: when steal's compare-and-swap overtakes its load of \
    the task, take returns 3 and the steals 4 and 1, so that 2 is lost, but the queue is not empty in the \
    end. If only a final state with an empty queue must have returned every task, and no result may be \
    an unwritten slot, all clients of this queue have the paper's number of constraints.";

/// The reasons that are known.
#[rustfmt::skip]
pub(super) const REASONS: &[Reason] = &[
    Reason { algorithm: "MSN", client: "e|e", models: WEAK, constraints: 0, note: MSN_FINAL },
    Reason { algorithm: "MSN", client: "e|e|d", models: &["rmo"], constraints: 2, note: MSN_FINAL },
    Reason { algorithm: "MSN", client: "e|e|d", models: &["pso"], constraints: 1, note: MSN_FINAL },
    Reason { algorithm: "MSN", client: "ee|dd", models: &["rmo"], constraints: 2, note: MSN_FRESH },
    Reason { algorithm: "MSN", client: "ee|dd", models: &["pso"], constraints: 1, note: MSN_FRESH },
    Reason { algorithm: "LIFO WSQ", client: "ptp|ss", models: &["rmo"], constraints: 4, note: LIFO_LOST },
    Reason { algorithm: "Treiber", client: "p|t", models: WEAK, constraints: 1, note: TREIBER_FRESH },
    Reason { algorithm: "Treiber", client: "pt|tp", models: WEAK, constraints: 1, note: TREIBER_FINAL },
    Reason { algorithm: "VYSet", client: "ar|ra", models: WEAK, constraints: 1, note: VYSET_FINAL },
    Reason { algorithm: "VYSet", client: "aa|rr", models: WEAK, constraints: 1, note: VYSET_KEY },
    Reason { algorithm: "VYSet", client: "ar|ar", models: WEAK, constraints: 1, note: VYSET_KEYS },
];

/// Why a row differs in its number of constraints.
pub(super) fn reason(
    algorithm: &str,
    client: &str,
    model: &str,
    constraints: Option<usize>,
) -> &'static str {
    let fits = |reason: &&Reason| {
        reason.algorithm == algorithm
            && reason.client == client
            && reason.models.contains(&model)
            && Some(reason.constraints) == constraints
    };
    REASONS.iter().find(fits).map_or("The reason is not known.", |reason| reason.note)
}

/// What a reader should know of rows that agree.
pub(super) fn remark(algorithm: &str, part: &str) -> &'static str {
    match (algorithm, part) {
        ("Dekker", "client") => {
            "Each thread enters once, and a count of the threads inside is the protected data; so \
             nothing piles up, and unlike in the paper bounds above 10 make no difference. A window \
             also holds the access being performed: it has one entry more than the paper's buffer."
        }
        ("Dekker", "fences") => {
            "The fences are for threads that enter again and again (corpus/mutex/dekker-data0.fp), \
             the constraints for the rows above. Entering again asks for one constraint more \
             under TSO, since two stores raise the flag; one fence keeps both."
        }
        ("Chase-Lev", "fences") => {
            "The figure's take does not set bottom when its compare-and-swap fails, which is wrong \
             also under SC; ours does. Comments in corpus/structures/chase-lev.fp give the \
             lines of the figure."
        }
        _ => "",
    }
}
