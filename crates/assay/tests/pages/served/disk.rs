//! The disk of the queue is full when a run ends: the archive has its result at once, when there is
//! room again, and after a restart.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::served::{Served, serve, sleeper};
use crate::common::{World, eventually};
use serde_json::{Value, json};

/// A world whose state folder is a small file system.
struct Small {
    world: World,
}

impl Small {
    /// Mounts the file system; prints the reason and returns `None` if that is impossible.
    fn new() -> Option<Self> {
        let world = World::new();
        let done = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs"])
            .arg(world.path("state"))
            .output();
        if done.is_ok_and(|o| o.status.success()) {
            return Some(Small { world });
        }
        println!("skipped: because a tmpfs can be mounted by root only");
        None
    }

    fn filler(&self) -> PathBuf {
        self.world.path("state/filler")
    }

    /// Fills the file system to the last page.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.filler()).unwrap();
        for size in [64 << 10, 4 << 10, 512, 1] {
            while std::io::Write::write_all(&mut file, &vec![1; size]).is_ok() {}
        }
    }

    fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    /// Returns the job from its file.
    fn on_disk(&self, id: u64) -> Value {
        let path = self.world.path(&format!("state/queue/{id:06}/job.json"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    fn trials(&self, run: &str) -> usize {
        self.world.run(&["archive", "show", run, "--json"]).records().len()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.world.path("state")).status();
    }
}

fn begun(served: &Served, id: u64) {
    eventually("its run has begun", || {
        let live = served.get(&format!("/api/v1/jobs/{id}/live"));
        (live.status == 200 && live.json()["run"].is_string()).then_some(())
    });
}

#[test]
fn a_run_that_ends_on_a_full_disk_is_over_and_written_when_there_is_room() {
    let Some(small) = Small::new() else { return };
    sleeper(&small.world, "first", "0.2", 4);
    sleeper(&small.world, "second", "0.01", 1);
    let served = serve(&small.world, &[]);
    let (first, second) = (served.submit("first"), served.submit("second"));
    begun(&served, first);
    small.fill();
    let done = served.until(first, "completed");
    assert_eq!(small.trials(done["run"].as_str().unwrap()), 8);
    assert_eq!(small.on_disk(first)["state"], "running", "the disk is full");
    assert_eq!(
        served.job(second)["state"],
        "waiting",
        "none begins that could not be written down"
    );
    small.free();
    served.until(second, "completed");
    assert_eq!(small.on_disk(first), served.job(first));
    assert_eq!(small.on_disk(first)["state"], "completed");
}

#[test]
fn a_server_that_starts_after_a_full_disk_asks_the_archive() {
    let Some(small) = Small::new() else { return };
    sleeper(&small.world, "first", "0.2", 4);
    let mut served = serve(&small.world, &[]);
    let first = served.submit("first");
    begun(&served, first);
    small.fill();
    let done = served.until(first, "completed");
    served.kill();
    small.free();
    assert_eq!(small.on_disk(first)["state"], "running");
    let served = serve(&small.world, &[]);
    let job = served.until(first, "completed");
    assert_eq!((&job["run"], &job["reason"]), (&done["run"], &json!("8 trials ran")));
}

/// The events of the run are lost from the first on, and the job is cancelled after its end: no
/// event told the job which run it has.
#[test]
fn a_run_that_no_event_announced_is_found_in_the_archive() {
    let Some(small) = Small::new() else { return };
    let world = &small.world;
    sleeper(world, "unheard", "0.05", 4);
    let mut served = serve(world, &[]);
    // Another run has the run lock, and the job's process waits for it.
    let gate = world.path("gate");
    let line = format!("while [ ! -e {} ]; do sleep 0.05; done", gate.display());
    let mut other = world
        .assay(&["run", "--blocks", "1", "--", "sh", "-c", &line])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the other run has begun", || (!world.runs().is_empty()).then_some(()));
    let id = served.submit("unheard");
    eventually("its process waits", || (!served.job(id)["process"].is_null()).then_some(()));
    small.fill();
    std::fs::write(gate, "").unwrap();
    assert!(other.wait().unwrap().success());
    let done = served.until(id, "completed");
    let run = done["run"].as_str().unwrap().to_owned();
    assert_eq!(small.trials(&run), 8);
    served.kill();
    small.free();
    let disk = small.on_disk(id);
    assert_eq!((&disk["state"], &disk["run"]), (&json!("running"), &Value::Null));
    // The file as a server without that knowledge would have left it.
    let path = world.path(&format!("state/queue/{id:06}/job.json"));
    for state in ["running", "cancelled", "failed", "interrupted"] {
        let mut job = disk.clone();
        job["state"] = state.into();
        job["cancel"] = (state == "cancelled").into();
        job["reason"] = "cancelled before the first trial".into();
        std::fs::write(&path, job.to_string()).unwrap();
        let mut served = serve(world, &[]);
        let job = served.until(id, "completed");
        assert_eq!(job["run"], run.as_str(), "{state}");
        eventually("it is on disk", || (small.on_disk(id)["state"] == "completed").then_some(()));
        served.kill();
    }
}
