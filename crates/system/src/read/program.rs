//! Identifies a program by its file: hash, build id, machine, compilers, libraries.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use assay_model::Program;
use object::read::elf::{ElfFile32, ElfFile64};
use object::{Architecture, Object, ObjectSection, ReadCache};

use crate::read::command_output::output_within;
use crate::read::digest::{hex, sha256_file};

/// Maximum time for the dynamic linker to list the libraries.
const LINKER_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum length in bytes of a first line that counts as `#!`.
const MAX_SHEBANG: usize = 256;
/// Maximum size in bytes of a section or output that is read.
const MAX_SECTION: u64 = 1 << 20;

/// Identifies the program in the file at `path`.
///
/// # Errors
/// If the file cannot be read.
pub fn identify(path: &Path) -> io::Result<Program> {
    let real = fs::canonicalize(path)?;
    let mut program = Program {
        path: real.display().to_string(),
        sha256: sha256_file(&real)?,
        size: real.metadata()?.len(),
        ..Program::default()
    };
    let file = fs::File::open(&real)?;
    let mut head = [0u8; MAX_SHEBANG];
    let n = file.read_at(&mut head, 0)?;
    let head = &head[..n];
    if head.starts_with(b"\x7fELF") {
        let cache = ReadCache::new(&file);
        match head.get(4) {
            Some(1) => match ElfFile32::<object::Endianness, _>::parse(&cache) {
                Ok(elf) => elf_facts(&elf, &mut program),
                Err(e) => program.not_seen.push(format!("its ELF headers: {e}")),
            },
            _ => match ElfFile64::<object::Endianness, _>::parse(&cache) {
                Ok(elf) => elf_facts(&elf, &mut program),
                Err(e) => program.not_seen.push(format!("its ELF headers: {e}")),
            },
        }
        libraries(&real, &mut program);
    } else if let Some(rest) = head.strip_prefix(b"#!") {
        let line = rest.split(|b| *b == b'\n').next().unwrap_or_default();
        String::from_utf8_lossy(line).trim().clone_into(&mut program.interpreter);
    }
    Ok(program)
}

fn elf_facts<'data>(elf: &impl Object<'data>, program: &mut Program) {
    program.machine = match elf.architecture() {
        Architecture::X86_64 => "x86_64".to_owned(),
        Architecture::I386 => "i386".to_owned(),
        Architecture::Aarch64 => "aarch64".to_owned(),
        other => format!("{other:?}").to_lowercase(),
    };
    if let Ok(Some(id)) = elf.build_id() {
        program.build_id = hex(id);
    }
    if let Some(text) = section(elf, ".comment") {
        let names = text.split(|b| *b == 0).filter(|n| !n.is_empty());
        program.compilers = names.map(|n| String::from_utf8_lossy(n).into_owned()).collect();
        program.compilers.sort();
        program.compilers.dedup();
    }
    program.isa_level = section(elf, ".note.gnu.property")
        .and_then(|note| isa_level(&note, elf.is_little_endian()));
}

fn section<'data>(elf: &impl Object<'data>, name: &str) -> Option<Vec<u8>> {
    let section = elf.section_by_name(name)?;
    if section.size() > MAX_SECTION {
        return None;
    }
    section.data().ok().map(<[u8]>::to_vec)
}

