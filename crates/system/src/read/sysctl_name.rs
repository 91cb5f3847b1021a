//! Converts between names of tunables and their files below `/proc/sys`. A dot in a file's name
//! becomes a slash in the tunable's name (`net.ipv4.conf.eth0/100.forwarding`), as in `sysctl(8)`.

/// Returns the file of a tunable: `/proc/sys/vm/swappiness` for `vm.swappiness`. Returns `None` for
/// an invalid name with empty parts or parts that leave the folder.
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

/// Returns the tunable of a path below `/proc/sys`: `vm.swappiness` for `vm/swappiness`.
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
