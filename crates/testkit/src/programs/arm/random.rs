//! Random programs for the model `arm`, and a shrinker.

use fencepost_ir::Acquire;

use super::{Address, ArmProgram, Fence, Operand, Statement, Update};
use crate::Random;

/// The largest number of accesses of all threads.
const MAX_ACCESSES: usize = 8;

/// Generates the program of a seed: two or three threads with two to four accesses each.
///
/// In most programs, each thread first accesses a location of its own and last the one of the next
/// thread, and all threads but one order the two with a full fence. So the outcomes show how the
/// other thread orders its accesses.
///
/// ```
/// use fencepost_testkit::programs::arm;
///
/// assert_eq!(arm(7), arm(7));
/// assert_ne!(arm(7), arm(8));
/// ```
pub fn arm(seed: u64) -> ArmProgram {
    let mut random = Random::new(seed ^ 0x4152_4d00 << 24);
    let count = if random.percent(65) { 2 } else { 3 };
    let locations = if random.percent(75) { 2 } else { 3 };
    let is_ring = random.percent(70);
    let (ordered, dependent) = (random.within(10, 50), random.within(20, 70));
    let mut left = MAX_ACCESSES;
    let mut threads = Vec::new();
    for at in 0..count {
        let most = (left - 2 * (count - 1 - at)).min(4);
        let accesses = random.within(2, most);
        left -= accesses;
        let (statements, loaded) = (Vec::new(), Vec::new());
        let mut thread = Generator {
            random: &mut random,
            locations,
            ordered,
            dependent,
            statements,
            loaded,
            registers: 0,
        };
        match is_ring {
            true => thread.generate_ring(at, (at + 1) % count, at == 0),
            false => thread.generate(accesses),
        }
        threads.push(thread.statements);
    }
    ArmProgram { threads }
}

struct Generator<'a> {
    random: &'a mut Random,
    /// The number of locations.
    locations: usize,
    /// The probability of an order, in percent.
    ordered: usize,
    /// The probability of a dependency, in percent.
    dependent: usize,
    statements: Vec<Statement>,
    /// The registers that were loaded.
    loaded: Vec<usize>,
    /// The number of registers.
    registers: usize,
}

impl Generator<'_> {
    fn generate(&mut self, accesses: usize) {
        let mut left = accesses;
        while left > 0 {
            if left < accesses {
                self.order_statement();
            }
            left -= self.access(left);
        }
    }

    /// Generates a thread that accesses one location first and another one last.
    fn generate_ring(&mut self, first: usize, last: usize, is_free: bool) {
        self.access_at(Address::Fixed(first), 1);
        if is_free {
            for _ in 0..self.random.below(3) {
                self.order_statement();
                self.access(1);
            }
            self.order_statement();
        } else {
            self.statements.push(Statement::Fence(Fence::Full));
        }
        let at = self.address_of(last);
        self.access_at(at, 1);
    }

    /// Adds a fence, a branch, a selection or nothing.
    fn order_statement(&mut self) {
        match self.random.below(100) {
            0..8 => self.statements.push(Statement::Fence(Fence::Full)),
            8..14 => self.statements.push(Statement::Fence(Fence::Load)),
            14..20 => self.statements.push(Statement::Fence(Fence::Store)),
            20..36 if !self.loaded.is_empty() => {
                let reg = self.loaded_register();
                let skipped = if self.random.percent(60) { 0 } else { 1 };
                self.statements.push(Statement::BranchIfZero { reg, skipped });
                if self.random.percent(50) {
                    self.statements.push(Statement::Fence(Fence::Instruction));
                }
            }
            36..42 => self.statements.push(Statement::Fence(Fence::Instruction)),
            42..60 if !self.loaded.is_empty() => {
                let cond = self.loaded_register();
                let (then, otherwise) = (self.value(), self.value());
                let reg = self.new_register();
                self.statements.push(Statement::Select { reg, cond, then, otherwise });
                self.loaded.push(reg);
            }
            _ => {}
        }
    }

    /// Adds an access, or an exclusive pair. Returns the number of accesses.
    fn access(&mut self, left: usize) -> usize {
        let at = self.address();
        self.access_at(at, left)
    }

    fn access_at(&mut self, at: Address, left: usize) -> usize {
        match self.random.below(100) {
            0..10 if left >= 2 => return self.exclusive_pair(at, left),
            10..45 => {
                let (value, release) = (self.value(), self.random.percent(self.ordered));
                self.statements.push(Statement::Store { at, value, release });
            }
            45..60 => {
                let update = match self.random.below(3) {
                    0 => Update::Swap(self.value()),
                    1 => Update::Add(self.number()),
                    _ => Update::Cas(self.value(), self.value()),
                };
                let acquire = self.random.percent(self.ordered);
                let release = self.random.percent(self.ordered);
                let keeps = acquire || self.random.percent(80);
                let reg = keeps.then(|| self.new_register());
                self.statements.push(Statement::Update { reg, at, update, acquire, release });
                self.loaded.extend(reg);
            }
            _ => {
                let acquire = match self.random.percent(self.ordered) {
                    true if self.random.percent(40) => Acquire::Weak,
                    true => Acquire::Strong,
                    false => Acquire::None,
                };
                let reg = self.new_register();
                self.statements.push(Statement::Load { reg, at, acquire, exclusive: false });
                self.loaded.push(reg);
            }
        }
        1
    }

    /// Adds an exclusive pair, sometimes with an access between its load and its store.
    fn exclusive_pair(&mut self, at: Address, left: usize) -> usize {
        let strong = self.random.percent(self.ordered);
        let acquire = if strong { Acquire::Strong } else { Acquire::None };
        let reg = self.new_register();
        self.statements.push(Statement::Load { reg, at, acquire, exclusive: true });
        self.loaded.push(reg);
        let mut accesses = 2;
        if left >= 3 && self.random.percent(30) {
            // One access, not another pair.
            accesses += self.access(1);
        }
        let (value, release) = (self.value(), self.random.percent(self.ordered));
        let status = self.new_register();
        self.statements.push(Statement::StoreExclusive { status, at, value, release });
        accesses
    }

    fn new_register(&mut self) -> usize {
        // A register is reused now and then: this must order nothing.
        if self.registers > 0 && self.random.percent(5) {
            return self.random.below(self.registers);
        }
        self.registers += 1;
        self.registers - 1
    }

    fn loaded_register(&mut self) -> usize {
        // Mostly the last one: dependencies are most useful between neighbours.
        let last = self.loaded.len() - 1;
        let at = if self.random.percent(60) { last } else { self.random.below(last + 1) };
        self.loaded[at]
    }

    fn address(&mut self) -> Address {
        let loc = self.random.below(self.locations);
        match self.address_of(loc) {
            Address::Dependent(_, reg) if self.random.percent(30) => Address::Indexed(reg),
            at => at,
        }
    }

    /// Draws whether the address of a location has a dependency.
    fn address_of(&mut self, loc: usize) -> Address {
        if self.loaded.is_empty() || !self.random.percent(self.dependent) {
            return Address::Fixed(loc);
        }
        Address::Dependent(loc, self.loaded_register())
    }

    fn value(&mut self) -> Operand {
        match self.number() {
            Operand::Dependent(_, reg) if self.random.percent(25) => Operand::Register(reg),
            number => number,
        }
    }

    /// Draws a number, perhaps with a dependency.
    fn number(&mut self) -> Operand {
        let value = self.random.below(3) as i64;
        if self.loaded.is_empty() || !self.random.percent(self.dependent) {
            return Operand::Constant(value);
        }
        Operand::Dependent(value, self.loaded_register())
    }
}

