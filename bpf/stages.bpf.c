// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Reports every step of every I/O, like blktrace: queued, split, made a request or merged
 * with one, inserted into the scheduler, issued, completed; and plugs. Nothing is aggregated
 * here: the reader of the ring matches bios to requests. Needs Linux 5.10 or later.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "io.h"
#include "stages.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

const volatile struct config cfg = {};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} events SEC(".maps");

/* Number of events for which the ring had no room. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

#include "request.h"

static __always_inline void tell(struct stage_event *event)
{
	__u32 first = 0;
	__u64 *n;

	event->time_ns = bpf_ktime_get_ns();
	if (!bpf_ringbuf_output(&events, event, sizeof(*event), BPF_RB_NO_WAKEUP))
		return;
	n = bpf_map_lookup_elem(&lost, &first);
	if (n)
		__sync_fetch_and_add(n, 1);
}

static __always_inline void of_bio(struct bio *bio, __u8 what)
{
	__u32 bytes = bio->bi_iter.bi_size;
	struct stage_event event = {
		.sector = bio->bi_iter.bi_sector,
		.bytes = bytes,
		.dev = dev_of_bio(bio),
		.what = what,
		.op = op_of(bio->bi_opf, bytes),
	};

	if (wanted_device(event.dev))
		tell(&event);
}

/* Passthrough commands of a driver or of SCSI have no stages. */
static __always_inline void of_request(struct request *rq, __u32 bytes, __u8 what)
{
	__u32 opf = rq->cmd_flags;

	if ((opf & 0xff) >= FIRST_PASSTHROUGH)
		return;
	struct stage_event event = {
		.sector = rq->__sector,
		.queue = (__u64)BPF_CORE_READ(rq, q),
		.bytes = bytes,
		.dev = dev_of_request(rq),
		.what = what,
		.op = op_of(opf, bytes),
	};

	if (wanted_device(event.dev))
		tell(&event);
}

static __always_inline void of_queue(__u64 queue, __u8 what, __u64 requests)
{
	struct stage_event event = { .sector = requests, .queue = queue, .what = what };

	tell(&event);
}

/* Before Linux 5.11 the queue and the request to merge with come first. */
static __always_inline struct bio *joined(__u64 *ctx)
{
	struct bio *bio;

	if (cfg.queue_before_bio) {
		bio = (void *)ctx[2];
		barrier_var(bio);
	} else {
		bio = (void *)ctx[0];
		barrier_var(bio);
	}
	return bio;
}

SEC("tp_btf/block_bio_queue")
int queued(__u64 *ctx)
{
	of_bio(bio_of(ctx), STAGE_QUEUED);
	return 0;
}

SEC("tp_btf/block_split")
int split(__u64 *ctx)
{
	of_bio(bio_of(ctx), STAGE_SPLIT);
	return 0;
}

SEC("tp_btf/block_getrq")
int made(__u64 *ctx)
{
	of_bio(bio_of(ctx), STAGE_MADE);
	return 0;
}

SEC("tp_btf/block_bio_backmerge")
int back_merged(__u64 *ctx)
{
	of_bio(joined(ctx), STAGE_BACK_MERGED);
	return 0;
}

SEC("tp_btf/block_bio_frontmerge")
int front_merged(__u64 *ctx)
{
	of_bio(joined(ctx), STAGE_FRONT_MERGED);
	return 0;
}

SEC("tp_btf/block_rq_insert")
int inserted(__u64 *ctx)
{
	struct request *rq = request_of(ctx);

	of_request(rq, rq->__data_len, STAGE_INSERTED);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int issued(__u64 *ctx)
{
	struct request *rq = request_of(ctx);

	of_request(rq, rq->__data_len, STAGE_ISSUED);
	return 0;
}

SEC("tp_btf/block_rq_complete")
int completed(__u64 *ctx)
{
	of_request((void *)ctx[0], (__u32)ctx[2], STAGE_COMPLETED);
	return 0;
}

/* Only for devices without requests. */
SEC("tp_btf/block_bio_complete")
int bio_completed(__u64 *ctx)
{
	of_bio((void *)ctx[1], STAGE_COMPLETED);
	return 0;
}

SEC("tp_btf/block_plug")
int plugged(__u64 *ctx)
{
	of_queue(ctx[0], STAGE_PLUGGED, 0);
	return 0;
}

SEC("tp_btf/block_unplug")
int unplugged(__u64 *ctx)
{
	__u8 what = (__u8)ctx[2] ? STAGE_UNPLUGGED : STAGE_UNPLUGGED_IMPLICITLY;

	of_queue(ctx[0], what, (__u32)ctx[1]);
	return 0;
}
