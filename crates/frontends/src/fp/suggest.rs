//! "Did you mean": the known name that is nearest to a misspelt one.

/// How many names are compared; a file with more has other worries.
const CANDIDATES: usize = 1_000;

/// After this many messages nobody reads suggestions, and looking for them takes time.
const PATIENCE: usize = 200;

/// Advice for a name that is not known, unless `said` messages are enough already.
pub fn hint<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    said: usize,
) -> Option<String> {
    if said > PATIENCE {
        return None;
    }
    nearest(name, known).map(|near| format!("did you mean `{near}`?"))
}

/// The nearest of `known` to `name`, if it is near enough to be what was meant.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Long names are not misspelt by accident, and comparing them takes time.
    if name.len() > 64 {
        return None;
    }
    let allowed = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    known
        .into_iter()
        .take(CANDIDATES)
        .filter(|other| *other != name && other.len() <= 64)
        .map(|other| (distance(name, other), other))
        // A one-letter name is near to every other one.
        .filter(|(d, other)| *d <= allowed && *d < other.chars().count().max(name.chars().count()))
        .min()
        .map(|(_, other)| other)
}

/// A name of `known` that `name` looks like a slip of: one step away in its middle, and not because
/// someone numbered names or put something in front. Stricter than [`nearest`], for names that are
/// not wrong by themselves. Names of one length must be swaps of neighbours if `swaps_only`.
pub fn slip<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    swaps_only: bool,
) -> Option<&'a str> {
    let ends = |s: &str| (s.chars().next(), s.chars().next_back());
    let letters = |s: &str| {
        let mut letters: Vec<char> = s.chars().filter(|c| c.is_alphabetic()).collect();
        letters.sort_unstable();
        letters
    };
    let rest = |s: &str| s.chars().filter(|c| !c.is_alphabetic()).collect::<String>();
    nearest(name, known).filter(|near| {
        let swapped = letters(name) == letters(near);
        name.len().min(near.len()) >= 4
            && distance(name, near) == 1
            && ends(name) == ends(near)
            && rest(name) == rest(near)
            && (swapped || !swaps_only || name.len() != near.len())
    })
}

/// How many insertions, deletions, replacements and swaps of neighbours turn one into the other.
/// Case does not count for more than half: it is compared without.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().flat_map(char::to_lowercase).collect();
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_neighbours_are_one_step() {
        assert_eq!(distance("turn", "trun"), 1);
        assert_eq!(distance("turn", "Turn"), 0);
        assert_eq!(distance("want", ""), 4);
    }

    #[test]
    fn slips_are_told_from_names_on_purpose() {
        let known = ["turn", "flag0", "seen_x"];
        assert_eq!(slip("trun", known, true), Some("turn"));
        assert_eq!(slip("tuurn", known, true), Some("turn"));
        assert_eq!(slip("tarn", known, false), Some("turn"));
        for other in ["turn1", "turns", "flag1", "flag", "seen_y", "rturn", "tarn", "t"] {
            assert_eq!(slip(other, known, true), None, "{other}");
        }
    }

    #[test]
    fn finds_what_was_meant() {
        let known = ["turn", "want", "x", "flag"];
        assert_eq!(nearest("trun", known), Some("turn"));
        assert_eq!(nearest("flags", known), Some("flag"));
        assert_eq!(nearest("r", known), None);
        assert_eq!(nearest("counter", known), None);
    }
}
