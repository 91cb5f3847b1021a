//! What a level of `storage` says: `loop:btrfs,raid0,size=2GiB,emulated=sata-ssd`.

use std::path::PathBuf;
use std::time::Duration;

use assay_model::units::{parse_bytes, parse_duration};

use super::disk::{self, Disk};

/// A level, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Level {
    pub kind: Kind,
    /// Of each device.
    pub size: u64,
    /// The options of the mount, `compress=zstd`.
    pub compress: Option<String>,
    pub emulated: Option<Disk>,
    pub limits: Limits,
    pub scheduler: Option<String>,
    pub read_ahead: Option<u64>,
    /// Where the files of loop devices lie; the scratch folder without it.
    pub within: Option<PathBuf>,
    /// How long the measurement takes, all of it.
    pub probe: Duration,
}

/// On what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// In a folder that is there.
    Folder(PathBuf),
    /// In memory.
    Tmpfs,
    /// A file system made on files.
    Loop { system: System, devices: u32, raid: Option<Raid> },
    /// A block device with a file system on it, neither of which is made.
    Device(PathBuf),
}

/// A file system that can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Ext4,
    Xfs,
    Btrfs,
}

/// How several devices are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raid {
    Stripe,
    Mirror,
}

/// Which figures of an emulated disk are limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limits {
    Both,
    Bytes,
    Operations,
}

impl System {
    const ALL: [System; 3] = [System::Ext4, System::Xfs, System::Btrfs];

    pub fn name(self) -> &'static str {
        match self {
            System::Ext4 => "ext4",
            System::Xfs => "xfs",
            System::Btrfs => "btrfs",
        }
    }

    /// The Debian package that makes it.
    pub fn package(self) -> &'static str {
        match self {
            System::Ext4 => "e2fsprogs",
            System::Xfs => "xfsprogs",
            System::Btrfs => "btrfs-progs",
        }
    }

    /// The smallest device that its tools take.
    fn least(self) -> u64 {
        match self {
            System::Ext4 => 32 << 20,
            System::Xfs => 300 << 20,
            System::Btrfs => 128 << 20,
        }
    }
}

impl Raid {
    pub fn name(self) -> &'static str {
        match self {
            Raid::Stripe => "raid0",
            Raid::Mirror => "raid1",
        }
    }
}

/// What is read of the options before it is known whether they fit together.
#[derive(Default)]
struct Options {
    size: Option<u64>,
    devices: Option<u32>,
    raid: Option<Raid>,
    compress: Option<String>,
    emulated: Option<Disk>,
    limits: Option<Limits>,
    scheduler: Option<String>,
    read_ahead: Option<u64>,
    within: Option<PathBuf>,
    probe: Option<Duration>,
}

/// Reads a level.
///
/// # Errors
/// A sentence: what is wrong, and what would be right.
pub(super) fn parse(text: &str) -> Result<Level, String> {
    let mut parts = text.split(',').map(str::trim);
    let head = parts.next().unwrap_or_default();
    let mut options = Options::default();
    for part in parts {
        options.take(part)?;
    }
    options.fit(head)
}

impl Options {
    fn take(&mut self, part: &str) -> Result<(), String> {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let wrong = |what: &str| format!("`{part}` is wrong: {what}");
        let bytes =
            || parse_bytes(value).ok().filter(|b| *b > 0).ok_or_else(|| wrong("give a size"));
        let twice = match name {
            "raid0" => self.raid.replace(Raid::Stripe).is_some(),
            "raid1" => self.raid.replace(Raid::Mirror).is_some(),
            "size" => self.size.replace(bytes()?).is_some(),
            "read-ahead" => self.read_ahead.replace(bytes()?).is_some(),
            "devices" => {
                let count = value.parse().ok().filter(|n| (2..=8).contains(n));
                self.devices.replace(count.ok_or_else(|| wrong("give 2 to 8"))?).is_some()
            }
            "compress" => self
                .compress
                .replace(compression(value).ok_or_else(|| {
                    wrong("give zstd, zlib or lzo, the first two with `:LEVEL` if wanted")
                })?)
                .is_some(),
            "emulated" => {
                let known = || disk::all().map(|d| d.name).collect::<Vec<_>>().join(", ");
                let disk = disk::find(value)
                    .ok_or_else(|| wrong(&format!("the disks are {}", known())))?;
                self.emulated.replace(disk).is_some()
            }
            "limits" => {
                let limits = match value {
                    "both" => Limits::Both,
                    "bytes" => Limits::Bytes,
                    "operations" => Limits::Operations,
                    _ => return Err(wrong("give both, bytes or operations")),
                };
                self.limits.replace(limits).is_some()
            }
            "scheduler" if !value.is_empty() => self.scheduler.replace(value.into()).is_some(),
            "in" if value.starts_with('/') => self.within.replace(value.into()).is_some(),
            "in" => return Err(wrong("give the whole path of a folder")),
            "probe" => {
                let time = parse_duration(value).ok();
                let time = time.filter(|t| (400..=60_000).contains(&t.as_millis()));
                self.probe
                    .replace(time.ok_or_else(|| wrong("give a time from 400 ms to 60 s"))?)
                    .is_some()
            }
            _ => {
                return Err(format!(
                    "`{part}` is not an option; there are size=, raid0, raid1, devices=, \
                     compress=, emulated=, limits=, scheduler=, read-ahead=, in=, probe="
                ));
            }
        };
        if twice { Err(wrong("it is given twice")) } else { Ok(()) }
    }

