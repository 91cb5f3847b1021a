//! A small client of Chromium's DevTools protocol over a pipe: JSON messages that end with a NUL,
//! on the browser's file descriptors 3 and 4.
#![allow(clippy::print_stdout)] // prints why a test is skipped

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

use super::served::Served;
use super::{World, eventually};

/// JavaScript that is true if nothing on a page is wider than the screen.
pub const FITS: &str = "document.documentElement.scrollWidth <= window.innerWidth";

/// A Chromium process with one page.
pub struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: String,
    next: u64,
    /// Errors that the page reported.
    pub complaints: Vec<String>,
}

/// Returns the name of the browser's program, or prints why there is no browser.
pub fn program() -> Option<&'static str> {
    let found = ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        println!("skipped: because no Chromium is installed (Debian package chromium)");
    }
    found
}

impl Browser {
    /// Starts a browser with a desktop's window, signed in to a server and showing its queue.
    pub fn signed_in(program: &str, world: &World, served: &Served) -> Self {
        let mut browser = Browser::start(program, &world.path("."));
        browser.size(1280, 900);
        browser.sign_in(served);
        browser
    }

    /// Signs in with the server's token, and waits for its queue.
    pub fn sign_in(&mut self, served: &Served) {
        self.go(&format!("http://{}/login#token={}", served.address, served.token));
        self.until("location.pathname === '/queue' && document.readyState === 'complete'");
    }

    pub fn start(program: &str, folder: &Path) -> Self {
        let (to, from) = (folder.join("to-browser"), folder.join("from-browser"));
        let made = Command::new("mkfifo").args([&to, &from]).status().unwrap();
        assert!(made.success());
        let quiet = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
            --disable-background-networking --disable-component-update --disable-sync \
            --remote-debugging-pipe";
        // The shell opens the two file descriptors that the browser expects.
        let line = format!(
            "exec {program} {quiet} --user-data-dir='{}' 3<'{}' 4>'{}' 2>/dev/null",
            folder.join("profile").display(),
            to.display(),
            from.display()
        );
        let child = Command::new("sh").args(["-c", &line]).stdout(Stdio::null()).spawn().unwrap();
        let to = OpenOptions::new().write(true).open(to).unwrap();
        let from = BufReader::new(File::open(from).unwrap());
        let mut browser =
            Browser { child, to, from, session: String::new(), next: 1, complaints: Vec::new() };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", &attach);
        browser.session = session["sessionId"].as_str().unwrap().into();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, &json!({}));
        }
        browser
    }

    /// Calls a method of the protocol and returns its result.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.try_call(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Calls a method like [`Browser::call`]; returns the browser's error.
    fn try_call(&mut self, method: &str, parameters: &Value) -> Result<Value, Value> {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let mut answer = Vec::new();
            self.from.read_until(0, &mut answer).unwrap();
            assert_eq!(answer.pop(), Some(0), "the browser ended");
            let answer: Value = serde_json::from_slice(&answer).unwrap();
            if answer["id"] == id {
                let error = &answer["error"];
                return if error.is_null() {
                    Ok(answer["result"].clone())
                } else {
                    Err(error.clone())
                };
            }
            let complaint = match answer["method"].as_str() {
                Some("Runtime.exceptionThrown") => &answer["params"]["exceptionDetails"],
                Some("Log.entryAdded") => &answer["params"]["entry"],
                _ => continue,
            };
            self.complaints.push(complaint.to_string());
        }
    }

    /// Opens a page and waits until it has loaded.
    pub fn go(&mut self, url: &str) {
        self.call("Page.navigate", &json!({ "url": url }));
        self.until("document.readyState === 'complete'");
    }

    /// Evaluates an expression in the page; `null` while the browser changes to another page.
    pub fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        match self.try_call("Runtime.evaluate", &asked) {
            Ok(result) => result["result"]["value"].clone(),
            Err(error) if error["message"] == "Inspected target navigated or closed" => Value::Null,
            Err(error) => panic!("{expression}: {error}"),
        }
    }

    /// Returns the text of the first element that a selector matches.
    pub fn text(&mut self, selector: &str) -> String {
        let value = self.value(&format!("document.querySelector({selector:?})?.textContent ?? ''"));
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until an expression is true.
    pub fn until(&mut self, expression: &str) {
        eventually(expression, || (self.value(expression) == true).then_some(()));
    }

    /// Clicks the first element that a selector matches, and waits for the next page.
    pub fn click(&mut self, selector: &str) {
        self.value("window.before = true");
        let clicked = self.value(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e?.click(); return !!e; \
            }})()"
        ));
        // `null`: the next page came before the answer.
        assert_ne!(clicked, false, "there is no {selector}");
        self.until("!window.before && document.readyState === 'complete'");
    }

    /// Presses a key, given by its name, its code and the text that it types.
    #[allow(dead_code)] // not every test uses it
    pub fn key(&mut self, key: &str, code: u32, text: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut pressed = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
            });
            if kind == "keyDown" && !text.is_empty() {
                pressed["text"] = text.into();
            }
            self.call("Input.dispatchKeyEvent", &pressed);
        }
    }

    pub fn size(&mut self, width: u32, height: u32) {
        let mobile = width < 600;
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile,
        });
        self.call("Emulation.setDeviceMetricsOverride", &size);
    }

    pub fn scheme(&mut self, scheme: &str) {
        let features = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// Saves a screenshot of the page in the folder `ASSAY_PICTURES`, if that is set.
    pub fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("ASSAY_PICTURES") else { return };
        // Moving elements are drawn with the next frame.
        std::thread::sleep(Duration::from_millis(200));
        let all = json!({ "captureBeyondViewport": true });
        let picture = self.call("Page.captureScreenshot", &all);
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(picture["data"].as_str().unwrap())
            .unwrap();
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
