//! Programs (shared locations, pools, threads of labelled statements) and problems (a program with
//! its properties).

use crate::access_order::AccessOrder;
use crate::expr::{Expr, Fault};
use crate::flow;
use crate::ids::{Label, Loc, Pc, PlaceId, PoolId, Reg, ThreadId};
use crate::op::Op;
use crate::place::Place;
use crate::property::{Condition, Observable, Property, Quantifier};
use crate::span::Span;
use crate::value::{Type, Value, is_int};
use std::collections::{BTreeMap, BTreeSet};

/// A shared memory location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The name in the source: `turn`, `want[0]`, `Node#1.next`. Names of auxiliary locations begin
    /// with `%`.
    pub name: String,
    /// The type of its values.
    pub ty: Type,
    /// The value before `init` runs.
    pub init: Value,
}

impl Location {
    /// Returns whether the location is not in the source: a front end added it. The names of such
    /// locations begin with `%`.
    pub fn is_auxiliary(&self) -> bool {
        self.name.starts_with('%')
    }
}

/// A bounded pool of records. The fields of its cells are consecutive locations that start at
/// `base`. Each cell has `stride` locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    /// The name of the record type.
    pub name: String,
    /// The first field of the first cell.
    pub base: Loc,
    /// The number of cells.
    pub cells: u32,
    /// The number of locations of each cell.
    pub stride: u32,
    /// Whether a `new` on a pool without a free cell yields 0 instead of a fault.
    pub yields_null: bool,
    /// Whether its cell is a local variable of the source: an access to a cell that is not
    /// allocated is an access after the end of its lifetime.
    pub is_local: bool,
}

/// A thread-local register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// The name in the source. Names of temporaries begin with `%`.
    pub name: String,
    /// The type of its values. All registers start as 0.
    pub ty: Type,
}

impl Register {
    /// Returns whether the register is a temporary without a name in the source.
    pub fn is_temporary(&self) -> bool {
        self.name.starts_with('%')
    }
}

/// One statement of a thread's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stmt {
    /// The source statement that this statement is a copy of.
    pub label: Label,
    /// The operation.
    pub op: Op,
    /// The successor; unused by `Branch` and `Halt`.
    pub next: Pc,
    /// Whether a thread is in a `critical` block when its program counter is here.
    pub critical: bool,
}

/// A thread instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// The name in reports: `writer`, `p(0)`.
    pub name: String,
    /// The registers.
    pub registers: Vec<Register>,
    /// The code. Execution starts at `Pc(0)`.
    pub code: Vec<Stmt>,
}

impl Thread {
    /// Returns the statement at a program counter.
    #[inline]
    pub fn stmt(&self, pc: Pc) -> &Stmt {
        &self.code[pc.index()]
    }
}

/// Information about a source statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelInfo {
    /// The source position. For a shared access inside an expression, the position of the access.
    pub span: Span,
    /// The source text on one line.
    pub text: String,
    /// The enclosing procedure or thread template.
    pub function: String,
}

/// A bound of a front end: runs that reach the statements with this label are cut there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The label of statements [`Op::Assume`] of the constant 0.
    pub label: Label,
    /// What the bound is, for verdicts: "recursion of `f` deeper than 8 calls".
    pub text: String,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The shared locations. Arrays and pools are contiguous.
    pub locations: Vec<Location>,
    /// The pools.
    pub pools: Vec<Pool>,
    /// Code that runs alone, in one step, before the threads. It accesses memory directly.
    pub init: Option<Thread>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// The source statements, indexed by label.
    pub labels: Vec<LabelInfo>,
    /// The places where fences can be inserted. Empty unless the program is prepared for inference.
    pub places: Vec<Place>,
    /// The bounds that cut runs of the source program.
    pub bounds: Vec<Bound>,
    /// The accesses that are plain in the source: two of them may be a data race. Empty for a
    /// language without plain accesses.
    pub plain: BTreeSet<Label>,
    /// The names of the files of labels that are not in the main file of the source.
    pub included: BTreeMap<Label, String>,
    /// The assertions that are faults of the source: a failure is reported as this fault.
    pub faults: BTreeMap<Label, Fault>,
    /// The locations whose initial value stands for "not initialised". No register for values of
    /// the source can hold this value. In a program with such locations, a value outside of the
    /// range of a register is reported as a use of an uninitialised value.
    pub uninitialised: BTreeSet<Loc>,
    /// The orders of accesses, by label. A fence with one of these labels implements the order for
    /// models without ordered accesses; the other models ignore it.
    pub orders: BTreeMap<Label, AccessOrder>,
    /// The labels of the other fences that implement orders, and of the branches that decide
    /// between them. Models with ordered accesses ignore them.
    pub implied: BTreeSet<Label>,
    /// The labels of the assignments of an [`Expr::Select`] that are
    /// instructions: their condition only selects an operand. Other models than `arm` do not
    /// distinguish them.
    pub selections: BTreeSet<Label>,
}

