//! Generates the random programs of a [`Profile`].
//!
//! Values stay small so that state spaces stay finite. Expressions stay within -2 to 3, and
//! increments (`fetch_add`, `x++`) occur in no unbounded loop.
//!
//! Independent random threads seldom interact. So many programs are built around a cycle: thread
//! `ti` accesses the i-th location first and the next location last. This is the skeleton of every
//! classic litmus test.

use super::{Profile, RandomProgram, SharedDeclaration, Statement};
use crate::Random;

/// Generates the program of a profile and a seed.
pub fn program(profile: Profile, seed: u64) -> RandomProgram {
    let mut generator = Generator {
        random: Random::new(seed ^ (0x9e37 + profile as u64) << 32),
        profile,
        ints: Vec::new(),
        bools: false,
        array: false,
        critical: false,
    };
    generator.program(format!("random program, profile {profile:?}, seed {seed}"))
}

/// The position of a statement, which limits its kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    /// Outside loops and `atomic` blocks. Branches are allowed around it.
    TopLevel,
    /// In a loop with a fixed number of iterations.
    BoundedLoop,
    /// In a loop that may run forever. Increments are not allowed.
    UnboundedLoop,
    /// In an `atomic` block.
    Atomic,
}

struct Generator {
    random: Random,
    profile: Profile,
    ints: Vec<&'static str>,
    /// Whether the program declares `f`, a shared `bool`.
    bools: bool,
    /// Whether the program declares `a`, a shared array of two integers.
    array: bool,
    /// Whether the program has a critical section.
    critical: bool,
}

pub(super) fn line(text: impl Into<String>) -> Statement {
    Statement::Line(text.into())
}

pub(super) fn block(head: impl Into<String>, body: Vec<Statement>) -> Statement {
    Statement::Block { arms: vec![(head.into(), body)], tail: String::new() }
}

impl Generator {
    fn program(&mut self, origin: String) -> RandomProgram {
        let shared = self.declarations();
        let init = match self.profile {
            Profile::Mixed if self.random.percent(25) => {
                let x = self.shared_int();
                vec![line(format!("{x} = {};", self.random.within(1, 2)))]
            }
            Profile::Records if self.random.percent(40) => {
                vec![line("head = new Node;"), line("head.v = 1;")]
            }
            Profile::Straight
            | Profile::Loops
            | Profile::Records
            | Profile::Mixed
            | Profile::Buffers => Vec::new(),
        };
        let threads = match self.profile {
            Profile::Straight => self.random.within(2, 3),
            Profile::Mixed if self.random.percent(15) => 3,
            Profile::Loops | Profile::Records | Profile::Mixed | Profile::Buffers => 2,
        };
        let cycle = self.ints.len() > 1 && self.random.percent(70);
        let threads =
            (0..threads).map(|at| (format!("t{at}"), self.thread(at, threads, cycle))).collect();
        let mut properties = Vec::new();
        if self.critical {
            properties.push("property mutual_exclusion;".into());
        }
        if self.random.percent(30) {
            properties.push("property deadlock_free;".into());
        }
        if self.profile == Profile::Mixed && self.random.percent(50) {
            let (x, y) = (self.shared_int(), self.shared_int());
            let invariant = self.random.pick(&["X <= 1", "X != 2 || Y == 0", "X + Y < 3"]);
            properties.push(format!("invariant {};", invariant.replace('X', x).replace('Y', y)));
        }
        RandomProgram { origin, shared, init, threads, finally: Vec::new(), properties }
    }

    fn declarations(&mut self) -> Vec<SharedDeclaration> {
        let count = match self.profile {
            Profile::Straight | Profile::Loops | Profile::Records | Profile::Mixed => {
                self.random.within(1, 3).max(self.random.within(1, 2))
            }
            Profile::Buffers => self.random.within(1, 2),
        };
        self.ints = ["x", "y", "z"][..count].to_vec();
        let mut shared = Vec::new();
        for name in self.ints.clone() {
            let ty = if self.random.percent(8) { "int(0..=2)" } else { "int" };
            let value = if self.random.percent(10) { " = 1" } else { "" };
            let text = format!("shared {ty} {name}{value};");
            shared.push(SharedDeclaration { name, text, observed: vec![name.into()] });
        }
        self.bools = self.random.percent(25);
        if self.bools {
            let text = "shared bool f;".into();
            shared.push(SharedDeclaration { name: "f", text, observed: vec!["f".into()] });
        }
        self.array = self.random.percent(35);
        if self.array {
            let text = "shared int a[2];".into();
            shared.push(SharedDeclaration {
                name: "a",
                text,
                observed: vec!["a[0]".into(), "a[1]".into()],
            });
        }
        if self.profile == Profile::Records || self.profile == Profile::Mixed {
            let text = "shared Node head;".into();
            shared.push(SharedDeclaration { name: "head", text, observed: vec!["head".into()] });
        }
        shared
    }

