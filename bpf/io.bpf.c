// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Block I/O at its end: counted by group, or reported one by one, as requested. Cheap data is
 * always recorded; expensive data (the requester of an I/O, and the file) only if the loader
 * requests it in `cfg`. As `cfg` is constant, the verifier removes the code that is not needed.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "io.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct config cfg = {};

/* Next free group; group 0 pools I/Os whose group has no room. */
__u32 next_group = 1;

/* Time of the first start seen: a request that started before is unknown, which is not a loss. */
__u64 first_start;

/* Per-CPU data in one map: before Linux 6.10 each look-up is a function call. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct own);
} owns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 512);
	__type(key, struct key);
	__type(value, __u32);
} groups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cell);
} cells SEC(".maps");

struct map_of_regions {
	__u32 n[REGIONS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct map_of_regions);
} regions SEC(".maps");

/* Shift from a device's block number to its region. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} shifts SEC(".maps");

/* Devices without requests, of which only bios are seen. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} bio_devices SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

/* Before Linux 6.1 a probe may be interrupted by another one, or by
 * itself, on the same CPU: then even per-CPU counts need atomic additions. */
#ifdef COMPAT
#define ADD(counter, n) ((void)__sync_fetch_and_add(&(counter), n))
#else
#define ADD(counter, n) ((void)((counter) += (n)))
#endif

static __always_inline struct own *own_of_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&owns, &zero);
}

/* Increments a counter of a rare event. */
static __always_inline void count(__u32 what)
{
	struct own *own = own_of_cpu();

	if (own)
		ADD(own->counts[what], 1);
}

#include "request.h"
#include "file.h"
#include "state.h"
#include "group.h"

/* Returns the reported flags; most I/Os have none of them. */
static __always_inline __u8 flags_in(__u32 opf)
{
	return opf & cfg.flags ? flags_of(opf) : 0;
}

static __always_inline bool wanted_block(__u64 sector)
{
	return sector >= cfg.first_block && sector <= cfg.last_block;
}

static __always_inline bool wanted_op(__u8 op)
{
	return !(cfg.only_reads && op != OP_READ) && !(cfg.only_writes && op != OP_WRITE);
}

/* Counts or reports an I/O whose end was seen. */
static __always_inline void ended(struct own *own, struct event *io, int half)
{
	ADD(own->counts[N_ENDS], 1);
	if (io->issue_ns && io->start_ns > io->issue_ns)
		io->start_ns = io->issue_ns;
	if ((io->start_ns && io->end_ns < io->start_ns) || io->end_ns < io->issue_ns) {
		count(N_BACKWARDS);
		io->start_ns = 0;
		io->issue_ns = 0;
	}
	if (cfg.events) {
		if (bpf_ringbuf_output(&events, io, sizeof(*io), BPF_RB_NO_WAKEUP))
			ADD(own->counts[N_RING_FULL], 1);
	} else {
		count_in_group(own, io, half);
	}
}

/* The kernel runs no program of a tracepoint reached while another program runs on the same CPU (as
 * when an interrupt in the middle of one completes requests), and does not always count that. If a
 * request's address is reused, the I/O that had it has ended: it is counted, without a latency. */
static __noinline int ended_untold(struct state *state)
{
	struct own *own = own_of_cpu();

	if (!state || !own)
		return 0;
	struct event io = {
		.start_ns = state->start_ns,
		.sector = state->sector,
		.bytes = state->bytes,
		.dev = state->dev,
		.op = state->op,
	};
	if (!give_back(state, &io))
		return 0;
	io.issue_ns = 0;
	if (!wanted_block(io.sector)) {
		ADD(own->counts[N_LEFT_OUT], 1);
		return 0;
	}
	ADD(own->counts[N_UNTOLD], 1);
	if (cfg.events) {
		/* The end is unknown: 0. */
		if (bpf_ringbuf_output(&events, &io, sizeof(io), BPF_RB_NO_WAKEUP))
			ADD(own->counts[N_RING_FULL], 1);
	} else {
		io.start_ns = 0;
		count_in_group(own, &io, 0);
	}
	return 0;
}

/* Starts to follow a request; `before` is the state left by an I/O that had the same address. */
static __always_inline struct state *follow(struct request *rq, __u32 opf, struct set *set,
					    struct state *before, struct state *asked)
{
	__u32 dev = dev_of_request(rq);
	__u8 op = op_of(opf, rq->__data_len);

