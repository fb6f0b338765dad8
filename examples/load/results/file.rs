//! `RESULTS.md`: prose written by hand, with parts between markers that the bench writes.

use std::path::Path;

/// What the file is when there is none.
const EMPTY: &str = "# Results\n\n<!-- measured -->\n<!-- /measured -->\n\n## An hour of load\n\n<!-- soak -->\n\
     <!-- /soak -->\n\n## Other systems\n\n<!-- peers -->\n<!-- /peers -->\n";

/// Puts `text` between `<!-- name -->` and `<!-- /name -->`.
pub(crate) fn put(file: &Path, name: &str, text: &str) {
    let whole = std::fs::read_to_string(file).unwrap_or_else(|_| EMPTY.to_owned());
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
    let (Some(after), Some(before)) = (whole.find(&begin).map(|at| at + begin.len()), whole.find(&end)) else {
        panic!("{} has no {begin}…{end}", file.display());
    };
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).expect("a folder for the results");
    }
    let text = [&whole[..after], "\n", text.trim(), "\n\n", &whole[before..]].concat();
    std::fs::write(file, text).expect("the results are written");
}