    fn thread(&mut self, at: usize, threads: usize, cycle: bool) -> Vec<Statement> {
        let budget = match self.profile {
            Profile::Straight if threads == 2 => self.random.within(2, 6),
            Profile::Straight => self.random.within(2, 3),
            Profile::Mixed if threads == 3 => 2,
            Profile::Loops => self.random.within(2, 4),
            Profile::Records | Profile::Mixed => self.random.within(2, 5),
            Profile::Buffers => self.random.within(3, 6),
        };
        let mut body = Vec::new();
        if self.profile == Profile::Buffers && at == 1 && self.random.percent(70) {
            // This thread repeatedly loads the locations that the other thread stores to.
            for reg in ["r0", "r1", "r2"] {
                if self.random.percent(25) {
                    self.statements(1, Context::TopLevel, &mut body);
                }
                body.push(line(format!("{reg} = {};", self.shared_int())));
            }
            return body;
        }
        if self.profile == Profile::Records && self.random.percent(70) {
            body.push(line(self.random.pick(&["r4 = new Node;", "r4 = head;"])));
        }
        if cycle {
            body.push(self.plain_access(at, "r0"));
        }
        let between = if cycle { self.random.below(3) } else { budget };
        self.statements(between, Context::TopLevel, &mut body);
        if cycle {
            body.push(self.plain_access((at + 1) % threads, "r1"));
        }
        body
    }

    /// Generates a load or a store of a given location.
    fn plain_access(&mut self, at: usize, reg: &str) -> Statement {
        let x = self.ints[at % self.ints.len()];
        match self.random.below(8) {
            0..4 => line(format!("{reg} = {x};")),
            4..7 => line(format!("{x} = {};", self.random.within(1, 2))),
            _ => line(format!("{x} = {};", self.expr())),
        }
    }

    /// Generates about `budget` statements, including nested ones.
    fn statements(&mut self, mut budget: usize, context: Context, body: &mut Vec<Statement>) {
        while budget > 0 {
            let before = body.len();
            let cost = self.statement(budget, context, body);
            budget = budget.saturating_sub(cost.max(body.len() - before));
        }
    }

    fn body(&mut self, max: usize, context: Context) -> Vec<Statement> {
        let mut body = Vec::new();
        let budget = self.random.within(1, max.clamp(1, 2));
        self.statements(budget, context, &mut body);
        body
    }

    /// Generates one statement. Returns its cost in budget units.
    fn statement(&mut self, budget: usize, context: Context, body: &mut Vec<Statement>) -> usize {
        let roll = self.random.below(100);
        let records = match self.profile {
            Profile::Records => 60,
            Profile::Mixed => 8,
            Profile::Straight | Profile::Loops | Profile::Buffers => 0,
        };
        if context != Context::UnboundedLoop && self.random.percent(records) {
            self.record_statement(body);
            return 1;
        }
        match self.profile {
            Profile::Loops if context == Context::TopLevel && roll < 45 => {
                return self.loop_statement(budget, body);
            }
            Profile::Mixed if context == Context::TopLevel && roll < 14 => {
                return self.loop_statement(budget, body);
            }
            Profile::Mixed if context == Context::TopLevel && roll < 22 => {
                body.push(block("atomic", self.body(2, Context::Atomic)));
                return 2;
            }
            Profile::Mixed if context != Context::Atomic && roll < 30 => {
                self.critical = true;
                let inner = if self.random.percent(60) {
                    vec![line("skip;")]
                } else {
                    vec![self.access(context)]
                };
                body.push(block("critical", inner));
                return 2;
            }
            Profile::Buffers if context == Context::TopLevel && roll < 10 => {
                let mut inner = vec![self.store_or_fence()];
                if self.random.percent(60) {
                    inner.push(self.store_or_fence());
                }
                body.push(block("while (choose(0..=1) == 1)", inner));
                return 2;
            }
            Profile::Buffers if roll < 80 => {
                body.push(self.store_or_fence());
                return 1;
            }
            Profile::Straight
            | Profile::Loops
            | Profile::Records
            | Profile::Mixed
            | Profile::Buffers => {}
        }
        match self.random.below(100) {
            0..68 => body.push(self.access(context)),
            68..76 => body.push(self.register_statement()),
            76..86 => body.push(self.fence()),
            86..94 => {
                let cond = self.condition();
                let mut arms = vec![(format!("if ({cond})"), self.body(budget, context))];
                if self.random.percent(25) {
                    arms.push(("else".into(), self.body(1, context)));
                }
                body.push(Statement::Block { arms, tail: String::new() });
                return 2;
            }
            94..97 => {
                let condition = self.pure_condition();
                body.push(line(format!("assert({condition});")));
            }
            97..99 => {
                let condition = self.pure_condition();
                body.push(line(format!("assume({condition});")));
            }
            _ => body.push(line("skip;")),
        }
        1
    }

