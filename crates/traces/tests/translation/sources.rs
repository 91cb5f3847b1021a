//! Reads traces that are valid, cut, foreign and invalid; and real ones of Valgrind, compared with
//! cachegrind, whose caches with lines of 4 KiB behave like TLBs.

use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_traces::translation::source::{self, AccessStream, Interleaved, Writer};
use assay_traces::translation::{Access, AccessKind, Error, Record, SimulatedMachine, Simulator};

fn read(bytes: &[u8]) -> Result<Vec<u64>, Error> {
    let mut source = source::from_reader(Box::new(Cursor::new(bytes.to_vec())), "trace".into())?;
    all(source.as_mut())
}

fn all(source: &mut dyn AccessStream) -> Result<Vec<u64>, Error> {
    let (mut batch, mut records) = (Vec::new(), Vec::new());
    loop {
        source.next(&mut batch)?;
        if batch.is_empty() {
            return Ok(records);
        }
        records.extend_from_slice(&batch);
    }
}

fn written(records: &[u64]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.write(records).unwrap();
    writer.finish().unwrap()
}

#[test]
fn the_own_format_reads_back_and_tells_where_it_was_cut() {
    // Includes sizes around that of a batch, where a record or the end may fall on either side.
    let batch = source::BATCH as u64;
    for n in [0, 1, 1000, batch - 1, batch, batch + 1, 3 * batch] {
        let records: Vec<u64> = (0..n).map(|i| Record::Load.with(i * 64)).collect();
        let bytes = written(&records);
        assert_eq!(read(&bytes).unwrap(), records);
        let mut long = bytes.clone();
        long.extend([0; 8]);
        assert!(read(&long).is_err());
    }
    let bytes = written(&[Record::Load.with(1), Record::Fetch.with(2), Record::Process.with(3)]);
    for length in 1..bytes.len() {
        let error = read(&bytes[..length]).unwrap_err();
        assert!(matches!(error, Error::Truncated { .. }), "{length}: {error}");
    }
    let mut version = bytes.clone();
    version[8] = 9;
    assert!(read(&version).unwrap_err().to_string().contains("version 9; version 1 is read"));
    let mut foreign = bytes;
    foreign[23] = 0xff;
    assert!(read(&foreign).unwrap_err().to_string().contains("record 0"));
}

#[test]
fn text_is_read_and_foreign_text_is_refused() {
    let lackey = b"==1== Lackey\nI  0400,4\n L ff8,16\n M 10,4\n==1== \n";
    let expected = [
        Record::Fetch.with(0x400),
        Record::Load.with(0xff8),
        Record::DataContinued.with(0x1007),
        Record::Modify.with(0x10),
    ];
    assert_eq!(read(lackey).unwrap(), expected);
    let simple = b"Format: <data address>: <data size>, <(r)ead/(w)rite/opcode>\n\
                   0x0000000000000400:  4, mov\n0x0000000000000010:  8, w\n";
    assert_eq!(read(simple).unwrap(), [Record::Fetch.with(0x400), Record::Store.with(0x10)]);
    let x86 = b"Format: <instr address>,<(r)ead/(w)rite>,<data size>,<data address>\n\
                0x400,r,8,0x10\n";
    assert_eq!(read(x86).unwrap(), [Record::Load.with(0x10)]);

    let says = |bytes: &[u8], what: &str| {
        let error = read(bytes).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    };
    says(b"", "is empty");
    says(b"once upon a time\n", "unknown format");
    says(b"\x7fELF\x02\x01\x01", "unknown format");
    says(b"I  0400,4\nhello\n", "line 2");
    says(b"I  0400,4\n L 0200000000000000,8\n", "2^57");
    says(b"I  0400,4\n L ffffffff81000000,8\n", "2^57");
    says(b"I  0400,4\n L 40", "truncated");
    says(&[b"I  0400,4\n".as_slice(), &[b'x'; 9000]].concat(), "longer than");
    says(b"I  0400,9999\n", "9999 bytes");
    assert!(source::open(Path::new("/nonexistent")).is_err());
    assert!(source::open(Path::new("/")).is_err());
}

#[test]
fn nothing_that_is_thrown_at_it_panics() {
    let seeds: [&[u8]; 3] = [
        &written(&[Record::Load.with(1); 40]),
        b"==1== Lackey\nI  0400,4\n L ff8,16\n M 10,4\n==1== \n",
        b"Format: <data address>: <data size>, <(r)ead/(w)rite/opcode>\n0x10:  8, w\n",
    ];
    let mut random = 1u64;
    for round in 0..20_000 {
        let mut bytes = seeds[round % 3].to_vec();
        for _ in 0..=(round % 5) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let at = (random >> 20) as usize % bytes.len();
            bytes[at] = random as u8;
        }
        let _ = read(&bytes);
    }
}

