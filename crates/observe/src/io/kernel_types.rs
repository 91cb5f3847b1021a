//! Reader of the kernel's description of its types and functions (BTF, `/sys/kernel/btf/vmlinux`),
//! as far as it decides which probes fit: arguments of tracepoints, members of structures, values
//! of enums.

use std::path::Path;

use crate::NotAvailable;

/// Magic number of BTF, in native byte order.
const MAGIC: u16 = 0xeb9f;
const PTR: u32 = 2;
const STRUCT: u32 = 4;
const ENUM: u32 = 6;
const TYPEDEF: u32 = 8;
const FUNC_PROTO: u32 = 13;
const ENUM64: u32 = 19;

/// Offset of a type's record in the BTF data.
#[derive(Clone, Copy)]
struct BtfOffset(usize);

/// The kernel's description of its types.
pub(crate) struct KernelTypes {
    bytes: Vec<u8>,
    strings: usize,
    /// Types by number, from 1.
    types: Vec<BtfOffset>,
}

impl KernelTypes {
    /// Reads the description under a root.
    pub fn read(root: &Path) -> Result<Self, NotAvailable> {
        let path = root.join("sys/kernel/btf/vmlinux");
        let missing = |why: &str| {
            NotAvailable::because(format!(
                "the kernel does not describe its types ({}: {why}), so eBPF cannot read its \
                 requests; a kernel with CONFIG_DEBUG_INFO_BTF can",
                path.display()
            ))
        };
        let bytes = std::fs::read(&path).map_err(|e| missing(&e.to_string()))?;
        Self::parse(bytes).ok_or_else(|| missing("the description is broken"))
    }

    fn parse(bytes: Vec<u8>) -> Option<Self> {
        let word = |at: usize| word(&bytes, at);
        if bytes.get(..2)? != MAGIC.to_ne_bytes() {
            return None;
        }
        let header = word(4)? as usize;
        let (types_at, types_len) = (header + word(8)? as usize, word(12)? as usize);
        let strings = header + word(16)? as usize;
        let mut types = Vec::new();
        let mut at = types_at;
        while at < types_at.checked_add(types_len)? {
            let info = word(at + 4)?;
            types.push(BtfOffset(at));
            at += 12 + trailer(info)?;
        }
        Some(KernelTypes { bytes, strings, types })
    }

    fn word(&self, at: usize) -> u32 {
        word(&self.bytes, at).unwrap_or(0)
    }

    fn kind(&self, at: BtfOffset) -> u32 {
        self.word(at.0 + 4) >> 24 & 0x1f
    }

    fn members(&self, at: BtfOffset) -> usize {
        (self.word(at.0 + 4) & 0xffff) as usize
    }

    /// Returns the string at an offset in the string section.
    fn name(&self, offset: u32) -> &[u8] {
        let text = self.bytes.get(self.strings + offset as usize..).unwrap_or_default();
        &text[..text.iter().position(|b| *b == 0).unwrap_or(text.len())]
    }

    fn number(&self, number: u32) -> Option<BtfOffset> {
        self.types.get((number as usize).checked_sub(1)?).copied()
    }

