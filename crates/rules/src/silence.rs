//! Silence markers: how an agent says that nothing is to be sent.
//!
//! The rule is the one of Hermes' webhook and cron answers, so that prompts written for it keep their meaning.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// Markers, upper-cased. One in brackets also counts at the beginning of a longer text.
const MARKERS: [&str; 8] = ["[SILENT]", "SILENT", "NO_REPLY", "NO REPLY", "[静默]", "静默", "[沉默]", "沉默"];

/// A longer line is no marker, whatever is in it; in characters.
const LONGEST_LINE: usize = 64;

/// Whether `answer` asks to be suppressed.
///
/// It does when it begins with a marker in brackets, or when the whole of it, its first or its last line that is not
/// blank is a marker. Case, repeated blanks and punctuation around a marker do not matter (`**NO_REPLY**`, `no   reply`,
/// `【静默】`); backticks do, since they quote. A marker on a line in between is part of a report. An empty answer is no
/// silence but a failure, and is judged elsewhere.
pub fn is_silent(answer: &str) -> bool {
    let answer = answer.trim();
    let mut lines = answer.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    let last = lines.next_back().unwrap_or(first);
    begins_with_marker(answer) || [answer, first, last].into_iter().any(is_marker)
}

fn begins_with_marker(text: &str) -> bool {
    MARKERS.iter().filter(|marker| marker.starts_with('[')).any(|marker| {
        let head: String = text.chars().take(marker.chars().count()).collect();
        head.to_uppercase() == **marker
    })
}

fn is_marker(line: &str) -> bool {
    let line = line.trim();
    if line.chars().count() > LONGEST_LINE {
        return false;
    }
    let plain = line.to_uppercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let bare = plain.trim_matches(is_decoration);
    MARKERS.iter().any(|marker| *marker == plain || *marker == bare)
}

/// Punctuation in Unicode's sense (category P) may stand around a marker; square brackets belong to it.
fn is_decoration(c: char) -> bool {
    c.general_category_group() == GeneralCategoryGroup::Punctuation && c != '[' && c != ']'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markers_are_silence() {
        let silent = [
            "[SILENT]",
            "silent",
            "NO_REPLY",
            "no   reply",
            "**NO_REPLY**",
            "[silent] nothing to do",
            "[SILENT]x",
            "A report.\n\nNO_REPLY",
            "NO REPLY\nall is well",
            "[静默]",
            "沉默",
            "【静默】",
            "  \n silent. \n ",
            "no\nreply",
            "“Silent!”",
            "[沉默]：没有变化",
            "a\r\nb\r\nSILENT\r\n",
        ];
        for text in silent {
            assert!(is_silent(text), "{text:?}");
        }
    }

    #[test]
    fn words_in_a_text_are_not() {
        let spoken = [
            "",
            " \n ",
            "The item was [SILENT]ly filtered",
            "`NO_REPLY`",
            "before\nSILENT\nafter",
            "SILENTLY",
            "no reply was needed",
            "SILENT + NO_REPLY",
            "[SILENT",
            "(静默模式)",
            "静默 was switched on",
            "$SILENT$",
        ];
        for text in spoken {
            assert!(!is_silent(text), "{text:?}");
        }
    }

    #[test]
    fn a_long_line_is_no_marker() {
        assert!(is_silent(&format!("{}SILENT", "!".repeat(58))));
        assert!(!is_silent(&format!("{}SILENT", "!".repeat(59))));
    }

    proptest! {
        #[test]
        fn never_panics(text in "\\PC{0,80}") {
            let _ = is_silent(&text);
        }

        #[test]
        fn a_report_between_two_lines_of_words_is_spoken(middle in "(?s).{0,60}") {
            prop_assume!(!middle.contains('\u{85}'));
            let report = format!("It is done.\n{middle}\nThat was all.");
            prop_assert!(!is_silent(&report));
        }

        #[test]
        fn case_and_decoration_do_not_matter(
            marker in prop::sample::select(MARKERS.to_vec()),
            around in "[*_!?.,;:()“”【】-]{0,10}",
            upper: bool,
        ) {
            let marker = if upper { marker.to_owned() } else { marker.to_lowercase() };
            prop_assert!(is_silent(&format!("{around}{marker}{around}")), "{around}{marker}{around}");
        }
    }
}
