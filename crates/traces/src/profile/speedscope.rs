//! Writer of speedscope's JSON (www.speedscope.app/file-format-schema.json): one sampled profile
//! per side.

use serde_json::{Value, json};

use crate::profile::{Profile, ProfileSide};

/// Returns the profile as speedscope's JSON; `name` is its title.
pub fn speedscope(profile: &Profile, name: &str) -> Value {
    let frames: Vec<Value> = profile
        .frames
        .iter()
        .map(|f| {
            if f.module.is_empty() {
                json!({"name": f.label()})
            } else {
                json!({"name": f.label(), "file": f.module})
            }
        })
        .collect();
    let timed = profile.unit == "ns";
    let sides = [(ProfileSide::OnCpu, "on CPU"), (ProfileSide::OffCpu, "off CPU")];
    let profiles: Vec<Value> = sides
        .into_iter()
        .filter(|(side, _)| profile.side(*side).next().is_some())
        .map(|(side, words)| {
            let weights: Vec<u64> = profile.side(side).map(|s| s.ns).collect();
            let most = profile.frames.len() as u32;
            let samples: Vec<Vec<u32>> = profile
                .side(side)
                .map(|s| s.frames.iter().copied().filter(|f| *f < most).collect())
                .collect();
            json!({
                "type": "sampled",
                "name": format!("{name}: {words}"),
                "unit": if timed { "nanoseconds" } else { "none" },
                "startValue": 0,
                "endValue": weights.iter().sum::<u64>(),
                "samples": samples,
                "weights": weights,
            })
        })
        .collect();
    json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "exporter": format!("assay {}", env!("CARGO_PKG_VERSION")),
        "name": name,
        "activeProfileIndex": 0,
        "shared": {"frames": frames},
        "profiles": profiles,
    })
}
