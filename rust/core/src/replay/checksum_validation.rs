//! Redundant facts of a version in the log, to compare with its files, its protocol and its metadata.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::columns::FileBatch;
use crate::actions::{Metadata, Protocol};
use crate::checksum::Checksum;
use crate::error::{Error, Result};
use crate::report::Counters;

/// The totals of a version, as its checksum has them.
#[derive(Debug, Clone)]
pub(crate) struct Totals {
    path: String,
    version: u64,
    said: Sums,
    /// Whether they turned out to be wrong.
    wrong: Arc<AtomicBool>,
}

/// Sums over all live files; of deletion vectors there may be none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    files: i64,
    bytes: i64,
    /// Files with a deletion vector, and the rows that these delete.
    deletions: Option<(i64, i64)>,
}

impl Sums {
    /// Nothing, with what these know.
    fn zero(self) -> Self {
        Sums { deletions: self.deletions.map(|_| (0, 0)), ..Sums::default() }
    }

    /// Of all files, with what these know.
    fn of(files: impl Iterator<Item = Result<FileBatch>>, known: Self) -> Result<Self> {
        let mut sums = known.zero();
        for batch in files {
            sums.add(&batch?);
        }
        Ok(sums)
    }

    fn add(&mut self, batch: &FileBatch) {
        let Sums { files, bytes, deletions } = self;
        let sizes = batch.sizes().values();
        *files = files.saturating_add(i64::try_from(sizes.len()).unwrap_or(i64::MAX));
        *bytes = sizes.iter().fold(*bytes, |sum, size| sum.wrapping_add(*size));
        if let Some((vectors, deleted)) = deletions {
            for rows in (0..batch.num_files()).filter_map(|row| batch.deleted(row)) {
                *vectors += 1;
                *deleted = deleted.wrapping_add(rows);
            }
        }
    }
}

impl fmt::Display for Sums {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files of {} bytes", self.files, self.bytes)?;
        self.deletions.map_or(Ok(()), |(vectors, rows)| write!(f, ", {vectors} with {rows} deleted rows"))
    }
}

impl Totals {
    /// Of the checksum at a path; `None` where it contradicts itself, and so is useless.
    pub(crate) fn of(checksum: &Checksum, path: String, version: u64) -> Option<Self> {
        let (files, bytes) = (checksum.num_files, checksum.table_size_bytes);
        let sound = checksum.file_size_histogram.as_ref().is_none_or(|h| h.sums() == (files, bytes))
            && (checksum.num_protocol, checksum.num_metadata) == (1, 1);
        let deletions = checksum.num_deletion_vectors_opt.zip(checksum.num_deleted_records_opt);
        let said = Sums { files, bytes, deletions };
        sound.then_some(Totals { path, version, said, wrong: Arc::default() })
    }

    /// Whether these files add up to them.
    ///
    /// # Errors
    /// As the listing.
    pub(crate) fn agree(&self, files: impl Iterator<Item = Result<FileBatch>>) -> Result<bool> {
        Ok(Sums::of(files, self.said)? == self.said)
    }

    /// Whether another checksum says the same, as far as both say it.
    pub(crate) fn are_those_of(&self, other: &Checksum) -> bool {
        let deletions = other.num_deletion_vectors_opt.zip(other.num_deleted_records_opt);
        (self.said.files, self.said.bytes) == (other.num_files, other.table_size_bytes)
            && self.said.deletions.zip(deletions).is_none_or(|(a, b)| a == b)
    }
}

/// Files of a listing.
pub(crate) type Files = Box<dyn Iterator<Item = Result<FileBatch>>>;

/// The same files by other parts of the log; none where there is no other way to them.
pub(crate) type Otherwise = Box<dyn FnOnce() -> Result<Option<Files>> + Send + Sync>;

/// Decides which one is damaged if a checksum contradicts the commits: the commit, as an error, or `None` if the
/// checksum may be wrong.
pub(crate) type Blame = Box<dyn FnOnce() -> Result<Option<Error>> + Send + Sync>;

