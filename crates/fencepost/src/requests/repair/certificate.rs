//! Certificates of optimality of repairs.

use super::{Method, PreparedRepair, Repaired};
use crate::requests::check::EngineChoice;
use fencepost_infer::optimality::{
    NoOptimalityCertificate, check_supported, write_optimality_certificate,
};
use fencepost_infer::repair::Inference;
use std::io::Write;

impl PreparedRepair<'_> {
    /// Checks that the answer to the request can get a certificate of optimality.
    pub fn check_certifiable(&self) -> Result<(), NoOptimalityCertificate> {
        match self.request.repair.verifier {
            EngineChoice::Robust { .. } => return Err(NoOptimalityCertificate::Robustness),
            EngineChoice::Auto
            | EngineChoice::Explicit
            | EngineChoice::Abstraction { .. }
            | EngineChoice::Automata
            | EngineChoice::Stateless { .. }
            | EngineChoice::Translate { .. } => {}
        }
        if let Method::Fixpoint(_) = self.request.repair.method {
            return Err(NoOptimalityCertificate::NotOptimal);
        }
        if self.request.repair.strengthen.is_some() {
            return Err(NoOptimalityCertificate::Orders);
        }
        check_supported(&self.problems, &self.request.model, &self.costs)
    }
}

impl Repaired<'_> {
    /// Writes the certificate of optimality: the proof that the first placement is sufficient and
    /// that no cheaper one is. `fencepost_certify::check_optimality` checks it.
    ///
    /// ```
    /// use fencepost::{Lowering, Model, Source};
    ///
    /// let text = "shared int x, y;
    /// thread p { x = 1; a = y; }
    /// thread q { y = 1; b = x; }
    /// final forall p.a == 1 || q.b == 1;
    /// ";
    /// let places = Lowering { places: true, ..Lowering::default() };
    /// let source = Source::parse_with("sb.fp", text, places)?;
    /// let mut certificate = Vec::new();
    /// source.repair(Model::TSO).run()?.write_certificate(&mut certificate)?;
    /// let checked = fencepost_certify::check_optimality(source.programs(), &mut &certificate[..])?;
    /// assert_eq!(checked.header.cost, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_certificate(&self, out: &mut dyn Write) -> Result<(), NoOptimalityCertificate> {
        self.prepared.check_certifiable()?;
        let Inference::Repaired(repair) = &self.inference else {
            return Err(NoOptimalityCertificate::NotOptimal);
        };
        let PreparedRepair { request, costs, restrictions, .. } = &self.prepared;
        let engine = request.repair.verifier.engine();
        let query = self.prepared.query(engine.as_ref());
        let (written, _) = request.control.run(&request.options, |budget| {
            write_optimality_certificate(query, (costs, restrictions), repair, budget, out)
        });
        written
    }
}
