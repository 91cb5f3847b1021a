//! Parses and formats lists of CPUs and NUMA nodes as used by the kernel and people: `0-1,3`.

/// Error for a text that is not a list of CPUs or nodes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a list of numbers; write one such as 0-1,3 (each below {LIMIT})")]
pub struct CpuListError {
    text: String,
}

/// The largest supported CPU number plus one.
pub const LIMIT: usize = 4096;

/// Parses `0-1,3` into `[0, 1, 3]`: sorted, without duplicates.
///
/// # Errors
/// For an empty list, a part that is neither a number nor a rising range, or a number of [`LIMIT`]
/// or more.
pub fn parse(text: &str) -> Result<Vec<usize>, CpuListError> {
    let error = || CpuListError { text: text.chars().take(60).collect() };
    let number = |t: &str| {
        let t = t.trim();
        let plain = !t.is_empty() && t.bytes().all(|b| b.is_ascii_digit());
        t.parse::<usize>().ok().filter(|n| plain && *n < LIMIT).ok_or_else(error)
    };
    let mut list = Vec::new();
    for part in text.split(',') {
        match part.split_once('-') {
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if from > to {
                    return Err(error());
                }
                list.extend(from..=to);
            }
            None => list.push(number(part)?),
        }
    }
    list.sort_unstable();
    list.dedup();
    Ok(list)
}

/// Formats a sorted list without duplicates in the notation that [`parse`] reads.
pub fn format(list: &[usize]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut i = 0;
    while i < list.len() {
        let mut j = i;
        while j + 1 < list.len() && list[j + 1] == list[j] + 1 {
            j += 1;
        }
        parts.push(if i == j { list[i].to_string() } else { format!("{}-{}", list[i], list[j]) });
        i = j + 1;
    }
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!(parse("0-1,3").unwrap(), [0, 1, 3]);
        assert_eq!(parse(" 3, 1-2 ,2").unwrap(), [1, 2, 3]);
        for bad in ["", "a", "3-1", "0-", "-1", "0,,1", "99999", "0-9999999999", "+1"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    proptest::proptest! {
        #[test]
        fn written_lists_read_back(mut list in proptest::collection::vec(0usize..300, 1..40)) {
            list.sort_unstable();
            list.dedup();
            proptest::prop_assert_eq!(parse(&format(&list)).unwrap(), list);
        }

        #[test]
        fn never_panics(text in "[0-9,\\- ]{0,30}") {
            let _ = parse(&text);
        }
    }
}
