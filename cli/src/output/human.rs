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
        page.line(&format!("{label} {error}"));
        // A single conflict is what the message already says, those of a merge stand in its report.
        if error.conflicts().len() > 1 && !matches!(error, Error::Merge { .. }) {
            for conflict in error.conflicts() {
                page.line(&format!("  {}", conflict.message));
            }
        }
        for hint in hints {
            let label = page.paint(style::HINT, "hint:");
            page.line(&format!("{label} {hint}"));
        }
        page.finish()
    }
}
