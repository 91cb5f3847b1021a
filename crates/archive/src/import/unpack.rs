//! Imports a run from a `.tar.zst` file that [`Archive::export`] wrote. The file is not trusted.
//! Only regular files that its manifest names are written, in the manifest's order and with its
//! sizes and hashes, under plain names inside one new folder. The folder becomes a run only if the
//! ledger's chain is valid.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use assay_model::units::format_bytes;
use assay_model::{FileHash, RunId, Severity};
use sha2::{Digest, Sha256};
use tar::EntryType;

use crate::format::disk::{self, Durability};
use crate::format::layout::{RUNS, TRIALS, is_run_file};
use crate::store::bundle::{MANIFEST, Manifest};
use crate::store::folder::Archive;
use crate::store::heads::{self, Head};
use crate::store::reader::RunReader;
use crate::verify;
use crate::{Error, Result};

/// Maximum size of a manifest in bytes: enough for about 400,000 files.
const MAX_MANIFEST: u64 = disk::MAX_TEXT;
/// Unpacked size in bytes up to which the compression ratio is not checked, because the records of
/// short trials are very similar.
const SMALL: u64 = 64 << 20;
/// Maximum number of bytes after the last file: the end of a tar, including its usual padding.
const PADDING: u64 = 1 << 20;
/// Maximum window of the decompressor as a power of two, which limits its memory.
const MAX_WINDOW: u32 = 27;

/// Limits on an imported run. A small file can declare any size and any number of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportLimits {
    /// Maximum unpacked size in bytes.
    pub bytes: u64,
    /// Maximum number of files.
    pub files: usize,
    /// Ratio of unpacked to packed size from which a run is refused; checked only above 64 MiB.
    pub ratio: u64,
}

impl Default for ImportLimits {
    /// 4 GiB, 100,000 files, 200 to 1.
    fn default() -> Self {
        ImportLimits { bytes: 4 << 30, files: 100_000, ratio: 200 }
    }
}

type Unpacker = zstd::Decoder<'static, io::BufReader<File>>;
type TarEntry<'a> = tar::Entry<'a, Unpacker>;

impl Archive {
    /// Imports a run that [`Archive::export`] wrote. Succeeds if the archive has an identical run
    /// already.
    ///
    /// # Errors
    /// `Refused` if anything in the file contradicts its manifest or ledger, `Differs` if the
    /// archive has another run with this id. Nothing is kept in either case.
    pub fn import(&self, path: &Path, limits: &ImportLimits) -> Result<RunId> {
        let import = Import { path, limits };
        let fail = |e| Error::io("read", path, e);
        let mut unpacker: Unpacker =
            zstd::Decoder::new(File::open(path).map_err(fail)?).map_err(fail)?;
        unpacker.window_log_max(MAX_WINDOW).map_err(fail)?;
        let mut tar = tar::Archive::new(unpacker);
        // Raw: tar extensions (long names, sparse files) then appear as entries that the manifest
        // does not name.
        let mut entries = tar.entries().map_err(|e| import.refused(&e))?.raw(true);
        let mut next = || match entries.next() {
            None => Ok(None),
            Some(Err(e)) => Err(import.refused(&e)),
            Some(Ok(entry)) => Ok(Some(entry)),
        };
        let manifest = match next()? {
            Some(mut first) => import.manifest(&mut first)?,
            None => return Err(import.refused(&"it is empty")),
        };
        import.check_limits(&manifest)?;
        let id = manifest.run.clone();
        if let Ok(folder) = self.folder_of(&id) {
            return import.compare(&folder, &manifest).map(|()| id);
        }
        let Some(staging) = self.stage(&id)? else {
            return Err(import.refused(&"another process is importing it now; try again"));
        };
        Import::check_space(&staging.folder, &manifest)?;
        disk::make_folder(&staging.folder.join(TRIALS))?;
        for file in &manifest.files {
            match next()? {
                Some(mut entry) => import.file(&mut entry, file, &id, &staging.folder)?,
                None => return Err(import.refused(&format!("{} is missing", file.path))),
            }
        }
        if next()?.is_some() {
            return Err(import.refused(&"it has files that its manifest does not name"));
        }
        // Read to the last byte: a file that is cut off after the last entry was not written
        // completely.
        let rest = io::copy(&mut tar.into_inner().take(PADDING + 1), &mut io::sink());
        if rest.map_err(|e| import.refused(&e))? > PADDING {
            return Err(import.refused(&"there is data after its end"));
        }
        let head = import.check_run(&staging.folder, &manifest)?;
        sync_all(&staging.folder)?;
        match staging.publish(self.path(), &id, &head, Durability::Synced)? {
            Some(_lock) => {
                if heads::newest(self.path()).is_none_or(|known| known < id) {
                    heads::set_newest(self.path(), &id);
                }
                Ok(id)
            }
            None => {
                import.compare(&self.path().join(RUNS).join(id.as_str()), &manifest).map(|()| id)
            }
        }
    }
}

struct Import<'a> {
    path: &'a Path,
    limits: &'a ImportLimits,
}

