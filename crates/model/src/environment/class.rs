//! Table of the significance of differences in facts.

use FactClass::{Hard, Soft, Volatile};

/// Effect of a difference in a fact on a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactClass {
    /// The fact changes all the time, or with the terminal, and alone explains no result.
    Volatile,
    /// The fact may explain a result; the difference can be accepted by name.
    Soft,
    /// The fact explains results; two systems that differ in it are not comparable.
    Hard,
}

crate::names! {
    pub FactClass::name: Volatile = "volatile", Soft = "soft", Hard = "hard"
}

/// Returns the table for documentation: prefix and class, sorted by prefix.
pub fn classes() -> &'static [(&'static str, FactClass)] {
    CLASSES
}

/// Path prefixes that match whole dotted parts. `*` matches any one part; at the end of a part
/// it matches any ending. The prefix with the most parts wins; among those with equally many
/// parts, the one with fewer `*`.
const CLASSES: &[(&str, FactClass)] = &[
    ("aslr", Hard),
    ("block", Soft),
    ("block.*.model", Hard),
    ("block.*.queue.rotational", Hard),
    ("block.*.queue.write_cache", Hard),
    ("block.*.size", Hard),
    ("boot", Volatile),
    ("cgroup", Soft),
    ("cgroup.cpu_quota", Hard),
    ("cgroup.cpuset", Hard),
    ("cgroup.io_limit", Hard),
    ("cgroup.memory_limit", Hard),
    ("cgroup.path", Volatile),
    ("container", Hard),
    ("container.image", Volatile),
    ("cpu", Hard),
    ("cpu.energy_preference", Hard),
    ("cpu.mhz", Volatile),
    ("cpu.possible", Soft),
    ("cpu.steal_since_boot", Volatile),
    ("dmi", Soft),
    ("env", Soft),
    ("env.ASSAY_*", Volatile),
    ("env.COLORTERM", Volatile),
    ("env.COLUMNS", Volatile),
    ("env.DBUS_SESSION_BUS_ADDRESS", Volatile),
    ("env.DESKTOP_SESSION", Volatile),
    ("env.DISPLAY", Volatile),
    ("env.GNOME_*", Volatile),
    ("env.GPG_*", Volatile),
    ("env.HISTCONTROL", Volatile),
    ("env.HISTSIZE", Volatile),
    ("env.INVOCATION_ID", Volatile),
    ("env.JOURNAL_STREAM", Volatile),
    ("env.KITTY_*", Volatile),
    ("env.KONSOLE_*", Volatile),
    ("env.LESSCLOSE", Volatile),
    ("env.LESSOPEN", Volatile),
    ("env.LINES", Volatile),
    ("env.LOGNAME", Volatile),
    ("env.LS_COLORS", Volatile),
    ("env.MAIL", Volatile),
    ("env.OLDPWD", Volatile),
    ("env.PROMPT_COMMAND", Volatile),
    ("env.PS1", Volatile),
    ("env.PWD", Volatile),
    ("env.PYENV_SHELL", Volatile),
    ("env.SESSION_MANAGER", Volatile),
    ("env.SHLVL", Volatile),
    ("env.SSH_*", Volatile),
    ("env.STY", Volatile),
    ("env.TERM*", Volatile),
    ("env.TMUX*", Volatile),
    ("env.VSCODE_*", Volatile),
    ("env.VTE_VERSION", Volatile),
    ("env.WAYLAND_DISPLAY", Volatile),
    ("env.WINDOW", Volatile),
    ("env.WINDOWID", Volatile),
    ("env.WT_SESSION", Volatile),
    ("env.XAUTHORITY", Volatile),
    ("env.XDG_*", Volatile),
    ("env._", Volatile),
    ("host.name", Soft),
    ("hugepages", Hard),
    ("hugepages.*.free", Volatile),
    ("kernel", Hard),
    ("kernel.build", Soft),
    ("kernel.config.file", Volatile),
    ("kernel.modules", Soft),
    ("kernel.tainted", Soft),
    ("libc", Hard),
    ("limit", Soft),
    ("load", Volatile),
    ("locale", Soft),
    ("memory", Hard),
    ("memory.available", Volatile),
    ("mount", Soft),
    ("net", Soft),
    ("numa", Hard),
    ("os", Soft),
    ("process", Hard),
    ("psi", Volatile),
    ("source", Soft),
    ("source.*.build_seconds", Volatile),
    ("swap", Soft),
    ("swap.free", Volatile),
    ("sysctl", Soft),
    ("sysctl.dev.cdrom.info", Volatile),
    ("sysctl.fs.dentry-state", Volatile),
    ("sysctl.kernel.numa_balancing", Hard),
    ("sysctl.kernel.randomize_va_space", Hard),
    ("sysctl.net.*.conf.*", Volatile),
    ("sysctl.net.*.conf.all", Soft),
    ("sysctl.net.*.conf.default", Soft),
    ("sysctl.net.*.neigh.*", Volatile),
    ("sysctl.net.*.neigh.default", Soft),
    ("sysctl.vm.nr_hugepages", Hard),
    ("sysctl.vm.overcommit_memory", Hard),
    ("sysctl.vm.swappiness", Hard),
    ("thp", Hard),
    ("toolchain", Soft),
    ("treatment.*.container", Hard),
    ("treatment.*.container.image", Volatile),
    ("used", Soft),
    ("used.device", Hard),
    ("user", Soft),
    ("virt", Hard),
];

