//! Tests of other storage than a file system on a loop device: zram, ZFS with its daemon, images of
//! inputs; and of the errors if something for it is missing. Needs root.

use std::io::Read as _;
use std::path::Path;

use crate::bench::killed::kill_and_put_back;
use crate::bench::{Bench, daemons, zrams};
use assay_system::AppliedSettings;
use assay_system::process::{Limits, ProgramSpec, Runner};

/// Content that compresses well.
const TEXT: &str = "plant 001 to market 002 by route 0003\n";

/// Returns the type of the file system that holds a folder, and its line in mountinfo.
fn mounted(files: &Path) -> Option<(String, String)> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let of = |line: &str| line.split(' ').nth(4).map(|p| files.parent() == Some(Path::new(p)));
    let line = mounts.lines().rev().find(|l| of(l) == Some(true))?;
    let after = line.split(" - ").nth(1)?;
    Some((after.split(' ').next()?.to_owned(), line.to_owned()))
}

/// Returns the folder for the program's input.
fn inputs(applied: &AppliedSettings) -> std::path::PathBuf {
    applied.setup.inputs.clone().or(applied.setup.storage.clone()).unwrap()
}

/// Returns the bytes read so far from the devices below the storage.
fn read_so_far(applied: &AppliedSettings) -> u64 {
    let names = applied.setup.env.iter().find(|(k, _)| k == "ASSAY_STORAGE_DEVICES").unwrap();
    let stat =
        |name: &str| std::fs::read_to_string(format!("/sys/class/block/{name}/stat")).unwrap();
    let sectors = |text: String| text.split_whitespace().nth(2).unwrap().parse::<u64>().unwrap();
    names.1.split(' ').map(|name| sectors(stat(name)) * 512).sum()
}

#[test]
fn what_is_put_on_a_storage_is_read_from_its_devices_once_it_is_cold() {
    for (level, kind, compressed) in [
        ("loop:ext4,size=64MiB,in=IMAGES", "ext4", false),
        ("loop:btrfs,size=160MiB,compress=zstd,in=IMAGES", "btrfs", true),
        ("zram:ext4,size=64MiB,compress=lz4", "ext4", false),
        ("zfs-fuse,size=128MiB,compress=gzip,arc=16MiB,in=IMAGES", "fuse.zfs", true),
        ("zfs-fuse,raid1,size=128MiB,in=IMAGES", "fuse.zfs", false),
        ("zfs-fuse,raidz,size=128MiB,compress=lzjb,in=IMAGES", "fuse.zfs", true),
        ("squashfs,size=64MiB,compress=zstd:3,in=IMAGES", "squashfs", true),
        ("squashfs,size=64MiB,emulated=nvme,in=IMAGES", "squashfs", true),
        ("erofs,size=64MiB,compress=lz4hc:9,in=IMAGES", "erofs", true),
        ("erofs,size=64MiB,in=IMAGES", "erofs", false),
    ] {
        read_cold(level, kind, compressed);
    }
}

/// Puts a file on a level of storage, makes it cold and reads it again. All of it must come from
/// the devices (much less if it is compressed), and nothing may be left. Prints the reason if the
/// level is not possible here.
fn read_cold(level: &str, kind: &str, compressed: bool) {
    let _turn = assay_testing::alone();
    let text = TEXT.repeat((16 << 20) / TEXT.len());
    let bench = Bench::new();
    let before = zrams();
    let Some(wanted) = bench.settings(&format!("storage={level},probe=400ms")) else { return };
    let applied = bench.controller().apply(&wanted).unwrap_or_else(|e| panic!("{level}: {e}"));
    let folder = inputs(&applied);
    std::fs::write(folder.join("model"), &text).unwrap();
    applied.make_cold().unwrap_or_else(|e| panic!("{level}: {e}"));
    let (found, line) = mounted(&folder).unwrap_or_else(|| panic!("{level}: not mounted"));
    assert_eq!(found, kind, "{level}");
    if applied.setup.inputs.is_some() {
        assert!(line.contains(" ro"), "{line}");
        assert!(std::fs::write(folder.join("more"), "").is_err(), "{level} is read-only");
    }
    let cold = read_so_far(&applied);
    let mut got = String::new();
    std::fs::File::open(folder.join("model")).unwrap().read_to_string(&mut got).unwrap();
    assert!(got == text, "{level}: what was read is not what was written");
    let read = read_so_far(&applied) - cold;
    println!("{level}: {read} of {} bytes", text.len());
    let whole = text.len() as u64;
    assert!(if compressed { read < whole / 4 } else { read >= whole }, "{level}: {read}");
    applied.restore().unwrap_or_else(|e| panic!("{level}: {e}"));
    assert_eq!(bench.left(), Vec::<String>::new(), "{level}");
    assert_eq!(zrams(), before, "{level}");
}

/// Needs the ZFS module (`make test-vm ZFS=1 KERNEL=6.1`).
#[test]
fn zfs_by_the_kernel_is_made_cold_and_taken_away() {
    for (level, compressed) in [
        ("zfs,size=128MiB,in=IMAGES", false),
        ("zfs,size=128MiB,compress=lz4,in=IMAGES", true),
        ("zfs,raid1,size=128MiB,in=IMAGES", false),
        ("zfs,raidz,size=128MiB,compress=zstd:3,in=IMAGES", true),
    ] {
        read_cold(level, "zfs", compressed);
    }
}

