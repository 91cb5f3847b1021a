//! OpenAPI document, generated from the rows of the routes and the types of their handlers.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, StatusCode};
use axum::{Json, extract::Path, extract::State};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::api::documented;
use crate::error::Refusal;
use crate::http::extract::{Described, EventStream, FileResponse, JsonBody, MetricsText, Params};
use crate::http::token::Role;

/// Documentation of a route.
pub(crate) struct DocumentedRoute {
    pub path: &'static str,
    pub method: &'static str,
    pub id: &'static str,
    pub summary: &'static str,
    /// Status codes of refusals, in addition to those that the handler's types imply.
    pub refusals: &'static [u16],
    pub describe: fn(&mut SchemaGenerator, &mut Operation),
}

/// Operation of the document, filled in by the parts of its handler.
pub(crate) struct Operation {
    json: Value,
    refusals: BTreeSet<u16>,
}

/// Argument or return value of a handler, which adds itself to the operation.
pub(crate) trait Part {
    fn describe(_: &mut SchemaGenerator, _: &mut Operation) {}
}

/// Handler with arguments of the types `I`.
pub(crate) trait Documented<I> {
    fn describe_all(generator: &mut SchemaGenerator, operation: &mut Operation);
}

macro_rules! documented {
    ($($part:ident)*) => {
        impl<F, A, $($part: Part),*> Documented<($($part,)*)> for F
        where
            F: Fn($($part),*) -> A,
            A: Future<Output: Part>,
        {
            fn describe_all(generator: &mut SchemaGenerator, operation: &mut Operation) {
                $($part::describe(generator, operation);)*
                A::Output::describe(generator, operation);
            }
        }
    };
}
documented!();
documented!(P);
documented!(P Q);
documented!(P Q R);

impl<T> Part for State<T> {}
impl Part for Role {}
impl Part for HeaderMap {}

impl<T> Part for Path<T> {
    fn describe(_: &mut SchemaGenerator, operation: &mut Operation) {
        operation.refusals.insert(404);
    }
}

impl<T: JsonSchema> Part for Params<T> {
    fn describe(generator: &mut SchemaGenerator, operation: &mut Operation) {
        operation.refusals.insert(400);
        let object = T::json_schema(generator).to_value();
        let properties = object["properties"].as_object().into_iter().flatten();
        let parameters = properties.map(|(name, schema)| {
            let mut schema = schema.clone();
            let mut take =
                |key: &str| schema.as_object_mut().and_then(|fields| fields.shift_remove(key));
            take("default");
            let description = take("description");
            // A list with a minimum length is required.
            let required = schema["minItems"].is_u64();
            let mut parameter = json!({
                "name": name, "in": "query", "required": required, "schema": schema,
                "description": description,
            });
            if schema["type"] == "array" {
                // The list is one value with commas.
                parameter["style"] = "form".into();
                parameter["explode"] = false.into();
            }
            parameter
        });
        if let Some(all) = operation.json["parameters"].as_array_mut() {
            all.extend(parameters);
        }
    }
}

impl<T: JsonSchema> Part for JsonBody<T> {
    fn describe(generator: &mut SchemaGenerator, operation: &mut Operation) {
        operation.refusals.extend([400, 415, 422]);
        operation.json["requestBody"] =
            json!({ "required": true, "content": content::<T>(generator) });
    }
}

fn content<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    json!({ "application/json": { "schema": generator.subschema_for::<T>() } })
}

fn add_response(operation: &mut Operation, status: &str, content: &Value) {
    operation.json["responses"][status] = json!({ "description": "Success", "content": content });
}

impl<T: JsonSchema> Part for Json<T> {
    fn describe(generator: &mut SchemaGenerator, operation: &mut Operation) {
        add_response(operation, "200", &content::<T>(generator));
    }
}

impl<T: JsonSchema> Part for (StatusCode, Json<T>) {
    fn describe(generator: &mut SchemaGenerator, operation: &mut Operation) {
        add_response(operation, "201", &content::<T>(generator));
    }
}

impl<R, S: JsonSchema> Part for Described<R, S> {
    fn describe(generator: &mut SchemaGenerator, operation: &mut Operation) {
        Json::<S>::describe(generator, operation);
    }
}

impl<T: Part> Part for Result<T, Refusal> {
    fn describe(generator: &mut SchemaGenerator, operation: &mut Operation) {
        T::describe(generator, operation);
    }
}

impl Part for EventStream {
    fn describe(generator: &mut SchemaGenerator, operation: &mut Operation) {
        let event = generator.subschema_for::<assay_model::LiveEvent>();
        add_response(
            operation,
            "200",
            &json!({
                "text/event-stream": { "schema": { "type": "string" }, "x-event-schema": event },
            }),
        );
    }
}

impl Part for FileResponse {
    fn describe(_: &mut SchemaGenerator, operation: &mut Operation) {
        add_response(
            operation,
            "200",
            &json!({
                "text/plain": { "schema": { "type": "string" } },
                "application/octet-stream": { "schema": { "type": "string", "format": "binary" } },
            }),
        );
    }
}

