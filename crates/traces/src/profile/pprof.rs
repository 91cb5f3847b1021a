//! Reader and writer of pprof's protocol buffer (github.com/google/pprof, profile.proto), coded by
//! hand: the format is a few message types of whole numbers, strings and messages.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

use crate::profile::interner::Interner;
use crate::profile::model::{Builder, TooLarge};
use crate::profile::{Frame, FrameKind, Profile, ThreadState};

/// Limits that keep a small file from taking much memory or time: unpacked bytes, in total and as a
/// multiple of the file's size (beyond the first MiB); number of samples, locations, functions and
/// strings; frames of all samples plus bytes of all names.
const MAX_BYTES: u64 = 256 << 20;
const MAX_RATIO: u64 = 100;
const MAX_PARTS: usize = 4_000_000;
const MAX_WORK: usize = 200_000_000;

#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn packed(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let mut inner = Message::default();
        values.for_each(|v| inner.varint(v));
        self.bytes(field, &inner.0);
    }
}

/// Returns the profile as a gzip-compressed pprof. It holds both sides; thread and state are
/// labels.
pub fn pprof(profile: &Profile) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory does not fail.
    let _ = packed.write_all(&plain(profile));
    packed.finish().unwrap_or_default()
}

/// Returns the profile as an uncompressed pprof.
pub(crate) fn plain(profile: &Profile) -> Vec<u8> {
    let mut out = Message::default();
    let mut strings = Interner::<String>::default();
    let mut text = |text: &str| u64::from(strings.number(text));
    text("");
    let count = if profile.off_cpu { "events" } else { "samples" };
    let timed = profile.unit == "ns";
    let kinds: &[(&str, &str)] = if timed {
        &[(count, "count"), ("time", "nanoseconds")]
    } else {
        &[
            ("samples", "count"),
            (if profile.unit == "samples" { "value" } else { &profile.unit }, "count"),
        ]
    };
    for (kind, unit) in kinds {
        let mut m = Message::default();
        m.number(1, text(kind));
        m.number(2, text(unit));
        out.bytes(1, &m.0);
    }
    for s in &profile.stacks {
        let mut m = Message::default();
        // pprof lists frames innermost first.
        let frames = s.frames.iter().rev().filter(|f| (**f as usize) < profile.frames.len());
        m.packed(1, frames.map(|f| u64::from(*f) + 1));
        m.packed(2, [s.count, s.ns].into_iter());
        for (key, value) in [("thread", s.thread.as_str()), ("state", s.state.words())] {
            let mut label = Message::default();
            label.number(1, text(key));
            label.number(2, text(value));
            m.bytes(3, &label.0);
        }
        out.bytes(2, &m.0);
    }
    let mut modules = Interner::<String>::default();
    for (at, f) in profile.frames.iter().enumerate() {
        let module = modules.number(f.module.as_str());
        let id = at as u64 + 1;
        let mut location = Message::default();
        location.number(1, id);
        location.number(2, u64::from(module) + 1);
        let mut line = Message::default();
        line.number(1, id);
        location.bytes(4, &line.0);
        out.bytes(4, &location.0);
        let mut function = Message::default();
        function.number(1, id);
        function.number(2, text(&f.label()));
        let kind = match f.kind {
            FrameKind::User => "",
            FrameKind::Kernel => "[kernel]",
            FrameKind::Inlined => "[inlined]",
        };
        function.number(3, text(kind));
        out.bytes(5, &function.0);
    }
    for (at, module) in modules.all.iter().enumerate() {
        let mut m = Message::default();
        m.number(1, at as u64 + 1);
        m.number(5, text(module));
        m.number(7, 1);
        out.bytes(3, &m.0);
    }
    if let Some(ns) = profile.span_ns {
        out.number(10, ns);
    }
    if let Some(rate) = profile.rate_hz.filter(|r| *r > 0.0) {
        let mut m = Message::default();
        m.number(1, text("cpu"));
        m.number(2, text("nanoseconds"));
        out.bytes(11, &m.0);
        out.number(12, period_ns(rate));
    }
    let method = text(&profile.method);
    out.number(13, method);
    for text in &strings.all {
        out.bytes(6, text.as_bytes());
    }
    out.0
}

/// Returns the nanoseconds between samples, rounded.
fn period_ns(rate_hz: f64) -> u64 {
    (1e9 / rate_hz).round() as u64
}

/// Returns the samples per second: the whole number whose rounded inverse is the period, if there
/// is one.
fn rate_hz(period_ns: u64) -> f64 {
    let rate = 1e9 / period_ns as f64;
    if self::period_ns(rate.round()) == period_ns { rate.round() } else { rate }
}

