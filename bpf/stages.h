/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Data layout shared by the stage probes and their loader (crates/observe/src/io/stages.rs).
 */
#ifndef ASSAY_STAGES_H
#define ASSAY_STAGES_H

/* Steps of an I/O, as blktrace names them. */
enum {
	STAGE_QUEUED,
	STAGE_MADE,
	STAGE_INSERTED,
	STAGE_BACK_MERGED,
	STAGE_FRONT_MERGED,
	STAGE_ISSUED,
	STAGE_COMPLETED,
	STAGE_PLUGGED,
	/* Unplugged by the task itself; `sector` holds the number of requests. */
	STAGE_UNPLUGGED,
	/* Unplugged because the task went to sleep. */
	STAGE_UNPLUGGED_IMPLICITLY,
	/* Front part of a split bio, which goes on by itself. */
	STAGE_SPLIT,
};

struct stage_event {
	__u64 time_ns;
	__u64 sector;
	/* Request queue, which reveals the device of a plug; 0 for a bio. */
	__u64 queue;
	__u32 bytes;
	__u32 dev;
	__u8 what;
	__u8 op;
	__u8 pad[6];
};

_Static_assert(sizeof(struct stage_event) == 40, "stages.rs");

#endif
