//! Compiles the kit into the cache, once for each compiler and version of its sources.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use assay_system::{sha256, sha256_file};

use crate::WorkloadError;
use crate::builtin::orders::Classes;
use crate::builtin::orders::java::Java;
use crate::driver::program::{find_program, version_line};
use crate::driver::step::ProgramStep;
use crate::kit::lock::Lock;

/// Sources of `kits/orders`, embedded in assay.
const SOURCES: [(&str, &str); 24] = {
    macro_rules! sources {
        ($($name:ident)*) => {
            [$((
                concat!(stringify!($name), ".java"),
                include_str!(concat!(
                    "../../../../../kits/orders/src/main/java/orders/", stringify!($name), ".java"
                )),
            )),*]
        };
    }
    sources! {
        Arrivals Books Clerk Conformance Customer Deck District Element Fault Histogram History
        Instance Item Json Kind Main Order Rate Rng Stock Tally Warehouse Window Worker
    }
};

/// Time limit of the compiler.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Returns the SHA-256 of the sources.
pub fn sources_sha256() -> String {
    let mut all = String::new();
    for (name, text) in SOURCES {
        let _ = write!(all, "{name} {}\n{text}", text.len());
    }
    sha256(all.as_bytes())
}

/// Returns the compiler: the one on PATH, so that several virtual machines run the same classes,
/// else the one next to the virtual machine.
///
/// # Errors
/// Fails if neither is installed.
pub fn compiler(java: &Java) -> Result<PathBuf, WorkloadError> {
    let real = fs::canonicalize(&java.path).unwrap_or_else(|_| java.path.clone());
    find_program(OsStr::new("javac"), Path::new("."))
        .or_else(|| Some(real.with_file_name("javac")).filter(|p| p.is_file()))
        .ok_or_else(|| WorkloadError::Missing {
            what: "the compiler `javac`".into(),
            remedy: "install the Debian package openjdk-17-jdk-headless, or give a jar of the kit \
                     as `jar` (`mvn package` in kits/orders makes one)"
                .into(),
        })
}

/// Returns the classes, after compiling them if they are not in `cache`.
///
/// # Errors
/// Fails if the compiler is missing or fails, or the cache cannot be written.
pub fn classes(java: &Java, cache: &Path) -> Result<Classes, WorkloadError> {
    let javac = compiler(java)?;
    let version = version_line(&javac, &["-version".into()])
        .map_err(|e| WorkloadError::step("asking the compiler for its version", e))?;
    let key = sha256(format!("{version}\n{}", sources_sha256()).as_bytes());
    let root = cache.join("orders");
    fs::create_dir_all(&root).map_err(WorkloadError::io("create", &root))?;
    let dir = root.join(&key[..16]);
    let seal = root.join(format!("{}.sha256", &key[..16]));
    let _lock = Lock::take(&root.join("lock"))?;
    if let (Ok(sealed), Ok(now)) = (fs::read_to_string(&seal), classes_sha256(&dir))
        && sealed.trim() == now
    {
        return Ok(Classes { path: dir, sha256: Some(now) });
    }
    compile(&javac, &root, &dir)?;
    let now = classes_sha256(&dir).map_err(WorkloadError::io("read", &dir))?;
    fs::write(&seal, &now).map_err(WorkloadError::io("write", &seal))?;
    Ok(Classes { path: dir, sha256: Some(now) })
}

fn compile(javac: &Path, root: &Path, dir: &Path) -> Result<(), WorkloadError> {
    let sources = root.join("sources");
    for old in [dir, &sources] {
        if old.exists() {
            fs::remove_dir_all(old).map_err(WorkloadError::io("remove", old))?;
        }
    }
    fs::create_dir_all(&sources).map_err(WorkloadError::io("create", &sources))?;
    let mut argv: Vec<OsString> =
        vec![javac.into(), "--release".into(), "11".into(), "-d".into(), dir.into()];
    for (name, text) in SOURCES {
        let path = sources.join(name);
        fs::write(&path, text).map_err(WorkloadError::io("write", &path))?;
        argv.push(path.into());
    }
    let log = root.join("build.log");
    ProgramStep::new("compiling the kit orders", &argv, root, &log, TIMEOUT).run()
}

/// Returns the SHA-256 over the names and hashes of the classes in a folder, in order.
///
/// # Errors
/// Fails if the folder cannot be read.
pub fn classes_sha256(dir: &Path) -> std::io::Result<String> {
    let folder = dir.join("orders");
    let mut names: Vec<_> =
        fs::read_dir(&folder)?.map(|e| e.map(|e| e.file_name())).collect::<Result<_, _>>()?;
    names.sort();
    let mut all = String::new();
    for name in names {
        let digest = sha256_file(&folder.join(&name))?;
        let _ = writeln!(all, "{} {digest}", name.to_string_lossy());
    }
    Ok(sha256(all.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_source_of_the_kit_is_carried() {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../kits/orders/src/main/java/orders");
        let mut there: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        let mut carried: Vec<&str> = SOURCES.iter().map(|s| s.0).collect();
        carried.sort_unstable();
        assert_eq!(there, carried);
    }

    #[test]
    fn it_is_compiled_once_and_again_when_a_class_was_changed() {
        let Ok(java) = crate::builtin::orders::java::find("") else {
            eprintln!("skipped: because there is no java (Debian package openjdk-17-jdk-headless)");
            return;
        };
        let cache = tempfile::tempdir().unwrap();
        let built = classes(&java, cache.path()).unwrap();
        let main = built.path.join("orders/Main.class");
        let made = fs::metadata(&main).unwrap().modified().unwrap();
        assert_eq!(classes(&java, cache.path()).unwrap(), built);
        assert_eq!(fs::metadata(&main).unwrap().modified().unwrap(), made, "not compiled again");
        fs::write(&main, "changed").unwrap();
        assert_ne!(Some(classes_sha256(&built.path).unwrap()), built.sha256);
        assert_eq!(classes(&java, cache.path()).unwrap(), built);
    }
}