#[test]
fn traces_take_turns_as_processes() {
    let trace = |kind: Record, n: u64| -> Box<dyn AccessStream> {
        let records: Vec<u64> = (0..n).map(|i| kind.with(i)).collect();
        source::from_reader(Box::new(Cursor::new(written(&records))), PathBuf::from("t")).unwrap()
    };
    let mut both = Interleaved::new(vec![trace(Record::Load, 5), trace(Record::Store, 3)], 2);
    let (a, b) = (Record::Process.with(0), Record::Process.with(1 << 40));
    let (l, s) = (|i| Record::Load.with(i), |i| Record::Store.with(i));
    let expected = [a, l(0), l(1), b, s(0), s(1), a, l(2), l(3), b, s(2), a, l(4)];
    assert_eq!(all(&mut both).unwrap(), expected);
}

const TWO_LEVELS: &str = r#"
name = "as cachegrind's"
clock_hz = 1e9
pages = { instruction = "4 KiB", data = "4 KiB" }
cycles = { access = 1, second_level = 7, tlb_miss = 30 }
tlb = [
  { level = 1, holds = "instruction", pages = ["4 KiB"], entries = 8, ways = 4 },
  { level = 1, holds = "data", pages = ["4 KiB"], entries = 8, ways = 4 },
  { level = 2, holds = "both", pages = ["4 KiB"], entries = 32, ways = 4 },
]
"#;

/// Runs Valgrind with its log in the file `log`. Prints the reason and returns `None` if it fails.
fn valgrind(args: &[&str], log: &Path) -> Option<String> {
    let log = format!("--log-file={}", log.display());
    let ran = Command::new("valgrind").args(args).arg(log).arg("/bin/true").env_clear().output();
    match ran {
        Ok(out) if out.status.success() => Some(String::new()),
        Ok(out) => {
            eprintln!("skipped: because valgrind printed {}", String::from_utf8_lossy(&out.stderr));
            None
        }
        Err(e) => {
            eprintln!("skipped: because valgrind could not be started: {e}");
            None
        }
    }
}

#[test]
fn it_counts_as_cachegrind_does_on_a_real_program() {
    let dir = tempfile::tempdir().unwrap();
    let trace = dir.path().join("lackey");
    let log = dir.path().join("cachegrind");
    // The program sees the same address space under both tools, except for a few bytes of its
    // environment.
    if valgrind(&["--tool=lackey", "--trace-mem=yes"], &trace).is_none() {
        return;
    }
    let out = format!("--cachegrind-out-file={}", dir.path().join("out").display());
    let tool = ["--tool=cachegrind", "--cache-sim=yes", "--I1=32768,4,4096", "--D1=32768,4,4096"];
    let args = [tool.as_slice(), &["--LL=131072,4,4096", &out]].concat();
    if valgrind(&args, &log).is_none() {
        return;
    }
    let text = std::fs::read_to_string(&log).unwrap();
    let count = |name: &str| -> f64 {
        let line =
            text.lines().find(|l| l.contains(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        let number = line.split(':').nth(1).unwrap().split('(').next().unwrap();
        number.trim().replace(',', "").parse().unwrap()
    };
    let machine = SimulatedMachine::parse(TWO_LEVELS, Path::new("two levels")).unwrap();
    let mut simulator = Simulator::new(&machine).unwrap();
    let mut source = source::open(&trace).unwrap();
    simulator.run(&all(source.as_mut()).unwrap()).unwrap();
    let counts = simulator.counts();
    let (i, d) = (&counts.instruction, &counts.data);
    // The counts may differ slightly: the kernel starts the program at a place that depends on a
    // few bytes of its environment, which differ between the tools, and cachegrind counts an access
    // over two pages once.
    for (what, ours, theirs) in [
        ("I   refs", i.accesses, count("I   refs")),
        ("D   refs", d.accesses, count("D   refs")),
        ("I1  misses", i.pages[0].first_misses, count("I1  misses")),
        ("D1  misses", d.pages[0].first_misses, count("D1  misses")),
        ("LL misses", i.pages[0].tlb_misses + d.pages[0].tlb_misses, count("LL misses")),
    ] {
        let off = (ours as f64 - theirs).abs() / theirs;
        assert!(off <= 0.01, "{what}: {ours} here, {theirs} in cachegrind");
    }
    assert!(i.accesses > 50_000 && d.pages[0].tlb_misses > 10);
}

#[test]
fn kinds_of_a_trace_keep_their_names() {
    let mut out = Vec::new();
    for kind in [AccessKind::Load, AccessKind::Store, AccessKind::Modify, AccessKind::Fetch] {
        Access { kind, address: 64, size: 8 }.pack(&mut out).unwrap();
    }
    let mut simulator = Simulator::new(&SimulatedMachine::preset("x86-64").unwrap()).unwrap();
    simulator.run(&out).unwrap();
    let counts = simulator.counts();
    assert_eq!((counts.instruction.accesses, counts.data.accesses), (1, 3));
    // Page 0 missed once on each side, but the second level is shared.
    assert_eq!(counts.data.pages[0].tlb_misses, 1);
    assert_eq!(counts.instruction.pages[0].tlb_misses, 0);
}
