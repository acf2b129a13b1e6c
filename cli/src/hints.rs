//! What to do after an error. Hints are advice beside the error, never part of it, and never fail.

use lochan_api_spec::nessie::model::{ConflictType, ContentKey, MergeBehavior};
use lochan_api_spec::nessie::v2::trees::{GetEntries, get_all_references, get_entries};
use lochan_api_spec::syntax::RefSpec;
use lochan_api_spec::syntax::reference::{DETACHED, NO_ANCESTOR_HASH};

use crate::args::key;
use crate::client::{self, Refusal};
use crate::commands::Session;
use crate::error::{Error, MergeConflict};
use crate::output::page::HASH_DIGITS_SHORT;
use crate::settings::{Credentials, ENDPOINT_DEFAULT, Source};

/// How alike two names must be to suggest one for the other, from 0 to 1.
const LIKENESS_MIN: f64 = 0.75;

/// How many names are suggested.
const SUGGESTIONS_MAX: usize = 3;

/// How many keys of a state are compared with a mistyped one.
const KEYS_COMPARED_MAX: i32 = 1000;

/// For how many conflicting keys the option is spelled out.
const KEYS_SPELLED_MAX: usize = 3;

/// How a statement gives a token.
const USING: &str = "CONNECT TO … USING authentication.token = …";

/// The most alike of some names, best first.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>, likeness_min: f64) -> Vec<&'a str> {
    let lower = wrong.to_lowercase();
    let mut scored: Vec<(f64, &str)> = names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(&lower, &name.to_lowercase()), name))
        .filter(|(score, _)| *score >= likeness_min)
        .collect();
    scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    scored.into_iter().take(SUGGESTIONS_MAX).map(|(_, name)| name).collect()
}

/// Hints that need no server.
pub fn offline(error: &Error) -> Vec<String> {
    match error {
        Error::Settings(message) if message.starts_with("the endpoint") => {
            vec![format!("an endpoint is the server's root, such as {ENDPOINT_DEFAULT}")]
        }
        Error::Statement { usage, .. } if usage.is_empty() => {
            vec!["`help` lists what can be said".to_owned()]
        }
        Error::Statement { usage, .. } => {
            usage.iter().map(|usage| usage.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        }
        _ => Vec::new(),
    }
}

/// Hints for an error of a command.
pub async fn for_error(error: &Error, session: &Session) -> Vec<String> {
    let (error, texts) = match error {
        Error::Edited { error, texts } => (error.as_ref(), texts.as_slice()),
        error => (error, &[] as &[_]),
    };
    let mut hints = for_cause(error, session).await;
    hints.extend(texts.iter().map(|(key, path)| {
        let words = [key.as_str(), "--file", &path.display().to_string()].map(key::in_shell);
        format!("what was typed is kept: `lochan content commit {}` takes it", words.join(" "))
    }));
    hints
}

async fn for_cause(error: &Error, session: &Session) -> Vec<String> {
    match error {
        Error::Client(error) => {
            match error.as_ref() {
                client::Error::Unreachable { reason, .. } => unreachable_server(reason, session),
                client::Error::NotTheApi { .. } => {
                    let see = see_config(&session.settings.endpoint_source);
                    vec![format!("the endpoint is the server's root, such as {ENDPOINT_DEFAULT}{see}")]
                }
                client::Error::Unknown { request, .. } => outcome_unknown(request),
                client::Error::Refused(refusal) => refused(refusal, session).await,
                client::Error::NoToken { .. } if session.settings.credentials_source == Source::Statement => {
                    Vec::new()
                }
                client::Error::NoToken { .. } => {
                    vec!["`lochan config` shows which client asks which provider".to_owned()]
                }
                client::Error::NotLochan { .. } => {
                    vec!["reflog, undo, rebase and import need a Lochan server; all else works with any Nessie".to_owned()]
                }
                client::Error::Setup { .. } | client::Error::Broken { .. } => Vec::new(),
            }
        }
        Error::Merge(conflict) => merge_conflict(conflict),
        Error::NoCommit(digits) if digits.len() < client::HASH_DIGITS => vec![
            "first digits are looked up among the commits of branches and tags; others need all 64 digits"
                .to_owned(),
        ],
        Error::NothingThere(_) => {
            vec![format!(
                "where the state without any commit is meant, say {}",
                NO_ANCESTOR_HASH.get(..HASH_DIGITS_SHORT).unwrap_or_default()
            )]
        }
        Error::KeyTaken(_) => vec!["without --new it is updated".to_owned()],
        Error::AmbiguousCommit(_) => vec!["give more digits".to_owned()],
        Error::WrongKind { instead, .. } => vec![format!("say `{instead}`")],
        Error::WouldDelete { .. } => {
            vec!["--allow-deletes (in a statement: ALLOW DELETES) deletes it".to_owned()]
        }
        Error::NoContent { key, state } => missing_key(key, state, session).await,
        Error::NothingCalled { word, state } => {
            let mut hints = near_references(word, session).await;
            if hints.is_empty() {
                hints = missing_key(word, state, session).await;
            }
            hints
        }
        other => offline(other),
    }
}

fn unreachable_server(reason: &str, session: &Session) -> Vec<String> {
    let settings = &session.settings;
    let mut hints = Vec::new();
    // What our side of TLS makes of an answer that is none.
    if let Some(rest) =
        settings.endpoint.strip_prefix("https://").filter(|_| reason.contains("InvalidContentType"))
    {
        hints.push(format!("it answers without TLS; try http://{rest}"));
    }
    match &settings.endpoint_source {
        Source::Environment(name) => hints.push(format!("the address comes from {name}")),
        Source::File => {
            let file = settings.file.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
            hints.push(format!("the address comes from {file}"));
        }
        Source::Flag | Source::Statement | Source::Default => {}
    }
    if reason.contains("UnknownIssuer") {
        hints.push("SSL_CERT_FILE names a file with certificates to trust, SSL_CERT_DIR a folder".to_owned());
        return hints;
    }
    let name_another = match &settings.endpoint_source {
        Source::Statement => "CONNECT TO",
        _ => "--endpoint or LOCHAN_ENDPOINT",
    };
    hints.push(format!("start a server with `lochan-server`, or name another with {name_another}"));
    hints
}

/// Where settings are shown. What a statement said stands in it.
fn see_config(source: &Source) -> &'static str {
    match source {
        Source::Statement => "",
        _ => " (see `lochan config`)",
    }
}

