//! Exhaustive test: every kind of secret in every form of text that a run records, and innocent
//! values in the same forms.

mod kinds;

use std::cell::Cell;

use serde_json::{Value, json};

use super::without_tokens;
use crate::redact::recorder::token_in;
use crate::redact::{RedactionKey, Redactor};

/// Tokens of services; `{36 alnum}` is 36 characters of an alphabet.
const TOKENS: &[(&str, &str)] = &[
    ("1Password", "A3-{6 upper}-{11 upper}-{5 upper}-{5 upper}-{5 upper}"),
    ("Adobe", "p8e-{32 alnum}"),
    ("age", "AGE-SECRET-KEY-1{58 upper}"),
    ("Airtable", "pat{14 alnum}.{64 hex}"),
    ("Alibaba", "LTAI{20 alnum}"),
    ("Anthropic", "sk-ant-api03-{93 word}AA"),
    ("Artifactory", "AKCp{69 alnum}"),
    ("AWS key id", "AKIA{16 upper}"),
    ("AWS key", "{40 base64}"),
    ("AWS temporary", "ASIA{16 upper}"),
    ("Clojars", "CLOJARS_{60 alnum}"),
    ("Databricks", "dapi{32 hex}"),
    ("DigitalOcean", "dop_v1_{64 hex}"),
    ("Docker", "dckr_pat_{27 word}"),
    ("Doppler", "dp.pt.{43 alnum}"),
    ("Duffel", "duffel_live_{43 word}"),
    ("Dynatrace", "dt0c01.{24 upper}.{64 upper}"),
    ("EasyPost", "EZAK{54 alnum}"),
    ("Fly", "fo1_{43 word}"),
    ("GitHub", "ghp_{36 alnum}"),
    ("GitHub fine-grained", "github_pat_{82 word}"),
    ("GitHub server", "ghs_{36 alnum}"),
    ("GitLab", "glpat-{20 word}"),
    ("GitLab deploy", "gldt-{20 word}"),
    ("GitLab runner", "glrt-{20 word}"),
    ("GitLab trigger", "glptt-{40 hex}"),
    ("Google", "AIza{35 word}"),
    ("Google client", "GOCSPX-{28 word}"),
    ("Google OAuth", "ya29.{60 word}"),
    ("Grafana", "glsa_{32 alnum}_{8 hex}"),
    ("Groq", "gsk_{52 alnum}"),
    ("Heroku", "HRKU-AA{58 word}"),
    ("Hugging Face", "hf_{34 alnum}"),
    ("Infracost", "ico-{32 alnum}"),
    ("JWT", "eyJhbGciOiJIUzI1NiJ9.eyJ{24 alnum}.{43 word}"),
    ("Linear", "lin_api_{40 alnum}"),
    ("Mailgun", "key-{32 hex}"),
    ("New Relic", "NRAK-{27 upper}"),
    ("Notion", "ntn_{11 digit}{35 alnum}"),
    ("npm", "npm_{36 alnum}"),
    ("Octopus", "API-{26 upper}"),
    ("OpenAI", "sk-{48 alnum}"),
    ("OpenAI project", "sk-proj-{74 word}"),
    ("Perplexity", "pplx-{48 alnum}"),
    ("PlanetScale", "pscale_pw_{43 word}"),
    ("Postman", "PMAK-{24 hex}-{34 hex}"),
    ("Prefect", "pnu_{36 alnum}"),
    ("Pulumi", "pul-{40 hex}"),
    ("PyPI", "pypi-AgEIcHlwaS5vcmc{60 word}"),
    ("Readme", "rdme_{70 alnum}"),
    ("RubyGems", "rubygems_{48 hex}"),
    ("SendGrid", "SG.{22 word}.{43 word}"),
    ("Sendinblue", "xkeysib-{64 hex}-{16 alnum}"),
    ("Sentry", "sntryu_{64 hex}"),
    ("Shippo", "shippo_live_{40 hex}"),
    ("Shopify", "shpat_{32 hex}"),
    ("Slack app", "xapp-1-{11 upper}-{13 digit}-{64 hex}"),
    ("Slack bot", "xoxb-{12 digit}-{12 digit}-{24 alnum}"),
    ("Square", "sq0atp-{22 word}"),
    ("Stripe", "sk_live_{24 alnum}"),
    ("Tailscale", "tskey-auth-k{10 alnum}CNTRL-{32 alnum}"),
    ("Twilio", "SK{32 hex}"),
    ("Vault", "hvs.{90 word}"),
    ("xAI", "xai-{80 alnum}"),
    ("unknown key", "{32 alnum}"),
];

