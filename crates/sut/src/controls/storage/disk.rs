//! The disks that can be emulated, as data with its sources: bytes and operations each second, each way.

/// One disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Disk {
    pub name: &'static str,
    pub read_bytes_s: u64,
    pub write_bytes_s: u64,
    pub read_ops_s: u64,
    pub write_ops_s: u64,
    /// Where the figures are from.
    pub source: &'static str,
}

const TABLE: &str = include_str!("disks.csv");

/// All of them.
pub(super) fn all() -> impl Iterator<Item = Disk> {
    TABLE.lines().skip(1).filter_map(read)
}

/// The one of that name.
pub(super) fn find(name: &str) -> Option<Disk> {
    all().find(|d| d.name == name)
}

fn read(line: &'static str) -> Option<Disk> {
    let mut fields = line.splitn(6, ',');
    let name = fields.next()?;
    let mut number = || fields.next()?.parse().ok();
    let (read_bytes_s, write_bytes_s) = (number()?, number()?);
    let (read_ops_s, write_ops_s) = (number()?, number()?);
    let source = fields.next()?.trim_matches('"');
    Some(Disk { name, read_bytes_s, write_bytes_s, read_ops_s, write_ops_s, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_disk_with_its_source() {
        assert_eq!(all().count(), TABLE.lines().count() - 1);
        for disk in all() {
            assert!(disk.source.len() > 40, "{}", disk.name);
            assert!(disk.read_bytes_s >= disk.write_bytes_s && disk.write_ops_s > 0);
        }
        assert_eq!(find("sata-7200").unwrap().read_ops_s, 86);
        // What the source says: a seek and half a turn.
        assert_eq!((1.0_f64 / (0.0074 + 0.00416)).floor() as u64, 86);
        assert_eq!((1.0_f64 / (0.0082 + 0.00416)).round() as u64, 81);
        assert_eq!(find("floppy"), None);
    }
}
