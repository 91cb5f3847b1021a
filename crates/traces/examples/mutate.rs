//! Reads damaged inputs until a reader fails: `mutate READER|all EXECUTIONS [SEED]`. A panic prints
//! the reader; run again with the same seed to reproduce it. `mutate --corpus FOLDER` writes the
//! initial inputs for use by other fuzzers.

#[path = "../tests/block_io/mutation/mod.rs"]
mod mutation;

use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use assay_traces::block_io::probe::PROBES;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [reader, executions, rest @ ..] = arguments.as_slice() else {
        return Err("mutate READER|all EXECUTIONS [SEED]".into());
    };
    if reader == "--corpus" {
        return write_corpus(Path::new(executions));
    }
    let executions: u64 = executions.parse()?;
    let seed: u64 = rest.first().map_or(Ok(1), |s| s.parse())?;
    let chosen: Vec<_> = PROBES.iter().filter(|p| reader == "all" || p.name == reader).collect();
    if chosen.is_empty() {
        return Err(
            format!("`{reader}` is no reader; there are {:?}", PROBES.map(|p| p.name)).into()
        );
    }
    for probe in chosen {
        let begun = Instant::now();
        mutation::run(probe, executions, seed);
        let seconds = begun.elapsed().as_secs_f64();
        writeln!(std::io::stdout(), "{:12} {executions} inputs in {seconds:.1} s", probe.name)?;
    }
    Ok(())
}

fn write_corpus(folder: &Path) -> Result<(), Box<dyn Error>> {
    for probe in &PROBES {
        let folder = folder.join(probe.name);
        std::fs::create_dir_all(&folder)?;
        for (n, seed) in (probe.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{n}")), seed)?;
        }
    }
    Ok(())
}
