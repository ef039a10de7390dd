//! The program: shared locations, pools, threads of labelled statements, properties.

use crate::ids::{Label, Loc, Pc, PlaceId, PoolId, Reg, ThreadId};
use crate::op::Op;
use crate::place::Place;
use crate::property::{Condition, Observable, Property, Quantifier};
use crate::span::Span;
use crate::value::{Type, Value};

/// A shared memory cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// As the user writes it: `turn`, `want[0]`, `Node#1.next`.
    pub name: String,
    /// What it holds.
    pub ty: Type,
    /// Its value before `init` runs.
    pub init: Value,
}

/// A bounded supply of records. The fields of its cells are consecutive locations from `base` on,
/// `stride` of them for each cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pool {
    /// The record type's name.
    pub name: String,
    /// First field of the first cell.
    pub base: Loc,
    /// How many cells.
    pub cells: u32,
    /// How many locations each cell has.
    pub stride: u32,
}

/// A thread-local register.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Register {
    /// As the user writes it. Compiler temporaries begin with `%`.
    pub name: String,
    /// What it holds. All registers start as 0.
    pub ty: Type,
}

impl Register {
    /// Whether the user never named it.
    pub fn is_temporary(&self) -> bool {
        self.name.starts_with('%')
    }
}

/// One statement of a thread's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stmt {
    /// Which source statement it is (a copy of).
    pub label: Label,
    /// What it does.
    pub op: Op,
    /// What comes after; unused by `Branch` and `Halt`.
    pub next: Pc,
    /// Whether a thread whose program counter is here is inside a `critical` block.
    pub critical: bool,
}

/// A thread instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thread {
    /// As shown to the user: `writer`, `p(0)`.
    pub name: String,
    /// Its registers.
    pub registers: Vec<Register>,
    /// Its code. Execution begins at `Pc(0)`.
    pub code: Vec<Stmt>,
}

impl Thread {
    /// The statement at a program counter.
    #[inline]
    pub fn stmt(&self, pc: Pc) -> &Stmt {
        &self.code[pc.index()]
    }
}

/// What is known of a source statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LabelInfo {
    /// Where it is. For a shared access inside an expression, the access itself.
    pub span: Span,
    /// Its source text on one line.
    pub text: String,
    /// The procedure or thread template it is written in.
    pub function: String,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// Shared cells, arrays and pools laid out one after another.
    pub locations: Vec<Location>,
    /// Pools.
    pub pools: Vec<Pool>,
    /// Code that runs alone and indivisibly before the threads, on memory directly.
    pub init: Option<Thread>,
    /// The threads.
    pub threads: Vec<Thread>,
    /// Source statements.
    pub labels: Vec<LabelInfo>,
    /// Where fences may be put; none unless the program was made ready for repair.
    pub places: Vec<Place>,
}

impl Program {
    /// What is known of a source statement.
    pub fn label(&self, label: Label) -> &LabelInfo {
        &self.labels[label.index()]
    }

    /// A place.
    pub fn place(&self, place: PlaceId) -> &Place {
        &self.places[place.index()]
    }

    /// A location.
    pub fn location(&self, loc: Loc) -> &Location {
        &self.locations[loc.index()]
    }

    /// A pool.
    pub fn pool(&self, pool: PoolId) -> &Pool {
        &self.pools[pool.index()]
    }

    /// A thread.
    pub fn thread(&self, thread: ThreadId) -> &Thread {
        &self.threads[thread.index()]
    }

    /// The ids of all threads, in order.
    pub fn thread_ids(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..self.threads.len()).map(ThreadId::from_index)
    }

    /// The smallest and largest legal value of a type, where it limits them.
    pub fn limits(&self, ty: &Type) -> Option<(Value, Value)> {
        ty.limits(|pool| self.pool(pool).cells)
    }

    /// The pool and cell (from 0) a location belongs to, if it is a record's field.
    pub fn cell_of(&self, loc: Loc) -> Option<(PoolId, u32)> {
        self.pools.iter().enumerate().find_map(|(id, pool)| {
            let offset = loc.0.checked_sub(pool.base.0)?;
            let cell = offset.checked_div(pool.stride)?;
            (cell < pool.cells).then(|| (PoolId::from_index(id), cell))
        })
    }

    /// What a reader calls an observable: `x`, `p(0).r`.
    pub fn observable_name(&self, what: Observable) -> String {
        match what {
            Observable::Loc(loc) => self.location(loc).name.clone(),
            Observable::Reg(thread, reg) => {
                let thread = self.thread(thread);
                format!("{}.{}", thread.name, thread.registers[reg.index()].name)
            }
        }
    }

    /// The type of an observable.
    pub fn observable_type(&self, what: Observable) -> &Type {
        match what {
            Observable::Loc(loc) => &self.location(loc).ty,
            Observable::Reg(thread, reg) => self.register_type(thread, reg),
        }
    }

    /// The type of a register.
    pub fn register_type(&self, thread: ThreadId, reg: Reg) -> &Type {
        &self.thread(thread).registers[reg.index()].ty
    }
}