/// Names of secrets, as words. Values of the sure names may be ordinary words; bare names need no
/// operator.
const NAMES: &[(&str, Suspicion)] = &[
    ("password", Suspicion::Bare),
    ("passwd", Suspicion::Bare),
    ("db password", Suspicion::Bare),
    ("passphrase", Suspicion::Bare),
    ("client secret", Suspicion::Bare),
    ("api key", Suspicion::Bare),
    ("secret access key", Suspicion::Bare),
    ("license key", Suspicion::Bare),
    ("auth key", Suspicion::Bare),
    ("vault secret id", Suspicion::Bare),
    ("webhook", Suspicion::Bare),
    ("x auth key", Suspicion::Bare),
    ("auth token", Suspicion::Bare),
    ("pwd", Suspicion::Sure),
    ("db pass", Suspicion::Sure),
    ("gitlab pat", Suspicion::Sure),
    ("token", Suspicion::Sure),
    ("jwt", Suspicion::Sure),
    ("cookie", Suspicion::Sure),
    ("x auth", Suspicion::Weak),
    ("pass", Suspicion::Weak),
    ("auth", Suspicion::Weak),
    ("bearer", Suspicion::Weak),
    ("session id", Suspicion::Weak),
];

#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Suspicion {
    Weak,
    Sure,
    Bare,
}

/// Values of names; the last one is an ordinary word.
const VALUES: &[&str] =
    &["hunter2x", "s3cr3tPW", "0af7651916cd43dd8448eb211c80319c1b2d3e4f", "correcthorse"];

/// Texts with a name and its value. `@` is the name as words; `a-b`, `a_b`, `A_B`, `aB` and `A-B`
/// are its other spellings.
const NAMED: &[(&str, &str)] = &[
    ("argv", "prog --a-b {} --n 4"),
    ("argv", "prog --a-b={} --n 4"),
    ("argv", "prog -H 'A-B: {}' --n 4"),
    ("argv", "prog --a-b '{}' --n 4"),
    ("env", "A_B={} ./run --n 4"),
    ("env", "export A_B=\"{}\" # --n 4"),
    ("URL", "https://h.example/p?a_b={}&n=4"),
    ("JSON", "{\"aB\":\"{}\",\"n\":4}"),
    ("JSON", "{\"a_b\": \"{}\", \"n\": 4}"),
    ("log", "10:31:02 INFO a_b={} n=4"),
    ("log", "10:31:02 INFO a_b := {} n=4"),
    ("log", "10:31:02 INFO a_b => {} n=4"),
    ("log", "10:31:02 INFO a_b -> {} n=4"),
    ("log", "10:31:02 INFO a_b → {} n=4"),
    ("log", "\x1b[1ma_b\x1b[0m = {} n=4"),
    ("log", "a\u{200b}_b={} n=4"),
    ("HTML", "a_b=<b>{}</b> n=4"),
    ("HTML", "<code>a_b=&quot;{}&quot;</code> n=4"),
    ("HTML", "<code>a_b =&gt; {}</code> n=4"),
];

/// Texts for names that need no operator.
const LOOSE: &[(&str, &str)] = &[
    ("log", "a_b\t{}\tn=4"),
    ("log", "login bob a_b {} n=4"),
    ("log", "a_b\n{}\nn=4"),
    ("log", "a_b:\n  {}\nn=4"),
    ("log", "@: {} n=4"),
    ("log", "- name: A_B\n  value: {}\nn=4"),
    ("HTML", "<tr><td>a_b</td><td>{}</td></tr> n=4"),
    ("HTML", "<b>a_b</b> {} n=4"),
    ("HTML", "<aB>{}</aB> n=4"),
    ("HTML", "<input name=\"a_b\" value=\"{}\"> n=4"),
    ("env", "A_B {} n=4"),
];