	if (!wanted_device(dev) || !wanted_op(op))
		return NULL;
	if (!first_start)
		first_start = bpf_ktime_get_ns();
	if (before)
		ended_untold(before);
	struct own *own = own_of_cpu();
	struct state *state = take(set, rq);

	if (!state || !own)
		return NULL;
	if (asked)
		inherit(state, asked);
	else
		who(state);
	where_from(own, state, true, rq, NULL);
	what(state, dev, op, flags_in(opf), rq->__sector, rq->__data_len, rq->start_time_ns);
	state->issue_ns = 0;
	if (!state->left_out)
		ADD(own->counts[N_STARTS], 1);
	return state;
}

/* For Linux 6.5 and later. */
SEC("tp_btf/block_io_start")
int start(__u64 *ctx)
{
	struct request *rq = (void *)ctx[0];
	struct set *set = set_of(rq);

	if (set)
		follow(rq, rq->cmd_flags, set, find_in(set, rq), NULL);
	return 0;
}

#define FLUSHES(opf) (HAS(opf, __REQ_PREFLUSH) || HAS(opf, __REQ_FUA))

/* Before 6.5 a request is followed from where it is queued or, if it goes straight to the driver,
 * issued; its own start stamp gives its start. Both happen in the task that requests the I/O, except for
 * requests that wait for a cache flush: their requester is stored for their bio, which is never merged. */
SEC("tp_btf/block_getrq")
int got_request(__u64 *ctx)
{
	struct bio *bio = bio_of(ctx);
	__u32 opf = bio->bi_opf;

	if (!FLUSHES(opf) || !bio->bi_iter.bi_size || !wanted_device(dev_of_bio(bio)))
		return 0;
	struct set *set = set_of(bio);

	if (!set)
		return 0;
	struct state *state = find_in(set, bio);

	if (!state)
		state = take(set, bio);
	if (!state)
		return 0;
	who(state);
	state->left_out |= WAITS;
	return 0;
}

static __always_inline struct state *queued_or_issued(struct request *rq)
{
	struct set *set = set_of(rq);

	if (!set)
		return NULL;
	struct state *state = find_in(set, rq);

	/* Seen before: queued a second time, or queued and now issued. A merge
	 * may have given it an earlier start time, that of the other request. */
	if (state && rq->start_time_ns <= state->start_ns)
		return state;
	__u32 opf = rq->cmd_flags;

	/* The flush command belongs to nobody, and neither do passthrough commands. */
	if ((opf & 0xff) >= FIRST_PASSTHROUGH || (opf & 0xff) == REQ_OP_FLUSH)
		return NULL;
	struct state *asked = NULL;

	if (cfg.waits) {
		/* The block layer may have cleared the request's flags, since it flushes in its place. */
		struct bio *bio = rq->bio;

		asked = FLUSHES(bio->bi_opf) ? find(bio) : NULL;
	}
	state = follow(rq, opf, set, state, asked);
	if (asked)
		release(asked);
	return state;
}

SEC("tp_btf/block_rq_insert")
int queued(__u64 *ctx)
{
	queued_or_issued(request_of(ctx));
	return 0;
}

