//! Fifty secrets, placed wherever something is recorded, and searched for in the output and files
//! of every verb.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{World, done};
use serde_json::{Value, json};

/// Environment variables with secrets: some that are not recorded, and some from the list of
/// recorded ones.
const VARIABLES: [(&str, &str); 22] = [
    ("JWT", "seed01-plain-jwt"),
    ("SLACK_WEBHOOK", "seed02-webhook"),
    ("PGPASS", "seed03-pgpass"),
    ("MY_CRED", "seed04-cred"),
    ("DATABASE_URL", "postgres://app:seed05pw@db/x"),
    ("AWS_SECRET_ACCESS_KEY", "seed06-aws"),
    ("GITHUB_TOKEN", "seed07-github"),
    ("NPM_CONFIG_AUTH", "seed08-npm"),
    ("DOCKER_AUTH_CONFIG", "seed09-docker"),
    ("CI_JOB", "seed10-job"),
    ("OPENAI", "seed11-key"),
    ("LICENSE", "seed12-license"),
    ("HISTFILE", "seed13-history"),
    ("MAIL", "seed14-mail"),
    ("VAULT_ADDR", "seed15-vault"),
    ("KUBECONFIG", "seed16-kube"),
    ("S", "seed17-short-name"),
    ("USER", "seed18mallory"),
    ("LOGNAME", "seed18mallory"),
    ("JAVA_TOOL_OPTIONS", "-Djavax.net.ssl.keyStorePassword=seed19-store -Xmx1g"),
    ("NODE_OPTIONS", "--require https://eve:seed20pw@host/x.js"),
    ("MAVEN_OPTS", "-Dtoken=seed21-maven"),
];

