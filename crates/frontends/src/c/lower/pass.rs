//! One pass over the program: lowers `main`, then the threads that it creates.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use fencepost_ir::assemble::Assembler;
use fencepost_ir::rotate_waits::rotate_waits;
use fencepost_ir::{
    AccessOrder, Bound, Diagnostics, Expr, Fault, Label, Loc, Observable, Place, Problem, Program,
    Property, Span, Thread, flow,
};

use super::aux;
use super::cleanup;
use super::constants;
use super::effects::Effects;
use super::expressions::Value;
use super::labels::Labels;
use super::layout::{LayoutError, POINTER, Scalar, scalar_type, scalars};
use super::lifetimes::Reachable;
use super::memory::{Memory, function_at};
use super::plan::{ObjectId, Plan};
use super::registers::Registers;
use super::state::Known;
use super::thread::{Lowerer, Prefix};
use super::threads::Start;
use crate::Request;
use crate::c::codes;
use crate::c::source_map::{FileKind, SourceMap};
use crate::c::typed::{self, FunctionId, Type, TypeKind};
use crate::fp::limits;

/// The state of a pass.
pub(super) struct Pass<'p> {
    pub(super) program: &'p typed::Program,
    pub(super) sources: &'p SourceMap,
    pub(super) plan: Rc<Plan>,
    pub(super) effects: &'p Effects,
    pub(super) labels: Labels<'p>,
    pub(super) marks_places: bool,
    pub(super) marks_orders: bool,
    pub(super) memory: Memory,
    /// What this pass learns.
    pub(super) next: Plan,
    pub(super) diagnostics: Diagnostics,
    reported: BTreeSet<(&'static str, Span)>,
    starts: Vec<Start>,
    pub(super) threads: Vec<Thread>,
    pub(super) bounds: BTreeMap<Label, (String, Span)>,
    bound_texts: Vec<String>,
    pub(super) places: BTreeMap<Label, Place>,
    /// The marks after the accesses of order places.
    pub(super) order_marks: BTreeSet<Label>,
    /// The labels of marks and fences of accesses that are not alike.
    pub(super) mixed_orders: BTreeSet<Label>,
    /// The plain accesses.
    pub(super) plain: BTreeSet<Label>,
    /// The orders of accesses.
    orders: BTreeMap<Label, AccessOrder>,
    /// The fences and branches that implement orders.
    pub(super) implied: BTreeSet<Label>,
    /// The assertions whose failures are faults of the source.
    pub(super) faults: BTreeMap<Label, Fault>,
    /// The pointers that are freed, with their threads.
    pub(super) freed: Vec<(u32, Expr<fencepost_ir::Reg>)>,
    /// The pools of objects whose type is not known, with an allocation.
    pub(super) unknown_types: BTreeMap<u32, Span>,
    pub(super) has_assertions: bool,
    /// Whether a size limit is exceeded.
    pub(super) stopped: bool,
    pub(super) fuel: u64,
    /// The scalar of each location.
    scalars_of: BTreeMap<Loc, (ObjectId, u32)>,
    /// The local objects whose lifetimes end before the program ends.
    pub(super) ending: BTreeSet<ObjectId>,
    /// By objects that have ended, and size and sign of a scalar.
    pub(super) reachable: BTreeMap<(Vec<ObjectId>, u8, bool), Reachable>,
    pub(super) no_ranges: Arc<[(i64, i64)]>,
}

impl<'p> Pass<'p> {
    pub(super) fn new(
        program: &'p typed::Program,
        sources: &'p SourceMap,
        request: &Request<'_>,
        plan: Rc<Plan>,
        effects: &'p Effects,
        labels: Labels<'p>,
    ) -> Self {
        let memory = Memory::new(program, &plan, effects.marks_pointers());
        let mut scalars_of = BTreeMap::new();
        for (id, object) in memory.objects() {
            let Some(base) = object.base else { continue };
            for at in 0..object.scalars.len() as u32 {
                scalars_of.insert(Loc(base.0 + at), (id, at));
            }
        }
        Pass {
            program,
            sources,
            next: plan.next(),
            plan,
            effects,
            labels,
            marks_places: request.places,
            marks_orders: request.orders,
            memory,
            diagnostics: Diagnostics::new(),
            reported: BTreeSet::new(),
            starts: Vec::new(),
            threads: Vec::new(),
            bounds: BTreeMap::new(),
            bound_texts: Vec::new(),
            places: BTreeMap::new(),
            order_marks: BTreeSet::new(),
            mixed_orders: BTreeSet::new(),
            plain: BTreeSet::new(),
            orders: BTreeMap::new(),
            implied: BTreeSet::new(),
            faults: BTreeMap::new(),
            freed: Vec::new(),
            unknown_types: BTreeMap::new(),
            has_assertions: false,
            stopped: false,
            fuel: limits::FUEL,
            scalars_of,
            ending: BTreeSet::new(),
            reachable: BTreeMap::new(),
            no_ranges: Arc::from([]),
        }
    }

