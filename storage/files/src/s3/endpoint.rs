//! The texts that become part of a request: looked at before the client is built, which takes them as they come and ends
//! in a panic where they make no request.

use url::{Host, Url};

/// The URL of a service as a configuration may name it: `http` or `https`, with a host, without user information, query
/// and fragment, in visible ASCII.
///
/// Errors: why it is none, as the rest of a sentence.
pub fn base_url(text: &str) -> Result<Url, &'static str> {
    if !text.chars().all(|c| c.is_ascii_graphic()) {
        return Err("has blanks or characters other than those of ASCII");
    }
    let url = Url::parse(text).map_err(|_| "is not a URL")?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err("is not an http or https URL");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("carries user information");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("has a query or fragment");
    }
    // Requests are made of this type, which knows fewer signs.
    text.parse::<http::Uri>().map_err(|_| "is not a URL")?;
    Ok(url)
}

/// Whether a URL names its host by address: there is no name that a bucket could stand before.
pub(crate) fn is_ip(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| matches!(url.host(), Some(Host::Ipv4(_) | Host::Ipv6(_))))
}

/// A text that goes into a header beside others.
pub(crate) fn check_word(text: &str) -> Result<(), &'static str> {
    match text.chars().all(|c| c.is_ascii_graphic()) {
        true => Ok(()),
        false => Err("has blanks or characters other than those of ASCII"),
    }
}

/// The URL that the objects of a bucket lie below; of AWS without an endpoint.
///
/// `http://host:9000` and `lake` make `http://lake.host:9000`, in path style `http://host:9000/lake`.
pub(crate) fn of_bucket(
    endpoint: Option<&str>,
    bucket: &str,
    region: &str,
    is_path_style: bool,
) -> Result<String, &'static str> {
    let aws = format!("https://s3.{region}.amazonaws.com");
    let endpoint = endpoint.unwrap_or(&aws);
    base_url(endpoint)?;
    let endpoint = endpoint.trim_end_matches('/');
    let url = match endpoint.split_once("://") {
        Some((scheme, host)) if !is_path_style => format!("{scheme}://{bucket}.{host}"),
        _ => format!("{endpoint}/{bucket}"),
    };
    base_url(&url).map_err(|_| "makes no URL with the bucket before its host")?;
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_base_url_is_one_that_requests_can_be_made_of() {
        for good in ["http://127.0.0.1:9000", "https://s3.example.org/", "http://[::1]:9/a/b", "http://minio"]
        {
            assert!(base_url(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "minio:9000",
            "x y",
            "http://",
            "ftp://host",
            "http://a b",
            "http://host/a b",
            "http://host\n",
            "https://x/é",
            "https://é",
            "http://u:p@host",
            "http://host?x",
            "http://host#x",
            "http://ho\"st",
            "http://{host}",
            "http://a:99999",
            "http://[::1",
            "http://1.2.3.4.5",
        ] {
            assert!(base_url(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_bucket_goes_before_the_host_or_behind_it() {
        let of = |endpoint, is_path_style| of_bucket(endpoint, "lake", "eu-west-1", is_path_style);
        assert_eq!(of(Some("https://s3.example.org/"), false).unwrap(), "https://lake.s3.example.org");
        assert_eq!(of(Some("https://s3.example.org"), true).unwrap(), "https://s3.example.org/lake");
        assert_eq!(of(None, false).unwrap(), "https://lake.s3.eu-west-1.amazonaws.com");
        assert!(of(Some("http://127.0.0.1:9000"), false).is_err());
        assert!(of_bucket(None, "lake", "eu west", false).is_err());
    }

    #[test]
    fn addresses_are_told_from_names() {
        for (url, expected) in [
            ("http://127.0.0.1:9", true),
            ("http://[::1]", true),
            ("http://10.1", true),
            ("http://host", false),
            ("?", false),
        ] {
            assert_eq!(is_ip(url), expected, "{url}");
        }
    }
}
