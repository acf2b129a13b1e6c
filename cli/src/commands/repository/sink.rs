//! Where an export is written: a file that always ends behind a whole part, or standard output.

use std::cell::RefCell;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::rc::Rc;

use lochan_api_spec::ext::stream::{Event, Header, LINE_BYTES_MAX, Progress, Reader};

use crate::error::Error;

/// The name that means standard output, or input.
pub const STANDARD: &str = "-";

/// An export's destination.
pub struct Sink {
    out: Out,
    name: String,
}

enum Out {
    File(File),
    Standard(Rc<RefCell<Box<dyn Write>>>),
}

/// How far a file has come that an earlier export began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Begun {
    /// What it is an export of; none for an empty file.
    pub header: Option<Header>,
    /// Its whole parts; none when not even the header stands there.
    pub progress: Option<Progress>,
    /// Where the server goes on.
    pub next: Option<String>,
    /// Whether the stream has ended: there is nothing to be done.
    pub ended: bool,
    /// Bytes of the whole parts.
    bytes: u64,
}

impl Sink {
    /// Standard output.
    pub fn standard(out: Rc<RefCell<Box<dyn Write>>>) -> Self {
        Self { out: Out::Standard(out), name: "standard output".to_owned() }
    }

    /// A new file; one that exists is replaced only with `force`.
    pub fn create(path: &str, force: bool) -> Result<Self, Error> {
        let mut options = OpenOptions::new();
        options.write(true);
        if force {
            options.create(true).truncate(true)
        } else {
            options.create_new(true)
        };
        match options.open(path) {
            Ok(file) => Ok(Self { out: Out::File(file), name: path.to_owned() }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(Error::Usage(format!("{path} exists; --resume goes on with it, --force replaces it")))
            }
            Err(error) => Err(Error::File { path: path.to_owned(), reason: error.to_string() }),
        }
    }

    /// A file that an earlier export began. It stays as it is until [`Sink::cut`].
    pub fn resume(path: &str) -> Result<(Self, Begun), Error> {
        let failed = |error: std::io::Error| Error::File { path: path.to_owned(), reason: error.to_string() };
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(failed)?;
        let begun = scan(&mut BufReader::new(&mut file)).map_err(failed)?;
        if begun.header.is_none() && file.metadata().map_err(failed)?.len() > 0 {
            return Err(Error::Usage(format!("{path} is no export; --force replaces it")));
        }
        Ok((Self { out: Out::File(file), name: path.to_owned() }, begun))
    }

    /// Cuts the file behind its last whole part, to go on there.
    pub fn cut(&mut self, begun: &Begun) -> Result<(), Error> {
        let Out::File(file) = &mut self.out else { return Ok(()) };
        let cut = file.set_len(begun.bytes).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map(|_| ()).map_err(|error| self.failed(&error))
    }

    /// Appends whole parts.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let done = match &mut self.out {
            Out::File(file) => file.write_all(bytes),
            Out::Standard(out) => return Ok(out.borrow_mut().write_all(bytes)?),
        };
        done.map_err(|error| self.failed(&error))
    }

    /// Sees to it that what was written stays.
    pub fn finish(&mut self) -> Result<(), Error> {
        let done = match &mut self.out {
            Out::File(file) => file.sync_all(),
            Out::Standard(out) => return Ok(out.borrow_mut().flush()?),
        };
        done.map_err(|error| self.failed(&error))
    }

    fn failed(&self, error: &std::io::Error) -> Error {
        Error::File { path: self.name.clone(), reason: error.to_string() }
    }
}

/// Reads as far as whole parts go. Whatever stands behind them is half a part, or damage that will be written anew.
fn scan(source: &mut impl BufRead) -> std::io::Result<Begun> {
    let mut reader = Reader::begin();
    let (mut begun, mut bytes) = (Begun::default(), 0);
    let mut position = None;
    while let Some(line) = next_line(source)? {
        bytes += u64::try_from(line.len()).unwrap_or(u64::MAX) + 1;
        match reader.line(&line) {
            Ok(Event::Header(header)) => begun.header = Some(header),
            Ok(Event::PartBegins(part)) => position = part.position,
            Ok(Event::PartEnds(end)) => {
                // Behind the last part the end alone is missing: it comes once more with that part.
                let next = end.next.or_else(|| position.take());
                begun = Begun { progress: reader.progress(), next, bytes, ..begun };
            }
            Ok(Event::End(_)) => begun.ended = true,
            Ok(_) => {}
            Err(_) => break,
        }
    }
    Ok(begun)
}

/// The next line without its end; none at the end, and for a line that is not ended or longer than any may be.
pub fn next_line(source: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let most = u64::try_from(LINE_BYTES_MAX + 1).unwrap_or(u64::MAX);
    source.take(most).read_until(b'\n', &mut line)?;
    Ok((line.pop() == Some(b'\n')).then_some(line))
}
