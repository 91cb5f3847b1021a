//! The folder of a site: its files, the inputs that they were made from, and its updates. A page is
//! written under a temporary name and renamed, so it is complete at any moment. A journal next to
//! the manifest lists the files written since, so that the next build continues one that was
//! killed, and nothing is left behind.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context, Result, anyhow};
use assay_publish::site::{HistoryCard, LandscapeCard, PostCard, RunCard};
use assay_system::{sha256, sha256_file};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::exit::usage;
use crate::screen::say;

/// Subfolder for assay's own data about the site.
const STATE: &str = ".assay-site";
const VERSION: u32 = 1;

/// Pages that are made together from the same input, with a hash of that input.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Unit {
    /// Hash of all inputs of its files.
    pub key: String,
    /// Sizes and modification times of its input, if they can tell that nothing changed without
    /// reading it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub look: String,
    /// Card that lists show for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<UnitCard>,
    /// Files of the unit, by their path in the site.
    pub files: BTreeMap<String, WrittenFile>,
}

/// Data that lists show of a unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitCard {
    Run(Box<RunCard>),
    Post(Box<PostCard>),
    Landscape(Box<LandscapeCard>),
    History(Box<HistoryCard>),
}

/// Size and hash of a file as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenFile {
    bytes: u64,
    sha256: String,
}

/// All units of the folder, and the program that wrote them.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Manifest {
    schema_version: u32,
    /// Size and time of the program's file, and its SHA-256.
    program: (String, String),
    units: BTreeMap<String, Unit>,
}

/// A line of the journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum JournalLine {
    /// A file is about to be written.
    File(String),
    /// A unit is complete.
    Unit(String, Unit),
}

/// Number of pages (files that end in `.html`) that a build wrote, left unchanged and removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PageTally {
    pub built: usize,
    pub unchanged: usize,
    pub removed: usize,
}

/// The locked folder of a site.
pub struct SiteFolder {
    root: PathBuf,
    old: Manifest,
    /// Files of the last build, as they were written.
    standing: HashMap<String, WrittenFile>,
    /// Files that a killed build may have left.
    strays: BTreeSet<String>,
    program: (String, String),
    new: Mutex<BTreeMap<String, Unit>>,
    built: Mutex<BTreeSet<String>>,
    journal: Mutex<File>,
    next: AtomicU64,
    _lock: File,
}