    /// Lowers all threads.
    pub(super) fn run(&mut self, main: FunctionId) {
        self.initialize();
        let span = self.program.functions.get(main.0 as usize).map_or(Span::default(), |f| f.span);
        let argument = Some(0);
        self.starts.push(Start { function: main, argument, is_certain: true, creator: 0 });
        let mut at = 0;
        while at < self.starts.len() && !self.stopped {
            let thread = self.lower_thread(at as u32);
            self.threads.push(thread);
            at += 1;
        }
        self.next.threads = self.starts.len() as u32;
        if self.memory.locations.len() as u64 > limits::LOCATIONS {
            self.stop(codes::PROGRAM_TOO_LARGE, span, "the program has too many locations".into());
        }
        if !self.stopped {
            self.extend_pools();
            self.find_freed();
            self.check_unknown_types();
            self.find_escapes();
            self.find_tracked();
        }
    }

    fn lower_thread(&mut self, thread: u32) -> Thread {
        let start = self.starts[thread as usize];
        let program = self.program;
        let mut code = Assembler::new(Vec::new());
        let (end, cancelled) = (code.target(), code.target());
        let mut registers = Registers::default();
        let result = registers.take(&mut code, "", POINTER);
        let mut lowerer = Lowerer {
            pass: self,
            thread,
            code,
            state: Some(Known::default()),
            frames: Vec::new(),
            registers,
            temporaries: Vec::new(),
            held: BTreeMap::new(),
            objects: Vec::new(),
            end,
            result,
            access_order: AccessOrder::PLAIN,
            sites: Vec::new(),
            conditional: 0,
            may_skip: false,
            may_return: false,
            loops: 0,
            prefix: Prefix::None,
            depth: 0,
            lifetimes: BTreeMap::new(),
            unset_variables: BTreeMap::new(),
            flags: BTreeMap::new(),
            allocations: 0,
            old_values: Vec::new(),
            may_end: false,
            is_certain: start.is_certain,
            cancelled,
            around: Span::default(),
            assumed: None,
            fence_stmt: None,
        };
        let Some(function) = program.functions.get(start.function.0 as usize) else {
            return Thread { name: String::new(), registers: Vec::new(), code: Vec::new() };
        };
        let (span, close) = (function.span, function.close);
        let argument = if thread == 0 {
            if !lowerer.pass.plan.no_prefix {
                lowerer.open_prefix(span);
            }
            Expr::Const(0)
        } else {
            lowerer.begin_thread(&start, span)
        };
        let arguments = (0..function.parameters).map(|at| match at {
            0 => Value::Scalar(argument.clone()),
            _ => Value::Scalar(Expr::Const(0)),
        });
        let arguments = arguments.collect();
        lowerer.run_function(start.function, function, arguments, Vec::new(), None, None, span);
        if lowerer.is_live() {
            lowerer.assign(result, Expr::Const(0), close, 0);
            lowerer.leave_blocks(close);
            lowerer.jump(end, close);
        }
        lowerer.end_thread(&start, close);
        let objects = lowerer.objects.iter().map(|(object, _)| object.clone()).collect();
        let old_values = std::mem::take(&mut lowerer.old_values);
        let (registers, code) = lowerer.code.finish_compact();
        self.next.locals.push(objects);
        let mut thread = Thread { name: String::new(), registers, code };
        cleanup::clean(&mut thread, &|label| self.is_place(label));
        let number = (self.threads.len()) as u32;
        for label in old_values {
            if !thread.code.iter().any(|stmt| stmt.label == label) {
                self.next.unused_old_values.insert((number, label));
            }
        }
        thread
    }

