//! The decks of CalculiX: a mesh, a material, what holds the body, and one step.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::cases::Analysis;
use super::params::Params;
use super::theory;
use crate::WorkloadError;

/// The name of the job; its files are `case.inp`, `case.dat` and so on.
pub const JOB: &str = "case";
/// What the beam carries, N; the pressure on the plate, MPa; the pull on the bar, MPa.
pub const LOAD: f64 = 100.0;
/// The pressure on the plate.
pub const PRESSURE: f64 = 0.1;
/// The pull on the bar.
pub const PULL: f64 = 260.0;
/// The load of the beam that is bent far, as `load * length^2 / (E * I)`.
pub const BEND: f64 = 2.0;
/// Frequencies that are asked for.
const MODES: usize = 6;
/// The share that a fault of the answer leaves of the material's modulus.
const WEAKER: f64 = 0.8;

/// Writes the deck of a trial into its folder, down to the device.
///
/// # Errors
/// It cannot be written.
pub fn write(params: &Params, dir: &Path) -> Result<(), WorkloadError> {
    let path = dir.join(format!("{JOB}.inp"));
    let write = || -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
        body(params, &mut out)?;
        step(params, &mut out)?;
        out.flush()?;
        // Written back now, not while it is measured.
        out.get_ref().sync_all()
    };
    write().map_err(WorkloadError::io("write", &path))
}

fn set(out: &mut impl Write, name: &str, nodes: &[usize]) -> io::Result<()> {
    writeln!(out, "*NSET, NSET={name}")?;
    nodes.iter().try_for_each(|node| writeln!(out, "{node},"))
}

/// Mesh, sets, material, and what holds it.
fn body(params: &Params, out: &mut impl Write) -> io::Result<()> {
    let grid = params.case.grid(&params.size);
    writeln!(out, "*HEADING\n{} {}", params.case.name, params.size)?;
    grid.write(out)?;
    set(out, "FIX", &grid.select(|at, _| at[0] == 0))?;
    set(out, "TIP", &grid.select(|at, to| at[0] == to[0]))?;
    let modulus = theory::MODULUS * if params.fault == "answer" { WEAKER } else { 1.0 };
    writeln!(out, "*MATERIAL, NAME=STEEL\n*ELASTIC\n{modulus},{}", theory::POISSON)?;
    writeln!(out, "*DENSITY\n{:e}", theory::DENSITY)?;
    if params.case.analysis == Analysis::BarPlastic {
        let (start, end) = (theory::YIELD, theory::YIELD + 10.0 * theory::HARDENING);
        writeln!(out, "*PLASTIC\n{start},0.\n{end},10.")?;
    }
    writeln!(out, "*SOLID SECTION, ELSET=EALL, MATERIAL=STEEL")?;
    match params.case.analysis {
        Analysis::PlateStatic | Analysis::PlateModes => {
            let edge =
                |at: [usize; 3], to: [usize; 3]| (0..2).any(|x| at[x] == 0 || at[x] == to[x]);
            set(out, "EDGE", &grid.select(edge))?;
            let middle = |at: [usize; 3], to: [usize; 3]| at[0] == to[0] / 2 && at[1] == to[1] / 2;
            set(out, "MIDDLE", &grid.select(middle))?;
            writeln!(out, "*BOUNDARY\nEDGE,1,3")
        }
        Analysis::BarPlastic => {
            set(out, "FRONT", &grid.select(|at, _| at[1] == 0))?;
            set(out, "BOTTOM", &grid.select(|at, _| at[2] == 0))?;
            writeln!(out, "*BOUNDARY\nFIX,1,1\nFRONT,2,2\nBOTTOM,3,3")
        }
        _ => writeln!(out, "*BOUNDARY\nFIX,1,3"),
    }
}

/// The load along z, spread over the nodes of the end.
fn tip_load(params: &Params, load: f64, out: &mut impl Write) -> io::Result<()> {
    let tips = params.case.grid(&params.size).select(|at, to| at[0] == to[0]).len();
    writeln!(out, "*CLOAD\nTIP,3,{:e}", load / tips as f64)
}

/// What is analysed, and what is written of it.
fn step(params: &Params, out: &mut impl Write) -> io::Result<()> {
    let print = |out: &mut dyn Write, of: &str| writeln!(out, "*NODE PRINT, NSET={of}\nU");
    let linear = "*STEP\n*STATIC";
    let nonlinear = if params.fault == "diverge" {
        // The whole load at once, and much too much of it.
        "*STEP, NLGEOM, INC=1\n*STATIC, DIRECT\n1.,1."
    } else {
        "*STEP, NLGEOM, INC=1000\n*STATIC\n0.1,1.,1e-6,0.1"
    };
    let too_much = if params.fault == "diverge" { 1e4 } else { 1.0 };
    match params.case.analysis {
        Analysis::BeamStatic => {
            writeln!(out, "{linear}")?;
            tip_load(params, LOAD, out)?;
            print(out, "TIP")?;
        }
        Analysis::PlateStatic => {
            writeln!(out, "{linear}\n*DLOAD")?;
            // The upper face of the uppermost layer.
            let [x, y, z] = params.case.grid(&params.size).elements;
            for element in x * y * (z - 1) + 1..=x * y * z {
                writeln!(out, "{element},P2,{PRESSURE}")?;
            }
            print(out, "MIDDLE")?;
        }
        Analysis::BeamBending => {
            writeln!(out, "{nonlinear}")?;
            tip_load(params, too_much * theory::bending_load(params.case.body, BEND), out)?;
            print(out, "TIP")?;
        }
        Analysis::BarPlastic => {
            writeln!(out, "{nonlinear}\n*DLOAD")?;
            let [x, y, z] = params.case.grid(&params.size).elements;
            for row in 1..=y * z {
                writeln!(out, "{},P4,{:e}", row * x, -PULL * too_much)?;
            }
            print(out, "TIP")?;
        }
        Analysis::BeamModes | Analysis::PlateModes => {
            writeln!(out, "*STEP\n*FREQUENCY\n{MODES}")?;
        }
        Analysis::Equations { .. } => {}
    }
    writeln!(out, "*NODE FILE\nU\n*EL FILE\nS\n*END STEP")
}