    /// Returns the types of these kinds with this name.
    fn named<'a>(
        &'a self,
        kinds: &'a [u32],
        name: &'a str,
    ) -> impl Iterator<Item = BtfOffset> + 'a {
        self.types.iter().copied().filter(move |at| {
            kinds.contains(&self.kind(*at)) && self.name(self.word(at.0)) == name.as_bytes()
        })
    }

    /// Returns the number of arguments of a tracepoint; `None` if this kernel does not have it.
    pub fn arguments(&self, tracepoint: &str) -> Option<usize> {
        let name = format!("btf_trace_{tracepoint}");
        let defined = self.named(&[TYPEDEF], &name).next()?;
        let pointer = self.number(self.word(defined.0 + 8))?;
        let function = self.number(self.word(pointer.0 + 8))?;
        // The first parameter is the tracepoint's own context.
        (self.kind(pointer) == PTR && self.kind(function) == FUNC_PROTO)
            .then(|| self.members(function).saturating_sub(1))
    }

    /// Returns true if a structure has a member.
    pub fn has_member(&self, structure: &str, member: &str) -> bool {
        self.named(&[STRUCT], structure).any(|at| {
            (0..self.members(at))
                .any(|n| self.name(self.word(at.0 + 12 + n * 12)) == member.as_bytes())
        })
    }

    /// Returns true if an enum has a value.
    pub fn has_value(&self, enumeration: &str, value: &str) -> bool {
        self.value(enumeration, value).is_some()
    }

    /// Returns the number of a value of an enum, or its lower 32 bits.
    pub fn value(&self, enumeration: &str, value: &str) -> Option<u32> {
        self.named(&[ENUM, ENUM64], enumeration).find_map(|at| {
            let each = if self.kind(at) == ENUM { 8 } else { 12 };
            let mut all = (0..self.members(at)).map(|n| at.0 + 12 + n * each);
            let at = all.find(|at| self.name(self.word(*at)) == value.as_bytes())?;
            Some(self.word(at + 4))
        })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_ne_bytes(four.try_into().ok()?))
}

/// Returns the number of bytes that follow the 12-byte header of a type.
fn trailer(info: u32) -> Option<usize> {
    let members = (info & 0xffff) as usize;
    Some(match info >> 24 & 0x1f {
        1 | 14 | 17 => 4,
        3 => 12,
        4 | 5 | 15 | 19 => members * 12,
        6 | 13 => members * 8,
        2 | 7..=12 | 16 | 18 => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a description with these types and strings.
    fn described(types: &[u32], strings: &str) -> KernelTypes {
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        let length = (types.len() * 4) as u32;
        for n in [24, 0, length, length, strings.len() as u32].iter().chain(types) {
            bytes.extend(n.to_ne_bytes());
        }
        bytes.extend(strings.as_bytes());
        KernelTypes::parse(bytes).unwrap()
    }

    #[test]
    fn arguments_members_and_values() {
        let strings = "\0btf_trace_block_rq_issue\0request\0rq_disk\0req_op\0REQ_OP_READ\0";
        let at = |name: &str| strings.find(name).unwrap() as u32;
        let types = [
            // 1: a function with three parameters: the tracepoint's own, the queue and the request.
            &[0, FUNC_PROTO << 24 | 3, 0, 0, 2, 0, 2, 0, 2][..],
            &[0, PTR << 24, 1],
            &[at("btf_trace"), TYPEDEF << 24, 2],
            &[at("request"), STRUCT << 24 | 1, 8, at("rq_disk"), 2, 0],
            &[at("req_op"), ENUM << 24 | 1, 4, at("REQ_OP_READ"), 0],
        ]
        .concat();
        let kernel = described(&types, strings);
        assert_eq!(kernel.arguments("block_rq_issue"), Some(2));
        assert_eq!(kernel.arguments("block_io_start"), None);
        assert!(kernel.has_member("request", "rq_disk") && !kernel.has_member("request", "q"));
        assert!(kernel.has_value("req_op", "REQ_OP_READ") && !kernel.has_value("req_op", "X"));
        assert_eq!(kernel.value("req_op", "REQ_OP_READ"), Some(0));
    }

    #[test]
    fn broken_descriptions_are_refused() {
        assert!(KernelTypes::parse(Vec::new()).is_none());
        assert!(KernelTypes::parse(vec![0; 100]).is_none());
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        for n in [24u32, 0, u32::MAX, 0, 0, 5, 31 << 24, 0] {
            bytes.extend(n.to_ne_bytes());
        }
        assert!(KernelTypes::parse(bytes).is_none());
    }

    #[test]
    fn this_kernel() {
        match KernelTypes::read(Path::new("/")) {
            Ok(kernel) => {
                assert!(kernel.arguments("block_rq_complete") >= Some(3));
                assert!(kernel.has_member("request", "start_time_ns"));
                // An operation takes the low eight bits, flags the others.
                assert!(kernel.value("req_flag_bits", "__REQ_SYNC") >= Some(8));
            }
            Err(why) => eprintln!("skipped: because {why}"),
        }
    }
}
