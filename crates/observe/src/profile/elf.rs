//! Names in a file with code: its symbol tables, and the inlined functions from its debug
//! information. Any content is read without panicking; damaged parts have no names.

use std::borrow::Cow;
use std::io::Read as _;
use std::sync::Arc;

use addr2line::gimli::{self, EndianArcSlice, RunTimeEndian};
use object::{CompressionFormat, Object as _, ObjectSection as _, ObjectSegment as _};
use object::{ObjectSymbol as _, SymbolKind};

/// Maximum size of an uncompressed section, bytes.
const MOST: u64 = 1 << 30;

type Debug = addr2line::Context<EndianArcSlice<RunTimeEndian>>;

/// Names of the functions in a file.
pub(super) struct Elf {
    pub build_id: Option<Vec<u8>>,
    /// Name of the separate debug file, as the file gives it.
    pub debug_link: Option<String>,
    /// Offset in the file, size there, address.
    segments: Vec<(u64, u64, u64)>,
    /// Address, size and name of each symbol; sorted by address.
    symbols: Vec<(u64, u64, String)>,
    /// True if the file has the full symbol table, not only the dynamic symbols.
    pub whole: bool,
    debug: Option<Debug>,
}

/// A function at an address; an inlined one is inlined into the one before it.
pub(super) struct ElfFunction {
    pub name: String,
    pub inlined: bool,
}

impl Elf {
    /// Parses an ELF file; returns `None` if it is malformed.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        let segments = file
            .segments()
            .map(|s| {
                let (offset, size) = s.file_range();
                (offset, size, s.address())
            })
            .collect();
        let mut symbols = Vec::new();
        let mut whole = false;
        for (table, all) in [(file.symbols(), true), (file.dynamic_symbols(), false)] {
            for s in table {
                let code = matches!(s.kind(), SymbolKind::Text) && s.is_definition();
                if let (true, Ok(name)) = (code, s.name())
                    && !name.is_empty()
                {
                    whole |= all;
                    symbols.push((s.address(), s.size(), name.to_owned()));
                }
            }
        }
        // Of several names of one function, the alphabetically first is kept, so that it is always
        // the same; names that libraries keep private come last.
        let private = |name: &str| name.starts_with('_');
        symbols.sort_by(|a, b| {
            a.0.cmp(&b.0)
                .then_with(|| b.1.cmp(&a.1))
                .then_with(|| private(&a.2).cmp(&private(&b.2)))
                .then_with(|| a.2.cmp(&b.2))
        });
        symbols.dedup_by_key(|s| s.0);
        let link = file.gnu_debuglink().ok().flatten();
        Some(Elf {
            build_id: file.build_id().ok().flatten().map(<[u8]>::to_vec),
            debug_link: link.map(|(name, _)| String::from_utf8_lossy(name).into_owned()),
            segments,
            symbols,
            whole,
            debug: debug(&file),
        })
    }

    /// Takes over the names of a separate debug file.
    pub fn with_debug_file(&mut self, other: Elf) {
        if other.whole || self.symbols.is_empty() {
            self.symbols = other.symbols;
            self.whole = other.whole;
        }
        if other.debug.is_some() {
            self.debug = other.debug;
        }
    }

    /// Converts an offset in the file to an address.
    pub fn address(&self, offset: u64) -> Option<u64> {
        address(&self.segments, offset)
    }

    /// Returns the functions at an address, outermost first; empty if it has no name.
    pub fn names(&self, address: u64) -> Vec<ElfFunction> {
        let symbol = self.symbol(address).map(demangled);
        let mut named = self.inlined(address);
        match (named.last(), symbol) {
            // The symbol table names the function that contains the code, so the outermost frame
            // gets that name.
            (Some(_), Some(symbol)) => {
                if let Some(outer) = named.last_mut() {
                    outer.name = symbol.into_owned();
                }
            }
            (None, Some(symbol)) => {
                return vec![ElfFunction { name: symbol.into_owned(), inlined: false }];
            }
            (_, None) => {}
        }
        named.reverse();
        named
    }

    /// Returns the functions at an address from the debug information, innermost first; the last
    /// one is not inlined.
    fn inlined(&self, address: u64) -> Vec<ElfFunction> {
        let Some(debug) = &self.debug else { return Vec::new() };
        let Ok(mut frames) = debug.find_frames(address).skip_all_loads() else { return Vec::new() };
        let mut all = Vec::new();
        // No function is inlined so deeply; a damaged file might claim it.
        while let (Ok(Some(frame)), true) = (frames.next(), all.len() < 64) {
            let Some(function) = frame.function else { continue };
            let Ok(raw) = function.raw_name() else { continue };
            all.push(ElfFunction { name: demangled(&raw).into_owned(), inlined: true });
        }
        if let Some(last) = all.last_mut() {
            last.inlined = false;
        }
        all
    }

    fn symbol(&self, address: u64) -> Option<&str> {
        let at = self.symbols.partition_point(|s| s.0 <= address).checked_sub(1)?;
        // Symbols of assembly code have no size and extend to the next one. A symbol nested in
        // another is short.
        let holds = |s: &&(u64, u64, String)| s.1 == 0 || address - s.0 < s.1;
        let near = &self.symbols[at.saturating_sub(8)..=at];
        let found = near.iter().rev().find(holds)?;
        let far = found.1 == 0 && address - found.0 > 1 << 16;
        (!far).then_some(found.2.as_str())
    }
}

