//! The names of tunables and their files below `/proc/sys`. A dot in a file's name is a slash in the
//! tunable's (`net.ipv4.conf.eth0/100.forwarding`), as `sysctl(8)` writes it.

/// The file of a tunable, below `/proc/sys`: `vm.swappiness` is `/proc/sys/vm/swappiness`. `None` if
/// it is not a name: empty parts, or parts that lead out of the folder.
pub fn file_of(name: &str) -> Option<String> {
    let swapped: String = name
        .chars()
        .map(|c| match c {
            '.' => '/',
            '/' => '.',
            other => other,
        })
        .collect();
    let fine = swapped
        .split('/')
        .all(|part| !part.is_empty() && part != "." && part != ".." && !part.contains('\0'));
    fine.then(|| format!("/proc/sys/{swapped}"))
}

/// The tunable of a path below `/proc/sys`: `vm/swappiness` is `vm.swappiness`.
pub fn name_of(path: &str) -> String {
    path.chars()
        .map(|c| match c {
            '/' => '.',
            '.' => '/',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        for (name, path) in [
            ("vm.swappiness", "vm/swappiness"),
            ("net.ipv4.conf.eth0/100.forwarding", "net/ipv4/conf/eth0.100/forwarding"),
        ] {
            assert_eq!(file_of(name).unwrap(), format!("/proc/sys/{path}"));
            assert_eq!(name_of(path), name);
        }
    }

    #[test]
    fn no_name_leads_out() {
        for bad in ["", ".", "..", "vm..x", "vm.", ".//.vm", "//.//.etc.passwd", "vm.\0"] {
            assert_eq!(file_of(bad), None, "{bad}");
        }
    }
}
