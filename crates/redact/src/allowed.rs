//! What is recorded in clear, as data: names (a `*` at the end stands for any ending) and why. Values
//! of all other names are recorded as keyed hashes.

/// Names that belong together, and what they change.
pub type Row = (&'static str, &'static [&'static str]);

/// Environment variables whose values are recorded.
pub const ENVIRONMENT: &[Row] = &[
    ("which programs and libraries run", &["PATH", "LD_*", "GLIBC_TUNABLES", "JAVA_HOME"]),
    ("memory allocators", &["MALLOC_*", "MIMALLOC_*", "TCMALLOC_*"]),
    (
        "threads and their places",
        &[
            "OMP_*",
            "GOMP_*",
            "KMP_*",
            "MKL_*",
            "OPENBLAS_*",
            "BLIS_*",
            "NUMEXPR_*",
            "VECLIB_*",
            "GOTO_NUM_THREADS",
            "RAYON_NUM_THREADS",
            "TOKIO_WORKER_THREADS",
            "UV_THREADPOOL_SIZE",
            "TBB_*",
        ],
    ),
    ("Go", &["GOMAXPROCS", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOAMD64", "GOARM64"]),
    (
        "Java",
        &[
            "JAVA_OPTS",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "MAVEN_OPTS",
            "JAVA_ARGS",
        ],
    ),
    (
        "interpreters",
        &[
            "NODE_OPTIONS",
            "PYTHONHASHSEED",
            "PYTHONOPTIMIZE",
            "PYTHONMALLOC",
            "PYTHONDONTWRITEBYTECODE",
            "PYTHONUNBUFFERED",
            "PYTHON_GIL",
            "PYTHON_JIT",
            "RUBYOPT",
            "RUBY_GC_*",
            "PERL_HASH_SEED",
        ],
    ),
    (
        "compilers and builds",
        &[
            "CC",
            "CXX",
            "FC",
            "LD",
            "AR",
            "CFLAGS",
            "CXXFLAGS",
            "CPPFLAGS",
            "FFLAGS",
            "FCFLAGS",
            "LDFLAGS",
            "RUSTFLAGS",
            "CARGO_BUILD_*",
            "CARGO_PROFILE_*",
            "CARGO_INCREMENTAL",
            "MAKEFLAGS",
            "CMAKE_BUILD_TYPE",
            "CMAKE_BUILD_PARALLEL_LEVEL",
        ],
    ),
    (
        "message passing and fabrics",
        &["OMPI_MCA_*", "UCX_*", "FI_*", "I_MPI_*", "MPICH_*", "NCCL_*"],
    ),
    ("accelerators", &["CUDA_*", "HIP_VISIBLE_DEVICES", "ROCR_*", "HSA_*", "ZE_*"]),
    (
        "what a job was given",
        &["SLURM_CPUS_*", "SLURM_NTASKS*", "SLURM_MEM_*", "SLURM_NNODES", "SLURM_CPU_BIND*"],
    ),
    ("language, time and temporary files", &["LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR"]),
    ("terminals, which some programs test", &["TERM", "COLUMNS", "LINES", "NO_COLOR", "SHLVL"]),
];

/// Parameters of the kernel's command line whose values are recorded.
pub const KERNEL_PARAMETERS: &[Row] = &[
    (
        "CPUs and scheduling",
        &[
            "isolcpus",
            "nohz*",
            "rcu*",
            "maxcpus",
            "nr_cpus",
            "nosmt",
            "irqaffinity",
            "threadirqs",
            "preempt",
            "skew_tick",
            "sched*",
            "cpuidle*",
            "cpufreq*",
            "idle",
            "processor.*",
            "intel_idle*",
            "intel_pstate",
            "amd_pstate*",
            "acpi*",
            "tsc",
            "clocksource",
            "hpet",
            "notsc",
            "nowatchdog",
            "nmi_watchdog",
            "watchdog*",
            "workqueue.*",
            "kthread_cpus",
            "possible_cpus",
            "no_timer_check",
            "highres",
            "tickless",
            "nolapic*",
            "x2apic*",
        ],
    ),
    (
        "memory",
        &[
            "mem",
            "memmap",
            "hugepages*",
            "hugepagesz",
            "default_hugepagesz",
            "hugetlb*",
            "transparent_hugepage*",
            "thp_anon",
            "numa*",
            "movablecore",
            "kernelcore",
            "cma",
            "swapaccount",
            "zswap.*",
            "slab*",
            "slub*",
            "init_on_alloc",
            "init_on_free",
            "page_alloc.*",
            "psi",
            "cgroup*",
            "systemd.unified_cgroup_hierarchy",
            "lru_gen*",
        ],
    ),
    (
        "mitigations and security",
        &[
            "mitigations",
            "spectre*",
            "spec_*",
            "pti",
            "nopti",
            "nospectre*",
            "l1tf",
            "mds",
            "tsx*",
            "retbleed",
            "srbds",
            "mmio_stale_data",
            "gather_data_sampling",
            "reg_file_data_sampling",
            "indirect_target_selection",
            "kpti",
            "nokaslr",
            "kaslr",
            "lockdown",
            "audit*",
            "selinux",
            "apparmor",
            "security",
            "lsm",
            "randomize_kstack_offset",
        ],
    ),
    (
        "devices and storage",
        &[
            "iommu*",
            "intel_iommu",
            "amd_iommu",
            "pci",
            "pcie*",
            "nvme*",
            "scsi_mod.*",
            "elevator",
            "libata.*",
            "loop.*",
            "rootfstype",
            "rootflags",
            "virtio*",
            "swiotlb",
            "mq-deadline*",
            "dm_mod.*",
            "raid*",
        ],
    ),
    (
        "the boot",
        &[
            "ro",
            "rw",
            "quiet",
            "splash",
            "panic",
            "nomodeset",
            "debug",
            "earlyprintk",
            "console",
            "init_mem*",
        ],
    ),
];

/// Mount options whose values are recorded. Options without a value always are.
pub const MOUNT_OPTIONS: &[Row] = &[
    (
        "file systems",
        &[
            "data",
            "commit",
            "barrier",
            "journal_*",
            "stripe",
            "errors",
            "discard",
            "logbufs",
            "logbsize",
            "allocsize",
            "sunit",
            "swidth",
            "inode*",
            "noquota",
            "compress*",
            "space_cache",
            "ssd",
            "subvolid",
            "autodefrag",
            "max_batch_time",
            "min_batch_time",
            "init_itable",
            "delalloc",
            "dax",
            "background_gc",
            "active_logs",
            "mode",
            "size",
            "nr_inodes",
            "huge",
            "mpol",
            "xino",
            "index",
            "redirect_dir",
            "metacopy",
            "uuid",
            "volatile",
        ],
    ),
    (
        "network file systems",
        &[
            "vers",
            "nfsvers",
            "minorversion",
            "rsize",
            "wsize",
            "bsize",
            "timeo",
            "retrans",
            "nconnect",
            "proto",
            "sec",
            "acregmin",
            "acregmax",
            "acdirmin",
            "acdirmax",
            "actimeo",
            "lookupcache",
            "local_lock",
            "namlen",
            "cache",
            "max_read",
            "msize",
            "trans",
            "max_connect",
            "mountvers",
            "mountproto",
            "fsc",
        ],
    ),
    (
        "owners and rights, as numbers",
        &["uid", "gid", "umask", "fmask", "dmask", "user_id", "group_id"],
    ),
];

/// Whether a name is in a table.
pub(crate) fn lists(table: &[Row], name: &str) -> bool {
    table.iter().flat_map(|(_, names)| *names).any(|p| fits(p, name))
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => pattern == name,
    }
}

/// Whether the value of an environment variable is recorded: the table has it, or the experiment names
/// it. A variable whose name says that it is a secret needs the experiment.
pub(crate) fn variable(name: &str, also: &[String]) -> bool {
    also.iter().any(|p| fits(p, name))
        || (lists(ENVIRONMENT, name) && !crate::token::names_a_secret(name))
}

/// The kernel's command line with the values of unlisted parameters replaced.
pub(crate) fn kernel_line(line: &str, stand_in: &dyn Fn(&str) -> String) -> String {
    words(line)
        .map(|word| match word.split_once('=') {
            Some((name, _)) if lists(KERNEL_PARAMETERS, name) => word.to_owned(),
            Some((name, value)) => format!("{name}={}", stand_in(value)),
            None if lists(KERNEL_PARAMETERS, word) || is_plain(word) => word.to_owned(),
            None => stand_in(word),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

/// A switch rather than a value: letters, `_`, `-` and `.` alone, and few.
fn is_plain(word: &str) -> bool {
    word.len() <= 24 && word.bytes().all(|b| b.is_ascii_lowercase() || b"_-.".contains(&b))
}

/// The words of a command line; blanks within double quotes do not separate.
fn words(line: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    line.split(move |c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    })
    .filter(|w| !w.is_empty())
}

/// Mount options, with the values of unlisted ones replaced.
pub(crate) fn mount_options(options: &str, stand_in: &dyn Fn(&str) -> String) -> String {
    options
        .split(',')
        .map(|option| match option.split_once('=') {
            Some((name, _)) if lists(MOUNT_OPTIONS, name) => option.to_owned(),
            Some((name, value)) => format!("{name}={}", stand_in(value)),
            None => option.to_owned(),
        })
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_performance_is_kept_and_nothing_else() {
        for name in ["PATH", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "LC_ALL", "GOGC"] {
            assert!(variable(name, &[]), "{name}");
        }
        for name in ["JWT", "SLACK_WEBHOOK", "PGPASS", "MY_CRED", "HOME", "USER", "UCX_AUTH_TOKEN"]
        {
            assert!(!variable(name, &[]), "{name}");
        }
        assert!(variable("MY_MODE", &["MY_*".to_owned()]));
    }

    #[test]
    fn lines_keep_their_shape() {
        let x = |_: &str| "X".to_owned();
        let line = "BOOT_IMAGE=/boot/v root=/dev/sda1 ro quiet isolcpus=2,3 a.pw=\"s p\" MiXed9";
        assert_eq!(kernel_line(line, &x), "BOOT_IMAGE=X root=X ro quiet isolcpus=2,3 a.pw=X X");
        let options = "rw,noatime,vers=3.1.1,username=eve,password=x,rsize=65536";
        assert_eq!(
            mount_options(options, &x),
            "rw,noatime,vers=3.1.1,username=X,password=X,rsize=65536"
        );
    }
}
