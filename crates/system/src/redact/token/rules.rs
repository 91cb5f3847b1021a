//! The detector's rules as data: `rules.txt`, parsed when the first text is searched.

use std::sync::LazyLock;

/// The rules built into this program.
pub(crate) static RULES: LazyLock<Rules> = LazyLock::new(|| Rules::read(include_str!("rules.txt")));

/// Words of one class.
pub(crate) type TokenWords = Vec<&'static str>;

/// Set of byte pairs, with the second byte reduced to one of 64 bits. A fast filter: nearly every
/// word of a record contains none of the pairs, and every word is tested.
pub(crate) type Pairs = [u64; 256];

/// Tokens of a service: a prefix, then a minimum number of characters of an alphabet.
#[derive(Debug)]
pub(crate) struct TokenShape {
    pub prefix: &'static str,
    pub alphabet: &'static str,
    pub least: usize,
}

macro_rules! rules {
    ($($class:ident)+) => {
        /// The rules by class; `rules.txt` explains them.
        #[derive(Debug)]
        pub(crate) struct Rules {
            $(pub $class: TokenWords,)+
            pub shapes: Vec<TokenShape>,
            /// First two bytes of the shapes' prefixes.
            pub shape_pairs: Pairs,
            /// Last two bytes of the words in `part`.
            pub part_pairs: Pairs,
            /// Names with the number of characters that their values need.
            pub weak: Vec<(usize, &'static str)>,
            pub query: Vec<(usize, &'static str)>,
            /// Options with the programs that they belong to.
            pub option: Vec<(&'static str, TokenWords)>,
            /// Words, numbers of arguments between them and a secret, and their programs.
            pub place: Vec<(&'static str, usize, TokenWords)>,
            pub alias: Vec<(&'static str, &'static str)>,
        }

        impl Rules {
            fn read(text: &'static str) -> Rules {
                let mut rules = Rules {
                    $($class: TokenWords::new(),)+
                    shapes: Vec::new(),
                    shape_pairs: [0; 256],
                    part_pairs: [0; 256],
                    weak: Vec::new(),
                    query: Vec::new(),
                    option: Vec::new(),
                    place: Vec::new(),
                    alias: Vec::new(),
                };
                for line in text.lines() {
                    let row: TokenWords = line.split_whitespace().collect();
                    match row[..] {
                        [] | ["#", ..] => {}
                        $([stringify!($class), ref words @ ..] => rules.$class.extend(words),)+
                        _ => rules.table(&row),
                    }
                }
                for shape in &rules.shapes {
                    add(&mut rules.shape_pairs, shape.prefix.as_bytes());
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
    about account client command common counted definer digest end extension flag glued header
    hook if_mixed login operator oracle part pipe plain reader redis reference root scheme second
    tag unit webhook
}

impl Rules {
    /// Adds a row that is more than a list of words.
    fn table(&mut self, row: &[&'static str]) {
        let least = |text: &str| text.parse().expect("a number in rules.txt");
        match row {
            ["shape", alphabet, characters, prefixes @ ..] => {
                let least = least(characters);
                let shape = |prefix: &&'static str| TokenShape { prefix, alphabet, least };
                self.shapes.extend(prefixes.iter().map(shape));
            }
            [class @ ("weak" | "query"), characters, words @ ..] => {
                let table = if *class == "weak" { &mut self.weak } else { &mut self.query };
                table.extend(words.iter().map(|word| (least(characters), *word)));
            }
            ["option", option, programs @ ..] => self.option.push((option, programs.to_vec())),
            ["place", word, n, of @ ..] => self.place.push((word, least(n), of.to_vec())),
            ["alias", text, character] => self.alias.push((text, character)),
            _ => unreachable!("rules.txt: {row:?}"),
        }
    }
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
