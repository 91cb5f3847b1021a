//! Interns the names of devices, programs, files and control groups: each is stored once and has a
//! number, so that an event needs no allocation.

use std::collections::HashMap;
use std::sync::Mutex;

/// Maximum number of names; further ones are pooled under [`NameTable::OTHERS`].
const MAX_NAMES: usize = 65_536;
/// Maximum length of a name in bytes; longer names are cut.
const MAX_BYTES: usize = 512;

/// All names of an analysis. Threads may share it.
#[derive(Debug)]
pub struct NameTable(Mutex<NameTableInner>);

#[derive(Debug)]
struct NameTableInner {
    ids: HashMap<Box<[u8]>, u32>,
    texts: Vec<String>,
}

impl Default for NameTable {
    fn default() -> Self {
        NameTable(Mutex::new(NameTableInner {
            ids: HashMap::new(),
            texts: vec!["not recorded".to_owned(), "(others)".to_owned()],
        }))
    }
}

impl NameTable {
    /// Id of a name that was not recorded.
    pub const NONE: u32 = 0;
    /// Id of all names beyond the maximum number.
    pub const OTHERS: u32 = 1;

    /// Returns the id of a name. Equal bytes always have the same id.
    pub fn id(&self, name: &[u8]) -> u32 {
        if name.is_empty() {
            return NameTable::NONE;
        }
        let name = &name[..name.len().min(MAX_BYTES)];
        let mut inner = self.lock();
        if let Some(id) = inner.ids.get(name) {
            return *id;
        }
        if inner.texts.len() >= MAX_NAMES {
            return NameTable::OTHERS;
        }
        let id = inner.texts.len() as u32;
        inner.texts.push(String::from_utf8_lossy(name).into_owned());
        inner.ids.insert(name.into(), id);
        id
    }

    /// Returns the name of an id; for an unknown id, the text of [`NameTable::NONE`].
    pub fn text(&self, id: u32) -> String {
        self.with(id, str::to_owned)
    }

    /// Passes the name of an id to `read` without copying it. `read` must not call these names
    /// again, because they are locked.
    pub fn with<T>(&self, id: u32, read: impl FnOnce(&str) -> T) -> T {
        let inner = self.lock();
        read(inner.texts.get(id as usize).unwrap_or(&inner.texts[0]))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, NameTableInner> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Number of names in a cache, a power of two.
const SLOTS: usize = 256;
/// Longest name that is cached, in bytes.
const SHORT: usize = 32;

#[derive(Debug, Clone, Copy)]
struct CachedName {
    bytes: [u8; SHORT],
    length: u8,
    id: u32,
}

/// Per-thread cache of recently used ids in front of the shared [`NameTable`].
#[derive(Debug)]
pub struct NameCache<'a> {
    names: &'a NameTable,
    slots: Vec<CachedName>,
}

impl<'a> NameCache<'a> {
    pub fn new(names: &'a NameTable) -> Self {
        let empty = CachedName { bytes: [0; SHORT], length: 0, id: NameTable::NONE };
        NameCache { names, slots: vec![empty; SLOTS] }
    }

    /// Returns the id of a name, like [`NameTable::id`].
    pub fn id(&mut self, name: &[u8]) -> u32 {
        if name.is_empty() || name.len() > SHORT {
            return self.names.id(name);
        }
        let slot = &mut self.slots[hash(name) as usize % SLOTS];
        if usize::from(slot.length) == name.len() && slot.bytes[..name.len()] == *name {
            return slot.id;
        }
        slot.id = self.names.id(name);
        slot.length = name.len() as u8;
        slot.bytes[..name.len()].copy_from_slice(name);
        slot.id
    }

    /// Returns the shared names behind the cache.
    pub fn names(&self) -> &'a NameTable {
        self.names
    }
}

/// Computes FNV-1a (Fowler, Noll, Vo), folded. A collision costs only a lookup in the shared names.
fn hash(name: &[u8]) -> u32 {
    let full =
        name.iter().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193));
    full ^ (full >> 15)
}

/// True if a program of this name is a kernel thread that writes back dirty pages.
pub fn writes_back(program: &[u8]) -> bool {
    [&b"kworker"[..], b"kswapd", b"flush-", b"writeback"].iter().any(|p| program.starts_with(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_id_and_its_text() {
        let names = NameTable::default();
        let mut cache = NameCache::new(&names);
        let a = cache.id(b"oracle");
        assert_eq!((cache.id(b"oracle"), names.id(b"oracle")), (a, a));
        assert_ne!(cache.id(b"fio"), a);
        assert_eq!(names.text(a), "oracle");
        assert_eq!(cache.id(b""), NameTable::NONE);
        let long = [b'x'; 4000];
        assert_eq!(cache.id(&long), names.id(&long));
        assert_eq!(names.text(names.id(&long)).len(), MAX_BYTES);
    }

    #[test]
    fn too_many_names_are_pooled() {
        let names = NameTable::default();
        let mut cache = NameCache::new(&names);
        for i in 0..70_000_u32 {
            cache.id(i.to_string().as_bytes());
        }
        assert_eq!(cache.id(b"one more"), NameTable::OTHERS);
    }
}
