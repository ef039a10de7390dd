//! Writes atomic blocks: one `d_step` for each path that [`guards`](crate::export::guards) finds.

use super::code::Printer;
use super::plan::{RegisterPlan, ends};
use crate::Unsupported;
use crate::export::actions::{Action, Env, Leaf};
use crate::export::checks::is_true;
use crate::export::guards::{Path, paths};
use crate::export::structure::structure;
use fencepost_ir::flow::live_registers;
use fencepost_ir::{Op, Pc, Reg, Stmt, Thread};

impl Printer<'_> {
    /// Writes the atomic block that begins here. `is_jump_target`: a jump may target the block.
    pub(super) fn block(&mut self, begin: Pc, is_jump_target: bool) -> Result<(), Unsupported> {
        let ends = ends(self.thread, begin);
        let Some(end) = ends.first().copied() else {
            return Err(Unsupported::EndlessBlock(self.thread.name.clone()));
        };
        let next = self.thread.stmt(end).next;
        if ends.iter().any(|end| self.thread.stmt(*end).next != next) {
            return Err(Unsupported::DifferentExits(self.thread.name.clone()));
        }
        self.record.beginnings.insert(begin);
        self.record.ends.extend(ends.iter().copied());
        let live_at_end: Vec<Reg> = (0..self.thread.registers.len())
            .map(Reg::from_index)
            .filter(|reg| self.live[next.index()][reg.index()])
            .collect();
        let paths = paths(self.thread, begin, &self.facts)?;
        let comment = self.comment(&[begin]);
        let mut finish: Vec<String> = Vec::new();
        for end in &ends {
            for line in self.clear(*end) {
                if !finish.contains(&line) {
                    finish.push(line);
                }
            }
        }
        let several = paths.len() != 1 || is_jump_target;
        if paths.is_empty() {
            self.out.commented("(false);", comment.as_deref());
            return Ok(());
        }
        if several {
            self.out.commented("if", comment.as_deref());
        }
        for path in &paths {
            let code = self.path(path, begin, &live_at_end)?;
            let mark = self.mark(begin, path.choices.clone());
            if several {
                self.out.prefix_line(":: ");
            }
            self.out.mark(mark.as_ref());
            let comment = if several { None } else { comment.as_deref() };
            self.out.commented("d_step {", comment);
            self.out.indent();
            self.out.mark(mark.as_ref());
            if !is_true(&path.guard) {
                let guard = self.expr(&path.guard);
                self.out.line(&format!("({guard}) ->"));
            } else if code.lines() == 0 && finish.is_empty() {
                self.out.line("skip;");
            }
            self.out.outdent();
            self.out.append(code);
            self.out.indent();
            for line in &finish {
                self.out.line(&format!("{line};"));
            }
            self.out.outdent();
            self.out.line("};");
        }
        if several {
            self.out.line("fi;");
        }
        Ok(())
    }

    /// Writes the code of a path.
    fn path(
        &mut self,
        path: &Path,
        begin: Pc,
        live_at_end: &[Reg],
    ) -> Result<super::out::Out, Unsupported> {
        let Some(rest) = path.rest else {
            return self.inside(|this| {
                this.out.line("assert(false);");
                Ok(())
            });
        };
        let mut thread = path_thread(self.thread, path, rest, begin);
        self.remove_dead_assignments(&mut thread, live_at_end)?;
        for stmt in &thread.code {
            // The record is per program counter of the block, not of the path.
            if let Some(reg) = stmt.op.target() {
                self.note_set(begin, reg);
            }
        }
        let action = |stmt: &Stmt| Action::of(&stmt.op, &Env::default());
        let written: Vec<Leaf> =
            thread.code.iter().filter_map(|stmt| action(stmt).written_place().cloned()).collect();
        let plan = RegisterPlan::default();
        let mut inner =
            Printer::new(self.model, self.t, &thread, self.facts.registers, &plan, live_at_end);
        inner.out = self.out.inner();
        inner.write_in_step(&structure(&thread))?;
        let lines = inner.invariants(&written)?;
        for line in lines {
            inner.out.line(&format!("{line};"));
        }
        self.named.borrow_mut().extend(inner.named.take());
        if inner.uses_old_value.get() {
            self.uses_old_value.set(true);
        }
        Ok(inner.out)
    }

    /// Records that the statements of the block that set a register really set it.
    fn note_set(&mut self, begin: Pc, reg: Reg) {
        let inside = super::plan::inside(self.thread, begin);
        let sets = inside.into_iter().filter(|pc| self.thread.stmt(*pc).op.target() == Some(reg));
        self.record.sets.extend(sets);
    }

    /// Removes computations of dead values that cannot fault.
    fn remove_dead_assignments(
        &self,
        thread: &mut Thread,
        live_at_end: &[Reg],
    ) -> Result<(), Unsupported> {
        loop {
            let live = live_registers(thread, &[], live_at_end);
            let mut changed = false;
            for at in 0..thread.code.len() {
                let stmt = &thread.code[at];
                let action = Action::of(&stmt.op, &Env::default());
                let useless = |(reg, _): (Reg, _)| !live[stmt.next.index()][reg.index()];
                if action.register_assignment().is_some_and(useless)
                    && is_true(&self.facts.precondition(&action, thread)?)
                {
                    thread.code[at].op = Op::Skip;
                    changed = true;
                }
            }
            if !changed {
                return Ok(());
            }
        }
    }
}

/// Returns a path as separate code: its prefix, then the rest up to the end of the block.
fn path_thread(thread: &Thread, path: &Path, rest: Pc, begin: Pc) -> Thread {
    let first = path.prefix.len().max(1);
    let shifted = |pc: Pc| Pc::from_index(pc.index() + first);
    let mut code: Vec<Stmt> = Vec::new();
    for (pc, op) in &path.prefix {
        let next = Pc::from_index(code.len() + 1);
        code.push(Stmt { op: op.clone(), next, ..thread.stmt(*pc).clone() });
    }
    if code.is_empty() {
        code.push(Stmt { op: Op::Skip, ..thread.stmt(begin).clone() });
    }
    code.last_mut().expect("the prefix is not empty").next = shifted(rest);
    let inside = super::plan::inside(thread, begin);
    for (at, stmt) in thread.code.iter().enumerate() {
        let mut stmt = stmt.clone();
        stmt.next = shifted(stmt.next);
        if let Op::Branch { then, otherwise, .. } = &mut stmt.op {
            (*then, *otherwise) = (shifted(*then), shifted(*otherwise));
        }
        if matches!(stmt.op, Op::AtomicEnd) || !inside.contains(&Pc::from_index(at)) {
            stmt.op = Op::Halt;
        }
        code.push(stmt);
    }
    Thread { name: thread.name.clone(), registers: thread.registers.clone(), code }
}
