//! The OpenAPI document: a row an operation, the schemas made from the types that the handlers write.

use assay_iotrace::{Dimension, IoReport};
use assay_model::{Deleted, LiveEvent, RunSummary};
use assay_rules::denominator::Denominator;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::api::runs::{FileLine, Runs, SORTS, SideBySide};
use crate::change::Form;
use crate::folders::ExperimentLine;
use crate::job::Job;
use crate::live::LiveStatus;
use crate::observe_io::BY;
use crate::searches::SavedSearch;
use crate::submission::Submission;

/// What an operation answers when all is well.
enum Answer {
    Json(Value),
    Events(Value),
    File,
}

struct Operation {
    method: &'static str,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    status: &'static str,
    answer: Answer,
    body: Option<Value>,
    query: Vec<(&'static str, Value, &'static str)>,
    /// What else it may answer.
    refusals: &'static [&'static str],
}

/// The document. `version` is assay's.
pub fn document(version: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|s| {
        s.definitions_path = "/components/schemas".into();
        s.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let operations = operations(&mut generator);
    let mut paths = Map::new();
    for operation in operations {
        let entry = paths.entry(operation.path.to_owned()).or_insert_with(|| json!({}));
        if let Some(methods) = entry.as_object_mut() {
            methods.insert(operation.method.to_owned(), describe(&operation));
        }
    }
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Refusal".into(), refusal());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "assay",
            "version": version,
            "description": "The queue, the live run, the archive and comparisons of a server of assay: what its pages show.",
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
                "status": { "type": "integer", "description": "The status code of HTTP." },
                "message": { "type": "string", "description": "What is wrong and what would be right." },
            },
        } },
    })
}

