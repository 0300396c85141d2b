//! Which root a path belongs to, and what is left of it there.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use cap_std::{ambient_authority, fs::Dir};

use super::refusal::{outside, refused};
use crate::{client::local::invalid, schema::v1};

/// How many symbolic links a path may lead through, as on Linux.
const MAX_LINKS: u32 = 40;

/// A directory that was opened once, and what paths to it begin with.
#[derive(Debug)]
pub(super) struct Root {
    dir: Dir,
    names: [PathBuf; 2],
}

impl Root {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let given = std::path::absolute(path)?;
        let canonical = path.canonicalize()?;
        let dir = Dir::open_ambient_dir(&canonical, ambient_authority())?;
        Ok(Self {
            dir,
            names: [given, canonical],
        })
    }
}

/// All directories that are served.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots(Vec<Arc<Root>>);

/// Something in a root, by a path without `.`, `..` and, a moment ago, symbolic links.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub(super) dir: &'a Dir,
    /// Empty for the root itself.
    pub(super) path: PathBuf,
}

impl Roots {
    pub(super) fn add(&mut self, root: Root) {
        self.0.push(Arc::new(root));
    }

    /// The longest root that an absolute path begins with, and the rest of the path.
    pub(super) fn of<'p>(&self, path: &'p Path) -> Option<(&Dir, &'p Path)> {
        let fitting = self.0.iter().flat_map(|root| {
            let names = root.names.iter();
            names.filter_map(|name| Some((&root.dir, path.strip_prefix(name).ok()?)))
        });
        fitting.min_by_key(|(_, rest)| rest.components().count())
    }

    /// Follows an absolute path through its links, as the system would, but never out of the roots.
    ///
    /// What is missing has no links to follow, so the path of a file that is to be created resolves too.
    pub(super) fn resolve(&self, path: &Path) -> Result<Place<'_>, v1::Error> {
        if !path.is_absolute() {
            return Err(invalid("path", "it is not absolute"));
        }
        let (mut dir, rest) = self.of(path).ok_or_else(outside)?;
        let mut found = PathBuf::new();
        // Last part first.
        let mut ahead = Vec::new();
        push(&mut ahead, rest);
        let mut links = 0;
        while let Some(part) = ahead.pop() {
            if part == OsStr::new("..") {
                // Also at the root: what is above it is not ours to look at.
                let is_dir = found.as_os_str().is_empty()
                    || dir
                        .symlink_metadata(&found)
                        .map_err(|error| refused(path, &error))?
                        .is_dir();
                if !is_dir {
                    return Err(invalid("path", "a part of it is not a directory"));
                }
                if !found.pop() {
                    return Err(outside());
                }
                continue;
            }
            found.push(part);
            match dir.symlink_metadata(&found) {
                Ok(metadata) if metadata.is_symlink() => {}
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(refused(path, &error)),
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(invalid("path", "it leads through too many symbolic links"));
            }
            let target = dir
                .read_link_contents(&found)
                .map_err(|error| refused(path, &error))?;
            if target.has_root() {
                let (of, rest) = self.of(&target).ok_or_else(outside)?;
                dir = of;
                found.clear();
                push(&mut ahead, rest);
            } else {
                found.pop();
                push(&mut ahead, &target);
            }
        }
        Ok(Place { dir, path: found })
    }
}

/// Puts the parts of a relative path in front of what is ahead.
fn push(ahead: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    ahead.extend(parts);
}
