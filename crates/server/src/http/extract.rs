//! Extractors that reject requests with a [`Refusal`], and response types of handlers.

use std::marker::PhantomData;

pub(crate) use axum::Json;
use axum::body::Body as HttpBody;
use axum::extract::{Form as AxumForm, FromRequest, Query, Request};
pub(crate) use axum::extract::{Path, State};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::error::Refusal;

/// Response with JSON, or a refusal.
pub(crate) type JsonResult<T> = Result<Json<T>, Refusal>;
/// Status 201 with the JSON of the created object, or a refusal.
pub(crate) type CreatedResult<T> = Result<(StatusCode, Json<T>), Refusal>;
/// Response with server-sent events.
pub(crate) type EventStream = ([(HeaderName, &'static str); 2], HttpBody);
/// Response with a file: headers with its type and name, and its content.
pub(crate) type FileResponse = ([(HeaderName, String); 2], Vec<u8>);

/// Response with the text of OpenMetrics, with its type.
pub(crate) type MetricsText = ([(HeaderName, &'static str); 1], String);

/// JSON object whose fields the OpenAPI document does not list.
pub(crate) type JsonObject = Described<Response, Map<String, Value>>;

/// Response `R` that the OpenAPI document describes as the JSON of `S`.
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
    /// JSON body of a request.
    JsonBody, Json
);
extractor!(
    /// Query parameters of a request.
    Params, Query
);
extractor!(
    /// Fields of a submitted form.
    Form, AxumForm
);