impl Import<'_> {
    fn refused(&self, reason: &dyn std::fmt::Display) -> Error {
        Error::Refused { path: self.path.to_owned(), reason: reason.to_string() }
    }

    fn manifest(&self, entry: &mut TarEntry<'_>) -> Result<Manifest> {
        let name = self.name(entry)?;
        let size = entry.size();
        if entry.header().entry_type() != EntryType::Regular
            || !name.ends_with(&format!("/{MANIFEST}"))
            || size > MAX_MANIFEST
        {
            return Err(self.refused(&"it does not begin with the manifest of a run"));
        }
        let mut bytes = Vec::new();
        entry.take(MAX_MANIFEST).read_to_end(&mut bytes).map_err(|e| self.refused(&e))?;
        let manifest: Manifest = disk::parse_json(&bytes, &self.path.join(MANIFEST))?;
        if name != format!("{}/{MANIFEST}", manifest.run) {
            return Err(self.refused(&"its manifest is of another run"));
        }
        if let Some(bad) = manifest.files.iter().find(|f| !is_run_file(&f.path)) {
            return Err(self.refused(&format!("`{}` is not the name of a run's file", bad.path)));
        }
        if !manifest.files.windows(2).all(|pair| pair[0].path < pair[1].path) {
            return Err(self.refused(&"its manifest names a file twice or out of order"));
        }
        Ok(manifest)
    }

    fn name(&self, entry: &TarEntry<'_>) -> Result<String> {
        let bytes = entry.path_bytes();
        String::from_utf8(bytes.into_owned())
            .map_err(|_| self.refused(&"a name in it is not UTF-8"))
    }

    /// Checks the declared sizes against the limits before anything is written. Later the files
    /// must match the declaration byte for byte.
    fn check_limits(&self, manifest: &Manifest) -> Result<()> {
        let ImportLimits { bytes, files, ratio } = *self.limits;
        let (count, total) = (manifest.files.len(), manifest.bytes());
        if count > files {
            let reason = format!("it has {count} files, above the limit of {files}");
            return Err(self.refused(&format!("{reason} (--max-files)")));
        }
        let size = format_bytes(total);
        if total > bytes {
            let reason =
                format!("it unpacks to {size}, above the limit of {}", format_bytes(bytes));
            return Err(self.refused(&format!("{reason} (--max-size)")));
        }
        let packed = fs::metadata(self.path).map_err(|e| Error::io("read", self.path, e))?.len();
        if total > SMALL && total / packed.max(1) >= ratio {
            let times = total / packed.max(1);
            let reason = format!(
                "it unpacks to {size}, {times} times its own size; the limit is {ratio} times"
            );
            return Err(self.refused(&format!("{reason} (--max-ratio)")));
        }
        Ok(())
    }

    /// Checks that the file system has enough free space.
    fn check_space(folder: &Path, manifest: &Manifest) -> Result<()> {
        let total = manifest.bytes();
        let space = rustix::fs::statvfs(folder).map_err(|e| Error::io("read", folder, e.into()))?;
        if total > space.f_bavail.saturating_mul(space.f_frsize) {
            return Err(Error::Full { path: folder.to_owned() });
        }
        Ok(())
    }

    /// Writes one file, whose name, size, type and hash must match the manifest.
    fn file(
        &self,
        entry: &mut TarEntry<'_>,
        file: &FileHash,
        id: &RunId,
        folder: &Path,
    ) -> Result<()> {
        let name = self.name(entry)?;
        if name != format!("{id}/{}", file.path) {
            return Err(self
                .refused(&format!("it holds `{name}` where its manifest names `{}`", file.path)));
        }
        if entry.header().entry_type() != EntryType::Regular {
            return Err(self.refused(&format!("`{name}` is not a regular file")));
        }
        if entry.size() != file.bytes {
            return Err(self.refused(&format!("`{name}` is not of the size in the manifest")));
        }
        let target = folder.join(&file.path);
        if let Some(parent) = target.parent() {
            disk::make_folder(parent)?;
        }
        let fail = |e| Error::io("write", &target, e);
        let mut out = File::create_new(&target).map_err(fail)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        let mut left = file.bytes;
        while left > 0 {
            let n = entry.read(&mut buffer).map_err(|e| self.refused(&e))?;
            if n == 0 || n as u64 > left {
                return Err(self.refused(&format!("`{name}` is cut short")));
            }
            hash.update(&buffer[..n]);
            out.write_all(&buffer[..n]).map_err(fail)?;
            left -= n as u64;
        }
        if disk::hex(&hash.finalize()) == file.sha256 {
            Ok(())
        } else {
            Err(self.refused(&format!("`{name}` does not have the hash in the manifest")))
        }
    }

    /// Verifies the run against its own ledger, which finds a changed record even if the manifest
    /// matches it. Returns the head to store for the ledger.
    fn check_run(&self, folder: &Path, manifest: &Manifest) -> Result<Head> {
        let mut problems = Vec::new();
        let head =
            verify::StoredHead { path: self.path.join(MANIFEST), head: Ok(manifest.head.clone()) };
        verify::verify_run(folder, &manifest.run, head, &mut problems);
        if let Some(problem) = problems.iter().find(|p| p.severity() == Severity::Invalid) {
            let inside = problem.path.strip_prefix(folder).unwrap_or(&problem.path);
            return Err(self.refused(&format!("{}: {}", inside.display(), problem.message)));
        }
        let tip = Head::flushed(&RunReader::open(folder, &manifest.run)?.chain().tip);
        // A head that counts more entries than the ledger is the evidence that entries were lost.
        Ok(manifest.head.clone().filter(|head| head.entries >= tip.entries).unwrap_or(tip))
    }

    fn compare(&self, folder: &Path, manifest: &Manifest) -> Result<()> {
        let id = &manifest.run;
        if Manifest::from_folder(folder, id, None)?.files == manifest.files {
            Ok(())
        } else {
            Err(Error::Differs { run: id.clone(), path: self.path.to_owned() })
        }
    }
}

fn sync_all(folder: &Path) -> Result<()> {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in crate::store::repair::list(&folder)? {
            if fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir()) {
                folders.push(path);
            } else {
                disk::sync(&path)?;
            }
        }
        disk::sync(&folder)?;
    }
    Ok(())
}
