//! What a piece of code may do, without lowering it.
//!
//! Direction: over-approximation. A call through a pointer may call every function whose address is
//! used.

use std::collections::BTreeSet;

use super::walk::{Node, walk_expr, walk_stmt};
use crate::c::typed::{
    Expr, ExprKind, FunctionId, IntType, Intrinsic, Place, PlaceKind, Program, Stmt, StmtKind,
    Type, TypeKind, VariableId,
};

/// The functions that create or join threads, or allocate, directly or through calls.
pub(super) struct Effects {
    unrolled: Vec<bool>,
    /// Whether a call through a pointer may reach such a function.
    pointers: bool,
    /// The sizes in bits of integers that are accessed with both signs: a pointer is converted.
    both_signs: BTreeSet<u8>,
    /// Whether an integer with 64 bits may become a pointer.
    forges_pointers: bool,
}

/// What a loop may assign.
#[derive(Default)]
pub(super) struct Writes {
    /// The local variables that it assigns by name.
    pub(super) locals: BTreeSet<u32>,
    /// Whether it may assign other objects, through pointers or in functions.
    pub(super) others: bool,
}

fn is_unrolled(intrinsic: &Intrinsic) -> bool {
    matches!(
        intrinsic,
        Intrinsic::ThreadCreate { .. }
            | Intrinsic::ThreadJoin { .. }
            | Intrinsic::Allocate { .. }
            | Intrinsic::Reallocate { .. }
    )
}

impl Effects {
    pub(super) fn new(program: &Program) -> Self {
        let count = program.functions.len();
        let mut effects = Effects {
            unrolled: vec![false; count],
            pointers: false,
            both_signs: both_signs(program),
            forges_pointers: forges_pointers(program),
        };
        let mut changed = true;
        while changed {
            changed = false;
            for (at, function) in program.functions.iter().enumerate() {
                if !effects.unrolled[at] && function.body.iter().any(|stmt| effects.of_stmt(stmt)) {
                    effects.unrolled[at] = true;
                    changed = true;
                }
            }
            let taken = |function: &FunctionId| effects.unrolled.get(function.0 as usize).copied();
            let pointers = addresses(program).iter().any(|f| taken(f).unwrap_or(false));
            changed |= pointers != effects.pointers;
            effects.pointers = pointers;
        }
        effects
    }

    /// Returns whether a pointer to an integer of this size is converted to one with the other sign.
    pub(super) fn has_both_signs(&self, bits: u8) -> bool {
        self.both_signs.contains(&bits)
    }

    /// Returns whether pointers in memory that have no value can have a mark.
    pub(super) fn marks_pointers(&self) -> bool {
        !self.forges_pointers
    }

    /// Returns whether a loop with this part should be unrolled: the part creates or joins threads,
    /// or allocates.
    pub(super) fn of_stmt(&self, stmt: &Stmt) -> bool {
        let mut found = false;
        walk_stmt(stmt, &mut |node| {
            found |= self.of_node(node);
            !found
        });
        found
    }

    fn of_node(&self, node: Node<'_>) -> bool {
        let Node::Expr(expr) = node else { return false };
        match &expr.kind {
            ExprKind::Intrinsic(intrinsic) => is_unrolled(intrinsic),
            ExprKind::Call { function, .. } => match function.kind {
                ExprKind::Function(id) => {
                    self.unrolled.get(id.0 as usize).copied().unwrap_or(false)
                }
                _ => self.pointers,
            },
            _ => false,
        }
    }
}

/// Returns whether an integer with 64 bits may become a pointer: by a conversion, by an access to a
/// pointer as an integer, or by a union.
fn forges_pointers(program: &Program) -> bool {
    let mut found = false;
    let mut visit = |node: Node<'_>| {
        if let Node::Expr(Expr { kind: ExprKind::Convert(inner), ty, .. }) = node
            && let TypeKind::Pointer(to) = &ty.kind
        {
            found |= match &inner.ty.kind {
                TypeKind::Pointer(from) => {
                    is_wide(to) && is_pointer(from) || is_wide(from) && is_pointer(to)
                }
                _ => !is_small_or_pointer(inner),
            };
        }
        !found
    };
    walk_program(program, &mut visit);
    let mut unions = program.records.iter().filter(|record| record.is_union);
    found
        || unions.any(|record| {
            let has = |test: &dyn Fn(&Type) -> bool| {
                record.fields.iter().any(|field| contains(program, &field.ty, test))
            };
            has(&is_pointer) && has(&is_wide)
        })
}

/// Returns whether a value has at most 32 bits, or is a pointer that was converted to an integer.
fn is_small_or_pointer(expr: &Expr) -> bool {
    match (&expr.ty.kind, &expr.kind) {
        (TypeKind::Pointer(_) | TypeKind::Function(_), _) => true,
        (TypeKind::Int(int), _) if int.bits < 64 => true,
        (_, ExprKind::Const(value)) => i32::try_from(*value).is_ok(),
        (_, ExprKind::Convert(inner)) => is_small_or_pointer(inner),
        _ => false,
    }
}

fn is_wide(ty: &Type) -> bool {
    matches!(ty.kind, TypeKind::Int(IntType { bits: 64, .. }))
}