/// Lines whose form shows that a part of them is a secret.
const LINES: &[(&str, &str)] = &[
    ("curl -u", "curl -u bob:{} host"),
    ("curl -u, a word", "curl -u bob:{correcthorse} host"),
    ("curl -ubob", "curl -ubob:{} host"),
    ("curl --user", "curl --user bob:{} host"),
    ("curl --user=", "curl --user=bob:{correcthorse} host"),
    ("curl --proxy-user", "curl --proxy-user bob:{} host"),
    ("-u of another program", "fetch -u bob:{} host"),
    ("http --auth", "http --auth bob:{correcthorse} host"),
    ("--auth=", "prog --auth={}"),
    ("--pass", "prog --pass {}"),
    ("--pass=, a word", "prog --pass={correcthorse}"),
    ("a password with a blank", "prog --password '{correct horse}' x"),
    ("the same behind an operator", "SET password = '{correct horse}' x"),
    ("--pat", "prog --pat {t0Ken5ofSomeone}"),
    ("--bearer", "prog --bearer {}"),
    ("--license-key", "prog --license-key {}"),
    ("--license-key, a word", "prog --license-key={correcthorse}"),
    ("--session-id", "prog --session-id {}"),
    ("mysql -p", "mysql -uroot -p{} db"),
    ("useradd -p", "useradd -m -p {} ann"),
    ("mysqldump -p", "/usr/bin/mysqldump -p{correcthorse} db"),
    ("sshpass -p", "sshpass -p {} ssh host"),
    ("redis-benchmark -a", "redis-benchmark -a {} -n 1000"),
    ("ab -A", "ab -A bob:{} -n 1000 host"),
    ("ldapsearch -w", "ldapsearch -D cn=x -w {} -b dc=y"),
    ("unzip -P", "unzip -P {} x.zip"),
    ("X-Auth-Key", "curl -H 'X-Auth-Key: {}' host"),
    ("X-Api-Key", "curl -H X-Api-Key:{} host"),
    ("X-Session", "curl -H 'X-Session: {}' host"),
    ("X-Custom-Signature", "curl -H 'X-Custom-Signature: {}' host"),
    ("Authorization: Token", "curl -H 'Authorization: Token {}' host"),
    ("Authorization: Basic", "curl -H 'Authorization: Basic {dXNlcjpwYXNz}' host"),
    ("Proxy-Authorization", "curl -H 'Proxy-Authorization: Bearer {abc123def456}' host"),
    ("?sig=", "get https://h.example/c/b?sv=2022&sig={q8Vd%2Fk3uXa%3D}&se=2026"),
    (
        "X-Amz-Signature",
        "get https://h.example/o?X-Amz-Date=2026&X-Amz-Signature={9f86d081884c7d65}&n=1",
    ),
    ("X-Goog-Signature", "get https://h.example/o?X-Goog-Signature={9f86d081884c7d65}&n=1"),
    ("CloudFront", "get https://h.example/o?Expires=1&Signature={kTz-4fjq~Hk8s2}&n=1"),
    ("?key=", "get https://h.example/o?key={qwertyuiop12345678}&n=1"),
    ("?access_token=", "get https://h.example/o?access_token={}&n=1"),
    ("login in an address", "get https://bob:{}@h.example/x"),
    ("IDENTIFIED BY", "ALTER USER bob IDENTIFIED BY '{correcthorse}' x"),
    ("identified by, unquoted", "SQL: create user bob identified by {} x"),
    ("IDENTIFIED WITH", "CREATE USER bob IDENTIFIED WITH native BY '{correcthorse}' x"),
    ("PASSWORD", "ALTER ROLE bob PASSWORD '{}' x"),
    ("PASSWORD, a word", "ALTER ROLE bob PASSWORD '{correcthorse}' x"),
    ("PASSWORD()", "UPDATE x SET y = PASSWORD('{correcthorse}') z"),
    ("password, a word", "SQL: create user bob with password '{correcthorse}' x"),
    ("jdbc:oracle", "java -jar x.jar jdbc:oracle:thin:bob/{}@h.example:1521/x"),
    ("jdbc parameters", "java x jdbc:postgresql://h.example/db?user=bob&password={}&n=1"),
    ("jdbc login", "java x jdbc:mysql://bob:{}@h.example/db"),
    ("openssl", "openssl enc -pass pass:{} -in x"),
    ("-Dpassword", "java -Dstore.password={correcthorse} x"),
    ("docker login", "docker login -u bob -p {correcthorse} r.example"),
    ("docker login -p", "docker login -p {} -u bob r.example"),
    ("docker login -pPW", "docker login -u bob -p{} r.example"),
    ("docker login -p=PW", "docker login -u bob -p={} r.example"),
    ("podman login", "cd /srv && /usr/bin/podman login -u bob -p {} && podman run -p 80:80 x"),
    ("helm registry login", "helm registry login r.example -u bob -p {correcthorse}"),
    ("login of any program", "tool login --user=bob -p {correcthorse}"),
    ("az login", "az login -u bob -p {correcthorse}"),
    ("--password-stdin", "sh -c 'echo {correcthorse} | docker login -u bob --password-stdin'"),
    ("--password-stdin of printf", "sh -c 'printf {}|docker login -u bob --password-stdin'"),
    ("chpasswd", "sh -c 'echo bob:{correcthorse} | chpasswd'"),
    ("chpasswd with a blank", "Then echo 'bob:{correct horse}' | sudo /usr/sbin/chpasswd -c X"),
    ("sqlplus", "sqlplus scott/{correcthorse}@db"),
    ("sqlplus -s", "sqlplus -s scott/{s3cr#t!}@//h.example:1521/x @run.sql"),
    ("expdp", "expdp userid=system/{correcthorse}@db full=y"),
    ("password is", "The password is {} now"),
    ("password is:", "Your database password is: {} now"),
    ("AUTH", "redis-cli AUTH {correcthorse}"),
    ("AUTH of a user", "redis-cli -h db -p 6379 AUTH bob {correcthorse}"),
    ("AUTH in a log", "Sent AUTH {} to db"),
    ("pass=, a word", "Login as bob, pass={correcthorse} n=4"),
    ("?pass=, a word", "get https://h.example/x?user=bob&pass={correcthorse}&n=4"),
];