/// A program with what must hold of it: what a front end produces and an engine is asked about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Problem {
    /// Distinguishes the problems of one file: the client's text (`ee|dd`), or empty.
    pub name: String,
    /// The program.
    pub program: Program,
    /// What must hold of every run.
    pub properties: Vec<Property>,
    /// Conditions that some final state must satisfy. Each is verified by a witness, and violated when an
    /// exhaustive search finds none.
    pub sometimes: Vec<Condition>,
    /// What an outcome shows, in order: what the user asked to observe, else what final conditions
    /// mention, else every location and every register the user named.
    pub observed: Vec<Observable>,
}

impl Problem {
    /// Adds a condition on final states where its quantifier says it belongs.
    pub fn add_final(&mut self, quantifier: Quantifier, condition: Condition) {
        match quantifier {
            Quantifier::Exists => self.sometimes.push(condition),
            Quantifier::Forall => self.properties.push(Property::FinalForall(condition)),
            Quantifier::Never => self.properties.push(Property::FinalNever(condition)),
        }
    }

    /// All conditions on final states, with their quantifiers: first those of every run.
    pub fn finals(&self) -> impl Iterator<Item = (Quantifier, &Condition)> {
        let always = self.properties.iter().filter_map(|property| match property {
            Property::FinalForall(condition) => Some((Quantifier::Forall, condition)),
            Property::FinalNever(condition) => Some((Quantifier::Never, condition)),
            Property::Assertions
            | Property::MutualExclusion
            | Property::Invariant(_)
            | Property::DeadlockFree
            | Property::Operations(_) => None,
        });
        always.chain(self.sometimes.iter().map(|condition| (Quantifier::Exists, condition)))
    }

    /// Whether it has nothing to check but faults.
    pub fn states_no_property(&self) -> bool {
        self.properties.is_empty() && self.sometimes.is_empty()
    }

    /// The problem with these requirements instead of its own.
    pub fn with_requirements_of(self, other: &Problem) -> Problem {
        let (properties, sometimes) = (other.properties.clone(), other.sometimes.clone());
        Problem { properties, sometimes, ..self }
    }

    /// The problem without any requirement; only faults are checked.
    pub fn without_requirements(&self) -> Problem {
        Problem { properties: Vec::new(), sometimes: Vec::new(), ..self.clone() }
    }

    /// The safety part of the problem: what must hold of every run.
    pub fn safety(&self) -> Problem {
        Problem { sometimes: Vec::new(), ..self.clone() }
    }

    /// The registers of a thread that someone looks at when all is over: a property or, with `outcomes`, an
    /// outcome. Each once.
    pub fn kept_registers(&self, thread: ThreadId, outcomes: bool) -> Vec<Reg> {
        let mut found = Vec::new();
        let mut note = |what: &Observable| {
            if let Observable::Reg(owner, reg) = what
                && *owner == thread
                && !found.contains(reg)
            {
                found.push(*reg);
            }
        };
        if outcomes {
            self.observed.iter().for_each(&mut note);
        }
        for condition in &self.sometimes {
            condition.expr.for_each_var(&mut note);
        }
        for property in &self.properties {
            match property {
                Property::FinalForall(condition)
                | Property::FinalNever(condition)
                | Property::Invariant(condition) => {
                    condition.expr.for_each_var(&mut note);
                }
                Property::Operations(operations) => {
                    for (owner, all) in &operations.threads {
                        let kept = all.iter().filter_map(|operation| Some(operation.result?.1));
                        let seen = all.iter().flat_map(|operation| &operation.seen);
                        let all = kept.chain(seen.map(|(_, reg)| *reg));
                        all.for_each(|reg| note(&Observable::Reg(*owner, reg)));
                    }
                }
                Property::Assertions | Property::MutualExclusion | Property::DeadlockFree => {}
            }
        }
        found
    }
}
