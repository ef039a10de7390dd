//! A program as sequential C: its threads run one after another, for verifiers that know no threads. Source: the
//! idea of Lal and Reps, *Reducing concurrent analysis under a context bound to sequential analysis*, for the
//! simulation of store buffers with contexts \[Zac\]. Direction: exact within the bound on contexts, but for
//! overflow, which C leaves undefined.
//!
//! The contexts of all threads have places in one order; place 0 is the beginning, before all of them. A thread
//! takes its places from first to last, then the next thread takes some that are left. For each place there is a
//! copy of every shared variable. Where the place before is taken, it is over, and the context goes on with what
//! it left; else the values are guessed, and whoever takes the place before must leave just these, or the run
//! does not count. In the end no place is left out. So guesses are confirmed as soon as they can be, and
//! the last thread guesses nothing.
//!
//! DIVERGENCE from Lal and Reps: they hand all contexts of a round on from thread to thread in a fixed order. Here
//! the order is chosen, because the bound is one for each thread.
//!
//! Before a thread ends, nothing that it found out is certain. So what fails there is noted in `error`, and asserted
//! when all guesses are confirmed.

mod prelude;

use super::Export;
use super::c::prelude::reserved;
use super::c::{Code, Role, Uses, Whole, holds, kept, surely, unknown};
use super::expr::{Dialect, negated, number};
use super::lower::lower;
use super::names::{Names, Variable};
use super::steps::{Action, Env, Leaf};
use super::text::{Text, harmless};
use crate::{Translation, Unsupported};
use fencepost_ir::interval::FULL;
use fencepost_ir::range::ranges;
use fencepost_ir::{Loc, Problem, Program, Property, Quantifier, ThreadId};
use std::collections::BTreeSet;

/// The program as sequential C. The translation was made to run in [`sequence`](crate::contexts::sequence), and is
/// what is exported.
pub fn sequential(export: &Export<'_>, translation: &Translation) -> Result<String, Unsupported> {
    debug_assert_eq!(export.problem, &translation.problem, "the translation is exported");
    let problem = &lower(export.problem)?.problem;
    let export = &Export { problem, ..*export };
    let words = reserved(&problem.program, prelude::WORDS);
    let mut names = Names::new(&problem.program, &words);
    let kept = kept(problem, &mut names);
    let mut shared = Vec::new();
    for at in 0..names.variables.len() {
        let variable = names.variables[at].clone();
        // What was added in lowering belongs to nobody.
        if translation.owners.get(variable.first.index()).is_some_and(Option::is_some) {
            continue;
        }
        let now = names.global(&format!("{}_at", variable.name));
        let guess = names.global(&format!("{}_guess", variable.name));
        // Threads know it as the copy of the current place.
        names.variables[at].name = format!("{now}[now]");
        shared.push(Shared { variable, at: now, guess });
    }
    let mut uses = Uses::of(problem);
    uses.locked = true;
    let ranges = ranges(&problem.program);
    let unknown = unknown(problem);
    let whole = Whole { problem, names: &names, kept: &kept, ranges, unknown, uses };
    let simulations = simulations(translation).ok_or(Unsupported::NoContexts)?;
    let writers = writers(&problem.program, simulations.len());
    let sequence = Sequence { whole: &whole, shared: &shared, simulations: &simulations, writers };
    let mut out = Text::new(export, ("/* ", " */"));
    sequence.write(export, &mut out);
    Ok(out.finish())
}

/// What must be known of the simulation of a thread.
struct Simulation {
    /// How many contexts it may have.
    contexts: usize,
    /// Whether it has halted with nothing pending.
    done: Loc,
}

/// By original thread; none if there is nothing that runs. The locations are told apart by whose they are and how their names begin.
fn simulations(translation: &Translation) -> Option<Vec<Simulation>> {
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

/// Which locations are written by which of so many original threads.
fn writers(program: &Program, originals: usize) -> BTreeSet<(Loc, usize)> {
    let mut writers = BTreeSet::new();
    for (at, thread) in program.threads.iter().enumerate() {
        for stmt in &thread.code {
            let written = Action::of(&stmt.op, &Env::default()).written().cloned();
            let locations = written.iter().flat_map(Leaf::locations);
            writers.extend(locations.map(|loc| (loc, at % originals)));
        }
    }
    writers
}

/// A variable that has a copy for each place.
struct Shared {
    /// What it is in the program, under its own name.
    variable: Variable,
    /// The name of the copies.
    at: String,
    /// The name of what is found when a context begins.
    guess: String,
}

impl Shared {
    /// Its elements: the location, and how one is picked from a copy.
    fn elements(&self) -> impl Iterator<Item = (Loc, String)> {
        self.variable
            .locations()
            .enumerate()
            .map(|(at, loc)| (loc, self.variable.len.map_or(String::new(), |_| format!("[{at}]"))))
    }
}

/// All that is known when the program is written.
struct Sequence<'a> {
    whole: &'a Whole<'a>,
    shared: &'a [Shared],
    simulations: &'a [Simulation],
    /// Which locations are written by which of the original threads, or where their contexts begin.
    writers: BTreeSet<(Loc, usize)>,
}

