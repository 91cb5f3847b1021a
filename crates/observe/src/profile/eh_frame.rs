//! Call frame information of a file (`.eh_frame`, indexed by `.eh_frame_hdr`), which describes how
//! to unwind its functions. Any content is read without panicking.

use std::collections::HashMap;
use std::sync::Arc;

use addr2line::gimli::{
    BaseAddresses, EhFrame, EhFrameHdr, EndianArcSlice, EvaluationResult, Location,
    ParsedEhFrameHdr, Register, RegisterRule, RunTimeEndian, UnwindContext, UnwindExpression,
    UnwindSection as _, Value, Vendor,
};
use addr2line::gimli::{CfaRule, Encoding, Format};
use object::{Object as _, ObjectSection as _, ObjectSegment as _};

use super::elf::section;

type Slice = EndianArcSlice<RunTimeEndian>;

/// Maximum number of cached rules per file.
const MAX_RULES: usize = 1 << 15;
/// Maximum number of steps of an expression; compilers generate far fewer.
const MAX_STEPS: u32 = 1000;

/// Rules to restore the registers of a caller.
#[derive(Debug)]
pub(super) struct Rules {
    pub cfa: CfaRule<usize>,
    pub registers: Vec<(Register, RegisterRule<usize>)>,
    /// Register that holds the return address.
    pub return_address: Register,
    /// True if the frame was entered by a signal, not by a call.
    pub signal: bool,
}

/// Call frame information of one file.
pub(super) struct Tables {
    frames: EhFrame<Slice>,
    index: ParsedEhFrameHdr<Slice>,
    bases: BaseAddresses,
    /// Offset in the file, size there, address.
    segments: Vec<(u64, u64, u64)>,
    /// Entry point of the program.
    pub entry: u64,
    pub build_id: Option<Vec<u8>>,
    context: UnwindContext<usize>,
    known: HashMap<u64, Option<Arc<Rules>>>,
}