/// Lines that the program prints on both streams, with their secrets.
const PRINTED: [(&str, &str); 34] = [
    ("password=seed22-out", "seed22-out"),
    ("Authorization: Bearer seed23Token4711", "seed23Token4711"),
    ("ghp_seed24C7e42F292c6912E7710c838347Ae17", "seed24C7e42F292"),
    ("AKIASEED25FODNN7EXAM", "SEED25FODNN7"),
    ("glpat-seed26xYz9876AbCd", "seed26xYz9876"),
    ("connecting to mysql://root:seed27pw@db:3306/x", "seed27pw"),
    ("key q7Zt0XvB2mLk9RfWc4Ye8PnH28 used", "q7Zt0XvB2mLk9RfWc4Ye8PnH28"),
    ("https://hooks.slack.com/services/seed29/B0/x", "seed29/B0"),
    ("--client-secret seed30-secret", "seed30-secret"),
    ("{\"api_key\": \"seed31-json\"}", "seed31-json"),
    ("Cookie: seed32-session", "seed32-session"),
    ("-----BEGIN PRIVATE KEY-----\nseed33MIIEvQ\n-----END PRIVATE KEY-----", "seed33MIIEvQ"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJzZWVkMzQifQ.seed34sig", "seed34sig"),
    ("DB_PASSWORD='seed35 with blanks'", "seed35 with blanks"),
    ("SSHPASS=seed51word sshpass -e ssh h", "seed51word"),
    ("machine h.example login bob password seed52word", "seed52word"),
    ("db.example:5432:app:bob:seed53word", "seed53word"),
    ("#define WIFI_PASSWORD \"seed54word\"", "seed54word"),
    ("<entry key=\"db.password\">seed55word</entry>", "seed55word"),
    ("keytool -list -storepass seed56word -v", "seed56word"),
    ("openssl rsa -in k -passin pass:seed57word", "seed57word"),
    ("AccountName=a;AccountKey=seed58Zt0XvB2mLk9==;E=x", "seed58Zt0XvB2mLk9"),
    ("smbclient //s/x -U bob%seed59word -c ls", "seed59word"),
    ("network={ psk=\"seed60word\" }", "seed60word"),
    ("https://discordapp.com/api/webhooks/1/seed61-x9z", "seed61-x9z"),
    ("u=https%3A%2F%2Fbob%3Aseed62pw%40h.example%2F", "seed62pw"),
    ("docker login -u bob -p seed63word r.example", "seed63word"),
    ("Server=h;Uid=sa;Pwd=seed64word;n=4", "seed64word"),
    ("postgres://bob:seed65/pa@h.example/db", "seed65/pa"),
    ("Sent AUTH PLAIN seed66AGJvYgBodW50 to h", "seed66AGJvYgBodW50"),
    ("ConvertTo-SecureString 'seed67word' -AsPlainText", "seed67word"),
    ("echo seed68word | sudo -S true", "seed68word"),
    ("mosquitto_pub -u bob -P seed69word -t x", "seed69word"),
    (
        "{\"key\": \"-----BEGIN PRIVATE KEY-----\\nseed70MII\\n-----END PRIVATE KEY-----\"}",
        "seed70MII",
    ),
];

/// Lines without secrets that the program prints.
const INNOCENT: [&str; 10] = [
    "docker run -p 80:80 img",
    "commit 6684bb6d9c2f1b0a7e5d4c3b2a19080706050403",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "id 550e8400-e29b-41d4-a716-446655440000",
    "prog --pass-through yes --passes=3 -p 4",
    "author=bob2 token_count=5 max_tokens: 100 keys=1000",
    "openssl genrsa -out key.pem 4096",
    "redis-benchmark -p 6379 -n 1000",
    "12 passed: 12, pass: 120, first_pass=12.5ms",
    "curl -u bob:$PW -b cookies.txt http://h.example:8080/a@b",
];

/// Facts with secrets in clear text, as archives of earlier versions contain them.
const OLD_FACTS: [(&str, &str, &str); 8] = [
    ("env.OLD_JWT", "seed36-old", "seed36-old"),
    ("env.OLD_HOOK", "seed37-old", "seed37-old"),
    ("node.n2.env.OLD", "seed38-old", "seed38-old"),
    ("kernel.cmdline", "root=/dev/vda1 ro luks.pw=seed39-luks mitigations=off", "seed39-luks"),
    (
        "mount./mnt/a",
        "cifs //x/y rw,username=seed40user,password=seed41-cifs,vers=3",
        "seed41-cifs",
    ),
    ("mount./mnt/b", "fuse.sshfs x:/ rw,opt=seed42-sshfs", "seed42-sshfs"),
    ("toolchain.note", "fetched with token=seed43-tool", "seed43-tool"),
    ("env.JAVA_OPTS", "-Dsecret=seed44-java", "seed44-java"),
];

/// Names that only the owner sees, and that are not published.
const NAMES: [&str; 6] = [
    "seed45kestrel", // the machine
    "seed18mallory", // the person
    "/home/seed18mallory",
    "seed46share", // a network share
    "seed47bob",   // owner of the home folder in a path
    "seed48node",  // another machine
];

fn secrets() -> Vec<String> {
    let variables = VARIABLES.iter().filter(|(name, _)| !["USER", "LOGNAME"].contains(name));
    let variables = variables.map(|(_, value)| {
        let at = value.find("seed").unwrap();
        let end = value[at..].find(['@', ' ']).map_or(value.len(), |i| at + i);
        value[at..end].to_owned()
    });
    let printed = PRINTED.iter().map(|(_, secret)| (*secret).to_owned());
    let facts = OLD_FACTS.iter().map(|(.., secret)| (*secret).to_owned());
    variables.chain(printed).chain(facts).chain(["seed40user".to_owned()]).collect()
}

/// Returns a command with the secrets in its environment.
fn seeded(world: &World, arguments: &[&str]) -> Command {
    let mut command = world.assay(arguments);
    command.envs(VARIABLES).env("HOME", "/home/seed18mallory");
    command
}

/// Writes an experiment whose program prints secrets and names.
fn experiment(world: &World) -> String {
    let mut script = String::from("#!/bin/sh\ncat <<'END'\n");
    for (line, _) in &PRINTED {
        script.push_str(line);
        script.push('\n');
    }
    script.push_str(&INNOCENT.join("\n"));
    script.push_str("\non seed45kestrel in /home/seed18mallory/x and /home/seed47bob/y\nEND\n");
    let mut script = format!("{script}sed -n 3,99p \"$0\" | head -n -3 >&2\n");
    script.push_str("echo '{\"note\":\"note password=seed49-note\"}' >&3\nsleep 0.01\n");
    script.push_str("case \"$1\" in bad) echo 'gave up: token=seed50-words' >&2; exit 3;; esac\n");
    let path = world.write("program.sh", &script);
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let text = format!(
        "name = \"seeded\"\nworkload = \"command\"\n[factors]\ncommand = [\"{0} a\", \"{0} b\"]\n\
         [design]\nblocks = 6\n",
        path.display()
    );
    world.write("seeded.toml", &text).display().to_string()
}

/// Adds to a run the secrets that earlier versions recorded.
fn make_old(run: &Path) {
    let path = run.join("system.json");
    let mut system: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let facts = system["facts"].as_object_mut().unwrap();
    for (fact, value, _) in OLD_FACTS {
        facts.insert(fact.to_owned(), json!({ "value": value }));
    }
    facts.insert("host.name".into(), json!({ "value": "seed45kestrel" }));
    facts.insert("node.n2.host.name".into(), json!({ "value": "seed48node" }));
    facts.insert("mount./home/seed47bob/m".into(), json!({ "value": "nfs seed46share:/vol rw" }));
    fs::write(&path, serde_json::to_vec_pretty(&system).unwrap()).unwrap();
    let path = run.join("run.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut identity: Value = serde_json::from_str(&text).unwrap();
    identity["host"] = json!("seed45kestrel");
    fs::write(&path, serde_json::to_vec_pretty(&identity).unwrap()).unwrap();
    // Earlier versions recorded the streams unchanged.
    for (line, _) in &PRINTED {
        let log = run.join("trials/0001/stdout.log");
        let mut old = fs::read_to_string(&log).unwrap();
        old.push_str(line);
        old.push('\n');
        fs::write(&log, old).unwrap();
    }
    forget_hashes(run);
}

/// Turns a run's ledger into one of an earlier version, which had no hashes of the files other than
/// the records, and no head outside the run.
fn forget_hashes(run: &Path) {
    let path = run.join("ledger.jsonl");
    let mut prev = "0".repeat(64);
    let mut old = String::new();
    for line in fs::read_to_string(&path).unwrap().lines() {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        let fields = entry.as_object_mut().unwrap();
        fields.insert("prev".into(), prev.into());
        fields.remove("files");
        for (_, field) in fields.iter_mut() {
            if let Some(event) = field.as_object_mut() {
                event.remove("files");
            }
        }
        let line = entry.to_string();
        prev = assay_system::sha256(line.as_bytes());
        old.push_str(&line);
        old.push('\n');
    }
    fs::write(&path, old).unwrap();
    let archive = run.parent().unwrap().parent().unwrap();
    let head = format!("{}.json", run.file_name().unwrap().to_str().unwrap());
    fs::remove_file(archive.join("heads").join(head)).unwrap();
}

/// Returns every file below a folder as text, with its name.
fn files(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            // The packed data of a page is searched too.
            let bytes = fs::read(&path).unwrap();
            let text = assay_testing::unpacked(&String::from_utf8_lossy(&bytes));
            all.push((path.display().to_string(), text));
        }
    }
    all
}

