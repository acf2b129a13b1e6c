use lochan_server_catalog::Api;
use lochan_server_catalog::access::{ContentKey, ContentType, RefName};

use super::*;

fn policy(rules: &[&str]) -> Policy {
    Policy::compile(rules.iter().map(|rule| ("r", *rule))).unwrap()
}

fn who(name: &str, roles: &[&str]) -> Principal {
    let roles = roles.iter().map(|role| (*role).to_owned()).collect();
    Principal { name: name.into(), roles, api: Api::Iceberg, ..Principal::default() }
}

fn main() -> RefName {
    RefName::new("main").unwrap()
}

fn key(dotted: &str) -> ContentKey {
    ContentKey::new(dotted.split('/').map(str::to_owned)).unwrap()
}

async fn ask(policy: &Policy, who: &Principal, check: Check) -> Vec<bool> {
    policy.check(who, &check).await.unwrap()
}

#[tokio::test]
async fn nothing_is_allowed_without_rules_but_to_connect() {
    let all = Access::ALL.iter().fold(Check::default(), |check, access| check.and(*access, Some(&main())));
    let answers = ask(&Policy::default(), &who("ann", &[]), all.clone()).await;
    assert_eq!(answers.iter().filter(|allowed| **allowed).count(), 1);
    let answers = ask(&policy(&["true"]), &who("ann", &[]), all).await;
    assert!(answers.iter().all(|allowed| *allowed));
}

#[tokio::test]
async fn rules_of_nessies_documentation_work_as_they_are() {
    let rules = policy(&[
        "op=='VIEW_REFERENCE' && role.startsWith('test_') && ref.startsWith('allowedBranch')",
        "op=='CREATE_REFERENCE' && role=='test_user' && ref.matches('.*allowedBranch.*')",
        "op in ['VIEW_REFERENCE', 'LIST_COMMIT_LOG'] && ref.startsWith('dev')",
        "op in ['VIEW_REFERENCE', 'READ_ENTITY_VALUE'] && role=='test_user' && path.startsWith('allowed.')",
        "op=='VIEW_REFERENCE' && ref=='main' && 'readers' in roles",
        "op in ['UPDATE_REPOSITORY_CONFIG'] && type=='GARBAGE_COLLECTOR' && api.apiName=='Iceberg' && api.apiVersion==1",
        "op=='CREATE_ENTITY' && contentType=='NAMESPACE' && 'CATALOG_CREATE_ENTITY' in actions",
    ]);
    let name = |name: &str| RefName::new(name).unwrap();
    let (user, reader) = (who("test_user", &[]), who("x", &["readers", "others"]));
    let view = |reference: &str| Check::on(Access::ViewReference, Some(&name(reference)));
    assert_eq!(ask(&rules, &user, view("allowedBranch1")).await, [true]);
    assert_eq!(ask(&rules, &user, view("main")).await, [false]);
    assert_eq!(ask(&rules, &reader, view("main")).await, [true]);
    let create = Check::on(Access::CreateReference, Some(&name("my-allowedBranch-2")));
    assert_eq!(ask(&rules, &user, create.clone()).await, [true]);
    assert_eq!(ask(&rules, &reader, create).await, [false]);
    let log =
        Check::on(Access::ListCommitLog, Some(&name("dev-1"))).and(Access::ListCommitLog, Some(&main()));
    assert_eq!(ask(&rules, &reader, log).await, [true, false]);
    let config = Check::default()
        .and_config(Access::UpdateConfig, "GARBAGE_COLLECTOR")
        .and_config(Access::UpdateConfig, "OTHER")
        .and_config(Access::ReadConfig, "GARBAGE_COLLECTOR");
    assert_eq!(ask(&rules, &reader, config).await, [true, false, false]);
    let create = |actions: Option<&'static str>| {
        Check::default()
            .and_key(Access::CreateContent, Some(&main()), &key("a"), Some(ContentType::Namespace))
            .during(actions)
    };
    assert_eq!(ask(&rules, &reader, create(Some("CATALOG_CREATE_ENTITY"))).await, [true]);
    assert_eq!(ask(&rules, &reader, create(None)).await, [false]);
}