impl SiteFolder {
    /// Opens a folder that is new, empty or a site; with `force`, any folder.
    pub fn open(root: &Path, force: bool) -> Result<Self> {
        let state = root.join(STATE);
        if !state.is_dir() && !force {
            let held = fs::read_dir(root).is_ok_and(|mut entries| entries.next().is_some());
            if held {
                let message = format!(
                    "{} is not empty and not a site written by assay; choose another folder, or \
                     --force to keep the other files",
                    root.display()
                );
                return usage(message);
            }
        }
        if root.exists() && !root.is_dir() {
            return usage(format!("{} is not a folder", root.display()));
        }
        let tmp = state.join("tmp");
        fs::create_dir_all(&tmp).with_context(|| format!("cannot create {}", tmp.display()))?;
        let lock = locked(root, &state)?;
        // Removes the unfinished files of a killed build.
        for entry in fs::read_dir(&tmp)?.flatten() {
            let path = entry.path();
            let gone =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            gone.with_context(|| format!("cannot remove {}", path.display()))?;
        }
        let mut old = manifest(&state.join("manifest.json"))?;
        let journal = state.join("journal");
        let strays = replay(&journal, &mut old);
        let program = program(&old.program)?;
        let standing = old.units.values().flat_map(|u| u.files.clone()).collect();
        let journal = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&journal)
            .with_context(|| format!("cannot open {}", journal.display()))?;
        Ok(SiteFolder {
            root: root.to_owned(),
            old,
            standing,
            strays,
            program,
            new: Mutex::default(),
            built: Mutex::default(),
            journal: Mutex::new(journal),
            next: AtomicU64::new(0),
            _lock: lock,
        })
    }

    /// Returns the SHA-256 of this program: another program rebuilds everything.
    pub fn program(&self) -> &str {
        &self.program.1
    }

    /// Returns the folder for temporary files of the build.
    pub fn scratch(&self) -> PathBuf {
        self.root.join(STATE).join("tmp")
    }

    /// Returns a unit of the last build, if all its files still exist with their sizes.
    pub fn standing(&self, name: &str) -> Option<&Unit> {
        let unit = self.old.units.get(name)?;
        unit.files.iter().all(|(path, is)| self.stands(path, is)).then_some(unit)
    }

    fn stands(&self, path: &str, is: &WrittenFile) -> bool {
        fs::symlink_metadata(self.root.join(path)).is_ok_and(|m| m.is_file() && m.len() == is.bytes)
    }

    /// Keeps a unit unchanged.
    pub fn keep(&self, name: &str, unit: Unit) {
        held(&self.new).insert(name.to_owned(), unit);
    }

    /// Returns the key of a unit that is on the site.
    pub fn made(&self, name: &str) -> Option<String> {
        held(&self.new).get(name).map(|unit| unit.key.clone())
    }

    /// Returns all units that are on the site so far.
    pub fn units(&self) -> Vec<Unit> {
        held(&self.new).values().cloned().collect()
    }

    /// Writes a file, unless it exists with that content already.
    pub fn write(&self, path: &str, bytes: &[u8]) -> Result<WrittenFile> {
        let is = WrittenFile { bytes: bytes.len() as u64, sha256: sha256(bytes) };
        if self.has(path, &is) {
            return Ok(is);
        }
        let staged = self.staged();
        let put = fs::write(&staged, bytes).map_err(anyhow::Error::from);
        self.put(path, &staged, put)?;
        Ok(is)
    }

    /// Moves a file from [`SiteFolder::scratch`] to its path in the site.
    pub fn place(&self, path: &str, from: &Path) -> Result<WrittenFile> {
        let hashed = || Ok::<_, std::io::Error>((fs::metadata(from)?.len(), sha256_file(from)?));
        let (bytes, sha256) =
            hashed().with_context(|| format!("cannot read {}", from.display()))?;
        let is = WrittenFile { bytes, sha256 };
        if self.has(path, &is) {
            let _ = fs::remove_file(from);
            return Ok(is);
        }
        self.put(path, from, Ok(()))?;
        Ok(is)
    }

    fn has(&self, path: &str, is: &WrittenFile) -> bool {
        self.standing.get(path) == Some(is) && self.stands(path, is)
    }

    fn staged(&self) -> PathBuf {
        self.scratch().join(self.next.fetch_add(1, Ordering::Relaxed).to_string())
    }

    fn put(&self, path: &str, staged: &Path, made: Result<()>) -> Result<()> {
        let to = self.root.join(path);
        let done = made.and_then(|()| {
            self.note(&JournalLine::File(path.to_owned()))?;
            if let Some(folder) = to.parent() {
                fs::create_dir_all(folder)?;
            }
            Ok(fs::rename(staged, &to)?)
        });
        if let Err(e) = done {
            let _ = fs::remove_file(staged);
            let full = e
                .downcast_ref::<std::io::Error>()
                .is_some_and(|e| e.kind() == ErrorKind::StorageFull);
            let more = if full {
                "; every existing page is complete: free some space and run the same command again"
            } else {
                ""
            };
            return Err(anyhow!("write {}: {e}{more}", to.display()));
        }
        held(&self.built).insert(path.to_owned());
        Ok(())
    }

    /// Records that a unit is complete, so that the next build need not make it again.
    pub fn done(&self, name: &str, unit: Unit) -> Result<()> {
        self.note(&JournalLine::Unit(name.to_owned(), unit.clone()))
            .context("cannot write the journal of the site")?;
        self.keep(name, unit);
        Ok(())
    }

    fn note(&self, line: &JournalLine) -> Result<()> {
        let mut bytes = serde_json::to_vec(line)?;
        bytes.push(b'\n');
        held(&self.journal).write_all(&bytes)?;
        Ok(())
    }

    /// Removes the files that belong to no unit, and writes the manifest.
    pub fn finish(self) -> Result<PageTally> {
        let units = std::mem::take(&mut *held(&self.new));
        let now: BTreeSet<&String> = units.values().flat_map(|u| u.files.keys()).collect();
        let before: BTreeSet<&String> = self.standing.keys().chain(&self.strays).collect();
        let mut removed = 0;
        for path in before.difference(&now).filter(|path| is_ours(path)) {
            let file = self.root.join(path);
            match fs::remove_file(&file) {
                Ok(()) => removed += usize::from(is_page(path)),
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(e).with_context(|| format!("remove {}", file.display())),
            }
            let mut folder = file.parent();
            // Removes folders that have become empty.
            while let Some(empty) = folder.filter(|f| *f != self.root && fs::remove_dir(f).is_ok())
            {
                folder = empty.parent();
            }
        }
        let pages = now.iter().filter(|path| is_page(path)).count();
        let built = held(&self.built).iter().filter(|path| is_page(path)).count();
        let state = self.root.join(STATE);
        let manifest = Manifest { schema_version: VERSION, program: self.program.clone(), units };
        let (staged, path) = (state.join("tmp/manifest"), state.join("manifest.json"));
        let write = || {
            let mut file = File::create(&staged)?;
            file.write_all(&serde_json::to_vec(&manifest)?)?;
            file.sync_all()?;
            fs::rename(&staged, &path)?;
            held(&self.journal).set_len(0)
        };
        write().with_context(|| format!("cannot write {}", path.display()))?;
        Ok(PageTally { built, unchanged: pages - built, removed })
    }
}

