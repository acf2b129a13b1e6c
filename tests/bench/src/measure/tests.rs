use std::net::SocketAddr;
use std::rc::Rc;

use super::*;
use crate::base::Base;
use crate::ceiling::{GroupLog, router};
use crate::workload::Tables;

async fn serve(log: Option<GroupLog>) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router(log)).await });
    addr
}

fn target(addr: SocketAddr, tables: usize) -> Target {
    Target {
        addr,
        pid: std::process::id(),
        base: Rc::new(Base::pretended(tables)),
        tables: Some(Rc::new(Tables::pretended())),
        is_ceiling: true,
    }
}

const PLAN: Plan = Plan { time: Duration::from_millis(40), pairs: 2 };

#[tokio::test]
async fn every_workload_runs_against_both_ceilings() {
    let folder = tempfile::tempdir().unwrap();
    let log = GroupLog::create(&folder.path().join("log")).unwrap();
    for addr in [serve(None).await, serve(Some(log)).await] {
        for kind in Kind::ALL {
            let servers = [target(addr, 1000), target(addr, 2000)];
            let mut slices = 0;
            let point = point(kind, 3, &servers, &target(addr, 2000), PLAN, &mut slices).await.unwrap();
            assert_eq!(slices, 6);
            for lane in &point.lanes {
                assert!(lane.is_valid(), "{}: {:?}", kind.name(), lane.errors);
                assert_eq!(lane.rates.len(), 2);
            }
            assert!(point.flat.is_some());
            assert!(point.lanes.first().unwrap().of_ceiling.is_some());
            assert!(point.lanes.last().unwrap().of_ceiling.is_none());
        }
    }
}

/// A server that acknowledges commits and keeps none of them: its histories never grow.
#[tokio::test]
async fn lost_commits_make_a_point_invalid() {
    let addr = serve(None).await;
    let server = Target { is_ceiling: false, ..target(addr, 1000) };
    let mut slices = 0;
    let point =
        point(Kind::CommitOwnTable, 2, &[server], &target(addr, 1000), PLAN, &mut slices).await.unwrap();
    let lane = point.lanes.first().unwrap();
    assert!(!lane.is_valid());
    assert!(lane.errors.keys().all(|e| e.contains("acknowledged commits are missing")), "{:?}", lane.errors);
}

fn lane() -> Lane {
    let target = Target {
        addr: "127.0.0.1:1".parse().unwrap(),
        pid: 0,
        base: Rc::new(Base::pretended(10)),
        tables: None,
        is_ceiling: false,
    };
    Lane::new(&target, Kind::CommitOwnTable)
}

fn record(ops: u64, late: u64) -> Record {
    let mut record = Record { ops, counted: ops - late, ..Record::default() };
    for _ in 0..ops {
        record.hist.add(Duration::from_millis(2));
    }
    record.timed = Duration::from_millis(2 * ops);
    record
}

#[test]
fn rates_count_what_was_answered_in_time() {
    let mut lane = lane();
    lane.add(Kind::CommitOwnTable, &[record(100, 1), record(50, 1)], Duration::from_secs(2));
    lane.close();
    assert_eq!(lane.rates, [74.0]);
    assert_eq!(lane.ops, 150);
    assert_eq!(lane.slowest_share.map(|s| s.median), Some(50.0 * 2.0 / 150.0));
    assert!(lane.is_valid());
}

#[test]
fn timed_parts_make_the_rate_of_a_merge() {
    let mut lane = lane();
    lane.add(Kind::Merge, &[record(10, 0)], Duration::from_secs(5));
    assert_eq!(lane.rates, [500.0]);
}

#[test]
fn one_error_makes_a_lane_invalid() {
    let mut lane = lane();
    let mut bad = record(5, 0);
    bad.errors.insert("commit: status 409".into(), 1);
    lane.add(Kind::CommitOwnTable, &[record(5, 0), bad], Duration::from_secs(1));
    lane.close();
    assert!(!lane.is_valid());
}
