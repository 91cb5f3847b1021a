//! Profiles of other programs: what a file holds is found by what it looks like.

use crate::model::Builder;
use crate::{Profile, VERSION, callgrind, folded, perf_script, pprof};

/// Why a file is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Nothing in it is known.
    #[error(
        "{0} holds no profile that is known: perf script's text, folded stacks (also async-profiler's \
         collapsed form), pprof, callgrind's files and assay's own JSON are read"
    )]
    Unknown(String),
    /// It is damaged.
    #[error("{file}: {why}")]
    Damaged {
        /// Its name.
        file: String,
        /// What is wrong.
        why: String,
    },
}

/// Reads a profile; `name` is for messages.
///
/// # Errors
/// It is none that is known, or damaged.
pub fn read(bytes: &[u8], name: &str) -> Result<Profile, ReadError> {
    let damaged = |why: String| ReadError::Damaged { file: name.to_owned(), why };
    let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(bytes.len());
    if bytes.get(start) == Some(&b'{') {
        let profile: Profile = serde_json::from_slice(bytes).map_err(|e| damaged(e.to_string()))?;
        if profile.version > VERSION {
            return Err(damaged(format!(
                "it has version {} and this assay reads up to {VERSION}; a newer assay reads it",
                profile.version
            )));
        }
        return Ok(profile);
    }
    if bytes.starts_with(&[0x1f, 0x8b]) || std::str::from_utf8(bytes).is_err() {
        return match pprof::read(bytes) {
            Ok(profile) => Ok(profile),
            Err(_) if !bytes.starts_with(&[0x1f, 0x8b]) && !pprof::is(bytes) => {
                Err(ReadError::Unknown(name.to_owned()))
            }
            Err(why) => Err(damaged(why)),
        };
    }
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let mut builder = Builder::default();
    let mut profile = Profile { unit: "samples".into(), ..Profile::default() };
    if perf_script::is(text) {
        let (taken, left, clock) = perf_script::read(text, &mut builder);
        profile.method = "perf script".into();
        profile.unit = if clock { "ns" } else { "events" }.into();
        note(&mut profile, taken, left, "lines of frames");
    } else if callgrind::is(text) {
        let read = callgrind::read(text, &mut builder);
        if read.taken == 0 {
            return Err(damaged("it has no function that cost anything".to_owned()));
        }
        profile.method = "Valgrind (callgrind), no stacks".into();
        profile.unit = if read.event == "Ir" { "instructions".to_owned() } else { read.event };
        note(&mut profile, read.taken, read.left, "lines");
    } else {
        let (taken, left) = folded::read(text, &mut builder);
        // A plain text has a number at the end of a line now and then.
        if taken == 0 || left > taken {
            // A pprof of few bytes may be text by chance.
            return pprof::read(bytes).map_err(|_| ReadError::Unknown(name.to_owned()));
        }
        profile.method = "folded stacks".into();
        note(&mut profile, taken, left, "lines");
    }
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
    use crate::{Kind, Side, State, folded, pprof};

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
        assert_eq!(p.total_ns(Side::OnCpu), 20_202_020);
        let s = p.stacks.iter().find(|s| s.thread == "my thread").unwrap();
        let frames: Vec<_> = p.frames_of(s).map(crate::Frame::label).collect();
        assert_eq!(frames, ["[unknown] (libc.so.6)", "do_syscall_64"]);
        assert_eq!(p.frames_of(s).last().unwrap().kind, Kind::Kernel);
    }

    #[test]
    fn every_format_that_is_written_is_read_back() {
        let p = read(b"main;f;g_[k] 70\nmain;[I/O];h 30\n", "x").unwrap();
        assert_eq!((p.count(Side::OnCpu), p.count(Side::OffCpu)), (70, 30));
        assert_eq!(p.stacks[1].state, State::Io);
        let text = folded(&p, Side::OnCpu) + &folded(&p, Side::OffCpu);
        assert_eq!(read(text.as_bytes(), "x").unwrap().stacks, p.stacks);
        let back = read(&pprof(&p), "x").unwrap();
        assert_eq!(back.stacks, p.stacks);
        assert_eq!(back.frames, p.frames);
        let json = serde_json::to_vec(&p).unwrap();
        assert_eq!(read(&json, "x").unwrap(), p);
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
            let callgrind = b"# callgrind format\nevents: Ir\nob=(1) a\nfn=(1) f\n1 5\ncalls=1 2\n* 7\n";
            for good in [callgrind.to_vec(), PERF.as_bytes().to_vec(), pprof(&p), pprof::plain(&p), serde_json::to_vec(&p).unwrap()] {
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