/// Value of a field of a message.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for at in 0..10 {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f).checked_shl(7 * at).unwrap_or(0);
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Calls `each` with every field; returns `None` if the message is damaged.
fn fields<'a>(
    mut bytes: &'a [u8],
    mut each: impl FnMut(u64, Value<'a>) -> Option<()>,
) -> Option<()> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)?),
            1 => Value::Bytes(take(&mut bytes, 8)?),
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                Value::Bytes(take(&mut bytes, length)?)
            }
            5 => Value::Bytes(take(&mut bytes, 4)?),
            _ => return None,
        };
        each(key >> 3, value)?;
    }
    Some(())
}

fn take<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(first)
}

fn numbers(value: &Value<'_>, to: &mut Vec<u64>) -> Option<()> {
    match value {
        Value::Number(n) => to.push(*n),
        Value::Bytes(bytes) => {
            let mut bytes = *bytes;
            while !bytes.is_empty() {
                to.push(varint(&mut bytes).filter(|_| to.len() < MAX_PARTS)?);
            }
        }
    }
    Some(())
}

/// Returns true if bytes begin like a pprof: with a sample type.
pub(crate) fn is(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x0a) && fields(bytes, |_, _| Some(())).is_some()
}

#[derive(Default)]
struct RawProfile<'a> {
    types: Vec<(u64, u64)>,
    modules: HashMap<u64, u64>,
    /// Module and functions of each location by id, functions innermost first.
    locations: HashMap<u64, (u64, Vec<u64>)>,
    functions: HashMap<u64, (u64, u64)>,
    strings: Vec<&'a [u8]>,
    span_ns: u64,
    period: u64,
}

/// Reason why a pprof file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PprofError {
    #[error("it cannot be unpacked: {0}")]
    Packed(#[from] std::io::Error),
    #[error(
        "it has {packed} bytes and more than {most} unpacked: at most {MAX_RATIO} times its size \
         and {} MiB are read",
        MAX_BYTES >> 20
    )]
    Unpacked { packed: u64, most: u64 },
    #[error("it has more than {MAX_PARTS} samples, locations, functions and texts")]
    Parts,
    #[error("the stacks of its samples are too long: over {MAX_WORK} frames and bytes of names")]
    Stacks,
    #[error(transparent)]
    TooLarge(#[from] TooLarge),
    #[error("it is no pprof profile, or a damaged one")]
    Damaged,
}

/// Reads a pprof file, compressed or not.
pub(crate) fn read(bytes: &[u8]) -> Result<Profile, PprofError> {
    let mut plain = Vec::new();
    let bytes = if bytes.starts_with(&[0x1f, 0x8b]) {
        let packed = bytes.len() as u64;
        let most = MAX_BYTES.min(packed.saturating_mul(MAX_RATIO) + (1 << 20));
        GzDecoder::new(bytes).take(most + 1).read_to_end(&mut plain)?;
        if plain.len() as u64 > most {
            return Err(PprofError::Unpacked { packed, most });
        }
        &plain[..]
    } else {
        bytes
    };
    parse(bytes)
}

fn raw(bytes: &[u8]) -> Result<RawProfile<'_>, PprofError> {
    let mut raw = RawProfile::default();
    let mut parts = 0;
    let read = fields(bytes, |field, value| {
        parts += 1;
        if parts > MAX_PARTS {
            return None;
        }
        match (field, value) {
            (1, Value::Bytes(b)) => raw.types.push(pair(b, 1, 2)?),
            (3, Value::Bytes(b)) => {
                let (id, file) = pair(b, 1, 5)?;
                raw.modules.insert(id, file);
            }
            (4, Value::Bytes(b)) => {
                let (mut id, mut module, mut functions) = (0, 0, Vec::new());
                fields(b, |field, value| {
                    match (field, value) {
                        (1, Value::Number(n)) => id = n,
                        (2, Value::Number(n)) => module = n,
                        (4, Value::Bytes(line)) => functions.push(pair(line, 1, 2)?.0),
                        _ => {}
                    }
                    Some(())
                })?;
                parts += functions.len();
                raw.locations.insert(id, (module, functions));
            }
            (5, Value::Bytes(b)) => {
                let (id, name) = pair(b, 1, 2)?;
                raw.functions.insert(id, (name, pair(b, 1, 3)?.1));
            }
            (6, Value::Bytes(b)) => raw.strings.push(b),
            (10, Value::Number(n)) => raw.span_ns = n,
            (12, Value::Number(n)) => raw.period = n,
            _ => {}
        }
        Some(())
    });
    if parts > MAX_PARTS {
        return Err(PprofError::Parts);
    }
    read.ok_or(PprofError::Damaged).map(|()| raw)
}

/// Returns two integer fields of a message, 0 where one is missing.
fn pair(bytes: &[u8], first: u64, second: u64) -> Option<(u64, u64)> {
    let mut found = (0, 0);
    fields(bytes, |field, value| {
        if let Value::Number(n) = value {
            if field == first {
                found.0 = n;
            }
            if field == second {
                found.1 = n;
            }
        }
        Some(())
    })?;
    Some(found)
}

