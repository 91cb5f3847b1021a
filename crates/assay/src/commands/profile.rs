//! `assay profile`: where the time of programs goes, live or from a file.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use assay_observe::profile::{MAX_RATE_HZ, ProfileRequest, ProfileWatch, Whose};
use assay_profile::{Profile, Side, firefox, folded, pprof, read, speedscope};
use assay_report::page;
use assay_report::terminal::profile as text;
use assay_sut::Interrupt;

use super::beside;
use crate::cli;
use crate::cli::Cli;
use crate::exit::{Exit, Usage};
use crate::screen::{print_json, print_styled, say, style};

/// A file that holds more is not read.
const MOST: u64 = 1 << 30;

/// What a file that is written holds, by how its name ends; the first row that fits.
const FORMATS: [(&str, Format); 9] = [
    (".speedscope.json", Format::Speedscope),
    (".firefox.json", Format::Firefox),
    (".json", Format::Own),
    (".pb.gz", Format::Pprof),
    (".pprof", Format::Pprof),
    (".html", Format::Page),
    (".offcpu.folded", Format::FoldedOff),
    (".folded", Format::Folded),
    (".collapsed", Format::Folded),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Own,
    Folded,
    FoldedOff,
    Pprof,
    Speedscope,
    Firefox,
    Page,
}

/// Profiles a command, processes, or the machine; or shows a profile that was recorded.
pub fn profile(cli: &Cli, asked: &cli::Profile) -> Result<Exit> {
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
    if cli.json {
        print_json(&profile)?;
    } else {
        print_styled(&text(&profile, asked.top, style()))?;
    }
    let empty = profile.stacks.is_empty();
    Ok(if empty && exit == Exit::Fine { Exit::Nothing } else { exit })
}

fn outputs(paths: &[PathBuf]) -> Result<Vec<(&Path, Format)>> {
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
    let doing = || format!("read {}", path.display());
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().take(MOST + 1).read_to_end(&mut bytes).with_context(doing)?;
    } else {
        let file = std::fs::File::open(path).with_context(doing)?;
        file.take(MOST + 1).read_to_end(&mut bytes).with_context(doing)?;
    }
    if bytes.len() as u64 > MOST {
        return Err(Usage(format!("{}: larger than 1 GiB", path.display())).into());
    }
    read(&bytes, &path.display().to_string()).map_err(|e| Usage(e.to_string()).into())
}

