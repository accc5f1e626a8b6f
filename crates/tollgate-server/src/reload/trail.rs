//! The places that decide which file a path means: the file's own, and that of every link on the way to it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Most links that are followed; the kernel follows as many.
const MOST_LINKS: usize = 40;

/// Every place at which a change can make `path` mean another file: that of each link on the way, and the last, which is the
/// file's own or the first that is missing. Parents of places are real folders.
pub(super) fn places(path: &Path) -> BTreeSet<PathBuf> {
    let mut places = BTreeSet::new();
    // Without a working directory a relative path means nothing, and what cannot be read is told elsewhere.
    let mut rest = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..=MOST_LINKS {
        match first_link(&rest) {
            Step::Ends(place) => {
                places.insert(place);
                break;
            }
            Step::Link(place, on) => {
                places.insert(place);
                rest = on;
            }
        }
    }
    places
}

enum Step {
    /// No link is left.
    Ends(PathBuf),
    /// The place of the first link, and the path with what it stands for.
    Link(PathBuf, PathBuf),
}

fn first_link(path: &Path) -> Step {
    let mut place = PathBuf::new();
    let mut parts = path.components();
    while let Some(part) = parts.next() {
        if part == Component::ParentDir {
            place.pop();
            continue;
        }
        place.push(part);
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                let folder = place.parent().unwrap_or(Path::new("/"));
                let target = fs::read_link(&place).unwrap_or_default();
                let on = folder.join(target).join(parts.as_path());
                return Step::Link(place, on);
            }
            Ok(_) => {}
            Err(_) => break,
        }
    }
    Step::Ends(place)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder of the test's own, as its real path.
    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tollgate-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        path.canonicalize().expect("a real path")
    }

    #[test]
    fn links_on_the_way_are_places_of_their_own() {
        let base = folder("trail");
        fs::create_dir_all(base.join("releases/1")).expect("a folder");
        fs::write(base.join("releases/1/p.yaml"), "").expect("a file");
        symlink("releases/1", base.join("current")).expect("a link");
        symlink("../current/p.yaml", base.join("releases/alias")).expect("a link");
        let found: Vec<PathBuf> = places(&base.join("releases/../releases/alias"))
            .into_iter()
            .filter(|place| place.starts_with(&base))
            .collect();
        let expected = ["current", "releases/1/p.yaml", "releases/alias"].map(|at| base.join(at));
        assert_eq!(found, expected);
        fs::remove_dir_all(base).expect("removed");
    }

    #[test]
    fn the_first_missing_place_is_the_last() {
        let base = folder("trail-missing");
        assert_eq!(places(&base.join("a/b/c")), BTreeSet::from([base.join("a")]));
        symlink("self", base.join("self")).expect("a link");
        assert_eq!(places(&base.join("self")), BTreeSet::from([base.join("self")]));
        fs::remove_dir_all(base).expect("removed");
    }
}
