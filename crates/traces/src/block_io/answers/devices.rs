//! Per-device data: addresses of reads and writes, and the order in which they were accessed.

use crate::block_io::answers::counted::CountedIos;
use crate::block_io::answers::heat::AddressHeat;
use crate::block_io::answers::regions::Regions;
use crate::block_io::answers::report::DeviceReport;
use crate::block_io::answers::seek::SeekDistances;
use crate::block_io::matching::event::Io;
use crate::block_io::names::NameTable;

/// Maximum number of devices with per-device data.
const MAX_DEVICES: usize = 256;
/// Maximum number of devices with a heat map.
const MAX_HEATS: usize = 16;
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone)]
struct Device {
    id: u32,
    ios: u64,
    seeks: SeekDistances,
    regions: Regions,
    heat: Option<AddressHeat>,
}

impl Device {
    #[inline]
    fn end(&mut self, io: &Io) {
        self.ios += 1;
        self.regions.add(io.sector);
        if let Some(heat) = &mut self.heat {
            heat.add(io.start_ns, io.sector, 1);
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Devices {
    from: u64,
    /// Minimum width of heat-map columns, in nanoseconds.
    column_ns: u64,
    /// Index into `kept`, by device name id.
    places: Vec<u32>,
    kept: Vec<Device>,
    excluded: usize,
}

impl Devices {
    /// Creates an empty set of devices whose regions begin at block `from`.
    pub(crate) fn new(from: u64) -> Self {
        Devices { from, ..Devices::default() }
    }

    /// Sets the minimum column width for heat maps of devices that are added from now on.
    pub(crate) fn set_column_ns(&mut self, column_ns: u64) {
        self.column_ns = column_ns;
    }

    #[inline]
    fn device(&mut self, id: u32) -> Option<&mut Device> {
        match self.places.get(id as usize) {
            Some(&place) if place != NONE => self.kept.get_mut(place as usize),
            _ => self.make(id),
        }
    }

    #[cold]
    fn make(&mut self, id: u32) -> Option<&mut Device> {
        if self.places.len() <= id as usize {
            self.places.resize(id as usize + 1, NONE);
        }
        let place = self.kept.len();
        if place >= MAX_DEVICES {
            // An index outside `kept`: the device is counted once and ignored from then on.
            self.excluded += 1;
            self.places[id as usize] = MAX_DEVICES as u32;
            return None;
        }
        self.places[id as usize] = place as u32;
        self.kept.push(Device {
            id,
            ios: 0,
            seeks: SeekDistances::default(),
            regions: Regions::new(self.from),
            heat: (place < MAX_HEATS).then(|| AddressHeat::of_width(self.column_ns)),
        });
        self.kept.last_mut()
    }

    /// Counts the start of a read or write.
    #[inline]
    pub(crate) fn start(&mut self, io: &Io) {
        if let Some(device) = self.device(io.device) {
            device.seeks.add(io.sector, io.end_sector());
        }
    }

    /// Adds reads or writes that were counted elsewhere.
    pub(crate) fn add_counted(&mut self, t_ns: u64, c: &CountedIos) {
        if let Some(device) = self.device(c.device) {
            device.ios += c.ios;
            for (sector, n) in &c.regions {
                device.regions.add_n(*sector, *n);
                if let Some(heat) = &mut device.heat {
                    heat.add(t_ns, *sector, *n);
                }
            }
        }
    }

    /// Counts the end of a read or write.
    #[inline]
    pub(crate) fn end(&mut self, io: &Io) {
        if let Some(device) = self.device(io.device) {
            device.end(io);
        }
    }

    /// Counts the start and the end of a read or write.
    #[inline]
    pub(crate) fn whole(&mut self, io: &Io) {
        if let Some(device) = self.device(io.device) {
            device.seeks.add(io.sector, io.end_sector());
            device.end(io);
        }
    }

    /// Appends the data of a later part of the trace.
    pub(crate) fn join_later(&mut self, later: Devices) {
        self.excluded += later.excluded;
        for theirs in later.kept {
            let Some(ours) = self.device(theirs.id) else { continue };
            ours.ios += theirs.ios;
            ours.seeks.join_later(&theirs.seeks);
            ours.regions.merge(&theirs.regions);
            if let (Some(a), Some(b)) = (&mut ours.heat, theirs.heat) {
                a.merge(b);
            }
        }
    }

    /// Returns the `top` busiest devices, and the number of all devices.
    pub(crate) fn report(&self, top: usize, names: &NameTable) -> (Vec<DeviceReport>, usize) {
        let mut all: Vec<(&Device, String)> =
            self.kept.iter().map(|d| (d, names.text(d.id))).collect();
        all.sort_by(|(a, a_name), (b, b_name)| b.ios.cmp(&a.ios).then_with(|| a_name.cmp(b_name)));
        all.truncate(top);
        let reports = all.into_iter().map(|(d, device)| DeviceReport {
            device,
            ios: d.ios,
            regions: d.regions.report(top),
            seeks: d.seeks.report(),
            heat: d.heat.as_ref().map(AddressHeat::report),
        });
        (reports.collect(), self.kept.len() + self.excluded)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_io::fixtures::io;
    use crate::block_io::matching::event::Op;

    #[test]
    fn devices_beyond_the_most_are_counted_and_passed_over() {
        let names = NameTable::default();
        let mut devices = Devices::new(0);
        for i in 0..400u32 {
            let mut one = io(0, 1, Op::Read);
            one.device = names.id(format!("d{i}").as_bytes());
            for _ in 0..=u32::from(i == 7) {
                devices.start(&one);
                devices.end(&one);
            }
        }
        let (top, in_all) = devices.report(2, &names);
        assert_eq!((top.len(), in_all), (2, 400));
        assert_eq!((top[0].device.as_str(), top[0].ios), ("d7", 2));
    }
}
