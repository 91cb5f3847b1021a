/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Which place of `amounts` each group has. Included where the map `groups` is declared, from `struct group` to a place:
 * each program has groups of its own kind.
 */
#ifndef ASSAY_PLACES_H
#define ASSAY_PLACES_H

/* How many places are taken. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} taken SEC(".maps");

/* Where a group is added up; one that lies beyond what there is room for is nowhere. */
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
	/* Another CPU may be doing the same: whoever is first names the place, the other's stays empty. */
	if (!bpf_map_update_elem(&groups, group, &at, BPF_NOEXIST))
		return at;
	known = bpf_map_lookup_elem(&groups, group);
	return known ? *known : ~0U;
}

#endif