/// Returns the address of an offset in a file with these segments (offset, size, address).
pub(super) fn address(segments: &[(u64, u64, u64)], offset: u64) -> Option<u64> {
    let within = |s: &&(u64, u64, u64)| offset >= s.0 && offset - s.0 < s.1;
    let (from, _, address) = segments.iter().find(within)?;
    address.checked_add(offset - from)
}

/// Returns a name as it is in the source.
pub(super) fn demangled(name: &str) -> Cow<'_, str> {
    // Cuts off the version of a dynamic symbol.
    let bare = name.split_once('@').map_or(name, |n| n.0);
    if let Ok(rust) = rustc_demangle::try_demangle(bare) {
        return Cow::Owned(format!("{rust:#}"));
    }
    if bare.starts_with("_Z")
        && let Ok(symbol) = cpp_demangle::Symbol::new(bare)
        && let Ok(text) = symbol.demangle()
    {
        return Cow::Owned(text);
    }
    Cow::Borrowed(bare)
}

fn debug(file: &object::File<'_>) -> Option<Debug> {
    file.section_by_name(".debug_info")?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let load = |id: gimli::SectionId| -> Result<_, gimli::Error> {
        let bytes = section(file, id.name()).unwrap_or_default();
        Ok(EndianArcSlice::new(Arc::from(bytes), endian))
    };
    let dwarf = gimli::Dwarf::load(load).ok()?;
    Debug::from_dwarf(dwarf).ok()
}

/// Returns the uncompressed bytes of a section.
pub(super) fn section(file: &object::File<'_>, name: &str) -> Option<Vec<u8>> {
    let data = file.section_by_name(name)?.compressed_data().ok()?;
    match data.format {
        CompressionFormat::None => Some(data.data.to_vec()),
        CompressionFormat::Zlib if data.uncompressed_size <= MOST => {
            let mut plain = Vec::new();
            flate2::read::ZlibDecoder::new(data.data)
                .take(data.uncompressed_size)
                .read_to_end(&mut plain)
                .ok()?;
            Some(plain)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_source() {
        assert_eq!(demangled("_ZN4core3fmt5write17h0123456789abcdefE"), "core::fmt::write");
        assert_eq!(demangled("_ZNSt6vectorIiE9push_backEi"), "std::vector<int>::push_back(int)");
        assert_eq!(demangled("memcpy@@GLIBC_2.14"), "memcpy");
        assert_eq!(demangled("_Znonsense"), "_Znonsense");
    }

    /// Compiles a small program of two functions, with debug information.
    fn program(folder: &std::path::Path) -> Option<Vec<u8>> {
        let source = folder.join("p.c");
        std::fs::write(
            &source,
            "static inline __attribute__((always_inline)) int inner(int x) \
             { return x * 7 + x / 3; }\n\
             __attribute__((noinline)) int outer(int x) \
             { int s = 0; for (int i = 0; i < x; i++) s += inner(s + i); return s; }\n\
             int main(int c, char **v) { (void)v; return outer(c); }\n",
        )
        .ok()?;
        let target = folder.join("p");
        let done = std::process::Command::new("cc")
            .args(["-g", "-O1", "-o"])
            .arg(&target)
            .arg(&source)
            .status();
        done.is_ok_and(|d| d.success()).then(|| std::fs::read(&target).ok()).flatten()
    }

    #[test]
    fn functions_and_what_was_inlined_into_them() {
        let folder = tempfile::tempdir().unwrap();
        let Some(bytes) = program(folder.path()) else {
            eprintln!("skipped: because there is no C compiler");
            return;
        };
        let elf = Elf::parse(&bytes).unwrap();
        assert!(elf.whole && elf.build_id.is_some());
        let (start, size, _) = elf.symbols.iter().find(|s| s.2 == "outer").unwrap().clone();
        let mut inlined = false;
        for address in start..start + size {
            let names = elf.names(address);
            assert_eq!(names[0].name, "outer");
            assert!(!names[0].inlined);
            inlined |= names.get(1).is_some_and(|n| n.name == "inner" && n.inlined);
        }
        assert!(inlined);
        assert!(elf.names(1).is_empty());
    }

    #[test]
    fn damaged_files_do_not_panic() {
        let folder = tempfile::tempdir().unwrap();
        let Some(bytes) = program(folder.path()) else {
            eprintln!("skipped: because there is no C compiler");
            return;
        };
        let mut random = 1u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (random >> 33) as usize % below
        };
        for round in 0..600 {
            let mut bad = bytes.clone();
            if round % 3 == 0 {
                bad.truncate(next(bytes.len()));
            }
            for _ in 0..=next(20) {
                let at = next(bad.len().max(1));
                if let Some(b) = bad.get_mut(at) {
                    *b = next(256) as u8;
                }
            }
            let Some(elf) = Elf::parse(&bad) else { continue };
            for address in (0x1000..0x1400).step_by(7) {
                let _ = elf.names(address);
                let _ = elf.address(address);
            }
        }
    }
}