/// Counts the files of a listing, to compare them with the totals of the checksum at its end. Commits are the truth:
/// what contradicts them is ignored, unless it can be shown that they are damaged.
pub(crate) struct Count {
    totals: Totals,
    found: Sums,
    /// The file that repeats commits, where there is one, and the files without it.
    repeated: Option<(String, Otherwise)>,
    /// `None` where the commits are trusted without a comparison.
    blame: Option<Blame>,
}

impl Count {
    /// None where there is nothing that could be wrong.
    pub(crate) fn against(
        totals: Totals,
        repeated: Option<(String, Otherwise)>,
        blame: Option<Blame>,
    ) -> Option<Self> {
        let found = totals.said.zero();
        let needed = (repeated.is_some() || blame.is_some()) && !totals.wrong.load(Ordering::Relaxed);
        needed.then_some(Count { totals, found, repeated, blame })
    }

    pub(crate) fn add(&mut self, batch: &FileBatch) {
        self.found.add(batch);
    }

    /// Whether the log and its checksum agree. If they do not, the files are counted again without the file that
    /// repeats commits, and other checksums are read.
    ///
    /// # Errors
    /// [`Error::LogCorrupt`] for that file, where it differs from what it repeats, and for a commit that replaced the
    /// original one.
    pub(crate) fn finish(self, counters: &Counters) -> Result<()> {
        let Count { totals, found, repeated, blame } = self;
        let Totals { path: checksum, version, said, wrong } = totals;
        if found == said {
            return Ok(());
        }
        if let Some((path, otherwise)) = repeated
            && let Some(files) = otherwise()?
        {
            let again = Sums::of(files, said)?;
            if again != found {
                let reason = format!(
                    "with it the table has {found}, without it {again}, and the checksum of version {version} states {said}: \
                     it is damaged, and can be removed"
                );
                return Err(Error::corrupt(path, Some(version), reason));
            }
        }
        if let Some(blame) = blame
            && let Some(damaged) = blame()?
        {
            return Err(damaged);
        }
        // it is asked once
        wrong.store(true, Ordering::Relaxed);
        counters.fell_back(format!("`{checksum}` was ignored: it states {said}, and the log has {found}"));
        Ok(())
    }
}

/// Whether protocol and metadata that a checksum gave are those of the log. A field that one of the two lacks is not
/// compared.
///
/// # Errors
/// [`Error::LogCorrupt`] for the checksum at this path, which the reader has used.
pub(crate) fn check_table(
    path: &str,
    version: u64,
    said: (&Protocol, &Metadata),
    log: (Option<&Protocol>, Option<&Metadata>),
) -> Result<()> {
    let differs = |what: &str| {
        let reason = format!(
            "its {what} differs from the log: one of the two is damaged; verify the table to see which; a checksum alone \
             can be deleted"
        );
        Err(Error::corrupt(path, Some(version), reason))
    };
    if log.0.is_some_and(|found| said.0 != found) {
        return differs("`protocol`");
    }
    if log.1.is_some_and(|found| !same_metadata(said.1, found)) {
        return differs("`metaData`");
    }
    Ok(())
}