fn parse(bytes: &[u8]) -> Result<Profile, PprofError> {
    let raw = raw(bytes)?;
    if raw.types.is_empty() || raw.strings.is_empty() {
        return Err(PprofError::Damaged);
    }
    let mut work = 0usize;
    let bytes_of = |n: u64| {
        let bytes = usize::try_from(n).ok().and_then(|n| raw.strings.get(n));
        bytes.copied().unwrap_or_default()
    };
    let text = |n: u64| crate::profile::read::text(bytes_of(n)).into_owned();
    let time = raw.types.iter().position(|t| text(t.1) == "nanoseconds");
    let value = time.unwrap_or(raw.types.len() - 1);
    let count = raw.types.iter().position(|t| text(t.1) == "count");
    let mut builder = Builder::limited();
    let mut known: HashMap<u64, Vec<u32>> = HashMap::new();
    // By ascending id, so that a profile that assay wrote comes back unchanged.
    let mut ids: Vec<_> = raw.locations.keys().copied().collect();
    ids.sort_unstable();
    for id in ids {
        let (module, functions) = &raw.locations[&id];
        let module = raw.modules.get(module).map(|m| text(*m)).unwrap_or_default();
        let mut frames = Vec::new();
        let last = functions.len().saturating_sub(1);
        for (at, function) in functions.iter().enumerate().rev() {
            let (name, system) = raw.functions.get(function).copied().unwrap_or_default();
            let name = text(name);
            work = work.saturating_add(name.len() + module.len());
            if work > MAX_WORK {
                return Err(PprofError::Stacks);
            }
            let kind = match text(system).as_str() {
                "[kernel]" => FrameKind::Kernel,
                "[inlined]" => FrameKind::Inlined,
                _ if at < last => FrameKind::Inlined,
                _ if module.starts_with("[kernel") => FrameKind::Kernel,
                _ => FrameKind::User,
            };
            let mut frame = Frame { name: None, module: module.clone(), kind };
            if !name.is_empty() && name != "[unknown]" && name != frame.label() {
                frame.name = Some(name);
            }
            frames.push(builder.frame(&frame));
        }
        if frames.is_empty() {
            frames.push(builder.frame(&Frame { name: None, module, kind: FrameKind::User }));
        }
        known.insert(id, frames);
    }
    let mut sample = |sample: &[u8]| {
        let (mut locations, mut values) = (Vec::new(), Vec::new());
        let (mut thread, mut state) = (0, ThreadState::OnCpu);
        fields(sample, |field, v| {
            match field {
                1 => numbers(&v, &mut locations)?,
                2 => numbers(&v, &mut values)?,
                3 => {
                    if let Value::Bytes(label) = v {
                        let (key, value) = pair(label, 1, 2)?;
                        match bytes_of(key) {
                            b"thread" => thread = value,
                            b"state" => {
                                let words = bytes_of(value);
                                let known = ThreadState::ALL
                                    .into_iter()
                                    .find(|s| s.words().as_bytes() == words);
                                state = known.unwrap_or(ThreadState::OnCpu);
                            }
                            _ => {}
                        }
                    }
                }
                _ => {}
            }
            Some(())
        })?;
        let stacks = locations.iter().rev().filter_map(|l| known.get(l));
        work = stacks
            .clone()
            .fold(work + bytes_of(thread).len(), |all, f| all.saturating_add(f.len()));
        if work > MAX_WORK {
            return None;
        }
        let ns = values.get(value).copied().unwrap_or(0);
        let n = count.and_then(|c| values.get(c)).copied().unwrap_or(1);
        builder.add(&text(thread), state, stacks.flatten().copied().collect(), n, ns);
        Some(())
    };
    let read = fields(bytes, |field, value| match (field, value) {
        (2, Value::Bytes(b)) => sample(b),
        _ => Some(()),
    });
    if work > MAX_WORK {
        return Err(PprofError::Stacks);
    }
    read.ok_or(PprofError::Damaged)?;
    builder.check()?;
    let mut profile = Profile {
        method: "pprof".into(),
        unit: if time.is_some() {
            "ns".into()
        } else {
            let unit = text(raw.types[value].0);
            if unit == "value" { "samples".to_owned() } else { unit }
        },
        span_ns: (raw.span_ns > 0).then_some(raw.span_ns),
        rate_hz: (time.is_some() && raw.period > 0).then(|| rate_hz(raw.period)),
        off_cpu: raw.types.first().is_some_and(|t| time.is_some() && text(t.0) == "events"),
        ..Profile::default()
    };
    builder.finish(&mut profile);
    Ok(profile)
}
