//! What a level of `storage` says: `loop:btrfs,raid0,size=2GiB,emulated=sata-ssd`.

use std::path::PathBuf;
use std::time::Duration;

use super::disk::Disk;

pub(super) use super::options::parse;

/// A level, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Level {
    pub kind: Kind,
    /// Of each device.
    pub size: u64,
    /// How it is compressed: `zstd:3`, as its file system takes it.
    pub compress: Option<String>,
    /// The most memory for the cache of ZFS.
    pub arc: Option<u64>,
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
    /// A file system made on a device that the kernel makes of others, which lie on files.
    Stacked { system: System, stack: Stack, devices: u32 },
    /// A file system made on memory that is compressed.
    Zram(System),
    /// A pool of ZFS made on files.
    Zfs { driver: Driver, devices: u32, raid: Option<Raid> },
    /// An image of the inputs, read-only, on a file.
    Image(Format),
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

/// A device that the kernel makes of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stack {
    /// An array of MD.
    Md(Raid),
    /// The device mapper: one device after the other, a chunk each.
    Stripe,
    /// The same: encrypted with a key that nobody keeps.
    Crypt,
    /// The same: every request so many milliseconds later.
    Delay(u32),
}

impl Stack {
    /// In words.
    pub fn what(self) -> String {
        match self {
            Stack::Md(raid) => format!("array of MD ({})", raid.name()),
            Stack::Stripe => "stripe of the device mapper".to_owned(),
            Stack::Crypt => "encryption of the device mapper".to_owned(),
            Stack::Delay(_) => "delay of the device mapper".to_owned(),
        }
    }

    /// The modules of the kernel that it takes.
    pub fn modules(self) -> &'static [&'static str] {
        match self {
            Stack::Md(Raid::Stripe) => &["md_mod", "raid0"],
            Stack::Md(Raid::Mirror) => &["md_mod", "raid1"],
            Stack::Md(Raid::Parity | Raid::Five) => &["md_mod", "raid456"],
            Stack::Stripe => &["dm_mod"],
            Stack::Crypt => &["dm_mod", "dm_crypt"],
            Stack::Delay(_) => &["dm_mod", "dm_delay"],
        }
    }

    /// The programs that it takes, and the Debian package of each.
    pub fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Stack::Md(_) => &[("mdadm", "mdadm")],
            Stack::Crypt => &[("cryptsetup", "cryptsetup-bin"), ("dmsetup", "dmsetup")],
            Stack::Stripe | Stack::Delay(_) => &[("dmsetup", "dmsetup")],
        }
    }
}

/// Who drives ZFS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Driver {
    /// A module of the kernel.
    Kernel,
    /// The daemon of zfs-fuse.
    Fuse,
}

/// A format of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Squashfs,
    Erofs,
}

/// How several devices are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raid {
    Stripe,
    Mirror,
    /// One device's worth of parity, as ZFS has it.
    Parity,
    /// The same, as MD has it.
    Five,
}

/// Which figures of an emulated disk are limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limits {
    Both,
    Bytes,
    Operations,
}

impl System {
    pub const ALL: [System; 3] = [System::Ext4, System::Xfs, System::Btrfs];

    pub fn name(self) -> &'static str {
        match self {
            System::Ext4 => "ext4",
            System::Xfs => "xfs",
            System::Btrfs => "btrfs",
        }
    }

    /// The program that makes it, and its Debian package.
    pub fn maker(self) -> (&'static str, &'static str) {
        match self {
            System::Ext4 => ("mkfs.ext4", "e2fsprogs"),
            System::Xfs => ("mkfs.xfs", "xfsprogs"),
            System::Btrfs => ("mkfs.btrfs", "btrfs-progs"),
        }
    }

    /// The smallest device that its tools take.
    fn minimum(self) -> u64 {
        match self {
            System::Ext4 => 32 << 20,
            System::Xfs => 300 << 20,
            System::Btrfs => 128 << 20,
        }
    }
}

impl Format {
    pub fn name(self) -> &'static str {
        match self {
            Format::Squashfs => "squashfs",
            Format::Erofs => "erofs",
        }
    }

    /// The program that makes it, and its Debian package.
    pub fn maker(self) -> (&'static str, &'static str) {
        match self {
            Format::Squashfs => ("mksquashfs", "squashfs-tools"),
            Format::Erofs => ("mkfs.erofs", "erofs-utils"),
        }
    }
}

impl Driver {
    /// The programs that it takes, and the Debian package of each.
    pub fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Driver::Kernel => &[("zpool", "zfsutils-linux")],
            Driver::Fuse => &[("zfs-fuse", "zfs-fuse"), ("zpool", "zfs-fuse")],
        }
    }
}

impl Raid {
    /// As a level calls it, and btrfs and MD.
    pub fn name(self) -> &'static str {
        match self {
            Raid::Stripe => "raid0",
            Raid::Mirror => "raid1",
            Raid::Parity => "raidz",
            Raid::Five => "raid5",
        }
    }

    /// The fewest devices that it takes.
    pub fn minimum(self) -> u32 {
        if matches!(self, Raid::Parity | Raid::Five) { 3 } else { 2 }
    }
}

impl Kind {
    /// The smallest device, and of what.
    pub fn minimum(&self) -> (u64, &'static str) {
        match self {
            Kind::Loop { system, .. } | Kind::Stacked { system, .. } | Kind::Zram(system) => {
                (system.minimum(), system.name())
            }
            Kind::Zfs { .. } => (128 << 20, "ZFS"),
            Kind::Tmpfs | Kind::Image(_) | Kind::Folder(_) | Kind::Device(_) => (16 << 20, "it"),
        }
    }

    /// How many files there are to be, each of the level's size.
    pub fn files(&self) -> u32 {
        match self {
            Kind::Loop { devices, .. }
            | Kind::Stacked { devices, .. }
            | Kind::Zfs { devices, .. } => *devices,
            Kind::Image(_) => 1,
            Kind::Folder(_) | Kind::Tmpfs | Kind::Zram(_) | Kind::Device(_) => 0,
        }
    }

    /// Whether it has block devices below it.
    pub fn is_block(&self) -> bool {
        !matches!(self, Kind::Folder(_) | Kind::Tmpfs)
    }

    /// The compressions that it takes, with the highest level of those that have levels.
    pub fn compressions(&self) -> &'static [(&'static str, u32)] {
        match self {
            Kind::Loop { system: System::Btrfs, .. } => &[("zstd", 15), ("zlib", 9), ("lzo", 0)],
            Kind::Zram(_) => &[("lzo-rle", 0), ("lzo", 0), ("lz4", 0), ("zstd", 0)],
            Kind::Zfs { driver: Driver::Fuse, .. } => &[("gzip", 9), ("lzjb", 0), ("zle", 0)],
            Kind::Zfs { driver: Driver::Kernel, .. } => {
                &[("gzip", 9), ("lzjb", 0), ("zle", 0), ("lz4", 0), ("zstd", 19)]
            }
            Kind::Image(Format::Squashfs) => {
                &[("gzip", 9), ("lz4", 0), ("lzo", 9), ("xz", 0), ("zstd", 22)]
            }
            Kind::Image(Format::Erofs) => &[("lz4", 0), ("lz4hc", 12)],
            Kind::Loop { .. }
            | Kind::Stacked { .. }
            | Kind::Folder(_)
            | Kind::Tmpfs
            | Kind::Device(_) => &[],
        }
    }
}
