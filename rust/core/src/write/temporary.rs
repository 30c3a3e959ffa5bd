//! Files for rows that do not fit in memory.

use std::fs::File;
use std::path::PathBuf;

use uuid::Uuid;

/// A file in the temporary folder of the system that is deleted when this is dropped, and where the system allows it
/// when the process ends, in any way.
#[derive(Debug)]
pub(crate) struct Temporary {
    pub(crate) file: File,
    /// None where the file has no name any more.
    path: Option<PathBuf>,
}

impl Temporary {
    /// # Errors
    /// Where the folder cannot be written to.
    pub(crate) fn create() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("deltaic-{}.arrow", Uuid::new_v4()));
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        // an open file needs no name but on Windows
        let path = std::fs::remove_file(&path).is_err().then_some(path);
        Ok(Temporary { file, path })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // best effort: the folder is the system's to clean
            let _ = std::fs::remove_file(path);
        }
    }
}
