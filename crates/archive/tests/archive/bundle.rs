//! Tests of export and import, with valid and malicious files.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use assay_archive::{Archive, Error, ImportLimits};
use assay_model::RunId;
use tar::{EntryType, Header};

use crate::fixture::{completed, create, write};

struct Fixture {
    folder: tempfile::TempDir,
    from: Archive,
    to: Archive,
    id: RunId,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let from = Archive::open(folder.path().join("from")).unwrap();
        let to = Archive::open(folder.path().join("to")).unwrap();
        let id = completed(&from, "block-size", &[], 2);
        Fixture { folder, from, to, id }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Exports the run as one file.
    fn bundle(&self) -> PathBuf {
        let out = self.file("run.tar.zst");
        self.from.export(&self.id, &out).unwrap();
        out
    }

    fn assert_refused(&self, path: &Path, why: &str) {
        let error = self.to.import(path, &ImportLimits::default()).unwrap_err();
        assert!(matches!(&error, Error::Refused { .. }), "{why}: {error}");
        assert!(self.to.run(&self.id).is_err(), "{why}: nothing of it was kept");
        let outside: Vec<_> = fs::read_dir(self.to.path().join("tmp")).unwrap().collect();
        assert!(outside.is_empty(), "{why}: {outside:?}");
    }
}

type Files = Vec<(Header, Vec<u8>)>;

fn unpack(path: &Path) -> Files {
    let mut tar = tar::Archive::new(zstd::Decoder::new(File::open(path).unwrap()).unwrap());
    let mut files = Vec::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.push((entry.header().clone(), bytes));
    }
    files
}

