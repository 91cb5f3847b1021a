//! Shortens long labels by leaving out the parts that all of them share.

use std::collections::BTreeSet;

/// Length in characters up to which a label fits into a legend.
const FITS: usize = 40;

/// Returns the labels without the comma-separated parts that all of them share, and the shared
/// parts. Labels are returned unchanged if each of them fits. If a label would become empty, its
/// first part stays in every label.
pub(crate) fn apart(labels: &[String]) -> (Vec<String>, String) {
    let whole = || (labels.to_vec(), String::new());
    if labels.len() < 2 || labels.iter().all(|l| l.chars().count() <= FITS) {
        return whole();
    }
    let parts: Vec<Vec<&str>> =
        labels.iter().map(|l| l.split(',').map(str::trim).collect()).collect();
    let mut shared: BTreeSet<&str> = parts[0].iter().copied().collect();
    for of in &parts {
        shared.retain(|part| of.contains(part));
    }
    // If nothing would be left of a label, its first part stays in every label.
    for of in &parts {
        if of.iter().all(|part| shared.contains(part)) {
            shared.remove(of[0]);
        }
    }
    let shown = |of: &Vec<&str>| {
        of.iter().copied().filter(|part| !shared.contains(part)).collect::<Vec<_>>().join(", ")
    };
    let common: Vec<&str> = parts[0].iter().copied().filter(|part| shared.contains(part)).collect();
    (parts.iter().map(shown).collect(), common.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(labels: &[&str]) -> (Vec<String>, String) {
        apart(&labels.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn what_all_share_is_printed_once() {
        let (shown, common) = shortened(&[
            "storage=loop:btrfs,size=3GiB,emulated=sata-7200,limits=bytes, copies=8",
            "storage=loop:btrfs,raid1,size=3GiB,emulated=sata-7200,limits=bytes, copies=8",
            "storage=loop:btrfs,raid1,compress=zstd,size=3GiB,emulated=sata-7200,limits=bytes, \
            copies=8",
        ]);
        assert_eq!(shown[0], "storage=loop:btrfs");
        assert_eq!(shown[2], "storage=loop:btrfs, raid1, compress=zstd");
        assert_eq!(common, "size=3GiB, emulated=sata-7200, limits=bytes, copies=8");
    }

    #[test]
    fn short_labels_and_a_single_one_stay() {
        assert_eq!(
            shortened(&["a=1, b=2", "a=2, b=2"]),
            (vec!["a=1, b=2".into(), "a=2, b=2".into()], String::new())
        );
        let long = "x".repeat(80);
        assert_eq!(shortened(&[&long]).0, std::slice::from_ref(&long));
        assert_eq!(shortened(&[&long, &long]), (vec![long.clone(), long.clone()], String::new()));
    }
}
