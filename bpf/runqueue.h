/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Data layouts shared by the probes of the run queue and their loader (crates/observe/src/runqueue.rs). */
#ifndef ASSAY_RUNQUEUE_H
#define ASSAY_RUNQUEUE_H

#include "buckets.h"

#define COMM 16

enum counter {
	LOST_WAITS,	/* waits whose start or program had no room */
	LOST_TASKS,	/* processes that are not followed because a map was full */
	COUNTERS,
};

struct config {
	__u32 root;		/* children of this process are followed, from their exec on */
	__u32 all;		/* 0: no other processes are followed */
};

struct group {
	char comm[COMM];
	__u64 measured;		/* ended in the measurement window */
};

struct amount {
	__u64 waits;
	__u64 ns;		/* within the window */
	__u64 least_ns;		/* + 1; 0: no wait */
	__u64 most_ns;
	__u32 times[FINE];
};

#endif
