//! Levels of `storage` as types, such as `loop:btrfs,raid0,size=2GiB,emulated=sata-ssd`.

use std::path::PathBuf;
use std::time::Duration;

use super::disk::Disk;

pub(super) use super::options::parse;

/// A level of `storage` after parsing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StorageLevel {
    pub kind: StorageKind,
    /// Size of each device in bytes.
    pub size: u64,
    /// Compression in the file system's notation, such as `zstd:3`.
    pub compress: Option<String>,
    /// Maximum size of ZFS's cache in bytes.
    pub arc: Option<u64>,
    pub emulated: Option<Disk>,
    pub limits: Limits,
    pub scheduler: Option<String>,
    pub read_ahead: Option<u64>,
    /// Folder that holds the files of loop devices; `None` for the scratch folder.
    pub within: Option<PathBuf>,
    /// Total duration of the measurement.
    pub probe: Duration,
}

/// The kind of storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StorageKind {
    /// A folder that exists already.
    Folder(PathBuf),
    Tmpfs,
    /// A file system created on files.
    Loop {
        system: System,
        devices: u32,
        raid: Option<Raid>,
    },
    /// A file system created on a device that the kernel composes of others, which lie on files.
    Stacked {
        system: System,
        stack: Stack,
        devices: u32,
    },
    /// A file system created on compressed memory.
    Zram(System),
    /// A pool of ZFS created on files.
    Zfs {
        driver: Driver,
        devices: u32,
        raid: Option<Raid>,
    },
    /// A read-only image of the input, on a file.
    Image(ImageFormat),
    /// An existing block device with an existing file system.
    Device(PathBuf),
}

/// A file system that can be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum System {
    Ext4,
    Xfs,
    Btrfs,
}

/// A device that the kernel composes of others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stack {
    /// An array of MD.
    Md(Raid),
    /// Device mapper: data striped over the devices in chunks.
    Stripe,
    /// Device mapper: encryption with a random key that is not stored.
    Crypt,
    /// Device mapper: every request delayed by this many milliseconds.
    Delay(u32),
}

impl Stack {
    /// Returns a description for messages.
    pub fn describe(self) -> String {
        match self {
            Stack::Md(raid) => format!("array of MD ({})", raid.name()),
            Stack::Stripe => "stripe of the device mapper".to_owned(),
            Stack::Crypt => "encryption of the device mapper".to_owned(),
            Stack::Delay(_) => "delay of the device mapper".to_owned(),
        }
    }

    /// Returns the kernel modules that it needs.
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

    /// Returns the programs that it needs, with the Debian package of each.
    pub fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Stack::Md(_) => &[("mdadm", "mdadm")],
            Stack::Crypt => &[("cryptsetup", "cryptsetup-bin"), ("dmsetup", "dmsetup")],
            Stack::Stripe | Stack::Delay(_) => &[("dmsetup", "dmsetup")],
        }
    }
}

/// The implementation of ZFS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Driver {
    Kernel,
    /// The daemon of zfs-fuse.
    Fuse,
}

/// Format of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImageFormat {
    Squashfs,
    Erofs,
}

/// Combination of several devices into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Raid {
    Stripe,
    Mirror,
    /// One device's worth of parity, in ZFS's variant.
    Parity,
    /// One device's worth of parity, in MD's variant.
    Five,
}

/// Choice of which figures of an emulated disk become limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limits {
    Both,
    Bytes,
    Operations,
}

assay_model::names! {
    pub System::name, ALL: Ext4 = "ext4", Xfs = "xfs", Btrfs = "btrfs"
}

impl System {
    /// Returns the program that creates the file system, and its Debian package.
    pub fn maker(self) -> (&'static str, &'static str) {
        match self {
            System::Ext4 => ("mkfs.ext4", "e2fsprogs"),
            System::Xfs => ("mkfs.xfs", "xfsprogs"),
            System::Btrfs => ("mkfs.btrfs", "btrfs-progs"),
        }
    }

