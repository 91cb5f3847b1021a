//! Reads the events of a run as they are written, without polling: inotify reports new lines, a
//! pidfd the end of the process.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Maximum length of a line, in bytes. Longer lines are skipped.
const MAX_LINE: usize = 4 << 20;

/// Reader of the lines of a growing file.
#[derive(Debug)]
pub(crate) struct LineReader {
    file: File,
    held: Vec<u8>,
    skipping: bool,
}

impl LineReader {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(LineReader { file: File::open(path)?, held: Vec::new(), skipping: false })
    }

    /// Passes the lines that are complete by now to `each`.
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

/// Passes every line of the file at `path`, existing or new, to `each` until the process ends.
/// Returns after the existing lines if there is no such process.
pub(crate) fn follow(path: &Path, pid: u32, each: &mut dyn FnMut(&str)) -> io::Result<()> {
    let mut lines = LineReader::open(path)?;
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

/// Waits for new lines or the end of the process. Returns true if the process has ended.
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
