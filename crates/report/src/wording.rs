//! The text for one event: its effect, the origin of its value, and pending accesses.

use crate::paint::{clip, printable};
use fencepost_ir::{BinOp, CasResult, Label, Loc, Op, Program, Reg, ThreadId, Update, Value};
use fencepost_models::replay::{AnnotatedEvent, PendingAccess};
use fencepost_models::{Event, EventKind, Source};

/// Formats the line of a statement: `:7`, or `lock.h:7` in an included file.
pub fn place(program: &Program, label: Label) -> String {
    format!("{}:{}", file(program, label), program.label(label).span.line)
}

/// Returns the name of the included file of a statement, without its folders if it is the only file
/// of that name. Returns an empty text for the main file.
pub fn file(program: &Program, label: Label) -> String {
    let Some(path) = program.included.get(&label) else { return String::new() };
    let short = |path: &str| path.rsplit('/').next().map(String::from);
    let name = short(path);
    let is_alone = program.included.values().all(|other| other == path || short(other) != name);
    printable(name.as_deref().filter(|_| is_alone).unwrap_or(path))
}

/// Returns the source text of a statement, clipped to `max` characters.
pub fn statement(program: &Program, label: Label, max: usize) -> String {
    clip(&printable(&program.label(label).text), max)
}

/// Formats a location and a value, separated by `between`: `want[0] = true`.
pub fn cell(program: &Program, loc: Loc, between: &str, value: Value) -> String {
    let value = program.show_value(loc, value);
    format!("{}{between}{value}", program.location(loc).name)
}

/// Returns whether an event begins or ends the lifetime of a local variable.
fn is_lifetime(program: &Program, event: &Event) -> bool {
    match op(program, event) {
        Some(Op::New { pool, .. } | Op::Free { pool, .. }) => program.pool(*pool).is_local,
        _ => false,
    }
}

/// Returns the operation of an event's statement.
pub fn op<'p>(program: &'p Program, event: &Event) -> Option<&'p Op> {
    let code = &program.threads.get(event.thread.index())?.code;
    event.pc.and_then(|pc| code.get(pc.index())).map(|stmt| &stmt.op)
}

/// Returns the stable word for the kind of an event, as used in JSON.
pub fn kind(program: &Program, event: &Event) -> &'static str {
    match event.kind {
        EventKind::Fetch { .. } => "fetch",
        EventKind::Load { .. } => "load",
        EventKind::Store { .. } => "store",
        EventKind::Write { .. } => "write",
        EventKind::Commit { .. } => "commit",
        EventKind::CommitAndKeep { .. } => "commit-stay",
        EventKind::Repeat { .. } => "repeat",
        EventKind::Confirm => "confirm",
        EventKind::Update { .. } => "update",
        EventKind::Fence(_) => "fence",
        EventKind::Drain(_) => "drain",
        EventKind::Set { .. } if is_choice(program, event) => "choose",
        EventKind::Set { .. } => "set",
        EventKind::Test(_) => match op(program, event) {
            Some(Op::Assert(_)) => "assert",
            Some(Op::Assume(_)) => "assume",
            _ => "branch",
        },
        EventKind::Guess(_) => "guess",
        EventKind::New(_) => "new",
        EventKind::Free(_) => "free",
        EventKind::Leave => "leave",
        EventKind::SectionBegin => "section-begin",
        EventKind::SectionEnd => "section-end",
        EventKind::GracePeriod { .. } => "grace-period",
        EventKind::AtomicBegin => "atomic",
        EventKind::AtomicEnd => "atomic-end",
        EventKind::Skip => "skip",
        EventKind::Defer => "defer",
    }
}

fn is_choice(program: &Program, event: &Event) -> bool {
    matches!(op(program, event), Some(Op::Choose { .. }))
}

