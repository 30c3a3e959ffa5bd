//! A local folder below a table that is reached without following a link, so that nothing outside is written or deleted,
//! even if somebody else creates a link on the path meanwhile.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

/// An open folder, by which its files are made, renamed and removed.
#[derive(Debug)]
pub(super) struct Folder {
    #[cfg(unix)]
    handle: File,
    path: PathBuf,
}

/// What between a table and one of its files may lead elsewhere.
#[derive(Debug)]
pub(super) enum InTheWay {
    Link(PathBuf),
    /// Names are taken apart by the system's own rules: a backslash or a drive within a name is one.
    NoName(PathBuf),
}

impl std::fmt::Display for InTheWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            InTheWay::Link(path) => write!(f, "`{}` is a link", path.display()),
            InTheWay::NoName(path) => write!(f, "`{}` is not a name of a file", path.display()),
        }
    }
}

impl std::error::Error for InTheWay {}

fn link(path: &Path) -> io::Error {
    io::Error::other(InTheWay::Link(path.to_owned()))
}

/// The names of a relative path.
fn names(below: &Path) -> impl Iterator<Item = io::Result<&OsStr>> {
    below.components().map(|part| checked(part.as_os_str()))
}

/// A name that is one, and not a way.
fn checked(name: &OsStr) -> io::Result<&OsStr> {
    let mut parts = Path::new(name).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(_)), None) => Ok(name),
        _ => Err(io::Error::other(InTheWay::NoName(name.into()))),
    }
}

impl Folder {
    /// Opens `below`, a relative path, of a table's folder, which itself may be reached by links.
    ///
    /// # Errors
    /// [`InTheWay`] within an [`io::Error`].
    pub(super) fn open(root: &Path, below: &Path) -> io::Result<Self> {
        let mut folder = Folder::root(root)?;
        for name in names(below) {
            folder = folder.child(name?)?;
        }
        Ok(folder)
    }

    /// As [`Folder::open`], and folders that are missing are made; `grown` hears of the folder that got one.
    pub(super) fn create(
        root: &Path,
        below: &Path,
        grown: &dyn Fn(&Path) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut folder = Folder::root(root)?;
        for name in names(below) {
            let name = name?;
            folder = match folder.child(name) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    match folder.make(name) {
                        Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
                        _ => grown(&folder.path)?,
                    }
                    folder.child(name)?
                }
                child => child?,
            };
        }
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(unix)]
mod unix {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, mkdirat, openat, renameat, statat, unlinkat};
    use rustix::io::Errno;

    use super::*;

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    impl Folder {
        pub(super) fn root(path: &Path) -> io::Result<Self> {
            let handle = openat(CWD, path, FOLDER, Mode::empty())?;
            Ok(Folder { handle: handle.into(), path: path.to_owned() })
        }

        pub(super) fn child(&self, name: &OsStr) -> io::Result<Self> {
            let path = self.path.join(name);
            match openat(&self.handle, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(handle) => Ok(Folder { handle: handle.into(), path }),
                Err(Errno::LOOP | Errno::NOTDIR) if self.is_link(name) => Err(link(&path)),
                Err(e) => Err(e.into()),
            }
        }

        fn is_link(&self, name: &OsStr) -> bool {
            statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_symlink())
        }

        pub(super) fn make(&self, name: &OsStr) -> io::Result<()> {
            Ok(mkdirat(&self.handle, name, Mode::from_raw_mode(0o777))?)
        }

        /// A file that did not exist.
        pub(in super::super) fn create_new(&self, name: &OsStr) -> io::Result<File> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(openat(&self.handle, name, flags, Mode::from_raw_mode(0o666))?.into())
        }

        /// A file of the folder, to be read; no link.
        pub(in super::super) fn file(&self, name: &OsStr) -> io::Result<File> {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(&self.handle, name, flags, Mode::empty()) {
                Ok(file) => Ok(file.into()),
                Err(Errno::LOOP) => Err(link(&self.path.join(name))),
                Err(e) => Err(e.into()),
            }
        }

        /// A second name of a file; an error where the name is taken.
        pub(in super::super) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            Ok(linkat(&self.handle, from, &self.handle, to, AtFlags::empty())?)
        }

        pub(in super::super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            Ok(renameat(&self.handle, from, &self.handle, to)?)
        }

        /// Of a link the link alone.
        pub(in super::super) fn remove(&self, name: &OsStr) -> io::Result<()> {
            Ok(unlinkat(&self.handle, name, AtFlags::empty())?)
        }
    }
}

/// By paths: a link that somebody creates between check and use is not detected.
#[cfg(not(unix))]
mod elsewhere {
    use std::fs;

    use super::*;

    impl Folder {
        pub(super) fn root(path: &Path) -> io::Result<Self> {
            fs::read_dir(path).map(|_| Folder { path: path.to_owned() })
        }

        pub(super) fn child(&self, name: &OsStr) -> io::Result<Self> {
            let path = self.path.join(checked(name)?);
            match fs::symlink_metadata(&path)? {
                meta if meta.is_symlink() => Err(link(&path)),
                meta if meta.is_dir() => Ok(Folder { path }),
                _ => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        pub(super) fn make(&self, name: &OsStr) -> io::Result<()> {
            fs::create_dir(self.path.join(checked(name)?))
        }

        /// A file that did not exist.
        pub(in super::super) fn create_new(&self, name: &OsStr) -> io::Result<File> {
            File::create_new(self.path.join(checked(name)?))
        }

        /// A file of the folder; no link. Some systems sync only what may be written.
        pub(in super::super) fn file(&self, name: &OsStr) -> io::Result<File> {
            let path = self.path.join(checked(name)?);
            match fs::symlink_metadata(&path)?.is_symlink() {
                true => Err(link(&path)),
                false => fs::OpenOptions::new().read(true).write(cfg!(windows)).open(path),
            }
        }

        /// A second name of a file; an error where the name is taken.
        pub(in super::super) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            fs::hard_link(self.path.join(checked(from)?), self.path.join(checked(to)?))
        }

        pub(in super::super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            fs::rename(self.path.join(checked(from)?), self.path.join(checked(to)?))
        }

        /// Of a link the link alone.
        pub(in super::super) fn remove(&self, name: &OsStr) -> io::Result<()> {
            fs::remove_file(self.path.join(checked(name)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_up_is_no_name() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("table")).unwrap();
        let root = dir.path().join("table");
        for below in ["..", "../x", "sub/../..", "/", "./x"] {
            for opened in
                [Folder::open(&root, Path::new(below)), Folder::create(&root, Path::new(below), &|_| Ok(()))]
            {
                let error = opened.unwrap_err();
                let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<InTheWay>());
                assert!(
                    matches!(inner, Some(InTheWay::NoName(_))) || below.starts_with("sub"),
                    "{below}: {error}"
                );
            }
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
