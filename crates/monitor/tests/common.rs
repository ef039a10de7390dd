//! Helpers of the random tests: random actions, and running the monitor and the oracle.

use fencepost_monitor::{Access, Action, Execution, Model, Monitor};
use fencepost_testkit::Random;

/// An action that owns the accesses of its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OwnedAction {
    Plain(Action<'static>),
    Block(Vec<Access>),
}

impl OwnedAction {
    pub(crate) fn action(&self) -> Action<'_> {
        match self {
            OwnedAction::Plain(action) => *action,
            OwnedAction::Block(accesses) => Action::Block(accesses),
        }
    }
}

/// Returns a random action. Loads and stores are the most frequent.
pub(crate) fn random_action(random: &mut Random, addresses: usize) -> OwnedAction {
    let address = random.below(addresses) as u32;
    let plain = match random.below(20) {
        0..6 => Action::Load(address),
        6..13 => Action::Store(address),
        13 => Action::Update { address, writes: true },
        14 => Action::Update { address, writes: false },
        15 => Action::Direct(address),
        16 => Action::Drain(address),
        17 => Action::Fence { store_store: random.below(3) > 0, store_load: random.below(2) > 0 },
        _ => return OwnedAction::Block(random_block(random, addresses)),
    };
    OwnedAction::Plain(plain)
}

/// Returns random accesses, at most one for each address.
pub(crate) fn random_block(random: &mut Random, addresses: usize) -> Vec<Access> {
    let mut accesses = Vec::new();
    for address in 0..addresses as u32 {
        match random.below(6) {
            0 | 1 => accesses.push(Access::read(address)),
            2 => accesses.push(Access::write(address)),
            3 => accesses.push(Access::update(address)),
            _ => {}
        }
    }
    if random.below(2) == 0 {
        accesses.reverse();
    }
    accesses
}

/// Returns the execution with these events.
pub(crate) fn execution(model: Model, events: &[(usize, OwnedAction)]) -> Execution {
    let mut execution = Execution::new(model);
    for (thread, action) in events {
        execution.push(*thread, action.action());
    }
    execution
}

/// Returns the answer of the monitor for each event.
pub(crate) fn answers(
    monitor: &mut Monitor,
    events: &[(usize, OwnedAction)],
) -> Vec<Option<fencepost_monitor::Borderline>> {
    events.iter().map(|(thread, action)| monitor.add_event(*thread, action.action())).collect()
}
