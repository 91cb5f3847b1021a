//! Names of devices, programs, files and control groups, each kept once and known by a number, so
//! that no text is made for an event.

use std::collections::HashMap;
use std::sync::Mutex;

/// The most names kept; what comes after is pooled under [`Names::OTHERS`].
const MAX_NAMES: usize = 65_536;
/// The longest name kept, bytes.
const MAX_BYTES: usize = 512;

/// Every name of an analysis; may be shared by threads.
#[derive(Debug)]
pub struct Names(Mutex<Inner>);

#[derive(Debug)]
struct Inner {
    ids: HashMap<Box<[u8]>, u32>,
    texts: Vec<String>,
}

impl Default for Names {
    fn default() -> Self {
        Names(Mutex::new(Inner {
            ids: HashMap::new(),
            texts: vec!["not recorded".to_owned(), "(others)".to_owned()],
        }))
    }
}

impl Names {
    /// The id of a name that was not recorded.
    pub const NONE: u32 = 0;
    /// The id of every name beyond those that are kept.
    pub const OTHERS: u32 = 1;

    /// The id of a name; the same for the same bytes, however often it is asked.
    pub fn id(&self, name: &[u8]) -> u32 {
        if name.is_empty() {
            return Names::NONE;
        }
        let name = &name[..name.len().min(MAX_BYTES)];
        let mut inner = self.lock();
        if let Some(id) = inner.ids.get(name) {
            return *id;
        }
        if inner.texts.len() >= MAX_NAMES {
            return Names::OTHERS;
        }
        let id = inner.texts.len() as u32;
        inner.texts.push(String::from_utf8_lossy(name).into_owned());
        inner.ids.insert(name.into(), id);
        id
    }

    /// The name of an id; of an unknown one the text for what was not recorded.
    pub fn text(&self, id: u32) -> String {
        self.with(id, str::to_owned)
    }

    /// As [`Names::text`], lent to `read` instead of copied; `read` may not ask these names again.
    pub fn with<T>(&self, id: u32, read: impl FnOnce(&str) -> T) -> T {
        let inner = self.lock();
        read(inner.texts.get(id as usize).unwrap_or(&inner.texts[0]))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// How many names a cache holds; a power of two.
const SLOTS: usize = 256;
/// The longest name that a cache holds, bytes.
const SHORT: usize = 32;

#[derive(Debug, Clone, Copy)]
struct Slot {
    bytes: [u8; SHORT],
    length: u8,
    id: u32,
}

/// A thread's own memory of the ids it met last, in front of the shared [`Names`].
#[derive(Debug)]
pub struct NameCache<'a> {
    names: &'a Names,
    slots: Vec<Slot>,
}

impl<'a> NameCache<'a> {
    /// An empty one.
    pub fn new(names: &'a Names) -> Self {
        let empty = Slot { bytes: [0; SHORT], length: 0, id: Names::NONE };
        NameCache { names, slots: vec![empty; SLOTS] }
    }

    /// As [`Names::id`].
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

    /// The shared names.
    pub fn names(&self) -> &'a Names {
        self.names
    }
}

/// FNV-1a (Fowler, Noll, Vo), folded. A collision costs a look into the shared names, no more.
fn hash(name: &[u8]) -> u32 {
    let full =
        name.iter().fold(0x811c_9dc5_u32, |h, b| (h ^ u32::from(*b)).wrapping_mul(0x0100_0193));
    full ^ (full >> 15)
}

/// Whether a program of this name is a kernel thread that writes back what others dirtied.
pub fn writes_back(program: &[u8]) -> bool {
    [&b"kworker"[..], b"kswapd", b"flush-", b"writeback"].iter().any(|p| program.starts_with(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_id_and_its_text() {
        let names = Names::default();
        let mut cache = NameCache::new(&names);
        let a = cache.id(b"oracle");
        assert_eq!((cache.id(b"oracle"), names.id(b"oracle")), (a, a));
        assert_ne!(cache.id(b"fio"), a);
        assert_eq!(names.text(a), "oracle");
        assert_eq!(cache.id(b""), Names::NONE);
        let long = [b'x'; 4000];
        assert_eq!(cache.id(&long), names.id(&long));
        assert_eq!(names.text(names.id(&long)).len(), MAX_BYTES);
    }

    #[test]
    fn too_many_names_are_pooled() {
        let names = Names::default();
        let mut cache = NameCache::new(&names);
        for i in 0..70_000_u32 {
            cache.id(i.to_string().as_bytes());
        }
        assert_eq!(cache.id(b"one more"), Names::OTHERS);
    }
}