impl Part for MetricsText {
    fn describe(_: &mut SchemaGenerator, operation: &mut Operation) {
        let text = json!({ "schema": { "type": "string" } });
        add_response(operation, "200", &json!({ "application/openmetrics-text": text }));
    }
}

/// Returns the function that describes a handler by its types.
pub(crate) fn described<I, H: Documented<I>>(_: &H) -> fn(&mut SchemaGenerator, &mut Operation) {
    H::describe_all
}

impl DocumentedRoute {
    fn operation(&self, generator: &mut SchemaGenerator) -> Value {
        let names = self.path.split('/').filter_map(|p| p.strip_prefix('{')?.strip_suffix('}'));
        let parameters: Vec<Value> = names
            .map(|name| {
                let schema = json!({ "type": "string" });
                json!({ "name": name, "in": "path", "required": true, "schema": schema })
            })
            .collect();
        let mut made = Operation {
            json: json!({
                "operationId": self.id, "summary": self.summary.trim(),
                "parameters": parameters, "responses": {},
            }),
            refusals: BTreeSet::from([401, 429, 500]),
        };
        (self.describe)(generator, &mut made);
        made.refusals.extend(self.refusals);
        if self.method == "post" {
            // Writes are refused with a read-only token, and if the body is late or too large.
            made.refusals.extend([403, 408, 413]);
        }
        for status in made.refusals {
            made.json["responses"][status.to_string()] = json!({
                "description": refusal_description(status),
                "content": { "application/json":
                    { "schema": { "$ref": "#/components/schemas/Refusal" } } },
            });
        }
        made.json
    }
}

/// Returns the OpenAPI document of `routes`. `version` is the version of assay.
fn document(routes: &[DocumentedRoute], version: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.definitions_path = "/components/schemas".into();
        s.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths = Value::Object(Map::new());
    for route in routes {
        paths[route.path][route.method] = route.operation(&mut generator);
    }
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Refusal".into(), refusal());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "assay",
            "version": version,
            "description": "Queue, live run, archive and comparisons of an assay server: the data \
                of its pages.",
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas,
        },
    })
}

fn refusal() -> Value {
    json!({
        "type": "object", "required": ["error"],
        "properties": { "error": {
            "type": "object", "required": ["status", "message"],
            "properties": {
                "status": { "type": "integer", "description": "HTTP status code." },
                "message": { "type": "string", "description": "Description of the error and of a \
                    correct value." },
            },
        } },
    })
}

fn refusal_description(status: u16) -> &'static str {
    match status {
        400 | 422 => "Invalid request; the message gives the reason",
        401 => "Missing or wrong token",
        403 => "Not permitted",
        404 => "Not found",
        408 => "The body did not arrive in time",
        409 => "Not possible in the current state",
        413 => "The body is too large",
        415 => "The body is not JSON",
        429 => "Too many requests from this address",
        503 => "Unavailable on this machine; the message gives the reason",
        _ => "Server error; the message gives the reason",
    }
}

fn made() -> Value {
    document(&documented(), env!("CARGO_PKG_VERSION"))
}

/// Compares the document with the one that the server returns. `make schema` writes it.
#[test]
fn the_committed_document_is_that_of_the_routes() {
    let made = serde_json::to_string_pretty(&made()).unwrap() + "\n";
    if std::env::var_os("ASSAY_WRITE_SCHEMAS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api/openapi.json");
        std::fs::write(path, made).unwrap();
    } else {
        assert_eq!(include_str!("openapi.json"), made, "run `make schema`");
    }
}

#[test]
fn every_reference_leads_somewhere() {
    let document = made();
    let text = document.to_string();
    let names = document["components"]["schemas"].as_object().unwrap();
    let mut seen = 0;
    for part in text.split("\"#/components/schemas/").skip(1) {
        let name = part.split('"').next().unwrap();
        assert!(names.contains_key(name), "{name}");
        seen += 1;
    }
    assert!(seen > 20, "{seen}");
    assert!(!text.contains("$defs"), "all schemas stand in one place");
}

#[test]
fn every_route_is_in_the_document_once_with_its_arguments_and_answers() {
    let document = made();
    let mut ids = BTreeSet::new();
    for route in documented() {
        let operation = &document["paths"][route.path][route.method];
        assert_eq!(operation["operationId"], route.id, "{}", route.path);
        assert!(ids.insert(route.id), "{} twice", route.id);
        assert!(!operation["summary"].as_str().unwrap().is_empty(), "{}", route.id);
    }
    let compare = &document["paths"]["/api/v1/compare"]["get"]["parameters"];
    let required = |p: &Value| p["required"] == true;
    assert_eq!(compare.as_array().unwrap().len(), 5);
    assert_eq!(compare.as_array().unwrap().iter().filter(|p| required(p)).count(), 1);
    let submit = &document["paths"]["/api/v1/jobs"]["post"];
    assert!(submit["requestBody"]["content"]["application/json"]["schema"]["$ref"].is_string());
    assert!(submit["responses"]["201"].is_object() && submit["responses"]["422"].is_object());
}