/// Forms in which a line or a value is recorded; `{}` is its place. In HTML it is escaped.
const FORMS: &[(&str, &str)] = &[
    ("argv", "{}"),
    ("argv", "env LANG=C {}"),
    ("env", "COMMAND=\"{}\""),
    ("JSON", "{\"command\":\"{}\",\"n\":4}"),
    ("TOML", "command = \"{}\"\nn = 4"),
    ("log", "10:31:02 INFO ran {} in 3 ms"),
    ("HTML", "<li class=x><code>{}</code></li>"),
];

/// Forms in which a file is recorded.
const FILE_FORMS: &[(&str, &str)] = &[
    ("log", "{}"),
    ("log", "$ cat x\n{}\n$"),
    ("JSON", "{\"stdout\":\"{}\",\"n\":4}"),
    ("escaped", "{\"stdout\":\"{}\"}"),
    ("HTML", "<pre>{}</pre>"),
];

/// Forms in which a single value is recorded.
const ALONE: &[(&str, &str)] = &[
    ("argv", "prog --x {} --n 4"),
    ("argv", "prog --x={}"),
    ("env", "X={} ./run"),
    ("URL", "https://h.example/p?x={}&n=4"),
    ("JSON", "{\"x\":\"{}\",\"n\":4}"),
    ("TOML", "x = \"{}\""),
    ("log", "10:31:02 INFO using {} now"),
    ("HTML", "<td>{}</td>"),
];

