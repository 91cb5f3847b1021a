//! Expected results of the cases in closed form. Units: mm, N, MPa, t.

use std::f64::consts::PI;

/// Young's modulus of steel in MPa.
pub const MODULUS: f64 = 210_000.0;
/// Poisson's ratio of steel.
pub const POISSON: f64 = 0.3;
/// Density of steel in t/mm^3.
pub const DENSITY: f64 = 7.8e-9;
/// Yield stress in MPa.
pub const YIELD: f64 = 200.0;
/// Hardening modulus in MPa: stress over plastic strain beyond the yield stress.
pub const HARDENING: f64 = 10_000.0;

/// Returns the second moment of area of a rectangle about the axis along its width.
fn second_moment(width: f64, height: f64) -> f64 {
    width * height.powi(3) / 12.0
}

/// Returns the deflection of a cantilever under a load at its end (Timoshenko's beam with Cowper's
/// shear coefficient).
pub fn cantilever([length, width, height]: [f64; 3], load: f64) -> f64 {
    let shear_modulus = MODULUS / (2.0 * (1.0 + POISSON));
    let coefficient = 10.0 * (1.0 + POISSON) / (12.0 + 11.0 * POISSON);
    let bending = load * length.powi(3) / (3.0 * MODULUS * second_moment(width, height));
    bending + load * length / (coefficient * shear_modulus * width * height)
}

/// Returns the load that bends a beam with `load * length^2 = share * E * I`.
pub fn bending_load([length, width, height]: [f64; 3], share: f64) -> f64 {
    share * MODULUS * second_moment(width, height) / length.powi(2)
}

/// Returns the transverse displacement of the end of a slender beam, divided by its length, under a
/// load with constant direction (Euler's elastica: the angle obeys a'' = -share * cos a, a(0) = 0,
/// a'(1) = 0).
pub fn elastica(share: f64) -> f64 {
    // Bisection for the curvature at the clamp that makes the curvature at the end 0.
    let (mut low, mut high) = (0.0, share + 1.0);
    for _ in 0..80 {
        let middle = f64::midpoint(low, high);
        if integrate(share, middle).1 > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    integrate(share, f64::midpoint(low, high)).0
}

/// Integrates along the beam (Runge-Kutta, 4th order); returns the transverse displacement and the
/// curvature at its end.
fn integrate(share: f64, at_clamp: f64) -> (f64, f64) {
    const STEPS: usize = 2000;
    let h = 1.0 / STEPS as f64;
    let slope = |[angle, bend, _]: [f64; 3]| [bend, -share * angle.cos(), angle.sin()];
    let add = |s: [f64; 3], d: [f64; 3], by: f64| std::array::from_fn(|i| s[i] + d[i] * by);
    let mut state = [0.0, at_clamp, 0.0];
    for _ in 0..STEPS {
        let a = slope(state);
        let b = slope(add(state, a, h / 2.0));
        let c = slope(add(state, b, h / 2.0));
        let d = slope(add(state, c, h));
        let mean: [f64; 3] = std::array::from_fn(|i| (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) / 6.0);
        state = add(state, mean, h);
    }
    (state[2], state[1])
}

/// Returns the elongation of a bar under a stress beyond its yield stress with large strains: true
/// stress (over the current area) and logarithmic strain.
pub fn plastic(length: f64, stress: f64) -> f64 {
    let strain = stress / MODULUS + (stress - YIELD).max(0.0) / HARDENING;
    length * (strain.exp() - 1.0)
}

/// Returns the bending stiffness of a plate.
fn plate_stiffness(thickness: f64) -> f64 {
    MODULUS * thickness.powi(3) / (12.0 * (1.0 - POISSON * POISSON))
}

/// Returns the deflection in the middle of a clamped square plate under pressure (coefficient of
/// the series: Taylor and Govindjee, 2004).
pub fn plate([side, _, thickness]: [f64; 3], pressure: f64) -> f64 {
    0.001_265_32 * pressure * side.powi(4) / plate_stiffness(thickness)
}

/// Returns the first natural frequency of a cantilever that bends about the axis along its width
/// (Euler's beam), in Hz.
pub fn cantilever_frequency(length: f64, width: f64, height: f64) -> f64 {
    let root: f64 = 1.875_104_07;
    let stiffness = MODULUS * second_moment(width, height) / (DENSITY * width * height);
    root.powi(2) / (2.0 * PI) * (stiffness / length.powi(4)).sqrt()
}

/// Returns the first four natural frequencies of a clamped square plate (Leissa, 1973), in Hz.
pub fn plate_frequencies([side, _, thickness]: [f64; 3]) -> [f64; 4] {
    let unit =
        (plate_stiffness(thickness) / (DENSITY * thickness)).sqrt() / (2.0 * PI * side.powi(2));
    [35.985, 73.394, 73.394, 108.22].map(|root| root * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values_of_the_elastica() {
        // Bisshopp and Drucker, 1945, as tabulated by Mattiasson, 1981: load share, deflection over
        // length.
        for (share, deflection) in [(0.2, 0.06636), (1.0, 0.30172), (2.0, 0.49346), (5.0, 0.71379)]
        {
            let found = elastica(share);
            assert!((found - deflection).abs() < 2e-5, "{share}: {found}");
        }
    }

    #[test]
    fn small_loads_bend_as_the_straight_beam_says() {
        let body = [400.0, 10.0, 10.0];
        let straight = bending_load(body, 1e-3) * 400.0_f64.powi(3)
            / (3.0 * MODULUS * second_moment(10.0, 10.0));
        assert!((elastica(1e-3) * 400.0 / straight - 1.0).abs() < 1e-5);
        assert!((cantilever(body, bending_load(body, 1e-3)) / straight - 1.0).abs() < 1e-3);
        assert!((plastic(100.0, 100.0) / (100.0 * 100.0 / MODULUS) - 1.0).abs() < 1e-3);
    }
}
