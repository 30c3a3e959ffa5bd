use super::settings::{Mapped, Settings, invalid, simple_name};
use crate::error::Result;

const PROVIDER: &str = "aws.credentials.provider";
const CONTAINER: &[&str] = &[
    "aws_container_credentials_relative_uri",
    "aws_container_credentials_full_uri",
    "aws_container_authorization_token_file",
];
const KEYS: &[&str] = &["aws_access_key_id", "aws_secret_access_key", "aws_session_token", "aws_token"];
const WEB_IDENTITY: &[&str] =
    &["aws_web_identity_token_file", "aws_role_arn", "aws_role_session_name", "aws_endpoint_url_sts"];
const DEFAULT_CHAIN: &[&str] = &[
    "aws_access_key_id",
    "aws_secret_access_key",
    "aws_session_token",
    "aws_token",
    "aws_web_identity_token_file",
    "aws_role_arn",
    "aws_role_session_name",
    "aws_endpoint_url_sts",
    "aws_container_credentials_relative_uri",
    "aws_container_credentials_full_uri",
    "aws_container_authorization_token_file",
];

/// Whether credentials may be of anything that the environment says.
pub(crate) fn is_default_chain(kept: &'static [&'static str]) -> bool {
    kept == DEFAULT_CHAIN
}

/// `fs.s3a.*` for a bucket: `fs.s3a.bucket.<bucket>.*` takes precedence, as in Hadoop.
struct S3a<'a> {
    settings: &'a Settings,
    bucket: &'a str,
}

impl S3a<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        let own = self.settings.get(&format!("fs.s3a.bucket.{}.{name}", self.bucket));
        own.or_else(|| self.settings.get(&format!("fs.s3a.{name}")))
    }

    fn switch(&self, name: &str) -> Result<Option<bool>> {
        Settings::switch(&format!("fs.s3a.{name}"), self.get(name))
    }
}

/// The options of S3 that S3A's settings ask for. `environment` returns which variables are set, by their names in
/// lower case.
///
/// # Errors
/// [`Error::InvalidArgument`](crate::error::Error::InvalidArgument) by the name of the setting, for a value that makes no
/// sense, and for what only Hadoop can do, encryption by the client.
pub(crate) fn s3a(settings: &Settings, bucket: &str, environment: impl Fn(&str) -> bool) -> Result<Mapped> {
    let s3a = S3a { settings, bucket };
    let mut mapped = Mapped::default();
    endpoint(&s3a, &mut mapped)?;
    credentials(&s3a, environment, &mut mapped)?;
    encryption(&s3a, &mut mapped)?;
    proxy(&s3a, &mut mapped)?;
    if s3a.switch("requester.pays.enabled")? == Some(true) {
        mapped.set("aws_request_payer", "true");
    }
    for (option, name) in
        [("connect_timeout", "connection.establish.timeout"), ("read_timeout", "connection.timeout")]
    {
        if let Some(millis) = s3a.get(name).map(|text| duration(name, text)).transpose()?.filter(|m| *m > 0) {
            mapped.set(option, format!("{millis}ms"));
        }
    }
    Ok(mapped)
}

fn endpoint(s3a: &S3a<'_>, mapped: &mut Mapped) -> Result<()> {
    let secure = s3a.switch("connection.ssl.enabled")?.unwrap_or(true);
    let path_style = s3a.switch("path.style.access")?.unwrap_or(false);
    let given = s3a.get("endpoint").map(|text| match text.split_once("://") {
        Some((scheme, host)) => (scheme.eq_ignore_ascii_case("https"), host.trim_end_matches('/')),
        None => (secure, text.trim_end_matches('/')),
    });
    let region = s3a.get("endpoint.region");
    mapped.copy("aws_region", region.or_else(|| given.and_then(|(_, host)| region_of(host))));
    let Some((secure, host)) = given else {
        if s3a.switch("endpoint.fips")? == Some(true) {
            let region = region.unwrap_or("us-east-1");
            mapped.set("aws_endpoint", format!("https://s3-fips.{region}.amazonaws.com"));
        }
        return Ok(());
    };
    // the endpoint of AWS follows from the region
    if secure && (host == "s3.amazonaws.com" || is_regional(host)) {
        return Ok(());
    }
    let scheme = if secure { "https" } else { "http" };
    if !secure {
        mapped.set("aws_allow_http", "true");
    }
    // an address has no subdomains; the AWS SDK sends the bucket in the path, too
    let named = host.split(':').next().unwrap_or(host);
    let address = host.starts_with('[') || named.parse::<std::net::IpAddr>().is_ok();
    if path_style || address {
        mapped.set("aws_endpoint", format!("{scheme}://{host}"));
        mapped.set("aws_virtual_hosted_style_request", "false");
    } else {
        mapped.set("aws_endpoint", format!("{scheme}://{}.{host}", s3a.bucket));
        mapped.set("aws_virtual_hosted_style_request", "true");
    }
    Ok(())
}