/// Returns the class of a fact by its path; a path that is not in the table is soft.
pub(crate) fn class_of(path: &str) -> FactClass {
    CLASSES
        .iter()
        .filter_map(|(prefix, class)| Some((rank(prefix, path)?, *class)))
        .max_by_key(|(rank, _)| *rank)
        .map_or(Soft, |(_, class)| class)
}

/// Ranks how closely a prefix matches a path: number of parts, then number of parts without `*`;
/// `None` if it does not match.
pub(crate) fn rank(prefix: &str, path: &str) -> Option<(usize, usize)> {
    let mut parts = path.split('.');
    let mut fit = (0, 0);
    for wanted in prefix.split('.') {
        let part = parts.next()?;
        let fits = wanted.strip_suffix('*').map_or(wanted == part, |start| part.starts_with(start));
        if !fits {
            return None;
        }
        fit = (fit.0 + 1, fit.1 + usize::from(!wanted.ends_with('*')));
    }
    Some(fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_wins() {
        assert_eq!(class_of("cpu.model"), Hard);
        assert_eq!(class_of("cpu.mhz"), Volatile);
        assert_eq!(class_of("block.vda.queue.scheduler"), Soft);
        assert_eq!(class_of("block.vda.queue.rotational"), Hard);
        assert_eq!(class_of("sysctl.vm.swappiness"), Hard);
        assert_eq!(class_of("sysctl.vm.swappiness2"), Soft);
        assert_eq!(class_of("sysctl.net.core.somaxconn"), Soft);
        // Runs of earlier versions have those of each interface.
        assert_eq!(class_of("sysctl.net.ipv4.conf.eth0.rp_filter"), Volatile);
        assert_eq!(class_of("sysctl.net.ipv4.conf.all.rp_filter"), Soft);
        assert_eq!(class_of("hugepages.2048kB.free"), Volatile);
        assert_eq!(class_of("psi.cpu.some.avg10"), Volatile);
        assert_eq!(class_of("nobody.knows"), Soft);
        assert_eq!(class_of("env.XDG_RUNTIME_DIR"), Volatile);
        assert_eq!(class_of("env.LANG"), Soft);
        assert!(Volatile < Soft && Soft < Hard);
    }

    #[test]
    fn the_table_has_no_row_twice() {
        for pair in CLASSES.windows(2) {
            assert!(pair[0].0 < pair[1].0, "{} before {}", pair[0].0, pair[1].0);
        }
    }
}
