//! What HDFS says of a failure, as errors of a store.

use std::io::ErrorKind;

use hdfs_native::HdfsError;

use crate::actions::ObjectPath;
use crate::error::Error;

/// An error of the client. A refusal has the kind that one of a local file system has: it is final, and nothing is under
/// way.
pub(super) fn convert(operation: &'static str, path: &ObjectPath, error: HdfsError) -> Error {
    let class = match &error {
        HdfsError::FileNotFound(_) => return Error::NotFound { path: path.to_string() },
        HdfsError::RPCError(class, _) | HdfsError::FatalRPCError(class, _) => class.as_str(),
        _ => "",
    };
    let simple = class.rsplit(['.', '$']).next().unwrap_or_default();
    let text = shown(&error);
    let (kind, what_to_do) = match simple {
        "FileNotFoundException" => return Error::NotFound { path: path.to_string() },
        "AccessControlException" | "AuthorizationException" => (
            ErrorKind::PermissionDenied,
            "check the permissions of the folder and who asks: HADOOP_USER_NAME, or the ticket of Kerberos (`klist`)",
        ),
        "InvalidToken" => (
            ErrorKind::PermissionDenied,
            "the delegation token has expired or is of another cluster: get a new one",
        ),
        _ if text.contains("SafeModeException") || text.contains("is in safe mode") => (
            ErrorKind::ReadOnlyFilesystem,
            "the NameNode is in safe mode and takes no writes: wait until it has started (`hdfs dfsadmin -safemode \
             wait`), or see why it is short of DataNodes or disk",
        ),
        "StandbyException" | "ObserverRetryOnActiveException" => (
            ErrorKind::NotConnected,
            "the NameNode is not the active one: name the nameservice instead of a host, with `dfs.nameservices`, \
             `dfs.ha.namenodes.*` and `dfs.namenode.rpc-address.*` in `hdfs-site.xml` (HADOOP_CONF_DIR) or as options",
        ),
        "NSQuotaExceededException" | "DSQuotaExceededException" => {
            (ErrorKind::QuotaExceeded, "raise the quota of the folder, or free some of it")
        }
        _ => match &error {
            HdfsError::SASLError(_) | HdfsError::GSSAPIError(..) | HdfsError::NoSASLMechanism => (
                ErrorKind::PermissionDenied,
                "the cluster uses Kerberos: get a ticket (`kinit`), or a delegation token in the file that \
                 HADOOP_TOKEN_FILE_LOCATION names",
            ),
            HdfsError::OperationFailed(reason) if reason.contains("libgssapi") => (
                ErrorKind::PermissionDenied,
                "the cluster uses Kerberos, whose library is not on this machine: install libgssapi-krb5-2 (Debian) or \
                 krb5-libs (Red Hat)",
            ),
            HdfsError::InvalidArgument(reason) if reason.contains("No NameNode hosts") => (
                ErrorKind::NotFound,
                "the nameservice has no NameNodes: `dfs.ha.namenodes.*` names them, and \
                 `dfs.namenode.rpc-address.*` gives the address of each",
            ),
            _ => return Error::storage(operation, path.to_string(), text),
        },
    };
    let source = std::io::Error::new(kind, format!("{text}: {what_to_do}"));
    Error::storage(operation, path.to_string(), source)
}

/// Whether the NameNode has answered, and has not done what was asked.
pub(super) fn is_answer(error: &HdfsError) -> bool {
    matches!(error, HdfsError::RPCError(..) | HdfsError::AlreadyExists(_) | HdfsError::FileNotFound(_))
}

/// Without the Java stack that follows the first line.
fn shown(error: &HdfsError) -> String {
    error.to_string().lines().next().unwrap_or_default().trim_end_matches(':').trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(class: &str, message: &str) -> Error {
        let path = ObjectPath::new("hdfs://h", "/t/a");
        convert("put", &path, HdfsError::RPCError(class.to_owned(), message.to_owned()))
    }

    fn kind(error: &Error) -> Option<ErrorKind> {
        let Error::Storage { source, .. } = error else { return None };
        source.downcast_ref::<std::io::Error>().map(std::io::Error::kind)
    }

    #[test]
    fn what_the_name_node_refuses_has_its_kind_and_says_what_to_do() {
        let ipc = "org.apache.hadoop.ipc";
        for (class, message, expected, to_do) in [
            (
                "org.apache.hadoop.security.AccessControlException".to_owned(),
                "Permission denied: user=u, access=WRITE\n\tat org.apache.X",
                ErrorKind::PermissionDenied,
                "HADOOP_USER_NAME",
            ),
            (
                "org.apache.hadoop.hdfs.server.namenode.SafeModeException".to_owned(),
                "Cannot create file/t. Name node is in safe mode.",
                ErrorKind::ReadOnlyFilesystem,
                "safemode",
            ),
            (
                format!("{ipc}.RetriableException"),
                "org.apache.hadoop.hdfs.server.namenode.SafeModeException: Cannot create",
                ErrorKind::ReadOnlyFilesystem,
                "safemode",
            ),
            (
                format!("{ipc}.StandbyException"),
                "Operation category READ is not supported in state standby",
                ErrorKind::NotConnected,
                "dfs.nameservices",
            ),
        ] {
            let error = of(&class, message);
            assert_eq!(kind(&error), Some(expected), "{error}");
            let text = error.to_string();
            assert!(text.contains(to_do) && !text.contains("\tat "), "{text}");
        }
        assert!(matches!(of("java.io.FileNotFoundException", "x"), Error::NotFound { .. }));
        let other = of("java.io.IOException", "disk");
        assert!(matches!(&other, Error::Storage { .. }) && kind(&other).is_none(), "{other}");
    }
}
