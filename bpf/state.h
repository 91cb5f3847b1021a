/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * State of the requests in flight, found by their address: a hash table with sets of four
 * slots, several times as fast as the kernel's own. The slots of a set are adjacent, so
 * that one look-up finds them. A request whose set is full is counted and not followed.
 */
#ifndef ASSAY_STATE_H
#define ASSAY_STATE_H

#define SET_BITS 14
#define SETS (1 << SET_BITS)
#define WAYS 4
#define WAITS 2

/* One request in flight. */
struct state {
	/* Address of the request; NULL: the slot is free. */
	void *id;
	__u64 issue_ns;
	__u64 sector;
	__u64 cgroup;
	__u64 ino;
	__u32 bytes;
	__u32 tgid;
	__u32 file_dev;
	__u8 flags;
	__u8 sure;
	/* Set if the filter excludes the request, which is kept so that its end is not counted as one
	 * without a start; or WAITS, if the entry is that of a bio whose request is still to come. */
	__u8 left_out;
	__u8 op;
	__u32 dev;
	/* Number of CPUs that claim the slot; used by the probes for older kernels. */
	__u32 claims;
	__u64 start_ns;
	char comm[COMM];
};

_Static_assert(sizeof(struct state) == 88, "abi.rs");

struct set {
	struct state way[WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SETS);
	__type(key, __u32);
	__type(value, struct set);
} under_way SEC(".maps");

/* Returns the set of a request. The verifier rejects arithmetic on pointers, but allows it on their lower half. */
static __always_inline struct set *set_of(void *id)
{
	__u32 at = (((__u32)(__u64)id >> 5) * 0x9E3779B1U) >> (32 - SET_BITS);

	return bpf_map_lookup_elem(&under_way, &at);
}

static __always_inline struct state *find_in(struct set *set, void *id)
{
#pragma unroll
	for (int way = 0; way < WAYS; way++)
		if (set->way[way].id == id)
			return &set->way[way];
	return NULL;
}

static __always_inline struct state *find(void *id)
{
	struct set *set = set_of(id);

	return set ? find_in(set, id) : NULL;
}

/* Takes a slot if it is free. The kernel supports atomic compare-and-swap since 5.12; before, the slot goes
 * to the CPU that adds the first claim. Two CPUs at the same moment may both fail, and try the next slot. */
static __always_inline bool claim(struct state *state, void *id)
{
#ifdef COMPAT
	if (state->id)
		return false;
	__sync_fetch_and_add(&state->claims, 1);
	if (*(volatile __u32 *)&state->claims == 1) {
		state->id = id;
		return true;
	}
	__sync_fetch_and_add(&state->claims, -1);
	return false;
#else
	return !state->id && __sync_val_compare_and_swap((__u64 *)&state->id, 0, (__u64)id) == 0;
#endif
}

static __always_inline void release(struct state *state)
{
	state->id = NULL;
#ifdef COMPAT
	__sync_fetch_and_add(&state->claims, -1);
#endif
}

/* Takes a free slot for a request; returns NULL if the set is full. */
static __always_inline struct state *take(struct set *set, void *id)
{
#pragma unroll
	for (int way = 0; way < WAYS; way++)
		if (claim(&set->way[way], id))
			return &set->way[way];
	count(N_TABLE_FULL);
	return NULL;
}

/* Releases the state of a request that is not counted. */
static __always_inline void drop(struct state *state)
{
	if (!state->left_out)
		count(N_LEFT_OUT);
	release(state);
}

static __always_inline bool same_name(const volatile char *a, const char *b)
{
	const volatile __u64 *x = (const volatile __u64 *)a;
	const __u64 *y = (const __u64 *)b;

	return x[0] == y[0] && x[1] == y[1];
}

/* Returns true if the filter has a program with this name. */
static __always_inline bool wanted_program(const char *comm)
{
	for (int i = 0; i < MOST_NAMES; i++) {
		if (i >= cfg.n_programs)
			break;
		if (same_name(cfg.programs[i], comm))
			return true;
	}
	return false;
}

static __always_inline bool wanted_pid(__u32 tgid)
{
	for (int i = 0; i < MOST_NAMES; i++) {
		if (i >= cfg.n_pids)
			break;
		if (cfg.pids[i] == tgid)
			return true;
	}
	return false;
}

/* The current task and its fields: from Linux 5.11 on through a pointer that the verifier trusts. */
#ifdef COMPAT
#define TASK() ((struct task_struct *)bpf_get_current_task())
#define OF_TASK(task, field) BPF_CORE_READ(task, field)
/* Size of a kernel stack on x86-64, and on arm64 with pages of 4 or 16 KiB. */
#define STACK_BYTES 16384
#define FRED_BYTES 16
#else
#define TASK() ((struct task_struct *)bpf_get_current_task_btf())
#define OF_TASK(task, field) ((task)->field)
#endif

/* Returns the saved registers of a task in the kernel: they are at the end of its stack. */
static __always_inline void *registers(struct task_struct *task)
{
#ifdef COMPAT
	return BPF_CORE_READ(task, stack) + STACK_BYTES - bpf_core_type_size(struct pt_regs) -
	       (bpf_core_type_exists(struct fred_frame) ? FRED_BYTES : 0);
#else
	return (void *)bpf_task_pt_regs((void *)task);
#endif
}

/* Returns true if the task is in a system call that submits I/O without waiting for it. */
static __always_inline bool in_submission(struct task_struct *task)
{
	__u32 number;

	if (bpf_core_field_exists(struct pt_regs___x86, orig_ax))
		number = OF_TASK((struct pt_regs___x86 *)registers(task), orig_ax);
	else if (bpf_core_field_exists(struct pt_regs___arm64, syscallno))
		number = OF_TASK((struct pt_regs___arm64 *)registers(task), syscallno);
	else
		return false;
	return number == cfg.sys_io_submit || number == cfg.sys_io_uring_enter;
}

