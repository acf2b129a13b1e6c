# Backups to an S3-compatible server that is not ours, while commits go on.

run_backup() {
  say "starting ${S3_SERVER:-seaweedfs}"
  start_s3
  say "taking backups while commits go on"
  PYTHONPATH="$root/integration" python3 "$root/integration/backup/check.py" "$server_bin" "$work/s3.json" "$work" | tee "$work/backup.out" ||
    { tail -n 20 "$work"/served.log >&2; return 1; }
  stop s3
  result backup "$(counts "$work/backup.out")"
}
