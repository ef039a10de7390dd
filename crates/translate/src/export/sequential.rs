//! Exports a program as sequential C for verifiers without threads: the threads run one after
//! another. Source: Lal and Reps, *Reducing concurrent analysis under a context bound to sequential
//! analysis*, applied to the simulation of store buffers with contexts \[Zac\]. Direction: exact
//! within the bound on contexts, except for overflow, which is undefined in C.
//!
//! The contexts of all threads have slots in one order. Slot 0 is the initial state. A thread
//! occupies its slots in increasing order; then the next thread occupies some of the remaining
//! ones. Every shared variable has a copy for each slot. If the preceding slot is already occupied,
//! its context is finished, and the new context starts with the values that it left. Otherwise the
//! values are guessed, and the thread that later occupies the preceding slot must leave exactly
//! these values; else the run is discarded. At the end, no slot is skipped. So guesses are
//! confirmed as early as possible, and the last thread guesses nothing.
//!
//! DIVERGENCE from Lal and Reps: they pass all contexts of a round from thread to thread in a fixed
//! order. Here the order is chosen, because the bound applies to each thread.
//!
//! Until the last thread ends, guesses may be unconfirmed. So a failure is recorded in `error`, and
//! asserted when all guesses are confirmed.

mod prelude;

use super::Export;
use super::actions::{Action, Env, Leaf};
use super::c::prelude::reserved;
use super::c::{
    CProgram, Choices, Code, PreludeParts, Role, holds_without_fault, init_ranges,
    observed_registers, range_comment,
};
use super::expr::{Dialect, negated_condition, number};
use super::lower::lower;
use super::names::{Names, Variable};
use super::text::{TextWriter, comment_safe};
use crate::{Translation, Unsupported};
use fencepost_ir::range::ranges;
use fencepost_ir::{INT_LIMITS, Loc, Problem, Program, Property, Quantifier, ThreadId};
use std::collections::BTreeSet;

/// Exports the program as sequential C. The program must be the translation, made by
/// [`sequentialize`](crate::contexts::sequentialize).
pub fn sequential(export: &Export<'_>, translation: &Translation) -> Result<String, Unsupported> {
    debug_assert_eq!(
        export.problem, &translation.problem,
        "the exported program must be the translation"
    );
    let problem = &lower(export.problem)?.problem;
    let export = &Export { problem, ..*export };
    let words = reserved(&problem.program, prelude::WORDS);
    let mut names = Names::new(&problem.program, &words);
    let observed_registers = observed_registers(problem, &mut names);
    let mut shared = Vec::new();
    for at in 0..names.variables.len() {
        let variable = names.variables[at].clone();
        // Locations added by lowering have no owner.
        if translation.owners.get(variable.first.index()).is_some_and(Option::is_some) {
            continue;
        }
        let now = names.add_global(&format!("{}_at", variable.name));
        let guess = names.add_global(&format!("{}_guess", variable.name));
        // Threads access the copy of the current slot.
        names.variables[at].name = format!("{now}[now]");
        shared.push(Shared { variable, at: now, guess });
    }
    let mut uses = PreludeParts::of(problem);
    uses.locked = true;
    let ranges = ranges(&problem.program);
    let init_ranges = init_ranges(problem);
    let program = CProgram {
        problem,
        names: &names,
        observed_registers: &observed_registers,
        choices: Choices::default(),
        ranges,
        init_ranges,
        uses,
    };
    let simulations = thread_simulations(translation).ok_or(Unsupported::NotAContextSimulation)?;
    let writers = writers(&problem.program, simulations.len());
    let sequence =
        Sequence { program: &program, shared: &shared, simulations: &simulations, writers };
    let mut out = TextWriter::new(export, ("/* ", " */"));
    sequence.write(export, &mut out);
    Ok(out.finish())
}

/// The locations and limits of the simulation of one thread.
struct Simulation {
    /// The largest number of contexts.
    contexts: usize,
    /// The location that is 1 if the thread has halted with no pending store.
    done: Loc,
}

