//! The table of features on docs/compatibility.md, which is that of the code.

use std::fmt::Write as _;

use deltaic_core::features::{FEATURES, Feature, Use};

const BEGIN: &str = "<!-- table: features -->\n";
const END: &str = "<!-- end -->\n";

fn used_by(usage: &Use) -> String {
    match usage {
        Use::Column(key) => format!("a column with `{key}`"),
        Use::NotNull => "a column that is `NOT NULL`".into(),
        Use::Type(_) => "a column of its type".into(),
        Use::True(property) => format!("`{property}` = `true`"),
        Use::Is(property, value) => format!("`{property}` = `{value}`"),
        Use::Not(property, value) => format!("`{property}`, not `{value}`"),
        Use::Prefix(prefix) => format!("a property `{prefix}…`"),
    }
}

fn dropped(feature: &Feature) -> &'static str {
    match &feature.removal {
        None => "no",
        Some(removal) if removal.protects_history => "yes, with its history",
        Some(_) => "yes",
    }
}

fn table() -> String {
    let mut rows = String::from(
        "| feature | deltaic | for | implied by | comes with | needs | can be dropped |\n\
         |---|---|---|---|---|---|---|\n",
    );
    for feature in FEATURES {
        let versions = match feature.legacy {
            None => String::new(),
            Some((0, writer)) => format!("writer {writer}"),
            Some((reader, writer)) => format!("reader {reader}, writer {writer}"),
        };
        let mut uses: Vec<String> = feature.used_by.iter().map(used_by).collect();
        if !feature.automatic {
            uses.push(format!("`delta.feature.{}` = `supported`", feature.name()));
        }
        let needs: Vec<String> = feature.requires.iter().map(|one| format!("`{}`", one.name())).collect();
        let _ = writeln!(
            rows,
            "| `{}` | {} | {} | {versions} | {} | {} | {} |",
            feature.name(),
            match (feature.reads, feature.writes) {
                (true, true) => "reads, writes",
                (true, false) => "reads",
                (false, true) => "writes",
                (false, false) => "no",
            },
            if feature.reader_writer { "readers, writers" } else { "writers" },
            uses.join(", or "),
            needs.join(", "),
            dropped(feature),
        );
    }
    rows
}

#[test]
fn the_documentation_shows_the_features() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compatibility.md");
    let text = std::fs::read_to_string(page).unwrap().replace("\r\n", "\n");
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let now = format!("{before}{BEGIN}{}{END}{after}", table());
    if std::env::var_os("DELTAIC_WRITE_DOCS").is_some() {
        std::fs::write(page, &now).unwrap();
        return;
    }
    assert!(
        text == now,
        "docs/compatibility.md is not what the code says; run this test with DELTAIC_WRITE_DOCS=1"
    );
}
