//! Definitions of the user and of our headers with the same name.
//!
//! A definition of the user wins: the function of our header is dropped. A declaration of the user
//! without a body, such as `extern void __VERIFIER_assume(int);`, is dropped in favour of the
//! function in our header. Declarations of our headers that the program does not use are dropped,
//! so that later passes only see what matters.

use std::collections::{HashMap, HashSet};

use super::items::ParsedItem;
use crate::c::ast::{
    Declaration, Declarator, Derivation, InitDeclarator, Item, Storage, TypeSpecifier,
};
use crate::c::source_map::{FileKind, SourceMap};
use crate::c::spellings::Spellings;
use crate::c::tokens::{Tok, Token};

/// Returns the items that remain, in text order.
pub(super) fn resolve(
    map: &SourceMap,
    items: Vec<ParsedItem>,
    tokens: &[Token],
    spellings: &Spellings,
) -> Vec<Item> {
    let is_ours = |item: &ParsedItem| {
        let span = tokens.get(item.tokens.start).map(|token| token.span);
        span.and_then(|span| map.file(span)).is_some_and(|file| file.kind == FileKind::BuiltIn)
    };
    let (mut defined, mut functions) = (HashSet::new(), HashSet::new());
    for item in &items {
        if is_ours(item) {
            functions.extend(functions_of(&item.item));
        } else {
            defined.extend(definitions_of(&item.item));
        }
    }
    let mut kept = Vec::new();
    for mut parsed in items {
        let ours = is_ours(&parsed);
        let item = match parsed.item {
            Item::Function(function) => {
                let name = function.declarator.name.as_ref().map(|name| name.text.as_str());
                let dropped = ours && name.is_some_and(|name| defined.contains(name));
                (!dropped).then_some(Item::Function(function))
            }
            Item::Declaration(mut declaration) => {
                let count = declaration.declarators.len();
                declaration.declarators.retain(|one| {
                    match function_name(&declaration.specifiers.storage, one) {
                        None => true,
                        Some(name) if ours => !defined.contains(name),
                        Some(name) => defined.contains(name) || !functions.contains(name),
                    }
                });
                let emptied = count > 0 && declaration.declarators.is_empty();
                (!emptied || declares_type(&declaration)).then_some(Item::Declaration(declaration))
            }
            item @ Item::StaticAssert { .. } => Some(item),
        };
        if let Some(item) = item {
            parsed.item = item;
            kept.push((parsed, ours));
        }
    }
    prune(kept, tokens, spellings)
}

/// Drops the items of our headers that nothing of the user leads to.
fn prune(items: Vec<(ParsedItem, bool)>, tokens: &[Token], spellings: &Spellings) -> Vec<Item> {
    let words = |item: &ParsedItem| {
        let tokens = tokens.get(item.tokens.clone()).unwrap_or_default();
        tokens.iter().filter(|token| token.kind == Tok::Name).map(|token| token.text)
    };
    let mut providers: HashMap<String, Vec<usize>> = HashMap::new();
    let mut used = vec![false; items.len()];
    let mut work = Vec::new();
    for (at, (item, ours)) in items.iter().enumerate() {
        let provided = if *ours { provided(&item.item) } else { Vec::new() };
        if provided.is_empty() {
            used[at] = true;
            work.push(at);
        }
        for name in provided {
            providers.entry(name).or_default().push(at);
        }
    }
    let mut seen = HashSet::new();
    while let Some(at) = work.pop() {
        for symbol in words(&items[at].0).filter(|symbol| seen.insert(*symbol)).collect::<Vec<_>>()
        {
            for &provider in providers.get(&*spellings.text(symbol)).into_iter().flatten() {
                if !used[provider] {
                    used[provider] = true;
                    work.push(provider);
                }
            }
        }
    }
    let kept = items.into_iter().zip(used).filter(|(_, used)| *used);
    kept.map(|((parsed, _), _)| parsed.item).collect()
}

/// Returns the name of a declared function.
fn function_name<'d>(storage: &Storage, one: &'d InitDeclarator) -> Option<&'d str> {
    let is_function = is_function(&one.declarator) && *storage != Storage::Typedef;
    one.declarator.name.as_ref().filter(|_| is_function).map(|name| name.text.as_str())
}

fn is_function(declarator: &Declarator) -> bool {
    matches!(declarator.derivations.first(), Some(Derivation::Function(_)))
}

/// Returns the functions that an item declares or defines.
fn functions_of(item: &Item) -> Vec<String> {
    match item {
        Item::Function(function) => name_of(&function.declarator).into_iter().collect(),
        Item::Declaration(declaration) => {
            let storage = &declaration.specifiers.storage;
            let names =
                declaration.declarators.iter().filter_map(|one| function_name(storage, one));
            names.map(str::to_string).collect()
        }
        Item::StaticAssert { .. } => Vec::new(),
    }
}

/// Returns what an item of the user defines: functions with a body, variables, types, constants.
fn definitions_of(item: &Item) -> Vec<String> {
    match item {
        Item::Function(function) => name_of(&function.declarator).into_iter().collect(),
        Item::Declaration(declaration) => {
            let storage = &declaration.specifiers.storage;
            let declarators = declaration.declarators.iter();
            let names = declarators.filter(|one| function_name(storage, one).is_none());
            let names = names.filter_map(|one| name_of(&one.declarator));
            names.chain(constants(&declaration.specifiers.ty)).collect()
        }
        Item::StaticAssert { .. } => Vec::new(),
    }
}

/// Returns all names that an item provides, with tags and enum constants.
fn provided(item: &Item) -> Vec<String> {
    match item {
        Item::Function(function) => name_of(&function.declarator).into_iter().collect(),
        Item::Declaration(declaration) => {
            let names = declaration.declarators.iter().filter_map(|one| name_of(&one.declarator));
            let ty = &declaration.specifiers.ty;
            let tag = match ty {
                TypeSpecifier::Record(record) => record.tag.as_ref(),
                TypeSpecifier::Enum(enumeration) => enumeration.tag.as_ref(),
                TypeSpecifier::Void
                | TypeSpecifier::Bool
                | TypeSpecifier::Int { .. }
                | TypeSpecifier::Unsupported(_)
                | TypeSpecifier::Named(_)
                | TypeSpecifier::Atomic(_)
                | TypeSpecifier::TypeofExpr(_)
                | TypeSpecifier::TypeofType(_)
                | TypeSpecifier::Auto => None,
            };
            names.chain(tag.map(|tag| tag.text.clone())).chain(constants(ty)).collect()
        }
        Item::StaticAssert { .. } => Vec::new(),
    }
}

fn name_of(declarator: &Declarator) -> Option<String> {
    declarator.name.as_ref().map(|name| name.text.clone())
}

/// Returns the constants of an `enum`.
fn constants(ty: &TypeSpecifier) -> Vec<String> {
    let TypeSpecifier::Enum(enumeration) = ty else { return Vec::new() };
    enumeration.constants.iter().flatten().map(|(name, _)| name.text.clone()).collect()
}

/// Returns whether a declaration has a meaning without declarators.
fn declares_type(declaration: &Declaration) -> bool {
    matches!(declaration.specifiers.ty, TypeSpecifier::Record(_) | TypeSpecifier::Enum(_))
}