/// Returns the simulation of each original thread; `None` if there are no threads or no context
/// simulation. The locations are identified by their owner and a prefix of their name.
fn thread_simulations(translation: &Translation) -> Option<Vec<Simulation>> {
    let program = &translation.problem.program;
    let find = |t: ThreadId, prefix: &str| {
        let is_it = |loc: &Loc| {
            let name = &program.location(*loc).name;
            translation.owners[loc.index()] == Some(t) && name.starts_with(prefix)
        };
        (0..program.locations.len()).map(Loc::from_index).find(is_it)
    };
    let originals = program.threads.len() / 2;
    if originals == 0 {
        return None;
    }
    (program.thread_ids().take(originals))
        .map(|t| {
            let (begun, done) = (find(t, "r_SC_")?, find(t, "done_")?);
            let (_, most) = program.limits(&program.location(begun).ty)?;
            Some(Simulation { contexts: usize::try_from(most).ok()?, done })
        })
        .collect()
}

/// Returns the pairs of a location and an original thread that writes it, itself or in its helper.
fn writers(program: &Program, originals: usize) -> BTreeSet<(Loc, usize)> {
    let mut writers = BTreeSet::new();
    for (at, thread) in program.threads.iter().enumerate() {
        for stmt in &thread.code {
            let written = Action::of(&stmt.op, &Env::default()).written_place().cloned();
            let locations = written.iter().flat_map(Leaf::locations);
            writers.extend(locations.map(|loc| (loc, at % originals)));
        }
    }
    writers
}

/// A variable with a copy for each slot.
struct Shared {
    /// The variable, with its own name.
    variable: Variable,
    /// The name of the array of copies.
    at: String,
    /// The name of the array of values at the beginning of each context.
    guess: String,
}

impl Shared {
    /// Returns the elements: the location, and the index text that selects it in a copy.
    fn elements(&self) -> impl Iterator<Item = (Loc, String)> {
        self.variable
            .locations()
            .enumerate()
            .map(|(at, loc)| (loc, self.variable.len.map_or(String::new(), |_| format!("[{at}]"))))
    }
}

/// The data for writing the program.
struct Sequence<'a> {
    program: &'a CProgram<'a>,
    shared: &'a [Shared],
    simulations: &'a [Simulation],
    /// The pairs of a location and an original thread that writes it, itself or in its helper.
    writers: BTreeSet<(Loc, usize)>,
}

