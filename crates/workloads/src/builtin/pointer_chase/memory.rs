//! Memory for measurements: maps it with the requested pages, builds a chain of pointers, follows
//! it, and reads from `/proc/self/smaps` how much of it huge pages back.
#![allow(unsafe_code)] // mapping memory, and loads that depend on each other without a bounds check

use std::ffi::c_void;
use std::io;
use std::ptr::NonNull;

use assay_model::units::format_bytes;
use assay_stats::rng::Rng;
use rustix::mm::{
    Advice, MapFlags, MprotectFlags, ProtFlags, madvise, mmap_anonymous, mprotect, munmap,
};
use rustix::param::page_size;

use crate::Failure;
use crate::builtin::pointer_chase::params::{BackingPages, ChainOrder};

const HUGE: usize = 2 << 20;
/// Loads between two checks of the count. Not a power of two: if the same instruction always hits
/// the same offset in a page, prefetchers learn the chain, and a stride of 256 B in the L2 cache is
/// measured as 1.9 ns instead of 3.6 ns.
const UNROLLED: u64 = 100;

/// An anonymous mapping that holds a chain of pointers, or arrays.
pub struct ChainMemory {
    /// Start and length of the mapping.
    map: NonNull<c_void>,
    mapped: usize,
    /// The used part, aligned to a huge page.
    start: usize,
    bytes: usize,
}

impl ChainMemory {
    /// Maps at least `bytes` bytes with these pages and touches each page once.
    pub fn map(bytes: usize, pages: BackingPages) -> Result<Self, Failure> {
        let memory = Self::reserve(bytes, pages)?;
        memory.touch();
        Ok(memory)
    }

    /// Maps at least `bytes` bytes with these pages without touching them.
    pub fn reserve(bytes: usize, pages: BackingPages) -> Result<Self, Failure> {
        let unit = pages.bytes().map_or(HUGE, |b| b as usize);
        let bytes = bytes.next_multiple_of(unit.clamp(page_size(), HUGE));
        let explicit = matches!(pages, BackingPages::Explicit(_));
        let mapped = if explicit { bytes.next_multiple_of(unit) } else { bytes + HUGE };
        let flags = match pages {
            BackingPages::Explicit(b) if b == 1 << 30 => {
                MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_1GB
            }
            BackingPages::Explicit(_) => MapFlags::PRIVATE | MapFlags::HUGETLB | MapFlags::HUGE_2MB,
            _ => MapFlags::PRIVATE,
        };
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new private mapping at an address that the kernel chooses does not affect
        // existing memory.
        let map = unsafe { mmap_anonymous(std::ptr::null_mut(), mapped, protection, flags) };
        let map = map.map_err(|e| unmapped(mapped as u64, pages, &e.into()))?;
        let Some(map) = NonNull::new(map) else {
            return Err(unmapped(mapped as u64, pages, &io::ErrorKind::OutOfMemory.into()));
        };
        let start = if explicit {
            map.as_ptr() as usize
        } else {
            (map.as_ptr() as usize).next_multiple_of(HUGE)
        };
        let memory = ChainMemory { map, mapped, start, bytes };
        if !explicit {
            // A page that cannot be accessed ends the mapping, since smaps would count a neighbour
            // of the same kind into it.
            let last = (map.as_ptr() as usize + mapped - page_size()) as *mut c_void;
            // SAFETY: the page belongs to this mapping and is behind its used part, which begins
            // less than a huge page after the start.
            let closed = unsafe { mprotect(last, page_size(), MprotectFlags::empty()) };
            closed.map_err(|e| unmapped(mapped as u64, pages, &e.into()))?;
        }
        let advice = match pages {
            BackingPages::Base | BackingPages::Small => Some(Advice::LinuxNoHugepage),
            BackingPages::Asked => Some(Advice::LinuxHugepage),
            BackingPages::Any | BackingPages::Machine | BackingPages::Explicit(_) => None,
        };
        if let Some(advice) = advice {
            // SAFETY: this object owns the whole mapping, and the advice does not change its
            // content.
            let taken = unsafe { madvise(map.as_ptr(), mapped, advice) };
            // A kernel without transparent huge pages refuses the advice not to use them.
            if !matches!(advice, Advice::LinuxNoHugepage) {
                taken.map_err(|e| unadvised(pages, &e.into()))?;
            }
        }
        Ok(memory)
    }

