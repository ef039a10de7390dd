//! Formats items.

use fencepost_ir::Quantifier;

use super::flat::Flat;
use super::{Printer, WIDTH};
use crate::fp::ast::{AttributeKind, Block, Client, Field, Item, ItemKind, Name, Procedure};
use crate::fp::lexer::Tok;

impl<'a> Printer<'a> {
    pub(super) fn item(&mut self, item: &Item) {
        let (start, end) = (item.span.start as usize, self.with_semicolon(item.span.end));
        let mut flat = Flat::new(self.source);
        match &item.kind {
            ItemKind::Const(name, value) => {
                flat.add("const ");
                flat.add(&name.text);
                flat.add(" = ");
                flat.expr(value);
            }
            ItemKind::Pool(name, cells) => {
                flat.add("pool ");
                flat.add(&name.text);
                flat.dimensions(std::slice::from_ref(cells));
            }
            ItemKind::Shared(ty, vars) => {
                flat.add("shared ");
                flat.type_name(ty);
                flat.add(" ");
                flat.declarators(vars);
            }
            ItemKind::Client(client) => self.client(&mut flat, client),
            ItemKind::Property(name, of) => {
                flat.add("property ");
                flat.add(&name.text);
                if let Some(of) = of {
                    flat.add(" ");
                    flat.add(&of.text);
                }
            }
            ItemKind::Final(quantifier, cond) => {
                flat.add(match quantifier {
                    Quantifier::Exists => "final exists ",
                    Quantifier::Forall => "final forall ",
                    Quantifier::Never => "final never ",
                });
                flat.expr(cond);
            }
            ItemKind::Invariant(cond) => {
                flat.add("invariant ");
                flat.expr(cond);
            }
            ItemKind::Observe(what) => {
                flat.add("observe ");
                flat.exprs(what);
            }
            ItemKind::Enum(name, constants) => {
                return self.enumeration(start, end, name, constants);
            }
            ItemKind::Record(name, fields) => return self.record(start, end, name, fields),
            ItemKind::Init(block) => return self.with_body(start, flat.push("init"), block),
            ItemKind::Finally(block) => return self.with_body(start, flat.push("finally"), block),
            ItemKind::Procedure(procedure) => {
                procedure_head(&mut flat, procedure);
                return self.with_body(start, flat, &procedure.body);
            }
            ItemKind::Thread(thread) => {
                flat.add("thread ");
                flat.add(&thread.name.text);
                if let Some((name, range)) = &thread.param {
                    flat.add("(");
                    flat.add(&name.text);
                    flat.add(" in ");
                    flat.range(range);
                    flat.add(")");
                }
                return self.with_body(start, flat, &thread.body);
            }
        }
        flat.add(";");
        self.line(start, end, &flat.text());
    }

    fn client(&self, flat: &mut Flat<'_>, client: &Client) {
        // The parser pads the letters with spaces. Print a single space between words.
        let letters = |name: &Name| name.text.split_whitespace().collect::<Vec<_>>().join(" ");
        flat.add("client ");
        if let Some(first) = &client.first {
            flat.add(&letters(first));
        }
        if client.parens {
            flat.add("(");
        }
        for (at, thread) in client.threads.iter().enumerate() {
            if at > 0 {
                flat.add("|");
            }
            flat.add(&letters(thread));
        }
        if client.parens {
            flat.add(")");
        }
        if let Some(last) = &client.last {
            flat.add(&letters(last));
        }
    }

    /// Prints an item with a head and a block.
    fn with_body(&mut self, start: usize, head: Flat<'a>, block: &Block) {
        let end = block.span.end as usize;
        let head = head.text();
        if self.may_be_flat(start, end) {
            let mut flat = Flat::within(self.source, WIDTH).push(&head).push(" ");
            flat.block(block);
            if let Some(text) = flat.if_fits() {
                self.line(start, end, &text);
                return;
            }
        }
        self.block(&head, start, block);
    }

    fn enumeration(&mut self, start: usize, end: usize, name: &Name, constants: &[Name]) {
        if self.may_be_flat(start, end) || constants.is_empty() {
            let space = if constants.is_empty() { "" } else { " " };
            let head = format!("enum {} {{{space}", name.text);
            let mut flat = Flat::within(self.source, WIDTH).push(&head);
            flat.names(constants);
            flat.add(space);
            flat.add("}");
            if let Some(text) = flat.if_fits() {
                self.line(start, end, &text);
                return;
            }
        }
        let open = self.find(Tok::LBrace, name.span.end);
        self.line(start, open.end as usize, &format!("enum {} {{", name.text));
        self.begin_block();
        for constant in constants {
            let comma = self.lexed.tokens[self.token_at(constant.span.end as usize)];
            let ends = if comma.kind == Tok::Comma { comma.span.end } else { constant.span.end };
            self.line(constant.span.start as usize, ends as usize, &format!("{},", constant.text));
        }
        self.closing_line(end - 1, end, "}");
    }

    fn record(&mut self, start: usize, end: usize, name: &Name, fields: &[Field]) {
        let field_text = |source: &'a str, field: &Field| {
            let mut flat = Flat::new(source);
            flat.type_name(&field.ty);
            flat.add(" ");
            flat.add(&field.name.text);
            flat.dimensions(&field.dims);
            flat.push(";").text()
        };
        if self.may_be_flat(start, end) || fields.is_empty() {
            let space = if fields.is_empty() { "" } else { " " };
            let head = format!("record {} {{{space}", name.text);
            let mut flat = Flat::within(self.source, WIDTH).push(&head);
            for field in fields {
                flat.add(&field_text(self.source, field));
                flat.add(" ");
            }
            flat.add("}");
            if let Some(text) = flat.if_fits() {
                self.line(start, end, &text);
                return;
            }
        }
        let open = self.find(Tok::LBrace, name.span.end);
        self.line(start, open.end as usize, &format!("record {} {{", name.text));
        self.begin_block();
        for field in fields {
            let ends = self.find(Tok::Semi, field.name.span.end).end as usize;
            let text = field_text(self.source, field);
            self.line(field.ty.span.start as usize, ends, &text);
        }
        self.closing_line(end - 1, end, "}");
    }
}

fn procedure_head(flat: &mut Flat<'_>, procedure: &Procedure) {
    flat.add(if procedure.letter.is_some() { "operation " } else { "proc " });
    match &procedure.returns {
        Some(ty) => flat.type_name(ty),
        None => flat.add("void"),
    }
    flat.add(" ");
    flat.add(&procedure.name.text);
    flat.add("(");
    flat.params(&procedure.params);
    flat.add(")");
    if let Some(letter) = &procedure.letter {
        flat.add(" as ");
        flat.add(&letter.text);
    }
    for attribute in &procedure.attributes {
        flat.add(", ");
        flat.add(attribute.kind.word());
        match &attribute.kind {
            AttributeKind::Aborts(value) => {
                flat.add(" ");
                flat.expr(value);
            }
            AttributeKind::Owner | AttributeKind::Repeats => {}
        }
    }
}