fn outcome_unknown(request: &str) -> Vec<String> {
    let mut hints = vec!["look before repeating it: a second try may do it twice".to_owned()];
    if request.contains("/history/") {
        let branch = branch_of(request).unwrap_or_else(|| "BRANCH".to_owned());
        hints.push(format!("`lochan log {branch} -n 3` shows whether the commit is there"));
    } else {
        hints.push("`lochan branch` and `lochan tag` show where references stand".to_owned());
    }
    hints
}

fn merge_conflict(conflict: &MergeConflict) -> Vec<String> {
    let MergeConflict { command, modes: given, source_name, target, source_is_branch, keys, .. } = conflict;
    let of_key = |of: &ContentKey, mode: &str| {
        format!(" --key-mode {}", key::in_shell(&format!("{}={mode}", key::show(of))))
    };
    // Keys in conflict get the mode that is proposed; all else stays as it was given.
    let others = given.key_mode.iter().filter(|given| !keys.contains(&given.key));
    let others: String = others.map(|given| of_key(&given.key, given.mode.as_str())).collect();
    let modes = |mode: &str| {
        if keys.len() > KEYS_SPELLED_MAX {
            return format!("{command} --mode {mode}{others}");
        }
        let of_all = match given.mode {
            MergeBehavior::Normal => String::new(),
            mode => format!(" --mode {}", mode.as_str()),
        };
        let of_keys: String = keys.iter().map(|of| of_key(of, mode)).collect();
        format!("{command}{of_all}{others}{of_keys}")
    };
    let mut hints = vec![
        format!("take {source_name}'s state:  {}", modes("FORCE")),
        format!("keep {target}'s state:  {}", modes("DROP")),
    ];
    if *source_is_branch {
        hints.push(format!("or make the change anew on a fresh branch of {target} and merge that"));
    }
    hints
}

