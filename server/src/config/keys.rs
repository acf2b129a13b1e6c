//! Every setting there is: name, type, default. A star stands for a name that the operator chooses: of a warehouse, a token,
//! a rule.

use lochan_server_auth::oidc::CLOCK_SKEW_SECONDS_MAX;

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A whole number from 0 to the given one.
    Number(u32),
    /// A host, by name or address, and a port.
    Address,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of texts; elsewhere than in the file, with commas between them.
    Texts,
}

/// A setting.
#[derive(Debug)]
pub struct Key {
    /// Sections and name.
    pub path: &'static [&'static str],
    /// Its type.
    pub kind: Kind,
    /// Its value when nobody sets it.
    pub default: Option<&'static str>,
    /// Whether it is masked when shown.
    pub secret: bool,
    /// Whether `<name>_file` may name a file that holds it.
    pub from_file: bool,
}

/// Ending of the setting that names a file.
pub const FILE_SUFFIX: &str = "_file";

const fn key(path: &'static [&'static str], kind: Kind, default: Option<&'static str>) -> Key {
    Key { path, kind, default, secret: false, from_file: false }
}

const fn credential(path: &'static [&'static str], default: Option<&'static str>, secret: bool) -> Key {
    Key { path, kind: Kind::Text, default, secret, from_file: true }
}

/// The settings, in the order in which they are shown.
pub const KEYS: &[Key] = &[
    key(&["server", "listen"], Kind::Address, Some("127.0.0.1:19120")),
    key(&["server", "management_listen"], Kind::Address, Some("127.0.0.1:9000")),
    // The URL under which clients reach the public surfaces, where it is not the host that they name.
    key(&["server", "public_url"], Kind::Text, None),
    // Believe `X-Forwarded-*`; only where a proxy that sets them stands before every client.
    key(&["server", "trusted_proxy"], Kind::Bool, Some("false")),
    key(&["server", "allow_unauthenticated"], Kind::Bool, Some("false")),
    // 0 stands for one per core, at least 2 and at most 16.
    key(&["server", "worker_threads"], Kind::Number(256), Some("0")),
    key(&["store", "data_dir"], Kind::Text, Some("./lochan-data")),
    key(&["store", "engine"], Kind::Word(&lochan_storage::Engine::NAMES), Some("sled")),
    // "os" acknowledges what a power cut may lose.
    key(&["store", "durability"], Kind::Word(&lochan_storage::Durability::NAMES), Some("fsync")),
    key(&["store", "cache_mib"], Kind::Number(1 << 20), Some("64")),
    // Free space that the disk must have for a write to be taken; at most a twentieth of the disk, 0 for none.
    key(&["store", "reserve_mib"], Kind::Number(1 << 20), Some("128")),
    key(&["store", "replay_mib"], Kind::Number(1 << 20), Some("128")),
    // How fast the scrub in the background reads; 0 for none at all.
    key(&["scrub", "mib_per_second"], Kind::Number(1 << 20), Some("2")),
    // From the end of one round to the beginning of the next.
    key(&["scrub", "every_hours"], Kind::Number(24 * 365), Some("24")),
    // From the start of the server to the first round.
    key(&["scrub", "begin_after_seconds"], Kind::Number(u32::MAX), Some("600")),
    // How fast a backup reads the store; 0 for no bound. The faster, the more commits wait for what it syncs to the same disk.
    key(&["backup", "mib_per_second"], Kind::Number(1 << 20), Some("8")),
    key(&["backup", "s3", "endpoint"], Kind::Text, None),
    key(&["backup", "s3", "region"], Kind::Text, None),
    key(&["backup", "s3", "path_style"], Kind::Bool, None),
    credential(&["backup", "s3", "access_key_id"], None, false),
    credential(&["backup", "s3", "secret_access_key"], None, true),
    key(&["catalog", "default_branch"], Kind::Text, Some("main")),
    // False answers 404 as the reference server does.
    key(&["catalog", "merge_unrelated"], Kind::Bool, Some("false")),
    key(&["catalog", "document_cache_mib"], Kind::Number(1 << 20), Some("64")),
    key(&["log", "level"], Kind::Text, Some("info")),
    key(&["log", "format"], Kind::Word(&["human", "json"]), Some("human")),
    // The section's name is that of the principal.
    credential(&["auth", "tokens", "*", "token"], None, true),
    Key { secret: true, ..key(&["auth", "tokens", "*", "token_sha256"], Kind::Text, None) },
    key(&["auth", "tokens", "*", "roles"], Kind::Texts, None),
    key(&["auth", "oidc", "issuer"], Kind::Text, None),
    key(&["auth", "oidc", "audience"], Kind::Texts, None),
    key(&["auth", "oidc", "algorithms"], Kind::Texts, None),
    key(&["auth", "oidc", "jwks_uri"], Kind::Text, None),
    key(&["auth", "oidc", "principal_claim"], Kind::Text, None),
    key(&["auth", "oidc", "roles_claim"], Kind::Text, None),
    key(&["auth", "oidc", "clock_skew_seconds"], Kind::Number(CLOCK_SKEW_SECONDS_MAX), None),
    key(&["auth", "oidc", "allow_http"], Kind::Bool, None),
    key(&["authz", "rules", "*"], Kind::Text, None),
    key(&["dev", "s3_listen"], Kind::Address, Some("127.0.0.1:19121")),
    key(&["dev", "bucket"], Kind::Text, Some("lake")),
    key(&["dev", "region"], Kind::Text, Some("us-east-1")),
    credential(&["dev", "access_key_id"], Some("lochan-dev"), false),
    credential(&["dev", "secret_access_key"], Some("lochan-dev-secret"), true),
    key(&["warehouses", "*", "location"], Kind::Text, None),
    key(&["warehouses", "*", "default"], Kind::Bool, None),
    key(&["warehouses", "*", "s3", "endpoint"], Kind::Text, None),
    key(&["warehouses", "*", "s3", "external_endpoint"], Kind::Text, None),
    key(&["warehouses", "*", "s3", "region"], Kind::Text, None),
    key(&["warehouses", "*", "s3", "path_style"], Kind::Bool, None),
    credential(&["warehouses", "*", "s3", "access_key_id"], None, false),
    credential(&["warehouses", "*", "s3", "secret_access_key"], None, true),
];

