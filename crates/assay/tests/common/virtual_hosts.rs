//! Hosts with a real sshd in network namespaces of this machine, which are stopped when dropped.
#![allow(clippy::print_stdout)] // prints why a test is skipped

use std::path::PathBuf;
use std::process::{Command, Output};

use super::{World, repository};

pub struct Hosts {
    folder: tempfile::TempDir,
}

impl Hosts {
    /// Starts hosts `h1` to `hN`; prints the reason and returns `None` if that cannot be.
    pub fn start(count: usize) -> Option<Self> {
        for program in ["sshd", "ssh", "ssh-keygen", "ip"] {
            let there = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
            if !there.iter().any(|dir| PathBuf::from(dir).join(program).exists()) {
                println!(
                    "skipped: because there is no {program} (Debian packages openssh-server, \
                    iproute2)"
                );
                return None;
            }
        }
        if !super::root() {
            println!("skipped: because network namespaces with an sshd are made as root");
            return None;
        }
        let hosts = Hosts { folder: tempfile::tempdir().unwrap() };
        hosts.script("start", &count.to_string());
        Some(hosts)
    }

    fn script(&self, what: &str, more: &str) {
        let mut command = Command::new(repository().join("scripts/virtual-hosts"));
        command.arg(what).arg(self.folder.path()).args((!more.is_empty()).then_some(more));
        // Daemons keep inherited descriptors open, so the output goes to a file.
        let log = self.folder.path().join("script.log");
        let file = || std::fs::File::create(&log).unwrap();
        let status = command.stdout(file()).stderr(file()).status().unwrap();
        assert!(status.success(), "{what}: {}", std::fs::read_to_string(&log).unwrap_or_default());
    }

    /// Runs a command on a host.
    pub fn ssh(&self, host: &str, line: &str) -> Output {
        Command::new(self.folder.path().join("bin/ssh")).args([host, line]).output().unwrap()
    }

    /// Cuts the link of a host.
    pub fn cut(&self, host: &str) {
        self.script("cut", host);
    }

    /// Mends the link of a host.
    pub fn join(&self, host: &str) {
        self.script("join", host);
    }

    /// Returns a path of a host's own folder.
    pub fn path(&self, host: &str, name: &str) -> PathBuf {
        self.folder.path().join(host).join(name)
    }

    /// Returns the command for assay, whose `ssh` knows the hosts.
    pub fn assay(&self, world: &World, arguments: &[&str]) -> Command {
        let mut command = world.assay(arguments);
        let bin = self.folder.path().join("bin");
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", bin.display()));
        command
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        self.script("stop", "");
    }
}
