//! CalculiX: finding its program, starting it, and parsing its files.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::WorkloadError;
use crate::builtin::cae::deck::JOB;
use crate::driver::program::need;

/// Returns the path of CalculiX.
///
/// # Errors
/// Fails if it is not installed.
pub fn program(path: Option<&Path>) -> Result<PathBuf, WorkloadError> {
    let name = path.unwrap_or(Path::new("ccx"));
    let what = format!("CalculiX (`{}`)", name.display());
    need(name, what, "install the Debian package calculix-ccx, or give the path of one as `ccx`")
}

/// Returns the command of a job with `threads` threads.
pub fn command(program: &Path, threads: usize) -> Command {
    let mut command = Command::new(program);
    command.args(["-i", JOB]).env("OMP_NUM_THREADS", threads.to_string());
    // These variables would override that number.
    for name in [
        "CCX_NPROC_EQUATION_SOLVER",
        "CCX_NPROC_RESULTS",
        "CCX_NPROC_STIFFNESS",
        "NUMBER_OF_PROCESSORS",
    ] {
        command.env_remove(name);
    }
    command.env("OPENBLAS_NUM_THREADS", "1");
    command
}

/// Beginning of the last line of CalculiX's greeting.
const GREETING: &str = "You are using an executable made on ";

/// Returns CalculiX's error message: the lines from `*ERROR` to the next empty line; without one,
/// the last lines after the greeting.
pub fn words(log: &str) -> String {
    let log = log.split_once(GREETING).map_or(log, |(_, l)| l.split_once('\n').map_or("", |l| l.1));
    let lines: Vec<&str> = log.lines().map(str::trim).collect();
    let Some(begin) = lines.iter().position(|l| l.starts_with("*ERROR")) else {
        return crate::driver::program::last_lines(log);
    };
    let rest = lines[begin..].iter().take_while(|l| !l.is_empty()).take(5);
    rest.copied().collect::<Vec<_>>().join(" ")
}

/// Returns true if the job ran to its end.
pub fn finished(log: &str) -> bool {
    log.lines().any(|l| l.trim() == "Job finished")
}

/// Returns the mean displacements of the last set in the `.dat` file.
pub fn displacement(dat: &str) -> Option<[f64; 3]> {
    let begin = dat.rfind(" displacements (vx,vy,vz)")?;
    let (mut sum, mut count) = ([0.0; 3], 0.0);
    for line in dat[begin..].lines().skip(1) {
        let fields: Vec<f64> = line.split_whitespace().filter_map(|f| f.parse().ok()).collect();
        match fields[..] {
            [_, x, y, z] => {
                sum = [sum[0] + x, sum[1] + y, sum[2] + z];
                count += 1.0;
            }
            _ if line.trim().is_empty() => {}
            _ => break,
        }
    }
    (count > 0.0).then(|| sum.map(|s| s / count))
}

/// Returns the natural frequencies (in Hz) from the `.dat` file.
pub fn frequencies(dat: &str) -> Vec<f64> {
    let Some(begin) = dat.find("E I G E N V A L U E   O U T P U T") else { return Vec::new() };
    let table = dat[begin..].split("P A R T I C I P A T I O N").next().unwrap_or("");
    let row = |line: &str| {
        let fields: Vec<f64> = line.split_whitespace().filter_map(|f| f.parse().ok()).collect();
        (fields.len() == 5).then(|| fields[3])
    };
    table.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_files_are_read() {
        // Output of ccx 2.20.
        let dat = "\n displacements (vx,vy,vz) for set TIP and time  0.5000000E+00\n\
                   \n        41 -1.0E-02  0.0  9.0\n\n \
                   displacements (vx,vy,vz) for set TIP and time  0.1000000E+01\n\
                   \n        41 -1.139072E-02  5.052241E-06 \
                   -3.0E-01\n        62 -1.139038E-02  2.407237E-06 -3.2E-01\n";
        let [_, _, z] = displacement(dat).unwrap();
        assert!((z + 0.31).abs() < 1e-12);
        let dat = "\n     E I G E N V A L U E   O U T P U T\n\
                   \n MODE NO    EIGENVALUE    FREQUENCY   \n (RAD/TIME)\n\n      \
                   1   0.1289540E+09   0.1135579E+05   0.1807330E+04   0.0000000E+00\n      2   \
                   0.53E+09   0.23E+05   \
                   0.3674617E+04   0.0\n\n     P A R T I C I P A T I O N   F A C T O R S\n 1 2 3 4 \
                   5\n";
        assert_eq!(frequencies(dat), [1807.330, 3674.617]);
        assert_eq!(displacement("nothing"), None);
        assert!(frequencies("nothing").is_empty());
    }

    #[test]
    fn its_words_of_an_error() {
        let log = "lines\n\n *ERROR: solution seems to diverge; please try \n automatic \
                   incrementation; program stops\n \
                   best solution and residuals are in the frd file\n\nmore";
        let message = words(log);
        assert!(
            message.starts_with("*ERROR: solution seems to diverge")
                && message.ends_with("frd file"),
            "{message}"
        );
        assert_eq!(words("a\nb\n"), "a; b");
        let greeting =
            "***\nCalculiX comes with NO WARRANTY\n***\n\nYou are using an executable made on Sun";
        assert_eq!(words(greeting), "it printed nothing");
        assert_eq!(words(&format!("{greeting}\n\n step 1\n")), "step 1");
        assert!(finished("x\n\n Job finished\n") && !finished(log));
    }
}
