//! herd's hash of a test: the same for two files that are the same test in another layout.
//!
//! The MD5 digest of three digests: of the initial state, of the program and of what is observed, each written
//! back in one way. It tells tests apart, no more.

use md5::{Digest, Md5};

use super::ast::{Arch, Body, Constant, File, Init, Spot};
use super::x86::show::table;

/// The hash of a test; `observed` is what its states show, as they write it. None for tests that we do not know
/// how herd writes: those in C, with labels, arrays, and rare instructions.
pub(super) fn hash(file: &File, observed: &[String]) -> Option<String> {
    let Body::X86(columns) = &file.body else { return None };
    let init = file.init.iter().map(|item| initial(item, file.arch));
    let mut init = init.collect::<Option<Vec<String>>>()?;
    init.sort_unstable();
    // What is observed is written without the brackets that states have.
    let bare = |name: &String| name.trim_matches(['[', ']']).to_string();
    let is_location = |name: &&String| name.starts_with('[');
    let (locations, registers): (Vec<&String>, Vec<&String>) =
        observed.iter().partition(is_location);
    let observed: Vec<String> = registers.into_iter().chain(locations).map(bare).collect();
    let parts = [init.join("; "), table(columns, file.arch)?, observed.join("; ")];
    let mut all = Md5::new();
    for part in parts {
        all.update(Md5::digest(part.as_bytes()));
    }
    Some(all.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// An item of the initial state; none when it is not known how herd writes it.
fn initial(item: &Init, arch: Arch) -> Option<String> {
    let value = match &item.values[..] {
        [] => "0".to_string(),
        [Constant::Int(value)] if value.abs() < 1 << 31 => value.to_string(),
        [Constant::Address(name)] => name.clone(),
        _ => return None,
    };
    let spot = match &item.spot {
        Spot::Register(thread, name) => {
            Spot::Register(*thread, super::lower::register_name(arch, name))
        }
        Spot::Global(_) if item.len.is_none() => item.spot.clone(),
        Spot::Global(_) | Spot::Element(..) => return None,
    };
    Some(match (&item.ty, item.pointer) {
        (Some(ty), false) => format!("{ty} {spot}={value}"),
        (Some(ty), true) => format!("{ty} *{spot}={value}"),
        (None, _) => format!("{spot}={value}"),
    })
}