/// Fails with every place that contains a forbidden text.
fn without(what: &str, texts: &[(String, String)], forbidden: &[String]) {
    let found: Vec<String> = texts
        .iter()
        .flat_map(|(name, text)| {
            forbidden.iter().filter(|s| text.contains(*s)).map(move |s| {
                let at = text.find(s).unwrap();
                let near: String = text[..at].chars().rev().take(80).collect();
                let near: String = near.chars().rev().collect();
                format!("{name}: {s} after `{near}`")
            })
        })
        .collect();
    assert!(found.is_empty(), "{what}:\n{}", found.join("\n"));
}

fn spoken(world: &World, arguments: &[&str]) -> Vec<(String, String)> {
    let did = done(&mut seeded(world, arguments));
    assert!([0, 3, 4].contains(&did.code), "{arguments:?}: {} {}", did.code, did.stderr);
    let name = arguments.join(" ");
    vec![(format!("{name} (stdout)"), did.stdout), (format!("{name} (stderr)"), did.stderr)]
}

#[test]
fn fifty_secrets_are_in_nothing_that_is_recorded_shown_or_published() {
    let world = World::new();
    let file = experiment(&world);
    let mut hidden = secrets();
    hidden.extend(["seed49-note".to_owned(), "seed50-words".to_owned()]);
    let names: Vec<String> = NAMES.iter().map(|n| (*n).to_owned()).collect();
    let everything: Vec<String> = hidden.iter().chain(&names).cloned().collect();
    let distinct: std::collections::BTreeSet<&String> = everything.iter().collect();
    assert!(distinct.len() >= 50, "{} are seeded", distinct.len());

    let exports: Vec<String> = ["md", "csv", "json", "hyperfine", "junit", "html"]
        .iter()
        .map(|f| format!("{f}={}", world.path(&format!("export.{f}")).display()))
        .collect();
    let events = world.path("events.jsonl").display().to_string();
    let mut arguments = vec!["run", file.as_str(), "--events", events.as_str()];
    for export in &exports {
        arguments.extend(["--export", export]);
    }
    let mut message = spoken(&world, &arguments);
    message.push(("events".into(), fs::read_to_string(&events).unwrap()));
    let failing = format!("{} bad", world.path("program.sh").display());
    message.extend(spoken(&world, &["run", "--blocks", "1", "--", "sh", "-c", &failing]));
    // Recorded: no file of the archive or the state contains secrets from the environment or the
    // streams.
    without("the archive", &files(&world.path("archive")), &hidden);
    without("the state", &files(&world.path("state")), &hidden);
    let printed = fs::read_to_string(world.runs()[0].join("trials/0001/stdout.log")).unwrap();
    for line in INNOCENT {
        assert!(printed.lines().any(|known| known == line), "`{line}` was changed: {printed}");
    }
    without("run", &message, &hidden);
    for format in ["md", "csv", "json", "hyperfine", "junit", "html"] {
        let path = world.path(&format!("export.{format}"));
        let text = fs::read_to_string(&path).unwrap();
        without("an export", &[(format.to_owned(), text)], &everything);
    }
    // The key is outside of every run, and only its owner can read it.
    let key = world.path("archive/redact.key");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&key).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    let key = fs::read_to_string(&key).unwrap();

    // Redacted values that are equal remain equal in a second run, and different ones remain
    // different.
    let mut second = seeded(&world, &["run", &file]);
    second.env("MY_CRED", "seed04-another");
    done(&mut second);
    let mut runs = world.runs();
    runs.sort();
    runs.retain(|run| fs::read_to_string(run.join("run.json")).unwrap().contains("\"seeded\""));
    let fact = |run: &Path, name: &str| {
        let system: Value =
            serde_json::from_slice(&fs::read(run.join("system.json")).unwrap()).unwrap();
        system["facts"][name]["value"].as_str().unwrap().to_owned()
    };
    assert_eq!(fact(&runs[0], "env.JWT"), fact(&runs[1], "env.JWT"));
    assert_ne!(fact(&runs[0], "env.MY_CRED"), fact(&runs[1], "env.MY_CRED"));
    assert!(fact(&runs[0], "env.JWT").starts_with("redacted:"));
    assert!(fact(&runs[0], "env.JAVA_TOOL_OPTIONS").ends_with("-Xmx1g"));

    make_old(&runs[0]);
    let id = |run: &Path| run.file_name().unwrap().to_str().unwrap().to_owned();
    let (first, other) = (id(&runs[0]), id(&runs[1]));
    // Output for the owner has names, but no secrets.
    let verbs: [&[&str]; 11] = [
        &["archive", "list"],
        &["archive", "list", "--json"],
        &["archive", "show", &first],
        &["archive", "show", &first, "--json"],
        &["compare", &first],
        &["compare", &first, "--json"],
        &["compare", &first, &other],
        &["compare", &first, &other, "--json"],
        &["explain", &first, "--treatment", "b"],
        &["publish", &first, "--preview"],
        &["publish", &first, "--preview", "--json"],
    ];
    for arguments in verbs {
        without("shown", &spoken(&world, arguments), &hidden);
    }
    // Published output has neither.
    let published = spoken(&world, &["publish", &first, "-o", "public"]);
    without("publish", &published, &hidden);
    without("the folder", &files(&world.path("public")), &everything);
    assert!(!files(&world.path("public")).iter().any(|(_, text)| text.contains(key.trim())));
    spoken(&world, &["compare", &first, &other, "-o", "compared.html"]);
    let page = fs::read_to_string(world.path("compared.html")).unwrap();
    without("compare -o", &[("compared.html".into(), page)], &everything);

    // Another archive can import the bundle, and its ledger verifies.
    let there = World::new();
    let bundle = world.path(&format!("public/{first}.tar.zst")).display().to_string();
    let taken = there.run(&["archive", "import", &bundle]);
    assert_eq!(taken.code, 0, "{}", taken.stderr);
    let verified = there.run(&["archive", "verify"]);
    let only_notes = verified.stdout.lines().all(|l| l.starts_with("note: ") || l.starts_with(' '));
    assert!(verified.code == 0 && only_notes, "{}", verified.stdout);
    assert!(verified.stdout.contains("not recorded in the ledger"), "{}", verified.stdout);
    without("the bundle", &files(&there.path("archive/runs")), &everything);
    let ledger =
        fs::read_to_string(there.path(&format!("archive/runs/{first}/ledger.jsonl"))).unwrap();
    assert!(ledger.lines().last().unwrap().contains("\"event\":\"redacted\""), "{ledger}");
    let resumed = there.run(&["run", "--resume", &first]);
    assert!(resumed.code != 0, "{}", resumed.stdout);

    let redacted = world.path("redacted.tar.zst").display().to_string();
    spoken(&world, &["archive", "export", &first, "--redact", "-o", &redacted]);
    let third = World::new();
    assert_eq!(third.run(&["archive", "import", &redacted]).code, 0);
    without("archive export --redact", &files(&third.path("archive/runs")), &everything);

    // The copies have the same numbers.
    let value = |world: &World| -> Value {
        let shown = world.run(&["archive", "show", &first, "--json"]);
        let shown = shown.json();
        shown["analysis"]["summaries"].clone()
    };
    let (here, there) = (value(&world), value(&there));
    for i in 0..2 {
        assert!(here[i]["values"].as_array().is_some_and(|values| values.len() == 6), "{here:#}");
        for part in ["metric", "unit", "values", "summary"] {
            assert_eq!(here[i][part], there[i][part]);
        }
    }

    // With --no-redact the names are published too, but new runs contain no secrets anyway.
    let exact = spoken(&world, &["publish", &other, "-o", "exact", "--no-redact"]);
    without("publish --no-redact", &exact, &hidden);
    without("the exact folder", &files(&world.path("exact")), &hidden);

    // Pages and API over HTTP.
    let served = crate::common::served::serve(&world, &[]);
    let mut answers = vec![];
    for path in [
        "/api/v1/runs".to_owned(),
        format!("/api/v1/runs/{first}"),
        format!("/runs/{first}"),
        format!("/api/v1/compare?runs={first},{other}"),
        format!("/compare?runs={first},{other}"),
        "/archive".to_owned(),
    ] {
        let answer = served.get(&path);
        assert_eq!(answer.status, 200, "{path}");
        answers.push((path, answer.body));
    }
    let listed = served.get(&format!("/api/v1/runs/{first}/files")).json();
    for line in listed.as_array().unwrap() {
        let path = format!("/api/v1/runs/{first}/files/{}", line["number"]);
        answers.push((format!("{path} {}", line["name"]), served.get(&path).body));
    }
    without("served", &answers, &hidden);
}

