/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Allocation of each group's entry in `amounts`. Include it after the map `groups`,
 * which maps `struct group` to an index: each program has its own kind of group.
 */
#ifndef ASSAY_PLACES_H
#define ASSAY_PLACES_H

/* Number of allocated entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} taken SEC(".maps");

/* Returns the index of a group's entry; an index beyond the array is invalid. */
static __always_inline __u32 place_of(struct group *group)
{
	__u32 zero = 0, at, *known = bpf_map_lookup_elem(&groups, group);
	__u64 *next;

	if (known)
		return *known;
	next = bpf_map_lookup_elem(&taken, &zero);
	if (!next)
		return ~0U;
	at = __sync_fetch_and_add(next, 1);
	/* Another CPU may do the same: the first one names the entry, the other's entry stays unused. */
	if (!bpf_map_update_elem(&groups, group, &at, BPF_NOEXIST))
		return at;
	known = bpf_map_lookup_elem(&groups, group);
	return known ? *known : ~0U;
}

#endif
