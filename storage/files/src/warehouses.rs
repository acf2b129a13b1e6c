//! All warehouses of a server: found by name, by location, or by what they contain.

use std::sync::Arc;

use crate::config::WarehouseConfig;
use crate::error::Error;
use crate::location::Location;
use crate::warehouse::Warehouse;

/// Most warehouses one server opens.
pub const WAREHOUSES_MAX: usize = 1_000;
/// Longest name of a warehouse, in bytes.
pub const NAME_BYTES_MAX: usize = 128;

/// The warehouses in the order of their configuration; at least one. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Warehouses {
    all: Arc<[Warehouse]>,
    default: Warehouse,
}

impl Warehouses {
    /// Opens the clients of all warehouses. Nothing is read, written or connected to yet.
    ///
    /// Errors ([`Error::Invalid`], naming the location): no warehouse or too many, a malformed or
    /// repeated name, two defaults, one location twice (one inside another is allowed), a location or
    /// S3 setting that cannot be used.
    pub fn open(configs: Vec<WarehouseConfig>) -> Result<Warehouses, Error> {
        if configs.len() > WAREHOUSES_MAX {
            return Err(Error::invalid("", format!("is one of more than {WAREHOUSES_MAX} warehouses")));
        }
        let mut all: Vec<Warehouse> = Vec::with_capacity(configs.len());
        let mut default = None;
        for config in configs {
            check_name(&config)?;
            let mut location = Location::parse(&config.location)?;
            if config.location.starts_with('/') {
                location = location.in_canonical_text();
            }
            let refuse = |reason: String| Err(Error::invalid(config.location.as_str(), reason));
            if all.iter().any(|other| other.name() == config.name) {
                return refuse(format!("belongs to a second warehouse named '{}'", config.name));
            }
            if let Some(other) = all.iter().find(|other| *other.location() == location) {
                return refuse(format!("is already that of warehouse '{}'", other.name()));
            }
            let warehouse = Warehouse::open(config.name, location, config.s3)?;
            if config.default && default.replace(warehouse.clone()).is_some() {
                return refuse("is a second default warehouse".to_owned());
            }
            all.push(warehouse);
        }
        match default.or_else(|| all.first().cloned()) {
            Some(default) => Ok(Warehouses { all: all.into(), default }),
            None => Err(Error::invalid("", "is missing: no warehouse is configured")),
        }
    }

    /// The warehouse used when a client names none: the one marked so, else the first.
    pub fn default(&self) -> &Warehouse {
        &self.default
    }

    /// Finds a warehouse by its name, else by its location in any of its forms; a trailing slash is
    /// ignored. A location inside a warehouse does not name it; see [`Warehouses::owner_of`].
    pub fn find(&self, name_or_location: &str) -> Option<&Warehouse> {
        let by_name = self.iter().find(|warehouse| warehouse.name() == name_or_location);
        by_name.or_else(|| {
            let location = Location::parse(name_or_location).ok()?;
            self.iter().find(|warehouse| *warehouse.location() == location)
        })
    }

    /// The warehouse that contains a location; of several nested ones, the innermost.
    pub fn owner_of(&self, location: &Location) -> Option<&Warehouse> {
        self.iter()
            .filter(|warehouse| warehouse.location().contains(location))
            .max_by_key(|warehouse| warehouse.location().canonical().len())
    }

    /// All warehouses, in the order of their configuration.
    pub fn iter(&self) -> impl Iterator<Item = &Warehouse> {
        self.all.iter()
    }
}

