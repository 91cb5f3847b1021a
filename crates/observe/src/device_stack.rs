//! Description of devices that the kernel builds from others: MD arrays and device-mapper mappings.

use std::fs;
use std::path::Path;

/// Returns text such as `raid1 of sda+sdb` or `vg0-data of sda2` for a device's folder in
/// `/sys/class/block`; `None` if the device is not built from others.
pub(crate) fn made_of(folder: &Path) -> Option<String> {
    let entries = fs::read_dir(folder.join("slaves")).ok()?.flatten();
    let mut parts: Vec<String> =
        entries.map(|e| e.file_name().to_string_lossy().replace('!', "/")).collect();
    parts.sort();
    let what = text(folder, "dm/name").or_else(|| text(folder, "md/level"));
    let of = format!("of {}", parts.join("+"));
    (!parts.is_empty()).then(|| what.map_or(of.clone(), |what| format!("{what} {of}")))
}

/// Returns the trimmed text of a small file in a folder; `None` if it is empty or missing.
pub(crate) fn text(folder: &Path, file: &str) -> Option<String> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    Some(text.trim().to_owned()).filter(|t| !t.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_and_mappings_say_what_they_are_made_of() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("md0/md/level", "raid1\n");
        put("md0/slaves/sdb/x", "");
        put("md0/slaves/sda/x", "");
        put("dm-0/dm/name", "vg0-data\n");
        put("dm-0/slaves/cciss!c0d0/x", "");
        put("bcache0/slaves/sdc/x", "");
        let of = |name: &str| made_of(&root.path().join(name));
        assert_eq!(of("md0").as_deref(), Some("raid1 of sda+sdb"));
        assert_eq!(of("dm-0").as_deref(), Some("vg0-data of cciss/c0d0"));
        assert_eq!(of("bcache0").as_deref(), Some("of sdc"));
        assert_eq!((of("sda"), of("gone")), (None, None));
    }
}