SEC("tp_btf/block_rq_issue")
int start_or_issue(__u64 *ctx)
{
	struct state *state = queued_or_issued(request_of(ctx));

	if (state && cfg.issue)
		state->issue_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/block_rq_issue")
int issue(__u64 *ctx)
{
	struct state *state = find(request_of(ctx));

	if (state)
		state->issue_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/block_rq_requeue")
int requeued(__u64 *ctx)
{
	if (find(request_of(ctx)))
		count(N_REQUEUED);
	return 0;
}

/* A request that is merged into another never ends by itself. */
SEC("tp_btf/block_rq_merge")
int merged(__u64 *ctx)
{
	struct state *state = find(request_of(ctx));

	if (state) {
		if (!state->left_out)
			count(N_MERGED);
		release(state);
	}
	return 0;
}

SEC("tp_btf/block_rq_complete")
int complete(__u64 *ctx)
{
	struct request *rq = (void *)ctx[0];
	__u32 bytes = (__u32)ctx[2];
	__u32 opf = rq->cmd_flags;
	__u8 op = op_of(opf, bytes);
	__u64 start_ns = rq->start_time_ns;
	struct state *state = cfg.tracked ? find(rq) : NULL;
	__u32 dev;

	/* The device of a followed request is known. */
	if (state && start_ns <= state->start_ns) {
		dev = state->dev;
	} else {
		dev = dev_of_request(rq);
		if (!wanted_device(dev))
			return 0;
	}
	/* A write that ends without bytes has flushed the device's cache: either it was a mere
	 * flush, or its data was reported before. The flush command is a request of its own. */
	if (op == OP_FLUSH && (opf & 0xff) != REQ_OP_FLUSH) {
		count(N_FLUSH_ENDS);
		if (state)
			drop(state);
		return 0;
	}
	if (!wanted_op(op))
		return 0;
	if (!wanted_block(rq->__sector)) {
		if (state)
			drop(state);
		return 0;
	}
	if (bytes < rq->__data_len) {
		count(N_PARTIAL);
		return 0;
	}
	struct own *own = own_of_cpu();

	if (!own)
		return 0;
	struct event io = {
		.start_ns = start_ns,
		.issue_ns = rq->io_start_time_ns,
		.sector = rq->__sector,
		.bytes = bytes,
		.dev = dev,
		.op = op,
		.flags = flags_in(opf),
	};
	if (cfg.tracked && op != OP_FLUSH) {
		if (!state) {
			bool before = io.start_ns && (!first_start || io.start_ns < first_start);

			count(before ? N_BEFORE : N_UNMATCHED);
			return 0;
		}
		if (!give_back(state, &io))
			return 0;
	}
	if (op == OP_FLUSH)
		ADD(own->counts[N_FLUSHES], 1);
	else if (!io.issue_ns)
		ADD(own->counts[N_NO_ISSUE], 1);
	io.end_ns = bpf_ktime_get_ns();
	ended(own, &io, 0);
	return 0;
}

SEC("tp_btf/block_bio_queue")
int bio_queue(__u64 *ctx)
{
	struct bio *bio = bio_of(ctx);
	__u32 dev = dev_of_bio(bio);
	__u32 opf = bio->bi_opf;
	__u32 bytes = bio->bi_iter.bi_size;

	__u8 op = op_of(opf, bytes);

	if (!wanted_device(dev) || !wanted_op(op) || !bpf_map_lookup_elem(&bio_devices, &dev))
		return 0;
	struct own *own = own_of_cpu();
	struct set *set = set_of(bio);

	if (!own || !set)
		return 0;
	struct state *state = find_in(set, bio);

	if (state)
		ended_untold(state);
	state = take(set, bio);
	if (!state)
		return 0;
	who(state);
	where_from(own, state, false, NULL, bio);
	what(state, dev, op, flags_in(opf), bio->bi_iter.bi_sector, bytes, bpf_ktime_get_ns());
	state->issue_ns = 0;
	if (!state->left_out)
		ADD(own->counts[N_STARTS], 1);
	return 0;
}

SEC("tp_btf/block_bio_complete")
int bio_complete(__u64 *ctx)
{
	struct bio *bio = (void *)ctx[1];
	__u32 opf = bio->bi_opf;
	struct state *state = NULL;
	__u32 dev;

	/* Older drivers of RAIDs pass a bio on to another device unchanged. */
	if (!bpf_core_field_exists(struct bio, bi_bdev))
		state = find(bio);
	if (state && state->left_out & WAITS)
		return 0;
	dev = state ? state->dev : dev_of_bio(bio);
	if (!wanted_device(dev) || !bpf_map_lookup_elem(&bio_devices, &dev))
		return 0;
	if (!state)
		state = find(bio);
	if (!state) {
		/* Bios outside the filter have no state either, and are counted here too. */
		count(N_UNMATCHED);
		return 0;
	}
	/* Bios are not issued, so neither queue time nor device time is known. */
	struct event io = {
		.start_ns = state->start_ns,
		.sector = state->sector,
		.bytes = state->bytes,
		.dev = dev,
		.op = op_of(opf, state->bytes),
		.flags = flags_in(opf),
	};
	if (!give_back(state, &io))
		return 0;
	struct own *own = own_of_cpu();

	if (!own)
		return 0;
	if (!wanted_block(io.sector)) {
		ADD(own->counts[N_LEFT_OUT], 1);
		return 0;
	}
	io.end_ns = bpf_ktime_get_ns();
	ended(own, &io, 1);
	return 0;
}
