//! herd's hash of a test. Two files that differ only in layout have the same hash.
//!
//! The hash is the MD5 digest of three digests: of the initial state, of the program and of the
//! observed variables, each in a canonical text form. The hash only identifies tests; it is not for
//! security.

use md5::{Digest, Md5};

use super::ast::{Arch, Body, Constant, File, Init, StateVar};
use super::x86::print::print_table;

/// Computes the hash of a test. `observed` are the names of the variables in its states. Returns
/// `None` for tests whose canonical form in herd is not known: C tests, and tests with labels,
/// arrays or rare instructions.
pub(super) fn hash(file: &File, observed: &[String]) -> Option<String> {
    let Body::X86(columns) = &file.body else { return None };
    let init = file.init.iter().map(|item| format_init(item, file.arch));
    let mut init = init.collect::<Option<Vec<String>>>()?;
    init.sort_unstable();
    // The canonical form has no brackets around locations, unlike printed states.
    let bare = |name: &String| name.trim_matches(['[', ']']).to_string();
    let is_location = |name: &&String| name.starts_with('[');
    let (locations, registers): (Vec<&String>, Vec<&String>) =
        observed.iter().partition(is_location);
    let observed: Vec<String> = registers.into_iter().chain(locations).map(bare).collect();
    let parts = [init.join("; "), print_table(columns, file.arch)?, observed.join("; ")];
    let mut all = Md5::new();
    for part in parts {
        all.update(Md5::digest(part.as_bytes()));
    }
    Some(all.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Formats an item of the initial state. Returns `None` if herd's format of the item is not known.
fn format_init(item: &Init, arch: Arch) -> Option<String> {
    let value = match &item.values[..] {
        [] => "0".to_string(),
        [Constant::Int(value)] if value.abs() < 1 << 31 => value.to_string(),
        [Constant::Address(name)] => name.clone(),
        _ => return None,
    };
    let var = match &item.var {
        StateVar::Register(thread, name) => {
            StateVar::Register(*thread, super::lower::register_name(arch, name))
        }
        StateVar::Global(_) if item.len.is_none() => item.var.clone(),
        StateVar::Global(_) | StateVar::Element(..) => return None,
    };
    Some(match (&item.ty, item.pointer) {
        (Some(ty), false) => format!("{ty} {var}={value}"),
        (Some(ty), true) => format!("{ty} *{var}={value}"),
        (None, _) => format!("{var}={value}"),
    })
}
