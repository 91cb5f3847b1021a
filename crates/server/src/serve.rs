//! Starts and stops the server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use assay_archive::Search;
use assay_system::Interrupt;
use axum::middleware::from_fn_with_state;
use rustix::event::{PollFd, PollFlags, poll};
use tokio::net::TcpListener;

use crate::app::App;
use crate::config::Config;
use crate::error::ServeError;
use crate::http::connections::Limits;
use crate::http::net;
use crate::http::token::{Keys, Tokens};
use crate::queue::child;
use crate::queue::store::{Queue, write_atomically};
use crate::searches::Searches;
use crate::{api, client, dispatch, guard, pages};

/// Serves until `interrupt` fires. Calls `ready` with the address and the tokens once requests are
/// accepted.
///
/// # Errors
/// Another server uses the queue, a file cannot be read or written, or the server cannot listen on
/// the address.
pub fn serve(
    config: Config,
    interrupt: &Interrupt,
    ready: &mut dyn FnMut(SocketAddr, &Keys),
) -> Result<(), ServeError> {
    for folder in &config.folders {
        std::fs::read_dir(folder)
            .map_err(ServeError::io("cannot read the folder of experiments", folder))?;
    }
    let state_dir = config.state_dir.clone();
    std::fs::create_dir_all(&state_dir).map_err(ServeError::io("create the folder", &state_dir))?;
    let queue = Queue::open(&state_dir)?;
    let searches = Searches::open(&state_dir)?;
    let (tokens, keys) = Tokens::load(&state_dir)?;
    let listen = config.listen;
    let limits = Limits { total: config.connections, of_address: config.connections_per_address };
    let app = Arc::new(App::new(config, tokens, queue, searches));
    app.note_ranked(&app.config.archive.list(&Search::default()).unwrap_or_default());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(4)
        .build()
        .map_err(|source| ServeError::Start { what: "the event loop", source })?;
    let outcome = runtime.block_on(async {
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|source| ServeError::Listen { address: listen, source })?;
        let address = listener.local_addr().unwrap_or(listen);
        let place = client::address_file(&state_dir);
        write_atomically(&place, client::address_text(address).as_bytes())?;
        let own = Arc::clone(&app);
        let dispatcher = thread("assay-queue", "the dispatcher", move || dispatch::run(&own))?;
        let (own, interrupt) = (Arc::clone(&app), interrupt.clone());
        let watch = move || wait_for_signal(&interrupt, &own);
        thread("assay-signals", "the signal handler", watch)?;
        let router = pages::router()
            .merge(api::router())
            .layer(from_fn_with_state(Arc::clone(&app), guard::guard))
            .with_state(Arc::clone(&app));
        tokio::spawn(net::serve(listener, router, limits));
        ready(address, &keys);
        let mut stop = app.queue.stop.subscribe();
        let _ = stop.wait_for(|stop| *stop).await;
        Ok((dispatcher, place))
    });
    let (dispatcher, place): (JoinHandle<()>, _) = outcome?;
    // Open responses end at once. Joining the dispatcher gives the run time to restore the
    // settings.
    runtime.shutdown_background();
    let _ = std::fs::remove_file(&place);
    let _ = dispatcher.join();
    Ok(())
}

fn thread(
    name: &str,
    what: &'static str,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, ServeError> {
    let builder = std::thread::Builder::new().name(name.into());
    builder.spawn(work).map_err(|source| ServeError::Start { what, source })
}

/// Waits for a signal, then asks the run in progress and the server to end.
fn wait_for_signal(interrupt: &Interrupt, app: &App) {
    while !interrupt.fired() {
        let fd = interrupt.as_fd();
        let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
        if poll(&mut fds, None).is_err() && !interrupt.fired() {
            std::thread::yield_now();
        }
    }
    app.queue.stop.send_replace(true);
    let running = app.queue.lock().running().and_then(|j| j.process.clone());
    if let Some(process) = running {
        child::interrupt(&process);
    }
    app.queue.notify_changed();
}
