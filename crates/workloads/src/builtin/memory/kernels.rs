//! Loops that move memory: one function for each instruction set, each with all kernels. The
//! processor's own stream instructions write around the caches.
#![allow(unsafe_code)] // vector instructions, which need a processor that has them
#![allow(clippy::wildcard_imports)] // forty instructions of one module

use std::ops::{Add, Mul, Range};
use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::Failure;

/// Factor of `scale` and `triad`, and the value that `write` stores.
pub const SCALAR: f64 = 3.0;
/// Lengths of arrays are multiples of this many bytes: four of the widest vectors.
pub const UNIT: usize = 256;
/// Bytes that the gaps between the arrays take at most.
pub const GAPS: usize = 3 * PAGE;
const PAGE: usize = 4096;
const WORD: usize = size_of::<f64>();
/// Periods of the two inputs, in elements.
const PERIODS: (usize, usize) = (1021, 509);

/// Operation on each element of up to three arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// `d = a`
    Copy,
    /// `d = 3 a`
    Scale,
    /// `d = a + b`
    Add,
    /// `d = a + 3 b`
    Triad,
    /// The sum of the words of `a`.
    Read,
    /// `d = 3`
    Write,
    /// `d = a` with non-temporal stores.
    CopyNt,
    /// `d = 3` with non-temporal stores.
    WriteNt,
    /// `d = a` by the C library.
    Memcpy,
}

/// Name, arrays that a pass reads, and arrays that it writes.
pub const KERNELS: [(&str, Kernel, usize, usize); 9] = [
    ("copy", Kernel::Copy, 1, 1),
    ("scale", Kernel::Scale, 1, 1),
    ("add", Kernel::Add, 2, 1),
    ("triad", Kernel::Triad, 2, 1),
    ("read", Kernel::Read, 1, 0),
    ("write", Kernel::Write, 0, 1),
    ("copy-nt", Kernel::CopyNt, 1, 1),
    ("write-nt", Kernel::WriteNt, 0, 1),
    ("memcpy", Kernel::Memcpy, 1, 1),
];

impl Kernel {
    pub fn name(self) -> &'static str {
        KERNELS.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }

    /// Returns the number of arrays that a pass reads, and the number that it writes.
    fn arrays(self) -> (usize, usize) {
        KERNELS.iter().find(|row| row.1 == self).map_or((0, 0), |row| (row.2, row.3))
    }

    fn result(self, a: f64, b: f64) -> f64 {
        match self {
            Kernel::Scale => SCALAR * a,
            Kernel::Add => a + b,
            Kernel::Triad => a + SCALAR * b,
            Kernel::Write | Kernel::WriteNt => SCALAR,
            _ => a,
        }
    }
}

/// Arrays of a kernel, of equal length and aligned to a vector. Those that the kernel does not use
/// are empty.
#[derive(Debug)]
pub struct Arrays<'a> {
    d: &'a mut [f64],
    a: &'a mut [f64],
    b: &'a mut [f64],
}

impl<'a> Arrays<'a> {
    /// Makes the arrays of `kernel` from `memory`, `bytes` bytes together, and fills them. Each
    /// starts on a page, so that no store has the page offset of a load that follows it; `memory`
    /// must have [`GAPS`] more bytes than that.
    pub fn for_kernel(kernel: Kernel, memory: &'a mut [f64], bytes: usize) -> Self {
        let (reads, writes) = kernel.arrays();
        let each = (bytes / (reads + writes) / UNIT).max(1) * UNIT;
        let mut places = memory.chunks_mut(each.next_multiple_of(PAGE) / WORD);
        let mut array = |used: bool| match used.then(|| places.next()).flatten() {
            Some(place) => &mut place[..each / WORD],
            None => &mut [],
        };
        let (d, a, b) = (array(writes > 0), array(reads > 0), array(reads > 1));
        d.fill(f64::NAN);
        a.iter_mut().enumerate().for_each(|(i, v)| *v = value(i, PERIODS.0));
        b.iter_mut().enumerate().for_each(|(i, v)| *v = value(i, PERIODS.1));
        Arrays { d, a, b }
    }

