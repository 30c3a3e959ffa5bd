//! Files for rows that do not fit in memory.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow::array::RecordBatch;
use arrow::error::ArrowError;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use uuid::Uuid;

use crate::error::{Error, Result};

/// Bytes that are read of a file at once.
const READ: usize = 64 << 10;

/// A file in the temporary folder of the system that is deleted when this is dropped, and where the system allows it
/// when the process ends, in any way.
#[derive(Debug)]
struct Temporary {
    file: File,
    /// None where the file has no name any more.
    path: Option<PathBuf>,
}

impl Temporary {
    fn create() -> std::io::Result<Self> {
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

/// Rows in a temporary file, one part after the other.
#[derive(Debug)]
pub(crate) struct Spill {
    file: Arc<Mutex<Temporary>>,
    end: u64,
}

/// Where a part begins and ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part(u64, u64);

impl Spill {
    /// A new file.
    ///
    /// # Errors
    /// [`Error::Storage`] when the temporary folder cannot be written to.
    pub(crate) fn create() -> Result<Self> {
        let file = Temporary::create().map_err(|e| spilled("create", e))?;
        Ok(Spill { file: Arc::new(Mutex::new(file)), end: 0 })
    }

    /// Appends rows as a part, `step` of them in a batch.
    ///
    /// # Errors
    /// As [`Spill::create`].
    pub(crate) fn write(&mut self, rows: &RecordBatch, step: usize) -> Result<Part> {
        let failed = |e| failed("writing rows", e);
        let mut temporary = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = &mut temporary.file;
        let begin = file.seek(SeekFrom::Start(self.end)).map_err(|e| spilled("write", e))?;
        let mut out = StreamWriter::try_new(BufWriter::new(&mut *file), rows.schema_ref()).map_err(failed)?;
        for at in (0..rows.num_rows()).step_by(step) {
            out.write(&rows.slice(at, step.min(rows.num_rows() - at))).map_err(failed)?;
        }
        out.finish().map_err(failed)?;
        out.into_inner().map_err(failed)?.flush().map_err(|e| spilled("write", e))?;
        self.end = file.stream_position().map_err(|e| spilled("write", e))?;
        Ok(Part(begin, self.end))
    }

    /// The batches of a part. Several parts may be read at a time.
    ///
    /// # Errors
    /// [`Error::Storage`] when the file cannot be read.
    pub(crate) fn read(&self, part: Part) -> Result<SpilledRows> {
        let section = Section { file: self.file.clone(), at: part.0, end: part.1 };
        let section = BufReader::with_capacity(READ, section);
        Ok(SpilledRows(StreamReader::try_new(section, None).map_err(|e| failed("reading rows", e))?))
    }
}

/// The batches of a part.
#[derive(Debug)]
pub(crate) struct SpilledRows(StreamReader<BufReader<Section>>);

impl Iterator for SpilledRows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|batch| batch.map_err(|e| failed("reading rows", e)))
    }
}

/// A part of a file that others read, too.
#[derive(Debug)]
struct Section {
    file: Arc<Mutex<Temporary>>,
    at: u64,
    end: u64,
}

impl Read for Section {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let count = buffer.len().min(left);
        let mut temporary = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let file = &mut temporary.file;
        file.seek(SeekFrom::Start(self.at))?;
        let count = file.read(&mut buffer[..count])?;
        self.at += count as u64;
        Ok(count)
    }
}

fn failed(what: &str, error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, source) => spilled("write or read", source),
        other => Error::arrow(what, other),
    }
}

fn spilled(operation: &'static str, source: std::io::Error) -> Error {
    Error::storage(operation, format!("a file in {}", std::env::temp_dir().display()), source)
}
