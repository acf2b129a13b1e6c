"""Asks a server whose tokens come from the provider beside this file. usage: check.py SERVER ISSUER CLI"""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import checks
from checks import check

SERVER, ISSUER = (url.rstrip("/") for url in sys.argv[1:3])
CLI = sys.argv[3]


def send(url, token=None, data=None, method=None):
    headers = {"Content-Type": "application/json"} if isinstance(data, bytes) and data[:1] == b"{" else {}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.loads(answer.read() or b"null"), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null"), error.headers


def token(client):
    form = {"grant_type": "client_credentials", "client_id": client, "client_secret": f"{client}-secret"}
    status, body, _ = send(f"{ISSUER}/token", data=urllib.parse.urlencode(form).encode())
    assert status == 200, body
    return body["access_token"]


def status(token, path="/api/v2/trees/main"):
    return send(f"{SERVER}{path}", token)[0]


def lochan(*words, **settings):
    """The exit code of the command line, and what it said."""
    settings = {f"LOCHAN_{name}": value for name, value in settings.items()}
    ran = subprocess.run([CLI, "--json", *words], env={**os.environ, "LOCHAN_CONFIG": os.devnull, "LOCHAN_ENDPOINT": SERVER, **settings},
                         capture_output=True, text=True)
    return ran.returncode, ran.stdout + ran.stderr


writer, reader = token("writer"), token("reader")
code, _, headers = send(f"{SERVER}/api/v2/config")
check("no token: 401 with a challenge", code == 401 and headers["WWW-Authenticate"].startswith("Bearer"), code)
for name, good in (("RS256", writer), ("ES256", reader)):
    for path in ("/api/v2/trees/main", "/api/v1/trees/tree/main", "/iceberg/v1/config", "/ext/v1/info"):
        check(f"{name} token on {path}", status(good, path) == 200, status(good, path))
head = send(f"{SERVER}/api/v2/trees/main", reader)[1]["reference"]["hash"]
put = {"type": "PUT", "key": {"elements": ["db"]}, "content": {"type": "NAMESPACE", "elements": ["db"]}}
commit = json.dumps({"commitMeta": {"message": "m"}, "operations": [put]}).encode()
target = f"{SERVER}/api/v2/trees/main@{head}/history/commit"
check("a reader may not commit", send(target, reader, commit)[0] == 403)
code, body, _ = send(target, writer, commit)
check("a writer may", code == 200, body)
log = send(f"{SERVER}/api/v2/trees/main/history?max-records=1", reader)[1]
meta = log["logEntries"][0]["commitMeta"]
check("the principal is the committer", meta["committer"] == "writer", meta)
check("a token for another audience: 401", status(token("elsewhere")) == 401)
check("a changed token: 401", status(writer[:-6] + ("AAAAAA" if writer[-6:] != "AAAAAA" else "BBBBBB")) == 401)
client = {"OAUTH2_TOKEN_ENDPOINT": f"{ISSUER}/token", "OAUTH2_CLIENT_ID": "writer"}
made = lochan("tag", "june", "main", **client, OAUTH2_CLIENT_SECRET="writer-secret")
check("the command line gets its own tokens", made[0] == 0, made)
wrong = lochan("branch", **client, OAUTH2_CLIENT_SECRET="wrong")
check("with a wrong secret it says so and ends with 4", wrong[0] == 4 and "invalid_client" in wrong[1], wrong)
check("without a token it ends with 4", lochan("branch")[0] == 4)
brief = token("brief")
check("a brief token while it lasts", status(brief) == 200)
# Its second and the skew of the server, 2 s, are over then.
end = time.monotonic() + 10
while status(brief) == 200 and time.monotonic() < end:
    time.sleep(0.2)
check("an expired token: 401", status(brief) == 401)
expired = lochan("branch", TOKEN=brief)
check("the command line says that a token is over", expired[0] == 4 and "no longer" in expired[1], expired)
send(f"{ISSUER}/_rotate", data=b"", method="POST")
fresh = token("writer")
end = time.monotonic() + 15
while status(fresh) != 200 and time.monotonic() < end:
    time.sleep(0.5)
check("new keys are fetched when a token names one", status(fresh) == 200)
check("tokens of keys that are gone: 401", status(writer) == 401)
print(f"{checks.passed} passed, 0 failed, 0 skipped")
