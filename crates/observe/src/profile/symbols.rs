//! Translates addresses to functions, by the mapped files, their separate debug files, the kernel's
//! table and the maps of programs that generate code.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::Read as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use assay_traces::profile::{Frame, FrameKind};

use super::elf::Elf;
use super::jit::JitMaps;
use super::kernel_symbols::KernelSymbols;
use super::spaces::{Code, Spaces};

/// Maximum size of a file that is read for names, bytes.
const MOST: u64 = 1 << 30;
const DEBUG: &str = "/usr/lib/debug";

/// Result of reading the names of a file.
enum SymbolNames {
    Read(Box<Elf>),
    /// Reason why the file has no names.
    Missing(&'static str),
}

/// Names of all code seen so far: kept from one profile to the next, so that no file is read twice.
pub(super) struct Symbols {
    root: PathBuf,
    kernel: KernelSymbols,
    /// True once the kernel's names were read, which is done for the first profile.
    begun: bool,
    jit: JitMaps,
    files: HashMap<usize, SymbolNames>,
    known: HashMap<(usize, u64), Vec<Frame>>,
    read: usize,
}

impl Symbols {
    /// Creates an empty table; `since` is the start of the profiling.
    pub fn new(root: &Path, since: SystemTime) -> Self {
        Symbols {
            root: root.to_owned(),
            kernel: KernelSymbols::default(),
            begun: false,
            jit: JitMaps::new(since),
            files: HashMap::new(),
            known: HashMap::new(),
            read: 0,
        }
    }

    /// Prepares for another profile: programs that generate code may have generated more since the
    /// last one.
    pub fn begin(&mut self) {
        self.jit.may_have_grown();
        if !self.begun {
            self.begun = true;
            self.kernel = KernelSymbols::read(&self.root);
            self.read += 1;
        }
    }

    /// Returns the number of files read so far.
    pub fn read(&self) -> usize {
        self.read + self.jit.read()
    }

    /// Returns the kernel function at an address.
    pub fn kernel(&self, address: u64) -> Frame {
        let name = self.kernel.name(address).map(str::to_owned);
        Frame { name, module: "kernel".to_owned(), kind: FrameKind::Kernel }
    }

    /// Returns the functions at an address of a process's program, outermost first. `called` means
    /// that the address is a return address, so that the call is before it.
    pub fn user(
        &mut self,
        spaces: &Spaces,
        (pid, generation): (u32, u32),
        address: u64,
        called: bool,
    ) -> Vec<Frame> {
        let at = if called { address.saturating_sub(1) } else { address };
        let unknown = |module: &str| {
            vec![Frame { name: None, module: module.to_owned(), kind: FrameKind::User }]
        };
        let place = spaces.place(pid, generation, at);
        let path = place.map_or("", |p| spaces.codes()[p.code].path.as_str());
        if place.is_none()
            || path.is_empty()
            || path.starts_with("//")
            || path.contains("memfd:")
            || path.starts_with("[anon")
        {
            return match self.jit.name(pid, at) {
                Some(name) => vec![Frame {
                    name: Some(name.to_owned()),
                    module: "made at run time".to_owned(),
                    kind: FrameKind::User,
                }],
                None => unknown(if path.starts_with("//") { "" } else { path }),
            };
        }
        let Some(place) = place else { return unknown("") };
        if let Some(frames) = self.known.get(&(place.code, place.offset)) {
            return frames.clone();
        }
        let code = &spaces.codes()[place.code];
        let (files, read) = (&mut self.files, &mut self.read);
        let names = match files.entry(place.code).or_insert_with(|| names(code, read)) {
            SymbolNames::Read(elf) => {
                elf.address(place.offset).map(|a| elf.names(a)).unwrap_or_default()
            }
            SymbolNames::Missing(_) => Vec::new(),
        };
        let frame = |n: super::elf::ElfFunction| Frame {
            name: Some(n.name),
            module: code.path.clone(),
            kind: if n.inlined { FrameKind::Inlined } else { FrameKind::User },
        };
        let mut frames: Vec<Frame> = names.into_iter().map(frame).collect();
        if frames.is_empty() {
            frames = unknown(&code.path);
        }
        self.known.insert((place.code, place.offset), frames.clone());
        frames
    }

