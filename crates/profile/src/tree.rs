//! Stacks put on top of one another: what a flame graph is drawn from.

use std::collections::BTreeMap;

use crate::{Frame, Kind, Profile, Side, Stack, State};

/// A function as it was called from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its label.
    pub label: String,
    /// The file it is in.
    pub module: String,
    /// What it is of; `None`: a thread, a state, or the whole.
    pub kind: Option<Kind>,
    /// Time in it and what it called, nanoseconds.
    pub ns: u64,
    /// Samples, or waits.
    pub count: u64,
    /// What it called.
    pub children: Vec<Node>,
}

/// How a tree is made.
#[derive(Debug, Clone, Copy)]
pub struct Tree {
    /// Which side.
    pub side: Side,
    /// Threads apart by name.
    pub by_thread: bool,
    /// Smaller shares of the whole are not shown separately, such as 0.001.
    pub least: f64,
    /// So many functions deep.
    pub deepest: usize,
}

#[derive(Default)]
struct Growing<'a> {
    ns: u64,
    count: u64,
    below: BTreeMap<(&'a str, &'a str, Option<Kind>), Growing<'a>>,
}

impl<'a> Growing<'a> {
    fn add(&mut self, s: &Stack) {
        self.ns = self.ns.saturating_add(s.ns);
        self.count = self.count.saturating_add(s.count);
    }

    fn child(&mut self, key: (&'a str, &'a str, Option<Kind>), s: &Stack) -> &mut Growing<'a> {
        let child = self.below.entry(key).or_default();
        child.add(s);
        child
    }

    fn node(self, key: (&str, &str, Option<Kind>), least: u64) -> Node {
        let (name, module, kind) = key;
        let label = match kind {
            Some(kind) => {
                let name = (!name.is_empty()).then(|| name.to_owned());
                Frame { name, module: module.to_owned(), kind }.label()
            }
            None => name.to_owned(),
        };
        let children = self
            .below
            .into_iter()
            .filter(|(_, g)| g.ns >= least)
            .map(|(key, g)| g.node(key, least))
            .collect();
        Node { label, module: module.to_owned(), kind, ns: self.ns, count: self.count, children }
    }
}

/// The tree of a side. Off CPU, the reason stands below everything.
pub fn tree(profile: &Profile, how: Tree) -> Node {
    let mut root = Growing::default();
    for s in profile.side(how.side) {
        root.add(s);
        let mut at = &mut root;
        if s.state != State::OnCpu {
            at = at.child((s.state.words(), "", None), s);
        }
        if how.by_thread {
            at = at.child((&s.thread, "", None), s);
        }
        for f in profile.frames_of(s).take(how.deepest) {
            at = at.child((f.name.as_deref().unwrap_or(""), &f.module, Some(f.kind)), s);
        }
    }
    let least = (root.ns as f64 * how.least) as u64;
    root.node(("all", "", None), least.max(1))
}

impl Node {
    /// How many levels it has, itself included.
    pub fn depth(&self) -> usize {
        1 + self.children.iter().map(Node::depth).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read;

    #[test]
    fn a_tree_adds_up_and_leaves_out_what_is_too_small() {
        let p = read(b"a;b;c 90\na;b 9\na;d 1\n", "x").unwrap();
        let how = Tree { side: Side::OnCpu, by_thread: false, least: 0.0, deepest: 99 };
        let t = tree(&p, how);
        assert_eq!((t.count, t.children.len(), t.depth()), (100, 1, 4));
        assert_eq!(t.children[0].children.iter().map(|c| c.count).collect::<Vec<_>>(), [99, 1]);
        let t = tree(&p, Tree { least: 0.05, ..how });
        assert_eq!(t.children[0].children.len(), 1);
        let t = tree(&p, Tree { deepest: 1, ..how });
        assert_eq!(t.depth(), 2);
    }
}
