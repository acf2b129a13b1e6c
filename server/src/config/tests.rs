use super::*;

fn load_all(toml: &str, env: &[(&str, &str)], flags: &[(&[&str], &str)]) -> Result<Loaded, Error> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lochan.toml");
    std::fs::write(&file, toml).unwrap();
    let vars = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mut layer = Layer::new();
    for (path, value) in flags {
        layer.set_text(path, value, Origin::Flag("--test".to_owned()));
    }
    load(Some(&file), vars, layer)
}

fn refused(toml: &str, env: &[(&str, &str)]) -> String {
    load_all(toml, env, &[]).unwrap_err().to_string()
}

#[test]
fn nothing_set_is_the_zero_configuration_start() {
    let config = load(None, [], Layer::new()).unwrap().config;
    assert_eq!(config.server.listen, "127.0.0.1:19120");
    assert_eq!(
        config.server.management_listen,
        Listen { address: "127.0.0.1:9000".into(), is_chosen: false }
    );
    assert!(!config.server.allow_unauthenticated && !config.server.trusted_proxy);
    assert_eq!(config.store.data_dir, PathBuf::from("./lochan-data"));
    assert_eq!(config.catalog.default_branch, "main");
    assert!(!config.catalog.merge_unrelated);
    assert_eq!(config.store.durability, lochan_storage::Durability::Fsync);
    assert_eq!(config.store.reserve_mib, 128);
    assert_eq!((config.store.cache_mib, config.catalog.document_cache_mib), (64, 64));
    let warehouses = config.warehouses_or_default();
    assert_eq!(warehouses.len(), 1);
    assert!(warehouses[0].default && warehouses[0].s3.is_none());
    let location = &warehouses[0].location;
    assert!(location.starts_with("file:///") && location.ends_with("/lochan-data/warehouse"), "{location}");
}

#[test]
fn flags_win_over_environment_over_file_over_defaults() {
    let toml = "[server]\nlisten = 'file:1'\nmanagement_listen = 'file:2'\n[log]\nlevel = 'debug'\n";
    let env = [("LOCHAN__SERVER__LISTEN", "env:1"), ("LOCHAN__SERVER__MANAGEMENT_LISTEN", "env:2")];
    let config = load_all(toml, &env, &[(&["server", "listen"], "flag:1")]).unwrap().config;
    assert_eq!(config.server.listen, "flag:1");
    assert_eq!(config.server.management_listen, Listen { address: "env:2".into(), is_chosen: true });
    assert_eq!(config.log.level, "debug");
    assert!(!config.log.is_json);
}

#[test]
fn warehouses_come_from_every_source() {
    let toml = r#"
        [warehouses.zeta]
        location = "s3://b/z"
        [warehouses.Lake]
        location = "s3://b/l"
        default = true
        [warehouses.Lake.s3]
        endpoint = "http://127.0.0.1:9000"
        path_style = true
        access_key_id = "k"
    "#;
    let env = [
        ("LOCHAN__WAREHOUSES__LAKE__S3__ENDPOINT", "http://other"),
        ("LOCHAN__WAREHOUSES__LAKE__S3__SECRET_ACCESS_KEY", "sesame"),
        ("LOCHAN__WAREHOUSES__NEW__LOCATION", "/tmp/new"),
        ("LOCHAN_ENDPOINT", "http://belongs-to-the-cli"),
    ];
    let config = load_all(toml, &env, &[(&["warehouses", "flagged", "location"], "s3://f")]).unwrap().config;
    let names: Vec<&str> = config.warehouses.iter().map(|warehouse| warehouse.name.as_str()).collect();
    assert_eq!(names, ["zeta", "Lake", "new", "flagged"]);
    let lake = &config.warehouses[1];
    let s3 = lake.s3.as_ref().unwrap();
    assert!(lake.default && s3.path_style);
    assert_eq!(s3.endpoint.as_deref(), Some("http://other"));
    assert_eq!(s3.region, "us-east-1");
    assert_eq!(s3.access_key_id.as_deref(), Some("k"));
    assert_eq!(s3.secret_access_key.as_ref().unwrap().expose(), "sesame");
    assert_eq!(config.warehouses[0].location, "s3://b/z");
    assert!(config.warehouses[0].s3.is_none());
    assert_eq!(config.warehouses[2].location, "file:///tmp/new");
}