impl Program {
    /// Returns information about a source statement.
    pub fn label(&self, label: Label) -> &LabelInfo {
        &self.labels[label.index()]
    }

    /// Returns a place.
    pub fn place(&self, place: PlaceId) -> &Place {
        &self.places[place.index()]
    }

    /// Returns a location.
    pub fn location(&self, loc: Loc) -> &Location {
        &self.locations[loc.index()]
    }

    /// Returns a pool.
    pub fn pool(&self, pool: PoolId) -> &Pool {
        &self.pools[pool.index()]
    }

    /// Returns a thread.
    pub fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[thread.index()]
    }

    /// Returns the ids of all threads, in order.
    pub fn thread_ids(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.threads.len()).map(ThreadId::from_index)
    }

    /// Returns the order of a statement's access on machines with ordered accesses.
    pub fn access_order(&self, stmt: &Stmt) -> AccessOrder {
        let order = self.orders.get(&stmt.label).copied().unwrap_or_default();
        if stmt.op.access().is_some() { order } else { AccessOrder::PLAIN }
    }

    /// Returns whether a statement only implements the order of an access. Machines with ordered
    /// accesses ignore it.
    pub fn is_implied(&self, stmt: &Stmt) -> bool {
        let is_fence = matches!(stmt.op, Op::Fence(_));
        let is_branch = matches!(stmt.op, Op::Branch { .. });
        is_fence && self.orders.contains_key(&stmt.label)
            || (is_fence || is_branch) && self.implied.contains(&stmt.label)
    }

    /// Returns whether a statement is a conditional selection.
    pub fn is_selection(&self, stmt: &Stmt) -> bool {
        matches!(stmt.op, Op::Assign { expr: Expr::Select(..), .. })
            && self.selections.contains(&stmt.label)
    }

    /// Returns whether the program has pairs of exclusive accesses.
    pub fn has_exclusive_pairs(&self) -> bool {
        let is_exclusive = |label: &Label| self.orders.get(label).is_some_and(|o| o.exclusive);
        let mut code = self.threads.iter().flat_map(|thread| &thread.code);
        !self.orders.is_empty()
            && code.any(|stmt| matches!(stmt.op, Op::Store { .. }) && is_exclusive(&stmt.label))
    }

    /// Returns the thread that runs after all others: the last thread, if it begins with
    /// [`Op::Join`].
    pub fn last_thread(&self) -> Option<ThreadId> {
        let last = self.threads.len().checked_sub(1)?;
        let first = self.threads[last].code.first()?;
        matches!(first.op, Op::Join).then(|| ThreadId::from_index(last))
    }

    /// Returns whether some thread has a statement from which it may wait forever. If not, no run
    /// hangs. The last thread waits only for other threads, or at an `assume`.
    pub fn may_wait_forever(&self) -> bool {
        let last = self.last_thread();
        self.thread_ids().any(|t| {
            let thread = self.thread(t);
            if Some(t) == last {
                thread.code.iter().any(|stmt| matches!(stmt.op, Op::Assume(_)))
            } else {
                flow::may_wait_forever(thread).contains(&true)
            }
        })
    }

    /// Returns whether some statement accesses memory through a pointer.
    pub fn uses_pointers(&self) -> bool {
        let is_pointer = |stmt: &Stmt| stmt.op.address().is_some_and(|at| at.pointer.is_some());
        self.all_code().any(is_pointer)
    }

    /// Returns whether some value needs more than 32 bits: a statement has an operator of 64 bits,
    /// or a location, register or constant is too large.
    pub fn uses_wide_integers(&self) -> bool {
        let is_wide =
            |ty: &Type| self.limits(ty).is_some_and(|(lo, hi)| !is_int(lo) || !is_int(hi));
        let threads = || self.init.iter().chain(&self.threads);
        self.locations.iter().any(|location| is_wide(&location.ty) || !is_int(location.init))
            || threads().flat_map(|thread| &thread.registers).any(|register| is_wide(&register.ty))
            || self.all_code().any(|stmt| {
                let mut wide = false;
                flow::for_each_expr(&stmt.op, &mut |expr| wide |= expr.is_wide());
                wide
            })
    }

    /// Returns every statement, of `init` and of all threads.
    fn all_code(&self) -> impl Iterator<Item = &Stmt> {
        self.init.iter().chain(&self.threads).flat_map(|thread| &thread.code)
    }

    /// Returns the smallest and largest legal value of a type, or `None` for integers without a
    /// declared range.
    pub fn limits(&self, ty: &Type) -> Option<(Value, Value)> {
        ty.limits(|pool| self.pool(pool).cells)
    }

    /// Returns the pool and the cell (from 0) of a location, if the location is a field of a
    /// record.
    pub fn cell_of(&self, loc: Loc) -> Option<(PoolId, u32)> {
        self.pools.iter().enumerate().find_map(|(id, pool)| {
            let offset = loc.0.checked_sub(pool.base.0)?;
            let cell = offset.checked_div(pool.stride)?;
            (cell < pool.cells).then(|| (PoolId::from_index(id), cell))
        })
    }

    /// Formats a value of a location; `?` if it is not initialised.
    pub fn show_value(&self, loc: Loc, value: Value) -> String {
        let location = self.location(loc);
        match value == location.init && self.uninitialised.contains(&loc) {
            true => "?".into(),
            false => location.ty.show(value),
        }
    }

    /// Returns the fault of an access to a location of a cell that is not allocated.
    pub fn access_fault(&self, loc: Loc) -> Fault {
        let is_local = self.cell_of(loc).is_some_and(|(pool, _)| self.pool(pool).is_local);
        if is_local { Fault::EndedLifetime } else { Fault::UseAfterFree }
    }

    /// Returns the name of an observable in reports: `x`, `p(0).r`.
    pub fn observable_name(&self, observable: Observable) -> String {
        match observable {
            Observable::Loc(loc) => self.location(loc).name.clone(),
            Observable::Reg(thread, reg) => {
                let thread = self.thread(thread);
                format!("{}.{}", thread.name, thread.registers[reg.index()].name)
            }
            Observable::At(thread, label) => {
                format!("{} at {}", self.thread(thread).name, self.label(label).text)
            }
        }
    }

    /// Returns the type of an observable.
    pub fn observable_type(&self, observable: Observable) -> &Type {
        match observable {
            Observable::Loc(loc) => &self.location(loc).ty,
            Observable::Reg(thread, reg) => self.register_type(thread, reg),
            Observable::At(..) => &Type::Bool,
        }
    }

    /// Returns the type of a register.
    pub fn register_type(&self, thread: ThreadId, reg: Reg) -> &Type {
        &self.thread(thread).registers[reg.index()].ty
    }
}