    /// Writes a word to each base page.
    #[inline(never)]
    pub fn touch(&self) {
        (0..self.bytes).step_by(page_size()).for_each(|at| self.write(at, 0));
    }

    /// Returns the memory as numbers, aligned to a page.
    pub fn numbers(&mut self) -> &mut [f64] {
        // SAFETY: the range lies in the mapping, which this object owns and which is borrowed
        // exclusively; every bit pattern is a number.
        unsafe {
            std::slice::from_raw_parts_mut(self.start as *mut f64, self.bytes / size_of::<f64>())
        }
    }

    fn write(&self, at: usize, value: usize) {
        debug_assert!(
            at + size_of::<usize>() <= self.bytes && at.is_multiple_of(size_of::<usize>())
        );
        // SAFETY: `at` is inside the mapping and aligned to a word, as for every caller; the
        // mapping is writable and only this thread has its address.
        unsafe { ((self.start + at) as *mut usize).write(value) }
    }

    /// Builds a cycle through every `stride` bytes of the first `working_set` bytes, in this order.
    /// The first link is at the beginning. Returns the number of links.
    pub fn chain(
        &mut self,
        working_set: usize,
        stride: usize,
        order: ChainOrder,
        places: &mut Vec<u32>,
        rng: &mut Rng,
    ) -> usize {
        let working_set = working_set.min(self.bytes);
        let links = (working_set / stride).max(1);
        places.clear();
        places.extend(0..links as u32);
        let page = page_size();
        let whole = working_set.is_multiple_of(page) && page.is_multiple_of(stride);
        match order {
            ChainOrder::Pages if whole => by_page(places, page / stride, rng),
            // The order of traversal: random, starting at the beginning.
            ChainOrder::Random | ChainOrder::Pages => rng.shuffle(&mut places[1..]),
            ChainOrder::Forward => {}
        }
        for (i, from) in places.iter().enumerate() {
            let to = places[(i + 1) % links] as usize;
            self.write(*from as usize * stride, self.start + to * stride);
        }
        links
    }

    /// Follows the chain for at least `loads` links from `at` (or the beginning); each load depends
    /// on the one before. Returns the final location and the number of loads.
    #[inline(never)]
    pub fn walk(&self, at: Option<LinkAddress>, loads: u64) -> (LinkAddress, u64) {
        let mut p = at.map_or(self.start, |place| place.0) as *const usize;
        let rounds = loads.div_ceil(UNROLLED);
        for _ in 0..rounds {
            macro_rules! load {
                ($($n:tt)*) => {
                    $(
                        let _ = $n;
                        // SAFETY: `chain` stored in every link the address of another link in this
                        // mapping.
                        p = unsafe { p.read_volatile() } as *const usize;
                    )*
                };
            }
            macro_rules! twenty_five {
                ($($n:tt)*) => { $( let _ = $n;
                    load!(0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4); )* };
            }
            twenty_five!(0 1 2 3);
        }
        (LinkAddress(std::hint::black_box(p) as usize), rounds * UNROLLED)
    }

    /// Returns how many bytes of the used memory huge pages back, or `None` if the kernel does not
    /// report it.
    pub fn large(&self) -> Option<u64> {
        let smaps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        large_of(&smaps, self.start as u64, (self.start + self.bytes) as u64)
    }

    /// Returns the used size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for ChainMemory {
    fn drop(&mut self) {
        // SAFETY: this object owns the mapping and ends here; nothing borrows from it.
        let _ = unsafe { munmap(self.map.as_ptr(), self.mapped) };
    }
}

/// Returns the failure of a mapping that could not be made, with a remedy.
fn unmapped(bytes: u64, pages: BackingPages, source: &io::Error) -> Failure {
    let remedy = match pages {
        BackingPages::Explicit(size) => format!(
            "; the pool needs {} free pages: `controls.pages = \"{}*N\"`",
            bytes.div_ceil(size),
            format_bytes(size).replace(' ', "")
        ),
        _ => String::new(),
    };
    let bytes = format_bytes(bytes);
    Failure::other(format!(
        "{bytes} of memory with {} cannot be mapped: {source}{remedy}",
        pages.name()
    ))
}

