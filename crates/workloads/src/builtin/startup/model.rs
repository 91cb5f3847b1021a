//! The linear program that the copies read: goods are shipped from plants to markets, with many
//! routes between each pair. Blocks of plants and markets are independent of one another. The
//! optimum is known from the construction of the costs, without a solver.
//!
//! In each block a staircase of pairs (plant, market) carries goods, and the supplies and demands
//! are the sums over it. Every plant has a price w >= 0 and every market a price v; the cheapest
//! route of a pair costs v - w on the staircase and more elsewhere. So the prices are feasible in
//! the dual program, both programs have the same value, and that value is the optimum
//! (complementary slackness).

use std::io::{self, Write};

use assay_stats::rng::Rng;

/// Number of plants of a block, and of its markets.
const SIDE: usize = 20;
/// Rows of a block: a supply for each plant and a demand for each market.
pub const BLOCK_ROWS: u64 = 2 * SIDE as u64;
/// Approximate size of a route in the file in bytes.
const ROUTE_BYTES: u64 = 193;
/// Maximum cost of a route beyond the cheapest of its pair.
const DETOUR: usize = 9_999;
/// Size of the writes in bytes.
const CHUNK: usize = 1 << 18;

/// Parameters that determine a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Model {
    /// Seed of the random numbers; the same seed makes the same model.
    pub seed: u64,
    blocks: u64,
    routes: u64,
}

/// Numbers of one block, which follow from the seed and the block's number alone.
struct ModelBlock {
    /// Prices of the plants.
    w: [u64; SIDE],
    /// Prices of the markets.
    v: [u64; SIDE],
    supply: [u64; SIDE],
    demand: [u64; SIDE],
    /// Cost of the cheapest route of each pair.
    cost: [[u64; SIDE]; SIDE],
    /// Random numbers for the routes, which are written in sequence.
    rng: Rng,
}

impl ModelBlock {
    fn new(seed: u64, number: u64) -> Self {
        let mut rng = Rng::new(seed ^ (number + 1).wrapping_mul(0xD134_2543_DE82_EF95));
        let w = std::array::from_fn(|_| rng.below(100) as u64);
        let v = std::array::from_fn(|_| 200 + rng.below(800) as u64);
        let mut block = ModelBlock {
            w,
            v,
            supply: [0; SIDE],
            demand: [0; SIDE],
            cost: [[0; SIDE]; SIDE],
            rng: Rng::new(0),
        };
        for (i, w) in w.iter().enumerate() {
            for (j, v) in v.iter().enumerate() {
                block.cost[i][j] = v - w + 1 + rng.below(500) as u64;
            }
        }
        let (mut i, mut j) = (0, 0);
        loop {
            let carried = 1 + rng.below(50) as u64;
            block.supply[i] += carried;
            block.demand[j] += carried;
            block.cost[i][j] = v[j] - w[i];
            match (i + 1 < SIDE, j + 1 < SIDE) {
                (true, true) if rng.below(2) == 0 => i += 1,
                (true, false) => i += 1,
                (_, true) => j += 1,
                (false, false) => break,
            }
        }
        block.rng = rng;
        block
    }

    /// Returns the minimum cost of the block: the value of the dual program.
    fn optimum(&self) -> u64 {
        let sum = |amounts: &[u64; SIDE], prices: &[u64; SIDE]| -> u64 {
            amounts.iter().zip(prices).map(|(a, p)| a * p).sum()
        };
        sum(&self.demand, &self.v) - sum(&self.supply, &self.w)
    }
}

impl Model {
    /// Returns a model of about `bytes`, at least [`Model::min_bytes`], with `rows` rows (in whole
    /// blocks).
    pub fn from_seed(seed: u64, bytes: u64, rows: u64) -> Self {
        let blocks = (rows / BLOCK_ROWS).max(1);
        let routes = bytes / (blocks * (SIDE * SIDE) as u64 * ROUTE_BYTES);
        Model { seed, blocks, routes: routes.max(1) }
    }

    /// Returns the minimum size in bytes of a model with `rows` rows.
    pub fn min_bytes(rows: u64) -> u64 {
        (rows / BLOCK_ROWS).max(1) * (SIDE * SIDE) as u64 * ROUTE_BYTES
    }

    /// Returns the number of rows without the objective.
    pub fn rows(&self) -> u64 {
        self.blocks * BLOCK_ROWS
    }

    pub fn columns(&self) -> u64 {
        self.blocks * (SIDE * SIDE) as u64 * self.routes
    }

    /// Returns the minimum cost of all blocks.
    pub fn optimum(&self) -> u64 {
        (0..self.blocks).map(|b| ModelBlock::new(self.seed, b).optimum()).sum()
    }