fn same_metadata(a: &Metadata, b: &Metadata) -> bool {
    fn agree<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
        a.zip(b).is_none_or(|(a, b)| a == b)
    }
    let schema = || {
        a.schema_string == b.schema_string
            || a.schema().ok().zip(b.schema().ok()).is_some_and(|(a, b)| a == b)
    };
    a.id == b.id
        && a.format == b.format
        && a.partition_columns == b.partition_columns
        && a.configuration == b.configuration
        && agree(a.name.as_ref(), b.name.as_ref())
        && agree(a.description.as_ref(), b.description.as_ref())
        && agree(a.created_time.as_ref(), b.created_time.as_ref())
        && schema()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checksum::FileSizeHistogram;

    fn metadata() -> Metadata {
        Metadata {
            id: "i".into(),
            name: Some("n".into()),
            description: Some("d".into()),
            schema_string:
                r#"{"type":"struct","fields":[{"name":"a","type":"long","nullable":true,"metadata":{}}]}"#
                    .into(),
            partition_columns: vec!["a".into()],
            configuration: [("delta.appendOnly".into(), "true".into())].into(),
            created_time: Some(1),
            ..Metadata::default()
        }
    }

    fn protocol(features: &[&str]) -> Protocol {
        let features = Some(features.iter().map(|f| f.to_string()).collect());
        Protocol {
            min_reader_version: 3,
            min_writer_version: 7,
            reader_features: Some(Vec::new()),
            writer_features: features,
        }
    }

    fn agree(said: (&Protocol, &Metadata), log: (&Protocol, &Metadata)) -> bool {
        check_table("0.crc", 0, said, (Some(log.0), Some(log.1))).is_ok()
    }

    #[test]
    fn each_part_of_the_metadata_has_to_be_that_of_the_log() {
        let protocol = protocol(&[]);
        let said = metadata();
        let spaced = said.schema_string.replace(':', ": ");
        assert!(agree((&protocol, &said), (&protocol, &Metadata { schema_string: spaced, ..said.clone() })));
        let bare = Metadata { name: None, description: None, created_time: None, ..said.clone() };
        assert!(agree((&protocol, &said), (&protocol, &bare)));
        assert!(agree((&protocol, &bare), (&protocol, &said)));
        let mut others = vec![
            Metadata { id: "j".into(), ..said.clone() },
            Metadata { name: Some("m".into()), ..said.clone() },
            Metadata { description: Some("e".into()), ..said.clone() },
            Metadata { created_time: Some(2), ..said.clone() },
            Metadata { partition_columns: Vec::new(), ..said.clone() },
            Metadata { configuration: [].into(), ..said.clone() },
            Metadata { schema_string: said.schema_string.replace("long", "integer"), ..said.clone() },
            Metadata { schema_string: "{".into(), ..said.clone() },
        ];
        let mut orc = said.clone();
        orc.format.provider = "orc".into();
        others.push(orc);
        for other in others {
            assert!(!agree((&protocol, &said), (&protocol, &other)), "{other:?}");
        }
    }

    #[test]
    fn each_part_of_the_protocol_has_to_be_that_of_the_log() {
        let metadata = metadata();
        let said = protocol(&["appendOnly", "invariants"]);
        let turned = protocol(&["invariants", "appendOnly"]);
        assert!(agree((&said, &metadata), (&turned, &metadata)));
        let others = [
            protocol(&["appendOnly"]),
            Protocol { min_reader_version: 2, ..said.clone() },
            Protocol { min_writer_version: 6, ..said.clone() },
            Protocol { reader_features: Some(vec!["appendOnly".into()]), ..said.clone() },
        ];
        for other in others {
            assert!(!agree((&said, &metadata), (&other, &metadata)), "{other:?}");
        }
    }

    #[test]
    fn a_checksum_that_contradicts_itself_gives_no_totals() {
        let counts = |files: i64, bytes: i64| FileSizeHistogram {
            sorted_bin_boundaries: vec![0],
            file_counts: vec![files],
            total_bytes: vec![bytes],
        };
        let sound = Checksum {
            num_files: 2,
            table_size_bytes: 30,
            num_metadata: 1,
            num_protocol: 1,
            file_size_histogram: Some(counts(2, 30)),
            ..Checksum::default()
        };
        let gives = |checksum: &Checksum| Totals::of(checksum, "0.crc".into(), 0).is_some();
        assert!(gives(&sound));
        assert!(gives(&Checksum { file_size_histogram: None, ..sound.clone() }));
        for (files, bytes) in [(1, 30), (2, 29)] {
            assert!(!gives(&Checksum { file_size_histogram: Some(counts(files, bytes)), ..sound.clone() }));
        }
        assert!(!gives(&Checksum { num_metadata: 2, ..sound.clone() }));
        assert!(!gives(&Checksum { num_protocol: 0, ..sound.clone() }));
    }
}
