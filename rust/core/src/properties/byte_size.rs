/// Bytes of `104857600`, `100mb`, `1g`: a whole number, and a unit after it without a space, in any case, each 1024 of the
/// one before. This is how Spark reads sizes.
///
/// # Errors
/// The reason why the text is not valid. An empty text is not a size of a file.
pub(crate) fn parse_byte_size(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_lowercase();
    let invalid = || format!("`{text}` is not a size above 0 such as `100mb` or `104857600`");
    let digits = lower.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let power = match &lower[digits.len()..] {
        "" | "b" => 0,
        "k" | "kb" => 10,
        "m" | "mb" => 20,
        "g" | "gb" => 30,
        "t" | "tb" => 40,
        "p" | "pb" => 50,
        _ => return Err(invalid()),
    };
    if !digits.bytes().all(|c| c.is_ascii_digit()) {
        return Err(invalid());
    }
    let size = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << power));
    size.filter(|size| *size > 0 && i64::try_from(*size).is_ok()).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_spark_reads_them() {
        for (text, bytes) in [
            ("104857600", 100 << 20),
            ("100mb", 100 << 20),
            (" 1GB ", 1 << 30),
            ("3k", 3 << 10),
            ("2P", 2 << 50),
            ("7b", 7),
        ] {
            assert_eq!(parse_byte_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "0", "0mb", "x", "mb", "1.5g", "1 gb", "+1", "-1", "1kib", "1é", "9999999999999t"] {
            assert!(parse_byte_size(text).is_err(), "{text}");
        }
    }
}
