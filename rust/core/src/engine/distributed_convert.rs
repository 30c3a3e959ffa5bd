//! A conversion that is spread over processes: tasks read footers, and the files are listed and committed here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::documents::{from_json, to_json, wrong};
use crate::actions::Add;
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::maintain::{
    CloneTarget, Conversion, ConvertDone, ConvertOptions, Footers, Found, FoundFile, Planned, convert,
    merge_columns,
};
use crate::progress::Progress;
use crate::schema::StructType;
use crate::store::{Location, StorageOptions};

const CONVERT: &str = "convert";

/// A conversion of which tasks read the footers.
#[derive(Debug)]
pub struct DistributedConvert {
    location: Location,
    storage: StorageOptions,
    options: ConvertOptions,
    planned: Option<Conversion>,
    /// What is known of the parts; none of those that are to be read.
    parts: Vec<Option<Part>>,
    /// The columns of the first part, which tasks take those of the parts before to have.
    first: StructType,
}

/// What was read of a part.
#[derive(Debug)]
struct Part {
    own: StructType,
    /// The columns of the parts before, as they were taken to be when it was read.
    before: StructType,
    adds: Vec<(Add, u64)>,
}

/// What travels to all tasks.
#[derive(Serialize, Deserialize)]
struct Packed {
    root: String,
    storage: StorageOptions,
    partitions: String,
    configuration: BTreeMap<String, String>,
    statistics: bool,
    first: String,
}

#[derive(Serialize, Deserialize)]
struct Work {
    part: usize,
    files: Vec<FoundFile>,
    /// The columns of the parts before; none where they are taken to be those of the first.
    before: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    part: usize,
    own: String,
    adds: Vec<(Add, u64)>,
}

impl DistributedConvert {
    /// Nothing is read yet.
    pub fn new(location: Location, storage: StorageOptions, options: ConvertOptions) -> Self {
        let (parts, first) = (Vec::new(), StructType::default());
        DistributedConvert { location, storage, options, planned: None, parts, first }
    }

    /// Sets the name by which a catalog knows the files, for the history.
    pub fn set_catalog_table(&mut self, name: String) {
        self.options.catalog_table = Some(name);
    }

    /// The table is made at another place, and refers to the files.
    pub fn clone_to(&mut self, target: CloneTarget) {
        self.options.clone_to = Some(target);
    }

    /// From now on this follows how far it is, where it is done in this process.
    pub fn follow(&mut self, progress: &Progress) {
        self.location = self.location.followed_by(progress);
    }

    /// Lists the files, and says how many there are: 0 where there is a table already.
    ///
    /// # Errors
    /// As [`convert`] before a file is read.
    pub fn plan(&mut self, cancel: &Cancel) -> Result<usize> {
        match Conversion::of(&self.location.stopped_by(cancel), &self.options)? {
            Planned::Table(_) => Ok(0),
            Planned::Folder(planned) => Ok(self.planned.insert(*planned).files()),
        }
    }

    /// Does it in this process, with the files that were listed, if they were.
    ///
    /// # Errors
    /// As [`convert`].
    pub fn run(&mut self, cancel: &Cancel) -> Result<ConvertDone> {
        match self.planned.take() {
            Some(mut planned) => {
                planned.location = self.location.stopped_by(cancel);
                planned.run()
            }
            None => convert(&self.location.stopped_by(cancel), &self.options),
        }
    }

    fn planned(&self) -> Result<&Conversion> {
        self.planned.as_ref().ok_or_else(|| wrong(CONVERT, "nothing is planned"))
    }

    /// Reads the first part here, and gives the works of the others.
    ///
    /// # Errors
    /// As [`convert`] for the files of the first part.
    pub fn works(&mut self) -> Result<Vec<String>> {
        let planned = self.planned()?;
        let mut files = planned.parts();
        let first = planned.footers.read(&self.location, files.next().unwrap_or_default(), None)?;
        let others = files.enumerate();
        let works = others.map(|(at, files)| work(at + 1, files, None)).collect::<Result<Vec<_>>>()?;
        self.first = first.schema;
        let first = Part { own: first.own, before: StructType::default(), adds: first.adds };
        self.parts = std::iter::once(Some(first)).chain(works.iter().map(|_| None)).collect();
        Ok(works)
    }

    /// What [`ConvertTask`] needs, once there are works. It holds the storage options.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] where nothing is planned.
    pub fn task(&self) -> Result<String> {
        let footers = &self.planned()?.footers;
        to_json(
            CONVERT,
            &Packed {
                root: self.location.root().to_uri(),
                storage: self.storage.clone(),
                partitions: footers.partitions.to_json(),
                configuration: footers.configuration.clone(),
                statistics: footers.statistics,
                first: self.first.to_json(),
            },
        )
    }

