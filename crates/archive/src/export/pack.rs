//! Exports a run as one `.tar.zst` file. The same run always gives the same bytes.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use assay_model::RunId;

use crate::format::disk;
use crate::store::bundle::{MANIFEST, Manifest};
use crate::store::folder::Archive;
use crate::store::heads;
use crate::store::reader::RunReader;
use crate::{Error, Result};

/// Compression level of zstd: its default.
const LEVEL: i32 = 3;

impl Archive {
    /// Writes a run as one file, a tar compressed with zstd that any tar can open:
    /// `<run-id>/manifest.json`, with sizes and hashes, and then the run's files.
    ///
    /// # Errors
    /// `Busy` while the run is being written, `Exists` if `path` exists already.
    pub fn export(&self, id: &RunId, path: &Path) -> Result<()> {
        self.export_open(&self.run(id)?, path)
    }

    /// Like [`Archive::export`], for a run of this archive that is open already.
    ///
    /// # Errors
    /// As for [`Archive::export`].
    pub fn export_open(&self, run: &RunReader, path: &Path) -> Result<()> {
        let id = run.id();
        if Self::is_being_written(run.dir()) {
            let lock = run.dir().join(crate::format::layout::LOCK);
            return Err(Error::Busy { run: id.clone(), owner: "another process".into(), lock });
        }
        if path.exists() {
            return Err(Error::Exists { path: path.to_owned() });
        }
        let manifest = Manifest::from_folder(run.dir(), id, heads::read(self.path(), id)?)?;
        let mut name = path.as_os_str().to_owned();
        name.push(".tmp");
        let staged = Path::new(&name);
        let written = write(staged, run.dir(), &manifest).and_then(|()| {
            std::fs::rename(staged, path).map_err(|e| Error::io("rename", staged, e))
        });
        if written.is_err() {
            let _ = disk::remove(staged);
        }
        written
    }
}

fn write(out: &Path, folder: &Path, manifest: &Manifest) -> Result<()> {
    let fail = |e| Error::io("write", out, e);
    let file = File::create(out).map_err(fail)?;
    let mut packer = zstd::Encoder::new(file, LEVEL).map_err(fail)?;
    packer.include_checksum(true).map_err(fail)?;
    let mut tar = tar::Builder::new(packer);
    let bytes = disk::to_json(manifest, out)?;
    let name = |file: &str| format!("{}/{file}", manifest.run);
    add(&mut tar, &name(MANIFEST), bytes.len() as u64, &bytes[..]).map_err(fail)?;
    for file in &manifest.files {
        let path = folder.join(&file.path);
        let content = File::open(&path).map_err(|e| Error::io("read", &path, e))?;
        // A file that grew meanwhile is cut to the length that was hashed; one that shrank is an
        // error.
        add(&mut tar, &name(&file.path), file.bytes, content.take(file.bytes)).map_err(fail)?;
    }
    let packer = tar.into_inner().map_err(fail)?;
    let mut file = packer.finish().map_err(fail)?;
    file.flush().and_then(|()| file.sync_all()).map_err(fail)
}

fn add(
    tar: &mut tar::Builder<impl Write>,
    name: &str,
    size: u64,
    mut content: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_ustar();
    header.set_path(name)?;
    header.set_size(size);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_cksum();
    let mut counted = CountingReader { inner: &mut content, bytes: 0 };
    tar.append(&header, &mut counted)?;
    if counted.bytes == size {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("{name} became shorter")))
    }
}

struct CountingReader<'a, R> {
    inner: &'a mut R,
    bytes: u64,
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.bytes += n as u64;
        Ok(n)
    }
}