/// Whether an event has a number in a trace. The other events are local to their thread.
pub fn is_numbered(program: &Program, event: &Event) -> bool {
    match event.kind {
        EventKind::Load { .. }
        | EventKind::Store { .. }
        | EventKind::Write { .. }
        | EventKind::Commit { .. }
        | EventKind::CommitAndKeep { .. }
        | EventKind::Repeat { .. }
        | EventKind::Update { .. }
        | EventKind::Fence(_)
        | EventKind::Drain(_)
        | EventKind::New(_)
        | EventKind::Free(_)
        | EventKind::Leave
        | EventKind::SectionBegin
        | EventKind::SectionEnd
        | EventKind::GracePeriod { .. } => true,
        EventKind::Set { .. } => is_choice(program, event),
        EventKind::Test(holds) => !holds && kind(program, event) == "assert",
        EventKind::Fetch { .. }
        | EventKind::Confirm
        | EventKind::Guess(_)
        | EventKind::AtomicBegin
        | EventKind::AtomicEnd
        | EventKind::Defer
        | EventKind::Skip => false,
    }
}

/// Describes the result of a choice that is not simply assigned to a named register. `events` are
/// the events of the step, starting with the choice.
pub fn chosen(program: &Program, events: &[AnnotatedEvent]) -> Option<String> {
    let (choice, rest) = events.split_first()?;
    let (EventKind::Set { reg, value }, Some(Op::Choose { lo, hi, .. })) =
        (choice.event.kind, op(program, &choice.event))
    else {
        return None;
    };
    if register_name(program, choice.event.thread, reg).is_some() {
        return None;
    }
    // `choose(2, 3, 5)` chooses a position, and an assignment maps the position to the value.
    for annotated in rest.iter().filter(|t| t.event.label == choice.event.label) {
        if let EventKind::Set { reg, value } = annotated.event.kind
            && let Some(name) = register_name(program, annotated.event.thread, reg)
        {
            let shown = program.register_type(annotated.event.thread, reg).show(value);
            return Some(format!("{name} = {shown} (chosen)"));
        }
    }
    let text = statement(program, choice.event.label?, 40);
    // The only choice without a keyword is the step at a label that an invariant mentions.
    let is_label = lo == hi && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_label && text != "either" {
        return Some(format!("leaves label {text}"));
    }
    let list = text.strip_prefix("choose(").and_then(|t| t.strip_suffix(')'));
    let at = usize::try_from(value.checked_sub(*lo)?).ok()?;
    let item = list.filter(|list| !list.contains("..")).and_then(|list| list.split(',').nth(at));
    let shown = item.map_or_else(|| value.to_string(), |item| item.trim().to_string());
    Some(format!("{text}: {shown}"))
}

/// Returns the origin of the value of a load or update as JSON has it: `initial`, `own buffer` or
/// `p(1):12`.
pub fn value_origin(program: &Program, annotated: &AnnotatedEvent) -> Option<String> {
    let reads_from = annotated.reads_from?;
    if is_forwarded(annotated) {
        return Some("own buffer".into());
    }
    Some(match reads_from {
        None => "initial".into(),
        Some((thread, label)) => {
            format!("{}{}", program.thread(thread).name, place(program, label))
        }
    })
}

fn is_forwarded(annotated: &AnnotatedEvent) -> bool {
    matches!(annotated.event.kind, EventKind::Load { source: Source::Forwarded { .. }, .. })
}

/// Formats the origin of a value for a picture: `(memory, initial)`, `(own buffer :7)`,
/// `(memory, p(1) :12)`.
fn origin_text(program: &Program, annotated: &AnnotatedEvent) -> String {
    match annotated.reads_from {
        None => String::new(),
        Some(None) => " (memory, initial)".into(),
        Some(Some((_, label))) if is_forwarded(annotated) => {
            format!(" (own buffer {})", place(program, label))
        }
        Some(Some((thread, label))) if thread == annotated.event.thread => {
            format!(" (memory, own {})", place(program, label))
        }
        Some(Some((thread, label))) => {
            format!(" (memory, {} {})", program.thread(thread).name, place(program, label))
        }
    }
}

/// Returns `w = ` when the event sets the register `w` that the user named.
fn target(program: &Program, event: &Event) -> Option<String> {
    let reg = op(program, event)?.target()?;
    register_name(program, event.thread, reg).map(|name| format!("{name} = "))
}

