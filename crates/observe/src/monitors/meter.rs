//! Monitor of power meters outside the kernel, which `observe.meters` of the experiment lists.

use std::time::Duration;

use crate::meters::{Meter, MeterSpec};
use crate::{
    Chart, Field, FieldRole, FirstSeries, Monitor, MonitorSpec, NotAvailable, Recorder, Tree,
};

static DRAWN: Chart = Chart::lines("Power at meters");

/// Description of the monitor `meter`.
pub static SPEC: MonitorSpec = MonitorSpec {
    name: "meter",
    help: "Power meters that `meters` of `[observe]` names: the machine's controller by IPMI or \
           Redfish, a meter on TCP or a serial line, or a file of the meter's program. Readings \
           get a timestamp of the run's clock when they arrive.",
    subjects: "the meters by name (`ipmi`, `tcp:meter:9999`)",
    fields: &[Field::new(
        "power",
        "W",
        "Mean of the readings of the interval; without readings, the \
               last one if it is at most 10 s old",
    )
    .role(FieldRole::Power)
    .lower()
    .drawn(&DRAWN, "")
    .overlay("Power at meters")],
    open: |tree| Meters::open(tree).map(|monitor| Box::new(monitor) as Box<dyn Monitor>),
};

/// Polling period for meters that must be polled.
const PERIOD: Duration = Duration::from_secs(1);

struct OpenMeter {
    name: String,
    meter: Meter,
    /// Series of the meter, created at the first sample.
    series: Option<FirstSeries>,
    began: bool,
}

struct Meters {
    meters: Vec<OpenMeter>,
    wrong: Vec<String>,
}

impl Meters {
    fn open(tree: &Tree) -> Result<Self, NotAvailable> {
        let mut all = Meters { meters: Vec::new(), wrong: Vec::new() };
        for text in tree.meters() {
            let started = MeterSpec::parse(text)
                .map_err(|e| NotAvailable::because(e.to_string()))
                .and_then(|spec| Meter::start(&spec, PERIOD));
            match started {
                Ok(meter) => {
                    all.meters.push(OpenMeter {
                        name: text.clone(),
                        meter,
                        series: None,
                        began: false,
                    });
                }
                Err(e) => all.wrong.push(e.reason),
            }
        }
        if all.meters.is_empty() && all.wrong.is_empty() {
            return Err(NotAvailable::because(
                "no power meter is given; `meters` of `[observe]` takes `ipmi`, `redfish:URL`, \
                 `tcp:HOST:PORT`, `serial:DEVICE` and `csv:FILE`",
            ));
        }
        if all.meters.is_empty() {
            return Err(NotAvailable::because(all.wrong.join("; ")));
        }
        Ok(all)
    }
}

impl Monitor for Meters {
    fn sample(&mut self, t_ns: u64, out: &mut Recorder) {
        for one in &mut self.meters {
            let watts = one.meter.take(t_ns);
            let name = &one.name;
            let series =
                *one.series.get_or_insert_with(|| out.intern(SPEC.name, name, SPEC.fields));
            // Readings before the first sample belong to no interval.
            if one.began {
                out.push(t_ns, series, &[watts]);
            }
            one.began = true;
        }
    }

    fn not_seen(&self) -> Vec<String> {
        let trouble = |one: &OpenMeter| {
            let all = one.meter.trouble().into_iter();
            all.map(|what| format!("{}: {what}", one.name)).collect::<Vec<_>>()
        };
        self.wrong.iter().cloned().chain(self.meters.iter().flat_map(trouble)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_meters_it_says_how_to_name_one() {
        let dir = tempfile::tempdir().unwrap();
        let error = (SPEC.open)(&Tree::new(dir.path())).err().unwrap();
        assert!(error.reason.contains("tcp:HOST:PORT"), "{error}");
        let tree = Tree::new(dir.path()).with_meters(&["usb:1".to_owned()]);
        assert!((SPEC.open)(&tree).err().unwrap().reason.contains("`usb:1` is not a power meter"));
    }

    #[test]
    fn a_meter_that_says_nothing_is_not_zero() {
        let dir = tempfile::tempdir().unwrap();
        let nothing = format!("csv:{}/none", dir.path().display());
        let tree = Tree::new(dir.path()).with_meters(std::slice::from_ref(&nothing));
        let mut monitor = (SPEC.open)(&tree).unwrap();
        let mut out = Recorder::default();
        monitor.sample(1, &mut out);
        monitor.sample(2, &mut out);
        let points = out.samples().points("meter", &nothing, "power");
        assert!(points.len() == 1 && points[0].1.is_nan(), "{points:?}");
    }
}