/// Returns the x86 instruction-set level in a GNU property note (`GNU_PROPERTY_X86_ISA_1_NEEDED`,
/// one bit per level; System V ABI, AMD64 supplement, "Program Property").
fn isa_level(note: &[u8], little: bool) -> Option<u32> {
    const ISA_1_NEEDED: u32 = 0xc000_8002;
    let word = |at: usize| {
        let bytes: [u8; 4] = note.get(at..at.checked_add(4)?)?.try_into().ok()?;
        Some(if little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
    };
    // Layout: name size, description size, type, the name `GNU\0`, then properties of type, size
    // and data.
    let end = 16usize.checked_add(word(4)? as usize)?.min(note.len());
    let mut at = 16;
    while at + 8 <= end {
        let (kind, size) = (word(at)?, word(at + 4)? as usize);
        if kind == ISA_1_NEEDED {
            return Some(32 - word(at + 8)?.leading_zeros());
        }
        at = at.checked_add(8)?.checked_add(size.checked_next_multiple_of(8)?)?;
    }
    None
}

/// Asks the dynamic linker which libraries it would load, and hashes them.
fn libraries(path: &Path, program: &mut Program) {
    let Some(interpreter) = interpreter(path) else { return };
    match listed(&interpreter, path) {
        Ok(found) => program.libraries = found,
        Err(why) => program.not_seen.push(format!("its libraries: {why}")),
    }
}

/// Returns the dynamic linker that the file names; `None` for a statically linked program.
fn interpreter(path: &Path) -> Option<PathBuf> {
    use object::read::elf::{FileHeader, ProgramHeader};
    fn of<H: FileHeader<Endian = object::Endianness>>(data: &[u8]) -> Option<PathBuf> {
        let header = H::parse(data).ok()?;
        let endian = header.endian().ok()?;
        let segments = header.program_headers(endian, data).ok()?;
        let name = segments.iter().find_map(|s| s.interpreter(endian, data).ok().flatten())?;
        Some(PathBuf::from(String::from_utf8_lossy(name).into_owned()))
    }
    // Headers and the name are at the start of the file.
    let mut head = vec![0u8; 1 << 16];
    let n = fs::File::open(path).ok()?.read_at(&mut head, 0).ok()?;
    head.truncate(n);
    match head.get(4) {
        Some(1) => of::<object::elf::FileHeader32<object::Endianness>>(&head),
        _ => of::<object::elf::FileHeader64<object::Endianness>>(&head),
    }
}

fn listed(interpreter: &Path, path: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut linker = Command::new(interpreter);
    let output = output_within(linker.arg("--list").arg(path), LINKER_TIMEOUT, || false)
        .map_err(|e| format!("cannot start `{}`: {e}", interpreter.display()))?
        .ok_or_else(|| format!("`{}` did not answer", interpreter.display()))?;
    if !output.status.success() {
        return Err(format!("`{} --list` failed: {}", interpreter.display(), output.status));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let paths = text.lines().filter_map(library);
    Ok(paths.filter_map(|p| Some((p.to_owned(), sha256_file(Path::new(p)).ok()?))).collect())
}

/// Extracts the path from a line such as `libc.so.6 => /lib/libc.so.6 (0x7f...)` or
/// `/lib64/ld-linux-x86-64.so.2 (0x7f...)`.
fn library(line: &str) -> Option<&str> {
    let target = line.split_once("=>").map_or(line, |(_, path)| path).trim();
    target.starts_with('/').then(|| target.split(" (0x").next().unwrap_or(target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_real_program_tells_what_it_is() {
        let program = identify(Path::new("/bin/sh")).unwrap();
        assert_eq!(program.sha256.len(), 64);
        assert_eq!(program.machine, std::env::consts::ARCH);
        assert!(program.libraries.keys().any(|l| l.contains("libc")), "{program:?}");
        assert!(program.interpreter.is_empty());
        let own = identify(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.compilers.iter().any(|c| c.contains("rustc")), "{own:?}");
        assert_ne!(own.sha256, program.sha256);
    }

    #[test]
    fn a_script_tells_its_interpreter_and_garbage_does_not_panic() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        fs::write(&script, "#!/usr/bin/env python3\nprint(1)\n").unwrap();
        assert_eq!(identify(&script).unwrap().interpreter, "/usr/bin/env python3");
        for bytes in [&b"\x7fELF"[..], b"\x7fELF\x02\x01\x01garbage", b""] {
            fs::write(&script, bytes).unwrap();
            assert_eq!(identify(&script).unwrap().size, bytes.len() as u64);
        }
        assert!(identify(&dir.path().join("none")).is_err());
    }

    #[test]
    fn the_instruction_set_level_is_read() {
        let mut note = Vec::new();
        for word in [4u32, 16, 5] {
            note.extend(word.to_le_bytes());
        }
        note.extend(b"GNU\0");
        for word in [0xc000_8002u32, 4, 0b111, 0] {
            note.extend(word.to_le_bytes());
        }
        assert_eq!(isa_level(&note, true), Some(3));
        for cut in 0..note.len() {
            let _ = isa_level(&note[..cut], true);
        }
    }
}
