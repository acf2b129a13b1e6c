//! Where an export goes on: everything that it needs, so that the server need remember nothing.

use lochan_api_spec::ext::stream::{Checksum, Progress};
use lochan_api_spec::syntax::token::Token;
use lochan_storage_model::{Micros, RefName};

use super::no_position;
use crate::failure::Failure;

const TOKEN: u8 = b'x';

/// A place between two parts of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The moment that the export shows.
    pub at: Micros,
    /// Whether changes of references are wanted.
    pub log: bool,
    /// What comes next.
    pub section: Section,
    /// What came before.
    pub progress: Progress,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Section {
    /// References, behind so many.
    References(u64),
    /// Commits, behind so many.
    Commits(u64),
    /// Changes of references, behind the one of this name and number.
    Log(Option<(RefName, u64)>),
}

impl Position {
    /// The text of a position.
    pub fn encode(&self) -> String {
        let (kind, number, name) = match &self.section {
            Section::References(count) => (0u8, *count, ""),
            Section::Commits(count) => (1, *count, ""),
            Section::Log(None) => (2, 0, ""),
            Section::Log(Some((name, number))) => (3, *number, name.as_str()),
        };
        let Progress { parts, checksum, references, commits, log_entries } = self.progress;
        let token = Token::new(TOKEN)
            .with(self.at.to_be_bytes())
            .with([u8::from(self.log), kind])
            .with(number.to_be_bytes())
            .with(name)
            .with(*checksum.as_bytes());
        let counts = [parts, references, commits, log_entries];
        counts.into_iter().fold(token, |token, count| token.with(count.to_be_bytes())).encode()
    }

    /// The position of a text.
    pub fn decode(text: &str) -> Result<Self, Failure> {
        let token = Token::decode(text, TOKEN).map_err(|_| no_position())?;
        Self::read(&token).ok_or_else(no_position)
    }

    fn read(token: &Token) -> Option<Self> {
        let number = |at| Some(u64::from_be_bytes(token.field(at)?.try_into().ok()?));
        let [log, kind] = <[u8; 2]>::try_from(token.field(1)?).ok()?;
        let section = match kind {
            0 => Section::References(number(2)?),
            1 => Section::Commits(number(2)?),
            2 => Section::Log(None),
            3 => Section::Log(Some((RefName::new(token.text(3).ok()?).ok()?, number(2)?))),
            _ => return None,
        };
        Some(Self {
            at: Micros::from_be_bytes(token.field(0)?.try_into().ok()?),
            log: match log {
                0 => false,
                1 => true,
                _ => return None,
            },
            section,
            progress: Progress {
                parts: number(5)?,
                checksum: Checksum::from_bytes(token.field(4)?.try_into().ok()?),
                references: number(6)?,
                commits: number(7)?,
                log_entries: number(8)?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_survives_its_text() {
        let name = RefName::new("a/b").unwrap();
        for section in [
            Section::References(3),
            Section::Commits(u64::MAX),
            Section::Log(None),
            Section::Log(Some((name, 7))),
        ] {
            let progress = Progress {
                parts: 1,
                checksum: Checksum::of(b"x"),
                references: 2,
                commits: 3,
                log_entries: 4,
            };
            let position = Position { at: -5, log: true, section, progress };
            assert_eq!(Position::decode(&position.encode()).unwrap(), position);
        }
        for bad in ["", "zz", "0178", "0178ffff"] {
            assert!(Position::decode(bad).is_err(), "{bad}");
        }
    }
}