/// The setting at `path`, and whether `path` is its file form.
pub fn find(path: &[String]) -> Option<(&'static Key, bool)> {
    let fits = |key: &&Key, last: &str| {
        let (Some((_, init)), Some((key_last, key_init))) = (path.split_last(), key.path.split_last()) else {
            return false;
        };
        (*key_last == "*" || *key_last == last)
            && key_init.len() == init.len()
            && key_init.iter().zip(init).all(|(known, given)| *known == "*" || known == given)
    };
    let last = path.last()?;
    if let Some(key) = KEYS.iter().find(|key| fits(key, last)) {
        return Some((key, false));
    }
    let bare = last.strip_suffix(FILE_SUFFIX)?;
    KEYS.iter().find(|key| key.from_file && fits(key, bare)).map(|key| (key, true))
}

/// Whether some setting lies below `path`.
pub fn is_section(path: &[String]) -> bool {
    KEYS.iter().any(|key| {
        key.path.len() > path.len()
            && key.path.iter().zip(path).all(|(known, given)| *known == "*" || known == given)
    })
}

/// The known setting whose name is nearest to `path`, with the chosen name filled in.
pub fn nearest(path: &[String]) -> String {
    let given = path.join(".");
    let known = KEYS.iter().flat_map(|key| {
        let name = |suffix: &str| {
            let parts = key.path.iter().enumerate().map(|(at, part)| match *part {
                "*" => path.get(at).map_or("NAME", String::as_str),
                part => part,
            });
            format!("{}{suffix}", parts.collect::<Vec<_>>().join("."))
        };
        std::iter::once(name("")).chain(key.from_file.then(|| name(FILE_SUFFIX)))
    });
    known.min_by_key(|name| strsim::damerau_levenshtein(&given, name)).unwrap_or_default()
}
