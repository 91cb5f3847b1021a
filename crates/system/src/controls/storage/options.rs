//! Parses a level of `storage`: its head, its options, and whether they are compatible.

use std::path::PathBuf;
use std::time::Duration;

use assay_model::units::{format_bytes, parse_bytes, parse_duration};

use crate::ControlError;

use super::SPEC;
use super::disk::{self, Disk};
use super::level::{Driver, ImageFormat, Limits, Raid, Stack, StorageKind, StorageLevel, System};

/// The parsed options, before it is known whether they are compatible.
#[derive(Default)]
struct Options {
    size: Option<u64>,
    devices: Option<u32>,
    raid: Option<Raid>,
    compress: Option<String>,
    arc: Option<u64>,
    emulated: Option<Disk>,
    /// Added delay in milliseconds.
    delay: Option<u32>,
    limits: Option<Limits>,
    scheduler: Option<String>,
    read_ahead: Option<u64>,
    within: Option<PathBuf>,
    probe: Option<Duration>,
}

/// Parses a level of `storage`.
///
/// # Errors
/// [`ControlError::Level`] with the problem and the valid values.
pub(super) fn parse(text: &str) -> Result<StorageLevel, ControlError> {
    read(text).map_err(|why| ControlError::Level {
        path: SPEC.name.to_owned(),
        value: text.to_owned(),
        levels: format!("{} ({why})", SPEC.levels),
    })
}

fn read(text: &str) -> Result<StorageLevel, String> {
    let mut parts = text.split(',').map(str::trim);
    let head = parts.next().unwrap_or_default();
    let mut options = Options::default();
    for part in parts {
        options.take(part)?;
    }
    options.fit(head)
}

