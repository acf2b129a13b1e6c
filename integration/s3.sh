#!/usr/bin/env bash
# Runs an S3-compatible server in the foreground, on 127.0.0.1 only, until it is told to end.
#
# usage: integration/s3.sh [--data-dir D] [--ready-file F]
#
#   --data-dir D     where the objects go (default: a temporary folder that is removed at the end)
#   --ready-file F   written once the server answers: JSON with endpoint, access_key, secret_key, region, bucket
#
# environment
#   S3_SERVER        seaweedfs (default; from PyPI) or minio (built with Go)
#   LOCHAN_CACHE     where the server is installed once
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
usage_if_asked "$@"

MINIO_VERSION=v0.0.0-20260212201848-7aac2a2c5b7c
access_key=lochan-demo secret_key=lochan-demo-secret region=us-east-1 bucket=lake

data='' ready=''
while [ $# -gt 0 ]; do
  case $1 in
    --data-dir) data=${2:?--data-dir needs a folder}; shift 2 ;;
    --ready-file) ready=${2:?--ready-file needs a file}; shift 2 ;;
    *) fail "unknown argument $1 (see --help)" ;;
  esac
done
new_work
data=${data:-$work/data}
mkdir -p "$data"

build_minio() {
  [ ! -x "$LOCHAN_CACHE/minio-$MINIO_VERSION/minio" ] || return 0
  need go "S3_SERVER=minio builds MinIO"
  say "building MinIO with Go (once, about three minutes)"
  mkdir -p "$LOCHAN_CACHE/minio-$MINIO_VERSION"
  GOBIN="$LOCHAN_CACHE/minio-$MINIO_VERSION" go install -ldflags '-s -w' "github.com/minio/minio@$MINIO_VERSION" || fail "MinIO could not be built"
}

start_minio() {
  locked "$LOCHAN_CACHE/minio.lock" build_minio
  read -r port <<<"$(free_ports 1)"
  # MinIO takes a folder beside its own as a bucket.
  mkdir -p "$data/$bucket"
  MINIO_ROOT_USER=$access_key MINIO_ROOT_PASSWORD=$secret_key MINIO_SITE_REGION=$region MINIO_BROWSER=off MINIO_UPDATE=off \
    MINIO_CALLHOME_ENABLE=off spawn store "$LOCHAN_CACHE/minio-$MINIO_VERSION/minio" server --quiet --address "127.0.0.1:$port" "$data"
}

start_seaweedfs() {
  python_env lake >"$work/env"
  read -r port master master_grpc volume volume_grpc filer filer_grpc s3_grpc admin admin_grpc <<<"$(free_ports 10)"
  cat >"$work/identities.json" <<J
{"identities": [{"name": "root", "credentials": [{"accessKey": "$access_key", "secretKey": "$secret_key"}],
                 "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}
J
  # It leaves these sockets behind.
  local part
  for part in "master-grpc-$master_grpc" "volume-grpc-$volume_grpc" "filer-grpc-$filer_grpc" "s3-grpc-$s3_grpc" "admin-grpc-$admin_grpc"; do
    leftovers+=("/tmp/seaweedfs-$part.sock")
  done
  # Its defaults listen on every address, on fixed ports, and report usage: all of that is switched off here.
  spawn store "$(cat "$work/env")/bin/weed" -logtostderr=true mini -dir="$data" -ip=127.0.0.1 -ip.bind=127.0.0.1 \
    -bucket="$bucket" -admin.ui=false -webdav=false -master.telemetry=false -volume.max=32 \
    -master.port="$master" -master.port.grpc="$master_grpc" -volume.port="$volume" -volume.port.grpc="$volume_grpc" \
    -filer.port="$filer" -filer.port.grpc="$filer_grpc" -s3.port="$port" -s3.port.grpc="$s3_grpc" \
    -admin.port="$admin" -admin.port.grpc="$admin_grpc" -s3.port.iceberg=0 -s3.port.lance=0 -s3.localSocket="$work/s3.sock" \
    -filer.localSocket="$work/filer.sock" -s3.config="$work/identities.json"
}

server=${S3_SERVER:-seaweedfs}
case $server in
  minio) start_minio ;;
  seaweedfs) start_seaweedfs ;;
  *) fail "S3_SERVER must be seaweedfs or minio, not '$server'" ;;
esac

python3 "$root/integration/s3_ready.py" "$(cat "$work/store.pid")" "http://127.0.0.1:$port" "$access_key" "$secret_key" "$region" "$bucket" \
  >"$work/ready.json" || { tail -n 20 "$work/store.log" >&2; fail "$server did not get ready"; }
say "$server answers on http://127.0.0.1:$port (bucket $bucket)"
if [ -n "$ready" ]; then cp "$work/ready.json" "$ready.new" && mv "$ready.new" "$ready"; else cat "$work/ready.json"; fi

wait "$(cat "$work/store.pid")" || fail "$server ended by itself"
