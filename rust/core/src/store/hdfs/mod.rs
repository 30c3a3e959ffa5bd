//! HDFS, and the mount tables of ViewFS, by a native client: no JVM is needed.

mod adapter;
mod clients;
mod errors;
mod settings;

pub(super) use adapter::HdfsStore;
pub(super) use settings::HdfsSettings;
