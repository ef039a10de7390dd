//! How many loops each cell of a column is in: a jump back goes round everything from its label to itself.
//!
//! Direction: a guess that only breaks ties between places for fences. A jump back that is never taken counts.

use std::collections::BTreeMap;

use super::ast::{Column, Mnemonic, Operand};

/// By cell: how many jumps back go round it.
pub(super) fn loops(column: &Column) -> Vec<u32> {
    let cells = || column.cells.iter().enumerate();
    let labels: BTreeMap<&str, usize> = cells()
        .flat_map(|(at, cell)| cell.labels.iter().map(move |(name, _)| (name.as_str(), at)))
        .collect();
    // Where loops begin and end, as changes of the depth.
    let (mut begin, mut end) = (vec![0; column.cells.len()], vec![0; column.cells.len()]);
    for (at, instruction) in cells().filter_map(|(at, c)| Some((at, c.instruction.as_ref()?))) {
        let jumps = matches!(instruction.mnemonic, Mnemonic::Jmp | Mnemonic::Jump(_));
        if let ([Operand::Label(name)], true) = (&instruction.operands[..], jumps)
            && let Some(to) = labels.get(name.as_str()).filter(|to| **to <= at)
        {
            begin[*to] += 1;
            end[at] += 1;
        }
    }
    let mut depth = 0;
    let around = begin.iter().zip(&end).map(|(begin, end)| {
        depth += begin;
        let here = depth;
        depth -= end;
        here
    });
    around.collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::ast::Body;
    use super::super::super::parse;
    use super::loops;

    #[test]
    fn only_jumps_back_make_loops() {
        let source = "X86 t\n{ }\n P0 ;\n A: ;\n MOV EAX,[x] ;\n B: CMP EAX,$0 ;\n JE C ;\n JE B ;\n JMP A ;\n \
                      C: MOV EBX,[y] ;\n exists (0:EAX=0)\n";
        let Ok(Body::X86(columns)) = parse(source, "t").map(|file| file.body) else {
            panic!("a table")
        };
        assert_eq!(loops(&columns[0]), [1, 1, 2, 2, 2, 1, 0]);
    }
}
