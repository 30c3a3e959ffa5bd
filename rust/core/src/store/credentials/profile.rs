//! Profiles of AWS: the keys and the programs that `~/.aws/credentials` and `~/.aws/config` name.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use configparser::ini::Ini;
use serde::Deserialize;

use super::{Asked, CredentialSource, Fresh, GivenCredentials, fresh_of};
use crate::error::{Error, Result};

const DEFAULT: &str = "default";
const KEYS: [&str; 3] = ["aws_access_key_id", "aws_secret_access_key", "aws_session_token"];

/// The credentials of a profile; without a name those of the profile `default`, `None` where it has none.
///
/// # Errors
/// [`Error::Credentials`] for a profile that is not there or signs in by other means than keys and a program.
pub(crate) fn of_profile(name: Option<&str>, asked: Asked) -> Result<Option<Arc<Fresh>>> {
    match Profile::read(name.unwrap_or(DEFAULT)) {
        Ok(profile) => Ok(Some(fresh_of(&format!("profile {}", profile.name), Arc::new(profile), asked))),
        Err(_) if name.is_none() => Ok(None),
        Err(reason) => Err(Error::Credentials { store: asked.store, reason }),
    }
}

/// What the files say of a profile. They are read again each time: another program may write them.
struct Profile {
    name: String,
}

type Values = HashMap<String, Option<String>>;

impl Profile {
    /// Checks that the profile has credentials.
    fn read(name: &str) -> Result<Self, String> {
        let profile = Profile { name: name.to_owned() };
        let said = profile.said()?;
        if said.contains_key("credential_process") || KEYS[..2].iter().all(|key| said.contains_key(*key)) {
            return Ok(profile);
        }
        Err(format!(
            "the profile `{name}` has neither keys nor a `credential_process`; with SSO or a role, give a function as \
             `credentials` that asks botocore"
        ))
    }

    fn said(&self) -> Result<BTreeMap<String, String>, String> {
        let mut said: Option<BTreeMap<String, String>> = None;
        for (variable, file, section) in [
            ("AWS_CONFIG_FILE", "config", self.section_of_config()),
            ("AWS_SHARED_CREDENTIALS_FILE", "credentials", self.name.clone()),
        ] {
            let given = std::env::var_os(variable).map(PathBuf::from);
            let Some(path) = given.or_else(|| Some(std::env::home_dir()?.join(".aws").join(file))) else {
                continue;
            };
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            if let Some(found) = parsed(&text, &path.display().to_string())?.remove(&section) {
                let values = found.into_iter().filter_map(|(name, value)| Some((name, value?)));
                said.get_or_insert_default().extend(values);
            }
        }
        said.ok_or_else(|| {
            format!("there is no profile `{}` in `~/.aws/config` or `~/.aws/credentials`", self.name)
        })
    }

    fn section_of_config(&self) -> String {
        if self.name == DEFAULT { self.name.clone() } else { format!("profile {}", self.name) }
    }
}

/// The sections of a file. Its text is in no error: it has secrets.
fn parsed(text: &str, path: &str) -> Result<HashMap<String, Values>, String> {
    let mut ini = Ini::new_cs();
    ini.set_inline_comment_symbols(Some(&[]));
    ini.read(text.to_owned()).map_err(|_| format!("`{path}` is not as AWS writes it"))
}

impl CredentialSource for Profile {
    fn credentials(&self, _: &Asked) -> Result<GivenCredentials, String> {
        let said = self.said()?;
        // keys go first, as in AWS's own clients
        if KEYS[..2].iter().all(|key| said.contains_key(*key)) {
            let keys = said.into_iter().filter(|(name, _)| KEYS.contains(&name.as_str()));
            return Ok(GivenCredentials { options: keys.collect(), expires: None });
        }
        match said.get("credential_process") {
            Some(program) => {
                run(program).map_err(|reason| format!("the program of the profile `{}` {reason}", self.name))
            }
            None => Err(format!("the profile `{}` has no keys any more", self.name)),
        }
    }
}

/// What a program of `credential_process` prints.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Printed {
    version: u32,
    access_key_id: String,
    secret_access_key: String,
    session_token: Option<String>,
    expiration: Option<DateTime<Utc>>,
}

/// Runs a program; its output, which has secrets, is in no error.
fn run(program: &str) -> Result<GivenCredentials, String> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let ran =
        Command::new(shell).args([flag, program]).stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let ran = ran.map_err(|e| format!("did not start: {e}"))?;
    if !ran.status.success() {
        return Err(format!("failed: {}", ran.status));
    }
    let printed: Printed =
        serde_json::from_slice(&ran.stdout).map_err(|_| "printed no credentials as JSON".to_owned())?;
    if printed.version != 1 {
        return Err(format!("printed version {} of its output: only 1 is known", printed.version));
    }
    let values = [Some(printed.access_key_id), Some(printed.secret_access_key), printed.session_token];
    let options = KEYS.into_iter().zip(values).filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Ok(GivenCredentials { options: options.collect(), expires: printed.expiration.map(Into::into) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_aws_writes_them() {
        let text = "# mine\n[default]\naws_access_key_id = AKIA#1\naws_secret_access_key=a/b+c==\n\n[profile other]\n\
                    credential_process = tool --name \"a b\" # not a comment\ns3 =\n  max_concurrent_requests = 20\n";
        let found = parsed(text, "f").unwrap();
        assert_eq!(found["default"]["aws_access_key_id"].as_deref(), Some("AKIA#1"));
        assert_eq!(found["default"]["aws_secret_access_key"].as_deref(), Some("a/b+c=="));
        let program = found["profile other"]["credential_process"].as_deref();
        assert_eq!(program, Some("tool --name \"a b\" # not a comment"));
    }

    #[cfg(unix)]
    #[test]
    fn a_program_prints_credentials_and_when_they_expire() {
        let print = |json: &str| run(&format!("echo '{json}'"));
        let keys = r#""Version":1,"AccessKeyId":"id","SecretAccessKey":"secret""#;
        let found = print(&format!("{{{keys}}}")).unwrap();
        assert_eq!((found.options["aws_access_key_id"].as_str(), found.expires), ("id", None));
        let found =
            print(&format!(r#"{{{keys},"SessionToken":"t","Expiration":"2030-01-01T00:00:00Z"}}"#)).unwrap();
        assert!(found.options["aws_session_token"] == "t" && found.expires.is_some());
        for program in [
            "exit 3",
            "echo PLANTED",
            "echo '{\"Version\":2,\"AccessKeyId\":\"PLANTED\",\"SecretAccessKey\":\"\"}'",
        ] {
            let reason = run(program).unwrap_err();
            assert!(!reason.contains("PLANTED"), "{reason}");
        }
    }
}
