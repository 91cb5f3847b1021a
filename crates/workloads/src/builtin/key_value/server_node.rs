//! Runs a server on a node of its own for load generators on other nodes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use assay_model::Scalar;

use crate::builtin::key_value::KeyValue;
use crate::builtin::key_value::dialect::ServerPlace;
use crate::builtin::key_value::params::{Cpus, Network, Transport};
use crate::builtin::key_value::server::program;
use crate::capability::{ServerLaunch, ServerWorkload};
use crate::driver::program::free_port;
use crate::{Launch, WorkloadError};

impl ServerWorkload for KeyValue {
    fn serve(
        &self,
        map: &BTreeMap<String, Scalar>,
        host: &str,
        clients: usize,
    ) -> Result<ServerLaunch, WorkloadError> {
        let mut params = (self.0.read)(map)?;
        let cannot = |what: &str| Err(WorkloadError::Param(what.to_owned()));
        if params.address.is_some() {
            return cannot(
                "`server.address` names a running server, and `where.server_node` starts one",
            );
        }
        if params.transport != Transport::Tcp || params.network == Network::Namespace {
            return cannot("a server on a node of its own needs plain TCP (`transport = \"tcp\"`)");
        }
        if params.server_cpus != Cpus::Auto {
            return cannot(
                "a server on a node of its own has all its CPUs; leave `server.cpus` out",
            );
        }
        params.connections *= clients;
        let port = match params.port {
            0 => free_port(host)?,
            port => port,
        };
        let mut argv: Vec<OsString> = vec![program(&params)?.into()];
        let place = ServerPlace::Tcp { ip: host.to_owned(), port };
        argv.extend((self.0.listen)(&place, Path::new("")));
        argv.extend((self.0.settings)(&params));
        let address = format!("{host}:{port}");
        // Settings of a server that assay starts are invalid for a running one: reset them to
        // defaults.
        let mut asking: BTreeMap<String, Scalar> = (self.0.spec)()
            .params
            .iter()
            .filter(|p| p.name.starts_with("server."))
            .filter_map(|p| Some((p.name.clone(), p.default.clone()?)))
            .collect();
        asking.insert("server.address".into(), address.as_str().into());
        Ok(ServerLaunch {
            launch: Launch { argv, ..Launch::default() },
            address,
            params: asking,
            each: Vec::new(),
            done: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Workload as _;

    #[test]
    fn clients_are_sent_to_the_server_and_impossible_values_are_errors() {
        let workload = crate::builtin::memcached::WORKLOAD;
        let defaults = crate::declare::treatment(workload.spec().params.clone(), &[]);
        let with = |name: &str, value: Scalar| {
            let mut map = defaults.clone();
            map.insert(name.into(), value);
            map
        };
        match workload.serve(&defaults, "127.0.0.1", 3) {
            Ok(serving) => {
                assert_eq!(serving.params["server.address"].to_text(), serving.address);
                let mut map = defaults.clone();
                map.extend(serving.params);
                let params = (workload.0.read)(&map).unwrap();
                assert_eq!(params.address, Some(serving.address));
            }
            Err(WorkloadError::Missing { what, .. }) => {
                println!("skipped: because {what} is not here");
            }
            Err(e) => panic!("{e}"),
        }
        for (name, value) in
            [("server.address", "h:1"), ("transport", "unix"), ("server.cpus", "0")]
        {
            assert!(workload.serve(&with(name, value.into()), "127.0.0.1", 1).is_err(), "{name}");
        }
    }
}
