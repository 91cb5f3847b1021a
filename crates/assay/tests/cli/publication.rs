//! A publication is complete or missing: on a full disk, over an earlier one, and if it is killed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::common::{Done, World};

/// A small file system in the folder `small` of a world.
struct Small(World);

impl Small {
    /// Mounts the file system; prints the reason and returns `None` if that is impossible.
    fn new() -> Option<Self> {
        let world = World::new();
        std::fs::create_dir(world.path("small")).unwrap();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
            .arg(world.path("small"))
            .output();
        if done.is_ok_and(|o| o.status.success()) {
            return Some(Small(world));
        }
        println!("skipped: because a small file system needs root and mount(8)");
        None
    }

    fn page(&self) -> PathBuf {
        self.0.path("small/page")
    }

    /// Fills the file system up to about `left` bytes.
    fn fill(&self, left: u64) {
        let s = rustix::fs::statvfs(self.0.path("small")).unwrap();
        let bytes = (s.f_bavail * s.f_frsize).saturating_sub(left) as usize;
        std::fs::write(self.0.path("small/filler"), vec![1; bytes]).unwrap();
    }

    fn free(&self) {
        std::fs::remove_file(self.0.path("small/filler")).unwrap();
    }

    fn publish(&self, more: &[&str]) -> Done {
        let page = self.page().display().to_string();
        self.0.run(&[&["publish", "last", "-o", &page][..], more].concat())
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path("small")).status();
    }
}

fn files(folder: &Path) -> BTreeSet<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeSet::new() };
    entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect()
}

fn measured(world: &World) {
    let ran = world.run(&["run", "--quiet", "--monitors", "none", "--blocks", "12", "--", "true"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

#[test]
fn a_disk_that_is_full_gets_no_page_and_keeps_the_one_it_had() {
    let Some(small) = Small::new() else { return };
    measured(&small.0);
    for left in [0, 8 << 10, 64 << 10] {
        small.fill(left);
        let refused = small.publish(&[]);
        assert_eq!(refused.code, 1, "{left}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.to_lowercase().contains("no space"), "{}", refused.stderr);
        assert_eq!(files(&small.page()), BTreeSet::new(), "{left}");
        small.free();
    }
    let published = small.publish(&[]);
    assert_eq!(published.code, 0, "{}", published.stderr);
    let there = files(&small.page());
    assert!(there.contains("index.html") && there.iter().any(|n| n.ends_with(".tar.zst")));
    let page = std::fs::read(small.page().join("index.html")).unwrap();
    small.fill(64 << 10);
    let refused = small.publish(&["--force"]);
    assert_eq!(refused.code, 1, "{}{}", refused.stdout, refused.stderr);
    assert_eq!(files(&small.page()), there);
    assert_eq!(std::fs::read(small.page().join("index.html")).unwrap(), page);
    small.free();
    let again = small.publish(&["--force"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(files(&small.page()), there);
}

#[test]
fn a_publication_that_is_killed_has_no_page_or_a_whole_one() {
    let world = World::new();
    measured(&world);
    let publish = |name: &str, more: &[&str]| {
        let mut command = world.assay(&["publish", "last", "-o", name]);
        command.args(more).stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    let began = Instant::now();
    assert!(publish("whole", &[]).status().unwrap().success());
    let took = began.elapsed();
    let whole = files(&world.path("whole"));
    let mut cut_off = 0;
    for part in 1..=12 {
        let name = format!("page-{part}");
        let mut child = publish(&name, &[]).spawn().unwrap();
        // This sleep chooses the moment of the kill, which varies.
        std::thread::sleep(took * part / 12);
        // The process may have ended already.
        let _ = child.kill();
        child.wait().unwrap();
        let found = files(&world.path(&name));
        if found.contains("index.html") {
            assert_eq!(found, whole, "{name}");
            continue;
        }
        cut_off += 1;
        assert!(publish(&name, &["--force"]).status().unwrap().success(), "{name}: {found:?}");
        assert_eq!(files(&world.path(&name)), whole, "{name}");
    }
    assert!(cut_off > 0, "no kill fell into a publication");
    assert!(publish("after", &[]).status().unwrap().success());
    assert_eq!(files(&world.path("scratch")), BTreeSet::new(), "what was killed is swept");
    assert_eq!(world.run(&["archive", "verify"]).code, 0);
}
