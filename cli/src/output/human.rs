//! Text for people.

use super::page::{Page, style};
use super::{Format, Look, Report};
use crate::error::Error;

/// The format of terminals.
pub struct Human {
    /// How values are shown.
    pub look: Look,
}

impl Format for Human {
    fn report(&self, report: &dyn Report) -> Result<String, Error> {
        let mut page = Page::new(self.look);
        report.human(&mut page);
        Ok(page.finish())
    }

    fn failure(&self, error: &Error, hints: &[String]) -> String {
        let mut page = Page::new(self.look);
        let label = page.paint(style::ERROR, "error:");
        let message = page.message(&error.to_string());
        // A single conflict is what the message already says, those of a merge stand in its report.
        let conflicts = match error {
            Error::Merge(_) => &[],
            other => other.conflicts(),
        };
        match conflicts {
            [first, _, ..] => {
                // Servers string them all together in the message; here each has its line.
                let lead = message.split(first.message.as_str()).next().unwrap_or_default();
                page.line(&format!("{label} {}", lead.trim_end_matches([' ', ':'])));
                for conflict in conflicts {
                    page.line(&format!("  {}", conflict.message));
                }
            }
            _ => page.line(&format!("{label} {message}")),
        }
        for hint in hints {
            let label = page.paint(style::HINT, "hint:");
            page.line(&format!("{label} {hint}"));
        }
        page.finish()
    }
}