/// `None`: it cannot be done here, which was said.
fn live(asked: &cli::Profile) -> Result<Option<(Profile, String, Exit)>> {
    if !(1.0..=MAX_RATE_HZ).contains(&asked.rate) {
        return Err(Usage(format!("--rate takes 1 to {MAX_RATE_HZ} samples a second")).into());
    }
    let seconds = match asked.seconds {
        Some(s) if s > 0.0 && s <= 1e7 => Some(Duration::from_secs_f64(s)),
        Some(_) => return Err(Usage("--seconds takes more than 0 seconds".into()).into()),
        None => None,
    };
    let (whose, name) = whose(asked)?;
    let interrupt = Interrupt::install()?;
    let ask = ProfileRequest { whose, rate_hz: asked.rate, off_cpu: !asked.on_cpu };
    let watch = match ProfileWatch::start(Path::new("/"), &ask) {
        Ok(watch) => watch,
        Err(why) => {
            say(&format!("programs cannot be profiled here: {why}"));
            return Ok(None);
        }
    };
    let exit = if asked.command.is_empty() {
        let began = Instant::now();
        while !interrupt.fired() && seconds.is_none_or(|s| began.elapsed() < s) {
            let gone = |pid: &u32| !Path::new(&format!("/proc/{pid}")).exists();
            if !asked.pid.is_empty() && asked.pid.iter().all(gone) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        // An interrupt is how a look without an end is ended.
        Exit::Fine
    } else {
        command(asked, &interrupt, seconds)?
    };
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

fn command(asked: &cli::Profile, interrupt: &Interrupt, seconds: Option<Duration>) -> Result<Exit> {
    let argv = asked.command.clone();
    let ends_it = interrupt.clone();
    let began = Instant::now();
    let thread = std::thread::spawn(move || beside::run(&argv, ends_it));
    let mut ended = false;
    while !thread.is_finished() {
        if !ended && seconds.is_some_and(|s| began.elapsed() >= s) {
            interrupt.fire();
            ended = true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let ran = thread.join().map_err(|_| anyhow::anyhow!("the thread of the command failed"))?;
    let ran = ran.map_err(|e| Usage(e.to_string()))?;
    Ok(match (ended, interrupt.fired(), ran.exit.success()) {
        (true, ..) | (false, false, true) => Exit::Fine,
        (false, true, _) => Exit::Interrupted,
        (false, false, false) => Exit::Workload,
    })
}

fn whose(asked: &cli::Profile) -> Result<(Whose, String)> {
    if !asked.command.is_empty() {
        let words: Vec<_> = asked.command.iter().map(|a| a.to_string_lossy()).collect();
        return Ok((Whose::Children, words.join(" ")));
    }
    if !asked.pid.is_empty() {
        let words: Vec<String> = asked.pid.iter().map(u32::to_string).collect();
        return Ok((Whose::Processes(asked.pid.clone()), format!("process {}", words.join(", "))));
    }
    if let Some(group) = &asked.cgroup {
        let pids = of_group(group)?;
        return Ok((Whose::Processes(pids), format!("control group {}", group.display())));
    }
    if asked.all {
        return Ok((Whose::All, "everything on the machine".to_owned()));
    }
    let text = "say whose time: a command (`assay profile -- COMMAND`), --pid, --cgroup, --all, or a recorded \
                profile (--from FILE)";
    Err(Usage(text.into()).into())
}

/// The processes of a control group and of those below it: a path, or one below the usual folder.
fn of_group(group: &Path) -> Result<Vec<u32>> {
    let below = group.strip_prefix("/").unwrap_or(group);
    let places = [
        group.to_owned(),
        Path::new("/sys/fs/cgroup").join(below),
        Path::new("/sys/fs/cgroup/cpu").join(below),
        Path::new("/sys/fs/cgroup/cpuacct").join(below),
        Path::new("/sys/fs/cgroup/memory").join(below),
    ];
    let folder = places.iter().find(|p| p.join("cgroup.procs").is_file());
    let Some(folder) = folder else {
        return Err(Usage(format!("there is no control group {}", group.display())).into());
    };
    let mut pids = Vec::new();
    let mut folders = vec![folder.clone()];
    while let Some(folder) = folders.pop() {
        let text = std::fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
        pids.extend(text.lines().filter_map(|l| l.parse::<u32>().ok()).filter(|pid| *pid > 0));
        let below = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(below.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()));
    }
    if pids.is_empty() {
        return Err(Usage(format!("the control group {} has no processes", group.display())).into());
    }
    pids.retain(|pid| Path::new(&format!("/proc/{pid}/task")).exists());
    Ok(pids)
}

fn write(profile: &Profile, name: &str, path: &Path, format: Format) -> Result<()> {
    let bytes = match format {
        Format::Own => serde_json::to_vec(profile)?,
        Format::Folded => folded(profile, Side::OnCpu).into_bytes(),
        Format::FoldedOff => folded(profile, Side::OffCpu).into_bytes(),
        Format::Pprof => pprof(profile),
        Format::Speedscope => serde_json::to_vec(&speedscope(profile, name))?,
        Format::Firefox => serde_json::to_vec(&firefox(profile, name))?,
        Format::Page => page::profile(name, profile).into_bytes(),
    };
    std::fs::write(path, bytes).with_context(|| format!("write {}", path.display()))?;
    say(&format!("wrote {}", path.display()));
    Ok(())
}