impl Tables {
    /// Reads the tables of a file; returns `None` if it has none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        let endian =
            if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
        let of = |name: &str| {
            let address = file.section_by_name(name)?.address();
            Some((address, Slice::new(Arc::from(section(&file, name)?), endian)))
        };
        let (index_at, index) = of(".eh_frame_hdr")?;
        let (frames_at, frames) = of(".eh_frame")?;
        let text = file.section_by_name(".text").map_or(0, |s| s.address());
        let bases = BaseAddresses::default()
            .set_eh_frame_hdr(index_at)
            .set_eh_frame(frames_at)
            .set_text(text);
        let index = EhFrameHdr::from(index).parse(&bases, 8).ok()?;
        index.table()?;
        let mut frames = EhFrame::from(frames);
        // Only with it is the instruction known that says where return addresses are signed.
        if file.architecture() == object::Architecture::Aarch64 {
            frames.set_vendor(Vendor::AArch64);
        }
        Some(Tables {
            frames,
            index,
            bases,
            segments: file
                .segments()
                .map(|s| (s.file_range().0, s.file_range().1, s.address()))
                .collect(),
            entry: file.entry(),
            build_id: file.build_id().ok().flatten().map(<[u8]>::to_vec),
            context: UnwindContext::new(),
            known: HashMap::new(),
        })
    }

    /// Converts an offset in the file to an address.
    pub fn address(&self, offset: u64) -> Option<u64> {
        super::elf::address(&self.segments, offset)
    }

    /// Returns the unwinding rules at an address; `None` if the file has none for it.
    pub fn rules(&mut self, address: u64) -> Option<Arc<Rules>> {
        if let Some(known) = self.known.get(&address) {
            return known.clone();
        }
        let rules = self.find(address).map(Arc::new);
        if self.known.len() >= MAX_RULES {
            self.known.clear();
        }
        self.known.insert(address, rules.clone());
        rules
    }

    fn find(&mut self, address: u64) -> Option<Rules> {
        let found = self.index.table()?.lookup(address, &self.bases).ok()?.direct().ok()?;
        let begin = self.index.eh_frame_ptr().direct().ok()?;
        let offset = usize::try_from(found.checked_sub(begin)?).ok()?;
        let entry = self
            .frames
            .fde_from_offset(&self.bases, offset.into(), EhFrame::cie_from_offset)
            .ok()?;
        if !entry.contains(address) {
            return None;
        }
        let row = entry
            .unwind_info_for_address(&self.frames, &self.bases, &mut self.context, address)
            .ok()?;
        Some(Rules {
            cfa: row.cfa().clone(),
            registers: row.registers().map(|(r, rule)| (*r, rule.clone())).collect(),
            return_address: entry.cie().return_address_register(),
            signal: entry.is_signal_trampoline(),
        })
    }

    /// Evaluates an expression of the file; `first` is pushed on its stack before.
    pub fn evaluate(
        &self,
        expression: &UnwindExpression<usize>,
        first: Option<u64>,
        register: impl Fn(Register) -> Option<u64>,
        memory: impl Fn(u64) -> Option<u64>,
    ) -> Option<u64> {
        let encoding = Encoding { address_size: 8, format: Format::Dwarf32, version: 4 };
        let mut evaluation = expression.get(&self.frames).ok()?.evaluation(encoding);
        evaluation.set_max_iterations(MAX_STEPS);
        if let Some(first) = first {
            evaluation.set_initial_value(first);
        }
        let mut state = evaluation.evaluate().ok()?;
        // Each request is one step of the expression, so the number of requests is limited too.
        loop {
            state = match state {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register: r, .. } => {
                    evaluation.resume_with_register(Value::Generic(register(r)?)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let word = memory(address)?;
                    let bits = u32::from(size.clamp(1, 8)) * 8;
                    evaluation
                        .resume_with_memory(Value::Generic(word & (u64::MAX >> (64 - bits))))
                        .ok()?
                }
                _ => return None,
            };
        }
        match evaluation.result().first()?.location {
            Location::Address { address } => Some(address),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_says_how_its_functions_are_left() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        let Some(mut tables) = Tables::parse(&bytes) else {
            eprintln!("skipped: because this test is built without call frame information");
            return;
        };
        let file = object::File::parse(&*bytes).unwrap();
        let text = file.section_by_name(".text").unwrap();
        let at = text.address() + text.size() / 2;
        let found = (at..at + 4096).filter(|a| tables.rules(*a).is_some()).count();
        assert!(found > 2048, "{found}");
        let entry = tables.entry;
        let start = tables.rules(entry).unwrap();
        // The entry point has no caller.
        assert!(
            start.registers.contains(&(start.return_address, RegisterRule::Undefined)),
            "{start:?}"
        );
    }

    #[test]
    fn damaged_files_do_not_panic() {
        let bytes = std::fs::read("/proc/self/exe").unwrap();
        let file = object::File::parse(&*bytes).unwrap();
        let Some(part) = file.section_by_name(".eh_frame").and_then(|s| s.file_range()) else {
            eprintln!("skipped: because this test is built without call frame information");
            return;
        };
        let index = file.section_by_name(".eh_frame_hdr").and_then(|s| s.file_range()).unwrap();
        let text = file.section_by_name(".text").unwrap();
        let mut random = 1u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) % below
        };
        for round in 0..20 {
            let mut bad = bytes.clone();
            for n in 0..20_000 {
                // The header of the index, the index, and the frame information.
                let (from, size) = match (round % 4, n) {
                    (0, 0..4) => (index.0, 12),
                    (1, _) => index,
                    _ => part,
                };
                bad[(from + next(size)) as usize] = next(256) as u8;
            }
            let Some(mut tables) = Tables::parse(&bad) else { continue };
            for _ in 0..2000 {
                let at = text.address() + next(text.size());
                let Some(rules) = tables.rules(at) else { continue };
                let expressions = rules.registers.iter().filter_map(|(_, r)| match r {
                    RegisterRule::Expression(e) | RegisterRule::ValExpression(e) => Some(e),
                    _ => None,
                });
                for e in expressions {
                    let _ = tables.evaluate(e, Some(1), |_| Some(2), Some);
                }
                if let CfaRule::Expression(e) = &rules.cfa {
                    let _ = tables.evaluate(e, None, |_| Some(2), Some);
                }
            }
        }
    }
}
