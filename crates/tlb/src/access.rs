//! One access of an address stream, and its packed form of 64 bits: what readers hand to the simulator,
//! and the record of assay's own trace format.

/// How many bits of an address are kept: user space of five-level paging is 2^56 bytes, and SPARC and
/// Arm (without tags) stay below too.
pub const ADDRESS_BITS: u32 = 57;
/// The largest access that is taken: larger ones are no single load or store.
pub const MAX_ACCESS: u32 = 4096;

const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
/// The finest page there is: an access that crosses a multiple of it is continued in a record of its own.
const FINEST: u64 = 4096;

/// What an access does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Reads data.
    Load,
    /// Writes data.
    Store,
    /// Reads and writes the same data: translated once.
    Modify,
    /// Fetches an instruction.
    Fetch,
}

/// An access as a trace tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// What it does.
    pub kind: Kind,
    /// The virtual address of its first byte.
    pub address: u64,
    /// How many bytes.
    pub size: u32,
}

/// A record of 64 bits: the address in the low 57, the kind in the next three, zeros above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Record {
    /// A load.
    Load = 0,
    /// A store.
    Store = 1,
    /// A load and a store of the same data.
    Modify = 2,
    /// The part of the data access before that lies on the next page: translated, not counted.
    DataContinued = 3,
    /// An instruction fetch.
    Fetch = 4,
    /// The part of the fetch before that lies on the next page.
    FetchContinued = 5,
    /// From here on another process runs; its number is where the address would be.
    Process = 6,
    /// The end; how many records came before is where the address would be.
    End = 7,
}

impl Record {
    /// The record of this kind with this payload, of which the low 57 bits are kept.
    pub fn with(self, payload: u64) -> u64 {
        (self as u64) << ADDRESS_BITS | payload & ADDRESS
    }
}

/// The kind's number of a record; above 7 it is no record.
#[inline]
pub(crate) fn kind_of(record: u64) -> u64 {
    record >> ADDRESS_BITS
}

/// The address of a record, or what stands in its place.
#[inline]
pub(crate) fn payload_of(record: u64) -> u64 {
    record & ADDRESS
}

impl Access {
    /// Appends the records of this access: one, or one for each page of 4 KiB that it touches.
    ///
    /// # Errors
    /// It lies past 2^57 or is larger than [`MAX_ACCESS`], as a sentence.
    pub fn pack(&self, out: &mut Vec<u64>) -> Result<(), String> {
        if self.size > MAX_ACCESS {
            return Err(format!(
                "an access of {} bytes; the largest that is taken is {MAX_ACCESS}",
                self.size
            ));
        }
        let last = self.address.checked_add(u64::from(self.size.max(1)) - 1);
        let Some(last) = last.filter(|l| *l <= ADDRESS) else {
            return Err(format!(
                "address {:#x} lies past 2^{ADDRESS_BITS}: not a user address of a 64-bit processor",
                self.address
            ));
        };
        let (first, continued) = match self.kind {
            Kind::Load => (Record::Load, Record::DataContinued),
            Kind::Store => (Record::Store, Record::DataContinued),
            Kind::Modify => (Record::Modify, Record::DataContinued),
            Kind::Fetch => (Record::Fetch, Record::FetchContinued),
        };
        out.push(first.with(self.address));
        if last / FINEST != self.address / FINEST {
            out.push(continued.with(last));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(kind: Kind, address: u64, size: u32) -> Result<Vec<u64>, String> {
        let mut out = Vec::new();
        Access { kind, address, size }.pack(&mut out).map(|()| out)
    }

    #[test]
    fn an_access_over_a_page_is_continued() {
        assert_eq!(pack(Kind::Store, 0xff8, 8).unwrap(), [Record::Store.with(0xff8)]);
        let two = [Record::Fetch.with(0xffe), Record::FetchContinued.with(0x1001)];
        assert_eq!(pack(Kind::Fetch, 0xffe, 4).unwrap(), two);
        assert_eq!(pack(Kind::Load, 0xfff, 4096).unwrap().len(), 2);
        assert_eq!(pack(Kind::Load, 5, 0).unwrap(), [Record::Load.with(5)]);
    }

    #[test]
    fn addresses_past_the_end_are_refused() {
        let top = (1 << 57) - 1;
        assert_eq!(pack(Kind::Load, top, 1).unwrap().len(), 1);
        for (address, size) in [(top, 2), (1 << 57, 1), (u64::MAX, 8), (u64::MAX, 1)] {
            let error = pack(Kind::Load, address, size).unwrap_err();
            assert!(error.contains("2^57"), "{error}");
        }
        assert!(pack(Kind::Load, 0, 4097).unwrap_err().contains("4097"));
    }
}
