//! `Nessie-Commit-*` headers (Nessie contract, section 14.1).

use http::{HeaderMap, HeaderValue};

const PROPERTY_PREFIX: &str = "nessie-commit-property-";

/// Commit metadata that headers add to that of the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitHeaders {
    /// Replaces the message: the first value that is not blank.
    pub message: Option<String>,
    /// Appended to the authors, in order.
    pub authors: Vec<String>,
    /// Appended to the signers, in order.
    pub signed_off_by: Vec<String>,
    /// Properties by lower-cased name, each replacing the body's property of that name; without values it goes.
    pub properties: Vec<(String, Vec<String>)>,
}

impl CommitHeaders {
    /// Reads the headers. Text is UTF-8, else Latin-1.
    pub fn of(headers: &HeaderMap) -> Self {
        let properties = headers
            .keys()
            .filter_map(|name| Some((name, name.as_str().strip_prefix(PROPERTY_PREFIX)?)))
            .map(|(name, property)| {
                let values = headers.get_all(name).iter().map(text).map(|value| value.trim().to_owned());
                (property.to_owned(), values.filter(|value| !value.is_empty()).collect::<Vec<_>>())
            })
            .collect();
        CommitHeaders {
            message: headers
                .get_all("nessie-commit-message")
                .iter()
                .map(text)
                .find(|value| !value.trim().is_empty()),
            authors: list(headers, "nessie-commit-authors"),
            signed_off_by: list(headers, "nessie-commit-signedoffby"),
            properties,
        }
    }
}

fn list(headers: &HeaderMap, name: &str) -> Vec<String> {
    let values = headers.get_all(name).iter().map(text);
    values
        .flat_map(|value| {
            value
                .split(',')
                .map(|part| part.trim().to_owned())
                .filter(|part| !part.is_empty())
                .collect::<Vec<_>>()
        })
        .collect()
}

fn text(value: &HeaderValue) -> String {
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => value.as_bytes().iter().map(|byte| char::from(*byte)).collect(),
    }
}
