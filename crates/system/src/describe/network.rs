//! Describes network interfaces. Addresses are left out, because they identify the machine and
//! explain no result.

use super::facts::Facts;

pub(super) fn describe(facts: &mut Facts<'_>) {
    let names = facts.root.names("/sys/class/net");
    if names.is_empty() {
        facts.unknown("net", "`/sys/class/net` lists no interface");
    }
    for name in names {
        let dir = format!("/sys/class/net/{name}");
        if !facts.root.exists(&format!("{dir}/mtu")) {
            continue; // `bonding_masters` and similar entries are files, not interfaces
        }
        facts.file(format!("net.{name}.mtu"), &format!("{dir}/mtu"));
        facts.file(format!("net.{name}.state"), &format!("{dir}/operstate"));
        facts.file(format!("net.{name}.tx_queue_len"), &format!("{dir}/tx_queue_len"));
        if facts.root.exists(&format!("{dir}/device")) {
            let driver = facts.root.link_name(&format!("{dir}/device/driver"));
            facts.put(format!("net.{name}.driver"), driver);
            match facts.root.number::<i64>(&format!("{dir}/speed")) {
                Ok(mbit) if mbit > 0 => {
                    facts.set(format!("net.{name}.speed"), format!("{mbit} Mbit/s"));
                }
                Ok(_) => facts.unknown(format!("net.{name}.speed"), "the driver does not know it"),
                Err(e) => facts.unknown(format!("net.{name}.speed"), e.to_string()),
            }
        } else {
            facts.set(format!("net.{name}.driver"), "virtual (no device)");
        }
        let queues = facts.root.names(&format!("{dir}/queues"));
        let count = |kind: &str| queues.iter().filter(|q| q.starts_with(kind)).count();
        if !queues.is_empty() {
            facts.set(
                format!("net.{name}.queues"),
                format!("{} rx, {} tx", count("rx-"), count("tx-")),
            );
        }
    }
}
