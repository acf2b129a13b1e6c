//! Where an export goes on: everything that it needs, so that the server need remember nothing.

use lochan_api_spec::ext::stream::{Checksum, Progress};
use lochan_api_spec::syntax::token::Token;
use lochan_storage_model::{Micros, RefName};

use super::no_position;
use crate::failure::Failure;

const TOKEN: u8 = b'x';

/// Fields of the text, its sum not counted.
const FIELDS: usize = 11;

/// A place between two parts of an export.
///
/// A sum of everything before it is the text's last field: whoever sends something else than what was given is told so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Identity of the repository.
    pub repository: String,
    /// Sum of the references that the export shows: with the commits that they reach they are all there is.
    pub shows: Checksum,
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
            .with(self.repository.as_str())
            .with(*self.shows.as_bytes())
            .with(self.at.to_be_bytes())
            .with([u8::from(self.log), kind])
            .with(number.to_be_bytes())
            .with(name)
            .with(*checksum.as_bytes());
        let counts = [parts, references, commits, log_entries];
        let token = counts.into_iter().fold(token, |token, count| token.with(count.to_be_bytes()));
        let sum = sum_of((0..FIELDS).filter_map(|at| token.field(at)));
        token.with(sum).encode()
    }

    /// The position of a text.
    pub fn decode(text: &str) -> Result<Self, Failure> {
        let token = Token::decode(text, TOKEN).map_err(|_| no_position())?;
        Self::read(&token).ok_or_else(no_position)
    }

    fn read(token: &Token) -> Option<Self> {
        if token.len() != FIELDS + 1
            || token.field(FIELDS)? != sum_of((0..FIELDS).filter_map(|at| token.field(at)))
        {
            return None;
        }
        let number = |at| Some(u64::from_be_bytes(token.field(at)?.try_into().ok()?));
        let [log, kind] = <[u8; 2]>::try_from(token.field(3)?).ok()?;
        let section = match kind {
            0 => Section::References(number(4)?),
            1 => Section::Commits(number(4)?),
            2 => Section::Log(None),
            3 => Section::Log(Some((RefName::new(token.text(5).ok()?).ok()?, number(4)?))),
            _ => return None,
        };
        let checksum = |at| Some(Checksum::from_bytes(token.field(at)?.try_into().ok()?));
        Some(Self {
            repository: token.text(0).ok()?.to_owned(),
            shows: checksum(1)?,
            at: Micros::from_be_bytes(token.field(2)?.try_into().ok()?),
            log: match log {
                0 => false,
                1 => true,
                _ => return None,
            },
            section,
            progress: Progress {
                parts: number(7)?,
                checksum: checksum(6)?,
                references: number(8)?,
                commits: number(9)?,
                log_entries: number(10)?,
            },
        })
    }
}

/// The sum of the fields of a position that come before it.
fn sum_of<'f>(fields: impl Iterator<Item = &'f [u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for field in fields {
        // A field has at most 65,535 bytes.
        bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
        bytes.extend_from_slice(field);
    }
    Checksum::of(&bytes).as_bytes().to_vec()
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
            let (repository, shows) = ("r".to_owned(), Checksum::of(b"y"));
            let position = Position { repository, shows, at: -5, log: true, section, progress };
            let text = position.encode();
            assert_eq!(Position::decode(&text).unwrap(), position);
            for at in 0..text.len() {
                let mut other = text.clone().into_bytes();
                other[at] = if other[at] == b'0' { b'1' } else { b'0' };
                assert!(Position::decode(&String::from_utf8(other).unwrap()).is_err(), "digit {at}");
            }
            assert!(Position::decode(&text[..text.len() - 2]).is_err());
        }
        for bad in ["", "zz", "0178", "0178ffff"] {
            assert!(Position::decode(bad).is_err(), "{bad}");
        }
    }
}
