//! JSON API: a row for each route in the file of its handler. The router is built from the rows,
//! and in tests the OpenAPI document, which is in `openapi.json`.

/// Defines the routes of a file, from rows of a summary, a method, a path, the operation's id, its
/// handler, and the status codes of refusals that the handler's types do not imply.
macro_rules! routes {
    ($($(#[doc = $summary:literal])* $method:literal $path:literal $id:literal
        $handler:path, $refusals:tt;)*) => {
        pub(super) fn routes() -> Vec<$crate::api::Route> {
            vec![$($crate::api::route($method, $path, $handler)),*]
        }

        #[cfg(test)]
        pub(super) fn documented() -> Vec<$crate::api::openapi::DocumentedRoute> {
            vec![$($crate::api::openapi::DocumentedRoute {
                method: $method,
                path: $path,
                id: $id,
                summary: concat!($($summary),*),
                refusals: &$refusals,
                describe: $crate::api::openapi::described(&$handler),
            }),*]
        }
    };
}

pub(crate) mod archive;
pub(crate) mod histories;
pub(crate) mod jobs;
pub(crate) mod landscapes;
pub(crate) mod metrics;
pub(crate) mod observe;
#[cfg(test)]
mod openapi;
pub(crate) mod runs;
pub(crate) mod server;

pub(crate) use jobs::number;

use std::sync::Arc;

use axum::handler::Handler;
use axum::routing::{MethodRouter, get, post};

use crate::app::{App, Routes};

/// Path of a route, and what serves it.
type Route = (&'static str, MethodRouter<Arc<App>>);

/// Creates a route that `handler` serves. `method` is `get` or `post`.
fn route<T: 'static, H: Handler<T, Arc<App>>>(
    method: &str,
    path: &'static str,
    handler: H,
) -> Route {
    (path, if method == "get" { get(handler) } else { post(handler) })
}

/// Joins what a function of each file returns.
macro_rules! of_all_files {
    ($function:ident) => {
        [
            server::$function(),
            jobs::$function(),
            runs::$function(),
            archive::$function(),
            histories::$function(),
            landscapes::$function(),
            metrics::$function(),
            observe::$function(),
        ]
        .into_iter()
        .flatten()
    };
}

#[cfg(test)]
fn documented() -> Vec<openapi::DocumentedRoute> {
    of_all_files!(documented).collect()
}

pub(crate) fn router() -> Routes {
    of_all_files!(routes)
        .fold(Routes::new(), |router, (path, serve)| router.route(path, serve))
        .route("/api/{*rest}", get(server::nothing).post(server::nothing))
}
