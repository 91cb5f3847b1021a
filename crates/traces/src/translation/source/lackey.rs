//! Reads the log of `valgrind --tool=lackey --trace-mem=yes --log-file=FILE`: `I  addr,size` for a
//! fetch, ` L addr,size` for a load, ` S addr,size` for a store, ` M addr,size` for a load and
//! store. Lines of Valgrind itself begin with `==` or `--` and a process id.

use super::text::{ForeignLine, LineFormat, ParsedLine, decimal, hex, shown};
use crate::translation::access::{Access, AccessKind};

pub(super) const FORMAT: LineFormat = LineFormat { name: "Valgrind lackey's --trace-mem", line };

/// True if the first line of a trace is one of Valgrind itself or an access.
pub(super) fn detect(head: &[u8]) -> bool {
    let mut lines = head.split(|b| *b == b'\n');
    lines.next().is_some_and(|l| line(l).is_ok_and(|a| a.is_some()) || is_own(l))
}

fn is_own(line: &[u8]) -> bool {
    [b"==", b"--", b"**"].iter().any(|mark| {
        line.strip_prefix(*mark).and_then(|l| l.first()).is_some_and(u8::is_ascii_digit)
    })
}

fn line(line: &[u8]) -> ParsedLine {
    let kind = match line.get(..3) {
        Some(b"I  ") => AccessKind::Fetch,
        Some(b" L ") => AccessKind::Load,
        Some(b" S ") => AccessKind::Store,
        Some(b" M ") => AccessKind::Modify,
        _ if line.trim_ascii().is_empty() || is_own(line) => return Ok(None),
        _ => return Err(foreign(line)),
    };
    let rest = &line[3..];
    let comma = memchr::memchr(b',', rest).ok_or_else(|| foreign(line))?;
    let size = decimal(&rest[comma + 1..]).ok_or_else(|| foreign(line))?;
    match hex(&rest[..comma]) {
        Some(address) => Ok(Some(Access { kind, address, size })),
        None => Err(foreign(line)),
    }
}

fn foreign(line: &[u8]) -> ForeignLine {
    ForeignLine {
        line: shown(line),
        format: "lackey; give Valgrind --log-file=FILE, so that the program's own output stays out",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_lines() {
        let access = |kind, address, size| Ok(Some(Access { kind, address, size }));
        assert_eq!(line(b"I  0401ab73,5"), access(AccessKind::Fetch, 0x401_ab73, 5));
        assert_eq!(line(b" S 1fff000758,8"), access(AccessKind::Store, 0x1f_ff00_0758, 8));
        assert_eq!(line(b" M 0,1"), access(AccessKind::Modify, 0, 1));
        assert_eq!(line(b"==32262== Command: /bin/true"), Ok(None));
        assert_eq!(line(b""), Ok(None));
        for bad in
            ["I  ,3", " L 12", " L xyz,4", " L 12,", "hello", " L 11112222333344445,8", "== x"]
        {
            assert!(line(bad.as_bytes()).unwrap_err().format.contains("--log-file"), "{bad}");
        }
    }
}