fn is_regional(host: &str) -> bool {
    region_of(host).is_some_and(|region| host == format!("s3.{region}.amazonaws.com"))
}

/// The region in the name of an endpoint of AWS.
fn region_of(host: &str) -> Option<&str> {
    let rest = host.strip_suffix(".amazonaws.com").or_else(|| host.strip_suffix(".amazonaws.com.cn"))?;
    let region = rest.rsplit('.').next()?;
    (rest.len() > region.len() && !region.is_empty()).then_some(region)
}

/// The first provider of the list that has credentials, as far as this can be known before a request.
fn credentials(s3a: &S3a<'_>, environment: impl Fn(&str) -> bool, mapped: &mut Mapped) -> Result<()> {
    let keys = (s3a.get("access.key"), s3a.get("secret.key"));
    let token = s3a.get("session.token");
    let listed = s3a.get(PROVIDER);
    // what Hadoop tries where nothing is listed; without keys the environment decides
    let providers = listed.unwrap_or("TemporaryAWSCredentialsProvider,SimpleAWSCredentialsProvider");
    for class in providers.split([',', '\n']).map(str::trim).filter(|class| !class.is_empty()) {
        match (simple_name(class), keys) {
            ("SimpleAWSCredentialsProvider" | "BasicAWSCredentialsProvider", (Some(id), Some(secret))) => {
                mapped.set("aws_access_key_id", id);
                mapped.set("aws_secret_access_key", secret);
                mapped.credentials = Some(&[]);
            }
            ("TemporaryAWSCredentialsProvider", (Some(id), Some(secret))) if token.is_some() => {
                mapped.set("aws_access_key_id", id);
                mapped.set("aws_secret_access_key", secret);
                mapped.copy("aws_session_token", token);
                mapped.credentials = Some(&[]);
            }
            (
                "SimpleAWSCredentialsProvider"
                | "BasicAWSCredentialsProvider"
                | "TemporaryAWSCredentialsProvider",
                _,
            ) => {}
            ("AnonymousAWSCredentialsProvider" | "AnonymousCredentialsProvider", _) => {
                mapped.set("aws_skip_signature", "true");
                mapped.credentials = Some(&[]);
            }
            ("EnvironmentVariableCredentialsProvider", _) => {
                if environment("aws_access_key_id") && environment("aws_secret_access_key") {
                    mapped.credentials = Some(KEYS);
                }
            }
            ("WebIdentityTokenCredentialsProvider" | "WebIdentityTokenFileCredentialsProvider", _) => {
                if environment("aws_web_identity_token_file") {
                    mapped.credentials = Some(WEB_IDENTITY);
                }
            }
            (
                "IAMInstanceCredentialsProvider"
                | "InstanceProfileCredentialsProvider"
                | "ContainerCredentialsProvider"
                | "EC2ContainerCredentialsProviderWrapper",
                _,
            ) => mapped.credentials = Some(CONTAINER),
            (
                "DefaultCredentialsProvider"
                | "DefaultAWSCredentialsProviderChain"
                | "AWSCredentialProviderChain",
                _,
            ) => {
                mapped.credentials = Some(DEFAULT_CHAIN);
            }
            _ => {
                let reason = format!(
                    "`{class}` gets its credentials in Java, and this process has no JVM of Spark to ask: give \
                     `fs.s3a.access.key`, `fs.s3a.secret.key` and `fs.s3a.session.token`, or the options \
                     `aws_access_key_id`, `aws_secret_access_key` and `aws_session_token`, or a function as \
                     `credentials`"
                );
                mapped.ask_jvm(&format!("fs.s3a.{PROVIDER}"), reason);
            }
        }
        if mapped.credentials.is_some() {
            return Ok(());
        }
    }
    match listed {
        Some(listed) if keys.0.is_none() && listed.contains("AWSCredentialsProvider") => {
            let reason = format!(
                "none of `{listed}` has credentials: set `fs.s3a.access.key` and `fs.s3a.secret.key`, \
                 and `fs.s3a.session.token` where they are temporary"
            );
            Err(invalid(&format!("fs.s3a.{PROVIDER}"), reason))
        }
        _ => Ok(()),
    }
}

