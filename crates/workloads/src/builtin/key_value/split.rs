//! Splits the trial's CPUs between the load generator and the server.

use assay_model::environment::cpulist;

use crate::builtin::key_value::params::Cpus;

/// The CPUs of both sides; `None`: not bound to CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CpuSplit {
    /// The CPUs of the load generator.
    pub client: Option<Vec<usize>>,
    /// The CPUs of the server.
    pub server: Option<Vec<usize>>,
}

/// Splits `all`, the trial's CPUs. An explicit list is taken as it is. `auto` gives the load
/// generator the last CPUs, one for each of its threads, or half of them if that would leave none
/// for the server; the server gets the others. If there is only one CPU, neither side is bound.
/// `server` is `None` for a server that assay did not start.
pub fn split(all: &[usize], client: &Cpus, threads: usize, server: Option<&Cpus>) -> CpuSplit {
    let without = |taken: &[usize]| {
        let left: Vec<usize> = all.iter().copied().filter(|c| !taken.contains(c)).collect();
        (!left.is_empty()).then_some(left)
    };
    let many = if threads < all.len() { threads } else { all.len() / 2 };
    let (first, last) = all.split_at(all.len() - many);
    CpuSplit {
        client: match (client, server) {
            (Cpus::These(cpus), _) => Some(cpus.clone()),
            (Cpus::Auto, None) => Some(all.to_vec()).filter(|cpus| cpus.len() >= threads),
            (Cpus::Auto, Some(Cpus::Auto)) => (many > 0).then(|| last.to_vec()),
            (Cpus::Auto, Some(Cpus::These(server))) => {
                without(server).map(|l| l[l.len().saturating_sub(threads)..].to_vec())
            }
            (Cpus::Any, _) | (Cpus::Auto, Some(Cpus::Any)) => None,
        },
        server: match (server, client) {
            (Some(Cpus::These(cpus)), _) => Some(cpus.clone()),
            (Some(Cpus::Auto), Cpus::Auto) => (many > 0).then(|| first.to_vec()),
            (Some(Cpus::Auto), Cpus::These(client)) => without(client),
            (Some(Cpus::Auto | Cpus::Any) | None, _) => None,
        },
    }
}

impl CpuSplit {
    /// Returns a note on the split; `own` is true if assay started the server.
    pub fn words(&self, own: bool) -> String {
        let side = |cpus: &Option<Vec<usize>>| match cpus {
            Some(cpus) => format!("bound to CPU {}", cpulist::format(cpus)),
            None => "not bound to CPUs".to_owned(),
        };
        let client = format!("the load generator was {}", side(&self.client));
        if own { format!("{client}, the server {}", side(&self.server)) } else { client }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(
        all: &[usize],
        client: &Cpus,
        threads: usize,
        server: &Cpus,
    ) -> (Option<Vec<usize>>, Option<Vec<usize>>) {
        let split = split(all, client, threads, Some(server));
        (split.client, split.server)
    }

    #[test]
    fn the_two_sides_are_kept_apart_where_they_can_be() {
        let (auto, any) = (|| Cpus::Auto, || Cpus::Any);
        assert_eq!(both(&[0, 1], &auto(), 1, &auto()), (Some(vec![1]), Some(vec![0])));
        assert_eq!(both(&[0, 1, 2, 5], &auto(), 2, &auto()), (Some(vec![2, 5]), Some(vec![0, 1])));
        assert_eq!(both(&[0, 1, 2, 3], &auto(), 9, &auto()), (Some(vec![2, 3]), Some(vec![0, 1])));
        assert_eq!(both(&[3], &auto(), 1, &auto()), (None, None));
        assert_eq!(both(&[0, 1], &any(), 1, &auto()), (None, None));
        assert_eq!(
            both(&[0, 1, 2], &auto(), 1, &Cpus::These(vec![2])),
            (Some(vec![1]), Some(vec![2]))
        );
        assert_eq!(both(&[0, 1], &auto(), 1, &Cpus::These(vec![0, 1])), (None, Some(vec![0, 1])));
        assert_eq!(
            both(&[0, 1, 2], &Cpus::These(vec![0]), 1, &auto()),
            (Some(vec![0]), Some(vec![1, 2]))
        );
        assert_eq!(both(&[0, 1], &Cpus::These(vec![0]), 1, &any()), (Some(vec![0]), None));
    }

    #[test]
    fn a_foreign_server_is_left_alone() {
        let of = |threads| split(&[0, 1], &Cpus::Auto, threads, None);
        assert_eq!(of(2), CpuSplit { client: Some(vec![0, 1]), server: None });
        assert_eq!(of(3).client, None);
        assert!(!of(2).words(false).contains("server"));
    }
}
