//! Makes bounded store buffers explicit: the queues of TSO and PSO become locations of the program.
//!
//! Source: the book's page "Semantics". Direction: exact for buffers of the given
//! capacity. The SC runs of the result are the runs of the original in which no queue holds more
//! than `capacity` stores. A store to a full queue blocks.
//!
//! A statement that depends on the thread's pending stores becomes one atomic block. The block
//! first waits for its conditions, then acts. Other statements (local statements, loads of
//! locations that the thread never stores to) and threads without stores stay unchanged. For every
//! thread with stores there are committer threads. A committer repeats one atomic block until its
//! thread is done. Under PSO there is one committer per group of locations. Rejected alternative:
//! one committer that chooses among all locations. The step of a single location needs no choice,
//! and tools can treat it as deterministic.
//!
//! In the names below, `T` is the number of the thread and `x` a location that it stores to.
//!
//! | location | model | content |
//! |---|---|---|
//! | `pending_T` | both | the number of pending stores |
//! | `where_T[i]` | TSO | the target of the `i`-th oldest store: a number from 1, over all locations the thread stores to |
//! | `value_T[i]` | TSO | the value of the `i`-th oldest store |
//! | `count_T_x` | PSO | the number of pending stores to `x` |
//! | `queue_T_x[i]` | PSO | the value of the `i`-th oldest store to `x` |
//! | `stamp_T_x[i]` | PSO | the epoch of the `i`-th oldest store to `x` |
//! | `epoch_T`, `epochs_T[e]` | PSO | the current epoch; the number of pending stores of epoch `e` |
//! | `barrier_T` or `barrier_T_x` | both | the number of oldest stores before a store-load fence |
//! | `waiting_T` | PSO | the sum of all `barrier_T_x` |
//! | `done_T` | both | 1 when the thread is done; then counts the committers of the thread that are done |
//!
//! The oldest pending epoch is 0. A store-store fence begins a new epoch only if the current epoch
//! has a pending store, so pending epochs have no gaps. When the last store of epoch 0 commits, all
//! epochs are decremented. Unused queue entries are 0, and registers that only a block uses are 0
//! outside of the block, so equal buffer contents give equal states.
//!
//! Every property has the same meaning for both programs. Control points keep their statements and
//! labels. Committers are never in a critical
//! section. They block only if there is nothing to commit, and they halt after their thread. So a
//! state is a deadlock or a final state in one program if and only if it is in the other.

mod commit;
mod issue;
mod layout;
mod writer;

use crate::{Origin, Translation, Unsupported};
use fencepost_ir::{Label, LabelInfo, Op, Pc, Problem, Span, StoreBuffers, Thread};
use layout::{Layout, ThreadBuffers};

/// Translates a program to one whose store buffers, of the given capacity, are explicit locations.
///
/// # Errors
/// Fails if the capacity is 0 or too large, if the program frees records, if an invariant requires a
/// control point, or if the translation would be too large.
pub fn buffers(
    problem: &Problem,
    model: StoreBuffers,
    capacity: u32,
) -> Result<Translation, Unsupported> {
    let program = &problem.program;
    if capacity == 0 {
        return Err(Unsupported::ZeroCapacity);
    }
    if capacity > MAX_CAPACITY {
        return Err(Unsupported::LargeCapacity(MAX_CAPACITY));
    }
    Unsupported::check(program)?;
    Unsupported::check_control_points(problem)?;
    let mut code = program.threads.iter().flat_map(|thread| &thread.code);
    if code.any(|stmt| matches!(stmt.op, Op::Free { .. })) {
        return Err(Unsupported::BuffersWithFree);
    }
    let mut layout = Layout::new(program);
    let mut labels = program.labels.clone();
    let mut threads = Vec::new();
    let mut commits = Vec::new();
    for (id, thread) in program.thread_ids().zip(&program.threads) {
        let Some(buffers) = ThreadBuffers::new(&mut layout, program, model, capacity, id) else {
            threads.push(unchanged(thread));
            continue;
        };
        threads.push(issue::translate_thread(program, &buffers, thread));
        for at in 0..buffers.committer_count() {
            let name = buffers.committer_name(at);
            let label = Label::from_index(labels.len());
            let text = format!("commit a pending store of {}", thread.name);
            labels.push(LabelInfo { span: Span::default(), text, function: name.clone() });
            commits.push(commit::committer_thread(program, &buffers, at, name, label));
        }
    }
    threads.append(&mut commits);
    let (locations, owners) = layout.finish();
    if threads.len() > 64 || locations.len() >= 1 << 16 {
        let (threads, locations) = (threads.len(), locations.len());
        return Err(Unsupported::LargeBuffers { threads, locations });
    }
    let (threads, origins) = threads.into_iter().unzip();
    let mut problem = problem.clone();
    problem.program.locations = locations;
    problem.program.threads = threads;
    problem.program.labels = labels;
    debug_assert!(
        fencepost_ir::validate::validate(&problem).is_ok(),
        "a translation is well-formed"
    );
    Ok(Translation { problem, origins, owners })
}

/// The largest supported capacity. Larger buffers are not explored in practice; the limit keeps
/// translations small.
const MAX_CAPACITY: u32 = 64;

/// Copies a thread without stores, with the origins of its statements.
fn unchanged(thread: &Thread) -> (Thread, Vec<Origin>) {
    let origins = (0..thread.code.len()).map(|pc| Origin::Statement(Pc::from_index(pc)));
    (thread.clone(), origins.collect())
}
