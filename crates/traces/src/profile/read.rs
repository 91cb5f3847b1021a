//! Reader of profiles in any supported format, which it recognizes by the content.

use std::borrow::Cow;
use std::fmt::Display;

use crate::profile::model::Builder;
use crate::profile::{Profile, callgrind, folded, perf_script, pprof};
use crate::trace_file::TraceFileError;
use crate::trace_file::VERSION;

/// Reason why a file could not be read as a profile.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The content matches no supported format.
    #[error(
        "{0} holds no profile that is known: perf script's text, folded stacks (also \
         async-profiler's collapsed form), pprof, callgrind's files and assay's own JSON are read"
    )]
    Unknown(String),
    /// The format is recognized, but the content is malformed or too large.
    #[error("{file}: {why}")]
    Damaged {
        /// Name of the file.
        file: String,
        /// Description of the defect.
        why: String,
    },
}

/// Returns bytes as text. A byte that is not UTF-8 becomes the character of its number, so that
/// names stay distinct.
pub(crate) fn text(bytes: &[u8]) -> Cow<'_, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    let latin = |b: &u8| char::from(*b);
    let chunks = bytes.utf8_chunks();
    chunks.flat_map(|c| c.valid().chars().chain(c.invalid().iter().map(latin))).collect()
}

/// Reads a profile as assay keeps it.
pub(crate) fn read_json(bytes: &[u8]) -> Result<Profile, TraceFileError> {
    let profile: Profile = serde_json::from_slice(bytes)?;
    if profile.version > VERSION {
        return Err(TraceFileError::Newer(profile.version));
    }
    Ok(profile)
}

/// Reads a profile in any supported format; `name` is for messages.
///
/// # Errors
/// The format is unknown, or the file is damaged or too large.
pub fn read(bytes: &[u8], name: &str) -> Result<Profile, ReadError> {
    let damaged =
        |why: &dyn Display| ReadError::Damaged { file: name.to_owned(), why: why.to_string() };
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
    if bytes.get(start) == Some(&b'{') {
        return read_json(bytes).map_err(|e| damaged(&e));
    }
    let packed = bytes.starts_with(&[0x1f, 0x8b]);
    if packed || pprof::is(bytes) && std::str::from_utf8(bytes).is_err() {
        return pprof::read(bytes).map_err(|e| damaged(&e));
    }
    let text = &*text(bytes);
    let mut builder = Builder::limited();
    let mut profile = Profile { unit: "samples".into(), ..Profile::default() };
    if !folded::is_own(text) && perf_script::is(text) {
        let read = perf_script::read(text, &mut builder);
        profile.method = "perf script".into();
        let event = read.event.unwrap_or_default();
        let clock = event.starts_with("cpu-clock") || event.starts_with("task-clock");
        profile.unit = if clock { "ns" } else { "events" }.into();
        note(&mut profile, read.taken, read.left, "lines of frames");
        if read.others > 0 {
            let others = read.others;
            profile.notes.push(format!("{others} samples are not of {event} and were left out"));
        }
    } else if callgrind::is(text) {
        let read = callgrind::read(text, &mut builder);
        if read.taken == 0 {
            return Err(damaged(&"it has no function that cost anything"));
        }
        profile.method = "Valgrind (callgrind), no stacks".into();
        profile.unit = if read.event == "Ir" { "instructions".to_owned() } else { read.event };
        note(&mut profile, read.taken, read.left, "lines");
    } else {
        let (taken, left) = folded::read(text, &mut profile, &mut builder);
        // Plain text, too, has a number at the end of a line now and then.
        if !folded::is_own(text) && (taken == 0 || left > taken) {
            // A short pprof may happen to be valid text.
            return pprof::read(bytes).map_err(|why| {
                if pprof::is(bytes) { damaged(&why) } else { ReadError::Unknown(name.to_owned()) }
            });
        }
        profile.method = "folded stacks".into();
        note(&mut profile, taken, left, "lines");
    }
    builder.check().map_err(|e| damaged(&e))?;
    builder.finish(&mut profile);
    Ok(profile)
}

