//! The named cases: their analysis, their solver, and the dimensions of each size.

use crate::builtin::cae::mesh::BoxMesh;

/// Solver of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solver {
    /// CalculiX: one process with threads.
    Ccx,
    /// MUMPS: several processes over MPI.
    Mumps,
}

/// Analysis of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseAnalysis {
    /// A beam clamped at one end and loaded at the other: its deflection.
    BeamStatic,
    /// A plate clamped on all sides under pressure: its deflection.
    PlateStatic,
    /// A slender beam under large bending: the displacement of its end.
    BeamBending,
    /// A bar pulled beyond its yield stress: its elongation.
    BarPlastic,
    /// The lowest natural frequencies of the beam.
    BeamModes,
    /// The lowest natural frequencies of the plate.
    PlateModes,
    /// Systems of equations with known solutions.
    Equations {
        /// True if the factors are stored in files.
        out_of_core: bool,
        /// Number of systems that are solved with the same factors.
        solves: u32,
    },
}

/// A named case with its dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    pub name: &'static str,
    pub analysis: CaseAnalysis,
    /// Dimensions of the body in mm.
    pub body: [f64; 3],
    /// Number of elements along each side, for `test`, `train` and `ref`.
    pub grids: [[usize; 3]; 3],
}

/// Names of the sizes, in the order of [`Case::grids`].
pub const SIZES: [&str; 3] = ["test", "train", "ref"];

const FILES: CaseAnalysis = CaseAnalysis::Equations { out_of_core: true, solves: 1 };
const PASSES: CaseAnalysis = CaseAnalysis::Equations { out_of_core: true, solves: 10 };
const CORE: CaseAnalysis = CaseAnalysis::Equations { out_of_core: false, solves: 1 };
const BEAM: [f64; 3] = [200.0, 8.0, 10.0];
const PLATE: [f64; 3] = [100.0, 100.0, 2.0];
const STRIP: [f64; 3] = [400.0, 10.0, 10.0];
const BAR: [f64; 3] = [100.0, 10.0, 10.0];
const BLOCK: [f64; 3] = [100.0, 100.0, 100.0];
const GIRDER: [f64; 3] = [1000.0, 25.0, 25.0];

#[rustfmt::skip]
pub const CASES: [Case; 10] = [
    case("beam-static", CaseAnalysis::BeamStatic, BEAM, [[20, 2, 2], [120, 7, 7], [240, 14, 14]]),
    case("plate-static", CaseAnalysis::PlateStatic, PLATE,
        [[24, 24, 1], [90, 90, 1], [200, 200, 2]]),
    case("beam-bending", CaseAnalysis::BeamBending, STRIP, [[20, 2, 2], [60, 3, 3], [160, 8, 8]]),
    case("bar-plastic", CaseAnalysis::BarPlastic, BAR, [[4, 2, 2], [20, 6, 6], [60, 14, 14]]),
    case("beam-modes", CaseAnalysis::BeamModes, BEAM, [[20, 2, 2], [100, 6, 6], [200, 12, 12]]),
    case("plate-modes", CaseAnalysis::PlateModes, PLATE, [[24, 24, 1], [60, 60, 1], [140, 140, 2]]),
    case("block-core", CORE, BLOCK, [[8, 8, 8], [18, 18, 18], [40, 40, 40]]),
    case("block-files", FILES, BLOCK, [[8, 8, 8], [18, 18, 18], [40, 40, 40]]),
    case("girder-files", FILES, GIRDER, [[60, 4, 4], [800, 6, 6], [6000, 12, 12]]),
    case("girder-passes", PASSES, GIRDER, [[60, 4, 4], [800, 6, 6], [6000, 12, 12]]),
];

const fn case(
    name: &'static str,
    analysis: CaseAnalysis,
    body: [f64; 3],
    grids: [[usize; 3]; 3],
) -> Case {
    Case { name, analysis, body, grids }
}

impl Case {
    pub fn solver(&self) -> Solver {
        match self.analysis {
            CaseAnalysis::Equations { .. } => Solver::Mumps,
            _ => Solver::Ccx,
        }
    }

    /// Returns the mesh of a size.
    pub fn grid(&self, size: &str) -> BoxMesh {
        let index = SIZES.iter().position(|s| *s == size).unwrap_or(0);
        BoxMesh { elements: self.grids[index], body: self.body }
    }
}