async fn refused(refusal: &Refusal, session: &Session) -> Vec<String> {
    let (credentials, source) = (&session.settings.credentials, &session.settings.credentials_source);
    let mut hints = Vec::new();
    match refusal.status {
        401 => hints.push(match (credentials, source) {
            (Credentials::None, Source::Statement) => format!("give a token with {USING}"),
            (Credentials::None, _) => {
                "give a token with LOCHAN_TOKEN, LOCHAN_TOKEN_FILE, --token-file or `lochan config --set token_file FILE`"
                    .to_owned()
            }
            _ => format!("the token that was sent is not valid, or no longer{}", see_config(source)),
        }),
        403 if refusal.message.contains(DETACHED) => hints.push(
            "a commit alone is nobody's; name a branch or tag beside it that you may read: main@HASH".to_owned(),
        ),
        403 => hints.push(match (credentials, source) {
            (Credentials::None, Source::Statement) => format!("a token may allow it: {USING}"),
            (Credentials::None, _) => {
                "a token may allow it: LOCHAN_TOKEN, LOCHAN_TOKEN_FILE or --token-file".to_owned()
            }
            _ => "the token's role does not allow it; whoever keeps the server's rules can change that".to_owned(),
        }),
        _ if refusal.is_reference_missing() => {
            if let Some(name) = quoted_after(&refusal.message, "Named reference ") {
                hints.extend(near_references(name, session).await);
                if hints.is_empty() {
                    hints.push("`lochan branch` and `lochan tag` list what there is".to_owned());
                }
            }
        }
        _ if !refusal.references.is_empty() => hints.push(
            "--prefix NAME/ takes them in under other names, --existing keep or move decides about them".to_owned(),
        ),
        _ if refusal.is_name_taken() => {
            let name = quoted_after(&refusal.message, "reference ").unwrap_or("NAME");
            hints.push(format!("`lochan show {name}` shows where it stands; --force moves it"));
        }
        507 => hints.push("nothing was changed; writes go on once the server's disk has room again".to_owned()),
        429 | 503 => {
            let when = refusal.retry_after_s.map_or_else(String::new, |seconds| format!(" in {seconds} s"));
            hints.push(format!("nothing was changed; try again{when}"));
        }
        500..600 => hints.push(format!("{} failed; the server's log says why", refusal.request)),
        _ => {}
    }
    let error_conflicts = match &refusal.details {
        Some(lochan_api_spec::nessie::model::ErrorDetails::ReferenceConflicts { conflicts }) => {
            conflicts.as_slice()
        }
        _ => &[],
    };
    let branch = branch_of(&refusal.request).unwrap_or_else(|| "BRANCH".to_owned());
    let mut absent: Vec<&ContentKey> = Vec::new();
    for conflict in error_conflicts {
        match (conflict.conflict_type, &conflict.key) {
            (ConflictType::UnexpectedHash, _) => {
                hints.push(format!(
                    "look what happened meanwhile with `lochan log {branch}`, then run the command again"
                ));
            }
            (ConflictType::NamespaceAbsent, Some(key)) => absent.push(key),
            (ConflictType::NamespaceNotEmpty, Some(key)) => hints.push(format!(
                "`lochan content list --ref {branch} --prefix {}` shows what is in it",
                key::in_shell(&key::show(key))
            )),
            (ConflictType::KeyDoesNotExist, Some(key)) => {
                hints.extend(missing_key(&key::show(key), &branch, session).await);
            }
            (ConflictType::ValueDiffers | ConflictType::KeyExists, Some(key)) => {
                hints.push(format!(
                    "`lochan log --key {}` shows who changed it",
                    key::in_shell(&key::show(key))
                ));
            }
            _ => {}
        }
    }
    // The outermost one is told last and must be made first.
    for key in absent.iter().rev().take(SUGGESTIONS_MAX) {
        hints.push(format!(
            "make it with `lochan content commit --ref {branch} --put {} --namespace`",
            key::in_shell(&key::show(key))
        ));
    }
    hints.dedup();
    hints
}

/// The name in a request's path: `dev` of `POST /api/v2/trees/dev%40HASH/history/merge`.
fn branch_of(request: &str) -> Option<String> {
    let (_, path) = request.split_once("/trees/")?;
    let segment = path.split(['/', '?']).next()?;
    RefSpec::parse_encoded(segment).ok()?.name
}

/// What stands between quotes behind a word: the name in `Named reference 'x' not found`.
fn quoted_after<'a>(message: &'a str, word: &str) -> Option<&'a str> {
    let (_, rest) = message.split_once(word)?;
    rest.strip_prefix('\'')?.split_once('\'').map(|(name, _)| name)
}

async fn near_references(name: &str, session: &Session) -> Vec<String> {
    let Ok(found) = session.client.references(get_all_references::Query::default()).await else {
        return Vec::new();
    };
    let names = found.references.iter().filter_map(|reference| reference.name.as_deref());
    did_you_mean(&nearest(name, names, LIKENESS_MIN))
}

async fn missing_key(wrong: &str, state: &str, session: &Session) -> Vec<String> {
    let Ok(at) = crate::args::point::parse(state) else { return Vec::new() };
    let query = get_entries::Query { max_records: Some(KEYS_COMPARED_MAX), ..Default::default() };
    let Ok(found) = session.client.ask::<GetEntries>(GetEntries::path(&at), &query).await else {
        return Vec::new();
    };
    let keys: Vec<String> = found.entries.iter().map(|entry| key::show(&entry.name)).collect();
    if keys.iter().any(|key| key == wrong) {
        return vec![format!("{state} holds it now, but not at the commit that was asked")];
    }
    let near = did_you_mean(&nearest(wrong, keys.iter().map(String::as_str), LIKENESS_MIN));
    if near.is_empty() {
        let state = if at.name.is_none() { state.get(..HASH_DIGITS_SHORT).unwrap_or(state) } else { state };
        vec![format!("`lochan content list --ref {state}` lists the keys")]
    } else {
        near
    }
}

fn did_you_mean(names: &[&str]) -> Vec<String> {
    if names.is_empty() {
        return Vec::new();
    }
    let names: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    vec![format!("did you mean {}?", names.join(" or "))]
}
