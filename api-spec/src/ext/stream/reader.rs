//! Reading a stream, checking it.

use serde::de::DeserializeOwned;

use super::{
    Checksum, Control, End, FORMAT, Header, Item, LINE_BYTES_MAX, PART_BYTES_MAX, PartEnd, PartStart,
    Progress, VERSION,
};

/// Why a stream is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The line is no JSON of the format.
    #[error("the line is not one of the stream's: {0}")]
    Malformed(String),
    /// The stream is of another format or version.
    #[error("the stream is '{format}' version {version}, not '{FORMAT}' version {VERSION}")]
    Format {
        /// Its format.
        format: String,
        /// Its version.
        version: u32,
    },
    /// A line stands where it must not.
    #[error("a '{found}' line stands where {expected} must")]
    Order {
        /// What was read.
        found: &'static str,
        /// What must stand there.
        expected: &'static str,
    },
    /// A part is missing, or comes too early.
    #[error("part {found} comes where part {expected} must")]
    Part {
        /// What was read.
        found: u64,
        /// What must come.
        expected: u64,
    },
    /// A part does not follow the one before: it belongs to another stream.
    #[error("part {0} belongs to another stream than the parts before it")]
    OtherStream(u64),
    /// The lines of a part are not those that were written.
    #[error("part {part} is damaged: its {what} differ from what it says")]
    Damaged {
        /// The part.
        part: u64,
        /// What differs.
        what: &'static str,
    },
    /// The `end` line does not agree with what came before.
    #[error("the end of the stream does not agree with its parts: {0} differ")]
    End(&'static str),
    /// A line is longer than [`LINE_BYTES_MAX`].
    #[error("a line is longer than {LINE_BYTES_MAX} bytes")]
    LongLine,
    /// A part is larger than [`PART_BYTES_MAX`].
    #[error("part {0} is larger than {PART_BYTES_MAX} bytes")]
    LargePart(u64),
}

/// What a line means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The stream begins.
    Header(Header),
    /// A part begins.
    PartBegins(PartStart),
    /// Something of the part. It may be relied on only once the part has ended well.
    Item(Item),
    /// The part has ended, and its lines are those that were written.
    PartEnds(PartEnd),
    /// The stream has ended, and is whole.
    End(End),
    /// A line of a part taken earlier.
    Passed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The header must come.
    Start,
    /// A part or the end must come; or a header, when the stream is sent again from its start.
    Between,
    /// Inside a part.
    Inside,
    /// Inside a part taken earlier.
    Passing(u64),
    /// Nothing may come.
    Ended,
}

/// Reads lines one by one. Parts that were taken earlier are passed over.
#[derive(Debug)]
pub struct Reader {
    state: State,
    /// Nothing is known of the stream until the header is read.
    progress: Option<Progress>,
    /// Counts of the part at work are kept apart until it has ended well.
    counting: Progress,
    hasher: blake3::Hasher,
    lines: u64,
    bytes: usize,
}

impl Reader {
    /// Reads a stream from its header on.
    pub fn begin() -> Self {
        Self::with(State::Start, None)
    }

    /// Goes on behind the parts of `progress`. The stream may begin with any part up to the next one, or with its header.
    pub fn resume(progress: Progress) -> Self {
        Self::with(State::Between, Some(progress))
    }

    fn with(state: State, progress: Option<Progress>) -> Self {
        let counting = progress.unwrap_or(Progress::behind_header(Checksum::of(b"")));
        Self { state, progress, counting, hasher: blake3::Hasher::new(), lines: 0, bytes: 0 }
    }

    /// How far the stream has come, whole parts only; `None` before its header.
    pub fn progress(&self) -> Option<Progress> {
        self.progress
    }

    /// Whether the stream stands between two parts, so that breaking off here loses nothing.
    pub fn is_between_parts(&self) -> bool {
        matches!(self.state, State::Start | State::Between | State::Ended)
    }

    /// The part being read.
    pub fn part(&self) -> Option<u64> {
        match self.state {
            State::Inside => Some(self.counting.parts + 1),
            State::Passing(number) => Some(number),
            _ => None,
        }
    }

    /// Reads one line, without its line feed.
    pub fn line(&mut self, line: &[u8]) -> Result<Event, StreamError> {
        if line.len() >= LINE_BYTES_MAX {
            return Err(StreamError::LongLine);
        }
        let name = name_of(line);
        if let State::Passing(number) = self.state {
            return self.pass(number, name, line);
        }
        match name {
            b"header" | b"part" | b"partEnd" | b"end" => match parse(line)? {
                Control::Header(header) => self.header(header, line),
                Control::Part(start) => self.part_begins(start, line),
                Control::PartEnd(end) => self.part_ends(end),
                Control::End(end) => self.end(end),
            },
            _ => self.item(line),
        }
    }

