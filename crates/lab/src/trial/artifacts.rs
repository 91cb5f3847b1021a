//! Files that a workload leaves in its trial's folder to be kept with the record, within size
//! limits, and the verdict of a rule pack on a result among them.

use std::fs;
use std::path::Path;

use assay_model::{SystemDescription, TrialRecord};
use assay_quoted::pack;
use assay_workloads::KEEP;
use assay_workloads::capability::JudgedArtifact;

use crate::tracers::File;

/// Limit for one file; a larger one is not kept. The other limits are for all files of a trial.
const MAX_BYTES: u64 = 16 << 20;
const MAX_ALL: u64 = 256 << 20;
const MAX_FILES: usize = 5000;
/// Artifact that holds the verdict of a rule pack.
const VERDICT: &str = "verdict.json";

/// Reads the files to keep. Files that exceed the limits are noted in the record.
pub(crate) fn take(trial_dir: &Path, record: &mut TrialRecord) -> Vec<File> {
    let Ok(entries) = fs::read_dir(trial_dir.join(KEEP)) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    let (mut kept, mut all, mut left) = (Vec::new(), 0, Vec::new());
    for path in paths {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let size = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file).map(|m| m.len());
        let fits = size.is_some_and(|s| s <= MAX_BYTES && all + s <= MAX_ALL);
        let may = fits && kept.len() < MAX_FILES && assay_archive::may_keep(&name);
        // Only known plain files are opened: reading a pipe or a device could block.
        match may.then(|| fs::read(&path).ok()).flatten() {
            Some(bytes) => {
                all += bytes.len() as u64;
                kept.push((name, bytes));
            }
            None => left.push(name),
        }
    }
    if !left.is_empty() {
        record.notes.push(format!(
            "not kept with the trial (too large, or not a regular file): {}",
            left.iter().take(5).cloned().collect::<Vec<_>>().join(", ")
        ));
    }
    kept
}

/// Copies the files to keep from a storage that is about to be removed into the trial's usual
/// folder.
pub(crate) fn bring(storage: &Path, trial_dir: &Path, record: &mut TrialRecord) {
    let files = take(storage, record);
    if files.is_empty() {
        return;
    }
    let folder = trial_dir.join(KEEP);
    let store = || {
        fs::create_dir_all(&folder)?;
        files.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes))
    };
    if let Err(e) = store() {
        record.notes.push(format!("not kept with the trial: {e}"));
    }
}

/// Judges the workload's result by its rule pack. The record gets a finding, and the whole verdict
/// becomes another file of the trial.
pub(crate) fn judge(
    judged: Option<JudgedArtifact>,
    system: Option<&SystemDescription>,
    kept: &mut Vec<File>,
    record: &mut TrialRecord,
) {
    let Some(judged) = judged else { return };
    let Some((_, bytes)) = kept.iter_mut().find(|(name, _)| name == judged.artifact) else {
        return;
    };
    let Some(pack) = pack::embedded().into_iter().find(|p| p.id == judged.pack) else {
        record.notes.push(format!("there is no rule pack {} to judge the result", judged.pack));
        return;
    };
    let machine = system.map(machine).unwrap_or_default();
    match pack::judge_file(&pack, bytes, &machine) {
        Ok(found) => {
            record.findings.extend(found.finding(VERDICT));
            *bytes = found.result;
            if let Ok(text) = serde_json::to_vec_pretty(&found.verdict) {
                kept.push((VERDICT.into(), text));
            }
        }
        Err(e) => record.notes.push(e.to_string()),
    }
}

/// Returns the hardware and software of the machine as a result discloses them.
fn machine(system: &SystemDescription) -> Vec<(&'static str, String)> {
    let fact = |path: &str| system.text(path).to_owned();
    let hardware = format!(
        "{}, {} processors{}, {} of memory",
        fact("cpu.model"),
        fact("cpu.threads"),
        assay_model::environment::cpu_limits(system),
        fact("memory.total")
    );
    let software = format!("{}, kernel {}", fact("os.name"), fact("kernel.release"));
    vec![("hardware", hardware), ("software", software)]
}

#[cfg(test)]
mod tests {
    use assay_model::Severity;

    use super::*;

    fn record() -> TrialRecord {
        let planned =
            assay_model::PlannedTrial { number: 1, ..assay_model::PlannedTrial::default() };
        crate::trial::execution::blank(&planned, 1)
    }

    #[test]
    fn what_is_left_to_be_kept_is_kept_within_bounds() {
        let dir = tempfile::tempdir().unwrap();
        let mut record = record();
        assert!(take(dir.path(), &mut record).is_empty());
        let keep = dir.path().join(KEEP);
        fs::create_dir_all(keep.join("folder")).unwrap();
        fs::write(keep.join("a.log"), "a").unwrap();
        fs::write(keep.join("stdout.log"), "not ours").unwrap();
        fs::File::create(keep.join("large")).unwrap().set_len(MAX_BYTES + 1).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", keep.join("link")).unwrap();
        assert_eq!(take(dir.path(), &mut record), [("a.log".to_owned(), b"a".to_vec())]);
        assert!(record.notes[0].ends_with("folder, large, link, stdout.log"), "{:?}", record.notes);
    }

    #[test]
    fn a_result_is_judged_and_marked() {
        let mut record = record();
        let result = r#"{"expected_peak":2,"processors":2,"properties":{"profile":"quick"}}"#;
        let judged = Some(JudgedArtifact { artifact: "result.json", pack: "orders" });
        let mut kept = vec![("result.json".to_owned(), result.as_bytes().to_vec())];
        judge(judged, None, &mut kept, &mut record);
        let finding = &record.findings[0];
        assert_eq!((finding.id.as_str(), finding.severity), ("orders-1.0", Severity::Warning));
        assert!(
            finding.message.contains("not compliant") && finding.message.contains("J5"),
            "{finding:?}"
        );
        assert_eq!(kept[1].0, VERDICT);
        kept[0].1 = result.replace("quick", "rules").into_bytes();
        judge(judged, None, &mut kept, &mut record);
        assert_eq!(record.findings[1].severity, Severity::Invalid);
        kept[0].1 = b"{\"strange\":1}".to_vec();
        judge(judged, None, &mut kept, &mut record);
        assert!(record.notes[0].contains("strange"), "{:?}", record.notes);
        judge(None, None, &mut kept, &mut record);
        assert_eq!(record.findings.len(), 2);
    }
}