fn operations(generator: &mut SchemaGenerator) -> Vec<Operation> {
    let schema = |generator: &mut SchemaGenerator,
                  of: fn(&mut SchemaGenerator) -> schemars::Schema| {
        of(generator).to_value()
    };
    let job = schema(generator, SchemaGenerator::subschema_for::<Job>);
    let jobs = schema(generator, SchemaGenerator::subschema_for::<crate::api::Jobs>);
    let form = schema(generator, SchemaGenerator::subschema_for::<Form>);
    let events = schema(generator, SchemaGenerator::subschema_for::<LiveEvent>);
    let live_status = schema(generator, SchemaGenerator::subschema_for::<LiveStatus>);
    let status = schema(generator, SchemaGenerator::subschema_for::<crate::api::Status>);
    let submission = schema(generator, SchemaGenerator::subschema_for::<Submission>);
    let draft = schema(generator, SchemaGenerator::subschema_for::<crate::draft::Draft>);
    let shift = schema(generator, SchemaGenerator::subschema_for::<crate::api::Move>);
    let lines = schema(generator, SchemaGenerator::subschema_for::<Vec<ExperimentLine>>);
    let files = schema(generator, SchemaGenerator::subschema_for::<Vec<FileLine>>);
    let runs = schema(generator, SchemaGenerator::subschema_for::<Runs>);
    let across = schema(generator, SchemaGenerator::subschema_for::<SideBySide>);
    let histories = schema(generator, SchemaGenerator::subschema_for::<crate::api::Histories>);
    let history = schema(generator, SchemaGenerator::subschema_for::<assay_history::Shown>);
    let quoted = schema(generator, SchemaGenerator::subschema_for::<assay_history::Quoted>);
    let at_commit = schema(generator, SchemaGenerator::subschema_for::<crate::api::AtCommit>);
    let acknowledged =
        schema(generator, SchemaGenerator::subschema_for::<crate::api::Acknowledged>);
    let afresh = schema(generator, SchemaGenerator::subschema_for::<crate::api::Afresh>);
    let schedule = schema(generator, SchemaGenerator::subschema_for::<crate::schedule::Schedule>);
    let schedules =
        schema(generator, SchemaGenerator::subschema_for::<Vec<crate::schedule::Schedule>>);
    let new_schedule = schema(generator, SchemaGenerator::subschema_for::<crate::api::NewSchedule>);
    let io = schema(generator, SchemaGenerator::subschema_for::<IoReport>);
    let line = schema(generator, SchemaGenerator::subschema_for::<RunSummary>);
    let annotate = schema(generator, SchemaGenerator::subschema_for::<crate::api::Annotate>);
    let deleted = schema(generator, SchemaGenerator::subschema_for::<Deleted>);
    let trash = schema(generator, SchemaGenerator::subschema_for::<Vec<Deleted>>);
    let search_saved = schema(generator, SchemaGenerator::subschema_for::<SavedSearch>);
    let searches = schema(generator, SchemaGenerator::subschema_for::<Vec<SavedSearch>>);
    let named = schema(generator, SchemaGenerator::subschema_for::<crate::api::Named>);
    let object = || json!({ "type": "object" });
    let get = |path, id, summary, answer: Answer, refusals| Operation {
        method: "get",
        path,
        id,
        summary,
        status: "200",
        answer,
        body: None,
        query: Vec::new(),
        refusals,
    };
    let post = |path, id, summary, body: Option<Value>, refusals| Operation {
        method: "post",
        path,
        id,
        summary,
        status: "200",
        answer: Answer::Json(job.clone()),
        body,
        query: Vec::new(),
        refusals,
    };
    vec![
        get("/api/v1/openapi.json", "openapi", "This document", Answer::Json(object()), &[]),
        get("/api/v1/status", "status", "The server", Answer::Json(status), &[]),
        get(
            "/api/v1/experiments",
            "experiments",
            "The experiments that may be submitted",
            Answer::Json(lines),
            &[],
        ),
        get(
            "/api/v1/experiments/{id}",
            "experiment",
            "The form for one experiment",
            Answer::Json(form),
            &["400", "404"],
        ),
        Operation {
            answer: Answer::Json(draft),
            ..post(
                "/api/v1/plan",
                "plan",
                "Read, check and plan what would be submitted; nothing is",
                Some(submission.clone()),
                &["400", "403", "404", "415", "422"],
            )
        },
        get("/api/v1/jobs", "jobs", "The queue", Answer::Json(jobs), &[]),
        Operation {
            status: "201",
            ..post(
                "/api/v1/jobs",
                "submit",
                "Submit an experiment",
                Some(submission),
                &["400", "403", "404", "409", "415", "422"],
            )
        },
        Operation {
            query: vec![(
                "wait",
                json!({ "type": "integer", "minimum": 0, "maximum": 50 }),
                "Answer when the job has ended, or after this many seconds",
            )],
            ..get("/api/v1/jobs/{id}", "job", "One job", Answer::Json(job.clone()), &["400", "404"])
        },
        post(
            "/api/v1/jobs/{id}/cancel",
            "cancel",
            "Cancel a job; one that runs ends its trial and restores the settings",
            None,
            &["404", "409"],
        ),
        post(
            "/api/v1/jobs/{id}/resume",
            "resume",
            "Resume a job that was interrupted",
            None,
            &["404", "409"],
        ),
        post(
            "/api/v1/jobs/{id}/move",
            "move",
            "Move a job that waits",
            Some(shift),
            &["400", "404", "409", "415", "422"],
        ),
        get(
            "/api/v1/jobs/{id}/live",
            "live",
            "Where the run of a job stands",
            Answer::Json(live_status),
            &["404", "409"],
        ),
        get(
            "/api/v1/jobs/{id}/profile",
            "profile",
            "The profile of the trial that runs, so far, and how long it took to make; asking makes the run take the next",
            Answer::Json(json!({ "type": ["object", "null"] })),
            &["404", "409"],
        ),
        get(
            "/api/v1/jobs/{id}/events",
            "events",
            "What happens in the run of a job, as it happens: first its live_status, then every event",
            Answer::Events(events.clone()),
            &["404", "409"],
        ),
        Operation {
            query: search(),
            ..get("/api/v1/runs", "runs", "Search the archive", Answer::Json(runs), &["400"])
        },
        get("/api/v1/runs/{id}", "run", "Everything of one run", Answer::Json(object()), &["404"]),
        get(
            "/api/v1/runs/{id}/files",
            "files",
            "The files of one run",
            Answer::Json(files),
            &["404"],
        ),
        get(
            "/api/v1/runs/{id}/files/{number}",
            "file",
            "One file of a run",
            Answer::File,
            &["404", "409"],
        ),
        get(
            "/api/v1/runs/{id}/bundle",
            "bundle",
            "A run as one file, as `assay archive export` writes it; with the full token alone",
            Answer::File,
            &["403", "404", "409"],
        ),
        Operation {
            answer: Answer::Json(line.clone()),
            ..post(
                "/api/v1/runs/{id}/annotate",
                "annotate",
                "Add tags and a note to a run, outside of its record",
                Some(annotate),
                &["400", "404", "415", "422"],
            )
        },
        Operation {
            answer: Answer::Json(deleted),
            ..post(
                "/api/v1/runs/{id}/delete",
                "deleteRun",
                "Delete a run; it can be restored until the day (UTC) ends",
                None,
                &["404", "409"],
            )
        },
        Operation {
            answer: Answer::Json(line),
            ..post(
                "/api/v1/runs/{id}/restore",
                "restoreRun",
                "Restore a deleted run",
                None,
                &["404", "409"],
            )
        },
        get(
            "/api/v1/deleted",
            "deleted",
            "The deleted runs that can be restored",
            Answer::Json(trash),
            &[],
        ),
        get(
            "/api/v1/searches",
            "searches",
            "The searches of the archive that were saved",
            Answer::Json(searches.clone()),
            &[],
        ),
        Operation {
            status: "201",
            answer: Answer::Json(search_saved.clone()),
            ..post(
                "/api/v1/searches",
                "saveSearch",
                "Save a search under a name; another of that name is replaced",
                Some(search_saved),
                &["400", "409", "415", "422"],
            )
        },
        Operation {
            answer: Answer::Json(searches),
            ..post(
                "/api/v1/searches/forget",
                "forgetSearch",
                "Forget a saved search",
                Some(named),
                &["400", "404", "415", "422"],
            )
        },
        Operation {
            query: vec![
                (
                    "runs",
                    json!({ "type": "array", "items": { "type": "string", "pattern": RUN }, "minItems": 2, "maxItems": 8, "uniqueItems": true }),
                    "The ids of 2 to 8 different runs, with commas; the first is the baseline",
                ),
                (
                    "metric",
                    json!({ "type": "string" }),
                    "The metric; absent: the one that decides in the first run",
                ),
                (
                    "margin",
                    json!({ "type": "string", "pattern": "^([0-9]{1,2} %)?$" }),
                    "Differences within it do not matter: `2 %`",
                ),
                (
                    "factors",
                    json!({ "type": "string" }),
                    "Facts that are meant to differ, with commas",
                ),
                (
                    "accept",
                    json!({ "type": "string" }),
                    "Soft differences that are accepted: PATH=REASON, each on a line of its own",
                ),
            ],
            ..get(
                "/api/v1/compare",
                "compare",
                "Runs side by side",
                Answer::Json(across),
                &["400", "404"],
            )
        },
        get(
            "/api/v1/histories",
            "histories",
            "The histories of the archive, and the names of imported series",
            Answer::Json(histories),
            &[],
        ),
        get(
            "/api/v1/histories/{id}",
            "history",
            "A metric over revisions: points, changes and their states",
            Answer::Json(history.clone()),
            &["404"],
        ),
        Operation {
            status: "201",
            ..post(
                "/api/v1/histories/{id}/confirm",
                "confirmChange",
                "Put a fresh experiment of both sides of a change into the queue",
                Some(at_commit),
                &["400", "404", "409", "415", "422"],
            )
        },
        Operation {
            answer: Answer::Json(history.clone()),
            ..post(
                "/api/v1/histories/{id}/acknowledge",
                "acknowledgeChange",
                "Mark a change as known: it raises no alarm any more",
                Some(acknowledged),
                &["400", "404", "409", "415", "422"],
            )
        },
        Operation {
            answer: Answer::Json(history),
            ..post(
                "/api/v1/histories/{id}/reset",
                "resetHistory",
                "Start the series afresh at a commit, or take that back: what lies before is not compared with what follows",
                Some(afresh),
                &["400", "404", "409", "415", "422"],
            )
        },
        get(
            "/api/v1/imported/{name}",
            "importedSeries",
            "Series of another program, with their suspected changes",
            Answer::Json(quoted),
            &["404"],
        ),
        get(
            "/api/v1/schedules",
            "schedules",
            "What is submitted again and again",
            Answer::Json(schedules),
            &[],
        ),
        Operation {
            status: "201",
            answer: Answer::Json(schedule.clone()),
            ..post(
                "/api/v1/schedules",
                "schedule",
                "Submit an experiment again and again",
                Some(new_schedule),
                &["400", "404", "409", "415", "422"],
            )
        },
        Operation {
            answer: Answer::Json(schedule),
            ..post(
                "/api/v1/schedules/{id}/cancel",
                "cancelSchedule",
                "Cancel a schedule; its jobs stay",
                None,
                &["404"],
            )
        },
        get(
            "/api/v1/landscapes",
            "landscapes",
            "The landscapes",
            Answer::Json(json!({ "type": "array" })),
            &[],
        ),
        Operation {
            query: vec![
                (
                    "per",
                    json!({ "type": "array", "items": { "type": "string", "enum": Denominator::ALL.map(Denominator::name) } }),
                    "Denominators, with commas; the first decides the order",
                ),
                ("as_of", json!({ "type": "string" }), "Only results that were true on this day"),
                ("metric", json!({ "type": "string" }), "Only this metric"),
            ],
            ..get(
                "/api/v1/landscapes/{name}",
                "landscape",
                "One landscape with every denominator",
                Answer::Json(object()),
                &["400", "404"],
            )
        },
        get(
            "/api/v1/observe",
            "observe",
            "This machine now, one sample a second; refused while a run is in progress",
            Answer::Events(events),
            &["409"],
        ),
        Operation {
            query: vec![
                (
                    "by",
                    json!({ "type": "string", "enum": BY.map(Dimension::name) }),
                    "The dimension of I/Os, beside their direction; default: programs",
                ),
                (
                    "program",
                    json!({ "type": "string" }),
                    "Only I/Os of the program of this name; absent: of all",
                ),
                (
                    "device",
                    json!({ "type": "string" }),
                    "Only I/Os of the device of this name; absent: of all",
                ),
            ],
            ..get(
                "/api/v1/observe/io",
                "observeIo",
                "Block I/O of this machine since the look began, as `assay io --json` says it; it is watched while \
                 somebody asks every few seconds, and refused while a run goes on",
                Answer::Json(io),
                &["400", "409", "503"],
            )
        },
    ]
}