/// A program with its properties: the output of a front end and the input of an engine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problem {
    /// The description of the client (`ee|dd`), or empty. Distinguishes the problems of one file.
    pub name: String,
    /// The program.
    pub program: Program,
    /// The properties of every run.
    pub properties: Vec<Property>,
    /// Conditions that some final state must satisfy. A witness verifies such a condition. An
    /// exhaustive search without a witness shows a violation.
    pub sometimes: Vec<Condition>,
    /// Whether runs may end in a hang: all threads that have not finished wait forever. If not set,
    /// a hang is a violation, as a fault is.
    pub may_hang: bool,
    /// The observables of an outcome, in order: those listed by the user; else those in conditions
    /// on final states; else all locations and all registers with a name in the source.
    pub observed: Vec<Observable>,
}

impl Problem {
    /// Adds a condition on final states to `properties` or `sometimes`, depending on its
    /// quantifier.
    pub fn add_final(&mut self, quantifier: Quantifier, condition: Condition) {
        match quantifier {
            Quantifier::Exists => self.sometimes.push(condition),
            Quantifier::Forall => self.properties.push(Property::FinalForall(condition)),
            Quantifier::Never => self.properties.push(Property::FinalNever(condition)),
        }
    }

    /// Returns all conditions on final states with their quantifiers. Those in `properties` come
    /// first.
    pub fn finals(&self) -> impl Iterator<Item = (Quantifier, &Condition)> {
        let always = self.properties.iter().filter_map(|property| match property {
            Property::FinalForall(condition) => Some((Quantifier::Forall, condition)),
            Property::FinalNever(condition) => Some((Quantifier::Never, condition)),
            Property::Assertions
            | Property::MutualExclusion
            | Property::Invariant(_)
            | Property::DeadlockFree
            | Property::Progress
            | Property::Operations(_) => None,
        });
        always.chain(self.sometimes.iter().map(|condition| (Quantifier::Exists, condition)))
    }

