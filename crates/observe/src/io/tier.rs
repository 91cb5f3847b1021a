//! Selects how much work the probes do, depending on the question.

use assay_traces::block_io::{BucketLayout, Dimension, Measure};

use super::way::TraceRequest;

/// Amount of work that the probes do, from the cheapest to the most expensive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tier {
    /// One probe, at the end of requests.
    Ends,
    /// Also probes at the start, so that the requesting program is known.
    Who,
    /// Also looks up the file of each request.
    File,
    /// Reports every I/O individually.
    Events,
}

assay_model::names! {
    pub Tier::words: Ends = "eBPF, counted at the end of each request",
        Who = "eBPF, counted from start to end of each request",
        File = "eBPF, counted from start to end of each request, with its file",
        Events = "eBPF, every I/O by itself"
}

impl Tier {
    /// Returns the cheapest tier that answers the request.
    pub fn for_request(ask: &TraceRequest) -> Self {
        let question = &ask.question;
        let by = question.dimensions();
        let filter = &question.filter;
        let in_steps = matches!(question.shape, BucketLayout::Linear(_))
            || question.shape == BucketLayout::Quantize
                && question.histograms.contains(&Measure::Address);
        let late = filter.from_ns.is_some() || filter.to_ns.is_some() || !filter.files.is_empty();
        let who = [Dimension::Program, Dimension::Pid, Dimension::Cgroup];
        let filtered = [&filter.programs, &filter.cgroups].iter().any(|l| !l.is_empty());
        if ask.events || in_steps || late {
            Tier::Events
        } else if by.contains(&Dimension::File) {
            Tier::File
        } else if ask.classes
            || filtered
            || !filter.pids.is_empty()
            || who.iter().any(|d| by.contains(d))
        {
            Tier::Who
        } else {
            Tier::Ends
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_traces::block_io::Question;

    use super::*;

    fn ask(by: &[Dimension], histograms: &[Measure]) -> TraceRequest {
        let question =
            Question { by: by.to_vec(), histograms: histograms.to_vec(), ..Question::default() };
        TraceRequest { question, ..TraceRequest::default() }
    }

    #[test]
    fn the_cheapest_tier_that_answers() {
        assert_eq!(Tier::for_request(&ask(&[Dimension::Device], &[Measure::Latency])), Tier::Ends);
        assert_eq!(
            Tier::for_request(&ask(&[Dimension::Direction], &[Measure::Address])),
            Tier::Ends
        );
        assert_eq!(Tier::for_request(&ask(&[Dimension::Program], &[])), Tier::Who);
        assert_eq!(Tier::for_request(&ask(&[Dimension::File], &[])), Tier::File);
        let mut one = ask(&[], &[]);
        one.classes = true;
        assert_eq!(Tier::for_request(&one), Tier::Who);
        one.question.filter.files.push("/x".to_owned());
        assert_eq!(Tier::for_request(&one), Tier::Events);
    }
}
