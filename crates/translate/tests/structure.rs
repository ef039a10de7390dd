//! Structured code has the same behaviour as the code: with the same branch outcomes, both visit
//! the same statements. The tests use random control flow, most of it irreducible.

use fencepost_ir::flow::successors;
use fencepost_ir::{Expr, Label, Op, Pc, Reg, Register, Stmt, Thread, Type};
use fencepost_testkit::{Random, report_comparisons, seeds};
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

/// Returns random jumps among statements and atomic blocks, with random jumps inside blocks. A
/// block has up to `ends` ends.
fn random_thread(rng: &mut Random, ends: usize) -> Thread {
    let parts = 1 + rng.below(9);
    let mut blocks = Vec::new();
    for _ in 0..parts {
        let size = if rng.below(4) == 0 { 1 + rng.below(5) } else { 0 };
        blocks.push((size, if size == 0 { 0 } else { 1 + rng.below(ends) }));
    }
    let mut starts = vec![0];
    for (size, ends) in &blocks {
        let len = if *size == 0 { 1 } else { 1 + size + ends };
        starts.push(starts[starts.len() - 1] + len);
    }
    let mut code = Vec::new();
    for (at, (size, ends)) in blocks.iter().enumerate() {
        let out = |rng: &mut Random| {
            if rng.below(2) == 0 { starts[at + 1] } else { starts[rng.below(parts + 1)] }
        };
        if *size == 0 {
            let (a, b) = (out(rng), out(rng));
            code.push(if rng.below(2) == 0 { branch(a, b) } else { stmt(Op::Skip, a) });
            continue;
        }
        let first = starts[at] + 1;
        let inside = |rng: &mut Random| first + rng.below(size + ends);
        code.push(stmt(Op::AtomicBegin, inside(rng)));
        for _ in 0..*size {
            let (a, b) = (inside(rng), inside(rng));
            code.push(if rng.below(3) > 0 { branch(a, b) } else { stmt(Op::Skip, a) });
        }
        for _ in 0..*ends {
            code.push(stmt(Op::AtomicEnd, out(rng)));
        }
    }
    code.push(stmt(Op::Halt, 0));
    thread(code)
}

/// The tree as a list of simple instructions.
#[derive(Debug)]
enum FlatOp {
    Visit(Pc),
    /// A branch with the position of its `else` side.
    Branch(Pc, usize),
    Jump(usize),
    Goto(Pc),
    Halt,
}

#[derive(Default)]
struct Flattener {
    code: Vec<FlatOp>,
    labels: BTreeMap<Pc, usize>,
    /// The enclosing loops: the start, and the jumps to the end.
    loops: Vec<(usize, Vec<usize>)>,
}

impl Flattener {
    fn all(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|node| self.node(node));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Plain(pc) => self.code.push(FlatOp::Visit(*pc)),
            Node::Atomic(pc, body) => {
                self.code.push(FlatOp::Visit(*pc));
                let around = std::mem::take(&mut self.loops);
                self.all(body);
                self.loops = around;
            }
            Node::If(pc, then, otherwise) => {
                let branch = self.code.len();
                self.code.push(FlatOp::Branch(*pc, 0));
                self.all(then);
                let jump = self.code.len();
                self.code.push(FlatOp::Jump(0));
                self.code[branch] = FlatOp::Branch(*pc, self.code.len());
                self.all(otherwise);
                self.code[jump] = FlatOp::Jump(self.code.len());
            }
            Node::Loop(body) => {
                let start = self.code.len();
                self.loops.push((start, Vec::new()));
                self.all(body);
                self.code.push(FlatOp::Jump(start));
                let (_, breaks) = self.loops.pop().expect("pushed above");
                for at in breaks {
                    self.code[at] = FlatOp::Jump(self.code.len());
                }
            }
            Node::Break => {
                let at = self.code.len();
                self.loops.last_mut().expect("a break is in a loop").1.push(at);
                self.code.push(FlatOp::Jump(0));
            }
            Node::Continue => {
                let start = self.loops.last().expect("a continue is in a loop").0;
                self.code.push(FlatOp::Jump(start));
            }
            Node::Label(pc) => {
                assert!(self.labels.insert(*pc, self.code.len()).is_none(), "labels are unique");
            }
            Node::Goto(pc) => self.code.push(FlatOp::Goto(*pc)),
            Node::Halt => self.code.push(FlatOp::Halt),
        }
    }
}

const STEPS: usize = 60;

/// Returns the visited statements, without `Halt` and the ends of blocks, which the tree does not
/// show, and whether the thread halted.
fn follow_code(thread: &Thread, rng: &mut Random) -> (Vec<Pc>, bool) {
    let (mut pc, mut visited) = (Pc(0), Vec::new());
    while visited.len() < STEPS {
        let stmt = thread.stmt(pc);
        match stmt.op {
            Op::Halt => return (visited, true),
            Op::AtomicEnd => {}
            _ => visited.push(pc),
        }
        let successors_of: Vec<Pc> = successors(stmt).collect();
        pc = if successors_of.len() == 2 { successors_of[rng.below(2)] } else { successors_of[0] };
    }
    (visited, false)
}

fn follow_tree(flat: &Flattener, rng: &mut Random) -> (Vec<Pc>, bool) {
    let (mut at, mut visited, mut jumps) = (0, Vec::new(), 0);
    while visited.len() < STEPS {
        jumps += 1;
        // Blocks may be empty, so a loop may visit no statement that the tree shows.
        if at == flat.code.len() || jumps > 100 * STEPS {
            return (visited, at == flat.code.len());
        }
        at = match &flat.code[at] {
            FlatOp::Visit(pc) => {
                visited.push(*pc);
                at + 1
            }
            FlatOp::Branch(pc, otherwise) => {
                visited.push(*pc);
                if rng.below(2) == 0 { at + 1 } else { *otherwise }
            }
            FlatOp::Jump(to) => *to,
            FlatOp::Goto(pc) => flat.labels[pc],
            FlatOp::Halt => return (visited, true),
        };
    }
    (visited, false)
}

fn check_same_statements(thread: &Thread, rng: &mut Random) {
    let tree = structure(thread);
    let mut flat = Flattener::default();
    flat.all(&tree);
    for _ in 0..8 {
        let seed = rng.below(1 << 30) as u64;
        let expected = follow_code(thread, &mut Random::new(seed));
        let found = follow_tree(&flat, &mut Random::new(seed));
        assert_eq!(found, expected, "{:#?}\n{tree:#?}", thread.code);
    }
}

#[test]
fn random_trees_visit_the_same_statements() {
    let mut drawn = 0;
    for ends in [1, 2] {
        for seed in seeds(1_000) {
            drawn += 1;
            let mut rng = Random::new(seed);
            check_same_statements(&random_thread(&mut rng, ends), &mut rng);
        }
    }
    report_comparisons("control flows: tree and code", drawn);
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
    assert_eq!(jumps, 0, "two loops with one head are one loop");
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