impl Sequence<'_> {
    fn problem(&self) -> &Problem {
        self.program.problem
    }

    fn write(&self, export: &Export<'_>, out: &mut TextWriter<'_>) {
        let program = &self.problem().program;
        out.line("/*");
        for line in export.about {
            out.line(format!(" * {}", comment_safe(line)).trim_end());
        }
        prelude::about(out);
        out.line(" */");
        let witnesses = self.problem().finals().filter(|(q, _)| *q == Quantifier::Exists).count();
        prelude::write(self.program.uses, self.guesses_any_number(), witnesses, out);
        self.variables(out);
        self.context_functions(out);
        if self.has_invariants() {
            self.invariants(out);
        }
        prelude::steps(self.has_invariants(), out);
        if let Some(init) = &program.init {
            Code::new(self.program, Role::Init, None, init, out).write("static void init(void)");
        }
        for at in 0..self.simulations.len() {
            self.thread(at, out);
        }
        self.run(out);
        self.reset(out);
        prelude::main(witnesses, out);
    }

    /// Writes a thread, after the function that begins its contexts.
    fn thread(&self, at: usize, out: &mut TextWriter<'_>) {
        let program = &self.problem().program;
        let id = |at: usize| ThreadId::from_index(at);
        let helper = at + self.simulations.len();
        let (name, context) =
            (&self.program.names.threads[at], &self.program.names.threads[helper]);
        let first = format!("next_slot({at});");
        let head = format!("static void {context}(void)");
        let thread = program.thread(id(helper));
        Code::new(self.program, Role::ContextStart(&first), Some(id(helper)), thread, out)
            .write(&head);
        let head = format!("static void {name}(void)");
        let thread = program.thread(id(at));
        Code::new(self.program, Role::SequentialThread(context), Some(id(at)), thread, out)
            .write(&head);
    }

    fn has_invariants(&self) -> bool {
        !self.program.invariant_locations().is_empty()
    }

    fn variables(&self, out: &mut TextWriter<'_>) {
        let places = 1 + self.simulations.iter().map(|s| s.contexts).sum::<usize>();
        let threads = self.simulations.len();
        out.line(&format!("enum {{ THREADS = {threads}, SLOTS = {places} }};"));
        out.line("static int now;         /* the slot of the current context */");
        out.line("static int used[SLOTS]; /* whether a slot is occupied */");
        out.line(
            "static int error;       /* whether a check failed; valid only after the last thread */",
        );
        if !self.shared.is_empty() {
            out.line("");
            out.line("/* Shared variables: the current value in each slot, and the value when its context began. */");
        }
        for shared in self.shared {
            let len = shared.variable.len.map(|len| format!("[{len}]")).unwrap_or_default();
            let comment = range_comment(&shared.variable);
            let (at, guess) = (&shared.at, &shared.guess);
            out.line(&format!("static int {at}[SLOTS]{len}, {guess}[SLOTS]{len};{comment}"));
        }
        out.line("");
        out.line("/* The variables of the simulation of single threads. */");
        self.program.variables(&|variable| self.is_simulation_variable(variable), out);
    }

    /// Returns whether the variable belongs to the simulation of one thread.
    fn is_simulation_variable(&self, variable: &Variable) -> bool {
        self.shared.iter().all(|shared| shared.variable.first != variable.first)
    }

    /// Returns whether some guess has no range.
    fn guesses_any_number(&self) -> bool {
        let mut locations = self.shared.iter().flat_map(|shared| shared.variable.locations());
        locations.any(|loc| self.program.ranges.locations[loc.index()] == INT_LIMITS)
    }

    /// Writes the functions that begin and end a context for shared variables.
    fn context_functions(&self, out: &mut TextWriter<'_>) {
        out.line("");
        out.line("/* If the next slot is occupied, its guessed values must equal the values left here. */");
        out.open("static void leave_slot(void) {");
        out.line("if (now + 1 == SLOTS || !used[now + 1]) return;");
        for (shared, element) in self.elements() {
            let (at, guess) = (&shared.at, &shared.guess);
            out.line(&format!("assume({guess}[now + 1]{element} == {at}[now]{element});"));
        }
        out.close("}");
        out.line("");
        out.line("/* A thread begins a context in a later free slot, at least two slots after its last one. */");
        out.open("static void next_slot(int thread) {");
        let is_only = |(loc, _): (Loc, String)| self.writers(loc).len() == 1;
        if self.shared.iter().flat_map(Shared::elements).any(is_only) {
            out.line("int before = now;");
        }
        out.line("leave_slot();");
        out.line("now = choose(now == 0 ? 1 : now + 2, SLOTS - 1);");
        out.line("assume(!used[now]);");
        out.line("/* Later threads must be able to fill the gap: the last thread leaves no gap, the one before it a single slot. */");
        out.line("assume(used[now - 1] || thread < THREADS - 2 || (thread == THREADS - 2 && used[now - 2]));");
        out.line("used[now] = 1;");
        self.initial_values(out);
        out.close("}");
    }

    /// Writes the initial values of a context: the values of the preceding slot, or guesses. Values
    /// that no other thread writes are not guessed.
    fn initial_values(&self, out: &mut TextWriter<'_>) {
        out.open("if (used[now - 1]) {");
        for (shared, element) in self.elements() {
            let (at, guess) = (&shared.at, &shared.guess);
            out.line(&format!("{guess}[now]{element} = {at}[now - 1]{element};"));
        }
        out.close("} else {");
        out.indent_again();
        for shared in self.shared {
            for (loc, element) in shared.elements() {
                let (lo, hi) = self.program.ranges.locations[loc.index()];
                let mut value = match (number(lo, Dialect::C), number(hi, Dialect::C)) {
                    _ if (lo, hi) == INT_LIMITS => "nondet_int()".into(),
                    (lo, hi) => format!("choose({lo}, {hi})"),
                };
                match self.writers(loc)[..] {
                    [] => value = format!("{}[0]{element}", shared.at),
                    [only] => {
                        let own = format!("{}[before]{element}", shared.at);
                        value = format!("thread == {only} ? {own} : {value}");
                    }
                    [_, _, ..] => {}
                }
                out.line(&format!("{}[now]{element} = {value};", shared.guess));
            }
        }
        out.close("}");
        for (shared, element) in self.elements() {
            let (at, guess) = (&shared.at, &shared.guess);
            out.line(&format!("{at}[now]{element} = {guess}[now]{element};"));
        }
    }

    /// Returns the threads that write a location, themselves or in their helper.
    fn writers(&self, loc: Loc) -> Vec<usize> {
        self.writers.iter().filter(|(written, _)| *written == loc).map(|(_, at)| *at).collect()
    }

    fn elements(&self) -> impl Iterator<Item = (&Shared, String)> {
        self.shared
            .iter()
            .flat_map(|shared| shared.elements().map(move |(_, element)| (shared, element)))
    }

    fn invariants(&self, out: &mut TextWriter<'_>) {
        out.line("");
        out.open("static int invariants(void) {");
        for property in &self.problem().properties {
            if let Property::Invariant(condition) = property {
                let broken = self
                    .program
                    .condition(&negated_condition(&holds_without_fault(&condition.expr)));
                out.line(&format!("if ({broken}) return 0;"));
            }
        }
        out.line("return 1;");
        out.close("}");
    }

    /// Writes the function that executes one run.
    fn run(&self, out: &mut TextWriter<'_>) {
        let program = &self.problem().program;
        out.line("");
        out.open("static void run(void) {");
        out.line("now = 0; used[0] = 1;");
        for shared in self.shared {
            for (loc, element) in shared.elements() {
                let init = number(program.location(loc).init, Dialect::C);
                out.line(&format!("{}[0]{element} = {init};", shared.at));
            }
        }
        if program.init.is_some() {
            out.line("init();");
        }
        if self.has_invariants() {
            out.line("assert(invariants());");
        }
        for at in 0..self.simulations.len() {
            let name = &self.program.names.threads[at];
            out.line(&format!("now = 0; {name}(); leave_slot();"));
        }
        out.line("/* No slot is skipped; the last occupied slot has the final state. */");
        out.line("for (now = 1; now < SLOTS; now++) assume(used[now - 1] || !used[now]);");
        out.line("for (now = SLOTS - 1; !used[now]; now--) ;");
        self.final_conditions(out);
        for name in self.program.unused_variables().iter().filter(|name| !name.ends_with("[now]")) {
            out.line(&format!("(void){name};"));
        }
        out.line("assert(!error);");
        out.close("}");
    }

    /// Writes the conditions on final states.
    fn final_conditions(&self, out: &mut TextWriter<'_>) {
        if self.problem().finals().next().is_none() {
            return;
        }
        let done: Vec<String> =
            self.simulations.iter().map(|s| self.program.names.location(s.done)).collect();
        out.open(&format!("if ({}) {{", done.join(" && ")));
        let mut witnesses = 0;
        for (quantifier, condition) in self.problem().finals() {
            let text = comment_safe(&condition.text);
            match quantifier {
                Quantifier::Forall => {
                    let broken = self
                        .program
                        .condition(&negated_condition(&holds_without_fault(&condition.expr)));
                    out.line(&format!("if ({broken}) error = 1;  /* final forall {text} */"));
                }
                Quantifier::Never => {
                    let holds = holds_without_fault(&negated_condition(&condition.expr));
                    let broken = self.program.condition(&negated_condition(&holds));
                    out.line(&format!("if ({broken}) error = 1;  /* final never {text} */"));
                }
                Quantifier::Exists => {
                    out.line(&format!("/* final exists {text} */"));
                    let holds = self.program.condition(&holds_without_fault(&condition.expr));
                    out.line(&format!("witness({witnesses}, {holds});"));
                    witnesses += 1;
                }
            }
        }
        out.close("}");
    }

    /// Writes the function that restores the state before a run.
    fn reset(&self, out: &mut TextWriter<'_>) {
        let program = &self.problem().program;
        out.line("");
        out.line("#if defined(FENCEPOST_ENUMERATE)");
        out.open("static void reset(void) {");
        out.line("error = 0;");
        out.line("memset(used, 0, sizeof used);");
        for variable in
            self.program.names.variables.iter().filter(|v| self.is_simulation_variable(v))
        {
            let inits: Vec<_> = variable.locations().map(|l| program.location(l).init).collect();
            if inits.iter().all(|init| *init == 0) && variable.len.is_some() {
                out.line(&format!("memset({0}, 0, sizeof {0});", variable.name));
                continue;
            }
            for (loc, init) in variable.locations().zip(inits) {
                let (place, init) = (self.program.names.location(loc), number(init, Dialect::C));
                out.line(&format!("{place} = {init};"));
            }
        }
        for (_, _, name) in self.program.observed_registers {
            out.line(&format!("{name} = 0;"));
        }
        out.close("}");
        out.line("#endif");
    }
}