fn note(profile: &mut Profile, taken: u64, left: u64, what: &str) {
    if left > 0 {
        profile
            .notes
            .push(format!("{left} {what} could not be read, {taken} samples or stacks were"));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::{FrameKind, ProfileSide, ThreadState, folded, pprof};

    const PERF: &str = "\
prog  4242 [001]   123.456789:   10101010 cpu-clock:uhH: 
\t    55d0c0de1149 hot+0x10 (/tmp/prog)
\t    55d0c0de1200 main+0x20 (/tmp/prog)

my thread 4242/4243 [000]   123.466789:   10101010 cpu-clock:
\tffffffff810a0000 do_syscall_64+0x5b ([kernel.kallsyms])
\t    7f0000001000 [unknown] (/usr/lib/libc.so.6)
";

    #[test]
    fn perf_script_text() {
        let p = read(PERF.as_bytes(), "x").unwrap();
        assert_eq!((p.method.as_str(), p.unit.as_str()), ("perf script", "ns"));
        assert_eq!(p.total_ns(ProfileSide::OnCpu), 20_202_020);
        let s = p.stacks.iter().find(|s| s.thread == "my thread").unwrap();
        let frames: Vec<_> = p.frames_of(s).map(crate::profile::Frame::label).collect();
        assert_eq!(frames, ["[unknown] (libc.so.6)", "do_syscall_64"]);
        assert_eq!(p.frames_of(s).last().unwrap().kind, FrameKind::Kernel);
    }

    #[test]
    fn samples_of_two_events_are_not_added() {
        for (second, samples, notes) in [
            ("cpu-clock:u", 2, 0),
            ("cpu-clock:pp", 2, 0),
            ("cpu/cpu-clock/", 2, 0),
            ("cycles", 1, 1),
            ("cycles:u", 1, 1),
            ("sched:sched_switch", 1, 1),
        ] {
            let text = PERF.replace("10101010 cpu-clock:\n", &format!("10101010 {second}: \n"));
            let p = read(text.as_bytes(), "x").unwrap();
            assert_eq!((p.stacks.len(), p.notes.len()), (samples, notes), "{second}: {p:?}");
        }
        for event in ["cpu-clock/freq=99/", "task-clock/period=1000/u"] {
            let text = PERF.replace("cpu-clock:uhH:", "cpu-clock:").replace("cpu-clock", event);
            let p = read(text.as_bytes(), "x").unwrap();
            assert_eq!((p.unit.as_str(), p.notes.len()), ("ns", 0), "{event}: {p:?}");
        }
    }

    /// Names that have a meaning in a format, or that once broke one.
    const NAMES: [&str; 28] = [
        "main",
        "a;b",
        " lead",
        "trail ",
        "foo 12",
        "12",
        "x (deleted)",
        "[lock]",
        "[I/O]",
        "[unknown] (x)",
        "[unknown]",
        "f_[k]",
        "g_[i]",
        "h_[j]",
        "_[k]",
        "#1",
        "a\\x3bb",
        "\\x5cx3b",
        "\\",
        "a\nb",
        "\tq\r",
        "café",
        "a`b",
        "[main tid=7]",
        "operator()(int) (/x)",
        "std::fn<void (int)>",
        "# assay folded stacks; ",
        "\u{fffd}",
    ];

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            proptest::sample::select(&NAMES[..]).prop_map(str::to_owned),
            "[ -~]{1,12}",
            any::<String>(),
        ]
    }

    fn frame() -> impl Strategy<Value = crate::profile::Frame> {
        let kind =
            proptest::sample::select(vec![FrameKind::User, FrameKind::Kernel, FrameKind::Inlined]);
        let module = proptest::sample::select(vec![
            "",
            "/l/libc.so.6",
            "/tmp/a b (deleted)",
            "kernel",
            "/m)(;1 2",
        ]);
        (proptest::option::of(name()), module, kind).prop_map(|(name, module, kind)| {
            crate::profile::Frame { name, module: module.to_owned(), kind }
        })
    }

    fn profile() -> impl Strategy<Value = Profile> {
        let state = proptest::sample::select(&ThreadState::ALL[..]);
        let stack = (name(), state, proptest::collection::vec(frame(), 0..5), 0u64..1000);
        let unit = proptest::sample::select(vec!["ns", "samples", "events", "alloc; space"]);
        (proptest::collection::vec(stack, 1..6), unit, 1u64..5000).prop_map(
            |(stacks, unit, rate)| {
                let mut p = Profile { unit: unit.into(), ..Profile::default() };
                p.rate_hz = (unit == "ns").then_some(rate as f64);
                let mut builder = Builder::default();
                for (thread, state, frames, count) in stacks {
                    let frames = frames.iter().map(|f| builder.frame(f)).collect();
                    let value = if unit == "ns" { count * 1_000_000_000 / rate } else { count };
                    builder.add(&thread, state, frames, count, value);
                }
                builder.finish(&mut p);
                p
            },
        )
    }

    type Resolved =
        std::collections::HashMap<(String, ThreadState, Vec<crate::profile::Frame>), (u64, u64)>;

    /// Returns the stacks with their frames after `form` changed them; stacks that are then equal
    /// are added up.
    fn resolved(
        p: &Profile,
        form: impl Fn(&mut crate::profile::Frame),
        of: impl Fn(&crate::profile::Stack) -> (u64, u64),
    ) -> Resolved {
        let mut out = Resolved::new();
        for s in &p.stacks {
            let mut frames: Vec<_> = p.frames_of(s).cloned().collect();
            frames.iter_mut().for_each(&form);
            let (count, value) = of(s);
            if (count, value) != (0, 0) {
                let sum = out.entry((s.thread.clone(), s.state, frames)).or_default();
                *sum = (sum.0 + count, sum.1 + value);
            }
        }
        out
    }

    #[test]
    fn every_format_that_is_written_is_read_back() {
        let p = read(b"main;f;g_[k] 70\nmain;[I/O];h 30\n", "x").unwrap();
        assert_eq!((p.count(ProfileSide::OnCpu), p.count(ProfileSide::OffCpu)), (70, 30));
        assert_eq!(p.stacks[1].state, ThreadState::Io);
        let text = folded(&p, ProfileSide::OnCpu) + &folded(&p, ProfileSide::OffCpu);
        assert_eq!(read(text.as_bytes(), "x").unwrap().stacks, p.stacks);
        let back = read(&pprof(&p), "x").unwrap();
        assert_eq!(back.stacks, p.stacks);
        assert_eq!(back.frames, p.frames);
        let json = serde_json::to_vec(&p).unwrap();
        assert_eq!(read(&json, "x").unwrap(), p);
    }

    #[test]
    fn names_that_are_not_utf_8_stay_apart() {
        let perf = PERF.replace("hot", "é").replace("main", "ü").replace("my thread", "é");
        let texts = [
            "é;é;ü 3\n".as_bytes(),
            perf.as_bytes(),
            &pprof::plain(&read("é;ü 4\n".as_bytes(), "x").unwrap()),
        ];
        for text in texts {
            let mut bytes = text.to_vec();
            for at in 1..bytes.len() {
                match bytes[at - 1..=at] {
                    [0xc3, 0xa9] => bytes[at] = b'A',
                    [0xc3, 0xbc] => bytes[at] = b'B',
                    _ => {}
                }
            }
            let p = read(&bytes, "x").unwrap();
            let has = |name: &str| p.frames.iter().any(|f| f.label() == name);
            assert!(has("\u{c3}A") && has("\u{c3}B"), "{:?}", p.frames);
            assert_eq!(read(&pprof(&p), "x").unwrap().frames, p.frames);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn folded_stacks_are_read_as_they_were_written(p in profile()) {
            let text = folded(&p, ProfileSide::OnCpu) + &folded(&p, ProfileSide::OffCpu);
            let back = read(text.as_bytes(), "x").unwrap();
            prop_assert_eq!(&back.unit, &p.unit);
            prop_assert_eq!(back.rate_hz, p.rate_hz);
            // The text has only names, one value per stack, and for unknown functions the file
            // without its directory.
            let form = |f: &mut crate::profile::Frame| {
                let module = f.module_name().to_owned();
                f.module = if f.name.is_some() { String::new() } else { module };
            };
            let unit = if p.unit == "ns" { 1000 } else { 1 };
            let on_cpu = |s: &crate::profile::Stack| {
                if s.state == ThreadState::OnCpu { s.count } else { 0 }
            };
            let rounded = |ns: u64| (ns + unit / 2) / unit * unit;
            let written = resolved(&p, form, |s| (on_cpu(s), rounded(s.ns)));
            let again = resolved(&back, |_| (), |s| (on_cpu(s), s.ns));
            prop_assert_eq!(written, again);
            let lines = |p: &Profile| folded(p, ProfileSide::OnCpu).lines().count();
            prop_assert_eq!(lines(&back), lines(&p));
        }

        #[test]
        fn pprof_is_read_as_it_was_written(p in profile()) {
            let back = read(&pprof(&p), "x").unwrap();
            prop_assert_eq!((&back.unit, back.rate_hz, back.off_cpu),
            (&p.unit, p.rate_hz, p.off_cpu));
            // A function whose name equals the label of an unnamed one comes back unnamed.
            let form = |f: &mut crate::profile::Frame| {
                let unnamed = crate::profile::Frame { name: None, ..f.clone() };
                let label = f.label();
                if label.is_empty() || label == "[unknown]" || label == unnamed.label() {
                    f.name = None;
                }
            };
            let of = |s: &crate::profile::Stack| (s.count, s.ns);
            prop_assert_eq!(resolved(&p, form, of), resolved(&back, |_| (), of));
        }

        #[test]
        fn assays_own_json_is_read_as_it_was_written(p in profile()) {
            prop_assert_eq!(read(&serde_json::to_vec(&p).unwrap(), "x").unwrap(), p);
        }

        #[test]
        fn perf_script_is_read_as_perf_writes_it(
            thread in proptest::sample::select(vec!["prog",
                "my thread", "CPU 0/KVM", "a: 5", "worker 1", "#1", "x 12/34", "é;"]),
            symbols in proptest::collection::vec((
                proptest::sample::select(vec![
                    "main", "a;b", "foo 12", "operator()(int) const",
                    "std::fn<void (int)>", "f(a (*)[2])"]),
                proptest::sample::select(vec![
                    "/tmp/prog", "/tmp/prog (deleted)", "/tmp/a (b)/c d",
                "/tmp/a(b", "/tmp/a)b", "/memfd:x (deleted)",
                "[vdso]", "bpf_prog_1_x", "//anon"]),
            ), 1..4),
            timed: bool,
        ) {
            let time = if timed { "[001]   123.456789: " } else { ": " };
            // Without a time, only the first number can be the thread's.
            let thread = if timed { thread } else { "prog" };
            let header = format!("{thread}  4242/4243 {time}  10101010 cpu-clock:uhH: \n");
            let lines = symbols.iter().map(|(s, m)| format!("\t    55d0c0de1149 {s}+0x10 ({m})\n"));
            let text = header + &lines.collect::<String>();
            let p = read(text.as_bytes(), "x").unwrap();
            prop_assert_eq!((p.unit.as_str(), p.stacks.len(), p.stacks[0].ns),
            ("ns", 1, 10_101_010));
            prop_assert_eq!(p.stacks[0].thread.as_str(), thread);
            let found: Vec<(&str, &str)> = p.frames_of(&p.stacks[0])
                .map(|f| (f.name.as_deref().unwrap(), f.module.as_str()))
                .collect();
            let expected: Vec<(&str, &str)> = symbols.iter().rev().copied().collect();
            prop_assert_eq!(found, expected);
        }
    }

    /// Returns a pprof with one sample type and these further fields.
    fn with(fields: &[u8]) -> Vec<u8> {
        let head = [b"\x0a\x04\x08\x01\x10\x01\x32\x00\x32\x01n", fields].concat();
        assert!(read(&head[..11], "x").is_ok());
        head
    }

    #[test]
    fn a_file_that_would_take_much_more_than_its_size_is_refused() {
        use std::io::Write as _;
        let refused = |bytes: &[u8], says: &str| {
            let error = read(bytes, "x").unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        };
        // Samples of two bytes each, compressed 200 to 1.
        let samples = b"\x12\x00".repeat(1_000_000);
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&with(&samples)).unwrap();
        refused(&packed.finish().unwrap(), "at most 100 times its size");
        refused(&with(&b"\x32\x00".repeat(4_000_001)), "more than 4000000 samples, locations");
        // A sample that holds one location of 1,000 functions 250,000 times.
        let location = [&b"\x22\xd2\x0f\x08\x01"[..], &b"\x22\x00".repeat(1000)].concat();
        let stack = [&b"\x12\x94\xa1\x0f\x0a\x90\xa1\x0f"[..], &b"\x01".repeat(250_000)].concat();
        refused(&with(&[location, stack].concat()), "200000000 frames");
        // A name of 8 MiB that becomes another function with each mapping.
        let name = [&b"\x32\x80\x80\x80\x04"[..], &b"f".repeat(8 << 20)].concat();
        let mut all = [&name, &b"\x2a\x04\x08\x01\x10\x02"[..]].concat();
        for n in 1..=17u8 {
            all.extend([0x32, 1, b'a' + n, 0x1a, 4, 8, n, 0x28, n + 2]);
            all.extend([0x22, 8, 8, n, 0x10, n, 0x22, 2, 8, 1]);
        }
        refused(&with(&all), "more than 256 MiB");
    }

    #[test]
    fn what_is_no_profile_is_refused() {
        for bytes in
            [&b""[..], b"hello", b"\x7fELF\x02\x01", b"{}", b"{\"version\": 99}", b"a b c\nd e f\n"]
        {
            assert!(read(bytes, "x").is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&bytes, "x");
        }

        #[test]
        fn damaged_files_do_not_panic(at in 0usize..400, value in any::<u8>(), cut in 0usize..400) {
            let p = read(PERF.as_bytes(), "x").unwrap();
            let callgrind = b"# callgrind format\nevents: Ir\nob=(1) a\nfn=(1) f\n1 5\ncalls=1 2\n\
                * 7\n";
            for good in [callgrind.to_vec(), PERF.as_bytes().to_vec(), pprof(&p),
                pprof::plain(&p), serde_json::to_vec(&p).unwrap()] {
                let mut bad = good.clone();
                let at = at % bad.len();
                bad[at] = value;
                let _ = read(&bad, "x");
                bad.truncate(cut % good.len());
                let _ = read(&bad, "x");
            }
        }
    }
}
