//! The known name that is nearest to a misspelt one.

/// Longest name that is compared: longer ones are no typing mistakes of ours.
const LONGEST: usize = 64;

/// The one of `known` that `written` most likely means: at most a third of its letters differ (one in short names).
pub(crate) fn nearest<'a>(
    written: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let written: Vec<char> = fold(written);
    if written.len() > LONGEST {
        return None;
    }
    let allowed = (written.len() / 3).max(1);
    known
        .into_iter()
        .map(|name| (distance(&written, &fold(name)), name))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Lower case, and `-` and blanks as `_`: spellings that people mix up cost nothing.
fn fold(name: &str) -> Vec<char> {
    name.chars()
        .map(|c| match c {
            '-' | ' ' => '_',
            other => other.to_ascii_lowercase(),
        })
        .collect()
}

/// Edits (insert, delete, replace, swap of neighbours) between two words.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut older: Vec<usize> = vec![0; b.len() + 1];
    let mut old: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = old[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(old[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(older[j - 2] + 1);
            }
        }
        older = std::mem::replace(&mut old, row);
    }
    old[b.len()]
}

/// `a`, `b` and `c`, in back quotes, for messages.
pub(crate) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    if quoted.is_empty() { "none".to_owned() } else { quoted.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_mistakes_find_their_name_and_strangers_none() {
        let known = ["limit", "window", "cells", "count_refused", "max_wait"];
        for (written, meant) in [
            ("limt", Some("limit")),
            ("Limit", Some("limit")),
            ("windwo", Some("window")),
            ("count-refused", Some("count_refused")),
            ("maxwait", Some("max_wait")),
            ("cell", Some("cells")),
            ("rate", None),
            ("", None),
        ] {
            assert_eq!(nearest(written, known), meant, "{written}");
        }
    }
}