/// Returns `await(x == 1): ` for a load in the condition of an `await`. The label of the load has
/// the text of the whole statement.
fn awaiting(program: &Program, event: &Event) -> Option<String> {
    let text = statement(program, event.label?, 40);
    let is_await =
        text.strip_prefix("await").is_some_and(|rest| rest.trim_start().starts_with('('));
    is_await.then(|| format!("{text}: "))
}

/// Returns the name of a register; none for a temporary.
fn register_name(program: &Program, thread: ThreadId, reg: Reg) -> Option<&str> {
    let register = program.thread(thread).registers.get(reg.index())?;
    (!register.is_temporary()).then_some(register.name.as_str())
}

/// Describes an event, in the syntax of the language where possible.
pub fn event(program: &Program, annotated: &AnnotatedEvent) -> String {
    let event = &annotated.event;
    let target_or_none = || target(program, event).unwrap_or_default();
    match event.kind {
        EventKind::Fetch { stores, loc, value } => {
            let label = event.label.unwrap_or(Label(0));
            let access = PendingAccess { label, stores, loc, value };
            format!("fetch {}", pending(program, event.thread, &access))
        }
        EventKind::Load { loc, value, .. } | EventKind::Write { loc, value }
            if program.location(loc).is_auxiliary() =>
        {
            let is_write = matches!(event.kind, EventKind::Write { .. });
            auxiliary(&program.location(loc).name, value, is_write)
        }
        EventKind::Load { loc, value, .. } => {
            let read = target(program, event).or_else(|| awaiting(program, event));
            let read = read.unwrap_or_else(|| "read ".into());
            format!("{read}{}{}", cell(program, loc, " = ", value), origin_text(program, annotated))
        }
        EventKind::Store { loc, value } | EventKind::Write { loc, value } => {
            cell(program, loc, " := ", value)
        }
        EventKind::Commit { loc, value } => format!("commit {}", cell(program, loc, "=", value)),
        EventKind::CommitAndKeep { loc, value } => {
            format!("commit {}, still pending", cell(program, loc, "=", value))
        }
        EventKind::Repeat { loc, value, .. } => {
            format!("repeat pending {}", cell(program, loc, "=", value))
        }
        EventKind::Update { loc, old, new } => {
            let location = program.location(loc);
            let name = match (op(program, event), event.label) {
                (Some(Op::Update { update, .. }), Some(label)) => {
                    update_name(program, label, update)
                }
                _ => "update",
            };
            let what = format!("{}{name}({})", target_or_none(), location.name);
            let old = program.show_value(loc, old);
            let source = origin_text(program, annotated);
            match new {
                Some(new) => format!("{what}: {old} -> {}{source}", program.show_value(loc, new)),
                None => format!("{what} fails: {old}{source}"),
            }
        }
        EventKind::Fence(kinds) => {
            let access = event.label.and_then(|label| ordered_access(program, label));
            match access {
                Some(access) => format!("fence of {access}"),
                None => format!("fence {}", kinds.name()),
            }
        }
        EventKind::Drain(loc) => format!("drain {}", program.location(loc).name),
        EventKind::Set { reg, value } => {
            let shown = program.register_type(event.thread, reg).show(value);
            match (register_name(program, event.thread, reg), is_choice(program, event)) {
                (Some(name), true) => format!("{name} = {shown} (chosen)"),
                (None, true) => format!("choose {shown}"),
                (Some(name), false) => format!("{name} = {shown}"),
                (None, false) => shown,
            }
        }
        EventKind::Test(holds) => {
            let text = event.label.map(|l| statement(program, l, 40)).unwrap_or_default();
            format!("{text} {}", if holds { "holds" } else { "FAILS" })
        }
        EventKind::Guess(_) => {
            let text = event.label.map(|l| statement(program, l, 40)).unwrap_or_default();
            format!("guesses {text}")
        }
        EventKind::New(reference) => {
            let pool = match op(program, event) {
                Some(Op::New { pool, .. }) => program.pool(*pool).name.as_str(),
                _ => "",
            };
            match is_lifetime(program, event) {
                true => format!("lifetime of {pool} begins"),
                false => format!("{}new {pool}#{reference}", target_or_none()),
            }
        }
        EventKind::Free(reference) => {
            let pool = match op(program, event) {
                Some(Op::Free { pool, .. }) => program.pool(*pool).name.as_str(),
                _ => "",
            };
            match is_lifetime(program, event) {
                true => format!("lifetime of {pool} ends"),
                false => format!("free {pool}#{reference}"),
            }
        }
        EventKind::Leave => "leave critical section".into(),
        EventKind::SectionBegin => "begin read-side section".into(),
        EventKind::SectionEnd => "end read-side section".into(),
        EventKind::GracePeriod { ends: false } => "grace period sees other threads outside".into(),
        EventKind::GracePeriod { ends: true } => "grace period ends".into(),
        EventKind::AtomicBegin => "atomic {".into(),
        EventKind::AtomicEnd => "}".into(),
        EventKind::Skip => "skip".into(),
        EventKind::Defer => "waits for a value".into(),
        EventKind::Confirm => "the value that was read is confirmed".into(),
    }
}