/// Single values that are not secrets.
const INNOCENT: &[&str] = &[
    "6684bb6d9c2f1b0a7e5d4c3b2a19080706050403",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "d41d8cd98f00b204e9800998ecf8427e",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
    "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6\
    +SfaPg==",
    "v6.12.41-g6684bb6d9c2f",
    "550e8400-e29b-41d4-a716-446655440000",
    "20261121-093000-1a2b",
    "2026-11-28T10:31:02Z",
    "10:31:02.123456",
    "0x9E3779B97F4A7C15ULL",
    "/usr/lib/x86_64-linux-gnu/libpthread.so.0",
    "/nix/store/7jr0v2g8c4xz1m5k9q3b6w0d8f2h4s6a-zstd-1.5.6/bin/zstd",
    "/tmp/q7Zt0XvB2mLk9RfWc4Ye8PnH",
    "./cache/q7Zt0XvB2mLk9RfWc4Ye8PnH",
    "QmFzZTY0TGlrZUZpbGVOYW1l7x.dat",
    "target/release/deps/assay-1949cf8c6b5b557f",
    "AbstractSingletonProxyFactoryBean2Impl",
    "org.openjdk.jmh.samples.JMHSample_01_HelloWorld",
    "linux-image-6.12.41+deb13-amd64",
    "x86_64-unknown-linux-gnu",
    "sk-learn-1.5.2-cp311-manylinux2014_x86_64",
    "key-value-store-size-4096",
    "1.2.3-rc.1+build.5",
    "scram-sha-256",
    "1500",
    "12.5ms",
    "4KiB",
];

/// Lines without any secret.
const ORDINARY: &[&str] = &[
    "sort -u words.txt",
    "sort -u -k 2:3 words.txt",
    "date -u +%Y-%m-%dT%H:%M:%SZ",
    "stress-ng -u 8",
    "git push -u origin HEAD:main",
    "rsync -u host:src/a.c dst",
    "cp -u a b",
    "docker run --user 1000 img",
    "docker run --user 1000:1000 img",
    "docker run -u www-data:www-data img",
    "curl -u bob host",
    "curl -u bob:$PW host",
    "ab -n 1000 -P 8 -A 4 host",
    "mysql -uroot -p db",
    "redis-benchmark -p 6379 -n 1000",
    "gcc -pthread -pipe -pg x.c",
    "ssh -p 2222 host",
    "x264 --pass 2 --bitrate 800 in.y4m",
    "vpxenc --passes=2 --pass=1 in.y4m",
    "prog --auth basic",
    "prog --auth=scram-sha-256",
    "prog --user=postgres --auth-type md5",
    "prog --pat 'x*.c'",
    "prog --password-file /run/secrets/db --token-file=./token",
    "prog --password=$PGPASSWORD --token {token}",
    "prog --password-length 12345",
    "prog --session-id 12",
    "git -c credential.helper=store fetch",
    "openssl s_client -key /etc/ssl/key.pem -cert x.pem",
    "get https://h.example/o?key=name&sort=sig&code=200",
    "12 passed: 12, pass: 120, fail: 3",
    "PASS: test_case12 (0.01s)",
    "pass=first pass=2 pass: warm-up",
    "tokens: 1500 tokens/s, time per token: 12.5ms, token 4096 of 8192",
    "password authentication is off",
    "the password of the user, if any",
    "password sha256 of 3 users",
    "secret = none, auth: enabled",
    "author: Bob2000, authority=h2, keyword: k2b3c4",
    "a run is identified by its id",
    "Basic block vectorization, bearer of news",
    "a -> b, x => y, key: value1, sort_key: abc123",
    "signature=0x1f, sig=SIGTERM, sig: 11",
    "Password::hash(x) and password == other",
    "X-Request-Id: 550e8400-e29b-41d4-a716-446655440000",
    "jdbc:oracle:thin:@h.example:1521:x",
    "http://example.org/a@b",
    "docker run -p 80:80 -p 127.0.0.1:8080:80/tcp img",
    "docker run --name login -u www -p 8080:80/tcp img",
    "docker login r.example && docker run -p 8080:80/tcp img",
    "docker login -u bob -p $PW r.example",
    "docker login -u bob --password-stdin r.example",
    "echo $PW | docker login -u bob --password-stdin",
    "mkdir -p build123",
    "cd login && mkdir -p build123",
    "mkdir -p /srv/login && mkdir -p build123",
    "cargo test login -p assay-server2",
    "ssh -p 22 login -p 2222",
    "echo bob:$PW | chpasswd",
    "cat users1.txt | chpasswd",
    "echo start && cat users1.txt | chpasswd",
    "chpasswd reads user:password from a pipe",
    "sqlplus / as sysdba",
    "sqlplus bob@db @x/run1.sql",
    "sqlplus bob/$PW@db",
    "scp a/b1c2d3@host x",
    "the password is required",
    "password is wrong, passphrase is empty",
    "password is too short: 3 of 12 characters",
    "a secret is isolated",
    "password is $PW",
    "AUTH is required, NOAUTH, AUTH failed",
    "the AUTH command",
    "SMTP AUTH LOGIN, AUTH PLAIN",
    "redis-cli sends AUTH before every command",
    "auth method1",
    "PASSWORD '$PW'",
    "unknown password 'policy' of the file",
    "PASSWORD is 'required'",
    "pass=12 fail=3",
    "pass=true, pass=warm-up, pass=failed",
    "bypass=swordfish, compass=correcthorse",
    "pass=loop-unroll",
];

