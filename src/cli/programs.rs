//! Whether the program of an agent is there.

use std::path::{Path, PathBuf};

use ::agents::Agent;
use rustix::fs::{Access, access};

use super::context::Context;

/// The file that a run of `agent` would start first. The error says that there is none, and where it was looked for.
pub(super) fn find(agent: &Agent, context: &Context) -> Result<PathBuf, String> {
    let program = agent.program();
    if program.contains('/') {
        // Relative to the folder of the run; without one of its own that is the gateway's, which is not known here.
        let folder = agent.cwd.as_ref().map(|cwd| context.place.home.join(cwd));
        let path = folder.map_or_else(|| PathBuf::from(program), |folder| folder.join(program));
        return if is_program(&path) {
            Ok(path)
        } else {
            Err(format!("{} is no program that can be run", path.display()))
        };
    }
    let path = agent.env.get("PATH").or_else(|| context.environment.get("PATH")).map_or("", String::as_str);
    let found = std::env::split_paths(path).map(|folder| folder.join(program)).find(|file| is_program(file));
    found.ok_or_else(|| format!("{program} is not on the PATH"))
}

fn is_program(path: &Path) -> bool {
    path.is_file() && access(path, Access::EXEC_OK).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_a_file_that_may_be_run() {
        assert!(is_program(Path::new("/bin/sh")));
        assert!(!is_program(Path::new("/etc/passwd")));
        assert!(!is_program(Path::new("/bin")));
        assert!(!is_program(Path::new("/no/such/file")));
    }
}
