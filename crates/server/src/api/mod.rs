//! JSON API: a row for each route in the file of its handler. The router and the OpenAPI document
//! are built from the rows.

/// Defines the routes of a file, from rows of a summary, a method, a path, the operation's id, its
/// handler, and the status codes of refusals that the handler's types do not imply.
macro_rules! routes {
    ($($(#[doc = $summary:literal])* $method:literal $path:literal $id:literal
        $handler:path, $refusals:tt;)*) => {
        pub(super) fn routes() -> Vec<$crate::api::openapi::Route> {
            vec![$($crate::api::openapi::Route::new(
                $method, $path, $id, concat!($($summary),*), &$refusals, $handler,
            )),*]
        }
    };
}

pub(crate) mod archive;
pub(crate) mod histories;
pub(crate) mod jobs;
pub(crate) mod landscapes;
pub(crate) mod metrics;
pub(crate) mod observe;
mod openapi;
pub(crate) mod runs;
pub(crate) mod server;

pub(crate) use jobs::number;

use axum::routing::get;

use crate::app::Routes;
use openapi::Route;

pub(crate) fn routes() -> Vec<Route> {
    let files = [
        server::routes(),
        jobs::routes(),
        runs::routes(),
        archive::routes(),
        histories::routes(),
        landscapes::routes(),
        metrics::routes(),
        observe::routes(),
    ];
    files.into_iter().flatten().collect()
}

pub(crate) fn router() -> Routes {
    routes()
        .into_iter()
        .fold(Routes::new(), |router, route| router.route(route.path, route.serve))
        .route("/api/{*rest}", get(server::nothing).post(server::nothing))
}