/// Pieces of text that may start, end or hide a secret.
const PIECES: &[&str] = &[
    "password",
    "=",
    ":",
    "$",
    " ",
    "\n",
    "\"",
    "'",
    "\\",
    "a",
    "1",
    "é",
    "token:",
    "TOKEN -> ",
    "pass=",
    "-u",
    "-u ",
    "-ua:",
    "-p",
    "-p x",
    "mysql ",
    "docker login ",
    "Bearer ",
    "bearer",
    "://",
    "x@",
    "http://hooks.slack.com/",
    "<b ",
    "<i>",
    "</password>",
    "<password>",
    "glpat-",
    "ghp_",
    "q7Zt0XvB2mLk9RfWc4Ye8PnH",
    "jdbc:",
    "scott/tiger",
    "sqlplus ",
    "AUTH ",
    "redis-cli ",
    "echo x:y|",
    "USER x\nPASS ",
    "> PASS ",
    "Private-Lines: 1\n",
    "htpasswd -b ",
    "SET PASSWORD FOR ",
    "argv [\"password\",",
    "nonce response=",
    "chpasswd",
    "-----BEGIN ",
    "-----END ",
    "PRIVATE KEY-----",
    "IDENTIFIED ",
    "by",
    "PASSWORD (",
    "password is ",
    "value",
    "license key",
    "(",
    "&quot;",
    "\x1b[",
    "\u{200b}",
];

/// Random numbers by SplitMix64, so that the texts are the same everywhere.
struct TextRng(u64);

impl TextRng {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    }

    /// Returns a token of this pattern.
    fn token(&mut self, pattern: &str) -> String {
        let mut out = String::new();
        for piece in pattern.split('{') {
            let Some((drawn, rest)) = piece.split_once('}') else {
                out.push_str(piece);
                continue;
            };
            let (count, alphabet) = drawn.split_once(' ').unwrap();
            let (capitals, digits) = ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789");
            let set: Vec<char> = match alphabet {
                "digit" => digits.to_owned(),
                "hex" => format!("{digits}abcdef"),
                "upper" => format!("{capitals}234567"),
                "alnum" => format!("{capitals}{digits}{}", capitals.to_lowercase()),
                "word" => format!("{capitals}{digits}{}-_", capitals.to_lowercase()),
                "base64" => format!("{capitals}{digits}{}+/", capitals.to_lowercase()),
                _ => panic!("{alphabet}"),
            }
            .chars()
            .collect();
            (0..count.parse().unwrap()).for_each(|_| out.push(set[self.next(set.len())]));
            out.push_str(rest);
        }
        out
    }
}

/// Returns what a run would record of a text in this form; `None` if an experiment with it is
/// refused.
fn kept(form: &str, text: &str) -> Option<String> {
    match form {
        "argv" => {
            let experiment = json!({ "params": { "command": text } });
            let refused = token_in(&experiment).is_some();
            assert_eq!(refused, without_tokens(text) != text, "one detector decides: {text}");
            (!refused).then(|| text.to_owned())
        }
        "JSON" => {
            let redactor = Redactor::secrets(RedactionKey::new(*b"k"), Vec::new());
            let clean = redactor.json("x.json", text).into_owned();
            assert!(serde_json::from_str::<Value>(&clean).is_ok(), "{clean}");
            Some(clean)
        }
        _ => Some(without_tokens(text).into_owned()),
    }
}

