//! Parsing of `switch`. The words `switch`, `case` and `default` are keywords only where they are
//! expected.

use fencepost_ir::Span;

use super::{ParseResult, Parser};
use crate::fp::ast::{Case, CaseLabel, Expr, StmtKind};
use crate::fp::lexer::Tok;

impl Parser<'_> {
    pub(super) fn switch(&mut self) -> ParseResult<StmtKind> {
        let (value, head) = self.head()?;
        let open = self.expect(Tok::LBrace)?;
        self.nested(|parser| parser.cases(value, head, open))
    }

    fn cases(&mut self, value: Expr, head: Span, open: Span) -> ParseResult<StmtKind> {
        let mut cases: Vec<Case> = Vec::new();
        loop {
            match self.peek() {
                Tok::RBrace => {
                    let close = self.advance().span;
                    return Ok(StmtKind::Switch { value, head, cases, close });
                }
                kind if kind == Tok::End || kind.begins_item() => {
                    return Err(self.unclosed_block(open));
                }
                _ => {}
            }
            if let Some(label) = self.case_label()? {
                match cases.last_mut() {
                    Some(case) if case.stmts.is_empty() => case.labels.push(label),
                    Some(_) | None => cases.push(Case { labels: vec![label], stmts: Vec::new() }),
                }
                continue;
            }
            if cases.is_empty() {
                return Err(self.expected("`case` or `default`"));
            }
            let stmt = self.stmt_or_skip()?;
            if let (Some(case), Some(stmt)) = (cases.last_mut(), stmt) {
                case.stmts.push(stmt);
            }
        }
    }

    /// Parses `case E:` or `default:`. Returns `None` if the next token begins a statement.
    fn case_label(&mut self) -> ParseResult<Option<CaseLabel>> {
        let start = self.span();
        let value = match (self.peek(), start.text(self.source)) {
            (Tok::Name, "case") => {
                self.advance();
                Some(self.expr()?)
            }
            (Tok::Name, "default") if self.peek_second() == Tok::Colon => {
                self.advance();
                None
            }
            _ => return Ok(None),
        };
        let colon = self.expect(Tok::Colon)?;
        Ok(Some(CaseLabel { value, span: start.to(colon) }))
    }
}