    fn header(&mut self, header: Header, line: &[u8]) -> Result<Event, StreamError> {
        if header.format != FORMAT || header.version != VERSION {
            return Err(StreamError::Format { format: header.format, version: header.version });
        }
        match (self.state, self.progress) {
            (State::Start, _) => {
                let mut hasher = blake3::Hasher::new();
                hasher.update(line).update(b"\n");
                let checksum = Checksum::from_bytes(*hasher.finalize().as_bytes());
                self.progress = Some(Progress::behind_header(checksum));
            }
            // The stream is sent again from its start; the checksum of the first new part tells whether it is the same.
            (State::Between, Some(_)) if self.lines == 0 => {}
            _ => return Err(StreamError::Order { found: "header", expected: "a part or the end" }),
        }
        self.state = State::Between;
        Ok(Event::Header(header))
    }

    fn part_begins(&mut self, start: PartStart, line: &[u8]) -> Result<Event, StreamError> {
        let progress = match (self.state, self.progress) {
            (State::Between, Some(progress)) => progress,
            (State::Start, _) => return Err(StreamError::Order { found: "part", expected: "the header" }),
            _ => return Err(StreamError::Order { found: "part", expected: "the end of the part before" }),
        };
        if start.number >= 1 && start.number <= progress.parts {
            self.state = State::Passing(start.number);
            return Ok(Event::Passed);
        }
        if start.number != progress.parts + 1 {
            return Err(StreamError::Part { found: start.number, expected: progress.parts + 1 });
        }
        if start.after != progress.checksum {
            return Err(StreamError::OtherStream(start.number));
        }
        self.state = State::Inside;
        self.counting = progress;
        self.hasher.reset();
        (self.lines, self.bytes) = (0, 0);
        self.take(line)?;
        Ok(Event::PartBegins(start))
    }

    fn item(&mut self, line: &[u8]) -> Result<Event, StreamError> {
        if self.state != State::Inside {
            return Err(StreamError::Order { found: "content", expected: "the begin of a part" });
        }
        self.take(line)?;
        let item = parse(line)?;
        self.counting.count(&item);
        Ok(Event::Item(item))
    }

    fn part_ends(&mut self, end: PartEnd) -> Result<Event, StreamError> {
        if self.state != State::Inside {
            return Err(StreamError::Order { found: "partEnd", expected: "the begin of a part" });
        }
        let part = self.counting.parts + 1;
        let checksum = Checksum::from_bytes(*self.hasher.finalize().as_bytes());
        for (differs, what) in [
            (end.number != part, "numbers"),
            (end.lines != self.lines, "lines"),
            (end.checksum != checksum, "checksums"),
        ] {
            if differs {
                return Err(StreamError::Damaged { part, what });
            }
        }
        self.progress = Some(Progress { parts: part, checksum, ..self.counting });
        self.state = State::Between;
        Ok(Event::PartEnds(end))
    }

    fn end(&mut self, end: End) -> Result<Event, StreamError> {
        let Some(found) =
            self.progress.filter(|_| self.state == State::Between).map(|progress| progress.end())
        else {
            return Err(StreamError::Order { found: "end", expected: "the end of a part" });
        };
        for (differs, what) in [
            (end.parts != found.parts, "numbers of parts"),
            (end.references != found.references, "numbers of references"),
            (end.commits != found.commits, "numbers of commits"),
            (end.log_entries != found.log_entries, "numbers of log entries"),
            (end.checksum != found.checksum, "checksums"),
        ] {
            if differs {
                return Err(StreamError::End(what));
            }
        }
        self.state = State::Ended;
        Ok(Event::End(end))
    }

    fn pass(&mut self, number: u64, name: &[u8], line: &[u8]) -> Result<Event, StreamError> {
        match name {
            b"partEnd" => {
                if let Control::PartEnd(end) = parse(line)?
                    && end.number != number
                {
                    return Err(StreamError::Damaged { part: number, what: "numbers" });
                }
                self.state = State::Between;
            }
            b"header" | b"part" | b"end" => {
                return Err(StreamError::Order { found: "part", expected: "the end of the part before" });
            }
            _ => {}
        }
        Ok(Event::Passed)
    }

    fn take(&mut self, line: &[u8]) -> Result<(), StreamError> {
        self.bytes += line.len() + 1;
        if self.bytes > PART_BYTES_MAX {
            return Err(StreamError::LargePart(self.counting.parts + 1));
        }
        self.hasher.update(line).update(b"\n");
        self.lines += 1;
        Ok(())
    }
}

/// The name of the line's only member; empty when it has none.
fn name_of(line: &[u8]) -> &[u8] {
    let name = line.strip_prefix(b"{\"").unwrap_or_default();
    name.split(|byte| *byte == b'"').next().unwrap_or_default()
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Result<T, StreamError> {
    serde_json::from_slice(line).map_err(|error| StreamError::Malformed(error.to_string()))
}
