//! Describes page sizes: transparent huge pages, pools of huge pages, address-space randomization.

use super::facts::Facts;

const THP: &str = "/sys/kernel/mm/transparent_hugepage";
const POOLS: &str = "/sys/kernel/mm/hugepages";

pub(super) fn describe(facts: &mut Facts<'_>) {
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
