//! Reads the text of DynamoRIO's sample clients, which describe their format in the first line.
//! memtrace_simple writes `<data address>: <data size>, <(r)ead/(w)rite/opcode>`, where an opcode
//! marks the fetch of an instruction. memtrace_x86 writes `<instr address>,<(r)ead/(w)rite>,<data
//! size>,<data address>` and has data only: the instruction address does not count as a fetch,
//! because instructions without data are missing.

use super::text::{ForeignLine, LineFormat, ParsedLine, decimal, hex, shown};
use crate::translation::access::{Access, AccessKind};

const SIMPLE: &[u8] = b"Format: <data address>: <data size>, <(r)ead/(w)rite/opcode>";
const X86: &[u8] = b"Format: <instr address>,<(r)ead/(w)rite>,<data size>,<data address>";

/// Returns the format that the first line of a trace names.
pub(super) fn detect(head: &[u8]) -> Option<LineFormat> {
    if head.starts_with(SIMPLE) {
        Some(LineFormat { name: "DynamoRIO's memtrace_simple", line: simple })
    } else if head.starts_with(X86) {
        Some(LineFormat { name: "DynamoRIO's memtrace_x86 (data only)", line: x86 })
    } else {
        None
    }
}

fn simple(line: &[u8]) -> ParsedLine {
    let read = || {
        let colon = memchr::memchr(b':', line)?;
        let comma = colon + memchr::memchr(b',', &line[colon..])?;
        let kind = match line[comma + 1..].trim_ascii() {
            b"r" => AccessKind::Load,
            b"w" => AccessKind::Store,
            b"" => return None,
            _ => AccessKind::Fetch,
        };
        let size = decimal(&line[colon + 1..comma])?;
        Some(Access { kind, address: hex(line[..colon].trim_ascii())?, size })
    };
    one(line, read(), "memtrace_simple")
}

fn x86(line: &[u8]) -> ParsedLine {
    let read = || {
        let mut parts = line.split(|b| *b == b',').map(<[u8]>::trim_ascii);
        hex(parts.next()?)?;
        let kind = match parts.next()? {
            b"r" => AccessKind::Load,
            b"w" => AccessKind::Store,
            _ => return None,
        };
        let size = decimal(parts.next()?)?;
        let address = hex(parts.next()?)?;
        parts.next().is_none().then_some(Access { kind, address, size })
    };
    one(line, read(), "memtrace_x86")
}

fn one(line: &[u8], read: Option<Access>, format: &'static str) -> ParsedLine {
    match read {
        Some(access) => Ok(Some(access)),
        None if line.trim_ascii().is_empty() || line.starts_with(b"Format: ") => Ok(None),
        None => Err(ForeignLine { line: shown(line), format }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_clients() {
        let access = |kind, address, size| Ok(Some(Access { kind, address, size }));
        assert_eq!(
            simple(b"0x00007f59c2d002d3:  3, mov"),
            access(AccessKind::Fetch, 0x7f59_c2d0_02d3, 3)
        );
        assert_eq!(
            simple(b"0x00007ffeacab0ec8:  8, w"),
            access(AccessKind::Store, 0x7ffe_acab_0ec8, 8)
        );
        assert_eq!(x86(b"0x00007f59c2d0,r,8,0x7ffe10"), access(AccessKind::Load, 0x7f_fe10, 8));
        for bad in ["0x7f: 8", "0x7f, 8, r", "zz: 8, r", "0x7f: 8, ", "0x1: 99999999999, r"] {
            assert!(simple(bad.as_bytes()).is_err(), "{bad}");
        }
        for bad in ["0x1,r,8", "0x1,x,8,0x2", "0x1,r,8,0x2,3", "r,r,8,0x2"] {
            assert!(x86(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(
            detect(SIMPLE).is_some() && detect(X86).is_some() && detect(b"Format: ?").is_none()
        );
    }
}