#[test]
fn unknown_keys_name_the_nearest() {
    let text = refused("[server]\nlissten = 'x'\n", &[]);
    assert!(text.contains("'server.lissten'") && text.contains("'server.listen'"), "{text}");
    let text = refused("[warehouses.lake]\nlocation = 'x'\n[warehouses.lake.s3]\nregoin = 'x'\n", &[]);
    assert!(text.contains("'warehouses.lake.s3.region'"), "{text}");
    let text = refused("", &[("LOCHAN__STORE__DATADIR", "x")]);
    assert!(text.contains("LOCHAN__STORE__DATADIR") && text.contains("'store.data_dir'"), "{text}");
    let text = refused("", &[("LOCHAN__WAREHOUSES__A__S3__SECRET_ACCES_KEY_FILE", "x")]);
    assert!(text.contains("'warehouses.a.s3.secret_access_key_file'"), "{text}");
    assert!(refused("warehouses = 1\n", &[]).contains("'warehouses'"));
    assert!(refused("[store]\ndata_dir_file = 'x'\n", &[]).contains("nearest"));
    assert!(refused("", &[("LOCHAN__", "x")]).contains("nearest"));
}

#[test]
fn values_of_the_wrong_type_are_named() {
    assert!(refused("[server]\nlisten = 3\n", &[]).contains("'server.listen'"));
    assert!(refused("[server]\nallow_unauthenticated = 'yes'\n", &[]).contains("true or false"));
    assert!(refused("", &[("LOCHAN__LOG__FORMAT", "xml")]).contains("one of human, json"));
    assert!(refused("[store]\ndurability = 'never'\n", &[]).contains("one of fsync, os"));
    assert!(refused("[server]\nworker_threads = -1\n", &[]).contains("from 0 to 256"));
    assert!(refused("[server\n", &[]).contains("not valid TOML"));
    assert!(refused("[warehouses.a]\ndefault = true\n", &[]).contains("'a' has settings but no location"));
    let two =
        "[warehouses.a]\nlocation = 'x'\ndefault = true\n[warehouses.b]\nlocation = 'y'\ndefault = true\n";
    assert!(refused(two, &[]).contains("'a' and 'b'"));
    assert!(load(Some(Path::new("/no/such/file")), [], Layer::new()).is_err());
}

#[test]
fn addresses_that_nobody_can_listen_on_are_named() {
    let listen = |address: &str| load_all("", &[], &[(&["server", "listen"], address)]);
    for bad in [
        "",
        ":",
        "nonsense",
        "localhost",
        "127.0.0.1",
        "[::1]",
        "::1",
        ":19120",
        "localhost:",
        "localhost:http",
        "localhost:65536",
        "localhost:-1",
        "http://127.0.0.1:19120",
        "127.0.0.1:19120/",
        "a b:1",
        " localhost:1",
        "[::1:1",
        "[localhost]:1",
        "unix:/run/lochan.sock",
    ] {
        let text = listen(bad).unwrap_err().to_string();
        assert!(
            text.contains(
                "'server.listen' (flag: --test) must be a host and a port, such as 127.0.0.1:19120"
            ),
            "{bad}: {text}"
        );
    }
    for good in [
        "127.0.0.1:0",
        "localhost:19120",
        "my_host.example.org:65535",
        "[::1]:19120",
        "[fe80::1%2]:1",
        "::1:19120",
        "0.0.0.0:1",
    ] {
        assert_eq!(listen(good).unwrap().config.server.listen, good);
    }
    assert!(refused("[server]\nmanagement_listen = '9000'\n", &[]).contains("'server.management_listen'"));
    assert!(refused("", &[("LOCHAN__DEV__S3_LISTEN", "9000")]).contains("'dev.s3_listen'"));
}

#[test]
fn an_empty_section_is_no_silence() {
    for toml in ["[auth]\n", "[auth.tokens]\n", "auth = {}\n"] {
        let text = refused(toml, &[]);
        assert!(text.contains("'auth'") && text.contains("auth.tokens.NAME"), "{toml}: {text}");
    }
    let oidc = refused("[auth.oidc]\n[auth.tokens.a]\ntoken = 'a-token-of-thirty-two-characters'\n", &[]);
    assert!(oidc.contains("'auth.oidc.issuer'"), "{oidc}");
    assert!(refused("[auth.tokens.etl]\n", &[]).contains("'auth.tokens.etl' needs a token"));
    assert!(refused("[warehouses.lake]\n", &[]).contains("'lake' has settings but no location"));
    assert!(refused("[auht]\n", &[]).contains("'auht'"));
    assert!(refused("[server.listen]\n", &[]).contains("'server.listen'"));
    assert!(load_all("[server]\n[store]\n[authz.rules]\n", &[], &[]).unwrap().config.auth.is_none());
    let env = [("LOCHAN__AUTH__TOKENS__ETL__TOKEN", "a-token-of-thirty-two-characters")];
    assert!(load_all("[auth.tokens.Etl]\n", &env, &[]).unwrap().config.auth.unwrap().tokens.len() == 1);
}

