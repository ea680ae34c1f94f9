#!/usr/bin/env python3
"""The load balancer of the demo as a plugin for `adapter: exec`: a document on stdin, and one on stdout."""
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

STATES = {"ready": "in", "drain": "draining", "maint": "out"}
NAMES = {state: name for name, state in STATES.items()}


def call(method, url, body=None):
    headers = {"content-type": "application/json"}
    if "LB_TOKEN" in os.environ:
        headers["authorization"] = "Bearer " + os.environ["LB_TOKEN"]
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method)) as answer:
        return json.load(answer)


def entry(server):
    host, _, port = server["address"].rpartition(":")
    return {
        "name": server["name"],
        "address": host.strip("[]"),
        "port": int(port),
        "state": STATES[server["state"]],
        "weight": server["weight"],
        "inFlight": server["inFlight"],
        "routable": server["healthy"],
    }


def answer(request):
    servers = request["settings"]["url"] + "/servers"
    if request["call"] == "list":
        return {"v": 1, "entries": [entry(server) for server in call("GET", servers)["servers"]]}
    for one in request["entries"]:
        change = {"state": "drain"}
        if request["call"] == "restore":
            change = {"state": NAMES[one["former"]["state"]], "weight": one["former"]["prior"]}
        call("PUT", servers + "/" + urllib.parse.quote(one["name"], safe=""), change)
    return {"v": 1}


def failure(error):
    if isinstance(error, urllib.error.HTTPError) and error.code == 403:
        return {"kind": "fatal", "message": "LB_TOKEN has no right to change this"}
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, ConnectionRefusedError):
        return {"kind": "retryable", "message": "nobody listens at settings.url"}
    # The change may have been made.
    return {"kind": "ambiguous", "message": str(error) or type(error).__name__}


try:
    said = answer(json.load(sys.stdin))
except OSError as error:
    said = {"v": 1, "error": failure(error)}
except Exception as error:
    print(repr(error), file=sys.stderr)
    sys.exit(1)
json.dump(said, sys.stdout)
