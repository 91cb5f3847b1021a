//! Formats the restrictions that a mask or a quota puts on the CPUs of a system's programs.

use crate::SystemDescription;

use crate::environment::cpulist;

/// Returns the restrictions by an affinity mask and a CPU quota as a suffix to the number of CPUs:
/// `, 4 allowed, quota 1.5`. Empty if there is no restriction.
pub fn cpu_limits(system: &SystemDescription) -> String {
    let number = |path: &str| -> Option<f64> { system.get(path)?.split(' ').next()?.parse().ok() };
    let all = number("cpu.threads").unwrap_or(0.0);
    let mask = system.get("process.cpus_allowed").and_then(|list| cpulist::parse(list).ok());
    let allowed = mask.map(|cpus| cpus.len() as f64);
    let limits = [("", allowed, " allowed"), ("quota ", number("cgroup.cpu_quota"), "")];
    let fewer = |(before, cpus, after): (&str, Option<f64>, &str)| {
        Some(format!(", {before}{}{after}", cpus.filter(|n| *n < all)?))
    };
    limits.into_iter().filter_map(fewer).collect()
}

#[cfg(test)]
mod tests {
    use crate::Fact;

    use super::*;

    #[test]
    fn limits_are_named_where_they_leave_fewer_cpus() {
        let limits = |facts: &[(&str, &str)]| {
            let mut system = SystemDescription::default();
            let known = facts.iter().map(|(path, value)| ((*path).to_owned(), Fact::known(*value)));
            system.facts.extend(known);
            cpu_limits(&system)
        };
        let (all, quota, mask) = ("cpu.threads", "cgroup.cpu_quota", "process.cpus_allowed");
        assert_eq!(limits(&[(all, "8"), (quota, "1.50 CPUs"), (mask, "0-7")]), ", quota 1.5");
        assert_eq!(limits(&[(all, "8"), (quota, "none"), (mask, "0-2,7")]), ", 4 allowed");
        let both = limits(&[(all, "8"), (quota, "2.00 CPUs"), (mask, "0-3")]);
        assert_eq!(both, ", 4 allowed, quota 2");
        // A mask may name CPUs that the machine does not have, and a quota more than it has.
        assert_eq!(limits(&[(all, "2"), (quota, "4.00 CPUs"), (mask, "0-127")]), "");
        assert_eq!(limits(&[(quota, "1.00 CPUs")]), "");
    }
}