/// Returns a smaller program for which `fails` still holds: statements and threads are removed, and
/// the others made simpler, as long as it holds.
pub fn shrink_arm(program: &ArmProgram, fails: impl Fn(&ArmProgram) -> bool) -> ArmProgram {
    let mut smallest = program.clone();
    while let Some(smaller) = smaller(&smallest).into_iter().find(|program| fails(program)) {
        smallest = smaller;
    }
    smallest
}

/// Returns programs that are simpler in one place.
fn smaller(program: &ArmProgram) -> Vec<ArmProgram> {
    let mut found = Vec::new();
    for thread in 0..program.threads.len() {
        let mut without = program.clone();
        without.threads.remove(thread);
        found.push(without);
    }
    for (thread, statements) in program.threads.iter().enumerate() {
        for at in 0..statements.len() {
            let mut without = program.clone();
            without.threads[thread].remove(at);
            found.push(without);
        }
        for (at, statement) in statements.iter().enumerate() {
            for simpler in simpler(statement) {
                let mut with = program.clone();
                with.threads[thread][at] = simpler;
                found.push(with);
            }
        }
    }
    found
}

/// Returns simpler statements of the same kind.
fn simpler(statement: &Statement) -> Vec<Statement> {
    let mut found = Vec::new();
    let mut add = |change: &dyn Fn(&mut Statement)| {
        let mut changed = statement.clone();
        change(&mut changed);
        if changed != *statement {
            found.push(changed);
        }
    };
    let fix = |at: &mut Address| match *at {
        Address::Fixed(_) => {}
        Address::Dependent(loc, _) => *at = Address::Fixed(loc),
        Address::Indexed(reg) => *at = Address::Dependent(0, reg),
    };
    let fix_value = |value: &mut Operand| match *value {
        Operand::Constant(_) => {}
        Operand::Dependent(number, _) => *value = Operand::Constant(number),
        Operand::Register(reg) => *value = Operand::Dependent(1, reg),
    };
    add(&|statement| match statement {
        Statement::Load { acquire, .. } => *acquire = Acquire::None,
        Statement::Update { acquire, .. } => *acquire = false,
        _ => {}
    });
    add(&|statement| match statement {
        Statement::Store { release, .. }
        | Statement::StoreExclusive { release, .. }
        | Statement::Update { release, .. } => *release = false,
        _ => {}
    });
    add(&|statement| match statement {
        Statement::Load { exclusive: true, .. } => {}
        Statement::Load { at, .. } | Statement::Store { at, .. } | Statement::Update { at, .. } => {
            fix(at);
        }
        _ => {}
    });
    add(&|statement| match statement {
        Statement::Store { value, .. } | Statement::StoreExclusive { value, .. } => {
            fix_value(value);
        }
        Statement::Update { update, .. } => match update {
            Update::Swap(value) | Update::Add(value) | Update::Cas(_, value) => fix_value(value),
        },
        _ => {}
    });
    add(&|statement| {
        if let Statement::Update { update: Update::Cas(expected, _), .. } = statement {
            fix_value(expected);
        }
    });
    for first in [true, false] {
        add(&|statement| {
            if let Statement::Select { then, otherwise, .. } = statement {
                fix_value(if first { then } else { otherwise });
            }
        });
    }
    found
}