fn pack(path: &Path, files: &Files) {
    let mut tar = tar::Builder::new(zstd::Encoder::new(File::create(path).unwrap(), 1).unwrap());
    for (header, bytes) in files {
        tar.append(header, &bytes[..]).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
}

fn header(name: &str, kind: EntryType, size: usize) -> Header {
    let mut header = Header::new_ustar();
    // Written as bytes, because the tar crate refuses to make names that leave the folder.
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_size(size as u64);
    header.set_mode(0o644);
    header.set_cksum();
    header
}

#[test]
fn a_run_travels_whole() {
    let fixture = Fixture::new();
    let out = fixture.bundle();
    assert!(matches!(fixture.from.export(&fixture.id, &out), Err(Error::Exists { .. })));
    assert_eq!(fixture.to.import(&out, &ImportLimits::default()).unwrap(), fixture.id);
    assert_eq!(
        fixture.to.import(&out, &ImportLimits::default()).unwrap(),
        fixture.id,
        "again is fine"
    );
    assert_eq!(fixture.to.verify(None).unwrap(), []);
    let again = fixture.file("again.tar.zst");
    fixture.to.export(&fixture.id, &again).unwrap();
    assert_eq!(fs::read(&out).unwrap(), fs::read(&again).unwrap(), "to the byte");
    let (a, b) = (fixture.from.run(&fixture.id).unwrap(), fixture.to.run(&fixture.id).unwrap());
    assert_eq!(a.records().unwrap(), b.records().unwrap());
    assert_eq!(a.ledger(), b.ledger());

    let record = b.trial_dir(1, 1).join("stdout.log");
    fs::write(record, "other").unwrap();
    assert!(matches!(
        fixture.to.import(&out, &ImportLimits::default()),
        Err(Error::Differs { .. })
    ));
}

#[test]
fn an_interrupted_run_travels_too_and_a_live_one_does_not() {
    let fixture = Fixture::new();
    let mut run = create(&fixture.from, "cut", &[]);
    let id = run.id().clone();
    write(&mut run, 1, 1).unwrap();
    let out = fixture.file("cut.tar.zst");
    assert!(matches!(fixture.from.export(&id, &out), Err(Error::Busy { .. })));
    run.ledger(assay_model::LedgerEvent::TrialStarted { number: 2, attempt: 1 }).unwrap();
    drop(run);
    fixture.from.export(&id, &out).unwrap();
    fixture.to.import(&out, &ImportLimits::default()).unwrap();
    let mut run = fixture.to.resume(&id).unwrap();
    write(&mut run, 2, 2).unwrap();
}

#[test]
fn a_changed_file_is_refused() {
    let fixture = Fixture::new();
    let files = unpack(&fixture.bundle());
    let bad = fixture.file("bad.tar.zst");
    for i in 1..files.len() {
        let mut changed = files.clone();
        let at = changed[i].1.len() / 2;
        changed[i].1[at] ^= 1;
        pack(&bad, &changed);
        fixture.assert_refused(&bad, &changed[i].0.path().unwrap().to_string_lossy());
    }
    let mut missing = files.clone();
    missing.remove(3);
    pack(&bad, &missing);
    fixture.assert_refused(&bad, "one missing");
    missing = files.clone();
    missing.pop();
    pack(&bad, &missing);
    fixture.assert_refused(&bad, "the last missing");
    let mut more = files.clone();
    more.push((header("extra", EntryType::Regular, 1), vec![1]));
    pack(&bad, &more);
    fixture.assert_refused(&bad, "one more");
    pack(&bad, &files);
    fixture.to.import(&bad, &ImportLimits::default()).unwrap();
}

/// The record is changed together with its hash in the manifest; only the ledger reveals it.
#[test]
fn a_changed_record_with_a_fitting_manifest_is_refused() {
    let fixture = Fixture::new();
    let folder = fixture.from.run(&fixture.id).unwrap().dir().to_owned();
    let records = folder.join("records.jsonl");
    let changed = fs::read_to_string(&records).unwrap().replace("1000000000", "7000000000");
    fs::write(&records, changed).unwrap();
    fixture.assert_refused(&fixture.bundle(), "changed record");
}

#[test]
fn names_that_leave_the_folder_and_links_are_refused() {
    let fixture = Fixture::new();
    let files = unpack(&fixture.bundle());
    let bad = fixture.file("bad.tar.zst");
    let id = fixture.id.as_str();
    let escape = fixture.file("escaped");
    for name in [
        format!("{id}/../../../escaped"),
        format!("{id}/trials/../../../../escaped"),
        "../escaped".to_owned(),
        escape.to_string_lossy().into_owned(),
    ] {
        let mut changed = files.clone();
        changed[1].0 = header(&name, EntryType::Regular, changed[1].1.len());
        pack(&bad, &changed);
        fixture.assert_refused(&bad, &name);
        // ... and with a manifest that names the entry.
        let manifest = String::from_utf8(files[0].1.clone()).unwrap();
        let inner = name.strip_prefix(&format!("{id}/")).unwrap_or(&name);
        let named = manifest.replacen("experiment.toml", inner, 1);
        changed[0] = (
            header(&format!("{id}/manifest.json"), EntryType::Regular, named.len()),
            named.into_bytes(),
        );
        pack(&bad, &changed);
        fixture.assert_refused(&bad, &name);
        assert!(!escape.exists());
    }
    for kind in [EntryType::Symlink, EntryType::Link, EntryType::Char, EntryType::Fifo] {
        let mut changed = files.clone();
        let mut link = header(&format!("{id}/experiment.toml"), kind, 0);
        link.set_link_name("/etc/passwd").unwrap();
        link.set_cksum();
        changed[1] = (link, Vec::new());
        pack(&bad, &changed);
        fixture.assert_refused(&bad, &format!("{kind:?}"));
    }
}

#[test]
fn bombs_and_noise_are_refused() {
    let fixture = Fixture::new();
    let files = unpack(&fixture.bundle());
    let bad = fixture.file("bad.tar.zst");
    let id = fixture.id.as_str();

    // A manifest of a gigabyte of zeros is refused by its size, before it is read.
    let mut packer = zstd::Encoder::new(File::create(&bad).unwrap(), 1).unwrap();
    let huge = header(&format!("{id}/manifest.json"), EntryType::Regular, 1 << 30);
    packer.write_all(huge.as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    for _ in 0..64 {
        packer.write_all(&zeros).unwrap();
    }
    packer.finish().unwrap();
    fixture.assert_refused(&bad, "a huge manifest");

    // A file that claims to be larger than the limit.
    let manifest = String::from_utf8(files[0].1.clone()).unwrap();
    let at = manifest.find("\"bytes\": ").unwrap() + 9;
    let end = at + manifest[at..].find(',').unwrap();
    let claims = format!("{}{}{}", &manifest[..at], u64::MAX / 2, &manifest[end..]);
    let name = format!("{id}/manifest.json");
    let mut changed = files.clone();
    changed[0] = (header(&name, EntryType::Regular, claims.len()), claims.into_bytes());
    pack(&bad, &changed);
    fixture.assert_refused(&bad, "a huge file");

    let whole = fs::read(fixture.file("run.tar.zst")).unwrap();
    let last = whole.len() - 12..whole.len();
    for cut in (0..whole.len()).step_by(97).chain(last) {
        fs::write(&bad, &whole[..cut]).unwrap();
        assert!(fixture.to.import(&bad, &ImportLimits::default()).is_err(), "cut at {cut}");
    }
    assert!(fixture.to.run(&fixture.id).is_err());
    assert_eq!(fs::read_dir(fixture.to.path().join("tmp")).unwrap().count(), 0);
}

/// A small file that could unpack to more than the limits is refused before anything is written.
#[test]
fn a_bundle_beyond_a_limit_is_refused_by_the_name_of_the_limit() {
    let fixture = Fixture::new();
    let out = fixture.bundle();
    let files = unpack(&out);
    let count = files.len() - 1;
    let total: u64 = files[1..].iter().map(|(_, bytes)| bytes.len() as u64).sum();
    let limits = ImportLimits::default();
    for (limits, words) in [
        (ImportLimits { files: count - 1, ..limits }, "--max-files"),
        (ImportLimits { bytes: total - 1, ..limits }, "--max-size"),
    ] {
        let error = fixture.to.import(&out, &limits).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    // A few kilobytes that claim to be two gigabytes.
    let manifest = String::from_utf8(files[0].1.clone()).unwrap();
    let at = manifest.find("\"bytes\": ").unwrap() + 9;
    let end = at + manifest[at..].find(',').unwrap();
    let claims = format!("{}{}{}", &manifest[..at], 2_u64 << 30, &manifest[end..]);
    let mut bomb = files.clone();
    let name = format!("{}/manifest.json", fixture.id);
    bomb[0] = (header(&name, EntryType::Regular, claims.len()), claims.into_bytes());
    let bad = fixture.file("bomb.tar.zst");
    pack(&bad, &bomb);
    fixture.assert_refused(&bad, "a bomb");
    let error = fixture.to.import(&bad, &limits).unwrap_err().to_string();
    assert!(error.contains("--max-ratio"), "{error}");
    // With a higher limit, the file is still refused, because its size differs from the manifest.
    let raised = ImportLimits { ratio: u64::MAX, ..limits };
    let error = fixture.to.import(&bad, &raised).unwrap_err().to_string();
    assert!(error.contains("not of the size in the manifest"), "{error}");
}
