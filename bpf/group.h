/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Counts by group: the histograms are kept here, since adding to one is cheaper than reporting an I/O. */
#ifndef ASSAY_GROUP_H
#define ASSAY_GROUP_H

static __always_inline bool same_key(const struct key *a, const struct key *b)
{
	const __u64 *x = (const __u64 *)a;
	const __u64 *y = (const __u64 *)b;

	return x[0] == y[0] && x[1] == y[1] && x[2] == y[2] && x[3] == y[3] && x[4] == y[4] &&
	       x[5] == y[5];
}

#ifdef COMPAT
/* Numbers in use: only from 5.12 on does the kernel return the old value of an atomic addition. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 512);
	__type(key, __u32);
	__type(value, __u32);
} numbers SEC(".maps");
#endif

/* Returns a number that nobody else has, or at least `cfg.groups` if none is left. */
static __always_inline __u32 new_number(void)
{
#ifdef COMPAT
	for (int i = 0; i < 64; i++) {
		__u32 number = next_group;

		if (number >= cfg.groups)
			break;
		next_group = number + 1;
		if (!bpf_map_update_elem(&numbers, &number, &number, BPF_NOEXIST))
			return number;
	}
	return cfg.groups;
#else
	return __sync_fetch_and_add(&next_group, 1);
#endif
}

/* Returns the number of a group, created if there is room; else 0, the group that pools the rest. */
static __noinline __u32 make_group(struct key *key)
{
	if (!key)
		return 0;
	__u32 *known = bpf_map_lookup_elem(&groups, key);

	if (known)
		return *known;
	if (next_group >= cfg.groups)
		return 0;
	__u32 group = new_number();

	if (group >= cfg.groups)
		return 0;
	if (bpf_map_update_elem(&groups, key, &group, BPF_NOEXIST)) {
		/* Another CPU was faster. */
		known = bpf_map_lookup_elem(&groups, key);
		return known ? *known : 0;
	}
	return group;
}

static __always_inline __u32 row_of(__u64 v)
{
	return v ? 1 + ilog2(v) : 0;
}

static __always_inline void add_row(struct cell *cell, int which, __u64 v)
{
	__u32 row = row_of(v);

	if (row < ROWS)
		ADD(cell->rows[which][row], 1);
}

static __always_inline void add_time(struct cell *cell, int which, __u64 ns)
{
	struct times *t = &cell->times[which];
	__u32 at = fine_of(ns);

	if (!t->n || ns < t->least)
		t->least = ns;
	if (ns > t->greatest)
		t->greatest = ns;
	ADD(t->n, 1);
	ADD(t->sum, ns);
	if (at < FINE)
		ADD(cell->fine[which][at], 1);
	if (cfg.rows & (2 << which))
		add_row(cell, which + 1, ns / cfg.unit_ns);
}

static __always_inline void add_region(struct event *io, __u32 group, __u32 shift)
{
	struct map_of_regions *map = bpf_map_lookup_elem(&regions, &group);
	__u64 at = (io->sector - cfg.first_block) >> (shift & 63);

	if (map)
		ADD(map->n[at < REGIONS ? at : REGIONS - 1], 1);
}

/* Returns the group of a key, and the shift from its device's blocks to regions.
 * On older kernels a probe may interrupt itself, so the cache is not used. */
static __always_inline __u32 group_of(struct own *own, struct key *key, int half, __u32 *region_bits)
{
#ifdef COMPAT
	(void)own;
	(void)half;
	__u32 *shift = cfg.regions ? bpf_map_lookup_elem(&shifts, &key->dev) : NULL;

	*region_bits = shift ? *shift : 0;
	return make_group(key);
#else
	const __u64 *word = (const __u64 *)key;
	__u64 mixed = (word[0] ^ word[1] * 3 ^ word[2] * 5 ^ word[3] * 7 ^ word[4] * 11 ^
		       word[5] * 13) * 0x9E3779B97F4A7C15ULL;
	__u32 place = (mixed >> (64 - CACHE_BITS)) | (half << CACHE_BITS);
	struct cached *last = &own->cache[place];

	if (!last->group || !same_key(&last->key, key)) {
		__u32 *shift = bpf_map_lookup_elem(&shifts, &key->dev);

		last->shift = shift ? *shift : 0;
		last->key = *key;
		last->group = make_group(key) + 1;
	}
	__u32 group = last->group - 1;

	/* Only a new tracer can make room, but the key may be known by then: look it up again. */
	if (!group)
		last->group = 0;
	*region_bits = last->shift;
	return group;
#endif
}

static __always_inline void count_in_group(struct own *own, struct event *io, int half)
{
	struct key key = { .dev = io->dev, .op = io->op };

	if (cfg.by_program) {
		((__u64 *)key.comm)[0] = ((__u64 *)io->comm)[0];
		((__u64 *)key.comm)[1] = ((__u64 *)io->comm)[1];
	}
	if (cfg.by_pid)
		key.tgid = io->tgid;
	if (cfg.by_cgroup)
		key.cgroup = io->cgroup;
	if (cfg.by_file) {
		key.ino = io->ino;
		key.file_dev = io->file_dev;
		key.sure = io->sure;
		key.metadata = !!(io->flags & F_META);
	}
	__u32 region_bits = 0;
	__u32 group = group_of(own, &key, half, &region_bits);

	if (!group)
		ADD(own->counts[N_POOLED], 1);
	struct cell *cell = bpf_map_lookup_elem(&cells, &group);

	if (!cell)
		return;
	ADD(cell->ios, 1);
	ADD(cell->bytes, io->bytes);
	if (io->op <= OP_WRITE) {
		if (io->flags & F_AIO)
			ADD(cell->aio, 1);
		if (io->op == OP_WRITE && !(io->flags & F_SYNC) &&
		    (!cfg.tracked || (io->flags & F_KERNEL)))
			ADD(cell->writeback, 1);
		if (io->flags & F_READAHEAD)
			ADD(cell->readahead, 1);
		if (!(io->flags & F_SYNC))
			ADD(cell->nosync, 1);
	}
	if (cfg.rows & 1)
		add_row(cell, 0, io->bytes);
	if (io->start_ns)
		add_time(cell, 0, io->end_ns - io->start_ns);
	if (io->start_ns && io->issue_ns)
		add_time(cell, 1, io->issue_ns - io->start_ns);
	if (io->issue_ns)
		add_time(cell, 2, io->end_ns - io->issue_ns);
	if (cfg.regions)
		add_region(io, group, region_bits);
}

#endif
