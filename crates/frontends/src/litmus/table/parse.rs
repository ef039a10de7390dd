//! Parses the table of a test: thread names, rows, cells and labels. The language parses the
//! instructions.

use super::super::condition;
use super::super::error::{Errors, LitmusError};
use super::super::tokens::{Tok, Tokens};
use super::{Cell, Column};
use crate::fp::limits;

/// Parses one instruction, up to the end of its cell.
pub(in super::super) type ParseInstruction<'a, I> =
    dyn Fn(&mut Tokens<'_>) -> Result<I, LitmusError> + 'a;

/// Parses the table up to the start of the constraint. Returns `None` if the row of thread names is
/// invalid.
pub(in super::super) fn parse_columns<I>(
    tokens: &mut Tokens<'_>,
    errors: &mut Errors,
    instruction: &ParseInstruction<'_, I>,
) -> Option<Vec<Column<I>>> {
    while tokens.eat(Tok::Semi) {}
    let found = thread_names(tokens);
    let mut columns = errors.check(found);
    if columns.is_none() {
        tokens.skip_to(NO_BRACKETS, |tokens| ends_cell(tokens) && tokens.kind() != Tok::Bar);
        tokens.eat(Tok::Semi);
    }
    let mut too_wide = false;
    while !at_constraint_or_end(tokens) {
        let mut incomplete = false;
        for at in 0.. {
            let (cell, error) = parse_cell(tokens, instruction);
            incomplete = error.is_some();
            let column = columns.as_mut().map(|columns| columns.get_mut(at));
            let empty = cell.labels.is_empty() && cell.instruction.is_none() && !incomplete;
            match column {
                Some(Some(column)) => {
                    column.incomplete |= incomplete;
                    column.cells.extend(Some(cell).filter(|_| !empty));
                }
                // Reported once: all such rows probably have the same cause.
                Some(None) if !empty && !too_wide => {
                    let message = "this row has more cells than there are threads: \
                                   add a thread name to the first row or remove the cell";
                    errors.push(LitmusError::syntax(cell.span, message));
                    too_wide = true;
                }
                Some(None) | None => {}
            }
            if let Some(error) = error {
                errors.push(error);
                tokens.skip_to(NO_BRACKETS, ends_cell);
            }
            if !tokens.eat(Tok::Bar) {
                break;
            }
        }
        // After an invalid cell, the semicolon of the row may be missing.
        if !incomplete || tokens.kind() == Tok::Semi {
            tokens.take();
        }
    }
    columns
}

/// No bracket pair: a bar ends a cell even if a bracket is open.
const NO_BRACKETS: (Tok, Tok) = (Tok::End, Tok::End);

/// Returns whether an invalid cell ends before the next token.
fn ends_cell(tokens: &Tokens<'_>) -> bool {
    matches!(tokens.kind(), Tok::Bar | Tok::Semi) || condition::starts_constraint(tokens)
}

/// Parses the row of thread names, `P0 | P1 ;`, into empty columns.
fn thread_names<I>(tokens: &mut Tokens<'_>) -> Result<Vec<Column<I>>, LitmusError> {
    let mut columns = Vec::new();
    loop {
        let token = tokens.peek();
        let name = tokens.name("a thread, as in `P0 | P1 ;`")?;
        let number = name.strip_prefix('P').and_then(|n| n.parse::<u32>().ok());
        let thread = number.ok_or_else(|| {
            LitmusError::syntax(token.span, "invalid thread name: threads are named P0, P1, ...")
        })?;
        if thread as usize != columns.len() {
            let message = format!("expected P{}: threads are numbered in order", columns.len());
            return Err(LitmusError::syntax(token.span, message));
        }
        if columns.len() as u64 >= limits::THREADS {
            return Err(LitmusError::too_large(token.span, "the test has too many threads"));
        }
        // An annotation may follow, as in `P0:I`. It is ignored.
        if tokens.eat(Tok::Colon) {
            tokens.take();
        }
        columns.push(Column { thread, cells: Vec::new(), incomplete: false });
        if !tokens.eat(Tok::Bar) {
            tokens.expect(Tok::Semi, "`|` or `;`")?;
            return Ok(columns);
        }
    }
}

fn at_constraint_or_end(tokens: &Tokens<'_>) -> bool {
    matches!(tokens.kind(), Tok::End | Tok::Shl | Tok::Tilde | Tok::LParen)
        || condition::starts_constraint(tokens)
}

/// Returns whether an instruction ends before the next token.
pub(in super::super) fn ends_instruction(tokens: &Tokens<'_>) -> bool {
    matches!(tokens.kind(), Tok::Bar | Tok::Semi | Tok::End)
}

/// Parses a cell. Returns the error of an invalid instruction with the cell, which keeps its labels.
fn parse_cell<I>(
    tokens: &mut Tokens<'_>,
    instruction: &ParseInstruction<'_, I>,
) -> (Cell<I>, Option<LitmusError>) {
    let first = tokens.peek().span;
    let mut labels = Vec::new();
    while tokens.kind() == Tok::Name && tokens.kind_at(1) == Tok::Colon {
        let token = tokens.take();
        labels.push((tokens.text(token).to_string(), token.span));
        tokens.take();
    }
    let (instruction, error) = match ends_instruction(tokens) {
        true => (None, None),
        false => match instruction(tokens) {
            Ok(instruction) => (Some(instruction), None),
            Err(error) => (None, Some(error)),
        },
    };
    let empty = labels.is_empty() && instruction.is_none();
    let span = if empty { first } else { first.to(tokens.last_span()) };
    (Cell { labels, instruction, span }, error)
}