    /// Returns whether there is nothing to check except faults and hangs.
    pub fn has_no_properties(&self) -> bool {
        self.properties.is_empty() && self.sometimes.is_empty()
    }

    /// Returns whether every thread must get on in every fair run.
    pub fn requires_progress(&self) -> bool {
        self.properties.contains(&Property::Progress)
    }

    /// Returns whether all properties of every run are about failures, critical sections, hangs and
    /// final states. So nothing depends on what memory contains between two accesses, or on when an
    /// access becomes visible.
    pub fn ignores_intermediate_states(&self) -> bool {
        self.properties.iter().all(|property| match property {
            Property::Assertions
            | Property::MutualExclusion
            | Property::FinalForall(_)
            | Property::FinalNever(_)
            | Property::DeadlockFree => true,
            Property::Invariant(_) | Property::Operations(_) | Property::Progress => false,
        })
    }

    /// Returns whether some property of every run is a condition on final states.
    pub fn has_final_conditions(&self) -> bool {
        let is_condition =
            |property: &_| matches!(property, Property::FinalForall(_) | Property::FinalNever(_));
        self.properties.iter().any(is_condition)
    }

    /// Returns whether some property of every run is about final states.
    pub fn has_final_properties(&self) -> bool {
        self.properties.iter().any(|property| match property {
            Property::FinalForall(_) | Property::FinalNever(_) | Property::Operations(_) => true,
            Property::Assertions
            | Property::MutualExclusion
            | Property::Invariant(_)
            | Property::DeadlockFree
            | Property::Progress => false,
        })
    }

    /// Returns the problem with the properties and `sometimes` conditions of another problem.
    pub fn with_requirements_of(self, other: &Problem) -> Problem {
        let (properties, sometimes) = (other.properties.clone(), other.sometimes.clone());
        Problem { properties, sometimes, may_hang: other.may_hang, ..self }
    }

    /// Returns the problem without properties and `sometimes` conditions. Only faults remain to
    /// check.
    pub fn without_requirements(&self) -> Problem {
        let (properties, sometimes) = (Vec::new(), Vec::new());
        Problem { properties, sometimes, may_hang: true, ..self.clone() }
    }

    /// Allows hangs. Removes the properties that forbid them: `deadlock_free` and `progress`.
    pub fn allow_hangs(&mut self) {
        self.may_hang = true;
        let forbids_hangs =
            |property: &Property| matches!(property, Property::DeadlockFree | Property::Progress);
        self.properties.retain(|property| !forbids_hangs(property));
    }

    /// Returns the problem with its safety properties only, without the `sometimes` conditions.
    pub fn safety(&self) -> Problem {
        Problem { sometimes: Vec::new(), ..self.clone() }
    }

    /// Returns the registers of a thread that are read in final states, each once: those in
    /// properties and, if `outcomes` is set, those in outcomes.
    pub fn observed_registers(&self, thread: ThreadId, outcomes: bool) -> Vec<Reg> {
        let mut found = Vec::new();
        let mut add = |observable: &Observable| {
            if let Observable::Reg(owner, reg) = observable
                && *owner == thread
                && !found.contains(reg)
            {
                found.push(*reg);
            }
        };
        if outcomes {
            self.observed.iter().for_each(&mut add);
        }
        for condition in &self.sometimes {
            condition.expr.for_each_var(&mut add);
        }
        for property in &self.properties {
            match property {
                Property::FinalForall(condition)
                | Property::FinalNever(condition)
                | Property::Invariant(condition) => {
                    condition.expr.for_each_var(&mut add);
                }
                Property::Operations(operations) => {
                    for (owner, all) in &operations.threads {
                        let kept = all.iter().filter_map(|operation| Some(operation.result?.1));
                        let seen = all.iter().flat_map(|operation| &operation.seen);
                        let all = kept.chain(seen.map(|(_, reg)| *reg));
                        all.for_each(|reg| add(&Observable::Reg(*owner, reg)));
                    }
                }
                Property::Assertions
                | Property::MutualExclusion
                | Property::DeadlockFree
                | Property::Progress => {}
            }
        }
        found
    }
}