fn encryption(s3a: &S3a<'_>, mapped: &mut Mapped) -> Result<()> {
    let old = || s3a.get("server-side-encryption-algorithm");
    let Some(algorithm) = s3a.get("encryption.algorithm").or_else(old) else { return Ok(()) };
    let key = s3a.get("encryption.key").or_else(|| s3a.get("server-side-encryption.key"));
    match algorithm.to_ascii_uppercase().as_str() {
        "AES256" | "SSE-S3" => mapped.set("aws_server_side_encryption", "AES256"),
        "SSE-KMS" => {
            mapped.set("aws_server_side_encryption", "aws:kms");
            mapped.copy("aws_sse_kms_key_id", key);
        }
        "DSSE-KMS" => {
            mapped.set("aws_server_side_encryption", "aws:kms:dsse");
            mapped.copy("aws_sse_kms_key_id", key);
        }
        "SSE-C" => {
            mapped.set("aws_server_side_encryption", "sse-c");
            mapped.copy("aws_sse_customer_key_base64", key);
        }
        _ => {
            let reason =
                format!("`{algorithm}` encrypts in Hadoop's client, and other clients cannot read that");
            return Err(invalid("fs.s3a.encryption.algorithm", reason));
        }
    }
    Ok(())
}

fn proxy(s3a: &S3a<'_>, mapped: &mut Mapped) -> Result<()> {
    let Some(host) = s3a.get("proxy.host") else { return Ok(()) };
    let secure = s3a.switch("proxy.ssl.enabled")?.unwrap_or(false);
    let (scheme, usual) = if secure { ("https", "443") } else { ("http", "80") };
    let port = s3a.get("proxy.port").unwrap_or(usual);
    let escaped = |text: &str| {
        percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
    };
    let user = match (s3a.get("proxy.username"), s3a.get("proxy.password")) {
        (Some(user), Some(password)) => format!("{}:{}@", escaped(user), escaped(password)),
        _ => String::new(),
    };
    mapped.set("proxy_url", format!("{scheme}://{user}{host}:{port}"));
    Ok(())
}

