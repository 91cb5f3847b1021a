//! One access of an address stream and its packed 64-bit form, which readers pass to the simulator
//! and which is the record of assay's own trace format.

/// Number of address bits that are kept. User space with five-level paging has 2^56 bytes; SPARC
/// and Arm (without tags) stay below that too.
pub const ADDRESS_BITS: u32 = 57;
/// Maximum size of an access in bytes. Larger ones are not a single load or store.
pub const MAX_ACCESS: u32 = 4096;

const ADDRESS: u64 = (1 << ADDRESS_BITS) - 1;
/// Smallest page size. An access that crosses a multiple of it is continued in a record of its own.
const FINEST: u64 = 4096;

/// Kind of an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessKind {
    Load,
    Store,
    /// Reads and writes the same data, which is translated once.
    Modify,
    Fetch,
}

/// An access as recorded in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub kind: AccessKind,
    /// Virtual address of the first byte.
    pub address: u64,
    /// Size of the access in bytes.
    pub size: u32,
}

/// Kinds of 64-bit records: the address is in the low 57 bits, the kind in the next three, zeros
/// above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Record {
    Load = 0,
    Store = 1,
    /// A load and a store of the same data.
    Modify = 2,
    /// The part of the preceding data access that is on the next page; it is translated but not
    /// counted.
    DataContinued = 3,
    Fetch = 4,
    /// The part of the preceding fetch that is on the next page.
    FetchContinued = 5,
    /// Another process runs from here on; the payload is its number.
    Process = 6,
    /// End of the trace; the payload is the number of records before it.
    End = 7,
}

impl Record {
    /// Returns a record of this kind with the low 57 bits of `payload`.
    pub fn with(self, payload: u64) -> u64 {
        (self as u64) << ADDRESS_BITS | payload & ADDRESS
    }
}

/// Returns the number of a record's kind. Records with a number above 7 are invalid.
#[inline]
pub(crate) fn kind_of(record: u64) -> u64 {
    record >> ADDRESS_BITS
}

/// Returns the address or other payload of a record.
#[inline]
pub(crate) fn payload_of(record: u64) -> u64 {
    record & ADDRESS
}

/// An access that cannot be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessError {
    #[error("an access of {0} bytes; the largest that is taken is {MAX_ACCESS}")]
    Size(u32),
    #[error("address {0:#x} lies past 2^{ADDRESS_BITS}: not a user address of a 64-bit processor")]
    Address(u64),
}

impl Access {
    /// Appends the records of this access: one for each page of 4 KiB that it touches.
    ///
    /// # Errors
    /// The access is beyond 2^57 or larger than [`MAX_ACCESS`].
    pub fn pack(&self, out: &mut Vec<u64>) -> Result<(), AccessError> {
        if self.size > MAX_ACCESS {
            return Err(AccessError::Size(self.size));
        }
        let last = self.address.checked_add(u64::from(self.size.max(1)) - 1);
        let Some(last) = last.filter(|l| *l <= ADDRESS) else {
            return Err(AccessError::Address(self.address));
        };
        let (first, continued) = match self.kind {
            AccessKind::Load => (Record::Load, Record::DataContinued),
            AccessKind::Store => (Record::Store, Record::DataContinued),
            AccessKind::Modify => (Record::Modify, Record::DataContinued),
            AccessKind::Fetch => (Record::Fetch, Record::FetchContinued),
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

    fn pack(kind: AccessKind, address: u64, size: u32) -> Result<Vec<u64>, AccessError> {
        let mut out = Vec::new();
        Access { kind, address, size }.pack(&mut out).map(|()| out)
    }

    #[test]
    fn an_access_over_a_page_is_continued() {
        assert_eq!(pack(AccessKind::Store, 0xff8, 8).unwrap(), [Record::Store.with(0xff8)]);
        let two = [Record::Fetch.with(0xffe), Record::FetchContinued.with(0x1001)];
        assert_eq!(pack(AccessKind::Fetch, 0xffe, 4).unwrap(), two);
        assert_eq!(pack(AccessKind::Load, 0xfff, 4096).unwrap().len(), 2);
        assert_eq!(pack(AccessKind::Load, 5, 0).unwrap(), [Record::Load.with(5)]);
    }

    #[test]
    fn addresses_past_the_end_are_refused() {
        let top = (1 << 57) - 1;
        assert_eq!(pack(AccessKind::Load, top, 1).unwrap().len(), 1);
        for (address, size) in [(top, 2), (1 << 57, 1), (u64::MAX, 8), (u64::MAX, 1)] {
            let error = pack(AccessKind::Load, address, size).unwrap_err().to_string();
            assert!(error.contains("2^57"), "{error}");
        }
        assert_eq!(pack(AccessKind::Load, 0, 4097), Err(AccessError::Size(4097)));
    }
}
