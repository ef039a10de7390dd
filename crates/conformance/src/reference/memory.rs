//! Memory: the value of every location, and the allocated record cells.

use fencepost_ir::{
    Address, BinOp, CasResult, Expr, Fault, Loc, PoolId, Program, Reg, Thread, Type, Update, Value,
};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Memory {
    /// The values, by location.
    values: Vec<Value>,
    /// Whether a cell is allocated, by pool and cell. Cells count from 0.
    allocated: Vec<Vec<bool>>,
}

impl Memory {
    /// Returns memory before `init`.
    pub(super) fn initial(program: &Program) -> Self {
        Memory {
            values: program.locations.iter().map(|location| location.init).collect(),
            allocated: program.pools.iter().map(|pool| vec![false; pool.cells as usize]).collect(),
        }
    }

    pub(super) fn read(&self, loc: Loc) -> Value {
        self.values[loc.index()]
    }

    /// Returns the values, by location.
    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    /// Writes a store to memory. If the cell is no longer allocated, the store is a `UseAfterFree`.
    pub(super) fn write(&mut self, program: &Program, loc: Loc, value: Value) -> Result<(), Fault> {
        self.check_allocated(program, loc)?;
        self.values[loc.index()] = value;
        Ok(())
    }

    /// Returns the location of an access. Makes every check of an address.
    pub(super) fn locate(
        &self,
        program: &Program,
        address: &Address,
        registers: &[Value],
    ) -> Result<Loc, Fault> {
        let loc = resolve_address(program, address, &|expr| eval(expr, registers))?;
        self.check_allocated(program, loc)?;
        Ok(loc)
    }

