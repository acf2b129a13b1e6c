//! Which errors an operation can answer with, by rules over its declaration.

use crate::endpoint::{Auth, EndpointInfo, Method, Surface};

/// An answer that is no success.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) about: &'static str,
    pub(super) has_body: bool,
}

/// Every answer of `info` besides its success, by status.
pub(super) fn errors(info: &EndpointInfo) -> Vec<Answer> {
    let takes_body = matches!(info.method, Method::Post | Method::Put);
    let is_token = info.path.ends_with("/oauth/tokens");
    let is_iceberg_write = info.surface == Surface::Iceberg && info.mutates;
    let is_own = info.surface == Surface::Ext;
    // Alone among all it answers a malformed number as if its path were unknown (see the endpoint).
    let two_kinds_of_404 = info.name == "getReferenceHistory";
    let names_something = !matches!(info.path, "/api/v1/config" | "/api/v2/config" | "/ext/v1/info");
    let rules: &[(u16, bool, &'static str)] = &[
        (304, info.name == "loadTable", "The table is as the client knows it already."),
        (400, true, "The request is malformed, breaks a limit, or asks for something that cannot be."),
        (401, info.auth == Auth::Bearer, "Authentication is on and there is no valid token."),
        (403, info.auth == Auth::Bearer, "The caller may not do this."),
        (404, names_something && !two_kinds_of_404, "Something that the request names does not exist."),
        (
            404,
            two_kinds_of_404,
            "There is no such reference, which a body says; or `scan-commits` is no number, without one.",
        ),
        (405, names_something, "The path, once its empty segments are left out, has no such method."),
        (406, !is_token, "The `Accept` header takes no JSON, or the operation is not offered."),
        (408, takes_body, "The body did not arrive in time."),
        (409, info.mutates, "A conflict: something is there already, has changed, or is still in use."),
        (410, info.name == "exportRepository", "The position cannot be gone on from any more."),
        (413, takes_body, "The body is too large."),
        (414, true, "Path and query are too long."),
        (415, takes_body, "The body is not of the media type that is read, or in an unknown coding."),
        (422, is_iceberg_write, "The request contradicts itself, or its idempotency key is another's."),
        (429, !is_token, "Too busy: nothing was done. `Retry-After` says when to try again."),
        (500, true, "An unexpected failure. The server's log has it under the request id."),
        (501, is_token || is_own, "Not offered by this server."),
        (503, true, "Out of service for now: nothing was done. `Retry-After` says when to try again."),
        (507, info.mutates, "No room left: nothing was done. `Retry-After` says when to try again."),
    ];
    // What the Nessie API refuses before it looks at a request, it refuses without a body.
    let is_nessie = matches!(info.surface, Surface::NessieV1 | Surface::NessieV2);
    let is_silent = |status: u16| {
        status == 304
            || (is_nessie && matches!(status, 405 | 406 | 413))
            || (two_kinds_of_404 && status == 404)
    };
    rules
        .iter()
        .filter(|(_, holds, _)| *holds)
        .map(|(status, _, about)| Answer { status: *status, about, has_body: !is_silent(*status) })
        .collect()
}
