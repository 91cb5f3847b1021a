//! The input decks of CalculiX: a mesh, a material, the supports, and one step.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::WorkloadError;
use crate::builtin::cae::cases::CaseAnalysis;
use crate::builtin::cae::params::AnalysisParams;
use crate::builtin::cae::theory;

/// Name of the job; its files are `case.inp`, `case.dat` and so on.
pub const JOB: &str = "case";
/// Load on the beam in N.
pub const LOAD: f64 = 100.0;
/// Pressure on the plate in MPa.
pub const PRESSURE: f64 = 0.1;
/// Tensile stress on the bar in MPa.
pub const PULL: f64 = 260.0;
/// Load of the large bending, as `load * length^2 / (E * I)`.
pub const BEND: f64 = 2.0;
/// Number of frequencies to compute.
const MODES: usize = 6;
/// Factor by which the fault `answer` reduces the material's modulus.
const WEAKER: f64 = 0.8;

/// Writes the deck of a trial into its folder and syncs it to the device.
///
/// # Errors
/// Fails if it cannot be written.
pub fn write(params: &AnalysisParams, dir: &Path) -> Result<(), WorkloadError> {
    let path = dir.join(format!("{JOB}.inp"));
    let write = || -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
        body(params, &mut out)?;
        step(params, &mut out)?;
        out.flush()?;
        // Writes back now, not during the measurement.
        out.get_ref().sync_all()
    };
    write().map_err(WorkloadError::io("write", &path))
}

fn set(out: &mut impl Write, name: &str, nodes: &[usize]) -> io::Result<()> {
    writeln!(out, "*NSET, NSET={name}")?;
    nodes.iter().try_for_each(|node| writeln!(out, "{node},"))
}

/// Writes the mesh, the sets, the material and the supports.
fn body(params: &AnalysisParams, out: &mut impl Write) -> io::Result<()> {
    let grid = params.case.grid(&params.size);
    writeln!(out, "*HEADING\n{} {}", params.case.name, params.size)?;
    grid.write(out)?;
    set(out, "FIX", &grid.select(|at, _| at[0] == 0))?;
    set(out, "TIP", &grid.select(|at, to| at[0] == to[0]))?;
    let modulus = theory::MODULUS * if params.fault == "answer" { WEAKER } else { 1.0 };
    writeln!(out, "*MATERIAL, NAME=STEEL\n*ELASTIC\n{modulus},{}", theory::POISSON)?;
    writeln!(out, "*DENSITY\n{:e}", theory::DENSITY)?;
    if params.case.analysis == CaseAnalysis::BarPlastic {
        let (start, end) = (theory::YIELD, theory::YIELD + 10.0 * theory::HARDENING);
        writeln!(out, "*PLASTIC\n{start},0.\n{end},10.")?;
    }
    writeln!(out, "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL")?;
    match params.case.analysis {
        CaseAnalysis::PlateStatic | CaseAnalysis::PlateModes => {
            let edge =
                |at: [usize; 3], to: [usize; 3]| (0..2).any(|x| at[x] == 0 || at[x] == to[x]);
            set(out, "EDGE", &grid.select(edge))?;
            let middle = |at: [usize; 3], to: [usize; 3]| at[0] == to[0] / 2 && at[1] == to[1] / 2;
            set(out, "MIDDLE", &grid.select(middle))?;
            writeln!(out, "*BOUNDARY\nEDGE,1,3")
        }
        CaseAnalysis::BarPlastic => {
            set(out, "FRONT", &grid.select(|at, _| at[1] == 0))?;
            set(out, "BOTTOM", &grid.select(|at, _| at[2] == 0))?;
            writeln!(out, "*BOUNDARY\nFIX,1,1\nFRONT,2,2\nBOTTOM,3,3")
        }
        _ => writeln!(out, "*BOUNDARY\nFIX,1,3"),
    }
}

/// Writes the load in z direction, distributed over the nodes of the end.
fn tip_load(params: &AnalysisParams, load: f64, out: &mut impl Write) -> io::Result<()> {
    let tips = params.case.grid(&params.size).select(|at, to| at[0] == to[0]).len();
    writeln!(out, "*CLOAD\nTIP,3,{:e}", load / tips as f64)
}

/// Writes the analysis step and its output requests.
fn step(params: &AnalysisParams, out: &mut impl Write) -> io::Result<()> {
    let print = |out: &mut dyn Write, of: &str| writeln!(out, "*NODE PRINT, NSET={of}\nU");
    let linear = "*STEP\n*STATIC";
    let nonlinear = if params.fault == "diverge" {
        // The whole load in one increment, and far too large.
        "*STEP, NLGEOM, INC=1\n*STATIC, DIRECT\n1.,1."
    } else {
        "*STEP, NLGEOM, INC=1000\n*STATIC\n0.1,1.,1e-6,0.1"
    };
    let too_much = if params.fault == "diverge" { 1e4 } else { 1.0 };
    match params.case.analysis {
        CaseAnalysis::BeamStatic => {
            writeln!(out, "{linear}")?;
            tip_load(params, LOAD, out)?;
            print(out, "TIP")?;
        }
        CaseAnalysis::PlateStatic => {
            writeln!(out, "{linear}\n*DLOAD")?;
            // The upper face of the top layer.
            let [x, y, z] = params.case.grid(&params.size).elements;
            for element in x * y * (z - 1) + 1..=x * y * z {
                writeln!(out, "{element},P2,{PRESSURE}")?;
            }
            print(out, "MIDDLE")?;
        }
        CaseAnalysis::BeamBending => {
            writeln!(out, "{nonlinear}")?;
            tip_load(params, too_much * theory::bending_load(params.case.body, BEND), out)?;
            print(out, "TIP")?;
        }
        CaseAnalysis::BarPlastic => {
            writeln!(out, "{nonlinear}\n*DLOAD")?;
            let [x, y, z] = params.case.grid(&params.size).elements;
            for row in 1..=y * z {
                writeln!(out, "{},P4,{:e}", row * x, -PULL * too_much)?;
            }
            print(out, "TIP")?;
        }
        CaseAnalysis::BeamModes | CaseAnalysis::PlateModes => {
            writeln!(out, "*STEP\n*FREQUENCY\n{MODES}")?;
        }
        CaseAnalysis::Equations { .. } => {}
    }
    writeln!(out, "*NODE FILE\nU\n*EL FILE\nS\n*END STEP")
}
