//! The disks that can be emulated, with the sources of their figures: bytes and operations per
//! second for reads and writes.

/// A disk that can be emulated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Disk {
    pub name: &'static str,
    pub read_bytes_s: u64,
    pub write_bytes_s: u64,
    pub read_ops_s: u64,
    pub write_ops_s: u64,
    /// Source of the figures.
    pub source: &'static str,
}

const TABLE: &str = include_str!("disks.csv");

pub(super) fn all() -> impl Iterator<Item = Disk> {
    TABLE.lines().skip(1).filter_map(read)
}

/// Returns the disk with this name.
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
        // The computation in the source: a seek and half a rotation.
        assert_eq!((1.0_f64 / (0.0074 + 0.00416)).floor() as u64, 86);
        assert_eq!((1.0_f64 / (0.0082 + 0.00416)).round() as u64, 81);
        assert_eq!(find("floppy"), None);
    }
}