/// Milliseconds of a duration as Hadoop writes them: a number, of milliseconds where it has no unit.
fn duration(name: &str, text: &str) -> Result<u64> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.len() - lower.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = lower.split_at(digits);
    let factor = match unit.trim() {
        "" | "ms" => Some(1),
        "s" => Some(1_000),
        "m" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    let millis = number.parse::<u64>().ok().zip(factor).and_then(|(n, factor)| n.checked_mul(factor));
    millis.ok_or_else(|| {
        invalid(&format!("fs.s3a.{name}"), format!("`{text}` is not a duration, such as `30s`"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::settings::settings;
    use super::*;

    fn of<const N: usize>(given: [(&str, &str); N], variables: &[&str]) -> Result<Mapped> {
        s3a(&settings(given), "b", |name| variables.contains(&name))
    }

    fn options<const N: usize>(given: [(&str, &str); N]) -> Vec<(&'static str, String)> {
        of(given, &[]).unwrap().options.into_iter().collect()
    }

    fn texts<'a>(found: &'a [(&'static str, String)]) -> Vec<(&'static str, &'a str)> {
        found.iter().map(|(name, value)| (*name, value.as_str())).collect()
    }

    #[test]
    fn keys_and_the_endpoint_of_an_emulator() {
        let found = options([
            ("fs.s3a.access.key", "id"),
            ("fs.s3a.secret.key", " secret\n"),
            ("fs.s3a.endpoint", "http://127.0.0.1:7070"),
            ("fs.s3a.path.style.access", "true"),
        ]);
        let expected = [
            ("aws_access_key_id", "id"),
            ("aws_allow_http", "true"),
            ("aws_endpoint", "http://127.0.0.1:7070"),
            ("aws_secret_access_key", "secret"),
            ("aws_virtual_hosted_style_request", "false"),
        ];
        assert_eq!(texts(&found), expected);
    }

    #[test]
    fn what_is_said_of_the_bucket_goes_first() {
        let found = options([
            ("fs.s3a.access.key", "id"),
            ("fs.s3a.secret.key", "secret"),
            ("fs.s3a.bucket.b.access.key", "own"),
            ("fs.s3a.bucket.other.secret.key", "not this"),
            ("fs.s3a.bucket.b.endpoint.region", "eu-west-1"),
        ]);
        let expected =
            [("aws_access_key_id", "own"), ("aws_region", "eu-west-1"), ("aws_secret_access_key", "secret")];
        assert_eq!(texts(&found), expected);
    }

    #[test]
    fn an_endpoint_tells_the_scheme_the_region_and_the_place_of_the_bucket() {
        for (endpoint, expected) in [
            ("s3.amazonaws.com", vec![]),
            ("s3.eu-west-1.amazonaws.com", vec![("aws_region", "eu-west-1")]),
            (
                "minio:9000",
                vec![("aws_endpoint", "https://b.minio:9000"), ("aws_virtual_hosted_style_request", "true")],
            ),
            (
                "https://s3.cn-north-1.amazonaws.com.cn/",
                vec![
                    ("aws_endpoint", "https://b.s3.cn-north-1.amazonaws.com.cn"),
                    ("aws_region", "cn-north-1"),
                    ("aws_virtual_hosted_style_request", "true"),
                ],
            ),
        ] {
            assert_eq!(texts(&options([("fs.s3a.endpoint", endpoint)])), expected, "{endpoint}");
        }
        let plain = options([
            ("fs.s3a.endpoint", "10.0.0.1:80"),
            ("fs.s3a.connection.ssl.enabled", "false"),
            ("fs.s3a.endpoint.region", "x"),
        ]);
        assert!(texts(&plain).contains(&("aws_endpoint", "http://10.0.0.1:80")), "{plain:?}");
    }

    #[test]
    fn the_first_provider_that_has_credentials_is_taken() {
        let keys = ("fs.s3a.access.key", "id");
        let secret = ("fs.s3a.secret.key", "secret");
        fn provider(list: &str) -> (&str, &str) {
            ("fs.s3a.aws.credentials.provider", list)
        }
        let temporary = "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider";
        let simple = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider";
        let both = format!("{temporary},\n {simple}");
        let found = of([keys, secret, provider(&both)], &[]).unwrap();
        assert!(!found.options.contains_key("aws_session_token"));
        assert_eq!(found.options["aws_access_key_id"], "id");
        let found = of([keys, secret, ("fs.s3a.session.token", "t"), provider(&both)], &[]).unwrap();
        assert_eq!(found.options["aws_session_token"], "t");
        // without a list, keys go before the environment, whose token belongs to other keys
        assert_eq!(of([keys, secret], &["aws_session_token"]).unwrap().credentials, Some(&[][..]));
        let env = "software.amazon.awssdk.auth.credentials.EnvironmentVariableCredentialsProvider";
        let list = format!("{env},{simple}");
        let variables = ["aws_access_key_id", "aws_secret_access_key"];
        assert_eq!(of([keys, secret, provider(&list)], &variables).unwrap().credentials, Some(KEYS));
        assert_eq!(of([keys, secret, provider(&list)], &[]).unwrap().options["aws_access_key_id"], "id");
        let anonymous = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider";
        let found = of([provider(anonymous)], &[]).unwrap();
        assert_eq!(
            (found.options["aws_skip_signature"].as_str(), found.credentials),
            ("true", Some(&[][..]))
        );
        let instance = "org.apache.hadoop.fs.s3a.auth.IAMInstanceCredentialsProvider";
        assert_eq!(of([keys, secret, provider(instance)], &[]).unwrap().credentials, Some(CONTAINER));
        assert!(of([provider(instance)], &[]).unwrap().options.is_empty());
    }

    #[test]
    fn a_provider_that_only_java_has_is_named() {
        let class = "com.example.Vault";
        let found = of([("fs.s3a.aws.credentials.provider", class)], &["aws_access_key_id"]).unwrap();
        assert_eq!(found.credentials, Some(&[][..]));
        let error = found.jvm.unwrap().to_string();
        assert!(error.contains(class) && error.contains("fs.s3a.aws.credentials.provider"), "{error}");
        let simple = "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider";
        let error = of([("fs.s3a.aws.credentials.provider", simple)], &[]).err().unwrap().to_string();
        assert!(error.contains("fs.s3a.access.key"), "{error}");
    }

    #[test]
    fn encryption_proxy_times_and_who_pays() {
        let found = options([
            ("fs.s3a.encryption.algorithm", "SSE-KMS"),
            ("fs.s3a.encryption.key", "arn:aws:kms:x"),
            ("fs.s3a.proxy.host", "proxy"),
            ("fs.s3a.proxy.port", "8080"),
            ("fs.s3a.proxy.username", "u"),
            ("fs.s3a.proxy.password", "p@/"),
            ("fs.s3a.requester.pays.enabled", "true"),
            ("fs.s3a.connection.timeout", "5000"),
            ("fs.s3a.connection.establish.timeout", "2s"),
        ]);
        let expected = [
            ("aws_request_payer", "true"),
            ("aws_server_side_encryption", "aws:kms"),
            ("aws_sse_kms_key_id", "arn:aws:kms:x"),
            ("connect_timeout", "2000ms"),
            ("proxy_url", "http://u:p%40%2F@proxy:8080"),
            ("read_timeout", "5000ms"),
        ];
        assert_eq!(texts(&found), expected);
        for (name, value) in [
            ("fs.s3a.encryption.algorithm", "CSE-KMS"),
            ("fs.s3a.path.style.access", "yes"),
            ("fs.s3a.connection.timeout", "soon"),
            ("fs.s3a.connection.timeout", "99999999999999999999d"),
        ] {
            let error = of([(name, value), ("fs.s3a.endpoint", "h")], &[]).err().unwrap().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
