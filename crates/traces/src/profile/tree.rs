//! Call tree from which flame graphs are drawn: stacks merged from the root on.

use std::collections::BTreeMap;

use crate::profile::{Frame, FrameKind, Profile, ProfileSide, Stack, ThreadState};

/// Node of the call tree: a function under one chain of callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Text to show, as of [`Frame::label`].
    pub label: String,
    /// Path of the program or library that holds the function.
    pub module: String,
    /// Origin of the frame; `None` for a thread, a state or the root.
    pub kind: Option<FrameKind>,
    /// Time in the function and its callees, nanoseconds.
    pub ns: u64,
    /// Number of samples or waits.
    pub count: u64,
    /// Callees, ordered by name and module.
    pub children: Vec<Node>,
}

/// Options for building a call tree.
#[derive(Debug, Clone, Copy)]
pub struct Tree {
    pub side: ProfileSide,
    /// True to have a level of threads (by name) above the functions.
    pub by_thread: bool,
    /// Smallest share of the total time that is shown as a node of its own, such as 0.001.
    pub least: f64,
    /// Maximum number of functions in a stack; deeper ones are cut off.
    pub deepest: usize,
}

#[derive(Default)]
struct GrowingNode<'a> {
    ns: u64,
    count: u64,
    below: BTreeMap<(&'a str, &'a str, Option<FrameKind>), GrowingNode<'a>>,
}

impl<'a> GrowingNode<'a> {
    fn add(&mut self, s: &Stack) {
        self.ns = self.ns.saturating_add(s.ns);
        self.count = self.count.saturating_add(s.count);
    }

    fn child(
        &mut self,
        key: (&'a str, &'a str, Option<FrameKind>),
        s: &Stack,
    ) -> &mut GrowingNode<'a> {
        let child = self.below.entry(key).or_default();
        child.add(s);
        child
    }

    fn node(self, key: (&str, &str, Option<FrameKind>), least: u64) -> Node {
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

/// Builds the call tree of one side. Off CPU, the first level is the reason of the wait.
pub fn tree(profile: &Profile, how: Tree) -> Node {
    let mut root = GrowingNode::default();
    for s in profile.side(how.side) {
        root.add(s);
        let mut at = &mut root;
        if s.state != ThreadState::OnCpu {
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
    /// Returns the number of levels, this node included.
    pub fn depth(&self) -> usize {
        1 + self.children.iter().map(Node::depth).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::read;

    #[test]
    fn a_tree_adds_up_and_leaves_out_what_is_too_small() {
        let p = read(b"a;b;c 90\na;b 9\na;d 1\n", "x").unwrap();
        let how = Tree { side: ProfileSide::OnCpu, by_thread: false, least: 0.0, deepest: 99 };
        let t = tree(&p, how);
        assert_eq!((t.count, t.children.len(), t.depth()), (100, 1, 4));
        assert_eq!(t.children[0].children.iter().map(|c| c.count).collect::<Vec<_>>(), [99, 1]);
        let t = tree(&p, Tree { least: 0.05, ..how });
        assert_eq!(t.children[0].children.len(), 1);
        let t = tree(&p, Tree { deepest: 1, ..how });
        assert_eq!(t.depth(), 2);
    }
}
