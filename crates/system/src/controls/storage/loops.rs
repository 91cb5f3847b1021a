//! Loop devices on the files of a folder.

use std::path::Path;

use crate::Root;

/// Returns the loop devices on files in a folder, even if the files were deleted.
pub(super) fn loops_of(root: &Root, folder: &Path) -> Vec<String> {
    let blocks = root.names("/sys/class/block").into_iter().filter(|n| n.starts_with("loop"));
    let backing = |name: &String| {
        root.text(&format!("/sys/class/block/{name}/loop/backing_file"))
            .is_ok_and(|file| Path::new(&file).starts_with(folder))
    };
    blocks.filter(backing).collect()
}
