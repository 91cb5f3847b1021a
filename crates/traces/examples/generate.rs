//! Writes synthetic traces, for measurements: `generate KIND IOS OUT [CPUS]`.
//!
//! | kind | contents |
//! |---|---|
//! | `blktrace` | `OUT.blktrace.0`, ...: Q, G, I, D, C of every I/O, 32 in flight, random blocks |
//! | `hot-spot` | the same, but many concurrent I/Os access the same few blocks |
//! | `issue-complete` | D and C only, random blocks |
//! | `stream` | as `blktrace`, but in one stream: OUT may be `/dev/stdout` |
//! | `msr` | CSV as of MSR Cambridge, four disks |

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};

use assay_stats::rng::Rng;

const DEVICE: u32 = 259 << 20;
const DEPTH: usize = 32;
const PROGRAMS: [&str; 4] = ["oracle", "fio", "postgres", "kworker/u8:2"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, ios, out, rest @ ..] = arguments.as_slice() else {
        return Err("generate KIND IOS OUT [CPUS]".into());
    };
    let ios: u64 = ios.parse()?;
    let cpus: usize = rest.first().map_or(Ok(1), |n| n.parse())?;
    match kind.as_str() {
        "blktrace" => blktrace(&Out::Cpus(out, cpus.max(1)), ios, Blocks::Spread, &[1, 4, 12, 7]),
        "hot-spot" => blktrace(&Out::Cpus(out, cpus.max(1)), ios, Blocks::Hot, &[1, 4, 12, 7]),
        "issue-complete" => blktrace(&Out::Cpus(out, cpus.max(1)), ios, Blocks::Spread, &[7]),
        "stream" => blktrace(&Out::Stream(out), ios, Blocks::Spread, &[1, 4, 12, 7]),
        "msr" => msr(out, ios),
        other => Err(format!("`{other}` is no kind of trace").into()),
    }
}

/// Distribution of the blocks that are accessed.
#[derive(Clone, Copy, PartialEq)]
enum Blocks {
    Spread,
    Hot,
}

/// An I/O of the synthetic load.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Made {
    sector: u64,
    bytes: u32,
    write: bool,
    program: usize,
}

fn made(rng: &mut Rng, blocks: Blocks) -> Made {
    let sector = match blocks {
        Blocks::Spread => rng.below(1 << 28) as u64 * 8,
        Blocks::Hot => (rng.uniform().powi(8) * 20_000.0) as u64 * 8,
    };
    let program = rng.below(PROGRAMS.len());
    Made { sector, bytes: 4096 << rng.below(5), write: rng.below(10) < 7, program }
}

struct Cpu {
    out: BufWriter<File>,
    sequence: u32,
    number: u32,
}

impl Cpu {
    fn write(&mut self, t: u64, action: u32, io: &Made, extra: &[u8]) -> std::io::Result<()> {
        self.sequence += 1;
        let notice = action >> 16 != 0;
        let category = match (notice, io.write) {
            (true, _) => 0,
            (_, true) => (1 << 1) | (1 << 3),
            (_, false) => 1,
        };
        let mut r = [0u8; 48];
        r[0..4].copy_from_slice(&0x6561_7407_u32.to_le_bytes());
        r[4..8].copy_from_slice(&self.sequence.to_le_bytes());
        r[8..16].copy_from_slice(&t.to_le_bytes());
        r[16..24].copy_from_slice(&io.sector.to_le_bytes());
        r[24..28].copy_from_slice(&io.bytes.to_le_bytes());
        r[28..32].copy_from_slice(&(action | category << 16).to_le_bytes());
        r[32..36].copy_from_slice(&(1000 + io.program as u32).to_le_bytes());
        r[36..40].copy_from_slice(&DEVICE.to_le_bytes());
        r[40..44].copy_from_slice(&self.number.to_le_bytes());
        r[46..48].copy_from_slice(&(extra.len() as u16).to_le_bytes());
        self.out.write_all(&r)?;
        self.out.write_all(extra)
    }
}

/// Destination of the records.
enum Out<'a> {
    /// One file for each of this number of CPUs.
    Cpus(&'a str, usize),
    /// One file for all CPUs.
    Stream(&'a str),
}

impl Out<'_> {
    fn files(&self) -> std::io::Result<Vec<Cpu>> {
        let names = match self {
            Out::Cpus(name, cpus) => (0..*cpus).map(|n| format!("{name}.blktrace.{n}")).collect(),
            Out::Stream(name) => vec![(*name).to_owned()],
        };
        let file = |(number, name): (u32, String)| {
            let out = BufWriter::with_capacity(1 << 20, File::create(name)?);
            Ok(Cpu { out, sequence: 0, number })
        };
        (0..).zip(names).map(file).collect()
    }
}

fn blktrace(out: &Out<'_>, ios: u64, blocks: Blocks, before: &[u32]) -> Result<(), Box<dyn Error>> {
    let mut files = out.files()?;
    let cpus = files.len();
    let mut rng = Rng::new(1);
    let nobody = Made { sector: 0, bytes: 0, write: false, program: 0 };
    for (program, name) in PROGRAMS.iter().enumerate() {
        let mut comm = [0u8; 16];
        comm[..name.len()].copy_from_slice(name.as_bytes());
        files[0].write(0, 1 << 26, &Made { program, ..nobody }, &comm)?;
    }
    let clock = [1_700_000_000u32.to_le_bytes(), 0u32.to_le_bytes()].concat();
    files[0].write(0, 1 << 26 | 1, &nobody, &clock)?;
    let mut under_way: BinaryHeap<Reverse<(u64, Made)>> = BinaryHeap::new();
    let mut t = 1_000;
    for _ in 0..ios {
        if under_way.len() >= DEPTH {
            t = complete(&mut under_way, &mut files, &mut rng, t)?;
        }
        let io = made(&mut rng, blocks);
        let cpu = io.program % cpus;
        for action in before {
            t += 200 + rng.below(300) as u64;
            while under_way.peek().is_some_and(|Reverse((end, _))| *end <= t) {
                t = complete(&mut under_way, &mut files, &mut rng, t)?;
            }
            files[cpu].write(t, *action, &io, b"")?;
        }
        let long = 20_000 + (rng.exponential() * 60_000.0) as u64;
        under_way.push(Reverse((t + long, io)));
    }
    while !under_way.is_empty() {
        t = complete(&mut under_way, &mut files, &mut rng, t)?;
    }
    for file in &mut files {
        file.out.flush()?;
    }
    Ok(())
}

/// Completes the I/O that ends first, and returns the time after it.
fn complete(
    under_way: &mut BinaryHeap<Reverse<(u64, Made)>>,
    files: &mut [Cpu],
    rng: &mut Rng,
    t: u64,
) -> std::io::Result<u64> {
    let Some(Reverse((end, io))) = under_way.pop() else { return Ok(t) };
    let t = t.max(end) + 1;
    let cpu = rng.below(files.len());
    files[cpu].write(t, 8, &io, b"")?;
    Ok(t)
}

fn msr(out: &str, ios: u64) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(out)?);
    let mut rng = Rng::new(2);
    let mut t = 128_166_372_003_061_629_u64;
    for _ in 0..ios {
        t += (rng.exponential() * 300.0) as u64;
        let io = made(&mut rng, Blocks::Spread);
        let kind = if io.write { "Write" } else { "Read" };
        let response = 200 + (rng.exponential() * 9_000.0) as u64;
        let offset = io.sector * 512;
        writeln!(out, "{t},hm,{},{kind},{offset},{},{response}", io.program, io.bytes)?;
    }
    out.flush()?;
    Ok(())
}
