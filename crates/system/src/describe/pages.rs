//! Describes page sizes: base pages, transparent huge pages, pools of huge pages, and address-space
//! randomization.

use assay_model::units::format_bytes;

use super::facts::Facts;

const THP: &str = "/sys/kernel/mm/transparent_hugepage";
const POOLS: &str = "/sys/kernel/mm/hugepages";

/// Key of the size of a base page in the auxiliary vector (`AT_PAGESZ`).
const PAGE_SIZE: u64 = 6;

pub(super) fn describe(facts: &mut Facts<'_>) {
    base(facts);
    for name in ["enabled", "defrag", "shmem_enabled"] {
        facts.choice(format!("thp.{name}"), &format!("{THP}/{name}"));
    }
    for name in ["use_zero_page", "khugepaged/defrag", "khugepaged/scan_sleep_millisecs"] {
        facts.file_if_there(format!("thp.{}", name.replace('/', ".")), &format!("{THP}/{name}"));
    }
    for size in facts.root.names(THP).iter().filter(|n| n.starts_with("hugepages-")) {
        // Sizes that only shared memory supports lack this file.
        let file = format!("{THP}/{size}/enabled");
        if facts.root.exists(&file) {
            facts.choice(format!("thp.{}.enabled", size.trim_start_matches("hugepages-")), &file);
        }
    }
    let pools = facts.root.names(POOLS);
    if pools.is_empty() {
        facts.unknown("hugepages", format!("`{POOLS}` lists no pool of huge pages"));
    }
    for pool in &pools {
        let size = pool.trim_start_matches("hugepages-");
        facts.file(format!("hugepages.{size}.count"), &format!("{POOLS}/{pool}/nr_hugepages"));
        facts.file(format!("hugepages.{size}.free"), &format!("{POOLS}/{pool}/free_hugepages"));
        facts.file(
            format!("hugepages.{size}.overcommit"),
            &format!("{POOLS}/{pool}/nr_overcommit_hugepages"),
        );
    }
    facts.file("aslr", "/proc/sys/kernel/randomize_va_space");
    facts.file("process.personality", "/proc/self/personality");
}

/// Adds the size of a base page: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64, by the kernel's build.
fn base(facts: &mut Facts<'_>) {
    const VECTOR: &str = "/proc/self/auxv";
    let path = "memory.page_size";
    match std::fs::read(facts.root.path(VECTOR)) {
        Ok(bytes) => {
            let mut words =
                bytes.chunks_exact(8).map(|w| w.try_into().map_or(0, u64::from_ne_bytes));
            let mut pairs = std::iter::from_fn(|| words.next().zip(words.next()));
            match pairs.find(|(key, _)| *key == PAGE_SIZE) {
                Some((_, bytes)) => facts.set(path, format_bytes(bytes)),
                None => facts.unknown(path, format!("`{VECTOR}` does not have it")),
            }
        }
        Err(e) => facts.unknown(path, format!("`{VECTOR}` cannot be read: {e}")),
    }
}
