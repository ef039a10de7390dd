//! Bounded store buffers made explicit: the queues of TSO and PSO as locations of the program.
//!
//! Source: the book's page "What a program means". Direction: exact, for buffers of the given room.
//! Sequentially consistent runs of what comes out are the runs of the program in which a queue never
//! holds more than `room` stores: a store that finds its queue full waits.
//!
//! A statement that has to do with a thread's pending stores becomes one atomic block: what it waits for
//! first, then what it does. Whatever concerns none (local statements, loads of what the thread never stores to)
//! stays as it is, and so do threads without stores. For every thread that stores there are threads that commit: an endless
//! loop of one atomic block, which ends with its thread. Under PSO there is one for each group of
//! locations: we rejected one for all of them, with a choice inside, because the step of a single location needs no
//! choice, and a tool that is good at steps without choices can run it as one.
//!
//! Names: `T` is the number of the thread, `x` what it stores to.
//!
//! | location | model | what it holds |
//! |---|---|---|
//! | `pending_T` | both | how many stores are pending |
//! | `where_T[i]` | TSO | to which location the `i`-th oldest is; counted from 1 over what the thread stores to |
//! | `value_T[i]` | TSO | its value |
//! | `count_T_x` | PSO | how many stores to `x` are pending |
//! | `queue_T_x[i]` | PSO | the value of the `i`-th oldest |
//! | `stamp_T_x[i]` | PSO | its epoch |
//! | `epoch_T`, `epochs_T[e]` | PSO | the current epoch; how many pending stores there are of each one |
//! | `barrier_T` or `barrier_T_x`, `waiting_T` | | how many of the oldest are before a barrier; under PSO, all together |
//! | `done_T` | both | 1 when the thread is done; then counts the threads that commit for it and are done |
//!
//! The oldest pending epoch is 0: a store-store fence begins a new epoch only where the current one has a pending
//! store, so pending epochs have no gaps, and all are counted down when the last store of epoch 0 commits.
//! Whatever is not pending is 0, and registers that are used inside a block only are 0 outside: equal situations are
//! equal states.
//!
//! Every property means the same of both programs. Threads that commit are in no critical section; they are blocked
//! only where there is nothing to commit, and halt after their thread, so a state is stuck or final in one
//! program where it is in the other.

mod commit;
mod issue;
mod layout;
mod writer;

use crate::{Origin, Translation, Unsupported};
use fencepost_ir::{Label, LabelInfo, Op, Pc, Problem, Span, StoreBuffers, Thread};
use layout::{Buffers, Layout};

/// The program with store buffers of this size as locations, for a run under SC.
///
/// # Errors
/// When there is no room, when records are freed, or when the program becomes too large.
pub fn buffers(
    problem: &Problem,
    model: StoreBuffers,
    room: u32,
) -> Result<Translation, Unsupported> {
    let program = &problem.program;
    if room == 0 {
        return Err(Unsupported::NoRoom);
    }
    if room > LARGEST_ROOM {
        return Err(Unsupported::LargeRoom(LARGEST_ROOM));
    }
    let mut code = program.threads.iter().flat_map(|thread| &thread.code);
    if code.any(|stmt| matches!(stmt.op, Op::Free { .. })) {
        return Err(Unsupported::BuffersWithFree);
    }
    let mut layout = Layout::new(program);
    let mut labels = program.labels.clone();
    let mut threads = Vec::new();
    let mut commits = Vec::new();
    for (id, thread) in program.thread_ids().zip(&program.threads) {
        let Some(buffers) = Buffers::new(&mut layout, program, model, room, id) else {
            threads.push(unchanged(thread));
            continue;
        };
        threads.push(issue::thread(program, &buffers, thread));
        for at in 0..buffers.committers() {
            let name = buffers.committer_name(at);
            let label = Label::from_index(labels.len());
            let text = format!("a pending store of {} becomes visible", thread.name);
            labels.push(LabelInfo { span: Span::default(), text, function: name.clone() });
            commits.push(commit::thread(program, &buffers, at, name, label));
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
    debug_assert!(fencepost_ir::validate::validate(&problem).is_ok(), "well-formed as before");
    Ok(Translation { problem, origins, owners })
}

/// More than anyone explores; keeps programs small.
const LARGEST_ROOM: u32 = 64;

/// A thread that stores nothing, with the origins of its statements.
fn unchanged(thread: &Thread) -> (Thread, Vec<Origin>) {
    let origins = (0..thread.code.len()).map(|pc| Origin::Statement(Pc::from_index(pc)));
    (thread.clone(), origins.collect())
}
