//! Lowers RCU and SRCU: read-side sections and grace periods.
//!
//! An SRCU domain is a location, the `srcu_struct`. Nothing reads or writes it.

use fencepost_ir::{Domain, Expr, Loc, Op, Program, Reg, Span, grace_period};

use super::super::super::error::LitmusError;
use super::super::ast::Expression;
use super::super::functions::RcuCall;
use super::Lowerer;
use super::value::ResultUse;

/// The domains of a test: the locations of the SRCU domains, in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(in super::super::super) struct Domains(Vec<Loc>);

impl Domains {
    /// Returns the domain of an SRCU structure.
    fn of(&mut self, loc: Loc) -> Option<Domain> {
        let at = self.0.iter().position(|other| *other == loc).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(loc);
        }
        let domain = Domain::from_index(at + 1);
        (domain.index() < grace_period::MAX_DOMAINS).then_some(domain)
    }
}

impl Lowerer<'_> {
    /// Lowers a call of RCU or SRCU. Returns its value, if it has one.
    pub(super) fn rcu_call(
        &mut self,
        call: RcuCall,
        arguments: &[Expression],
        span: Span,
        result_use: ResultUse,
    ) -> Result<Option<Expr<Reg>>, LitmusError> {
        let domain = match arguments.first() {
            None => Domain::RCU,
            Some(structure) => {
                let loc = self.pointee(structure)?.as_fixed().ok_or_else(|| {
                    let message = "the SRCU structure must be a parameter, not a computed address";
                    LitmusError::unsupported(structure.span, message)
                })?;
                let message = "the test has too many SRCU structures";
                self.domains.of(loc).ok_or_else(|| LitmusError::too_large(span, message))?
            }
        };
        match call {
            RcuCall::Lock => {
                let held = self.section_register(domain);
                let index = if domain == Domain::RCU {
                    None
                } else {
                    Some(self.destination_register(result_use, span)?)
                };
                self.mark_access_source(result_use, span);
                self.asm.emit(Op::SectionBegin { domain, held, index });
                Ok(index.map(Expr::Var))
            }
            RcuCall::Unlock => {
                let held = self.section_register(domain);
                let index = arguments.get(1).map(|index| self.value(index)).transpose()?;
                self.mark_access_source(result_use, span);
                self.asm.emit(Op::SectionEnd { domain, held, index });
                Ok(None)
            }
            RcuCall::Synchronize => {
                let seen = self.grace_period_register();
                self.mark_access_source(result_use, span);
                self.asm.emit(Op::GracePeriod { domain, seen });
                Ok(None)
            }
        }
    }

    /// Returns the register that records the sections of a domain.
    fn section_register(&mut self, domain: Domain) -> Reg {
        *self.sections.entry(Some(domain)).or_insert_with(|| self.asm.temporary())
    }

    /// Returns the register for the progress of grace periods.
    fn grace_period_register(&mut self) -> Reg {
        *self.sections.entry(None).or_insert_with(|| self.asm.temporary())
    }
}

/// Sets the types of the registers of sections and grace periods, when all threads are known.
pub(in super::super::super) fn finish(program: &mut Program) -> Result<(), LitmusError> {
    grace_period::set_register_types(program).map_err(|label| {
        let message = "this grace period waits for too many sections of other threads";
        let hint = format!("use at most {} other threads and sections", grace_period::MAX_WAITS);
        LitmusError::too_large(program.label(label).span, message).hint(hint)
    })
}
