//! A real Slurm with virtual nodes on this machine, which is stopped when dropped.
#![allow(clippy::print_stdout)] // prints why a test is skipped

use std::path::PathBuf;
use std::process::Command;

use super::repository;

pub struct Slurm {
    folder: tempfile::TempDir,
}

impl Slurm {
    /// Starts Slurm; prints the reason and returns `None` if it is not installed.
    pub fn start(nodes: usize) -> Option<Self> {
        for program in ["slurmctld", "slurmd", "salloc", "munged"] {
            let there = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
            if !there.iter().any(|dir| PathBuf::from(dir).join(program).exists()) {
                println!(
                    "skipped: because there is no {program} (Debian packages slurmctld, slurmd, \
                    slurm-client, munge)"
                );
                return None;
            }
        }
        if !super::root() {
            println!("skipped: because a munged and slurmd of one's own are started as root");
            return None;
        }
        let slurm = Slurm { folder: tempfile::tempdir().unwrap() };
        let (code, shown) = slurm.script(&["start"], &nodes.to_string());
        assert_eq!(code, 0, "{shown}");
        Some(slurm)
    }

    fn script(&self, what: &[&str], last: &str) -> (i32, String) {
        let mut command = Command::new(repository().join("scripts/virtual-slurm"));
        command.args(what).arg(self.folder.path());
        if !last.is_empty() {
            command.arg(last);
        }
        // Daemons keep inherited descriptors open, so their output goes to a file.
        let log = self.folder.path().join("script.log");
        let file = || std::fs::File::create(&log).unwrap();
        let status = command.stdout(file()).stderr(file()).status().unwrap();
        (status.code().unwrap_or(-1), std::fs::read_to_string(&log).unwrap_or_default())
    }

    pub fn conf(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    /// Simulates a node that loses its power.
    pub fn kill(&self, node: &str) {
        self.script(&["kill"], node);
    }

    pub fn controller(&self, what: &str) {
        let (code, shown) = self.script(&["controller"], what);
        assert_eq!(code, 0, "{shown}");
    }

    /// Returns the process id of a node's slurmd.
    pub fn slurmd(&self, node: &str) -> i32 {
        let pid = std::fs::read_to_string(self.folder.path().join(format!("d.{node}.pid")));
        pid.unwrap().trim().parse().unwrap()
    }

    /// Runs a Slurm command and returns its output.
    pub fn call(&self, program: &str, arguments: &[&str]) -> String {
        let output =
            Command::new(program).args(arguments).env("SLURM_CONF", self.conf()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the jobs that wait or run.
    pub fn jobs(&self) -> String {
        self.call("squeue", &["--noheader", "--states=PENDING,RUNNING", "--format=%i %T"])
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        self.script(&["stop"], "");
    }
}
