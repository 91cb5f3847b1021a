//! Live samples of this machine. All viewers share one sampler, which runs only while there are
//! viewers and no run is in progress.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay_model::LiveEvent;
use assay_observe::Sampler;
use bytes::Bytes;
use tokio::sync::watch;

use crate::app::App;
use crate::error::Refusal;
use crate::live::live_run::frame;
use crate::locked;

const INTERVAL: Duration = Duration::from_secs(1);

/// Sampler shared by the viewers, if there are any.
#[derive(Debug, Default)]
pub(crate) struct SharedSampler {
    feed: Mutex<Option<watch::Sender<Bytes>>>,
}

impl SharedSampler {
    /// Subscribes to the samples. The first viewer starts the sampler.
    pub fn subscribe(app: &Arc<App>) -> Result<watch::Receiver<Bytes>, Refusal> {
        let mut feed = locked(&app.sampler.feed);
        if let Some(sender) = &*feed {
            return Ok(sender.subscribe());
        }
        let sampler = Sampler::start(Path::new("/"), &["all".to_owned()], INTERVAL)
            .map_err(|e| Refusal::own(&e))?;
        let (sender, receiver) = watch::channel(Bytes::new());
        let (own, to) = (Arc::clone(app), sender.clone());
        std::thread::Builder::new()
            .name("assay-observe".into())
            .spawn(move || own.sampler.feed(&own, &sampler, &to))
            .map_err(|e| Refusal::own(&e))?;
        *feed = Some(sender);
        Ok(receiver)
    }

    fn feed(&self, app: &App, sampler: &Sampler, to: &watch::Sender<Bytes>) {
        let mut last = sampler.newest_ns();
        loop {
            {
                let mut feed = locked(&self.feed);
                if to.receiver_count() == 0 || app.busy() || app.stopping() {
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
