//! Data caches of a CPU, from sysfs.

use assay_model::environment::cpulist;
use assay_model::units::format_bytes;
use assay_system::Root;

/// A data or unified cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    pub level: u32,
    pub bytes: u64,
    /// CPUs that share it.
    pub cpus: Vec<usize>,
}

/// Returns the caches of a CPU by ascending level; none if the machine hides them.
pub fn of_cpu(root: &Root, cpu: usize) -> Vec<Cache> {
    let dir = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
    let cache = |index: &String| {
        let get = |file: &str| root.text(&format!("{dir}/{index}/{file}")).ok();
        let size: u64 = get("size")?.strip_suffix('K')?.parse().ok()?;
        let cpus = cpulist::parse(&get("shared_cpu_list")?).ok()?;
        let data = get("type")? != "Instruction" && size > 0;
        data.then_some(Cache {
            level: get("level")?.parse().ok()?,
            bytes: size.checked_mul(1024)?,
            cpus,
        })
    };
    let mut all: Vec<Cache> =
        root.names(&dir).iter().filter(|n| n.starts_with("index")).filter_map(cache).collect();
    all.sort_by_key(|c| c.level);
    all
}

/// Formats the caches for a note: `L1 48 KiB, L2 1 MiB, L3 32 MiB for 2 CPUs`.
pub fn describe(caches: &[Cache]) -> String {
    let one = |c: &Cache| {
        let shared =
            if c.cpus.len() > 1 { format!(" for {} CPUs", c.cpus.len()) } else { String::new() };
        format!("L{} {}{shared}", c.level, format_bytes(c.bytes))
    };
    match caches {
        [] => "unknown (the kernel lists no caches)".to_owned(),
        _ => caches.iter().map(one).collect::<Vec<_>>().join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instruction_caches_and_hidden_caches_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::at(dir.path());
        assert_eq!(of_cpu(&root, 1), []);
        assert!(describe(&[]).starts_with("unknown"));
        let cache = dir.path().join("sys/devices/system/cpu/cpu1/cache");
        for (i, level, kind, size, cpus) in [
            (3, "3", "Unified", "32768K", "0-7"),
            (0, "1", "Data", "48K", "1"),
            (1, "1", "Instruction", "32K", "1"),
            (2, "2", "Unified", "oops", "1"),
        ] {
            let of = cache.join(format!("index{i}"));
            std::fs::create_dir_all(&of).unwrap();
            for (file, text) in
                [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", cpus)]
            {
                std::fs::write(of.join(file), format!("{text}\n")).unwrap();
            }
        }
        assert_eq!(describe(&of_cpu(&root, 1)), "L1 48 KiB, L3 32 MiB for 8 CPUs");
    }
}