/// Parses the part of a level before its first comma.
fn kind(head: &str, options: &Options) -> Result<StorageKind, String> {
    let Options { raid, devices: given, delay, .. } = *options;
    let (name, rest) = head.split_once(':').unwrap_or((head, ""));
    let system = || System::ALL.into_iter().find(|s| s.name() == rest);
    let devices = given.unwrap_or_else(|| raid.map_or(1, Raid::minimum));
    let stacked = |stack, devices| {
        let system = system().ok_or_else(|| format!("`{name}:` takes ext4, xfs or btrfs"))?;
        Ok::<_, String>(StorageKind::Stacked { system, stack, devices })
    };
    Ok(match name {
        "folder" if rest.starts_with('/') => StorageKind::Folder(rest.into()),
        "device" if rest.starts_with("/dev/") => StorageKind::Device(rest.into()),
        "tmpfs" if rest.is_empty() => StorageKind::Tmpfs,
        "loop" => {
            let system = system().ok_or("`loop:` takes ext4, xfs or btrfs")?;
            StorageKind::Loop { system, devices, raid }
        }
        "md" => {
            let raid = raid.ok_or("`md:` takes raid0, raid1 or raid5 after a comma")?;
            stacked(Stack::Md(raid), devices)?
        }
        "dm-stripe" => stacked(Stack::Stripe, given.unwrap_or(2))?,
        "dm-crypt" => stacked(Stack::Crypt, 1)?,
        "dm-delay" => {
            let delay = delay.ok_or("`dm-delay:` takes emulated-delay=5ms after a comma")?;
            stacked(Stack::Delay(delay), 1)?
        }
        "zram" => StorageKind::Zram(system().ok_or("`zram:` takes ext4, xfs or btrfs")?),
        "zfs" if rest.is_empty() => StorageKind::Zfs { driver: Driver::Kernel, devices, raid },
        "zfs-fuse" if rest.is_empty() => StorageKind::Zfs { driver: Driver::Fuse, devices, raid },
        "squashfs" if rest.is_empty() => StorageKind::Image(ImageFormat::Squashfs),
        "erofs" if rest.is_empty() => StorageKind::Image(ImageFormat::Erofs),
        _ => {
            return Err(format!(
                "`{head}` is not one of folder:/path, tmpfs, loop:ext4, loop:xfs, loop:btrfs, \
                 md:ext4, dm-stripe:ext4, dm-crypt:ext4, dm-delay:ext4, zram:ext4, zfs, zfs-fuse, \
                 squashfs, erofs, device:/dev/X"
            ));
        }
    })
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
            "raid5" => self.raid.replace(Raid::Five).is_some(),
            "raidz" => self.raid.replace(Raid::Parity).is_some(),
            "emulated-delay" => {
                let time = parse_duration(value).ok().map(|t| t.as_millis());
                let millis = time.and_then(|ms| u32::try_from(ms).ok());
                let millis = millis.filter(|ms| (1..=10_000).contains(ms));
                let millis = millis.ok_or_else(|| wrong("give a time from 1 ms to 10 s"))?;
                self.delay.replace(millis).is_some()
            }
            "size" => self.size.replace(bytes()?).is_some(),
            "arc" => self.arc.replace(bytes()?).is_some(),
            "read-ahead" => self.read_ahead.replace(bytes()?).is_some(),
            "devices" => {
                let count = value.parse().ok().filter(|n| (2..=8).contains(n));
                self.devices.replace(count.ok_or_else(|| wrong("give 2 to 8"))?).is_some()
            }
            "compress" if !value.is_empty() => self.compress.replace(value.into()).is_some(),
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
                    "`{part}` is not an option; there are size=, raid0, raid1, raid5, raidz, \
                     devices=, compress=, arc=, emulated=, emulated-delay=, limits=, scheduler=, \
                     read-ahead=, in=, probe="
                ));
            }
        };
        if twice { Err(wrong("it is given twice")) } else { Ok(()) }
    }

    fn fit(self, head: &str) -> Result<StorageLevel, String> {
        let kind = kind(head, &self)?;
        self.belong(head, &kind)?;
        if let Some(wanted) = &self.compress {
            compression(wanted, &kind)?;
        }
        if let (Some(raid), Some(devices)) = (self.raid, self.devices)
            && devices < raid.minimum()
        {
            return Err(format!("{} takes {} devices or more", raid.name(), raid.minimum()));
        }
        if self.arc.is_some_and(|arc| !(16 << 20..=16 << 30).contains(&arc)) {
            return Err("arc= takes 16 MiB to 16 GiB".to_owned());
        }
        let size = self.size.unwrap_or(1 << 30);
        let (minimum, of) = kind.minimum();
        if size < minimum {
            return Err(format!("{of} takes {} or more", format_bytes(minimum)));
        }
        Ok(StorageLevel {
            kind,
            size,
            compress: self.compress,
            arc: self.arc,
            emulated: self.emulated,
            limits: self.limits.unwrap_or(Limits::Both),
            scheduler: self.scheduler,
            read_ahead: self.read_ahead,
            within: self.within,
            probe: self.probe.unwrap_or(Duration::from_secs(4)),
        })
    }

    /// Checks that each option is allowed for this kind of storage.
    fn belong(&self, head: &str, kind: &StorageKind) -> Result<(), String> {
        let is_btrfs = matches!(kind, StorageKind::Loop { system: System::Btrfs, .. });
        let is_zfs = matches!(kind, StorageKind::Zfs { .. });
        let stack = match kind {
            StorageKind::Stacked { stack, .. } => Some(*stack),
            _ => None,
        };
        let is_md = matches!(stack, Some(Stack::Md(_)));
        let is_fuse = matches!(kind, StorageKind::Zfs { driver: Driver::Fuse, .. });
        let on_files = kind.files() > 0;
        let sized = on_files || matches!(kind, StorageKind::Tmpfs | StorageKind::Zram(_));
        let raid = match self.raid {
            Some(Raid::Parity) => is_zfs,
            Some(Raid::Five) => is_md,
            _ => is_btrfs || is_zfs || is_md,
        };
        let several = raid && self.raid.is_some() || stack == Some(Stack::Stripe);
        // Arrays with parity are written by a kernel thread, which is in no control group and
        // escapes the limits.
        let held = kind.is_block() && stack != Some(Stack::Md(Raid::Five));
        let fits = [
            ("size=", self.size.is_some(), sized),
            ("raid0, raid1, raid5 or raidz", self.raid.is_some(), raid),
            ("devices=", self.devices.is_some(), several),
            ("compress=", self.compress.is_some(), !kind.compressions().is_empty()),
            ("arc=", self.arc.is_some(), is_fuse),
            ("emulated=", self.emulated.is_some(), held),
            ("emulated-delay=", self.delay.is_some(), matches!(stack, Some(Stack::Delay(_)))),
            ("limits=", self.limits.is_some(), self.emulated.is_some()),
            ("scheduler=", self.scheduler.is_some(), kind.is_block()),
            ("read-ahead=", self.read_ahead.is_some(), kind.is_block()),
            ("in=", self.within.is_some(), on_files),
        ];
        if let Some((option, _, _)) = fits.iter().find(|(_, given, fits)| *given && !fits) {
            return Err(format!(
                "{option} does not go with `{head}`: raid0 and raid1 are of loop:btrfs, md:, zfs \
                 and zfs-fuse, raid5 of md:, raidz of the latter two, devices= of a raid and \
                 dm-stripe:, compress= of loop:btrfs, zfs, zfs-fuse, zram:, squashfs and erofs, \
                 arc= of zfs-fuse, in= of what lies on files, emulated-delay= of dm-delay:, \
                 emulated=, scheduler= and read-ahead= of block devices (emulated= not of raid5, \
                 which a thread of the kernel writes), limits= of emulated=, size= of what is made"
            ));
        }
        Ok(())
    }
}

