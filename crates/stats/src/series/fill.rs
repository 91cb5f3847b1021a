//! Chooses the revisions of a range to measure next: first those that locate a change, then those
//! in the middle of the widest gaps.

/// Returns the most informative positions out of `0..count`, best first, at most `wanted`.
/// `measured` are positions that have a value, `unusable` those that do not build, and `changes`
/// pairs of positions between which a change lies (both measured: the last of the old level and the
/// first of the new).
pub fn next_to_measure(
    count: usize,
    measured: &[usize],
    unusable: &[usize],
    changes: &[(usize, usize)],
    wanted: usize,
) -> Vec<usize> {
    let mut known: Vec<bool> = vec![false; count];
    for i in measured.iter().chain(unusable) {
        if *i < count {
            known[*i] = true;
        }
    }
    let mut out = Vec::new();
    if count == 0 {
        return out;
    }
    let take = |i: usize, known: &mut Vec<bool>, out: &mut Vec<usize>| {
        known[i] = true;
        out.push(i);
    };
    // Halve each change repeatedly, all changes in turn.
    let mut open: Vec<(usize, usize)> =
        changes.iter().copied().filter(|(a, b)| a < b && *b < count).collect();
    while out.len() < wanted && !open.is_empty() {
        let mut next = Vec::new();
        for (a, b) in open {
            let middle = a.midpoint(b);
            let free = (a + 1..b).filter(|i| !known[*i]).min_by_key(|i| i.abs_diff(middle));
            if let Some(i) = free
                && out.len() < wanted
            {
                take(i, &mut known, &mut out);
                next.push((a, i));
                next.push((i, b));
            }
        }
        open = next;
    }
    // Measure the ends first, then the middle of the widest gap.
    for end in [count - 1, 0] {
        if out.len() < wanted && !known[end] {
            take(end, &mut known, &mut out);
        }
    }
    while out.len() < wanted {
        let mut widest: Option<(usize, usize)> = None;
        let mut start = None;
        for (i, taken) in known.iter().copied().chain([true]).enumerate() {
            if !taken {
                start.get_or_insert(i);
            } else if let Some(s) = start.take()
                && widest.is_none_or(|(_, length)| i - s > length)
            {
                widest = Some((s, i - s));
            }
        }
        match widest {
            Some((s, length)) => take(s + length / 2, &mut known, &mut out),
            None => break,
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_halved_before_gaps_are_filled() {
        assert_eq!(next_to_measure(101, &[0, 40, 60, 100], &[], &[(40, 60)], 2), [50, 45]);
        assert_eq!(next_to_measure(101, &[0, 100], &[], &[], 3), [50, 25, 75]);
    }

    #[test]
    fn ends_come_first_and_what_does_not_build_is_left_out() {
        assert_eq!(next_to_measure(5, &[], &[2], &[], 9), [4, 0, 1, 3]);
        assert_eq!(next_to_measure(3, &[0, 2], &[1], &[(0, 2)], 9), Vec::<usize>::new());
        assert_eq!(next_to_measure(0, &[], &[], &[], 9), Vec::<usize>::new());
        assert_eq!(next_to_measure(1, &[], &[], &[], 9), [0]);
    }
}