/// Needs the ZFS module; the run is killed at any moment.
#[test]
fn zfs_by_the_kernel_is_taken_away_after_a_kill() {
    let text = "storage=zfs,raid1,size=128MiB,probe=400ms,in=IMAGES";
    kill_and_put_back(text, 6, std::time::Duration::from_secs(3));
}

#[test]
fn the_daemon_outlives_a_program_and_ends_with_the_storage() {
    let _turn = assay_testing::alone();
    let bench = Bench::new();
    let level = "storage=zfs-fuse,size=128MiB,arc=16MiB,probe=400ms,in=IMAGES";
    let Some(wanted) = bench.settings(level) else { return };
    // This process is the subreaper of other tests' programs.
    assay_system::end_strays();
    // Imitate a killed daemon, which leaves its socket.
    let socket = Path::new("/var/run/zfs/zfs_socket");
    std::fs::create_dir_all(socket.parent().unwrap()).unwrap();
    drop(std::os::unix::net::UnixListener::bind(socket));
    let applied = bench.controller().apply(&wanted).unwrap();
    let here = bench.images().to_string_lossy().into_owned();
    assert_eq!(daemons(&here).len(), 1);
    // Only one daemon can run at a time.
    let error = bench.controller().check(&wanted).unwrap_err().to_string();
    assert!(error.contains("runs already"), "{error}");
    let argv = ["sh".into(), "-c".into(), "sleep 600 & echo x > x".into()];
    let program = ProgramSpec {
        argv: &argv,
        cwd: applied.setup.storage.as_deref(),
        groups: &applied.setup.groups,
        ..ProgramSpec::default()
    };
    let limits = Limits {
        timeout: std::time::Duration::from_secs(30),
        grace: std::time::Duration::from_secs(1),
        keep_bytes: 4096,
    };
    let ran = Runner::new(None).run(&program, &limits, &mut ()).unwrap();
    assert!(ran.exit.success());
    assert_eq!(ran.leftovers, 1, "the program's own, and not the daemon");
    assert_eq!(daemons(&here).len(), 1);
    assert_eq!(std::fs::read(applied.setup.storage.as_ref().unwrap().join("x")).unwrap(), b"x\n");
    applied.restore().unwrap();
    assert_eq!(bench.left(), Vec::<String>::new());
    assert!(!socket.exists());
}

#[test]
#[ignore = "the other test starts it with a PATH of its own"]
fn child_that_checks_a_level() {
    let level = std::env::var("ASSAY_TEST_SETTINGS").unwrap();
    let state = tempfile::tempdir().unwrap();
    let controller = assay_system::Controller::new(state.path(), assay_system::Root::system());
    match controller.check(&crate::bench::settings(&level)) {
        Ok(()) => println!("it can be had"),
        Err(e) => println!("refused: {e}"),
    }
}

#[test]
fn a_program_that_is_missing_is_named_with_its_package() {
    let _turn = assay_testing::alone();
    // Programs are also searched outside of PATH, so the check runs in a mount namespace in which
    // those folders are empty.
    let hidden = ["/usr/sbin", "/sbin", "/usr/local/sbin", "/usr/bin", "/bin"];
    for (level, program, package) in [
        ("loop:ext4", "mkfs.ext4", "e2fsprogs"),
        ("loop:xfs", "mkfs.xfs", "xfsprogs"),
        ("loop:btrfs", "mkfs.btrfs", "btrfs-progs"),
        ("zfs-fuse", "zfs-fuse", "zfs-fuse"),
        ("squashfs", "mksquashfs", "squashfs-tools"),
        ("erofs", "mkfs.erofs", "erofs-utils"),
    ] {
        let own = std::env::current_exe().unwrap();
        let script = format!(
            "{}exec \"$0\" --exact --ignored --nocapture storage_kinds::child_that_checks_a_level",
            hidden
                .map(|dir| format!("[ -L {dir} ] || mount -t tmpfs none {dir} || exit 9\n"))
                .concat()
        );
        let done = std::process::Command::new("unshare")
            .args(["--mount", "/bin/sh", "-c", &script])
            .arg(own)
            .env("ASSAY_TEST_SETTINGS", format!("storage={level}"))
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&done.stdout).into_owned();
        if !printed.contains("refused: ") && !printed.contains("it can be had") {
            println!("skipped: because mounts of its own cannot be had here: {printed}");
            return;
        }
        let wanted = format!("`{program}` is missing; install the Debian package {package}");
        assert!(printed.contains(&wanted), "{level}: {printed}");
    }
}

#[test]
fn without_root_it_says_what_there_is() {
    let _turn = assay_testing::alone();
    let own = std::env::current_exe().unwrap();
    let done = std::process::Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(own)
        .args(["--exact", "--ignored", "--nocapture", "storage_kinds::child_that_checks_a_level"])
        .env("ASSAY_TEST_SETTINGS", "storage=loop:ext4")
        .env("TMPDIR", "/tmp")
        .output();
    let printed = done.map(|d| String::from_utf8_lossy(&d.stdout).into_owned()).unwrap_or_default();
    if !printed.contains("refused: ") {
        println!("skipped: because another user cannot run this test program: {printed}");
        return;
    }
    for word in ["only root may mount", "folder:/path", "folder:/dev/shm"] {
        assert!(printed.contains(word), "{printed}");
    }
}
