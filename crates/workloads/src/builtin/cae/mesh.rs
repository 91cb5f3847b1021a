//! A box of 20-node hexahedra in CalculiX's numbering: corners first, then the midpoints of edges.

use std::io::{self, Write};

/// A regular mesh of a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoxMesh {
    /// Number of elements along each side.
    pub elements: [usize; 3],
    /// Dimensions of the box in mm.
    pub body: [f64; 3],
}

/// Returns the offsets, in steps of half an element, from an element's first corner to its nodes:
/// the corners of the lower and the upper face, the midpoints of their edges, and those of the
/// edges between the faces.
fn element_nodes() -> Vec<[usize; 3]> {
    let (corners, middles) = ([[0, 0], [2, 0], [2, 2], [0, 2]], [[1, 0], [2, 1], [1, 2], [0, 1]]);
    let layers = [(corners, 0), (corners, 2), (middles, 0), (middles, 2), (corners, 1)];
    layers.into_iter().flat_map(|(places, z)| places.map(|[x, y]| [x, y, z])).collect()
}

impl BoxMesh {
    /// Returns the number of half-element steps along each side.
    fn steps(&self) -> [usize; 3] {
        self.elements.map(|n| 2 * n)
    }

    /// Returns true if there is a node at a position: corners and midpoints of edges have at most
    /// one odd step.
    fn is_node(at: [usize; 3]) -> bool {
        at.iter().filter(|n| *n % 2 == 1).count() <= 1
    }

    /// Returns the number of a position; numbers of positions without a node are not used.
    fn number(&self, at: [usize; 3]) -> usize {
        let [x, y, _] = self.steps();
        (at[2] * (y + 1) + at[1]) * (x + 1) + at[0] + 1
    }

    /// Returns all nodes: position and number.
    fn nodes(&self) -> impl Iterator<Item = ([usize; 3], usize)> + '_ {
        let [x, y, z] = self.steps();
        let places =
            (0..=z).flat_map(move |k| (0..=y).flat_map(move |j| (0..=x).map(move |i| [i, j, k])));
        places.filter(|at| Self::is_node(*at)).map(|at| (at, self.number(at)))
    }

    /// Returns the nodes for which `of` is true; its arguments are the position and the number of
    /// steps along each side.
    pub fn select(&self, of: impl Fn([usize; 3], [usize; 3]) -> bool) -> Vec<usize> {
        self.nodes().filter(|(at, _)| of(*at, self.steps())).map(|(_, number)| number).collect()
    }

    /// Writes nodes and elements of a deck, as the sets `NALL` and `EALL`.
    ///
    /// # Errors
    /// Fails if writing fails.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let steps = self.steps();
        writeln!(out, "*NODE, NSET=NALL")?;
        for (at, number) in self.nodes() {
            let place = |x: usize| self.body[x] * at[x] as f64 / steps[x] as f64;
            writeln!(out, "{number},{:.9e},{:.9e},{:.9e}", place(0), place(1), place(2))?;
        }
        writeln!(out, "*ELEMENT, TYPE=C3D20R, ELSET=EALL")?;
        let [x, y, z] = self.elements;
        let (mut element, steps_to) = (0, element_nodes());
        for k in 0..z {
            for j in 0..y {
                for i in 0..x {
                    element += 1;
                    let node = |n: &[usize; 3]| {
                        self.number([2 * i + n[0], 2 * j + n[1], 2 * k + n[2]]).to_string()
                    };
                    let nodes: Vec<String> = steps_to.iter().map(node).collect();
                    writeln!(out, "{element},{},", nodes[..10].join(","))?;
                    writeln!(out, "{}", nodes[10..].join(","))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_element_has_twenty_nodes_and_each_face_eight() {
        let grid = BoxMesh { elements: [1, 1, 1], body: [1.0, 2.0, 3.0] };
        assert_eq!(grid.nodes().count(), 20);
        assert_eq!(grid.select(|at, _| at[0] == 0).len(), 8);
        assert_eq!(grid.select(|at, to| at[2] == to[2]).len(), 8);
        let mut text = Vec::new();
        grid.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), 1 + 20 + 1 + 2);
        assert!(text.contains("27,1.000000000e0,2.000000000e0,3.000000000e0"), "{text}");
        // Two adjacent elements share a face.
        assert_eq!(BoxMesh { elements: [2, 1, 1], ..grid }.nodes().count(), 32);
    }
}
