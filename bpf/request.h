/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Access to the arguments of block tracepoints on Linux 5.10 and
 * later: the request or bio, its device, its operation and flags.
 */
#ifndef ASSAY_REQUEST_H
#define ASSAY_REQUEST_H

/* Returns the operation of a request or bio, in the numbers of io.h. */
static __always_inline __u8 op_of(__u32 opf, __u32 bytes)
{
	__u32 op = opf & 0xff;
	__u32 append = bpf_core_type_exists(enum req_opf) ?
		bpf_core_enum_value(enum req_opf, REQ_OP_ZONE_APPEND___before_6_0) :
		bpf_core_enum_value(enum req_op, REQ_OP_ZONE_APPEND);

	if (op == append)
		return bytes ? OP_WRITE : OP_FLUSH;
	switch (op) {
	case REQ_OP_READ:
		return OP_READ;
	case REQ_OP_WRITE:
		return bytes ? OP_WRITE : OP_FLUSH;
	case REQ_OP_FLUSH:
		return OP_FLUSH;
	case REQ_OP_DISCARD:
	case REQ_OP_SECURE_ERASE:
		return OP_DISCARD;
	default:
		return OP_OTHER;
	}
}

#define HAS(opf, bit) ((opf) & (1U << bpf_core_enum_value(enum req_flag_bits, bit)))

static __always_inline __u8 flags_of(__u32 opf)
{
	/* The kernel treats every read as synchronous, even without the flag
	 * (op_is_sync). Here only the flag counts, as the kernel writes it. */
	return (HAS(opf, __REQ_SYNC) ? F_SYNC : 0) | (HAS(opf, __REQ_RAHEAD) ? F_READAHEAD : 0) |
	       (HAS(opf, __REQ_PREFLUSH) ? F_PREFLUSH : 0) | (HAS(opf, __REQ_FUA) ? F_FUA : 0) |
	       (HAS(opf, __REQ_META) ? F_META : 0);
}

static __always_inline __u32 dev_of(struct gendisk *disk)
{
	return (__u32)disk->major << 20 | (__u32)disk->first_minor;
}

static __always_inline __u32 dev_of_request(struct request *rq)
{
	if (bpf_core_field_exists(struct request___before_5_17, rq_disk))
		return dev_of(((struct request___before_5_17 *)rq)->rq_disk);
	return dev_of(rq->q->disk);
}

static __always_inline __u32 dev_of_bio(struct bio *bio)
{
	if (bpf_core_field_exists(struct bio, bi_bdev))
		return dev_of(bio->bi_bdev->bd_disk);
	return dev_of(((struct bio___before_5_12 *)bio)->bi_disk);
}

/* Returns the device or partition that a bio is sent to; `rq` is its request, or NULL if it has none yet. */
static __always_inline __u32 lies_on(struct bio *bio, struct request *rq)
{
	if (bpf_core_field_exists(struct bio, bi_bdev))
		return bio->bi_bdev->bd_dev;
	if (!rq)
		return dev_of_bio(bio);
	if (bpf_core_type_exists(struct hd_struct))
		return BPF_CORE_READ((struct request___before_5_11 *)rq, part, __dev.devt);
	return BPF_CORE_READ((struct request___5_11 *)rq, part, bd_dev);
}

/* Returns the request of a tracepoint: older kernels pass the queue first. */
static __always_inline struct request *request_of(__u64 *ctx)
{
	struct request *rq;

	if (cfg.queue_before_request) {
		rq = (void *)ctx[1];
		barrier_var(rq);
	} else {
		rq = (void *)ctx[0];
		barrier_var(rq);
	}
	return rq;
}

static __always_inline struct bio *bio_of(__u64 *ctx)
{
	struct bio *bio;

	if (cfg.queue_before_bio) {
		bio = (void *)ctx[1];
		barrier_var(bio);
	} else {
		bio = (void *)ctx[0];
		barrier_var(bio);
	}
	return bio;
}

static __always_inline bool wanted_device(__u32 dev)
{
	if (!cfg.n_devices)
		return true;
	for (int i = 0; i < MOST_DEVICES; i++) {
		if (i >= cfg.n_devices)
			break;
		if (cfg.devices[i] == dev)
			return true;
	}
	return false;
}

#endif
