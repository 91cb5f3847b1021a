//! One copy: its process, and the thread that reads its output.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use assay_model::environment::cpulist;
use assay_system::{NumaPolicy, ProcessSetup, clock, end_with_parent, enter};

use super::{CopiesError, Copy};
use crate::driver::program::last_lines;

/// Maximum length of a line in bytes.
const MAX_BYTES: u64 = 8 << 20;
/// Time to wait for the exit of a copy after the end of its output.
const EXIT: Duration = Duration::from_secs(2);
/// Number of bytes at the end of a log that are searched for last lines.
const TAIL: usize = 4096;

/// Item that the reader of a copy's output sends.
#[derive(Debug)]
pub(super) enum Output {
    /// A line, and the time of its arrival in ns.
    Line(String, u64),
    /// End of the output.
    End,
}

/// A copy that was started.
#[derive(Debug)]
pub struct StartedCopy {
    index: usize,
    child: Child,
    input: Option<ChildStdin>,
    log: File,
    /// Command and placement of the copy.
    pub copy: Copy,
}

impl StartedCopy {
    pub(super) fn start(
        index: usize,
        copy: &Copy,
        sender: Sender<(usize, Output)>,
    ) -> Result<Self, CopiesError> {
        let number = index + 1;
        let program =
            copy.argv.first().map(|p| p.to_string_lossy().into_owned()).unwrap_or_default();
        let failed =
            |source| CopiesError::Start { index: number, program: program.clone(), source };
        let log = File::options().create(true).append(true).open(&copy.log).map_err(failed)?;
        let mut command = Command::new(copy.argv.first().map_or("".as_ref(), |p| p.as_os_str()));
        command
            .args(copy.argv.iter().skip(1))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log.try_clone().map_err(failed)?)
            .process_group(0);
        if let Some(cwd) = &copy.cwd {
            command.current_dir(cwd);
        }
        end_with_parent(&mut command, None);
        let setup = ProcessSetup {
            cpus: copy.cpus.clone(),
            sched: copy.sched,
            numa: copy.node.map(|node| NumaPolicy::Bind(vec![node])),
            ..ProcessSetup::default()
        };
        let place = |e: assay_system::ControlError| CopiesError::Placement {
            index: number,
            detail: e.to_string(),
        };
        let entered = enter(&setup).map_err(place)?;
        let child = command.spawn().map_err(failed);
        entered.leave().map_err(place)?;
        let mut child = child?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let member = StartedCopy { index, child, input, log, copy: copy.clone() };
        if let Some(output) = output {
            std::thread::Builder::new()
                .name(format!("copy-{number}"))
                .stack_size(256 << 10)
                .spawn(move || read_output(index, output, &sender))
                .map_err(failed)?;
        }
        Ok(member)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn send_line(&mut self, line: &str) {
        let sent = self.input.as_mut().map(|i| i.write_all(format!("{line}\n").as_bytes()));
        if matches!(sent, Some(Err(_))) {
            // The copy has ended or closed its input; the next barrier will find out.
            self.input = None;
        }
    }

    /// Appends a line that is not part of the protocol to the log.
    pub(super) fn log(&mut self, line: &str) {
        // A full log is no reason to stop.
        let _ = writeln!(self.log, "{line}");
    }

    /// Returns the error of a copy that ended before `what`.
    pub(super) fn ended(&mut self, what: &'static str) -> CopiesError {
        let began = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break status.to_string(),
                Ok(None) if began.elapsed() < EXIT => std::thread::sleep(Duration::from_millis(2)),
                _ => break "it closed its output but still runs".to_owned(),
            }
        };
        CopiesError::Ended { index: self.index + 1, what, status, stderr: self.last_lines() }
    }

    /// Returns the last lines of the copy's log.
    pub fn last_lines(&self) -> String {
        let bytes = std::fs::read(&self.copy.log).unwrap_or_default();
        last_lines(&String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(TAIL)..]))
    }

    /// Describes the CPUs and NUMA node of the copy.
    pub fn place(&self) -> String {
        let cpus = match &self.copy.cpus {
            Some(cpus) => format!("CPU {}", cpulist::format(cpus)),
            None => "no CPU of its own".into(),
        };
        match self.copy.node {
            Some(node) => format!("{cpus}, memory of node {node}"),
            None => cpus,
        }
    }
}

impl Drop for StartedCopy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_output(index: usize, output: ChildStdout, sender: &Sender<(usize, Output)>) {
    let mut output = BufReader::new(output);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut output).take(MAX_BYTES).read_until(b'\n', &mut line);
        let t_ns = clock::monotonic_ns();
        if matches!(read, Ok(0) | Err(_)) {
            let _ = sender.send((index, Output::End));
            return;
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if sender.send((index, Output::Line(text, t_ns))).is_err() {
            return;
        }
    }
}
