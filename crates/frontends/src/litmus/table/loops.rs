//! The loop depth of each cell of a column. A backward jump forms a loop from its label to itself.
//!
//! Direction: a heuristic that only breaks ties between places for fences. A backward jump that is
//! never taken also counts.

use std::collections::BTreeMap;

use super::{Column, TableInstruction};

/// Returns for each cell the number of loops that contain it.
pub(in super::super) fn loop_depths<I: TableInstruction>(column: &Column<I>) -> Vec<u32> {
    let cells = || column.cells.iter().enumerate();
    let labels: BTreeMap<&str, usize> = cells()
        .flat_map(|(at, cell)| cell.labels.iter().map(move |(name, _)| (name.as_str(), at)))
        .collect();
    // For each cell, the number of loops that start and end there.
    let (mut begin, mut end) = (vec![0; column.cells.len()], vec![0; column.cells.len()]);
    for (at, instruction) in cells().filter_map(|(at, c)| Some((at, c.instruction.as_ref()?))) {
        if let Some(name) = instruction.jump_target()
            && let Some(to) = labels.get(name).filter(|to| **to <= at)
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
    use super::loop_depths;

    #[test]
    fn only_backward_jumps_form_loops() {
        let source = "X86 t\n{ }\n P0 ;\n A: ;\n MOV EAX,[x] ;\n B: CMP EAX,$0 ;\n JE C ;\n JE B ;\n JMP A ;\n \
                      C: MOV EBX,[y] ;\n exists (0:EAX=0)\n";
        let Ok(Body::X86(columns)) = parse(source, "t").map(|file| file.body) else {
            panic!("a table")
        };
        assert_eq!(loop_depths(&columns[0]), [1, 1, 2, 2, 2, 1, 0]);
    }
}
