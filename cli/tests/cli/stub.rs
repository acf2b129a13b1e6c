//! A tiny HTTP server with canned answers, and what was asked of it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// One canned answer: `GET /api/v2/config`, status, body. The longest prefix of the request line wins; equal ones are
/// used up in order, the last one stays.
pub type Answer = (&'static str, u16, String);

/// The status of an answer that never comes.
pub const NEVER: u16 = 1;

/// Headers that suites look at.
const HEADERS: [&str; 2] = ["authorization", "nessie-client-spec"];

/// A running stub. It ends with the process.
pub struct Stub {
    /// Its root.
    pub url: String,
    /// `METHOD path` and body of each request, in order.
    asked: Arc<Mutex<Vec<(String, String)>>>,
    /// The headers among [`HEADERS`], as `name: value`, of all requests.
    headers: Arc<Mutex<Vec<String>>>,
}

impl Stub {
    /// Starts a stub on a free port.
    pub fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let headers = Arc::new(Mutex::new(Vec::new()));
        let (log, answers) = (Arc::clone(&asked), Arc::new(Mutex::new(answers)));
        let seen = Arc::clone(&headers);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answers, seen) = (Arc::clone(&log), Arc::clone(&answers), Arc::clone(&seen));
                thread::spawn(move || serve(stream, &log, &seen, &answers));
            }
        });
        Self { url, asked, headers }
    }

    /// The bodies sent to requests that begin with this line.
    pub fn bodies(&self, line: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(request, _)| request.starts_with(line)).map(|(_, body)| body.clone()).collect()
    }

    /// The headers that were sent.
    pub fn headers(&self) -> Vec<String> {
        self.headers.lock().unwrap().clone()
    }

    /// The request lines, decoded.
    pub fn requests(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(request, _)| request.clone()).collect()
    }
}

fn serve(
    stream: TcpStream,
    log: &Mutex<Vec<(String, String)>>,
    seen: &Mutex<Vec<String>>,
    answers: &Mutex<Vec<Answer>>,
) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).ok()? == 0 {
            return None;
        }
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let header = header.trim();
            if HEADERS.iter().any(|name| header.to_ascii_lowercase().starts_with(name)) {
                seen.lock().unwrap().push(header.to_owned());
            }
            let header = header.to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let request = first.rsplit_once(' ')?.0.replace("%40", "@").replace("%20", " ").replace("%27", "'");
        log.lock().unwrap().push((request.clone(), String::from_utf8(body).unwrap()));
        let (status, body) = answer(&request, &mut answers.lock().unwrap());
        if status == 0 {
            // Breaks off without an answer.
            return None;
        }
        if status == NEVER {
            // Until the client hangs up.
            let _ = reader.read(&mut [0]);
            return None;
        }
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body.as_bytes()).ok()?;
    }
}

fn answer(request: &str, answers: &mut Vec<Answer>) -> (u16, String) {
    let fits = |answer: &Answer| request.starts_with(answer.0);
    let Some(longest) = answers.iter().filter(|a| fits(a)).map(|a| a.0.len()).max() else {
        return (
            500,
            format!("{{\"status\":500,\"reason\":\"\",\"message\":\"the stub knows nothing of {request}\"}}"),
        );
    };
    let places: Vec<usize> =
        (0..answers.len()).filter(|i| fits(&answers[*i]) && answers[*i].0.len() == longest).collect();
    let (_, status, body) =
        if places.len() > 1 { answers.remove(places[0]) } else { answers[places[0]].clone() };
    (status, body)
}