    /// Returns whether statements with this label mark a place.
    fn is_place(&self, label: Label) -> bool {
        self.places.contains_key(&label) || self.order_marks.contains(&label)
    }

    /// Adds a thread. Returns its number, or `None` if there are too many.
    pub(super) fn new_thread(
        &mut self,
        function: FunctionId,
        argument: Option<i64>,
        creator: u32,
        span: Span,
    ) -> Option<u32> {
        if self.starts.len() as u64 >= limits::THREADS {
            self.stop(
                codes::PROGRAM_TOO_LARGE,
                span,
                "the program creates too many threads".into(),
            );
            return None;
        }
        self.starts.push(Start { function, argument, is_certain: true, creator });
        Some(self.starts.len() as u32 - 1)
    }

    /// Returns how many of a thread and its creators run a function.
    pub(super) fn generations(&self, mut thread: u32, function: FunctionId) -> usize {
        let mut count = 0;
        while let Some(start) = self.starts.get(thread as usize) {
            count += usize::from(start.function == function);
            if thread == 0 {
                break;
            }
            thread = start.creator;
        }
        count
    }

    /// Notes whether a thread is created in every run that ends.
    pub(super) fn note_site(&mut self, thread: u32, is_certain: bool) {
        if let Some(start) = self.starts.get_mut(thread as usize) {
            start.is_certain = is_certain;
        }
    }

    /// Returns the number of threads that are known so far.
    pub(super) fn threads_so_far(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Makes an object of a thread known to this pass and the next one.
    pub(super) fn know_object(&mut self, id: ObjectId, name: &str, ty: &Type) {
        self.memory.provisional(self.program, id, name, ty);
    }

    /// Returns whether an object has locations.
    pub(super) fn is_in_memory(&self, id: ObjectId) -> bool {
        self.memory.object(id).is_some_and(|object| object.base.is_some())
    }

    /// Returns the scalar at a location.
    pub(super) fn scalar_of(&self, loc: Loc) -> Option<(ObjectId, u32)> {
        self.scalars_of.get(&loc).copied()
    }

    /// Notes which thread accesses a scalar.
    pub(super) fn note_access(
        &mut self,
        thread: u32,
        id: ObjectId,
        scalar: u32,
        reads: bool,
        writes: bool,
    ) {
        let accessors = self.next.accesses.entry((id, scalar)).or_default();
        accessors.readers |= u64::from(reads) << thread;
        accessors.writers |= u64::from(writes) << thread;
    }

    pub(super) fn type_name(&self, ty: &Type) -> String {
        match &ty.kind {
            TypeKind::Record(id) => {
                let record = self.program.records.get(id.0 as usize);
                record.map_or("struct".into(), |record| record.name.clone())
            }
            TypeKind::Array(element, len) => format!("{}[{len}]", self.type_name(element)),
            TypeKind::Pointer(to) => format!("{} *", self.type_name(to)),
            TypeKind::Int(int) if int.is_bool => "_Bool".into(),
            TypeKind::Int(int) => {
                let sign = if int.signed { "" } else { "unsigned " };
                let name = match int.bits {
                    8 => "char",
                    16 => "short",
                    32 => "int",
                    _ => "long",
                };
                format!("{sign}{name}")
            }
            TypeKind::Void => "void".into(),
            TypeKind::Function(_) => "function".into(),
            TypeKind::Unsupported { name, .. } => name.clone(),
        }
    }

    /// Returns the scalars of a type. Reports a type that has none.
    pub(super) fn scalars(&mut self, ty: &Type, span: Span) -> Rc<[Scalar]> {
        match scalars(self.program, ty, 0) {
            Ok(scalars) => scalars,
            Err(error) => {
                self.layout_error(&error, span);
                Rc::from([])
            }
        }
    }

    pub(super) fn layout_error(&mut self, error: &LayoutError, span: Span) {
        match error {
            LayoutError::Overlap => self.error(
                codes::UNION,
                span,
                "the members of this union overlap only partly".into(),
                "use members at the same place",
            ),
            LayoutError::TooLarge => {
                self.error(
                    codes::PROGRAM_TOO_LARGE,
                    span,
                    "this object is too large".into(),
                    "make it smaller",
                );
            }
        }
    }

    /// Reports an error once for each position.
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: String, hint: &str) {
        if self.reported.insert((code, span)) && self.diagnostics.len() < limits::ERRORS {
            self.diagnostics.error(code, span, message).hint(hint);
        }
    }

