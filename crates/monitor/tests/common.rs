//! What the random tests share: actions that own their blocks.

use fencepost_monitor::{Access, Action, Execution, Model, Monitor};
use fencepost_testkit::Random;

/// An action that owns its block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Owned {
    Plain(Action<'static>),
    Block(Vec<Access>),
}

impl Owned {
    pub(crate) fn action(&self) -> Action<'_> {
        match self {
            Owned::Plain(action) => *action,
            Owned::Block(accesses) => Action::Block(accesses),
        }
    }
}

/// Any action, loads and stores most often.
pub(crate) fn random_action(random: &mut Random, addresses: usize) -> Owned {
    let address = random.below(addresses) as u32;
    let plain = match random.below(20) {
        0..6 => Action::Load(address),
        6..13 => Action::Store(address),
        13 => Action::Update { address, writes: true },
        14 => Action::Update { address, writes: false },
        15 => Action::Direct(address),
        16 => Action::Drain(address),
        17 => Action::Fence { store_store: random.below(3) > 0, store_load: random.below(2) > 0 },
        _ => return Owned::Block(random_block(random, addresses)),
    };
    Owned::Plain(plain)
}

/// Some accesses, at most one for each address.
fn random_block(random: &mut Random, addresses: usize) -> Vec<Access> {
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

pub(crate) fn execution(model: Model, events: &[(usize, Owned)]) -> Execution {
    let mut execution = Execution::new(model);
    for (thread, action) in events {
        execution.push(*thread, action.action());
    }
    execution
}

pub(crate) fn answers(
    monitor: &mut Monitor,
    events: &[(usize, Owned)],
) -> Vec<Option<fencepost_monitor::Borderline>> {
    events.iter().map(|(thread, action)| monitor.event(*thread, action.action())).collect()
}
