use super::*;

fn copies(script: &str, count: usize, dir: &std::path::Path) -> Vec<Copy> {
    let one = |i: usize| Copy {
        argv: ["sh", "-c", script].map(OsString::from).into(),
        log: dir.join(format!("{i}.log")),
        ..Copy::default()
    };
    (0..count).map(one).collect()
}

#[allow(clippy::unnecessary_wraps)] // required by the type of a barrier's callback
fn any(_: usize, line: &str) -> Result<Option<String>, String> {
    Ok((line != "noise").then(|| line.to_owned()))
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn they_meet_and_what_is_noise_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let script = "echo noise; echo ready; read a; echo $a; cat >/dev/null";
    let mut crew = ProcessGroup::start(&copies(script, 3, dir.path())).unwrap();
    let stop = AtomicBool::new(false);
    let ready = crew.meet("its start", LONG, &stop, any).unwrap();
    assert!(ready.iter().all(|a| a.value == "ready" && a.t_ns > 0));
    for copy in [0, 1, 2] {
        crew.send_line(copy, "go");
    }
    crew.send_line(7, "nobody");
    let gone: Vec<String> =
        crew.meet("the go", LONG, &stop, any).unwrap().into_iter().map(|a| a.value).collect();
    assert_eq!(gone, ["go", "go", "go"]);
    assert_eq!(crew.members()[2].last_lines(), "noise");
    stop.store(true, Ordering::Release);
    assert!(matches!(crew.meet("x", LONG, &stop, any), Err(CopiesError::Stopped)));
}

#[test]
fn who_ends_or_stays_away_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let mut list = copies("echo ready; cat >/dev/null", 3, dir.path());
    list[1].argv[2] = "echo out of order >&2; exit 7".into();
    let error = ProcessGroup::start(&list).unwrap().meet("its start", LONG, &stop, any);
    let text = error.unwrap_err().to_string();
    assert!(text.contains("instance 2 ended before its start (exit status: 7)"), "{text}");
    assert!(text.ends_with("its last stderr line: out of order"), "{text}");
    list[1].argv[2] = "echo asleep >&2; cat >/dev/null".into();
    let mut crew = ProcessGroup::start(&list).unwrap();
    let error = crew.meet("its start", Duration::from_secs(5), &stop, any).unwrap_err();
    assert!(
        error.to_string().starts_with("1 of 3 instances (2) did not reach its start within"),
        "{error}"
    );
    list[1].argv[0] = "no-such-program-anywhere".into();
    assert!(matches!(ProcessGroup::start(&list), Err(CopiesError::Start { index: 2, .. })));
    list[1].cpus = Some(vec![4000]);
    assert!(matches!(ProcessGroup::start(&list), Err(CopiesError::Placement { index: 2, .. })));
}