    fn loop_statement(&mut self, budget: usize, body: &mut Vec<Statement>) -> usize {
        match self.random.below(10) {
            0..2 => {
                let inner = self.body(budget, Context::BoundedLoop);
                body.push(block("for (r2 = 0; r2 < 2; r2++)", inner));
                3
            }
            2 => {
                let mut inner = self.body(budget, Context::BoundedLoop);
                inner.push(line("r2 = r2 + 1;"));
                body.push(line("r2 = 0;"));
                body.push(block("while (r2 < 2)", inner));
                3
            }
            3..5 => {
                let x = self.shared_int();
                let mut inner = vec![line(format!("r0 = {x};"))];
                let mut cond = "r0 == 0".to_string();
                if self.random.percent(40) {
                    inner.push(line(format!("r1 = {};", self.shared_int())));
                    cond += self.random.pick(&[" && r1 == 0", " || r1 == 0", " && r1 != 2"]);
                }
                let tail = format!(" while ({cond});");
                body.push(Statement::Block { arms: vec![("do".into(), inner)], tail });
                2
            }
            5 => {
                let x = self.shared_int();
                body.push(block(format!("while ({x} == 0)"), vec![line("skip;")]));
                1
            }
            6..9 => {
                let mut inner = vec![self.store_constant()];
                if self.random.percent(30) {
                    inner.push(self.access(Context::UnboundedLoop));
                }
                if self.random.percent(20) {
                    inner.push(self.fence());
                }
                body.push(block("while (choose(0..=1) == 1)", inner));
                2
            }
            _ => {
                let mut inner = vec![self.access(Context::UnboundedLoop)];
                let cond = self.condition();
                inner.push(line(format!("if ({cond}) break;")));
                if self.random.percent(40) {
                    inner.push(self.access(Context::UnboundedLoop));
                }
                body.push(block("loop", inner));
                3
            }
        }
    }

    /// Generates a load, a store or an update.
    fn access(&mut self, context: Context) -> Statement {
        if self.bools && self.random.percent(15) {
            let texts = ["f = true;", "f = false;", "r3 = f;", "f = r3;", "r3 = swap(f, true);"];
            return line(self.random.pick(&texts));
        }
        let at = self.location();
        let reg = self.random.pick(&["r0", "r1"]);
        match self.random.below(100) {
            0..36 => line(format!("{reg} = {at};")),
            36..62 => self.store_constant(),
            62..74 => line(format!("{at} = {};", self.expr())),
            74..80 => {
                let old = self.random.below(2);
                let new = self.random.pick(&["1", "2", "r0"]);
                let call = format!("({at}, {old}, {new})");
                match self.random.below(4) {
                    0 => line(format!("cas{call};")),
                    1 => line(format!("{reg} = cmpxchg{call};")),
                    _ => line(format!("r3 = cas{call};")),
                }
            }
            80..84 => line(format!("{reg} = swap({at}, {});", self.expr())),
            84..88 if context != Context::UnboundedLoop => {
                line(format!("{reg} = fetch_add({at}, 1);"))
            }
            88..91 => line(format!("{reg} = fetch_or({at}, {});", self.random.within(1, 2))),
            91..93 => line(format!("fetch_xor({at}, 1);")),
            93..95 if context != Context::UnboundedLoop => line(format!("{at}++;")),
            95..98 => line(format!("{reg} = {at} == {} ? 1 : 2;", self.shared_int())),
            _ => line(format!("{at} = {};", self.shared_int())),
        }
    }