    /// Takes what tasks answered, and gives the works that are to be done again: of parts whose statistics depend on columns
    /// of parts before them that were not known. None when all is read.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for something else, [`Error::Internal`] where an answer is missing.
    pub fn take(&mut self, answers: &[String]) -> Result<Vec<String>> {
        for answer in answers {
            let Answer { part, own, adds } = from_json(CONVERT, answer)?;
            let own = StructType::from_json(&own)?;
            let place = self.parts.get_mut(part).ok_or_else(|| wrong(CONVERT, "of another part"))?;
            let before = match place.take() {
                // it was read again
                Some(read) => read.before,
                None => self.first.clone(),
            };
            *place = Some(Part { own, before, adds });
        }
        let planned = self.planned.as_ref().ok_or_else(|| wrong(CONVERT, "nothing is planned"))?;
        let mut again = Vec::new();
        let mut schema = StructType::default();
        for (at, files) in planned.parts().enumerate() {
            let part = self.parts.get_mut(at).and_then(Option::as_mut).ok_or_else(missing)?;
            let joined = merge_columns(&schema, &part.own);
            let is_right = at == 0
                || part.before == schema
                || joined.as_ref().is_ok_and(|joined| {
                    let taken = merge_columns(&part.before, &part.own);
                    taken.is_ok_and(|taken| same_columns(&planned.footers, &taken, joined))
                });
            if !is_right {
                again.push(work(at, files, Some(&schema))?);
                part.before = schema.clone();
            }
            match joined {
                Ok(joined) => schema = joined,
                // the task says which file it is
                Err(_) => break,
            }
        }
        Ok(again)
    }

    /// Commits what was read.
    ///
    /// # Errors
    /// As [`convert`]; [`Error::Internal`] where an answer is missing.
    pub fn commit(&mut self) -> Result<ConvertDone> {
        let planned = self.planned.take().ok_or_else(|| wrong(CONVERT, "nothing is planned"))?;
        let (mut schema, mut adds) = (StructType::default(), Vec::with_capacity(planned.files()));
        for part in std::mem::take(&mut self.parts) {
            let part = part.ok_or_else(missing)?;
            schema = merge_columns(&schema, &part.own)
                .map_err(|reason| Error::Internal { operation: CONVERT.into(), reason })?;
            adds.extend(part.adds);
        }
        if adds.len() != planned.files() {
            return Err(missing());
        }
        planned.commit(adds, schema)
    }
}

/// Whether the same statistics are taken of files with these columns and with those.
fn same_columns(footers: &Footers, a: &StructType, b: &StructType) -> bool {
    match (footers.columns(a), footers.columns(b)) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

fn work(part: usize, files: &[Found], before: Option<&StructType>) -> Result<String> {
    let files = files.iter().map(FoundFile::from).collect();
    to_json(CONVERT, &Work { part, files, before: before.map(StructType::to_json) })
}

fn missing() -> Error {
    let reason = "the answer of a task is missing".into();
    Error::Internal { operation: CONVERT.into(), reason }
}

/// The task of any work of a conversion.
#[derive(Debug)]
pub struct ConvertTask {
    location: Location,
    footers: Footers,
    first: StructType,
}

impl ConvertTask {
    /// From [`DistributedConvert::task`]. Nothing is read.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for something else.
    pub fn from_json(text: &str) -> Result<Self> {
        let packed: Packed = from_json(CONVERT, text)?;
        let partitions = StructType::from_json(&packed.partitions)?;
        let Packed { configuration, statistics, .. } = packed;
        Ok(ConvertTask {
            location: Location::open(&packed.root, &packed.storage)?,
            footers: Footers { partitions, configuration, statistics },
            first: StructType::from_json(&packed.first)?,
        })
    }

    /// Reads footers, and answers.
    ///
    /// # Errors
    /// As [`convert`] for a file.
    pub fn run(&self, work: &str, cancel: &Cancel) -> Result<String> {
        let Work { part, files, before } = from_json(CONVERT, work)?;
        let before = before.map(|text| StructType::from_json(&text)).transpose()?;
        let files: Vec<Found> = files.into_iter().map(Found::from).collect();
        let location = self.location.stopped_by(cancel);
        let read = self.footers.read(&location, &files, Some(before.as_ref().unwrap_or(&self.first)))?;
        to_json(CONVERT, &Answer { part, own: read.own.to_json(), adds: read.adds })
    }
}
