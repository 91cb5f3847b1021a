//! A server in a world of its own, and requests to it over a plain socket.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use super::{World, eventually};

/// A server that is killed at the end of its test.
pub struct Served {
    pub child: Child,
    client: Client,
}

impl std::ops::Deref for Served {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Sender of requests to a server.
pub struct Client {
    pub address: String,
    pub token: String,
}

/// Response to an HTTP request.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

/// Starts a server with the world's folder `experiments`.
pub fn serve(world: &World, more: &[&str]) -> Served {
    serve_with(world, more, Stdio::inherit())
}

/// Starts a server like [`serve`], with its standard error sent to `stderr`.
pub fn serve_with(world: &World, more: &[&str], stderr: Stdio) -> Served {
    let folder = world.path("experiments");
    std::fs::create_dir_all(&folder).unwrap();
    let place = world.path("state/serve.address");
    let _ = std::fs::remove_file(&place);
    let folder = folder.display().to_string();
    let mut arguments = vec!["serve", folder.as_str(), "--listen", "127.0.0.1:0"];
    arguments.extend(more);
    let child = world.assay(&arguments).stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
    let address = eventually("the server is there", || {
        let text = std::fs::read_to_string(&place).ok()?;
        let address = text.trim().to_owned();
        TcpStream::connect(&address).ok().map(|_| address)
    });
    let token = std::fs::read_to_string(world.path("state/serve.token")).unwrap().trim().to_owned();
    Served { child, client: Client { address, token } }
}

impl Client {
    /// Sends bytes unchanged and reads the response until the connection closes.
    pub fn raw(&self, bytes: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(300))).ok()?;
        // A server may respond and close before it has read everything.
        let _ = stream.write_all(bytes);
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all);
        let text = String::from_utf8_lossy(&all).into_owned();
        let (head, body) = text.split_once("\r\n\r\n")?;
        let status = head.get(9..12)?.parse().ok()?;
        Some(Answer { status, head: head.to_owned(), body: body.to_owned() })
    }

    /// Sends a request with these header lines.
    pub fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut text = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|h| h.starts_with("Host:")) {
            let _ = write!(text, "Host: {}\r\n", self.address);
        }
        for header in headers {
            text.push_str(header);
            text.push_str("\r\n");
        }
        let _ = write!(text, "Content-Length: {}\r\n\r\n{body}", body.len());
        self.raw(text.as_bytes()).unwrap()
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[&format!("Authorization: Bearer {}", self.token)], "")
    }

    pub fn post(&self, path: &str, body: &serde_json::Value) -> Answer {
        let token = format!("Authorization: Bearer {}", self.token);
        self.ask("POST", path, &[&token, "Content-Type: application/json"], &body.to_string())
    }
}

impl Served {
    /// Submits an experiment, and returns the number of its job.
    pub fn submit(&self, experiment: &str) -> u64 {
        let answer = self.post("/api/v1/jobs", &serde_json::json!({ "experiment": experiment }));
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.json()["id"].as_u64().unwrap()
    }

    pub fn job(&self, id: u64) -> serde_json::Value {
        self.get(&format!("/api/v1/jobs/{id}")).json()
    }

    /// Waits until a job has this state, and returns it.
    pub fn until(&self, id: u64, state: &str) -> serde_json::Value {
        let mut job = serde_json::Value::Null;
        super::patiently(|| {
            // Slower than the server's limit of requests, which a test would else use up.
            std::thread::sleep(Duration::from_millis(100));
            job = self.job(id);
            (job["state"] == state).then_some(())
        });
        assert_eq!(job["state"], state, "job {id}: {job}");
        job
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Writes an experiment `name` of 3 blocks with two levels. Its kit reports operations and
/// latencies over time.
#[allow(dead_code)] // not every test uses it
pub fn beats(world: &World, name: &str) {
    std::fs::create_dir_all(world.path("experiments/beats")).unwrap();
    world.write(
        "experiments/beats/kit.toml",
        "name = \"beats\"\nversion = \"1\"\nhelp = \"says how it beats\"\n\
         [[param]]\nname = \"size\"\ntype = \"int\"\nmin = 1\nmax = 9\ndefault = 1\n\
         help = \"how much\"\n\
         [run]\ncommand = [\"sh\", \"{kit}/beats.sh\", \"{size}\"]\nprotocol = true\n\
         [[metric]]\nname = \"rate\"\nunit = \"ops/s\"\nbetter = \"higher\"\nhelp = \"beats\"\n\
         from = \"protocol\"\n",
    );
    world.write(
        "experiments/beats/beats.sh",
        "t=$(awk '{ printf \"%.0f\", $1 * 1e9 }' /proc/uptime)\n\
         say() { printf '%s\\n' \"$1\" >&3; }\n\
         say '{\"phase\":\"steady\"}'\n\
         for i in 1 2 3; do\n\
         say \"{\\\"sample\\\":\\\"done\\\",\\\"t_ns\\\":$((t + i * 100000000)),\\\
         \"value\\\":$(($1 * i)),\\\"unit\\\":\\\"ops/s\\\"}\"\n\
         sleep 0.1\n\
         done\n\
         say \"{\\\"heat\\\":\\\"response_time\\\",\\\"unit\\\":\\\"ns\\\",\
         \\\"start_ns\\\":$t,\\\"column_ns\\\":100000000,\
         \\\"edges\\\":[1000,2000,4000],\
         \\\"counts\\\":[[7,1],[0,$1],[2,2]]}\"\n\
         say \"{\\\"metric\\\":\\\"rate\\\",\\\"value\\\":$(($1 * 1000 + $$ % 7)),\
         \\\"unit\\\":\\\"ops/s\\\"}\"\n",
    );
    world.write(
        &format!("experiments/{name}.toml"),
        &format!(
            "name = \"{name}\"\nworkload = \"./beats\"\n[factors]\nsize = [1, 2]\n\
             [design]\nblocks = 3\n[observe]\nmonitors = [\"cpu\"]\ninterval = \"100 ms\"\n"
        ),
    );
}

/// Writes an experiment of `blocks` blocks with two commands that sleep.
pub fn sleeper(world: &World, name: &str, seconds: &str, blocks: u32) -> PathBuf {
    std::fs::create_dir_all(world.path("experiments")).unwrap();
    let mark = world.path(&format!("{name}.did")).display().to_string();
    world.write(
        &format!("experiments/{name}.toml"),
        &format!(
            "name = \"{name}\"\ntitle = \"Is one sleep longer?\"\nworkload = \"command\"\n\
             [params]\nshell = \"sh\"\n[factors]\n\
             command = [\"echo a >> {mark}; sleep {seconds}\", \"echo b >> {mark}; sleep \
             {seconds}\"]\n\
             [design]\nblocks = {blocks}\n[observe]\nmonitors = [\"cpu\"]\n"
        ),
    )
}
