//! `assay profile`: shows where programs spend their time, live or from a file.

pub mod args;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use assay_observe::Tracer;
use assay_observe::profile::{MAX_RATE_HZ, ProfileRequest, ProfileWatch};
use assay_report::page;
use assay_report::terminal::{Threads, profile as text};
use assay_system::Interrupt;
use assay_traces::profile::{
    Profile, ProfileSide, firefox, folded, pprof, read, speedscope, truncation,
};

use crate::arguments::Global;
use crate::commands::targets::LiveObservation;
use crate::exit::{Exit, Usage, mistake, usage};
use crate::screen::{print_json, print_styled, say, style, write_file};

/// Largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// Format of an output file by the end of its name; the first match counts.
const FORMATS: [(&str, ProfileFormat); 9] = [
    (".speedscope.json", ProfileFormat::Speedscope),
    (".firefox.json", ProfileFormat::Firefox),
    (".json", ProfileFormat::Own),
    (".pb.gz", ProfileFormat::Pprof),
    (".pprof", ProfileFormat::Pprof),
    (".html", ProfileFormat::Page),
    (".offcpu.folded", ProfileFormat::FoldedOff),
    (".folded", ProfileFormat::Folded),
    (".collapsed", ProfileFormat::Folded),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProfileFormat {
    Own,
    Folded,
    FoldedOff,
    Pprof,
    Speedscope,
    Firefox,
    Page,
}

/// Profiles a command, processes or the machine, or shows a recorded profile.
pub fn profile(global: &Global, asked: &args::Profile) -> Result<Exit> {
    let outputs = outputs(&asked.output)?;
    let (profile, name, exit) = match &asked.from {
        Some(path) => (from_file(path)?, path.display().to_string(), Exit::Fine),
        None => match live(asked)? {
            Some(seen) => seen,
            None => return Ok(Exit::Nothing),
        },
    };
    for (path, format) in outputs {
        write(&profile, &name, path, format)?;
    }
    if global.json {
        print_json(&ProfileJson {
            profile: &profile,
            truncated: ProfileSide::BOTH.map(|s| StackEnds::from_profile(&profile, s)),
        })?;
    } else {
        let threads = if asked.threads { Threads::Apart } else { Threads::Merged };
        print_styled(&text(&profile, asked.top, threads, style()))?;
    }
    let empty = profile.stacks.is_empty();
    Ok(if empty && exit == Exit::Fine { Exit::Nothing } else { exit })
}

/// A profile as JSON, with values computed from it.
#[derive(serde::Serialize)]
struct ProfileJson<'a> {
    #[serde(flatten)]
    profile: &'a Profile,
    truncated: [StackEnds; 2],
}

/// Time of one side (on or off CPU) with stacks that do not reach the start of their thread.
#[derive(serde::Serialize)]
struct StackEnds {
    side: ProfileSide,
    /// Time with user stacks, in nanoseconds.
    user_ns: u64,
    truncated_ns: u64,
    /// Time with stacks whose outermost function has no name, so that their end is unknown, in
    /// nanoseconds.
    unknown_ns: u64,
}

impl StackEnds {
    fn from_profile(profile: &Profile, side: ProfileSide) -> Self {
        let t = truncation(profile, side);
        StackEnds {
            side,
            user_ns: t.user_ns,
            truncated_ns: t.broken_ns,
            unknown_ns: t.unattributed_ns,
        }
    }
}

fn outputs(paths: &[PathBuf]) -> Result<Vec<(&Path, ProfileFormat)>> {
    let format = |path: &PathBuf| {
        let name = path.to_string_lossy();
        FORMATS.iter().find(|(ending, _)| name.ends_with(ending)).map(|(_, f)| *f)
    };
    paths
        .iter()
        .map(|path| {
            let known = || {
                let endings: Vec<&str> = FORMATS.iter().map(|f| f.0).collect();
                let path = path.display();
                Usage(format!(
                    "--output {path}: its name must end in one of {}",
                    endings.join(", ")
                ))
            };
            Ok((path.as_path(), format(path).ok_or_else(known)?))
        })
        .collect()
}

fn from_file(path: &Path) -> Result<Profile> {
    use std::io::Read as _;
    let doing = || format!("cannot read {}", path.display());
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().take(MAX_BYTES + 1).read_to_end(&mut bytes).with_context(doing)?;
    } else {
        let file = std::fs::File::open(path).with_context(doing)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).with_context(doing)?;
    }
    if bytes.len() as u64 > MAX_BYTES {
        return usage(format!("{}: larger than 1 GiB", path.display()));
    }
    Ok(read(&bytes, &path.display().to_string()).map_err(mistake)?)
}

/// Profiles live programs; returns `None` after printing the reason if that is impossible here.
fn live(asked: &args::Profile) -> Result<Option<(Profile, String, Exit)>> {
    if !(1.0..=MAX_RATE_HZ).contains(&asked.rate) {
        return usage(format!("--rate takes 1 to {MAX_RATE_HZ} samples a second"));
    }
    let look = LiveObservation::new(&asked.of)?;
    let Some((whose, name)) = look.whose()? else {
        let text = "name what to profile: a command (`assay profile -- COMMAND`), --pid, \
                    --cgroup, --all, or a \
                    recorded profile (--from FILE)";
        return usage(text);
    };
    let interrupt = Interrupt::install()?;
    let ask = ProfileRequest {
        whose,
        rate_hz: asked.rate,
        off_cpu: !asked.on_cpu,
        unwind: asked.unwind,
        room: asked.room,
    };
    let watch = match ProfileWatch::start(Path::new("/"), &ask) {
        Ok(watch) => watch,
        Err(why) => {
            say(&format!("programs cannot be profiled here: {why}"));
            return Ok(None);
        }
    };
    let exit = look.until_the_end(&interrupt)?;
    let profile = watch.stop();
    interrupt.clear();
    match profile {
        Ok(profile) => Ok(Some((profile, name, exit))),
        Err(why) => {
            say(&why.to_string());
            Ok(None)
        }
    }
}

fn write(profile: &Profile, name: &str, path: &Path, format: ProfileFormat) -> Result<()> {
    let bytes = match format {
        ProfileFormat::Own => serde_json::to_vec(profile)?,
        ProfileFormat::Folded => folded(profile, ProfileSide::OnCpu).into_bytes(),
        ProfileFormat::FoldedOff => folded(profile, ProfileSide::OffCpu).into_bytes(),
        ProfileFormat::Pprof => pprof(profile),
        ProfileFormat::Speedscope => serde_json::to_vec(&speedscope(profile, name))?,
        ProfileFormat::Firefox => serde_json::to_vec(&firefox(profile, name))?,
        ProfileFormat::Page => page::profile(name, profile).into_bytes(),
    };
    write_file(path, bytes)?;
    say(&format!("wrote {}", path.display()));
    Ok(())
}