    /// Returns the size in bytes of the smallest device that the file system's tools accept.
    fn minimum(self) -> u64 {
        match self {
            System::Ext4 => 32 << 20,
            System::Xfs => 300 << 20,
            System::Btrfs => 128 << 20,
        }
    }
}

assay_model::names! {
    pub ImageFormat::name: Squashfs = "squashfs", Erofs = "erofs"
}

impl ImageFormat {
    /// Returns the program that creates the image, and its Debian package.
    pub fn maker(self) -> (&'static str, &'static str) {
        match self {
            ImageFormat::Squashfs => ("mksquashfs", "squashfs-tools"),
            ImageFormat::Erofs => ("mkfs.erofs", "erofs-utils"),
        }
    }
}

impl Driver {
    /// Returns the programs that it needs, with the Debian package of each.
    pub fn programs(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Driver::Kernel => &[("zpool", "zfsutils-linux")],
            Driver::Fuse => &[("zfs-fuse", "zfs-fuse"), ("zpool", "zfs-fuse")],
        }
    }
}

assay_model::names! {
    /// Returns the name that levels, btrfs and MD use.
    pub Raid::name: Stripe = "raid0", Mirror = "raid1", Parity = "raidz", Five = "raid5"
}

impl Raid {
    /// Returns the smallest number of devices.
    pub fn minimum(self) -> u32 {
        if matches!(self, Raid::Parity | Raid::Five) { 3 } else { 2 }
    }
}

impl StorageKind {
    /// Returns the smallest device in bytes, and the name of the storage that sets this limit.
    pub fn minimum(&self) -> (u64, &'static str) {
        match self {
            StorageKind::Loop { system, .. }
            | StorageKind::Stacked { system, .. }
            | StorageKind::Zram(system) => (system.minimum(), system.name()),
            StorageKind::Zfs { .. } => (128 << 20, "ZFS"),
            StorageKind::Tmpfs
            | StorageKind::Image(_)
            | StorageKind::Folder(_)
            | StorageKind::Device(_) => (16 << 20, "it"),
        }
    }

    /// Returns the number of files to create, each of the level's size.
    pub fn files(&self) -> u32 {
        match self {
            StorageKind::Loop { devices, .. }
            | StorageKind::Stacked { devices, .. }
            | StorageKind::Zfs { devices, .. } => *devices,
            StorageKind::Image(_) => 1,
            StorageKind::Folder(_)
            | StorageKind::Tmpfs
            | StorageKind::Zram(_)
            | StorageKind::Device(_) => 0,
        }
    }

    /// True if the storage lies on block devices.
    pub fn is_block(&self) -> bool {
        !matches!(self, StorageKind::Folder(_) | StorageKind::Tmpfs)
    }

    /// Returns the supported compressions with their highest level, which is 0 for those without
    /// levels.
    pub fn compressions(&self) -> &'static [(&'static str, u32)] {
        match self {
            StorageKind::Loop { system: System::Btrfs, .. } => {
                &[("zstd", 15), ("zlib", 9), ("lzo", 0)]
            }
            StorageKind::Zram(_) => &[("lzo-rle", 0), ("lzo", 0), ("lz4", 0), ("zstd", 0)],
            StorageKind::Zfs { driver: Driver::Fuse, .. } => {
                &[("gzip", 9), ("lzjb", 0), ("zle", 0)]
            }
            StorageKind::Zfs { driver: Driver::Kernel, .. } => {
                &[("gzip", 9), ("lzjb", 0), ("zle", 0), ("lz4", 0), ("zstd", 19)]
            }
            StorageKind::Image(ImageFormat::Squashfs) => {
                &[("gzip", 9), ("lz4", 0), ("lzo", 9), ("xz", 0), ("zstd", 22)]
            }
            StorageKind::Image(ImageFormat::Erofs) => &[("lz4", 0), ("lz4hc", 12)],
            StorageKind::Loop { .. }
            | StorageKind::Stacked { .. }
            | StorageKind::Folder(_)
            | StorageKind::Tmpfs
            | StorageKind::Device(_) => &[],
        }
    }
}
