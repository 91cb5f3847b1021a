//! The detector's rules as data: `rules.txt`, parsed when the first text is searched.

use std::sync::LazyLock;

/// The rules built into this program.
pub(crate) static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::read(include_str!("rules.txt")));

/// Words of one class.
pub(crate) type TokenWords = Vec<&'static str>;

/// Set of byte pairs, with the second byte reduced to one of 64 bits. A fast filter: nearly every
/// word of a record contains none of the pairs, and every word is tested.
pub(crate) type Pairs = [u64; 256];

macro_rules! rules {
    ($($list:ident)+; $($table:ident)+) => {
        /// The rules by class; `rules.txt` explains them. Words of a list are merged, rows of a
        /// table are not.
        #[derive(Debug)]
        pub(crate) struct Rules {
            $(pub $list: TokenWords,)+
            $(pub $table: Vec<TokenWords>,)+
            /// First two bytes of the shapes' prefixes.
            pub shape_pairs: Pairs,
            /// Last two bytes of the words in `part`.
            pub part_pairs: Pairs,
        }

        impl Rules {
            fn read(text: &'static str) -> Rules {
                let mut rules = Rules {
                    $($list: TokenWords::new(),)+
                    $($table: Vec::new(),)+
                    shape_pairs: [0; 256],
                    part_pairs: [0; 256],
                };
                for line in text.lines() {
                    let row: TokenWords = line.split_whitespace().collect();
                    match row[..] {
                        [] | ["#", ..] => {}
                        $([stringify!($list), ref words @ ..] => rules.$list.extend(words),)+
                        $([stringify!($table), ref row @ ..] => rules.$table.push(row.to_vec()),)+
                        _ => unreachable!("rules.txt: {row:?}"),
                    }
                }
                for prefix in rules.shape.iter().flat_map(|row| &row[2..]) {
                    add(&mut rules.shape_pairs, prefix.as_bytes());
                }
                for part in &rules.part {
                    add(&mut rules.part_pairs, &part.as_bytes()[part.len() - 2..]);
                }
                rules
            }
        }
    };
}

rules! {
    about account answer call client command common contact counted definer digest end extension
    flag glued header hook if_mixed login manager operator oracle part pipe plain pointer reader
    redis reference root scheme second tag unit webhook;
    alias option place query shape weak
}

/// Returns the number in a row of a table.
pub(crate) fn least(text: &str) -> usize {
    text.parse().expect("a number in rules.txt")
}

/// Adds the first two bytes of a word.
pub(crate) fn add(pairs: &mut Pairs, word: &[u8]) {
    pairs[usize::from(word[0])] |= 1 << (word[1] & 63);
}

pub(crate) fn holds(pairs: &Pairs, pair: &[u8]) -> bool {
    pairs[usize::from(pair[0])] >> (pair[1] & 63) & 1 == 1
}

/// True if a word is in a list, ignoring case.
pub(crate) fn has(words: &[&str], word: &str) -> bool {
    words.iter().any(|w| w.eq_ignore_ascii_case(word))
}