    /// Returns notes on code without names, with reasons.
    pub fn notes(&self, spaces: &Spaces) -> Vec<String> {
        let mut notes = Vec::new();
        if self.kernel.is_empty() {
            notes.push(
                "the kernel hides the addresses of its functions (/proc/kallsyms): their names and \
                 the reasons of waits are unknown, except to root with kernel.kptr_restrict at \
                 most 1"
                    .to_owned(),
            );
        }
        let mut by: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (code, names) in &self.files {
            let path = spaces.codes()[*code].path.as_str();
            match names {
                SymbolNames::Missing(why) => by.entry(why).or_default().push(path),
                SymbolNames::Read(elf) if !elf.whole && path != "[vdso]" => by
                    .entry(
                        "stripped, without a debug file for its build id: only exported functions \
                         have names, and other functions may appear under them",
                    )
                    .or_default()
                    .push(path),
                SymbolNames::Read(_) => {}
            }
        }
        for (why, mut paths) in by {
            paths.sort_unstable();
            paths.dedup();
            let more = paths.len().saturating_sub(5);
            let mut text = paths[..paths.len() - more].join(", ");
            if more > 0 {
                let _ = write!(text, " and {more} more");
            }
            notes.push(format!("{text}: {why}"));
        }
        notes
    }
}

/// Reads a file's names, and those of its debug file if it has few itself. `read` counts the files.
fn names(code: &Code, read: &mut usize) -> SymbolNames {
    *read += 1;
    if code.path == "[vdso]" {
        return contents(code).and_then(|b| Elf::parse(&b)).map_or(
            SymbolNames::Missing("the kernel's own code for programs could not be read"),
            |elf| SymbolNames::Read(Box::new(elf)),
        );
    }
    let bytes = contents(code);
    let mut elf = bytes.as_deref().and_then(Elf::parse);
    let mut why = match (&bytes, &elf) {
        (None, _) => "it could no longer be read (deleted, or in another file system)",
        (_, None) => "it is not an ELF file, or is damaged",
        _ => "",
    };
    // The file must be the one that was mapped: it may have been rebuilt meanwhile.
    if let (Some(wanted), Some(found)) = (&code.build_id, &elf)
        && found.build_id.as_ref() != Some(wanted)
    {
        why = "it was replaced by another build while it ran, and no debug file has its build id";
        elf = None;
    }
    let id = code.build_id.clone().or_else(|| elf.as_ref().and_then(|e| e.build_id.clone()));
    let link = elf.as_ref().and_then(|e| e.debug_link.clone());
    if elf.as_ref().is_none_or(|e| !e.whole)
        && let Some(debug) = debug_file(Path::new(&code.path), id.as_deref(), link.as_deref(), read)
    {
        match &mut elf {
            Some(elf) => elf.with_debug_file(debug),
            // A debug file has the segments of its program, but not their offsets in it.
            None => return SymbolNames::Missing(why),
        }
    }
    elf.map_or(SymbolNames::Missing(why), |elf| SymbolNames::Read(Box::new(elf)))
}

/// Reads a file with code: the very file that was mapped, if it was opened in time.
pub(super) fn contents(code: &Code) -> Option<Vec<u8>> {
    if code.path == "[vdso]" {
        return own_vdso();
    }
    let held = code.file.as_ref().and_then(|file| {
        let size = file.metadata().ok()?.len();
        let mut bytes = vec![0; usize::try_from(size.min(MOST)).ok()?];
        file.read_exact_at(&mut bytes, 0).ok().map(|()| bytes)
    });
    held.or_else(|| bytes_of(Path::new(&code.path)))
}

fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    let file = std::fs::File::open(path).ok()?;
    let meta = file.metadata().ok().filter(|m| m.is_file() && m.len() <= MOST)?;
    let mut bytes = Vec::with_capacity(meta.len() as usize);
    file.take(MOST).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Finds the separate debug file by build id, where distributions and debuginfod store it, or by
/// the debug link of the file.
fn debug_file(
    program: &Path,
    id: Option<&[u8]>,
    link: Option<&str>,
    read: &mut usize,
) -> Option<Elf> {
    let mut places: Vec<PathBuf> = Vec::new();
    if let Some(id) = id.filter(|id| id.len() > 1) {
        let hex = assay_system::hex(id);
        places.push(format!("{DEBUG}/.build-id/{}/{}.debug", &hex[..2], &hex[2..]).into());
        if let Some(home) = std::env::var_os("HOME") {
            let cache = Path::new(&home).join(".cache/debuginfod_client");
            places.push(cache.join(hex).join("debuginfo"));
        }
    }
    if let (Some(link), Some(folder)) = (link.filter(|l| !l.contains('/')), program.parent()) {
        places.push(folder.join(link));
        places.push(folder.join(".debug").join(link));
        places.push(Path::new(DEBUG).join(folder.strip_prefix("/").unwrap_or(folder)).join(link));
    }
    places.iter().filter(|p| p.as_path() != program).find_map(|path| {
        let bytes = bytes_of(path)?;
        *read += 1;
        let elf = Elf::parse(&bytes)?;
        (id.is_none() || elf.build_id.as_deref() == id).then_some(elf)
    })
}

/// Reads the vDSO (the kernel's code in user space), which is the same for all processes.
fn own_vdso() -> Option<Vec<u8>> {
    let maps = super::maps::of_process(std::process::id());
    let map = maps.iter().find(|m| m.path == "[vdso]")?;
    let mut bytes = vec![0; usize::try_from(map.end.checked_sub(map.start)?).ok()?];
    let memory = std::fs::File::open("/proc/self/mem").ok()?;
    memory.read_exact_at(&mut bytes, map.start).ok()?;
    Some(bytes)
}
