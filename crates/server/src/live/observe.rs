//! Live samples of this machine. All viewers share one sampler, which runs only while there are
//! viewers and no run is in progress.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_model::LiveEvent;
use assay_observe::Sampler;
use bytes::Bytes;
use tokio::sync::watch;

use crate::error::Refusal;
use crate::live::live_run::frame;
use crate::locked;
use crate::queue::shared::SharedQueue;

const INTERVAL: Duration = Duration::from_secs(1);

/// Sampler shared by the viewers, if there are any.
pub(crate) struct SharedSampler {
    queue: Arc<SharedQueue>,
    feed: Mutex<Option<watch::Sender<Bytes>>>,
}

impl SharedSampler {
    pub fn new(queue: Arc<SharedQueue>) -> Arc<Self> {
        Arc::new(SharedSampler { queue, feed: Mutex::default() })
    }

    /// Subscribes to the samples. The first viewer starts the sampler.
    pub fn subscribe(self: &Arc<Self>) -> Result<watch::Receiver<Bytes>, Refusal> {
        let mut feed = locked(&self.feed);
        if let Some(sender) = &*feed {
            return Ok(sender.subscribe());
        }
        let sampler = Sampler::start(Path::new("/"), &["all".to_owned()], INTERVAL)
            .map_err(|e| Refusal::own(&e))?;
        let (sender, receiver) = watch::channel(Bytes::new());
        let (own, to) = (Arc::clone(self), sender.clone());
        std::thread::Builder::new()
            .name("assay-observe".into())
            .spawn(move || own.feed(&sampler, &to))
            .map_err(|e| Refusal::own(&e))?;
        *feed = Some(sender);
        Ok(receiver)
    }

    fn feed(&self, sampler: &Sampler, to: &watch::Sender<Bytes>) {
        let mut last = sampler.newest_ns();
        loop {
            {
                let mut feed = locked(&self.feed);
                if to.receiver_count() == 0 || !self.queue.is_idle() {
                    *feed = None;
                    return;
                }
            }
            let Some(at) = sampler.wait_after(last, INTERVAL) else { continue };
            let values = sampler.window(last + 1, at).live(|_| true);
            sampler.discard_before(at + 1);
            last = at;
            // Cannot fail: these types have no map with keys that are not strings.
            let json = serde_json::to_string(&LiveEvent::Samples { values }).unwrap_or_default();
            to.send_replace(frame(None, &json));
        }
    }
}
