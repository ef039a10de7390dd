//! Structured code does what the code does: both follow the same outcomes of branches and must pass the
//! same statements, on random control flow, most of which no `if` and `while` would make.

use fencepost_ir::flow::successors;
use fencepost_ir::{Expr, Label, Op, Pc, Reg, Register, Stmt, Thread, Type};
use fencepost_testkit::{Random, compared, seeds};
use fencepost_translate::export::structure::{Node, structure};
use std::collections::BTreeMap;

fn stmt(op: Op, next: usize) -> Stmt {
    Stmt { label: Label(0), op, next: Pc::from_index(next), critical: false }
}

fn branch(then: usize, otherwise: usize) -> Stmt {
    let (then, otherwise) = (Pc::from_index(then), Pc::from_index(otherwise));
    stmt(Op::Branch { cond: Expr::Var(Reg(0)), then, otherwise }, 0)
}

fn thread(code: Vec<Stmt>) -> Thread {
    let registers = vec![Register { name: "r".into(), ty: Type::INT }];
    Thread { name: "p".into(), registers, code }
}

/// Random jumps among statements and atomic blocks with random jumps inside. With `ends` more than one, a block
/// may have several ends.
fn random(dice: &mut Random, ends: usize) -> Thread {
    let parts = 1 + dice.below(9);
    let mut blocks = Vec::new();
    for _ in 0..parts {
        let size = if dice.below(4) == 0 { 1 + dice.below(5) } else { 0 };
        blocks.push((size, if size == 0 { 0 } else { 1 + dice.below(ends) }));
    }
    let mut starts = vec![0];
    for (size, ends) in &blocks {
        let len = if *size == 0 { 1 } else { 1 + size + ends };
        starts.push(starts[starts.len() - 1] + len);
    }
    let mut code = Vec::new();
    for (at, (size, ends)) in blocks.iter().enumerate() {
        let out = |dice: &mut Random| {
            if dice.below(2) == 0 { starts[at + 1] } else { starts[dice.below(parts + 1)] }
        };
        if *size == 0 {
            let (a, b) = (out(dice), out(dice));
            code.push(if dice.below(2) == 0 { branch(a, b) } else { stmt(Op::Skip, a) });
            continue;
        }
        let first = starts[at] + 1;
        let inside = |dice: &mut Random| first + dice.below(size + ends);
        code.push(stmt(Op::AtomicBegin, inside(dice)));
        for _ in 0..*size {
            let (a, b) = (inside(dice), inside(dice));
            code.push(if dice.below(3) > 0 { branch(a, b) } else { stmt(Op::Skip, a) });
        }
        for _ in 0..*ends {
            code.push(stmt(Op::AtomicEnd, out(dice)));
        }
    }
    code.push(stmt(Op::Halt, 0));
    thread(code)
}

/// The tree as a list of simple instructions.
#[derive(Debug)]
enum Flat {
    Pass(Pc),
    /// To the place if the branch is not taken.
    Branch(Pc, usize),
    Jump(usize),
    Goto(Pc),
    Halt,
}

#[derive(Default)]
struct Flattener {
    code: Vec<Flat>,
    labels: BTreeMap<Pc, usize>,
    /// By loop: its start, and the jumps to its end.
    loops: Vec<(usize, Vec<usize>)>,
}

impl Flattener {
    fn all(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Plain(pc) => self.code.push(Flat::Pass(*pc)),
            Node::Atomic(pc, body) => {
                self.code.push(Flat::Pass(*pc));
                let around = std::mem::take(&mut self.loops);
                self.all(body);
                self.loops = around;
            }
            Node::If(pc, then, otherwise) => {
                let branch = self.code.len();
                self.code.push(Flat::Branch(*pc, 0));
                self.all(then);
                let jump = self.code.len();
                self.code.push(Flat::Jump(0));
                self.code[branch] = Flat::Branch(*pc, self.code.len());
                self.all(otherwise);
                self.code[jump] = Flat::Jump(self.code.len());
            }
            Node::Loop(body) => {
                let start = self.code.len();
                self.loops.push((start, Vec::new()));
                self.all(body);
                self.code.push(Flat::Jump(start));
                let (_, breaks) = self.loops.pop().expect("pushed above");
                for at in breaks {
                    self.code[at] = Flat::Jump(self.code.len());
                }
            }
            Node::Break => {
                let at = self.code.len();
                self.loops.last_mut().expect("a break is in a loop").1.push(at);
                self.code.push(Flat::Jump(0));
            }
            Node::Continue => {
                let start = self.loops.last().expect("a continue is in a loop").0;
                self.code.push(Flat::Jump(start));
            }
            Node::Label(pc) => {
                assert!(self.labels.insert(*pc, self.code.len()).is_none(), "one label of a name");
            }
            Node::Goto(pc) => self.code.push(Flat::Goto(*pc)),
            Node::Halt => self.code.push(Flat::Halt),
        }
    }
}

