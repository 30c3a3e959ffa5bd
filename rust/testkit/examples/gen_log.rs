//! Writes a Delta log without data files, for benches: `gen_log OUT FILES COMMITS ADDS REMOVES [wide] [struct] [days=N]`, with the
//! statistics of nine columns, with `stats_parsed` and `partitionValues_parsed` instead of the texts, and with N partitions and
//! not a thousand (of files with wide statistics).

#![allow(clippy::print_stdout)]

use std::path::Path;

use deltaic_testkit::LogGen;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let word = |a: &String| ["wide", "struct"].contains(&a.as_str()) || a.starts_with("days=");
    let (words, args): (Vec<_>, Vec<_>) = args.iter().partition(|a| word(a));
    let [out, numbers @ ..] = args.as_slice() else {
        return Err("gen_log OUT FILES COMMITS ADDS REMOVES [wide] [struct] [days=N]".into());
    };
    let numbers = numbers.iter().map(|n| n.parse()).collect::<Result<Vec<u64>, _>>()?;
    let [files, commits, adds, removes] = numbers[..] else { return Err("four numbers are needed".into()) };
    let mut log = LogGen { files, commits, adds, removes, ..LogGen::default() };
    log.wide = words.iter().any(|word| *word == "wide");
    if words.iter().any(|word| *word == "struct") {
        (log.checkpoint.json_stats, log.checkpoint.struct_stats) = (false, true);
        log.checkpoint.struct_partitions = true;
    }
    if let Some(days) = words.iter().find_map(|word| word.strip_prefix("days=")) {
        log.days = days.parse()?;
    }
    let (version, live) = log.write(Path::new(out));
    println!("{{\"version\": {version}, \"files\": {live}}}");
    Ok(())
}