#[test]
fn settings_that_no_request_can_be_made_of_are_named() {
    let lake = |line: &str| format!("[warehouses.lake]\nlocation = 's3://b'\n[warehouses.lake.s3]\n{line}\n");
    for (line, key) in [
        ("endpoint = 'minio:9000'", "'warehouses.lake.s3.endpoint'"),
        ("endpoint = 'http://host/a b'", "'warehouses.lake.s3.endpoint'"),
        ("external_endpoint = 'http://é'", "'warehouses.lake.s3.external_endpoint'"),
        ("region = 'eu west'", "'warehouses.lake.s3.region'"),
        ("access_key_id = \"a\\nb\"\nsecret_access_key = 'x'", "'warehouses.lake.s3.access_key_id'"),
        ("access_key_id = 'a'", "'warehouses.lake.s3.secret_access_key'"),
        ("secret_access_key = 'a'", "'warehouses.lake.s3.access_key_id'"),
    ] {
        let text = refused(&lake(line), &[]);
        assert!(text.contains(key), "{line}: {text}");
    }
    assert!(refused("[backup.s3]\nendpoint = 'x'\n", &[]).contains("'backup.s3.endpoint'"));
    for url in ["x y", "https://x/é", "ftp://x", "https://x?y"] {
        let text = refused(&format!("[server]\npublic_url = '{url}'\n"), &[]);
        assert!(text.contains("'server.public_url'"), "{url}: {text}");
    }
    let good = "[server]\npublic_url = 'https://lochan.example.org/a/'\n";
    assert!(load_all(good, &[], &[]).unwrap().config.server.public_url.is_some());
}

#[test]
fn a_line_end_after_a_credential_does_not_count() {
    let toml = "[warehouses.a]\nlocation = 's3://b'\n[warehouses.a.s3]\nsecret_access_key = 'plain'\n";
    let env = [("LOCHAN__WAREHOUSES__A__S3__ACCESS_KEY_ID", "key\r\n")];
    let s3 = load_all(toml, &env, &[]).unwrap().config.warehouses[0].s3.clone().unwrap();
    assert_eq!(s3.access_key_id.as_deref(), Some("key"));
}

#[test]
fn secrets_come_from_files_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secret");
    std::fs::write(&file, "from-file\n").unwrap();
    let path = file.to_str().unwrap();
    let toml = "[warehouses.a]\nlocation = 's3://b'\n[warehouses.a.s3]\naccess_key_id = 'k'\nsecret_access_key = 'plain'\n";
    let env = [("LOCHAN__WAREHOUSES__A__S3__SECRET_ACCESS_KEY_FILE", path)];
    let secret = |loaded: Loaded| loaded.config.warehouses[0].s3.clone().unwrap().secret_access_key.unwrap();
    assert_eq!(secret(load_all(toml, &env, &[]).unwrap()).expose(), "from-file");
    let key: &[&str] = &["warehouses", "a", "s3", "secret_access_key"];
    assert_eq!(secret(load_all(toml, &env, &[(key, "flag")]).unwrap()).expose(), "flag");
    let both = format!("{toml}secret_access_key_file = '{path}'\n");
    assert!(refused(&both, &[]).contains("exclude each other"));
    let gone = [("LOCHAN__WAREHOUSES__A__S3__SECRET_ACCESS_KEY_FILE", "/no/such/file")];
    assert!(refused(toml, &gone).contains("/no/such/file"));
}

#[test]
fn printing_masks_secrets_and_tells_origins() {
    let toml = "[warehouses.'a.b']\nlocation = 's3://b'\n[warehouses.'a.b'.s3]\naccess_key_id = 'k'\nsecret_access_key = 'hunter2'\n";
    let loaded = load_all(toml, &[("LOCHAN__LOG__LEVEL", "warn")], &[]).unwrap();
    let text = print(&loaded);
    assert!(!text.contains("hunter2") && !text.contains("lochan-dev-secret"), "{text}");
    assert!(!format!("{loaded:?}").contains("hunter2"));
    assert!(text.contains("secret_access_key = \"***\""), "{text}");
    assert!(text.contains("listen = \"127.0.0.1:19120\" # default"), "{text}");
    assert!(text.contains("level = \"warn\" # environment: LOCHAN__LOG__LEVEL"), "{text}");
    let again = load_all(&text, &[], &[]).unwrap();
    assert_eq!(again.config.warehouses[0].name, "a.b");
    assert_eq!(print(&load(None, [], Layer::new()).unwrap()).matches("[warehouses.warehouse]").count(), 1);
}