/// Returns the failure of an madvise(2) that the kernel refused.
fn unadvised(pages: BackingPages, source: &io::Error) -> Failure {
    Failure::other(format!(
        "madvise for {}: {source}; this kernel may have no transparent huge pages",
        pages.name()
    ))
}

/// Orders the links as lmbench's lat_mem_rd does with `-t` for the lines of whole pages.
fn by_page(places: &mut Vec<u32>, lines: usize, rng: &mut Rng) {
    let count = places.len() / lines;
    let mut pages: Vec<u32> = (0..count as u32).collect();
    let mut words: Vec<u32> = (0..lines as u32).collect();
    rng.shuffle(&mut pages[1..]);
    rng.shuffle(&mut words[1..]);
    places.clear();
    for round in 0..lines {
        let met = pages.iter().enumerate();
        places.extend(met.map(|(i, page)| page * lines as u32 + words[(i + round) % lines]));
    }
}

/// Address of a link in a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkAddress(usize);

/// Returns the bytes that huge pages back in the mappings that overlap `from..to`, but at most the
/// length of that range.
fn large_of(smaps: &str, from: u64, to: u64) -> Option<u64> {
    let mut large = 0u64;
    let (mut inside, mut seen) = (false, false);
    for line in smaps.lines() {
        let first = line.split_whitespace().next().unwrap_or_default();
        if let Some((a, b)) = first.split_once('-') {
            let range = u64::from_str_radix(a, 16).ok().zip(u64::from_str_radix(b, 16).ok());
            inside = range.is_some_and(|(a, b)| a < to && from < b);
            seen |= inside;
        } else if inside {
            let field = ["AnonHugePages:", "Private_Hugetlb:", "Shared_Hugetlb:"];
            if field.contains(&first) {
                let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
                large += kib * 1024;
            }
        }
    }
    seen.then_some(large.min(to - from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_goes_through_every_link_once() {
        let mut memory = ChainMemory::map(1 << 20, BackingPages::Any).unwrap();
        let (mut places, mut rng) = (Vec::new(), Rng::new(3));
        for order in [ChainOrder::Random, ChainOrder::Pages, ChainOrder::Forward] {
            for (set, stride) in [(1 << 20, 64), (65536, 4160), (4096, 4096), (640, 64)] {
                let links = memory.chain(set, stride, order, &mut places, &mut rng);
                assert_eq!(links, (set / stride).max(1));
                assert_eq!((places.len(), places[0]), (links, 0));
                let mut met = vec![false; links];
                for place in &places {
                    assert!(!std::mem::replace(&mut met[*place as usize], true), "{order:?} {set}");
                }
                let (place, loads) = memory.walk(None, UNROLLED + 1);
                assert_eq!(loads, 2 * UNROLLED);
                let there = places[2 * UNROLLED as usize % links];
                assert_eq!(place.0, memory.start + there as usize * stride);
            }
        }
        memory.chain(1 << 20, 64, ChainOrder::Pages, &mut places, &mut rng);
        let lines = page_size() as u32 / 64;
        assert!(places.windows(2).all(|w| w[0] / lines != w[1] / lines), "another page each time");
    }

    #[test]
    fn large_pages_are_read_from_smaps() {
        let text = "7f0000000000-7f0000400000 rw-p 00000000 00:00 0 \nSize: 4096 kB\n\
                    AnonHugePages:      2048 kB\nPrivate_Hugetlb:       0 kB\n\
                    7f0000800000-7f0000a00000 rw-p 00000000 00:00 0 [x]\n\
                    Private_Hugetlb:    2048 kB\n";
        assert_eq!(large_of(text, 0x7f00_0000_0000, 0x7f00_0040_0000), Some(2 << 20));
        assert_eq!(large_of(text, 0x7f00_0080_0000, 0x7f00_00a0_0000), Some(2 << 20));
        assert_eq!(large_of(text, 0x7f00_0000_0000, 0x7f00_0010_0000), Some(1 << 20));
        assert_eq!(large_of(text, 0x1000, 0x2000), None);
    }
}
