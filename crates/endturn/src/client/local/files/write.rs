//! Writing a file in one step.

use std::{
    ffi::OsStr,
    hash::{BuildHasher as _, RandomState},
    io::{self, Write as _},
    path::Path,
};

use cap_std::fs::{Dir, File, OpenOptions, Permissions};

use super::{
    read::{is_regular, without_waiting},
    refusal::refused,
    resolve::{Place, Roots},
};
use crate::{client::local::invalid, schema::v1};

pub(super) fn write(roots: &Roots, path: &Path, content: &[u8]) -> Result<(), v1::Error> {
    let io = |error: io::Error| refused(path, &error);
    let place = roots.resolve(path)?;
    let Some(name) = place.path.file_name() else {
        return Err(invalid("path", "it is a directory"));
    };
    // From here on everything happens in this one directory, whatever becomes of the path to it.
    let dir = parent(&place).map_err(io)?;
    let permissions = replaceable(path, &dir, name)?;
    replace(&dir, name, content, permissions).map_err(io)
}

/// Gives the name to a new file with this content.
pub(super) fn replace(
    dir: &Dir,
    name: &OsStr,
    content: &[u8],
    permissions: Option<Permissions>,
) -> io::Result<()> {
    let mut temporary = Temporary::create(dir)?;
    temporary.fill(content, permissions)?;
    temporary.rename(name)
}

/// The directory that the file is in, which is created if it is missing.
fn parent(place: &Place<'_>) -> io::Result<Dir> {
    let Some(parent) = place.path.parent().filter(|path| *path != Path::new("")) else {
        return place.dir.try_clone();
    };
    match place.dir.open_dir(parent) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            place.dir.create_dir_all(parent)?;
            place.dir.open_dir(parent)
        }
        opened => opened,
    }
}

/// The permissions of the file that is to be replaced, if there is one.
///
/// To replace a file takes only the right to write to its directory; whoever has no right to write to the file itself must not get around that.
fn replaceable(path: &Path, dir: &Dir, name: &OsStr) -> Result<Option<Permissions>, v1::Error> {
    let io = |error: io::Error| refused(path, &error);
    match dir.symlink_metadata(name) {
        Ok(metadata) => is_regular(&metadata)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    }
    let file = dir
        .open_with(name, without_waiting(OpenOptions::new().write(true)))
        .map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    is_regular(&metadata)?;
    Ok(Some(metadata.permissions()))
}

/// A file that is gone when it is dropped, unless it was given its name.
struct Temporary<'a> {
    dir: &'a Dir,
    name: String,
    /// Until it is complete.
    file: Option<File>,
    renamed: bool,
}

impl<'a> Temporary<'a> {
    fn create(dir: &'a Dir) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        loop {
            // Not made of the file's own name, which may be as long as names can be.
            let number = RandomState::new().hash_one(std::process::id());
            let name = format!(".endturn-{number:016x}.tmp");
            match dir.open_with(&name, &options) {
                Ok(file) => {
                    return Ok(Self {
                        dir,
                        name,
                        file: Some(file),
                        renamed: false,
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn fill(&mut self, content: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
        if let Some(mut file) = self.file.take() {
            file.write_all(content)?;
            if let Some(permissions) = permissions {
                file.set_permissions(permissions)?;
            }
            // Or a crash could leave the name with an empty file behind it.
            file.sync_all()?;
        }
        Ok(())
    }

    fn rename(&mut self, name: &OsStr) -> io::Result<()> {
        self.dir.rename(&self.name, self.dir, name)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            drop(self.file.take());
            // Nothing is left to be done about a file that cannot be removed.
            let _ = self.dir.remove_file(&self.name);
        }
    }
}