/// Inserts a text into a form.
fn put(form: &str, template: &str, text: &str) -> String {
    let text = match form {
        "JSON" | "TOML" | "escaped" => {
            let text = text.replace('\\', "\\\\").replace('"', "\\\"");
            text.replace('\n', "\\n").replace('\r', "\\r").replace('\t', "\\t")
        }
        "HTML" => {
            let text = text.replace('&', "&amp;").replace('\'', "&#39;");
            text.replace('<', "&lt;").replace('>', "&gt;")
        }
        _ => text.to_owned(),
    };
    template.replacen("{}", &text, 1)
}

/// Returns a text without the marks of its secrets, and the secrets.
fn marked(text: &str) -> (String, Vec<String>) {
    let text = text.replace("«»", "«hunter2x»");
    let secrets = text.split('«').skip(1).map(|rest| rest.split('»').next().unwrap().to_owned());
    (text.replace(['«', '»'], ""), secrets.collect())
}

/// Inserts the spellings of a name: `a-b`, `a_b`, `A_B`, `aB`, `A-B`, and the words.
fn spelled(template: &str, name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    let words: Vec<&str> = name.split(' ').collect();
    let camel: String = words[1..].iter().map(|word| capital(word)).collect();
    let header: Vec<String> = words.iter().map(|word| capital(word)).collect();
    let hidden = words.join("_");
    template
        .replace("a-b", &words.join("-"))
        .replace("a\u{200b}_b", &format!("{}\u{200b}{}", &hidden[..1], &hidden[1..]))
        .replace("a_b", &words.join("_"))
        .replace("A_B", &words.join("_").to_uppercase())
        .replace("aB", &format!("{}{camel}", words[0]))
        .replace("A-B", &header.join("-"))
        .replace('@', name)
}

/// Counts of one table.
#[derive(Default)]
struct TableCounts {
    /// Kind of the texts that are being checked.
    kind: &'static str,
    texts: usize,
    wrong: Vec<String>,
}

impl TableCounts {
    /// Checks that a secret is removed and that the text after it is kept.
    fn secret(&mut self, form: &str, text: &str, secret: &str) {
        self.secrets(form, text, &[secret.to_owned()]);
    }

    /// Checks that secrets are removed and that the text after the last one is kept.
    fn secrets(&mut self, form: &str, text: &str, secrets: &[String]) {
        self.texts += 1;
        let secrets: Vec<String> = secrets.iter().map(|s| put(form, "{}", s)).collect();
        let last = secrets.last().unwrap();
        let end: String = text[text.rfind(last).unwrap() + last.len()..].to_owned();
        let end = end.trim_start_matches(['=', '"', '\'']);
        // `None`: the experiment is refused.
        let Some(clean) = kept(form, text) else { return };
        if secrets.iter().any(|secret| clean.contains(secret)) {
            self.wrong.push(format!("{}, {form}: published: {clean}", self.kind));
        } else if !["JSON", "escaped"].contains(&form) && !clean.ends_with(end) {
            self.wrong.push(format!("{}, {form}: {text}\n  became {clean}", self.kind));
        }
    }

    fn innocent(&mut self, form: &str, text: &str) {
        self.texts += 1;
        let clean = kept(form, text);
        if clean.as_deref() != Some(text) {
            self.wrong
                .push(format!("{form}: {text}\n  became {}", clean.unwrap_or("refused".into())));
        }
    }

    fn print(&self, what: &str, kinds: usize, forms: usize) -> usize {
        println!(
            "{what}: {kinds} kinds, {forms} forms, {} texts, {} wrong",
            self.texts,
            self.wrong.len()
        );
        self.wrong.iter().for_each(|text| println!("  {text}"));
        self.wrong.len()
    }
}

thread_local! {
    static WORK: Cell<usize> = const { Cell::new(0) };
}

/// Counts bytes that the detector reads in addition to its pass over the text.
pub(super) fn read(bytes: usize) {
    WORK.set(WORK.get() + bytes);
}

fn work(text: &str) -> usize {
    WORK.set(0);
    let _ = without_tokens(text);
    WORK.get()
}