#[tokio::test]
async fn what_may_not_be_seen_may_not_be_touched() {
    let rules =
        policy(&["op!='VIEW_REFERENCE' && op!='CREATE_REFERENCE'", "op=='VIEW_REFERENCE' && ref=='main'"]);
    let hidden = RefName::new("hidden").unwrap();
    for access in Access::ALL.iter().filter(|access| access.concerns_reference()) {
        let key = key("a");
        let on = |reference: &RefName| Check::default().and_key(*access, Some(reference), &key, None);
        let seen = ask(&rules, &who("ann", &[]), on(&main())).await;
        assert_eq!(seen, [*access != Access::CreateReference], "{access:?}");
        assert_eq!(ask(&rules, &who("ann", &[]), on(&hidden)).await, [false], "{access:?}");
        // Detached commits have a name of their own in rules.
        let detached = Check::default().and_key(*access, None, &key, None);
        assert_eq!(ask(&rules, &who("ann", &[]), detached).await, [false], "{access:?}");
    }
    let detached = policy(&["op=='VIEW_REFERENCE' && ref=='DETACHED'"]);
    assert_eq!(ask(&detached, &who("", &[]), Check::on(Access::ViewReference, None)).await, [true]);
}

#[tokio::test]
async fn paths_are_told_apart_within_one_question() {
    let rules = policy(&[
        "op=='VIEW_REFERENCE'",
        "op=='READ_CONTENT_KEY' && path.startsWith('a.')",
        "op=='READ_CONTENT_KEY' && path=='b\u{1d}c'",
        "op=='READ_CONTENT_KEY' && contentType=='ICEBERG_VIEW'",
        "op=='READ_CONTENT_KEY' && role=='all'",
    ]);
    let check = ["a/x", "ab/x", "b.c", "b/c", "z"].iter().fold(Check::default(), |check, at| {
        let content_type = (*at == "z").then_some(ContentType::IcebergView);
        check.and_key(Access::ReadContentKey, Some(&main()), &key(at), content_type)
    });
    assert_eq!(ask(&rules, &who("ann", &[]), check.clone()).await, [true, false, true, false, true]);
    assert_eq!(ask(&rules, &who("all", &[]), check).await, [true; 5]);
}

#[test]
fn rules_that_are_none_are_named() {
    for bad in [
        "",
        " ",
        "role ==",
        "user == 'ann'",
        "role",
        "op + 1 == 2",
        "roles[7] == 'x'",
        "api.name == 'Nessie'",
        "'SNAP_OP_APPEND' in actions",
        "ref.matches('[')",
        &"(".repeat(100),
    ] {
        let error = Policy::compile([("mine", bad)]).err().unwrap_or_else(|| panic!("{bad} is taken"));
        assert!(error.to_string().contains("'mine'"), "{error}");
        assert!(std::error::Error::source(&error).is_some());
    }
}

#[tokio::test]
async fn a_rule_that_fails_says_no_and_others_are_asked() {
    let rules = policy(&[
        "op=='VIEW_REFERENCE' && ref=='main' && roles[1]=='x'",
        "ref=='main' && op=='VIEW_REFERENCE'",
    ]);
    assert_eq!(ask(&rules, &who("ann", &[]), Check::on(Access::ViewReference, Some(&main()))).await, [true]);
    let alone = policy(&["ref=='main' && roles[1]=='x'"]);
    assert_eq!(ask(&alone, &who("ann", &[]), Check::on(Access::ViewReference, Some(&main()))).await, [false]);
}

#[test]
fn no_more_rules_are_taken_than_the_bound() {
    let rules = |count: usize| Policy::compile((0..count).map(|_| ("all", "true")));
    assert!(rules(RULES_MAX).is_ok());
    assert!(matches!(rules(RULES_MAX + 1), Err(RuleError::TooMany)));
}
