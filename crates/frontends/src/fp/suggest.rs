//! "Did you mean" hints: finds the known name that is closest to a misspelt name.

/// The number of names to compare. This bounds the running time for large files.
const CANDIDATES: usize = 1_000;

/// The number of reported diagnostics after which no more suggestions are computed. This bounds the
/// running time.
const MAX_REPORTED: usize = 200;

/// Returns a hint for an unknown name. Returns `None` if no known name is close, or if too many
/// diagnostics were already `reported`.
pub fn did_you_mean<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
    reported: usize,
) -> Option<String> {
    if reported > MAX_REPORTED {
        return None;
    }
    closest(name, known).map(|near| format!("did you mean `{near}`?"))
}

/// Returns the name of `known` that is closest to `name`, if the distance is small enough for a
/// typing error.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Skip long names: comparing them takes quadratic time.
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
        // All one-letter names are at distance 1 from each other.
        .filter(|(d, other)| *d <= allowed && *d < other.chars().count().max(name.chars().count()))
        .min()
        .map(|(_, other)| other)
}

/// Returns a name of `known` for which `name` is probably a typing error: both have at least four
/// characters, the distance is 1, and the first character, the last character and all digits agree.
/// Numbered names and names with a prefix are thus not taken for typing errors. Stricter than
/// [`closest`], for names that are legal. If `swaps_only` is set, names of equal length must differ
/// by swapped neighbours.
pub fn likely_typo<'a>(
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
    closest(name, known).filter(|near| {
        let swapped = letters(name) == letters(near);
        name.len().min(near.len()) >= 4
            && distance(name, near) == 1
            && ends(name) == ends(near)
            && rest(name) == rest(near)
            && (swapped || !swaps_only || name.len() != near.len())
    })
}

/// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one
/// name into the other. The comparison ignores case.
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
    fn typos_are_distinguished_from_intended_names() {
        let known = ["turn", "flag0", "seen_x"];
        assert_eq!(likely_typo("trun", known, true), Some("turn"));
        assert_eq!(likely_typo("tuurn", known, true), Some("turn"));
        assert_eq!(likely_typo("tarn", known, false), Some("turn"));
        for other in ["turn1", "turns", "flag1", "flag", "seen_y", "rturn", "tarn", "t"] {
            assert_eq!(likely_typo(other, known, true), None, "{other}");
        }
    }

    #[test]
    fn the_closest_name_is_suggested() {
        let known = ["turn", "want", "x", "flag"];
        assert_eq!(closest("trun", known), Some("turn"));
        assert_eq!(closest("flags", known), Some("flag"));
        assert_eq!(closest("r", known), None);
        assert_eq!(closest("counter", known), None);
    }
}