fn check_name(config: &WarehouseConfig) -> Result<(), Error> {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let is_good =
        !config.name.is_empty() && config.name.len() <= NAME_BYTES_MAX && config.name.chars().all(is_allowed);
    match is_good {
        true => Ok(()),
        false => Err(Error::invalid(
            config.location.as_str(),
            format!(
                "has a warehouse name other than 1 to {NAME_BYTES_MAX} letters, digits, '.', '_' and '-'"
            ),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{S3Config, Secret};

    fn config(name: &str, location: &str) -> WarehouseConfig {
        WarehouseConfig { name: name.into(), location: location.into(), default: false, s3: None }
    }

    fn minio() -> S3Config {
        S3Config {
            endpoint: Some("http://minio:9000".into()),
            external_endpoint: Some("http://localhost:9000".into()),
            path_style: true,
            access_key_id: Some("key".into()),
            secret_access_key: Some(Secret::new("hunter2")),
            ..S3Config::default()
        }
    }

    #[test]
    fn found_by_name_location_and_content() {
        let mut lake = config("lake", "s3://lake/wh");
        lake.s3 = Some(minio());
        let mut inner = config("inner", "s3a://lake/wh/inner/");
        inner.s3 = Some(minio());
        inner.default = true;
        let all = Warehouses::open(vec![config("disk", "/tmp/lake"), lake, inner]).unwrap();

        assert_eq!(all.default().name(), "inner");
        let found = |text: &str| all.find(text).map(|w| w.name().to_owned());
        assert_eq!(found("lake").as_deref(), Some("lake"));
        assert_eq!(found("s3n://lake/wh/").as_deref(), Some("lake"));
        assert_eq!(found("file:/tmp/lake").as_deref(), Some("disk"));
        assert_eq!(found("s3://lake/wh/x"), None);
        assert_eq!(found(""), None);

        let owner = |text: &str| all.owner_of(&Location::parse(text).unwrap()).map(|w| w.name().to_owned());
        assert_eq!(owner("s3://lake/wh/inner/t").as_deref(), Some("inner"));
        assert_eq!(owner("s3://lake/wh/inner2/t").as_deref(), Some("lake"));
        assert_eq!(owner("s3://lake/wh2"), None);
        assert_eq!(owner("/tmp/lake/x").as_deref(), Some("disk"));
        assert_eq!(all.iter().count(), 3);
        assert_eq!(all.find("disk").unwrap().location().as_str(), "file:///tmp/lake");
    }

    #[test]
    fn clients_are_told_everything_but_secrets() {
        let mut lake = config("lake", "s3://lake/wh");
        lake.s3 = Some(minio());
        let all = Warehouses::open(vec![lake, config("disk", "/tmp/lake")]).unwrap();
        let told = all.default().client_properties();
        let expected = [
            ("client.region", "us-east-1"),
            ("s3.region", "us-east-1"),
            ("s3.endpoint", "http://localhost:9000"),
            ("s3.path-style-access", "true"),
        ];
        assert_eq!(told, expected.map(|(k, v)| (k.to_owned(), v.to_owned())));
        assert!(all.find("disk").unwrap().client_properties().is_empty());
        assert!(!format!("{all:?}").contains("hunter2"));
    }

    #[test]
    fn bad_configurations_say_what_is_wrong() {
        fn refused(configs: Vec<WarehouseConfig>, reason: &str) {
            let error = Warehouses::open(configs).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
        refused(vec![], "no warehouse");
        refused(vec![config("", "/tmp/a")], "name");
        refused(vec![config("a|b", "/tmp/a")], "name");
        refused(vec![config("a", "/tmp/a"), config("a", "/tmp/b")], "second warehouse");
        refused(vec![config("a", "/tmp/a"), config("b", "file:///tmp/a/")], "already that of warehouse 'a'");
        refused(vec![config("a", "relative")], "neither");
        let with = |s3: S3Config, location: &str| WarehouseConfig { s3: Some(s3), ..config("a", location) };
        refused(vec![with(minio(), "/tmp/a")], "has S3 settings");
        refused(
            vec![with(S3Config { endpoint: Some("minio:9000".into()), ..minio() }, "s3://lake")],
            "endpoint",
        );
        refused(vec![with(S3Config { secret_access_key: None, ..minio() }, "s3://lake")], "is missing");
        let default = |name: &str| WarehouseConfig { default: true, ..config(name, &format!("/tmp/{name}")) };
        refused(vec![default("a"), default("b")], "second default");
    }

    #[test]
    fn no_more_are_opened_than_the_bound() {
        let many = |count: usize| {
            let one = |n: usize| config(&format!("w{n}"), &format!("file:///data/w{n}"));
            Warehouses::open((0..count).map(one).collect())
        };
        assert!(many(WAREHOUSES_MAX).is_ok());
        assert!(many(WAREHOUSES_MAX + 1).unwrap_err().to_string().contains("more than 1000 warehouses"));
    }
}