    fn check_allocated(&self, program: &Program, loc: Loc) -> Result<(), Fault> {
        match program.cell_of(loc) {
            Some((pool, cell)) if !self.allocated[pool.index()][cell as usize] => {
                Err(program.access_fault(loc))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Performs `new`: takes the lowest cell of the pool that is not allocated (none:
    /// `PoolExhausted`, or the reference 0 if the pool yields null), writes the initial values of its fields directly to memory, and returns
    /// the reference.
    pub(super) fn allocate(&mut self, program: &Program, pool: PoolId) -> Result<Value, Fault> {
        let cells = &mut self.allocated[pool.index()];
        let Some(cell) = cells.iter().position(|used| !used) else {
            return if program.pool(pool).yields_null { Ok(0) } else { Err(Fault::PoolExhausted) };
        };
        cells[cell] = true;
        let reference = cell as Value + 1;
        for loc in cell_locations(program, pool, reference) {
            self.values[loc.index()] = program.location(loc).init;
        }
        Ok(reference)
    }

    /// Performs `free`. `free` of null is `NullReference`. `free` of a cell that is not allocated
    /// is `DoubleFree`.
    pub(super) fn free(&mut self, pool: PoolId, reference: Value) -> Result<(), Fault> {
        if reference == 0 {
            return Err(Fault::NullReference);
        }
        let used = &mut self.allocated[pool.index()][reference as usize - 1];
        if !*used {
            return Err(Fault::DoubleFree);
        }
        *used = false;
        Ok(())
    }

    /// Performs an update and returns its result. All operands are evaluated first, even those of a
    /// `cas` that fails.
    pub(super) fn update(
        &mut self,
        program: &Program,
        at: &Address,
        update: &Update,
        registers: &[Value],
    ) -> Result<Value, Fault> {
        let loc = self.locate(program, at, registers)?;
        let old = self.read(loc);
        let (new, yields) = match update {
            Update::Cas { expected, new, result: CasResult::Success } => {
                let (expected, new) = (eval(expected, registers)?, eval(new, registers)?);
                if old == expected { (Some(new), 1) } else { (None, 0) }
            }
            Update::Cas { expected, new, result: CasResult::Old } => {
                let (expected, new) = (eval(expected, registers)?, eval(new, registers)?);
                (if old == expected { Some(new) } else { None }, old)
            }
            Update::Swap { new } => (Some(eval(new, registers)?), old),
            Update::Add { by, wrap: None } => {
                (Some(BinOp::Add.apply(old, eval(by, registers)?)?), old)
            }
            Update::Add { by, wrap: Some(range) } => {
                let sum = i128::from(old) + i128::from(eval(by, registers)?);
                (Some(congruent(sum, *range)), old)
            }
            Update::Bits { op, by } => (Some(op.apply(old, eval(by, registers)?)?), old),
        };
        if let Some(new) = new {
            self.write(program, loc, check_location_range(program, loc, new)?)?;
        }
        Ok(yields)
    }
}

/// Evaluates an expression.
pub(super) fn eval(expr: &Expr<Reg>, registers: &[Value]) -> Result<Value, Fault> {
    expr.eval(&|reg: &Reg| registers[reg.index()])
}

/// Returns the location of an address: `base + (cell - 1) * stride + index`. Evaluates and checks
/// the cell first, then the index. Does not check that the cell is allocated.
pub(super) fn resolve_address(
    program: &Program,
    address: &Address,
    eval: &impl Fn(&Expr<Reg>) -> Result<Value, Fault>,
) -> Result<Loc, Fault> {
    if let Some(pointer) = &address.pointer {
        let number = eval(&pointer.value)?;
        let target = pointer.targets.iter().find(|(known, _)| *known == number);
        return match target {
            Some((_, loc)) => Ok(*loc),
            None if (0..4096).contains(&number) => Err(Fault::NullReference),
            None if pointer.is_ended(number) => Err(Fault::EndedLifetime),
            None => Err(Fault::InvalidPointer),
        };
    }
    let mut loc = address.base.0;
    if let Some((pool, cell)) = &address.cell {
        let cell = eval(cell)?;
        if cell == 0 {
            return Err(Fault::NullReference);
        }
        loc += (cell as u32 - 1) * program.pool(*pool).stride;
    }
    if let Some((length, index)) = &address.index {
        let index = eval(index)?;
        if !(0..i64::from(*length)).contains(&index) {
            return Err(Fault::OutOfBounds);
        }
        loc += index as u32;
    }
    Ok(Loc(loc))
}

/// Returns all locations of a record cell. `null` has none.
pub(super) fn cell_locations(
    program: &Program,
    pool: PoolId,
    reference: Value,
) -> impl Iterator<Item = Loc> + use<> {
    let (base, stride) = (program.pool(pool).base.0, program.pool(pool).stride);
    (0..stride).filter(move |_| reference != 0).map(move |field| {
        let cell = reference as u32 - 1;
        Loc(base + cell * stride + field)
    })
}

/// Returns the value if it is in the range of the location.
pub(super) fn check_location_range(
    program: &Program,
    loc: Loc,
    value: Value,
) -> Result<Value, Fault> {
    check_range(program, &program.location(loc).ty, value)
}

/// Returns the value if it is in the range of the register.
pub(super) fn check_register_range(
    program: &Program,
    thread: &Thread,
    reg: Reg,
    value: Value,
) -> Result<Value, Fault> {
    check_range(program, &thread.registers[reg.index()].ty, value)
}

/// Returns the number of a range that differs from `sum` by a multiple of the size of the range.
/// Steps towards the range, unlike the machine, which divides.
pub(crate) fn congruent(sum: i128, (lo, hi): (Value, Value)) -> Value {
    let size = i128::from(hi) - i128::from(lo) + 1;
    let mut value = sum;
    while value < i128::from(lo) {
        value += size;
    }
    while value > i128::from(hi) {
        value -= size;
    }
    Value::try_from(value).expect("a value of the range")
}

fn check_range(program: &Program, ty: &Type, value: Value) -> Result<Value, Fault> {
    match program.limits(ty) {
        Some((lo, hi)) if value < lo || hi < value => Err(Fault::OutOfRange),
        Some(_) | None => Ok(value),
    }
}
