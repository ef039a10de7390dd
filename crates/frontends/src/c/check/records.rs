//! Records: the definition of `struct` and `union` types.
//!
//! A bit field takes part in the layout. Accesses to it are reported, so that a program may use the
//! other fields of such a record.

use super::layout::{LARGEST, Layout};
use super::scopes::Tag;
use super::{Checker, FieldInfo, RecordInfo, UNSIZED};
use crate::c::ast;
use crate::c::codes;
use crate::c::typed::{RecordId, Type, TypeKind};

impl Checker<'_> {
    pub(super) fn record_specifier(&mut self, specifier: &ast::RecordSpecifier) -> Option<Type> {
        let id = match &specifier.tag {
            Some(tag) => self.tagged_record(specifier, tag)?,
            None => self.new_record(specifier),
        };
        if let Some(fields) = &specifier.fields {
            let layout = Layout::new(specifier.is_union, specifier.packed);
            self.define_record(id, specifier, fields, layout);
        }
        Some(Type::plain(TypeKind::Record(id)))
    }

    fn new_record(&mut self, specifier: &ast::RecordSpecifier) -> RecordId {
        let keyword = keyword(specifier.is_union);
        let name = match &specifier.tag {
            Some(tag) => format!("{keyword} {}", tag.text),
            None => keyword.into(),
        };
        self.records.push(RecordInfo {
            name,
            is_union: specifier.is_union,
            span: specifier.tag.as_ref().map_or(specifier.span, |tag| tag.span),
            fields: Vec::new(),
            layout: None,
            open: false,
            invalid: false,
        });
        RecordId((self.records.len() - 1) as u32)
    }

    /// Finds the record with a tag, or declares it.
    fn tagged_record(
        &mut self,
        specifier: &ast::RecordSpecifier,
        tag: &ast::Name,
    ) -> Option<RecordId> {
        let known = match &specifier.fields {
            Some(_) => self.scopes.find_tag_here(&tag.text),
            None => self.scopes.find_tag(&tag.text),
        };
        let known = known.cloned();
        let Some((known, span)) = known else {
            let id = self.new_record(specifier);
            self.scopes.declare_tag(&tag.text, Tag::Record(id), tag.span);
            return Some(id);
        };
        let id = match known {
            Tag::Record(id) if self.record(id).is_union == specifier.is_union => id,
            Tag::Record(_) | Tag::Enum(_) => {
                let text = &tag.text;
                let keyword = keyword(specifier.is_union);
                let message = format!("`{text}` is not the tag of a `{keyword}`");
                self.error(codes::DUPLICATE, tag.span, message)
                    .related(span, format!("`{text}` is declared here"));
                return None;
            }
        };
        if specifier.fields.is_some() && self.record(id).layout.is_some() {
            let message = format!("`{}` is defined twice", self.record(id).name);
            self.error(codes::DUPLICATE, tag.span, message).related(span, "the other definition");
            return None;
        }
        Some(id)
    }

    fn define_record(
        &mut self,
        id: RecordId,
        specifier: &ast::RecordSpecifier,
        fields: &[ast::FieldDeclaration],
        mut layout: Layout,
    ) {
        let errors = self.diagnostics.len();
        self.records[id.0 as usize].open = true;
        let mut infos: Vec<FieldInfo> = Vec::new();
        let last = fields.len().saturating_sub(1);
        for (index, declaration) in fields.iter().enumerate() {
            self.field_declaration(declaration, index == last, &mut layout, &mut infos);
        }
        let explicit = self.alignment(specifier.alignment.as_deref());
        let (size, alignment) = layout.finish(explicit);
        let too_large = size > LARGEST;
        if too_large {
            let message = format!("`{}` is too large", self.record(id).name);
            self.error(codes::OBJECT_TOO_LARGE, specifier.span, message)
                .hint(format!("a type has at most {LARGEST} bytes"));
        }
        let invalid = self.diagnostics.len() != errors;
        let record = &mut self.records[id.0 as usize];
        record.open = false;
        record.fields = infos;
        record.layout = Some((if too_large { 0 } else { size }, alignment));
        record.invalid = invalid;
    }

    fn field_declaration(
        &mut self,
        declaration: &ast::FieldDeclaration,
        is_last: bool,
        layout: &mut Layout,
        infos: &mut Vec<FieldInfo>,
    ) {
        let Some(base) = self.specifiers(&declaration.specifiers) else { return };
        let common = self.alignment(declaration.specifiers.alignment.as_deref());
        if declaration.declarators.is_empty() {
            self.anonymous_member(declaration, base, common, layout, infos);
            return;
        }
        for (declarator, width) in &declaration.declarators {
            let Some(mut ty) = self.declarator(base.clone(), declarator) else { continue };
            let span = declarator.name.as_ref().map_or(declarator.span, |name| name.span);
            if let Some(name) = &declarator.name {
                self.check_new_field(name, infos);
            }
            let name = declarator.name.as_ref().map_or(String::new(), |name| name.text.clone());
            if let Some(width) = width {
                self.bit_field(name, ty, width, layout, infos);
                continue;
            }
            if let TypeKind::Array(_, count) = &mut ty.kind
                && *count == UNSIZED
                && is_last
            {
                *count = 0;
            }
            if matches!(ty.kind, TypeKind::Void | TypeKind::Function(_)) {
                let message = format!("a field cannot have type `{}`", self.type_text(&ty));
                self.error(codes::DECLARATION, span, message).hint("use a pointer");
                continue;
            }
            let own = self.alignment(declarator.alignment.as_deref());
            let explicit = common.max(own);
            self.add_field(
                FieldInfo { name, ty, offset: 0, index: None, span },
                explicit,
                layout,
                infos,
            );
        }
    }

    fn add_field(
        &mut self,
        mut field: FieldInfo,
        explicit: Option<u64>,
        layout: &mut Layout,
        infos: &mut Vec<FieldInfo>,
    ) {
        let Some(size) = self.complete_size(&field.ty, field.span) else { return };
        let natural = self.align_of(&field.ty).unwrap_or(1);
        field.offset = layout.add(size, natural, explicit);
        field.index = Some(infos.iter().filter(|info| info.index.is_some()).count() as u32);
        infos.push(field);
    }

    fn anonymous_member(
        &mut self,
        declaration: &ast::FieldDeclaration,
        ty: Type,
        explicit: Option<u64>,
        layout: &mut Layout,
        infos: &mut Vec<FieldInfo>,
    ) {
        let is_anonymous = match &declaration.specifiers.ty {
            ast::TypeSpecifier::Record(record) => record.tag.is_none() && record.fields.is_some(),
            _ => false,
        };
        // `struct tag { ... };` inside a record only declares the tag.
        let TypeKind::Record(id) = ty.kind else { return };
        if !is_anonymous {
            return;
        }
        let names: Vec<ast::Name> = self
            .field_names(id)
            .into_iter()
            .map(|text| ast::Name { text, span: declaration.span })
            .collect();
        for name in &names {
            self.check_new_field(name, infos);
        }
        let span = declaration.span;
        let field = FieldInfo { name: String::new(), ty, offset: 0, index: None, span };
        self.add_field(field, explicit, layout, infos);
    }

    fn check_new_field(&mut self, name: &ast::Name, infos: &[FieldInfo]) {
        let other = infos.iter().find(|info| match &info.ty.kind {
            TypeKind::Record(id) if info.name.is_empty() => {
                self.field_names(*id).contains(&name.text)
            }
            _ => info.name == name.text,
        });
        if let Some(span) = other.map(|info| info.span) {
            let message = format!("there are two fields `{}`", name.text);
            self.error(codes::DUPLICATE, name.span, message).related(span, "the other field");
        }
    }

    /// Returns the names of all fields, with those of anonymous members.
    pub(super) fn field_names(&self, id: RecordId) -> Vec<String> {
        let mut names = Vec::new();
        for field in &self.record(id).fields {
            match &field.ty.kind {
                TypeKind::Record(inner) if field.name.is_empty() => {
                    names.extend(self.field_names(*inner));
                }
                _ => names.push(field.name.clone()),
            }
        }
        names
    }

    fn bit_field(
        &mut self,
        name: String,
        ty: Type,
        width: &ast::Expr,
        layout: &mut Layout,
        infos: &mut Vec<FieldInfo>,
    ) {
        let Some(bits) = self.constant(width) else { return };
        let TypeKind::Int(int) = ty.kind else {
            self.error(codes::DECLARATION, width.span, "a bit field has an integer type");
            return;
        };
        let largest = if int.is_bool { 1 } else { i64::from(int.bits) };
        if !(0..=largest).contains(&bits) || (bits == 0 && !name.is_empty()) {
            let message = format!("a bit field of this type cannot have {bits} bits");
            self.error(codes::BAD_CONSTANT, width.span, message);
            return;
        }
        layout.add_bits(u64::from(int.bits) / 8, bits as u64, !name.is_empty());
        if !name.is_empty() {
            infos.push(FieldInfo { name, ty, offset: 0, index: None, span: width.span });
        }
    }
}

fn keyword(is_union: bool) -> &'static str {
    if is_union { "union" } else { "struct" }
}
