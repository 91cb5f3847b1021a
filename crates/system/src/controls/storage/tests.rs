use assay_model::{Scalar, Setting};

use crate::control::Control as _;
use crate::fake::FakeMachine;

use super::Storage;

fn check(machine: &FakeMachine, level: &str) -> Result<(), String> {
    let value = Scalar::Text(level.into());
    let setting = Setting { control: "storage".into(), key: String::new(), value };
    Storage.check(&machine.root(), &setting).map_err(|e| e.to_string())
}

#[test]
fn what_cannot_be_had_is_reported_before_anything_is_made() {
    let machine = FakeMachine::new();
    machine.put("/proc/meminfo", "MemAvailable: 1048576 kB\n");
    machine.put("/dev/sdb", "");
    machine.put("/sys/class/block/sdb/dev", "8:16\n");
    machine.put("/proc/self/mountinfo", "36 35 8:16 / /srv rw - ext4 /dev/sdb rw\n");
    check(&machine, "tmpfs,size=512MiB").unwrap();
    check(&machine, "folder:/tmp").unwrap();
    for (level, why) in [
        ("tmpfs,size=2GiB", "1 GiB are free"),
        ("device:/dev/sdb", "mounted at `/srv`"),
        ("device:/dev/sdz", "cannot find"),
        ("folder:/no/such/folder", "not an existing folder"),
        ("loop:ext4,in=/no/such/folder", "not an existing folder"),
        ("loop:ext4,size=1000TiB", "are free"),
        ("zfs2", "loop:ext4"),
        ("zram:ext4,size=2GiB", "modprobe zram"),
        ("zfs", "zfs-dkms"),
        ("zfs-fuse", "modprobe fuse"),
    ] {
        let error = check(&machine, level).expect_err(level);
        assert!(error.contains(why) || error.contains("is missing"), "{level}: {error}");
    }
    machine.put("/proc/self/mountinfo", "");
    check(&machine, "device:/dev/sdb").unwrap();
    let error = check(&machine, "device:/dev/sdb,emulated=nvme").unwrap_err();
    assert!(error.contains("controller"), "{error}");
}

#[test]
fn only_folders_that_assay_made_are_taken_away() {
    let dir = tempfile::tempdir().unwrap();
    let machine = FakeMachine::new();
    let key = dir.path().to_string_lossy().into_owned();
    let error = Storage.restore(&machine.root(), &key, "absent").unwrap_err().to_string();
    assert!(error.contains("assay did not create this folder"), "{error}");
    assert!(dir.path().exists());
}