    /// Reports an error and ends the pass.
    pub(super) fn stop(&mut self, code: &'static str, span: Span, message: String) {
        if !self.stopped {
            self.error(code, span, message, limits::SIZE_HINT);
        }
        self.stopped = true;
    }

    /// Returns a number for the text of a bound.
    pub(super) fn bound_number(&mut self, text: &str) -> u32 {
        let at = self.bound_texts.iter().position(|known| known == text);
        at.unwrap_or_else(|| {
            self.bound_texts.push(text.into());
            self.bound_texts.len() - 1
        }) as u32
    }

    /// Gives the locations of global variables their initial values.
    fn initialize(&mut self) {
        let program = self.program;
        let ids: Vec<ObjectId> = self.memory.objects().map(|(id, _)| id).collect();
        for id in ids {
            let (ObjectId::Global(at) | ObjectId::ThreadLocal(_, at)) = id else { continue };
            let Some(global) = program.globals.get(at as usize) else { continue };
            let Some(object) = self.memory.object(id) else { continue };
            let (Some(base), Some(init)) = (object.base, &global.init) else { continue };
            let scalars = object.scalars.clone();
            for item in &init.items {
                let number = scalars.iter().position(|scalar| scalar.offset == item.offset);
                let value = constants::initializer(program, &self.memory, &item.value);
                match (number, value) {
                    (Some(number), Some(value)) if scalar_type(&item.value.ty).is_some() => {
                        let loc = base.index() + number;
                        if let Some(location) = self.memory.locations.get_mut(loc) {
                            location.init = value;
                        }
                    }
                    _ => self.error(
                        codes::INITIAL_VALUE,
                        item.value.span,
                        format!("the initialiser of `{}` is not a constant", global.name),
                        "assign the value at the beginning of `main`",
                    ),
                }
            }
        }
    }

    /// Finds the objects and functions whose addresses are values.
    fn find_escapes(&mut self) {
        let mut constants: BTreeSet<i64> = BTreeSet::new();
        for stmt in self.threads.iter().flat_map(|thread| &thread.code) {
            flow::for_each_expr(&stmt.op, &mut |expr| collect_constants(expr, &mut constants));
        }
        let locations = self.memory.locations.iter().enumerate();
        let values =
            locations.filter(|(at, _)| !self.memory.uninitialised.contains(&Loc(*at as u32)));
        constants.extend(values.map(|(_, location)| location.init));
        for constant in constants {
            if let Some((id, _)) = self.memory.object_at(constant)
                && !self.memory.is_pool_cell(id)
            {
                self.next.escaped.insert(id);
            }
            if let Some(function) = function_at(self.program, constant) {
                self.next.escaped_functions.insert(function);
            }
        }
    }

    /// Notes the order of an access. Accesses in the arguments of a macro may share a label: then
    /// both have the weaker order.
    pub(super) fn note_order(&mut self, label: Label, order: AccessOrder) {
        let known = self.orders.entry(label).or_insert(order);
        *known = known.weaker(order);
    }

    /// Returns the problem.
    pub(super) fn problem(mut self, diagnostics: &mut Diagnostics) -> Problem {
        let names = self.thread_names();
        let mut locations = std::mem::take(&mut self.memory.locations);
        let count = locations.len();
        aux::assign(&mut self.threads, &names, &mut locations);
        let mut threads = std::mem::take(&mut self.threads);
        for (thread, name) in threads.iter_mut().zip(names) {
            thread.name = name;
            cleanup::compact(thread, &|label| self.is_place(label));
            cleanup::remove_unused_registers(thread);
            rotate_waits(thread);
        }
        self.threads = threads;
        let observed = self.observed(count);
        let mut program = Program {
            locations,
            pools: std::mem::take(&mut self.memory.pools),
            init: None,
            threads: std::mem::take(&mut self.threads),
            labels: std::mem::take(&mut self.labels.infos),
            uninitialised: std::mem::take(&mut self.memory.uninitialised),
            ..Program::default()
        };
        self.rename_labels(&mut program);
        diagnostics.append(self.diagnostics);
        let properties = vec![Property::Assertions];
        Problem { program, properties, observed, ..Problem::default() }
    }

