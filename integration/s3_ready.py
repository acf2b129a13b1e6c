"""Waits until an S3-compatible server takes a write into its bucket, then prints its settings as JSON.

usage: s3_ready.py PID ENDPOINT ACCESS_KEY SECRET_KEY REGION BUCKET

Standard library only, so that nothing has to be installed for a server that brings its own bucket. A write is tried,
not only a listing: some servers answer long before their first volume is ready.
"""

import datetime
import hashlib
import hmac
import json
import os
import sys
import time
import urllib.error
import urllib.request

READY_SECONDS_MAX = 90
PAUSE_SECONDS = 0.1


def signed(method, url, access_key, secret_key, region, body=b""):
    """A request signed with AWS signature version 4."""
    request = urllib.request.Request(url, data=body or None, method=method)
    host, path = request.host, request.selector
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    digest = hashlib.sha256(body).hexdigest()
    headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": now}
    names = ";".join(headers)
    canonical = "\n".join([method, path, "", *(f"{k}:{v}" for k, v in headers.items()), "", names, digest])
    scope = f"{now[:8]}/{region}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = f"AWS4{secret_key}".encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    request.add_header("x-amz-content-sha256", digest)
    request.add_header("x-amz-date", now)
    request.add_header(
        "authorization",
        f"AWS4-HMAC-SHA256 Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}",
    )
    return request


def running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def main(pid, endpoint, access_key, secret_key, region, bucket):
    end = time.monotonic() + READY_SECONDS_MAX
    keys = (access_key, secret_key, region)
    probe = f"{endpoint}/{bucket}/.ready"
    while True:
        try:
            urllib.request.urlopen(signed("PUT", probe, *keys, body=b"ready"), timeout=10).close()
            urllib.request.urlopen(signed("DELETE", probe, *keys), timeout=10).close()
            break
        except (urllib.error.URLError, OSError) as error:
            if not running(pid):
                sys.exit("the server has ended")
            if time.monotonic() > end:
                sys.exit(f"not ready within {READY_SECONDS_MAX} s: {error}")
            time.sleep(PAUSE_SECONDS)
    settings = {
        "endpoint": endpoint,
        "access_key": access_key,
        "secret_key": secret_key,
        "region": region,
        "bucket": bucket,
    }
    print(json.dumps(settings))


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
