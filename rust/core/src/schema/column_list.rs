//! Lists of columns as text, such as in `delta.dataSkippingStatsColumns`.

/// ``a, b.c, `d.e`.f`` as paths of names.
///
/// # Errors
/// The reason why the text is not valid.
pub(crate) fn parse_column_list(list: &str) -> Result<Vec<Vec<String>>, String> {
    let mut paths = Vec::new();
    let mut path = Vec::new();
    let mut name = String::new();
    let mut quoted = false;
    let mut chars = list.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '`' if quoted && chars.peek() == Some(&'`') => {
                chars.next();
                name.push('`');
            }
            '`' => quoted = !quoted,
            '.' if !quoted => path.push(std::mem::take(&mut name)),
            ',' if !quoted => {
                path.push(std::mem::take(&mut name));
                paths.push(std::mem::take(&mut path));
            }
            c if c.is_whitespace() && !quoted => {}
            c => name.push(c),
        }
    }
    if quoted {
        return Err(format!("`{list}` has an open backtick"));
    }
    if !list.trim().is_empty() {
        path.push(name);
        paths.push(path);
    }
    match paths.iter().flatten().any(String::is_empty) {
        true => Err(format!("`{list}` has an empty column name")),
        false => Ok(paths),
    }
}

/// A name in backticks, as SQL writes it.
pub(crate) fn in_backticks(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A name, in backticks if it has other characters than letters, digits and underscores.
pub(super) fn quoted(name: &str) -> String {
    match name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        true => name.to_owned(),
        false => in_backticks(name),
    }
}

/// Paths as text that [`parse_column_list`] reads back; names are quoted where they must be.
pub(crate) fn format_column_list(paths: &[Vec<String>]) -> String {
    let path = |path: &Vec<String>| path.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(".");
    paths.iter().map(path).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_survives_a_round_trip() {
        let paths = parse_column_list(" A , b.`c.d`, `e``f`").unwrap();
        assert_eq!(paths, [vec!["A"], vec!["b", "c.d"], vec!["e`f"]]);
        assert_eq!(format_column_list(&paths), "A,b.`c.d`,`e``f`");
        assert_eq!(parse_column_list(&format_column_list(&paths)).unwrap(), paths);
        assert!(parse_column_list("").unwrap().is_empty());
        assert!(parse_column_list("a,`b").is_err() && parse_column_list("a,,b").is_err());
    }
}