#[test]
fn an_experiment_with_a_token_is_refused_and_not_repeated() {
    let world = World::new();
    let token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let refused = |arguments: &[&str], place: &str| {
        let did = world.run(arguments);
        assert_eq!(did.code, 2, "{arguments:?}: {}", did.stderr);
        assert!(did.stderr.contains(place), "{}", did.stderr);
        assert!(!did.stderr.contains("16C7e42F292"), "{}", did.stderr);
        assert!(did.stdout.is_empty(), "{}", did.stdout);
    };
    let command = format!("echo --token {token}");
    refused(&["run", "--", "sh", "-c", &command], "params.command");
    refused(&["run", "--", "mysql", "--password=hunter2"], "params.command");
    refused(&["run", "--", "curl", "-u", "eve:hunter2", "http://host"], "params.command");
    refused(&["run", "--", "curl", "-H", "X-Auth-Key: hunter2", "host"], "params.command");
    let text = format!(
        "name = \"x\"\nworkload = \"command\"\ntitle = \"{token}\"\n[params]\ncommand = \"true\"\n"
    );
    let file = world.write("x.toml", &text).display().to_string();
    refused(&["plan", &file], "title");
    refused(&["run", &file], "title");
    let text = "name = \"x\"\nworkload = \"command\"\n[params]\ncommand = \"true\"\n\
                [controls]\n\"env.DB_PASSWORD\" = \"hunter2\"\n";
    let file = world.write("y.toml", text).display().to_string();
    refused(&["run", &file], "controls.env.DB_PASSWORD");
    assert!(world.runs().is_empty());
}

#[test]
fn a_variable_is_recorded_when_the_experiment_names_it() {
    let world = World::new();
    let text = "name = \"x\"\nworkload = \"command\"\n[params]\ncommand = \"true\"\n\
                [observe]\nenvironment = [\"MY_*\"]\n[design]\nblocks = 1\n";
    let file = world.write("x.toml", text).display().to_string();
    let did = done(world.assay(&["run", &file, "--json"]).env("MY_MODE", "fast").env("YOURS", "x"));
    assert_eq!(did.code, 0, "{}", did.stderr);
    let json = did.json();
    assert_eq!(json["system"]["facts"]["env.MY_MODE"]["value"], "fast");
    let yours = json["system"]["facts"]["env.YOURS"]["value"].as_str().unwrap();
    assert!(yours.starts_with("redacted:"), "{yours}");
}
