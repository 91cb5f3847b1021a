//! `numa`: the nodes that the program's memory comes from.

use assay_model::environment::cpulist;
use assay_model::{Scalar, Setting};

use crate::Root;
use crate::control::{Control, ControlSession, ControlSpec};
use crate::error::Result;
use crate::process::enter::try_out;
use crate::process::mempolicy;
use crate::process::setup::{NumaPolicy, ProcessSetup};

pub(super) struct Numa;

static SPEC: ControlSpec = ControlSpec {
    name: "numa",
    help: "The NUMA nodes that the program's memory comes from. Its actual placement is read while \
           it runs, on a machine with several nodes (docs/measure/numa.md).",
    levels: "`interleave` (all nodes), `interleave:0-1`, `bind:0`, `preferred:0`",
    needs: "a kernel with NUMA; with one node it changes nothing, and a note states it",
    probe: ("", "bind:0"),
    ..ControlSpec::OF_PROCESS
};

impl Control for Numa {
    fn spec(&self) -> &'static ControlSpec {
        &SPEC
    }

    fn check(&self, root: &Root, setting: &Setting) -> Result<()> {
        let policy = level(root, setting)?;
        if root.is_system() {
            try_out(&ProcessSetup { numa: Some(policy), ..ProcessSetup::default() })?;
        }
        Ok(())
    }

    fn current(&self, _root: &Root, _key: &str) -> Result<Scalar> {
        let policy = mempolicy::current().map_err(|e| SPEC.failed("get_mempolicy", e))?;
        Ok(Scalar::Text(policy.words()))
    }

    fn apply(&self, setting: &Setting, session: &mut ControlSession<'_>) -> Result<()> {
        let root = session.root;
        session.setup.numa = Some(level(root, setting)?);
        if nodes(root)?.len() == 1 {
            session.note("this machine has one NUMA node: the control `numa` changes nothing here");
        }
        Ok(())
    }
}

/// Returns the nodes that have memory.
fn nodes(root: &Root) -> Result<Vec<usize>> {
    let file = "/sys/devices/system/node/has_memory";
    let list = root.text(file).map_err(|e| e.to_string());
    list.and_then(|text| cpulist::parse(&text).map_err(|e| format!("`{file}`: {e}")))
        .map_err(|reason| SPEC.not_here(reason))
}

fn level(root: &Root, setting: &Setting) -> Result<NumaPolicy> {
    let text = setting.value.to_text();
    let wrong = || SPEC.not_a_level(setting);
    let there = nodes(root)?;
    if text == "interleave" {
        return Ok(NumaPolicy::Interleave(there));
    }
    let (mode, list) = text.split_once(':').ok_or_else(wrong)?;
    let list = cpulist::parse(list).map_err(|_| wrong())?;
    let policy = match (mode, list.as_slice()) {
        ("interleave", _) => NumaPolicy::Interleave(list.clone()),
        ("bind", _) => NumaPolicy::Bind(list.clone()),
        ("preferred", [node]) => NumaPolicy::Preferred(*node),
        _ => return Err(wrong()),
    };
    match list.iter().find(|n| !there.contains(n)) {
        Some(missing) => Err(SPEC.not_here(format!(
            "no node {missing} has memory; nodes with memory: {}",
            cpulist::format(&there)
        ))),
        None => Ok(policy),
    }
}
