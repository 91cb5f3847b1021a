//! Common code for tests of the control `storage`: a folder for images, and checks that no test
//! leaves anything on the machine, even if it fails.
// Each test file uses a part of this module.
#![allow(dead_code, clippy::unwrap_used, clippy::print_stdout)]

pub mod killed;

use std::path::PathBuf;
use std::process::Command;

use assay_model::{Scalar, Setting};
use assay_system::{Controller, Root, parse_setting, restore_pending};

pub fn settings(text: &str) -> Vec<Setting> {
    text.split_whitespace()
        .map(|one| one.split_once('=').unwrap())
        .map(|(path, value)| parse_setting(path, &Scalar::Text(value.into())).unwrap())
        .collect()
}

/// A folder for the journal and one for the images of a test.
pub struct Bench {
    pub dir: tempfile::TempDir,
}

impl Bench {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("images")).unwrap();
        Bench { dir }
    }

    pub fn controller(&self) -> Controller {
        Controller::new(self.dir.path().join("state"), Root::system())
    }

    pub fn images(&self) -> PathBuf {
        self.dir.path().join("images")
    }

    /// Returns the settings with this bench's folder inserted; if they are not possible here,
    /// prints the reason and returns `None`.
    pub fn settings(&self, text: &str) -> Option<Vec<Setting>> {
        let all = settings(&text.replace("IMAGES", &self.images().to_string_lossy()));
        match self.controller().check(&all) {
            Ok(()) => Some(all),
            Err(reason) => {
                println!("skipped: {text}: because {reason}");
                None
            }
        }
    }

    /// Returns everything of this bench that is still on the machine.
    pub fn left(&self) -> Vec<String> {
        let here = self.images().to_string_lossy().into_owned();
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mut left: Vec<String> =
            mounts.lines().filter(|l| l.contains(&here)).map(str::to_owned).collect();
        for block in std::fs::read_dir("/sys/class/block").unwrap().flatten() {
            let file = std::fs::read_to_string(block.path().join("loop/backing_file"));
            left.extend(file.ok().filter(|f| f.contains(&here)));
            // Composed devices; no other test makes them.
            let name = block.file_name().to_string_lossy().into_owned();
            let made = name.strip_prefix("md").or(name.strip_prefix("dm-"));
            left.extend(made.map(|_| name.clone()));
        }
        left.extend(
            std::fs::read_dir(self.images())
                .unwrap()
                .map(|e| e.unwrap().path().display().to_string()),
        );
        left.extend(daemons(&here).into_iter().map(|pid| format!("process {pid}")));
        left
    }

    /// Restores what dead processes of this bench left in the journal with this name.
    fn put_back(&self, state: &str) {
        let _ = restore_pending(&self.dir.path().join(state), &Root::system());
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for state in ["state", "second"] {
            self.put_back(state);
        }
        // Remove what no journal lists, which is exactly what makes a test fail.
        let here = self.images().to_string_lossy().into_owned();
        for pid in daemons(&here) {
            let _ = Command::new("kill").args(["-9", &pid]).status();
        }
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        for line in mounts.lines().rev().filter(|l| l.contains(&here)) {
            let _ =
                Command::new("umount").args(["-l", line.split(' ').nth(4).unwrap_or("")]).status();
        }
        for block in std::fs::read_dir("/sys/class/block").into_iter().flatten().flatten() {
            let file = std::fs::read_to_string(block.path().join("loop/backing_file"));
            if file.is_ok_and(|f| f.contains(&here)) {
                let device = PathBuf::from("/dev").join(block.file_name());
                let _ = Command::new("losetup").arg("-d").arg(device).status();
            }
        }
    }
}

/// Returns the processes that drive a storage below a folder.
pub fn daemons(here: &str) -> Vec<String> {
    let wanted = format!("ASSAY_STORAGE={here}");
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.map(|e| e.file_name().to_string_lossy().into_owned());
    ids.filter(|id| {
        let variables = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
        variables.split(|b| *b == 0).any(|v| v.starts_with(wanted.as_bytes()))
    })
    .collect()
}

/// Returns the zram devices of this machine.
pub fn zrams() -> Vec<String> {
    let blocks = std::fs::read_dir("/sys/class/block").unwrap().flatten();
    let mut names: Vec<String> =
        blocks.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|n| n.starts_with("zram"));
    names.sort();
    names
}
