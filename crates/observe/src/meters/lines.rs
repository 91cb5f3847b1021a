//! Meters that send lines: over TCP, over a serial line, or into a file.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use super::Post;

/// Interval at which a waiting reader checks whether it must stop.
const LOOK: Duration = Duration::from_millis(100);
/// Delay before a lost meter is tried again.
const AGAIN: Duration = Duration::from_secs(1);
/// Maximum length of a line in bytes; the rest is discarded.
const MAX_LINE: usize = 64 << 10;

/// Returns the watts in a line: the number in field `field` (fields are separated by commas,
/// semicolons, tabs or blanks), or the last number. Units after a number are ignored. Returns
/// `None` if there is no such number.
pub fn watts_of_line(line: &str, field: Option<usize>) -> Option<f64> {
    let parts = line.split([',', ';', '\t', ' ']).map(str::trim);
    let number = |part: &str| {
        let end = part.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c));
        let digits = part[..end.unwrap_or(part.len())].trim_end_matches(['e', 'E']);
        digits.parse::<f64>().ok().filter(|w| w.is_finite())
    };
    match field {
        // Fields may be empty, except those between blanks.
        Some(n) if line.contains([',', ';', '\t']) => {
            line.split([',', ';', '\t']).nth(n - 1).and_then(|p| number(p.trim()))
        }
        Some(n) => parts.filter(|p| !p.is_empty()).nth(n - 1).and_then(number),
        None => parts.filter(|p| !p.is_empty()).filter_map(number).next_back(),
    }
}

/// Assembles lines from the bytes read.
#[derive(Default)]
struct MeterLines {
    rest: Vec<u8>,
    strange: u32,
}

impl MeterLines {
    fn feed(&mut self, bytes: &[u8], field: Option<usize>, post: &Post) {
        for &byte in bytes {
            if byte != b'\n' && byte != b'\r' {
                if self.rest.len() < MAX_LINE {
                    self.rest.push(byte);
                }
                continue;
            }
            let line = String::from_utf8_lossy(&self.rest).trim().to_owned();
            self.rest.clear();
            match watts_of_line(&line, field) {
                _ if line.is_empty() => {}
                Some(watts) => post.put(watts),
                // The first line may be a heading, or incomplete.
                None if self.strange == 0 => self.strange += 1,
                None => post.complain(|| {
                    format!("a line without watts: `{}`", line.chars().take(60).collect::<String>())
                }),
            }
        }
    }
}

/// Reads a meter until stopped; reconnects if it is lost.
fn keep_reading(post: &Post, mut read: impl FnMut() -> Result<(), String>) {
    while !post.stopped() {
        if let Err(what) = read() {
            post.complain(|| what);
        }
        if !post.wait(AGAIN) {
            return;
        }
    }
}

pub(super) fn tcp(address: &str, field: Option<usize>, post: &Post) {
    keep_reading(post, || {
        let target = address.to_socket_addrs().ok().and_then(|mut a| a.next());
        let stream = match target {
            None => Err(std::io::Error::other("the name is not known")),
            Some(target) => TcpStream::connect_timeout(&target, Duration::from_secs(2)),
        };
        let done = stream.and_then(|mut stream| {
            stream.set_read_timeout(Some(LOOK))?;
            read(&mut stream, field, post, EndOfData::Close)
        });
        Err(match done {
            Ok(()) => format!("{address} closed the connection"),
            Err(e) => format!("{address}: {e}"),
        })
    });
}

pub(super) fn device(path: &str, field: Option<usize>, post: &Post) {
    keep_reading(post, || {
        let opened = File::options()
            .read(true)
            .custom_flags((rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::NONBLOCK).bits() as i32)
            .open(path);
        let done = opened.and_then(|mut file| read(&mut file, field, post, EndOfData::Wait));
        done.map_err(|e| format!("{path}: {e}"))
    });
}

pub(super) fn file(path: &str, field: Option<usize>, post: &Post) {
    keep_reading(post, || {
        let done = File::open(path).and_then(|mut file| {
            // Lines that already exist are old.
            file.seek(SeekFrom::End(0))?;
            read(&mut file, field, post, EndOfData::Wait)
        });
        done.map_err(|e| format!("{path}: {e}"))
    });
}

/// Meaning of the end of the available data.
#[derive(Clone, Copy, PartialEq)]
enum EndOfData {
    /// The other side has closed the connection.
    Close,
    /// More data will follow.
    Wait,
}

fn read(
    from: &mut impl Read,
    field: Option<usize>,
    post: &Post,
    end: EndOfData,
) -> std::io::Result<()> {
    let mut lines = MeterLines::default();
    let mut buffer = [0; 4096];
    while !post.stopped() {
        match from.read(&mut buffer) {
            Ok(0) if end == EndOfData::Close => return Ok(()),
            Ok(0) => {
                post.wait(LOOK);
            }
            Ok(n) => lines.feed(&buffer[..n], field, post),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                // A socket has already waited, a device has not.
                if end == EndOfData::Wait {
                    post.wait(LOOK);
                }
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}
