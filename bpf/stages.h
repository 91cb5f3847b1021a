/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the probes of stages tell: crates/observe/src/io/stages.rs has the same layout.
 */
#ifndef ASSAY_STAGES_H
#define ASSAY_STAGES_H

/* What happened, by the letters of blktrace. */
enum {
	STAGE_QUEUED,
	STAGE_MADE,
	STAGE_INSERTED,
	STAGE_BACK_MERGED,
	STAGE_FRONT_MERGED,
	STAGE_ISSUED,
	STAGE_COMPLETED,
	STAGE_PLUGGED,
	/* By the task itself, with so many requests in `sector`. */
	STAGE_UNPLUGGED,
	/* Since it went to sleep. */
	STAGE_UNPLUGGED_IMPLICITLY,
	/* The front of a bio, which goes on by itself. */
	STAGE_SPLIT,
};

struct stage_event {
	__u64 time_ns;
	__u64 sector;
	/* The request queue, by which a plug finds its device; 0: of a bio. */
	__u64 queue;
	__u32 bytes;
	__u32 dev;
	__u8 what;
	__u8 op;
	__u8 pad[6];
};

_Static_assert(sizeof(struct stage_event) == 40, "stages.rs");

#endif