const STEPS: usize = 60;

/// The statements passed, without `Halt` and the ends of blocks, which the tree does not show.
fn follow_code(thread: &Thread, dice: &mut Random) -> (Vec<Pc>, bool) {
    let (mut pc, mut passed) = (Pc(0), Vec::new());
    while passed.len() < STEPS {
        let stmt = thread.stmt(pc);
        match stmt.op {
            Op::Halt => return (passed, true),
            Op::AtomicEnd => {}
            _ => passed.push(pc),
        }
        let ways: Vec<Pc> = successors(stmt).collect();
        pc = if ways.len() == 2 { ways[dice.below(2)] } else { ways[0] };
    }
    (passed, false)
}

fn follow_tree(flat: &Flattener, dice: &mut Random) -> (Vec<Pc>, bool) {
    let (mut at, mut passed, mut jumps) = (0, Vec::new(), 0);
    while passed.len() < STEPS {
        jumps += 1;
        // Blocks may be empty, and then a loop in the code passes nothing that the tree shows.
        if at == flat.code.len() || jumps > 100 * STEPS {
            return (passed, at == flat.code.len());
        }
        at = match &flat.code[at] {
            Flat::Pass(pc) => {
                passed.push(*pc);
                at + 1
            }
            Flat::Branch(pc, otherwise) => {
                passed.push(*pc);
                if dice.below(2) == 0 { at + 1 } else { *otherwise }
            }
            Flat::Jump(to) => *to,
            Flat::Goto(pc) => flat.labels[pc],
            Flat::Halt => return (passed, true),
        };
    }
    (passed, false)
}

fn agrees(thread: &Thread, dice: &mut Random) {
    let tree = structure(thread);
    let mut flat = Flattener::default();
    flat.all(&tree);
    for _ in 0..8 {
        let seed = dice.below(1 << 30) as u64;
        let expected = follow_code(thread, &mut Random::new(seed));
        let found = follow_tree(&flat, &mut Random::new(seed));
        assert_eq!(found, expected, "{:#?}\n{tree:#?}", thread.code);
    }
}

#[test]
fn random_trees_pass_what_the_code_passes() {
    let mut drawn = 0;
    for ends in [1, 2] {
        for seed in seeds(1_000) {
            drawn += 1;
            let mut dice = Random::new(seed);
            agrees(&random(&mut dice, ends), &mut dice);
        }
    }
    compared("control flows: tree and code", drawn);
}

#[test]
fn while_loops_need_no_jumps() {
    // while (r) { skip } skip
    let code = vec![branch(1, 2), stmt(Op::Skip, 0), stmt(Op::Skip, 3), stmt(Op::Halt, 0)];
    let inside = vec![Node::If(Pc(0), vec![], vec![Node::Break]), Node::Plain(Pc(1))];
    assert_eq!(structure(&thread(code)), [Node::Loop(inside), Node::Plain(Pc(2))]);
}

#[test]
fn leaving_two_loops_at_once_is_a_goto() {
    let skip = |next| stmt(Op::Skip, next);
    // loop { loop { if (r) leave both; if (r) break; } skip } skip
    let code = vec![branch(3, 1), branch(2, 0), skip(0), skip(4), stmt(Op::Halt, 0)];
    let mut jumps = 0;
    count_gotos(&structure(&thread(code)), &mut jumps);
    assert_eq!(jumps, 0, "one loop with one head: the inner loop is not seen");
    let code = vec![skip(1), branch(4, 2), branch(3, 1), skip(0), skip(5), stmt(Op::Halt, 0)];
    count_gotos(&structure(&thread(code)), &mut jumps);
    assert_eq!(jumps, 1);
}

fn count_gotos(nodes: &[Node], count: &mut usize) {
    for node in nodes {
        match node {
            Node::Goto(_) => *count += 1,
            Node::Atomic(_, body) | Node::Loop(body) => count_gotos(body, count),
            Node::If(_, then, otherwise) => {
                count_gotos(then, count);
                count_gotos(otherwise, count);
            }
            Node::Plain(_) | Node::Break | Node::Continue | Node::Label(_) | Node::Halt => {}
        }
    }
}