/// Describes an access to an auxiliary location of a front end. `%started f` and `%done f` are the
/// flags of a thread `f` that another thread creates.
fn auxiliary(name: &str, value: Value, is_write: bool) -> String {
    let (what, thread) = name.trim_start_matches('%').split_once(' ').unwrap_or((name, ""));
    match (what, is_write) {
        ("started", true) if value == 1 => format!("create {thread}"),
        ("started", true) => format!("{thread} is not created"),
        ("started", false) => "begins".into(),
        ("done", true) => "ends".into(),
        ("done", false) => format!("join {thread}"),
        (_, true) => format!("set {what} of {thread}"),
        (_, false) => format!("get {what} of {thread}"),
    }
}

/// Returns the text of the access that a fence belongs to, as in `x.load(acquire)`. Returns `None`
/// for a fence that is a statement, or that is inserted at a place.
fn ordered_access(program: &Program, label: Label) -> Option<String> {
    let text = &program.label(label).text;
    let is_method = text.ends_with(')') && text.contains('.') && !text.starts_with("fence");
    let is_place = program.places.iter().any(|place| place.label == label);
    (is_method && !is_place).then(|| statement(program, label, 24))
}

/// Returns the name of an update in the source. The machine has no `fetch_sub`: it is lowered to an
/// addition.
fn update_name(program: &Program, label: Label, update: &Update) -> &'static str {
    const NAMES: [&str; 8] =
        ["cas", "cmpxchg", "swap", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"];
    let text = &program.label(label).text;
    let written = text.split('(').next().unwrap_or_default().trim_end();
    if let Some(name) = NAMES.iter().find(|name| written.ends_with(**name)) {
        return name;
    }
    match update {
        Update::Cas { result: CasResult::Success, .. } => "cas",
        Update::Cas { result: CasResult::Old, .. } => "cmpxchg",
        Update::Swap { .. } => "swap",
        Update::Add { .. } => "fetch_add",
        Update::Bits { op: BinOp::BitAnd, .. } => "fetch_and",
        Update::Bits { op: BinOp::BitOr, .. } => "fetch_or",
        Update::Bits { .. } => "fetch_xor",
    }
}

/// Formats a pending access: `want[0]=true`, `x=?`, `load y`, `cas x`.
pub fn pending(program: &Program, thread: ThreadId, pending: &PendingAccess) -> String {
    let code = &program.thread(thread).code;
    let place = match pending.loc {
        Some(loc) => program.location(loc).name.clone(),
        None => statement(program, pending.label, 20),
    };
    let update = code.iter().find_map(|stmt| match &stmt.op {
        Op::Update { update, .. } if stmt.label == pending.label => {
            Some(update_name(program, stmt.label, update))
        }
        _ => None,
    });
    match (pending.loc, pending.value) {
        _ if !pending.stores => format!("load {place}"),
        _ if update.is_some() => format!("{} {place}", update.unwrap_or_default()),
        (Some(loc), Some(value)) => cell(program, loc, "=", value),
        (Some(_), None) => format!("{place}=?"),
        (None, _) => format!("store {place}"),
    }
}