/// Checks that a compression, such as `zstd` or `zlib:9`, exists for this kind of storage.
fn compression(wanted: &str, kind: &StorageKind) -> Result<(), String> {
    let known = kind.compressions();
    let (name, level) = wanted.split_once(':').unwrap_or((wanted, ""));
    let found = known.iter().find(|(known, _)| *known == name);
    let fits = found.is_some_and(|(_, most)| {
        level.is_empty() || level.parse::<u32>().is_ok_and(|n| (1..=*most).contains(&n))
    });
    if fits {
        return Ok(());
    }
    let words: Vec<String> = known
        .iter()
        .map(|(name, most)| match most {
            0 => (*name).to_owned(),
            most => format!("{name} (also {name}:1 to {name}:{most})"),
        })
        .collect();
    Err(format!("`compress={wanted}` is wrong: give {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::read as parse;
    use super::*;

    #[test]
    fn levels_are_read() {
        let level = parse("loop:btrfs,raid1,size=2GiB,compress=zstd:3,emulated=sata-ssd").unwrap();
        let mirror = Some(Raid::Mirror);
        assert_eq!(
            level.kind,
            StorageKind::Loop { system: System::Btrfs, devices: 2, raid: mirror }
        );
        assert_eq!((level.size, level.compress.as_deref()), (2 << 30, Some("zstd:3")));
        assert_eq!(level.emulated.unwrap().name, "sata-ssd");
        assert_eq!(parse("tmpfs").unwrap().size, 1 << 30);
        assert_eq!(parse("folder:/a b").unwrap().kind, StorageKind::Folder("/a b".into()));
        let level = parse("device:/dev/sdb,scheduler=bfq,read-ahead=4MiB,probe=1s").unwrap();
        assert_eq!((level.read_ahead, level.probe.as_secs()), (Some(4 << 20), 1));
        let level = parse("loop:xfs,in=/srv,emulated=nvme,limits=bytes").unwrap();
        assert_eq!((level.limits, level.within), (Limits::Bytes, Some("/srv".into())));
        let level = parse("zfs-fuse,raidz,compress=gzip:9,arc=64MiB").unwrap();
        let raid = Some(Raid::Parity);
        assert_eq!(level.kind, StorageKind::Zfs { driver: Driver::Fuse, devices: 3, raid });
        assert_eq!(parse("zram:ext4,compress=lz4").unwrap().kind, StorageKind::Zram(System::Ext4));
        let level = parse("squashfs,compress=zstd:19,emulated=sata-7200").unwrap();
        assert_eq!(level.kind, StorageKind::Image(ImageFormat::Squashfs));
        assert_eq!(parse("erofs,compress=lz4hc:12").unwrap().kind.files(), 1);
        let stack = |text: &str| match parse(text).unwrap().kind {
            StorageKind::Stacked { stack, devices, .. } => (stack, devices),
            other => panic!("{other:?}"),
        };
        assert_eq!(stack("md:xfs,raid5"), (Stack::Md(Raid::Five), 3));
        assert_eq!(stack("md:ext4,raid1,devices=4"), (Stack::Md(Raid::Mirror), 4));
        assert_eq!(stack("dm-stripe:ext4"), (Stack::Stripe, 2));
        assert_eq!(stack("dm-delay:ext4,emulated-delay=5ms"), (Stack::Delay(5), 1));
        assert_eq!(stack("dm-crypt:btrfs,size=256MiB"), (Stack::Crypt, 1));
    }

    #[test]
    fn mistakes_are_answered_with_what_would_be_right() {
        for (text, right) in [
            ("", "loop:ext4"),
            ("loop:zfs", "ext4, xfs or btrfs"),
            ("loop", "ext4, xfs or btrfs"),
            ("zram", "ext4, xfs or btrfs"),
            ("folder:relative", "folder:/path"),
            ("tmpfs,raid0", "loop:btrfs"),
            ("loop:ext4,compress=zstd", "loop:btrfs"),
            ("loop:btrfs,raidz", "raidz of the latter two"),
            ("loop:btrfs,raid5", "raid5 of md:"),
            ("md:ext4", "raid0, raid1 or raid5"),
            ("md:ext4,raidz", "raidz of the latter two"),
            ("md:ext4,raid5,devices=2", "raid5 takes 3"),
            ("md:ext4,raid5,emulated=nvme", "not of raid5"),
            ("md:zfs,raid0", "`md:` takes ext4"),
            ("dm-stripe:ext4,raid0", "of a raid and dm-stripe:"),
            ("dm-delay:ext4", "emulated-delay=5ms"),
            ("dm-delay:ext4,emulated-delay=1us", "1 ms to 10 s"),
            ("dm-crypt:ext4,devices=2", "devices= of a raid"),
            ("loop:ext4,emulated-delay=5ms", "of dm-delay:"),
            ("loop:btrfs,compress=lz4", "zstd:15"),
            ("loop:btrfs,compress=zlib:10", "zlib:9"),
            ("zfs-fuse,compress=lz4", "lzjb"),
            ("zfs-fuse,raidz,devices=2", "3 devices"),
            ("zfs,arc=1GiB", "arc= of zfs-fuse"),
            ("zfs-fuse,arc=1MiB", "16 MiB"),
            ("erofs,compress=zstd", "lz4hc"),
            ("zram:ext4,in=/srv", "in= of what lies on files"),
            ("loop:ext4,emulated=floppy", "sata-7200"),
            ("loop:ext4,limits=bytes", "limits= of emulated="),
            ("loop:xfs,size=100MiB", "300 MiB"),
            ("loop:ext4,size=1GiB,size=2GiB", "twice"),
            ("loop:btrfs,raid0,devices=1", "2 to 8"),
            ("loop:ext4,speed=9", "probe="),
            ("tmpfs,probe=0s", "400 ms"),
            ("tmpfs,size=1KiB", "16 MiB"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(right), "{text}: {error}");
        }
    }
}
