//! Extractors that refuse with a [`Refusal`], and the answers of handlers.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::Json;
use axum::body::Body as HttpBody;
use axum::extract::{Form, FromRequest, Query, Request, State};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::app::App;
use crate::error::Refusal;

/// The state of the server.
pub(crate) type Server = State<Arc<App>>;
/// JSON, or a refusal.
pub(crate) type Answer<T> = Result<Json<T>, Refusal>;
/// The JSON of something new, or a refusal.
pub(crate) type Created<T> = Result<(StatusCode, Json<T>), Refusal>;
/// Server-sent events.
pub(crate) type Events = ([(HeaderName, &'static str); 2], HttpBody);
/// A file, with its type and its name.
pub(crate) type File = ([(HeaderName, String); 2], Vec<u8>);

/// An object whose fields the document does not list.
pub(crate) type Object = Described<Response, Map<String, Value>>;

/// The response `R`, which the document describes as the JSON of `S`.
pub(crate) struct Described<R, S>(pub R, PhantomData<S>);

impl<R, S> Described<R, S> {
    pub fn new(response: R) -> Self {
        Described(response, PhantomData)
    }
}

impl<R: IntoResponse, S> IntoResponse for Described<R, S> {
    fn into_response(self) -> Response {
        self.0.into_response()
    }
}

macro_rules! extractor {
    ($(#[$doc:meta])* $name:ident, $of:ident) => {
        $(#[$doc])*
        pub(crate) struct $name<T>(pub T);

        impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for $name<T> {
            type Rejection = Refusal;

            async fn from_request(request: Request, state: &S) -> Result<Self, Refusal> {
                match $of::<T>::from_request(request, state).await {
                    Ok($of(value)) => Ok($name(value)),
                    Err(e) => Err(Refusal::new(e.status(), e.body_text())),
                }
            }
        }
    };
}

extractor!(
    /// The JSON body of a request.
    Body, Json
);
extractor!(
    /// The query of an address.
    Ask, Query
);
extractor!(
    /// The fields of a form that was sent.
    Sent, Form
);