impl Sequence<'_> {
    fn problem(&self) -> &Problem {
        self.whole.problem
    }

    fn write(&self, export: &Export<'_>, out: &mut Text<'_>) {
        let program = &self.problem().program;
        out.line("/*");
        for line in export.about {
            out.line(format!(" * {}", harmless(line)).trim_end());
        }
        prelude::about(out);
        out.line(" */");
        let witnesses = self.problem().finals().filter(|(q, _)| *q == Quantifier::Exists).count();
        prelude::write(self.whole.uses, self.guesses_any_number(), witnesses, out);
        self.variables(out);
        self.places(out);
        if self.is_watching() {
            self.invariants(out);
        }
        prelude::steps(self.is_watching(), out);
        if let Some(init) = &program.init {
            Code::new(self.whole, Role::Init, None, init, out).write("static void init(void)");
        }
        for at in 0..self.simulations.len() {
            self.thread(at, out);
        }
        self.run(out);
        self.reset(out);
        prelude::main(witnesses, out);
    }

    /// A thread, and before it, what begins its contexts.
    fn thread(&self, at: usize, out: &mut Text<'_>) {
        let program = &self.problem().program;
        let id = |at: usize| ThreadId::from_index(at);
        let helper = at + self.simulations.len();
        let (name, context) = (&self.whole.names.threads[at], &self.whole.names.threads[helper]);
        let first = format!("next_place({at});");
        let head = format!("static void {context}(void)");
        let thread = program.thread(id(helper));
        Code::new(self.whole, Role::Context(&first), Some(id(helper)), thread, out).write(&head);
        let head = format!("static void {name}(void)");
        let thread = program.thread(id(at));
        Code::new(self.whole, Role::Turn(context), Some(id(at)), thread, out).write(&head);
    }

    fn is_watching(&self) -> bool {
        !self.whole.watched().is_empty()
    }

    fn variables(&self, out: &mut Text<'_>) {
        let places = 1 + self.simulations.iter().map(|s| s.contexts).sum::<usize>();
        let threads = self.simulations.len();
        out.line(&format!("enum {{ THREADS = {threads}, PLACES = {places} }};"));
        out.line("static int now;           /* the place of the context that runs */");
        out.line("static int used[PLACES];  /* whether a place is taken */");
        out.line(
            "static int error;         /* whether something failed; not certain before the end */",
        );
        if !self.shared.is_empty() {
            out.line("");
            out.line("/* Shared variables: what they hold in each place, and what they held when it began. */");
        }
        for shared in self.shared {
            let len = shared.variable.len.map(|len| format!("[{len}]")).unwrap_or_default();
            let holds = holds(&shared.variable);
            let (at, guess) = (&shared.at, &shared.guess);
            out.line(&format!("static int {at}[PLACES]{len}, {guess}[PLACES]{len};{holds}"));
        }
        out.line("");
        out.line("/* What the simulations of single threads need. */");
        self.whole.variables(&|variable| self.is_own(variable), out);
    }

    /// Whether the variable belongs to the simulation of one thread.
    fn is_own(&self, variable: &Variable) -> bool {
        self.shared.iter().all(|shared| shared.variable.first != variable.first)
    }

    /// Whether some guess is without limits.
    fn guesses_any_number(&self) -> bool {
        let mut locations = self.shared.iter().flat_map(|shared| shared.variable.locations());
        locations.any(|loc| self.whole.ranges.locations[loc.index()] == FULL)
    }

    /// How a context begins and ends for shared variables.
    fn places(&self, out: &mut Text<'_>) {
        out.line("");
        out.line("/* If the place after this one is taken, what was found there must be what is left here. */");
        out.open("static void leave_place(void) {");
        out.line("if (now + 1 == PLACES || !used[now + 1]) return;");
        for (shared, element) in self.elements() {
            let (at, guess) = (&shared.at, &shared.guess);
            out.line(&format!("assume({guess}[now + 1]{element} == {at}[now]{element});"));
        }
        out.close("}");
        out.line("");
        out.line("/* A thread begins a context: in a later place that is free, with another one between. */");
        out.open("static void next_place(int thread) {");
        let is_only = |(loc, _): (Loc, String)| self.writers(loc).len() == 1;
        if self.shared.iter().flat_map(Shared::elements).any(is_only) {
            out.line("int before = now;");
        }
        out.line("leave_place();");
        out.line("now = choose(now == 0 ? 1 : now + 2, PLACES - 1);");
        out.line("assume(!used[now]);");
        out.line("/* The threads to come must be able to fill the gap: the last one has none, the one before a single place. */");
        out.line("assume(used[now - 1] || thread < THREADS - 2 || (thread == THREADS - 2 && used[now - 2]));");
        out.line("used[now] = 1;");
        self.find(out);
        out.close("}");
    }

    /// What a context finds: what the place before it left, or what is guessed, unless nobody else writes it.
    fn find(&self, out: &mut Text<'_>) {
        out.open("if (used[now - 1]) {");
        for (shared, element) in self.elements() {
            let (at, guess) = (&shared.at, &shared.guess);
            out.line(&format!("{guess}[now]{element} = {at}[now - 1]{element};"));
        }
        out.close("} else {");
        out.open_again();
        for shared in self.shared {
            for (loc, element) in shared.elements() {
                let (lo, hi) = self.whole.ranges.locations[loc.index()];
                let mut value = match (number(lo, Dialect::C), number(hi, Dialect::C)) {
                    _ if (lo, hi) == FULL => "nondet_int()".into(),
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

    /// The threads that write a location, themselves or where their contexts begin.
    fn writers(&self, loc: Loc) -> Vec<usize> {
        self.writers.iter().filter(|(written, _)| *written == loc).map(|(_, at)| *at).collect()
    }

    fn elements(&self) -> impl Iterator<Item = (&Shared, String)> {
        self.shared
            .iter()
            .flat_map(|shared| shared.elements().map(move |(_, element)| (shared, element)))
    }

    fn invariants(&self, out: &mut Text<'_>) {
        out.line("");
        out.open("static int invariants(void) {");
        for property in &self.problem().properties {
            if let Property::Invariant(condition) = property {
                let broken = self.whole.condition(&negated(&surely(&condition.expr)));
                out.line(&format!("if ({broken}) return 0;"));
            }
        }
        out.line("return 1;");
        out.close("}");
    }

    /// One run.
    fn run(&self, out: &mut Text<'_>) {
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
        if self.is_watching() {
            out.line("assert(invariants());");
        }
        for at in 0..self.simulations.len() {
            let name = &self.whole.names.threads[at];
            out.line(&format!("now = 0; {name}(); leave_place();"));
        }
        out.line("/* No place is left out; the last one is the end. */");
        out.line("for (now = 1; now < PLACES; now++) assume(used[now - 1] || !used[now]);");
        out.line("for (now = PLACES - 1; !used[now]; now--) ;");
        self.at_the_end(out);
        for name in self.whole.unused().iter().filter(|name| !name.ends_with("[now]")) {
            out.line(&format!("(void){name};"));
        }
        out.line("assert(!error);");
        out.close("}");
    }

    /// Conditions on final states.
    fn at_the_end(&self, out: &mut Text<'_>) {
        if self.problem().finals().next().is_none() {
            return;
        }
        let done: Vec<String> =
            self.simulations.iter().map(|s| self.whole.names.location(s.done)).collect();
        out.open(&format!("if ({}) {{", done.join(" && ")));
        let mut witnesses = 0;
        for (quantifier, condition) in self.problem().finals() {
            let text = harmless(&condition.text);
            match quantifier {
                Quantifier::Forall => {
                    let broken = self.whole.condition(&negated(&surely(&condition.expr)));
                    out.line(&format!("if ({broken}) error = 1;  /* final forall {text} */"));
                }
                Quantifier::Never => {
                    let holds = surely(&negated(&condition.expr));
                    let broken = self.whole.condition(&negated(&holds));
                    out.line(&format!("if ({broken}) error = 1;  /* final never {text} */"));
                }
                Quantifier::Exists => {
                    out.line(&format!("/* final exists {text} */"));
                    let holds = self.whole.condition(&surely(&condition.expr));
                    out.line(&format!("witness({witnesses}, {holds});"));
                    witnesses += 1;
                }
            }
        }
        out.close("}");
    }

    /// Everything as it was before the run.
    fn reset(&self, out: &mut Text<'_>) {
        let program = &self.problem().program;
        out.line("");
        out.line("#if defined(FENCEPOST_ENUMERATE)");
        out.open("static void reset(void) {");
        out.line("error = 0;");
        out.line("memset(used, 0, sizeof used);");
        for variable in self.whole.names.variables.iter().filter(|v| self.is_own(v)) {
            let inits: Vec<_> = variable.locations().map(|l| program.location(l).init).collect();
            if inits.iter().all(|init| *init == 0) && variable.len.is_some() {
                out.line(&format!("memset({0}, 0, sizeof {0});", variable.name));
                continue;
            }
            for (loc, init) in variable.locations().zip(inits) {
                let (place, init) = (self.whole.names.location(loc), number(init, Dialect::C));
                out.line(&format!("{place} = {init};"));
            }
        }
        for (_, _, name) in self.whole.kept {
            out.line(&format!("{name} = 0;"));
        }
        out.close("}");
        out.line("#endif");
    }
}
