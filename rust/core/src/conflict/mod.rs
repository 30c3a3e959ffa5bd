//! Conflicts: what a transaction may follow. The rules are data ([`MATRIX`]), a pure function finds those that apply to
//! two commits ([`findings`]), and [`Changes::rebase`] lets both land.
//!
//! | file | says |
//! |---|---|
//! | `matrix` | rule by isolation level: conflict, rebase or pass |
//! | `check` | which rules apply between a transaction and a commit that landed first |
//! | `table_changes` | what a change of protocol or metadata means for a transaction under way |
//! | `reads` | what a transaction read, and whether a file may hold some of it |
//! | `rows` | deletes of different rows of one file |
//! | `identities` | values of identity columns that both gave |
//! | `row_relocation` | where the rows of a rewrite come from |
//! | `vectors` | deletion vectors, read and written |
//! | `explain` | every rule with what it says, for people |
//! | `record` | a transaction without its table, to be asked about later |
//! | `rebase` | the transaction as if it had begun after the winner |

mod changes;
mod check;
mod explain;
mod identities;
mod level;
mod markdown;
mod matrix;
mod reads;
mod reads_record;
mod rebase;
mod record;
mod row_relocation;
mod rows;
mod table_changes;
mod vectors;
mod winner;

pub use changes::Changes;
pub use check::{Ours, RuleFinding, decide, findings};
pub use explain::{ExplainedRule, ExplainedWinner, Outcome, explain};
pub use identities::IdentityValues;
pub use level::IsolationLevel;
pub use markdown::markdown;
pub use matrix::{MATRIX, Row, Verdict};
pub use reads::Reads;
pub use reads_record::{PredicateRecord, ReadsRecord};
pub use record::TransactionRecord;
pub use row_relocation::RowRelocations;
pub use rows::{MovedRows, RowMerge};
pub(crate) use table_changes::enables_row_tracking;
pub use vectors::{StoredVectors, Vectors};
pub use winner::{Winner, winners_from};
