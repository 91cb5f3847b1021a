//! Reads the events of a run as they are written, without polling: inotify tells of new lines, a pidfd
//! of the end of the process.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// The longest line that is taken; what is longer is passed over.
const MAX_LINE: usize = 4 << 20;

/// A file of lines that grows.
#[derive(Debug)]
pub(crate) struct Lines {
    file: File,
    held: Vec<u8>,
    skipping: bool,
}

impl Lines {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Lines { file: File::open(path)?, held: Vec::new(), skipping: false })
    }

    /// Hands on the lines that are whole by now.
    pub fn read(&mut self, each: &mut dyn FnMut(&str)) -> io::Result<()> {
        let mut chunk = [0; 8 * 1024];
        loop {
            let n = self.file.read(&mut chunk)?;
            if n == 0 {
                return Ok(());
            }
            for part in chunk[..n].split_inclusive(|b| *b == b'\n') {
                self.held.extend_from_slice(part);
                if part.ends_with(b"\n") {
                    if !self.skipping {
                        each(String::from_utf8_lossy(&self.held).trim_end());
                    }
                    self.held.clear();
                    self.skipping = false;
                } else if self.held.len() > MAX_LINE {
                    self.held.clear();
                    self.skipping = true;
                }
            }
        }
    }
}

/// Hands on every line of the file at `path`, those that are there and those that come, until the
/// process ends (or is not there).
pub(crate) fn follow(path: &Path, pid: u32, each: &mut dyn FnMut(&str)) -> io::Result<()> {
    let mut lines = Lines::open(path)?;
    let notify = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
    inotify::add_watch(&notify, path, inotify::WatchFlags::MODIFY)?;
    let process = i32::try_from(pid)
        .ok()
        .and_then(Pid::from_raw)
        .and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    lines.read(each)?;
    let Some(process) = process else { return Ok(()) };
    while !ended(&notify, &process)? {
        drain(&notify);
        lines.read(each)?;
    }
    lines.read(each)
}

/// Waits for either; true when the process has ended.
fn ended(notify: &OwnedFd, process: &OwnedFd) -> io::Result<bool> {
    let mut fds = [PollFd::new(notify, PollFlags::IN), PollFd::new(process, PollFlags::IN)];
    match poll(&mut fds, None) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(!fds[1].revents().is_empty()),
        Err(e) => Err(e.into()),
    }
}

fn drain(notify: &OwnedFd) {
    let mut buffer = [0; 4096];
    while matches!(rustix::io::read(notify, &mut buffer[..]), Ok(n) if n > 0) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn every_line_is_read_until_the_process_ends() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = "for i in $(seq 1 200); do echo line $i; done; printf unfinished";
        let mut child = Command::new("sh")
            .args(["-c", &format!("({script}) >> {}", file.path().display())])
            .spawn()
            .unwrap();
        let mut lines = Vec::new();
        follow(file.path(), child.id(), &mut |line| lines.push(line.to_owned())).unwrap();
        child.wait().unwrap();
        let expected: Vec<String> = (1..=200).map(|i| format!("line {i}")).collect();
        assert_eq!(lines, expected);
    }
}