fn is_pointer(ty: &Type) -> bool {
    matches!(ty.kind, TypeKind::Pointer(_))
}

/// Returns whether a type or a part of it passes a test.
fn contains(program: &Program, ty: &Type, test: &dyn Fn(&Type) -> bool) -> bool {
    test(ty)
        || match &ty.kind {
            TypeKind::Array(element, _) => contains(program, element, test),
            TypeKind::Record(id) => program.records.get(id.0 as usize).is_some_and(|record| {
                record.fields.iter().any(|field| contains(program, &field.ty, test))
            }),
            _ => false,
        }
}

/// Visits all code and the initialisers of global variables.
fn walk_program<'p>(program: &'p Program, visit: &mut dyn FnMut(Node<'p>) -> bool) {
    for function in &program.functions {
        function.body.iter().for_each(|stmt| walk_stmt(stmt, visit));
    }
    for global in &program.globals {
        let items = global.init.iter().flat_map(|init| &init.items);
        items.for_each(|item| walk_expr(&item.value, visit));
    }
}

fn both_signs(program: &Program) -> BTreeSet<u8> {
    let mut found = BTreeSet::new();
    let mut visit = |node: Node<'_>| {
        if let Node::Expr(Expr { kind: ExprKind::Convert(inner), ty, .. }) = node
            && let (Some(to), Some(from)) = (pointee(ty), pointee(&inner.ty))
            && to.bits == from.bits
            && to.signed != from.signed
        {
            found.insert(to.bits);
        }
        true
    };
    walk_program(program, &mut visit);
    // The members of a union, too.
    for record in program.records.iter().filter(|record| record.is_union) {
        let ints = || record.fields.iter().filter_map(|field| integer(&field.ty));
        for ty in ints() {
            if ints().any(|other| other.bits == ty.bits && other.signed != ty.signed) {
                found.insert(ty.bits);
            }
        }
    }
    found
}

fn integer(ty: &Type) -> Option<IntType> {
    match &ty.kind {
        TypeKind::Int(int) => Some(*int),
        _ => None,
    }
}

fn pointee(ty: &Type) -> Option<IntType> {
    match &ty.kind {
        TypeKind::Pointer(to) => integer(to),
        _ => None,
    }
}

/// Returns the functions whose address is used other than for a call.
fn addresses(program: &Program) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    let mut visit = |node: Node<'_>| {
        let Node::Expr(expr) = node else { return true };
        match &expr.kind {
            ExprKind::Function(id) => {
                found.insert(*id);
            }
            ExprKind::Call { function, arguments } => {
                if !matches!(function.kind, ExprKind::Function(_)) {
                    return true;
                }
                for argument in arguments {
                    found.extend(addresses_of_expr(argument));
                }
                return false;
            }
            _ => {}
        }
        true
    };
    for function in &program.functions {
        function.body.iter().for_each(|stmt| walk_stmt(stmt, &mut visit));
    }
    for global in &program.globals {
        let items = global.init.iter().flat_map(|init| &init.items);
        items.for_each(|item| walk_expr(&item.value, &mut visit));
    }
    found
}

fn addresses_of_expr(expr: &Expr) -> BTreeSet<FunctionId> {
    let mut found = BTreeSet::new();
    walk_expr(expr, &mut |node| {
        if let Node::Expr(Expr { kind: ExprKind::Function(id), .. }) = node {
            found.insert(*id);
        }
        true
    });
    found
}

/// Returns what the parts of a loop may assign.
pub(super) fn writes<'a>(
    stmts: impl IntoIterator<Item = &'a Stmt>,
    exprs: impl IntoIterator<Item = &'a Expr>,
) -> Writes {
    let mut writes = Writes::default();
    let mut visit = |node: Node<'a>| {
        match node {
            Node::Stmt(Stmt { kind: StmtKind::Declare { local, .. }, .. }) => {
                writes.locals.insert(*local);
            }
            Node::Place(Place {
                kind: PlaceKind::Compound { variable: VariableId::Local(local), .. },
                ..
            }) => {
                writes.locals.insert(*local);
            }
            Node::Expr(expr) => match &expr.kind {
                ExprKind::Assign { place, .. } | ExprKind::Modify { place, .. } => {
                    match root(place) {
                        Some(VariableId::Local(local)) => {
                            writes.locals.insert(local);
                        }
                        Some(VariableId::Global(_)) | None => writes.others = true,
                    }
                }
                ExprKind::Call { .. } | ExprKind::Intrinsic(_) => writes.others = true,
                _ => {}
            },
            Node::Stmt(_) | Node::Place(_) => {}
        }
        true
    };
    stmts.into_iter().for_each(|stmt| walk_stmt(stmt, &mut visit));
    exprs.into_iter().for_each(|expr| walk_expr(expr, &mut visit));
    writes
}

/// Returns the variable that a place is a part of, if it is not behind a pointer.
pub(super) fn root(place: &Place) -> Option<VariableId> {
    match &place.kind {
        PlaceKind::Variable(variable) | PlaceKind::Compound { variable, .. } => Some(*variable),
        PlaceKind::Field(base, _) | PlaceKind::Index(base, _) => root(base),
        PlaceKind::Deref(_) | PlaceKind::Value(_) => None,
    }
}