/// The id of a run.
const RUN: &str = "^[0-9]{8}-[0-9]{6}-[0-9a-f]{4}$";

fn search() -> Vec<(&'static str, Value, &'static str)> {
    let text = || json!({ "type": "string" });
    let day = || json!({ "anyOf": [{ "const": "" }, { "type": "string", "format": "date" }] });
    // Nothing is the newest first.
    let sorts: Vec<&str> = SORTS.iter().map(|(name, ..)| *name).chain([""]).collect();
    vec![
        ("text", text(), "A part of the id, experiment, workload, host, note or a tag"),
        ("workload", text(), "The workload's name"),
        ("metric", text(), "The deciding metric's name"),
        ("tag", text(), "One of its tags"),
        ("factor", text(), "A factor, or `name=level`"),
        ("state", text(), "Its state"),
        ("since", day(), "A day, UTC"),
        ("until", day(), "A day, UTC; it is in"),
        ("sort", json!({ "type": "string", "enum": sorts }), "The order"),
        ("page", json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000 }), "Which page"),
        ("limit", json!({ "type": "integer", "minimum": 1, "maximum": 500 }), "Runs a page"),
    ]
}

fn describe(operation: &Operation) -> Value {
    let mut parameters: Vec<Value> = operation
        .path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } }))
        .collect();
    parameters.extend(operation.query.iter().map(|(name, schema, description)| {
        let mut parameter = json!({ "name": name, "in": "query", "required": operation.id == "compare" && *name == "runs", "schema": schema, "description": description });
        if schema["type"] == "array" {
            // One value with commas.
            parameter["style"] = "form".into();
            parameter["explode"] = false.into();
        }
        parameter
    }));
    let content = match &operation.answer {
        Answer::Json(schema) => json!({ "application/json": { "schema": schema } }),
        Answer::Events(schema) => {
            json!({ "text/event-stream": { "schema": { "type": "string" }, "x-event-schema": schema } })
        }
        Answer::File => {
            json!({ "text/plain": { "schema": { "type": "string" } }, "application/octet-stream": { "schema": { "type": "string", "format": "binary" } } })
        }
    };
    let mut responses = Map::new();
    responses.insert(operation.status.into(), json!({ "description": "Fine", "content": content }));
    let refusal =
        json!({ "application/json": { "schema": { "$ref": "#/components/schemas/Refusal" } } });
    // A write is refused to one who may look only, and when its body does not come.
    let of_writes: &[&str] = if operation.method == "post" { &["403", "408", "413"] } else { &[] };
    let of_all = ["401", "429", "500"];
    for status in operation.refusals.iter().chain(of_writes).chain(&of_all) {
        responses.insert(
            (*status).to_owned(),
            json!({ "description": words(status), "content": refusal }),
        );
    }
    let mut all = json!({
        "operationId": operation.id, "summary": operation.summary,
        "parameters": parameters, "responses": responses,
    });
    if let Some(body) = &operation.body {
        all["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": body } } });
    }
    all
}

fn words(status: &str) -> &'static str {
    match status {
        "400" | "422" => "The request is wrong; the message says why",
        "401" => "The token is missing or wrong",
        "403" => "That is not allowed here",
        "404" => "There is nothing of that name",
        "408" => "The body did not come in time",
        "409" => "Not in the state that it is in",
        "413" => "The body is too large",
        "415" => "The body is not JSON",
        "503" => "That cannot be had on this machine; the message says what is missing",
        "429" => "Too many requests from this address",
        _ => "The server failed; the message says at what",
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_reference_leads_somewhere() {
        let document = super::document("0");
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
}
