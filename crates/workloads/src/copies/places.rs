//! Which CPUs each copy has.

/// Splits `cpus` among `copies`, neighbours together, sizes that differ by one at most. Where there are
/// more copies than CPUs, copies share CPUs in turn. Empty when there is nothing to split.
pub fn places(cpus: &[usize], copies: usize) -> Vec<Vec<usize>> {
    if cpus.is_empty() {
        return Vec::new();
    }
    let of = |i: usize| i * cpus.len() / copies;
    (0..copies)
        .map(|i| {
            if copies > cpus.len() {
                vec![cpus[i % cpus.len()]]
            } else {
                cpus[of(i)..of(i + 1)].to_vec()
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_is_given_once_or_shared_in_turn() {
        assert_eq!(places(&[0, 1, 2, 5], 2), [vec![0, 1], vec![2, 5]]);
        assert_eq!(places(&[0, 1, 2], 2), [vec![0], vec![1, 2]]);
        assert_eq!(places(&[4, 7], 2), [vec![4], vec![7]]);
        assert_eq!(places(&[4, 7], 3), [vec![4], vec![7], vec![4]]);
        assert_eq!(places(&[1, 3], 1), [vec![1, 3]]);
        assert!(places(&[], 3).is_empty() && places(&[1], 0).is_empty());
    }
}