fn held<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

pub(super) fn is_page(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|e| e == "html")
}

/// Returns true if a path of a manifest is inside the site: plain names, none of which begins with
/// a dot.
fn is_ours(path: &str) -> bool {
    let hidden = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(b".");
    let plain = |c: Component<'_>| matches!(c, Component::Normal(name) if !hidden(name));
    !path.is_empty() && Path::new(path).components().all(plain)
}

fn locked(root: &Path, state: &Path) -> Result<File> {
    let path = state.join("lock");
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            Err(anyhow!("another `assay site` is writing {}; wait until it ends", root.display()))
        }
        Err(e) => Err(e).with_context(|| format!("cannot lock {}", path.display())),
    }
}

fn manifest(path: &Path) -> Result<Manifest> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Manifest::default()),
        Err(e) => return Err(e).with_context(|| format!("cannot read {}", path.display())),
    };
    let found = serde_json::from_slice::<Manifest>(&bytes);
    let good =
        |m: &Manifest| m.units.values().flat_map(|u| u.files.keys()).all(|path| is_ours(path));
    match found {
        Ok(m) if m.schema_version > VERSION => {
            usage(format!("{} was written by a newer assay; use that", path.display()))
        }
        Ok(m) if good(&m) => Ok(m),
        _ => {
            say(&format!(
                "{} is damaged: every page is rebuilt, and pages of deleted runs remain",
                path.display()
            ));
            Ok(Manifest::default())
        }
    }
}

/// Applies the journal of a killed build to the manifest; returns the files that the build may have
/// left. The last line may be incomplete.
fn replay(journal: &Path, manifest: &mut Manifest) -> BTreeSet<String> {
    let text = fs::read_to_string(journal).unwrap_or_default();
    let mut strays = BTreeSet::new();
    for line in text.lines() {
        match serde_json::from_str(line) {
            Ok(JournalLine::File(path)) => {
                // The file may differ now from the one of the unit that it belonged to.
                for unit in manifest.units.values_mut() {
                    if let Some(is) = unit.files.get_mut(&path) {
                        is.sha256.clear();
                        unit.key.clear();
                    }
                }
                strays.insert(path);
            }
            Ok(JournalLine::Unit(name, unit)) if unit.files.keys().all(|path| is_ours(path)) => {
                let before = manifest.units.insert(name, unit);
                strays.extend(before.into_iter().flat_map(|u| u.files.into_keys()));
            }
            _ => {}
        }
    }
    strays
}

/// Returns the size and time of the program's file, and its hash, which is computed only if the
/// former have changed.
fn program(known: &(String, String)) -> Result<(String, String)> {
    let path = super::super::open::own_path()?;
    let meta = fs::metadata(&path).with_context(|| format!("cannot inspect {}", path.display()))?;
    let look = look_of(&meta);
    if known.0 == look {
        return Ok(known.clone());
    }
    let hash = sha256_file(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok((look, hash))
}

/// Returns the size and modification time of a file, which change whenever its content does.
pub fn look_of(meta: &fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    format!("{}.{}.{}", meta.len(), meta.mtime(), meta.mtime_nsec())
}