    /// Generates a store or a fence; most fences order stores.
    fn store_or_fence(&mut self) -> Statement {
        match self.random.below(100) {
            0..64 => self.store_constant(),
            64..76 => line("fence store_store;"),
            76..86 => line("fence store_load;"),
            86..92 => line("fence store_store, store_load;"),
            _ => self.fence(),
        }
    }

    fn store_constant(&mut self) -> Statement {
        line(format!("{} = {};", self.location(), self.random.within(0, 2).max(1)))
    }

    /// Draws an integer location: a shared integer or an array element.
    fn location(&mut self) -> String {
        if self.array && self.random.percent(35) {
            self.random
                .pick(&["a[0]", "a[1]", "a[r0 & 1]", "a[r1 & 1]", "a[1 - (r0 & 1)]", "a[r0]"])
                .into()
        } else {
            self.shared_int().into()
        }
    }

    /// Draws a shared integer.
    fn shared_int(&mut self) -> &'static str {
        let at = self.random.below(self.ints.len());
        self.ints[at]
    }

    /// Draws an integer expression over registers.
    fn expr(&mut self) -> &'static str {
        self.random.pick(&[
            "1",
            "2",
            "r0",
            "r0",
            "r1",
            "r1",
            "1 - r0",
            "r0 ^ 1",
            "r1 & 1",
            "(r0 + r1) & 3",
            "(r1 + 1) & 3",
            "r0 == r1 ? 1 : 0",
            "r0 - r0",
        ])
    }

    /// Draws a condition over registers.
    fn pure_condition(&mut self) -> &'static str {
        self.random.pick(&[
            "r0 == 0",
            "r0 == 1",
            "r1 == 0",
            "r1 != 2",
            "r0 == r1",
            "r0 <= r1",
            "!r3",
            "r3 || r0 == 0",
            "r0 != 1 || r1 != 0",
            "r0 != 0 && 2 / r0 > 1",
        ])
    }

    /// Draws a condition that may contain loads.
    fn condition(&mut self) -> String {
        if self.random.percent(70) {
            return self.pure_condition().into();
        }
        let (x, y) = (self.shared_int(), self.shared_int());
        let condition =
            self.random.pick(&["X == 1", "X == r0", "X == 1 && Y == 0", "X == 1 || Y == 1"]);
        condition.replace('X', x).replace('Y', y)
    }

    fn register_statement(&mut self) -> Statement {
        let reg = self.random.pick(&["r0", "r1"]);
        match self.random.below(10) {
            0..6 => line(format!("{reg} = {};", self.expr())),
            6..8 => line(format!("{reg} = choose(0..=1);")),
            8 => line("r3 = r0 == 1;"),
            _ => line("r3 = !r3;"),
        }
    }

    fn fence(&mut self) -> Statement {
        if self.random.percent(15) {
            return line(format!("drain {};", self.location()));
        }
        let mut kinds = vec!["store_store", "store_load", "load_load", "load_store"];
        match self.random.below(100) {
            0..25 => return line("fence;"),
            25..75 => kinds = vec![self.random.pick(&kinds)],
            _ => kinds.retain(|_| self.random.percent(60)),
        }
        line(format!("fence {};", kinds.join(", ")))
    }

    /// Generates a statement on records. Most dereferences are guarded by `r4 != null`.
    fn record_statement(&mut self, body: &mut Vec<Statement>) {
        let unguarded = [
            "r4 = new Node;",
            "r4 = head;",
            "r4 = head;",
            "head = r4;",
            "head = r4;",
            "r3 = cas(head, null, r4);",
            "r4 = swap(head, null);",
            "r5 = r4;",
            "r3 = r4 == null;",
        ];
        let guarded = [
            "r4.v = 1;",
            "r4.v = 1;",
            "r0 = r4.v;",
            "r0 = r4.v;",
            "r4.next = head;",
            "r4 = r4.next;",
            "r5 = r4.next;",
            "r4.slot[r0 & 1] = 1;",
            "r1 = r4.slot[r0 & 1];",
            "r1 = r4.slot[1];",
            "r0 = fetch_add(r4.v, 1);",
            "r3 = cas(head, r4, r4.next);",
            "free(r4);",
            "free(r4);",
            "drain r4.v;",
        ];
        if self.random.percent(45) {
            body.push(line(self.random.pick(&unguarded)));
            return;
        }
        let text = self.random.pick(&guarded);
        if self.random.percent(75) {
            body.push(block("if (r4 != null)", vec![line(text)]));
        } else {
            body.push(line(text));
        }
    }
}
