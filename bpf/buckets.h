/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Log-linear histograms, as in crates/traces/src/loglinear.rs. */
#ifndef ASSAY_BUCKETS_H
#define ASSAY_BUCKETS_H

/* There are 2^FINE_BITS buckets for each power of two. */
#define FINE_BITS 5
/* Number of buckets, for times up to 2^40 ns (18 minutes). */
#define FINE 1152

static __always_inline __u32 ilog2(__u64 v)
{
	__u32 r = 0;

	if (v >> 32) { v >>= 32; r = 32; }
	if (v >> 16) { v >>= 16; r += 16; }
	if (v >> 8) { v >>= 8; r += 8; }
	if (v >> 4) { v >>= 4; r += 4; }
	if (v >> 2) { v >>= 2; r += 2; }
	return r + (__u32)(v >> 1);
}

/* Returns the bucket in the log-linear histograms of crates/traces. */
static __always_inline __u32 fine_of(__u64 v)
{
	if (v < 2 << FINE_BITS)
		return v;
	__u32 shift = ilog2(v) - FINE_BITS;
	__u64 at = ((__u64)shift << FINE_BITS) + (v >> shift);

	return at < FINE ? at : FINE - 1;
}

#endif
