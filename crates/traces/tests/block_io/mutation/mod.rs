//! Damages inputs at random, like a fuzzer without feedback. The same seed gives the same damage.

use assay_stats::rng::Rng;
use assay_traces::block_io::probe::Probe;

/// Numbers and words that often break parsers.
const AWKWARD: [&[u8]; 14] = [
    b"0",
    b"-1",
    b"18446744073709551615",
    b"18446744073709551616",
    b"9223372036854775807",
    b"99999999999999999999999999",
    b".",
    b"\n",
    b",",
    b" ",
    b"\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\0\0\0\0\0\0\0\0",
    b"\x07tae",
    b"|@@",
];

/// Maximum length of an input in bytes.
const MAX_BYTES: usize = 8192;

fn mutate(input: &mut Vec<u8>, others: &[Vec<u8>], rng: &mut Rng) {
    for _ in 0..=rng.below(4) {
        let at = rng.below(input.len() + 1);
        let end = (at + 1 + rng.below(64)).min(input.len());
        match rng.below(8) {
            0 if at < input.len() => input[at] ^= 1 << rng.below(8),
            1 if at < input.len() => input[at] = rng.next_u64() as u8,
            2 if at < end => drop(input.drain(at..end)),
            3 if at < end => {
                let copy = input[at..end].to_vec();
                let to = rng.below(input.len());
                input.splice(to..to, copy);
            }
            4 => {
                let word = AWKWARD[rng.below(AWKWARD.len())];
                let over = if rng.below(2) == 0 { 0 } else { word.len() };
                let over = (at + over).min(input.len());
                input.splice(at..over, word.iter().copied());
            }
            5 => input.truncate(at),
            6 => {
                let other = &others[rng.below(others.len())];
                let from = rng.below(other.len() + 1);
                let to = (from + 1 + rng.below(256)).min(other.len());
                input.splice(at..at, other[from..to].iter().copied());
            }
            _ if at < end => input[at..end].fill(rng.next_u64() as u8),
            _ => {}
        }
    }
    input.truncate(MAX_BYTES);
}

/// Returns the saved inputs of a reader: those that broke it once, and those that a fuzzer found to
/// reach deep.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    files.sort();
    files.iter().filter_map(|file| std::fs::read(file).ok()).collect()
}

/// Reads `executions` damaged inputs. Some are made from damaged ones, so that damage accumulates.
pub fn run(probe: &Probe, executions: u64, seed: u64) {
    let mut rng = Rng::new(seed);
    let mut seeds = (probe.seeds)();
    seeds.extend(corpus(probe.name));
    assert!(!seeds.is_empty(), "{} has nothing to begin with", probe.name);
    for seed in &seeds {
        (probe.read)(seed);
    }
    let mut pool = seeds.clone();
    for n in 0..executions {
        let mut input = pool[rng.below(pool.len())].clone();
        mutate(&mut input, &pool, &mut rng);
        (probe.read)(&input);
        if n % 16 == 0 {
            let place = rng.below(64);
            if pool.len() < 64 {
                pool.push(input);
            } else if place >= seeds.len() {
                pool[place] = input;
            }
        }
    }
}