    /// Returns the bytes that a pass reads and writes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.d) + size_of_val(self.a) + size_of_val(self.b)
    }

    /// Returns the number of elements of each array.
    pub fn len(&self) -> usize {
        self.d.len().max(self.a.len())
    }

    /// Returns the elements `of` of each array.
    pub fn part(&mut self, of: Range<usize>) -> Arrays<'_> {
        let part = |all: &[f64]| if all.is_empty() { 0..0 } else { of.clone() };
        let (d, a, b) = (part(self.d), part(self.a), part(self.b));
        Arrays { d: &mut self.d[d], a: &mut self.a[a], b: &mut self.b[b] }
    }

    /// Checks every element after a pass of `kernel` that returned `sum`.
    ///
    /// # Errors
    /// Describes the first wrong element.
    pub fn check(&self, kernel: Kernel, sum: u64) -> Result<(), String> {
        let result = |i: usize| kernel.result(value(i, PERIODS.0), value(i, PERIODS.1));
        if let Some((i, d)) = self.d.iter().enumerate().find(|(i, d)| **d != result(*i)) {
            return Err(format!("element {i} of {} is {d}", kernel.name()));
        }
        let words = (0..self.a.len()).map(|i| value(i, PERIODS.0).to_bits());
        match words.fold(0, u64::wrapping_add) {
            expected if kernel == Kernel::Read && sum != expected => {
                Err(format!("the sum of the words is {sum:#x} instead of {expected:#x}"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns element `i` of an input: whole numbers, so that every result is exact.
fn value(i: usize, period: usize) -> f64 {
    (i % period) as f64 + 1.0
}

/// One pass of a kernel over its arrays; returns the sum of the words that `read` read, else 0.
type Pass = unsafe fn(Kernel, &mut Arrays<'_>) -> u64;

/// The loops with one set of instructions, which this processor has.
#[derive(Debug, Clone, Copy)]
pub struct Loops {
    /// Name of the instruction set.
    pub name: &'static str,
    pass: Pass,
}

impl Loops {
    /// Returns the loops with these instructions; `auto` takes the widest vectors.
    ///
    /// # Errors
    /// Fails if this processor does not have them.
    pub fn for_instructions(instructions: &str) -> Result<Self, Failure> {
        let all = available();
        let found = all.iter().find(|l| instructions == "auto" || l.name == instructions);
        found.copied().ok_or_else(|| {
            let names = all.iter().map(|l| l.name).collect::<Vec<_>>().join(", ");
            let remedy = format!("set `instructions` to one of auto, {names}");
            Failure::other(format!("this processor has no {instructions}; {remedy}"))
        })
    }

    /// Makes one pass of a kernel; returns the sum of the words that `read` read, else 0.
    pub fn pass(self, kernel: Kernel, arrays: &mut Arrays<'_>) -> u64 {
        // SAFETY: `available` lists only instructions that this processor has.
        let sum = unsafe { (self.pass)(kernel, arrays) };
        if matches!(kernel, Kernel::CopyNt | Kernel::WriteNt) {
            // The stores are complete before the time is read.
            fence(Ordering::SeqCst);
        }
        sum
    }
}

/// Returns the loops of this processor, widest vectors first.
fn available() -> Vec<Loops> {
    #[cfg(target_arch = "x86_64")]
    let all: [(_, _, Pass); 4] = [
        ("avx512", is_x86_feature_detected!("avx512f"), avx512),
        ("avx2", is_x86_feature_detected!("avx2"), avx2),
        ("sse2", true, sse2),
        ("scalar", true, scalar),
    ];
    #[cfg(target_arch = "aarch64")]
    let all: [(_, _, Pass); 2] = [("neon", true, neon), ("scalar", true, scalar)];
    all.into_iter().filter(|row| row.1).map(|(name, _, pass)| Loops { name, pass }).collect()
}

/// Runs `work` for every vector.
macro_rules! each {
    ($n:ident, $i:ident, $work:expr) => {
        for $i in 0..$n {
            $work;
        }
    };
}

/// Defines the pass with each set of instructions: types of a vector of numbers and of words, and
/// instructions that load, store, store around the caches, fill, add and multiply vectors, load
/// words, and add them.
macro_rules! passes {
    ($( $(#[$feature:meta])? $name:ident: $float:ty, $word:ty, $load:path, $store:path,
        $stream:path, $splat:path, $add:path, $mul:path, $load_word:path, $sum:path; )*) => {$(
        $(#[$feature])?
        fn $name(kernel: Kernel, arrays: &mut Arrays<'_>) -> u64 {
            const LANES: usize = size_of::<$float>() / WORD;
            let n = arrays.len() / LANES;
            let (d, a, b) = (arrays.d.as_mut_ptr(), arrays.a.as_ptr(), arrays.b.as_ptr());
            // SAFETY: `Arrays` makes the arrays that the kernel uses equally long, in whole rounds
            // of four vectors, and aligned; every index is below their length. The offsets wrap
            // because development builds would check others. A vector is as large as its lanes, and
            // every bit pattern is a vector and a word.
            unsafe {
                let load = |p: *const f64, i: usize| $load(p.wrapping_add(i * LANES));
                let word = |i: usize| $load_word(a.wrapping_add(i * LANES).cast());
                let store = |i: usize, v: $float| $store(d.wrapping_add(i * LANES), v);
                let stream = |i: usize, v: $float| $stream(d.wrapping_add(i * LANES), v);
                // The compiler must not see a constant that memset could store.
                let s = $splat(std::hint::black_box(SCALAR));
                let mut sums: [$word; 4] = std::mem::zeroed();
                match kernel {
                    Kernel::Copy => each!(n, i, store(i, load(a, i))),
                    Kernel::Scale => each!(n, i, store(i, $mul(s, load(a, i)))),
                    Kernel::Add => each!(n, i, store(i, $add(load(a, i), load(b, i)))),
                    Kernel::Triad => each!(n, i, store(i, $add(load(a, i), $mul(s, load(b, i))))),
                    Kernel::Read => {
                        for i in (0..n).step_by(4) {
                            sums[0] = $sum(sums[0], word(i));
                            sums[1] = $sum(sums[1], word(i + 1));
                            sums[2] = $sum(sums[2], word(i + 2));
                            sums[3] = $sum(sums[3], word(i + 3));
                        }
                    }
                    Kernel::Write => each!(n, i, store(i, s)),
                    Kernel::CopyNt => each!(n, i, stream(i, load(a, i))),
                    Kernel::WriteNt => each!(n, i, stream(i, s)),
                    Kernel::Memcpy => arrays.d.copy_from_slice(arrays.a),
                }
                let sum = $sum($sum(sums[0], sums[1]), $sum(sums[2], sums[3]));
                let words = std::mem::transmute::<$word, [u64; LANES]>(sum);
                words.into_iter().fold(0, u64::wrapping_add)
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
passes! {
    #[target_feature(enable = "sse2")]
    sse2: __m128d, __m128i, _mm_load_pd, _mm_store_pd, _mm_stream_pd, _mm_set1_pd, _mm_add_pd,
        _mm_mul_pd, _mm_load_si128, _mm_add_epi64;
    #[target_feature(enable = "avx2")]
    avx2: __m256d, __m256i, _mm256_load_pd, _mm256_store_pd, _mm256_stream_pd, _mm256_set1_pd,
        _mm256_add_pd, _mm256_mul_pd, _mm256_load_si256, _mm256_add_epi64;
    #[target_feature(enable = "avx512f")]
    avx512: __m512d, __m512i, _mm512_load_pd, _mm512_store_pd, _mm512_stream_pd, _mm512_set1_pd,
        _mm512_add_pd, _mm512_mul_pd, _mm512_load_si512, _mm512_add_epi64;
}

#[cfg(target_arch = "aarch64")]
use std::arch::aarch64::*;
#[cfg(target_arch = "aarch64")]
passes! {
    #[target_feature(enable = "neon")]
    neon: float64x2_t, uint64x2_t, vld1q_f64, vst1q_f64, store_pair, vdupq_n_f64, vaddq_f64,
        vmulq_f64, vld1q_u64, vaddq_u64;
}

/// Stores a vector with the non-temporal hint (`stnp`).
#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon")]
unsafe fn store_pair(to: *mut f64, v: float64x2_t) {
    let (low, high) = (vgetq_lane_f64(v, 0), vgetq_lane_f64(v, 1));
    // SAFETY: the caller passes a place for 16 bytes.
    unsafe { std::arch::asm!("stnp {:d}, {:d}, [{}]", in(vreg) low, in(vreg) high, in(reg) to) }
}

// One word at a time, as a plain loop in C: the compiler never joins atomic accesses into vectors.
// `MemoryParams` refuses the kernels around the caches, so that the third function is never called.
passes! {
    scalar: f64, u64, load_number, store_number, store_number, std::convert::identity, Add::add,
        Mul::mul, load_word, u64::wrapping_add;
}

unsafe fn load_word(from: *const u64) -> u64 {
    // SAFETY: the caller passes an aligned word of an array that is borrowed exclusively.
    unsafe { AtomicU64::from_ptr(from.cast_mut()).load(Ordering::Relaxed) }
}

unsafe fn load_number(from: *const f64) -> f64 {
    // SAFETY: as for a word.
    f64::from_bits(unsafe { load_word(from.cast()) })
}

unsafe fn store_number(to: *mut f64, v: f64) {
    // SAFETY: as for a word.
    unsafe { AtomicU64::from_ptr(to.cast()).store(v.to_bits(), Ordering::Relaxed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::pointer_chase::memory::ChainMemory;
    use crate::builtin::pointer_chase::params::BackingPages;

    #[test]
    fn every_kernel_has_the_right_result_with_all_instructions() {
        let mut memory = ChainMemory::map(1 << 16, BackingPages::Any).unwrap();
        for loops in available() {
            for (name, kernel, reads, writes) in &KERNELS {
                for bytes in [3 * UNIT, 20_000, 49_152] {
                    let mut arrays = Arrays::for_kernel(*kernel, memory.numbers(), bytes);
                    let before = arrays.check(*kernel, 0);
                    let sum = loops.pass(*kernel, &mut arrays);
                    let (moved, well) = (arrays.bytes(), arrays.check(*kernel, sum));
                    assert!(before.is_err() && well.is_ok(), "{} {name}: {well:?}", loops.name);
                    assert!(
                        moved <= bytes && moved + 3 * UNIT > bytes,
                        "{name}: {moved} of {bytes}"
                    );
                    assert_eq!(moved, (reads + writes) * arrays.len() * WORD);
                    if let Some(last) = arrays.d.last_mut() {
                        *last += 1.0;
                    }
                    assert!(arrays.check(*kernel, sum ^ 1).is_err(), "{name}: a wrong result");
                }
            }
        }
        let error = Loops::for_instructions("vax").unwrap_err().to_string();
        assert!(error.contains("one of auto, ") && error.ends_with("scalar"), "{error}");
    }
}