    /// Returns the names of the threads: `main`, `f`, `f(1)`.
    fn thread_names(&self) -> Vec<String> {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        let mut names = Vec::new();
        for start in &self.starts {
            let function = self.program.functions.get(start.function.0 as usize);
            let name = function.map_or("thread", |function| function.name.as_str());
            let count = counts.entry(name).or_default();
            names.push(match *count {
                0 => name.to_string(),
                count => format!("{name}({count})"),
            });
            *count += 1;
        }
        names
    }

    /// Returns the scalar global variables of the user's files.
    fn observed(&self, count: usize) -> Vec<Observable> {
        let mut observed = Vec::new();
        for (at, global) in self.program.globals.iter().enumerate() {
            let is_users =
                self.sources.file(global.span).is_some_and(|file| file.kind != FileKind::BuiltIn);
            let id = ObjectId::Global(at as u32);
            let base = self.memory.object(id).and_then(|object| object.base);
            if let (true, Some(base), Some(_)) = (is_users, base, scalar_type(&global.ty))
                && base.index() < count
            {
                observed.push(Observable::Loc(base));
            }
        }
        observed
    }

    /// Removes unused labels.
    fn rename_labels(&self, program: &mut Program) {
        let mut used = vec![false; program.labels.len()];
        for stmt in program.threads.iter().flat_map(|thread| &thread.code) {
            used[stmt.label.index()] = true;
        }
        let mut renamed = Vec::with_capacity(used.len());
        let mut kept = Vec::new();
        for (info, used) in std::mem::take(&mut program.labels).into_iter().zip(&used) {
            renamed.push(Label::from_index(kept.len()));
            if *used {
                kept.push(info);
            }
        }
        for stmt in program.threads.iter_mut().flat_map(|thread| &mut thread.code) {
            stmt.label = renamed[stmt.label.index()];
        }
        let keep = |label: &Label| used[label.index()].then(|| renamed[label.index()]);
        for (label, (text, _)) in &self.bounds {
            if let Some(label) = keep(label) {
                program.bounds.push(Bound { label, text: text.clone() });
            }
        }
        let mut places: Vec<Place> = self
            .places
            .values()
            .filter(|place| place.labels().all(|label| !self.mixed_orders.contains(&label)))
            .filter_map(|place| place.clone().renamed(|label| keep(&label)))
            .collect();
        places.sort_by_key(|p| {
            (p.offset, !p.at_end, std::cmp::Reverse(p.wrap.map(|wrap| wrap.start)))
        });
        program.plain = self.plain.iter().filter_map(keep).collect();
        let ordered = self.orders.iter().filter(|(_, order)| **order != AccessOrder::PLAIN);
        program.orders =
            ordered.filter_map(|(label, order)| Some((keep(label)?, *order))).collect();
        program.implied = self.implied.iter().filter_map(keep).collect();
        let included = self.labels.included.iter();
        program.included =
            included.filter_map(|(label, file)| Some((keep(label)?, file.clone()))).collect();
        let faults = self.faults.iter();
        program.faults = faults.filter_map(|(label, fault)| Some((keep(label)?, *fault))).collect();
        program.labels = kept;
        program.places = places;
    }
}

/// Collects the constants of an expression.
fn collect_constants(expr: &Expr<fencepost_ir::Reg>, found: &mut BTreeSet<i64>) {
    match expr {
        Expr::Const(value) => {
            found.insert(*value);
        }
        Expr::Var(_) => {}
        Expr::Unary(_, a) => collect_constants(a, found),
        Expr::Binary(_, a, b) => {
            collect_constants(a, found);
            collect_constants(b, found);
        }
        Expr::Select(c, a, b) => {
            collect_constants(c, found);
            collect_constants(a, found);
            collect_constants(b, found);
        }
    }
}