    /// Writes the model in free MPS format, in chunks. `spoilt` halves the last demand, which
    /// changes the optimum.
    ///
    /// # Errors
    /// Returns the error of the writer.
    pub fn write(&self, out: &mut impl Write, spoilt: bool) -> io::Result<()> {
        let mut text = Vec::with_capacity(CHUNK + 1024);
        text.extend_from_slice(b"NAME distribution\nROWS\n N total_cost\n");
        for b in 0..self.blocks {
            for i in 0..SIDE {
                writeln!(text, " L {}", supply(i, b))?;
            }
            for j in 0..SIDE {
                writeln!(text, " G {}", demand(j, b))?;
            }
        }
        text.extend_from_slice(b"COLUMNS\n");
        for b in 0..self.blocks {
            let mut block = ModelBlock::new(self.seed, b);
            for i in 0..SIDE {
                for j in 0..SIDE {
                    self.pair(&mut text, out, &mut block, (b, i, j))?;
                }
            }
        }
        text.extend_from_slice(b"RHS\n");
        for b in 0..self.blocks {
            let block = ModelBlock::new(self.seed, b);
            for (i, goods) in block.supply.iter().enumerate() {
                writeln!(text, " rhs {} {goods}", supply(i, b))?;
            }
            for (j, goods) in block.demand.iter().enumerate() {
                let last = spoilt && b + 1 == self.blocks && j + 1 == SIDE;
                let goods = if last { goods / 2 } else { *goods };
                writeln!(text, " rhs {} {goods}", demand(j, b))?;
            }
        }
        text.extend_from_slice(b"ENDATA\n");
        out.write_all(&text)
    }

    /// Writes the routes from a plant to a market; one of them is the cheapest.
    fn pair(
        &self,
        text: &mut Vec<u8>,
        out: &mut impl Write,
        block: &mut ModelBlock,
        (b, i, j): (u64, usize, usize),
    ) -> io::Result<()> {
        let cheapest = block.rng.below(self.routes as usize) as u64;
        let ends = format!(" {} 1 {} 1\n", supply(i, b), demand(j, b));
        let stem = format!(" ship_region_{b:03}_plant_{i:03}_market_{j:03}_route_");
        for route in 0..self.routes {
            let detour = 1 + block.rng.below(DETOUR) as u64;
            let cost = block.cost[i][j] + if route == cheapest { 0 } else { detour };
            text.extend_from_slice(stem.as_bytes());
            write!(text, "{route:06} total_cost {cost}\n{stem}{route:06}{ends}")?;
            if text.len() >= CHUNK {
                out.write_all(text)?;
                text.clear();
            }
        }
        Ok(())
    }
}

/// Returns the name of the row for a plant's supply.
fn supply(plant: usize, region: u64) -> String {
    format!("supply_of_plant_{plant:03}_in_region_{region:03}")
}

/// Returns the name of the row for a market's demand.
fn demand(market: usize, region: u64) -> String {
    format!("demand_of_market_{market:03}_in_region_{region:03}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(model: &Model, spoilt: bool) -> String {
        let mut out = Vec::new();
        model.write(&mut out, spoilt).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_model_is_what_was_asked_for_and_the_same_each_time() {
        let model = Model::from_seed(7, 3 << 20, 120);
        let one = text(&model, false);
        assert_eq!(one, text(&model, false));
        assert!((one.len() as f64 / f64::from(3 << 20) - 1.0).abs() < 0.1, "{}", one.len());
        assert_eq!(
            one.lines().filter(|l| l.contains(" total_cost ")).count() as u64,
            model.columns()
        );
        assert_eq!(model.rows(), 120);
        let other = text(&Model { seed: 8, ..model }, false);
        assert_ne!(one, other);
        let spoilt = text(&model, true);
        let changed: Vec<_> = one.lines().zip(spoilt.lines()).filter(|(a, b)| a != b).collect();
        assert_eq!(changed.len(), 1, "{changed:?}");
        assert!(changed[0].0.starts_with(" rhs demand_of_market_019_in_region_002 "));
        let minimum = text(&Model::from_seed(1, Model::min_bytes(80), 80), false).len() as f64;
        assert!((minimum / Model::min_bytes(80) as f64 - 1.0).abs() < 0.2, "{minimum}");
    }

    #[test]
    fn goods_on_the_staircase_cost_what_the_prices_say() {
        for number in 0..50 {
            let block = ModelBlock::new(3, number);
            let sum = |a: &[u64; SIDE]| a.iter().sum::<u64>();
            assert_eq!(sum(&block.supply), sum(&block.demand));
            // Feasible in the dual: no pair is cheaper than the difference of the prices.
            for i in 0..SIDE {
                for j in 0..SIDE {
                    assert!(block.cost[i][j] >= block.v[j] - block.w[i]);
                }
            }
            // Feasible in the primal at the same cost: filled from the north-west corner.
            let (mut supply, mut demand) = (block.supply, block.demand);
            let (mut i, mut j, mut cost) = (0, 0, 0);
            while i < SIDE && j < SIDE {
                let carried = supply[i].min(demand[j]);
                cost += carried * block.cost[i][j];
                supply[i] -= carried;
                demand[j] -= carried;
                if supply[i] == 0 { i += 1 } else { j += 1 }
            }
            assert_eq!(cost, block.optimum());
        }
    }
}