/* Reads the name of a task and clears the bytes behind its end, which may hold anything. */
static __always_inline void read_name(char *name, struct task_struct *task)
{
#ifdef COMPAT
	__u64 words[2] = {};

	bpf_probe_read_kernel(words, sizeof(words), task->comm);
	__u64 a = words[0], b = words[1];
#else
	__u64 a = *(__u64 *)task->comm;
	__u64 b = *(__u64 *)(task->comm + 8);
#endif
	/* Sets the highest bit of each byte that is 0 (Mycroft); the name is below the lowest of these bits. */
	__u64 ends = (a - 0x0101010101010101ULL) & ~a & 0x8080808080808080ULL;

	if (ends) {
		a &= (ends & -ends) - 1;
		b = 0;
	} else {
		ends = (b - 0x0101010101010101ULL) & ~b & 0x8080808080808080ULL;
		b &= (ends & -ends) - 1;
	}
	((__u64 *)name)[0] = a;
	((__u64 *)name)[1] = b;
}

/* Records the requester of the I/O: the current task. The program is that of its
 * process, so threads with names of their own and io_uring's workers count for it. */
static __always_inline void who(struct state *state)
{
	struct task_struct *task = TASK();
	__u32 flags = OF_TASK(task, flags);

	state->tgid = OF_TASK(task, tgid);
	struct task_struct *leader = OF_TASK(task, group_leader);

	read_name(state->comm, leader);
	state->flags = 0;
	if (flags & PF_IO_WORKER)
		state->flags = F_AIO;
	else if (flags & PF_KTHREAD)
		state->flags = F_KERNEL;
	else if (in_submission(task))
		state->flags = F_AIO;
	state->left_out = 0;
	if (cfg.n_pids && !wanted_pid(state->tgid))
		state->left_out = 1;
	if (cfg.n_programs && !wanted_program(state->comm)) {
		char own[COMM] = {};

		bpf_get_current_comm(own, sizeof(own));
		if (!wanted_program(own))
			state->left_out = 1;
	}
}

/* Copies the requester, which is known from the request's bio. */
static __always_inline void inherit(struct state *state, const struct state *asked)
{
	state->tgid = asked->tgid;
	state->flags = asked->flags;
	state->left_out = asked->left_out & ~WAITS;
	((__u64 *)state->comm)[0] = ((__u64 *)asked->comm)[0];
	((__u64 *)state->comm)[1] = ((__u64 *)asked->comm)[1];
}

/* Records control group and file. Those of a request come from its first bio, which is read only if needed. */
static __always_inline void where_from(struct own *own, struct state *state, bool of_request,
				       struct request *rq, struct bio *bio)
{
	state->cgroup = 0;
	state->ino = 0;
	state->file_dev = 0;
	state->sure = FILE_NONE;
	if (cfg.by_cgroup) {
		bio = of_request ? rq->bio : bio;
		state->cgroup = BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup, kn, id);
		if (cfg.n_cgroups) {
			bool wanted = false;

			for (int i = 0; i < MOST_NAMES; i++)
				if (i < cfg.n_cgroups && cfg.cgroups[i] == state->cgroup)
					wanted = true;
			if (!wanted)
				state->left_out = 1;
		}
	}
	if (!cfg.by_file || state->left_out)
		return;
	struct found found;

	bio = of_request ? rq->bio : bio;
	file_of_bio(bio, lies_on(bio, of_request ? rq : NULL), &found);
	__u64 sure = found.sure;

	/* The compiler knows that the value is one of these, the verifier does not. */
	barrier_var(sure);
	if (sure <= FILE_DEVICE)
		ADD(own->counts[N_FILE + sure], 1);
	state->sure = found.sure;
	struct inode *inode = found.inode;

	if (!inode)
		return;
	if (found.sure == FILE_DEVICE) {
		state->file_dev = BPF_CORE_READ(inode, i_rdev);
		return;
	}
	struct inode_key key = {
		.ino = BPF_CORE_READ(inode, i_ino),
		.dev = BPF_CORE_READ(inode, i_sb, s_dev),
	};
	state->ino = key.ino;
	state->file_dev = key.dev;
	tell_path(&found, &key);
}

/* Records the properties of an I/O known at its start; needed if its end is never reported. */
static __always_inline void what(struct state *state, __u32 dev, __u8 op, __u8 flags, __u64 sector,
				 __u32 bytes, __u64 start_ns)
{
	state->dev = dev;
	state->op = op;
	state->flags |= flags;
	state->sector = sector;
	state->bytes = bytes;
	state->start_ns = start_ns;
}

/* Copies the state of a request to its I/O and frees the slot. Returns false if the filter excludes it. */
static __always_inline bool give_back(struct state *state, struct event *io)
{
	bool wanted = !state->left_out;

	if (state->issue_ns)
		io->issue_ns = state->issue_ns;
	io->cgroup = state->cgroup;
	io->ino = state->ino;
	io->file_dev = state->file_dev;
	io->tgid = state->tgid;
	io->sure = state->sure;
	io->known = 1;
	/* The flags matter for reads and writes only, whose submitter may or may not wait. */
	io->flags |= state->flags;
	((__u64 *)io->comm)[0] = ((__u64 *)state->comm)[0];
	((__u64 *)io->comm)[1] = ((__u64 *)state->comm)[1];
	release(state);
	return wanted;
}

#endif
