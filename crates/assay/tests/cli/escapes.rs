//! Text from outside (names, messages, output of programs) must never control the terminal that
//! shows it.

use std::process::Command;

use crate::common::{World, done};

/// Control sequences: move the cursor, set the window's title, hide text, return to the line's
/// start, reverse the writing direction.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[8mX\u{9b}1A\r\u{8}\u{202e}Y";

/// The sequences of [`HOSTILE`] in a TOML string.
const IN_TOML: &str = "\\u001b[2J\\u001b]0;owned\\u0007\\u001b[8mX\\u009b1A\\r\\b\\u202eY";

/// Returns the first character that controls a terminal.
fn steers(text: &str) -> Option<char> {
    text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}')
    })
}

/// Removes the colours that assay itself and its excerpts of files use.
fn unpainted(text: &str) -> String {
    ["0", "1", "2", "4", "31", "32", "33", "91", "92", "94", "96"]
        .iter()
        .fold(text.to_owned(), |text, code| text.replace(&format!("\u{1b}[{code}m"), ""))
}

fn hostile(world: &World) {
    world.write(
        "says.sh",
        &format!(
            "printf '%s\\n' '{HOSTILE} from stderr' >&2\n\
         printf '%s\\n' '{{\"note\":\"{IN_JSON} noted\"}}' >&3\n\
         printf '%s\\n' '{{\"metric\":\"rate\",\"value\":'$1',\"unit\":\"u{IN_JSON}\",\
         \"better\":\"higher\"}}' >&3\n\
         [ \"$1\" != 3 ]\n",
        ),
    );
    let script = world.path("says.sh").display().to_string();
    std::fs::create_dir_all(world.path("hostile")).unwrap();
    world.write(
        "hostile/kit.toml",
        &format!(
            "name = \"hostile\"\nversion = \"1 {IN_TOML}\"\nhelp = \"says {IN_TOML}\"\n\
             [[param]]\nname = \"size\"\ntype = \"int\"\nmin = 1\nmax = 9\ndefault = 1\n\
             help = \"h {IN_TOML}\"\n\
             [[param]]\nname = \"word\"\ntype = \"text\"\ndefault = \"w\"\nhelp = \"h\"\n\
             [run]\ncommand = [\"sh\", \"{script}\", \"{{size}}\", \"{{word}}\"]\nprotocol = true\n\
             [[metric]]\nname = \"rate\"\nunit = \"ops/s\"\nbetter = \"higher\"\n\
             help = \"m {IN_TOML}\"\nfrom = \"protocol\"\n"
        ),
    );
    world.write(
        "x.toml",
        &format!(
            "name = \"hostile\"\ntitle = \"title {IN_TOML}\"\nworkload = \"./hostile\"\n\
             tags = [\"tag {IN_TOML}\"]\n[factors]\nsize = [1, 2, 3]\n\
             word = [\"a {IN_TOML}\", \"b\"]\n\
             [design]\nblocks = 3\nmax_failures = 0\nzip = []\n[observe]\nmonitors = []\n"
        ),
    );
}

/// The sequences of [`HOSTILE`] in a JSON string.
const IN_JSON: &str = "\\u001b[2J\\u001b]0;owned\\u0007\\u001b[8mX\\u009b1A\\u202eY";

/// Returns the commands that print the hostile texts, with their arguments.
fn commands(world: &World) -> Vec<Vec<String>> {
    let bad = world.write(
        "bad.toml",
        &format!("name = \"x\"\nworkload = \"no {IN_TOML}\"\n\"k{IN_TOML}\" = 1\n"),
    );
    let missing =
        world.write("missing.toml", &format!("name = \"x\"\nworkload = \"no {IN_TOML}\"\n"));
    let odd = world.write("odd.toml", &format!("name = \"x\" {HOSTILE}\n"));
    let all = [
        "archive list",
        "archive list --json",
        "archive show",
        "archive show --json",
        "archive verify",
        "plan x.toml",
        "plan x.toml --json",
        "compare last",
        "compare last --json",
        "explain last",
        "rules check last",
        "workloads ./hostile",
        "kit check hostile",
    ];
    let mut all: Vec<Vec<String>> =
        all.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    for file in [bad, missing, odd] {
        all.push(vec!["plan".into(), file.display().to_string()]);
    }
    all.push(vec!["archive".into(), "show".into(), format!("no {HOSTILE}")]);
    all.push(vec!["archive".into(), "import".into(), format!("no {HOSTILE}")]);
    all.push(vec![format!("no{HOSTILE}")]);
    all.push(vec!["run".into(), "x.toml".into(), "--set".into(), format!("size{HOSTILE}=1")]);
    all
}

#[test]
fn nothing_that_steers_is_printed() {
    let world = World::new();
    hostile(&world);
    let ran = world.run(&["run", "x.toml"]);
    assert!(ran.stderr.contains("failed"), "{}", ran.stderr);
    assert_eq!(
        (steers(&ran.stdout), steers(&ran.stderr)),
        (None, None),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let mut seen = String::new();
    for line in commands(&world) {
        let line: Vec<&str> = line.iter().map(String::as_str).collect();
        let done = world.run(&line);
        let reply = format!("{}{}", done.stdout, done.stderr);
        assert_eq!(steers(&reply), None, "{line:?}: {reply:?}");
        seen.push_str(&reply);
    }
    assert!(seen.contains('\u{FFFD}') && seen.contains("owned"), "the texts were printed, cleaned");
    // JSON contains the text unchanged.
    let json = world.run(&["archive", "list", "--json"]).stdout;
    let list: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(list[0]["tags"][0].as_str().unwrap().contains("\u{1b}[2J"), "{json}");
}

#[test]
fn on_a_terminal_there_is_no_paint_but_our_own() {
    let world = World::new();
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: because there is no script (Debian package bsdutils)");
        return;
    }
    hostile(&world);
    // The progress bar draws on standard error; this test looks at standard output.
    world.run(&["run", "x.toml"]);
    let mut painted = false;
    for line in commands(&world) {
        let words: Vec<String> =
            line.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        let binary = env!("CARGO_BIN_EXE_assay");
        let mut command = Command::new("script");
        command.args(["-qec", &format!("{binary} {}", words.join(" ")), "/dev/null"]);
        for (name, value) in world.assay(&[]).get_envs() {
            command.env(name, value.unwrap());
        }
        command.env_remove("NO_COLOR").env("TERM", "xterm").current_dir(world.path(""));
        let reply = done(&mut command).stdout;
        painted |= reply != unpainted(&reply);
        // The terminal ends lines with a carriage return. clap and the excerpts of files have
        // colours of their own, which contain no text from outside.
        let reply = unpainted(&reply).replace("\r\n", "\n");
        assert_eq!(steers(&reply), None, "{line:?}: {reply:?}");
    }
    assert!(painted, "there is colour on a terminal");
}
