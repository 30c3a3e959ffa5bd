//! Writes a Delta log without data files, for benches: `gen_log OUT FILES COMMITS ADDS REMOVES`.

#![allow(clippy::print_stdout)]

use std::path::Path;

use deltaic_testkit::LogGen;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [out, numbers @ ..] = args.as_slice() else {
        return Err("gen_log OUT FILES COMMITS ADDS REMOVES".into());
    };
    let numbers = numbers.iter().map(|n| n.parse()).collect::<Result<Vec<u64>, _>>()?;
    let [files, commits, adds, removes] = numbers[..] else { return Err("four numbers are needed".into()) };
    let (version, live) = LogGen { files, commits, adds, removes, ..LogGen::default() }.write(Path::new(out));
    println!("{{\"version\": {version}, \"files\": {live}}}");
    Ok(())
}