    fn fit(self, head: &str) -> Result<Level, String> {
        let (name, rest) = head.split_once(':').unwrap_or((head, ""));
        let kind = match name {
            "folder" if rest.starts_with('/') => Kind::Folder(rest.into()),
            "device" if rest.starts_with("/dev/") => Kind::Device(rest.into()),
            "tmpfs" if rest.is_empty() => Kind::Tmpfs,
            "loop" => {
                let system = System::ALL.into_iter().find(|s| s.name() == rest);
                let system = system.ok_or("`loop:` takes ext4, xfs or btrfs")?;
                let devices = self.devices.unwrap_or(if self.raid.is_some() { 2 } else { 1 });
                Kind::Loop { system, devices, raid: self.raid }
            }
            _ => {
                return Err(format!(
                    "`{head}` is not one of folder:/path, tmpfs, loop:ext4, loop:xfs, \
                     loop:btrfs, device:/dev/X"
                ));
            }
        };
        let is_loop = matches!(kind, Kind::Loop { .. });
        let is_btrfs = matches!(kind, Kind::Loop { system: System::Btrfs, .. });
        let is_block = is_loop || matches!(kind, Kind::Device(_));
        let fits = [
            ("size=", self.size.is_some(), is_loop || kind == Kind::Tmpfs),
            ("raid0 and raid1", self.raid.is_some(), is_btrfs),
            ("devices=", self.devices.is_some(), is_btrfs && self.raid.is_some()),
            ("compress=", self.compress.is_some(), is_btrfs),
            ("emulated=", self.emulated.is_some(), is_block),
            ("limits=", self.limits.is_some(), self.emulated.is_some()),
            ("scheduler=", self.scheduler.is_some(), is_block),
            ("read-ahead=", self.read_ahead.is_some(), is_block),
            ("in=", self.within.is_some(), is_loop),
        ];
        if let Some((option, _, _)) = fits.iter().find(|(_, given, fits)| *given && !fits) {
            return Err(format!(
                "{option} does not go with `{head}`: raid0, raid1 and compress= are of loop:btrfs, \
                 devices= of a raid, in= of loop:, emulated=, scheduler= and read-ahead= of block \
                 devices, limits= of emulated=, size= of loop: and tmpfs"
            ));
        }
        let size = self.size.unwrap_or(1 << 30);
        if let Kind::Loop { system, .. } = kind
            && size < system.least()
        {
            return Err(format!(
                "{} takes {} or more",
                system.name(),
                assay_model::units::format_bytes(system.least())
            ));
        }
        if size < 16 << 20 {
            return Err("a size is 16 MiB or more".to_owned());
        }
        Ok(Level {
            kind,
            size,
            compress: self.compress,
            emulated: self.emulated,
            limits: self.limits.unwrap_or(Limits::Both),
            scheduler: self.scheduler,
            read_ahead: self.read_ahead,
            within: self.within,
            probe: self.probe.unwrap_or(Duration::from_secs(4)),
        })
    }
}

/// `zstd`, `zlib:9`, as btrfs takes them.
fn compression(value: &str) -> Option<String> {
    let (name, level) = value.split_once(':').unwrap_or((value, ""));
    let most = match name {
        "zstd" => 15,
        "zlib" => 9,
        "lzo" => 0,
        _ => return None,
    };
    let fits = level.is_empty() || level.parse::<u32>().is_ok_and(|n| (1..=most).contains(&n));
    fits.then(|| format!("compress={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read() {
        let level = parse("loop:btrfs,raid1,size=2GiB,compress=zstd:3,emulated=sata-ssd").unwrap();
        let mirror = Some(Raid::Mirror);
        assert_eq!(level.kind, Kind::Loop { system: System::Btrfs, devices: 2, raid: mirror });
        assert_eq!((level.size, level.compress.as_deref()), (2 << 30, Some("compress=zstd:3")));
        assert_eq!(level.emulated.unwrap().name, "sata-ssd");
        assert_eq!(parse("tmpfs").unwrap().size, 1 << 30);
        assert_eq!(parse("folder:/a b").unwrap().kind, Kind::Folder("/a b".into()));
        let level = parse("device:/dev/sdb,scheduler=bfq,read-ahead=4MiB,probe=1s").unwrap();
        assert_eq!((level.read_ahead, level.probe.as_secs()), (Some(4 << 20), 1));
        let level = parse("loop:xfs,in=/srv,emulated=nvme,limits=bytes").unwrap();
        assert_eq!((level.limits, level.within), (Limits::Bytes, Some("/srv".into())));
    }

    #[test]
    fn mistakes_are_answered_with_what_would_be_right() {
        for (text, right) in [
            ("", "loop:ext4"),
            ("loop:zfs", "ext4, xfs or btrfs"),
            ("loop", "ext4, xfs or btrfs"),
            ("folder:relative", "folder:/path"),
            ("tmpfs,raid0", "loop:btrfs"),
            ("loop:ext4,compress=zstd", "loop:btrfs"),
            ("loop:btrfs,compress=lz4", "zstd, zlib or lzo"),
            ("loop:btrfs,compress=zlib:10", "zstd, zlib or lzo"),
            ("loop:ext4,emulated=floppy", "sata-7200"),
            ("loop:ext4,limits=bytes", "limits= of emulated="),
            ("loop:xfs,size=100MiB", "300 MiB"),
            ("loop:ext4,size=1GiB,size=2GiB", "twice"),
            ("loop:btrfs,raid0,devices=1", "2 to 8"),
            ("loop:ext4,speed=9", "probe="),
            ("tmpfs,probe=0s", "400 ms"),
            ("tmpfs,size=1KiB", "16 MiB"),
        ] {
            let said = parse(text).expect_err(text);
            assert!(said.contains(right), "{text}: {said}");
        }
    }
}