#[test]
fn the_work_grows_with_the_text() {
    for first in PIECES {
        for second in ["", "=", ":", " ", "\"", "'", "\\", "$", "a", "1", "é", "<i>"] {
            let piece = format!("{first}{second}");
            let times = 5000 / piece.len();
            let (once, twice) = (work(&piece.repeat(times)), work(&piece.repeat(2 * times)));
            assert!(twice <= 5 * once / 2 + 20_000, "{piece:?}: {once}, {twice}");
        }
    }
}

#[test]
fn texts_of_a_megabyte_are_searched() {
    for piece in ["password=", "token:", "Bearer ", "-u ", "-u -u=", "=", "\"", "'", "a"] {
        let text = piece.repeat(1_000_000 / piece.len());
        let clean = without_tokens(&text).into_owned();
        assert_eq!(without_tokens(&clean), clean, "done twice: {piece}");
        let text = format!("{text} password=hunter2x end");
        assert!(!without_tokens(&text).contains("hunter2x"), "{piece}");
    }
}

#[test]
fn secrets_go_and_ordinary_values_stay_in_every_form() {
    let mut draw = TextRng(1);
    let mut wrong = 0;

    let mut count = TableCounts::default();
    for (kind, pattern) in TOKENS {
        count.kind = kind;
        for (form, template) in ALONE {
            for _ in 0..4 {
                let token = draw.token(pattern);
                count.secret(form, &put(form, template, &token), &token);
            }
        }
    }
    wrong += count.print("tokens of services", TOKENS.len(), ALONE.len());

    let mut count = TableCounts::default();
    for (name, level) in NAMES {
        count.kind = name;
        let loose = LOOSE.iter().filter(|_| *level == Suspicion::Bare).map(|form| (form, 3));
        let values = if *level == Suspicion::Weak { 3 } else { 4 };
        for ((form, template), values) in NAMED.iter().map(|form| (form, values)).chain(loose) {
            for value in &VALUES[..values] {
                count.secret(form, &put(form, &spelled(template, name), value), value);
            }
        }
    }
    wrong += count.print("named values", NAMES.len(), NAMED.len() + LOOSE.len());

    let mut count = TableCounts::default();
    let braces = LINES.iter().map(|(kind, l)| (*kind, l.replace('{', "«").replace('}', "»")));
    let others = kinds::SECRETS.iter().map(|(kind, line)| (*kind, (*line).to_owned()));
    for (kind, line) in braces.chain(others) {
        count.kind = kind;
        let (line, secrets) = marked(&line);
        for (form, template) in FORMS {
            count.secrets(form, &put(form, template, &line), &secrets);
        }
        if line.starts_with(char::is_lowercase) {
            let pieces = line.split('\'').enumerate();
            let words: Vec<&str> = pieces
                .flat_map(|(i, piece)| match i % 2 {
                    0 => piece.split_whitespace().collect(),
                    _ => vec![piece],
                })
                .collect();
            count.secrets("JSON", &json!({ "argv": words }).to_string(), &secrets);
        }
    }
    wrong += count.print("lines", LINES.len() + kinds::SECRETS.len(), FORMS.len() + 1);

    let mut count = TableCounts::default();
    for (kind, file) in kinds::FILES {
        count.kind = kind;
        let (file, secrets) = marked(file);
        for (form, template) in FILE_FORMS {
            count.secrets(form, &put(form, template, &file), &secrets);
        }
    }
    wrong += count.print("files", kinds::FILES.len(), FILE_FORMS.len());

    let mut count = TableCounts::default();
    for value in INNOCENT {
        for (form, template) in ALONE {
            count.innocent(form, &put(form, template, value));
        }
    }
    wrong += count.print("ordinary values", INNOCENT.len(), ALONE.len());

    let mut count = TableCounts::default();
    for line in ORDINARY.iter().chain(kinds::KEPT) {
        for (form, template) in FORMS {
            count.innocent(form, &put(form, template, line));
        }
    }
    wrong += count.print("ordinary lines", ORDINARY.len() + kinds::KEPT.len(), FORMS.len());
    assert_eq!(wrong, 0);
}
