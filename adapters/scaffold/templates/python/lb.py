#!/usr/bin/env python3
"""The load balancer of load-balancer.mjs, as a plugin: a JSON document on stdin, and one on stdout.

Change `entries`, `drain` and `restore` for your load balancer.
"""
import json
import sys
import urllib.error
import urllib.parse
import urllib.request


def api(request, method, path):
    url = request["settings"]["url"] + path
    with urllib.request.urlopen(urllib.request.Request(url, method=method)) as answer:
        return json.load(answer)


def down(entry):
    return "/servers/" + urllib.parse.quote(entry["name"], safe="") + "/down"


def entries(request):
    return [
        {
            "name": server["name"],
            "address": server["address"],
            "port": server["port"],
            "state": "draining" if server["down"] else "in",
            "inFlight": server["requests"],
        }
        for server in api(request, "GET", "/servers")
    ]


def drain(request, entry):
    api(request, "PUT", down(entry))


def restore(request, entry):
    api(request, "DELETE" if entry["former"]["state"] == "in" else "PUT", down(entry))


def answer(request):
    if request["call"] == "list":
        return {"v": 1, "entries": entries(request)}
    change = drain if request["call"] == "drain" else restore
    for entry in request["entries"]:
        change(request, entry)
    return {"v": 1}


def failure(error):
    """The error is `retryable` only if nothing can have changed. After any other error, sluice reads the list first."""
    if isinstance(error, urllib.error.URLError) and isinstance(error.reason, ConnectionRefusedError):
        return {"kind": "retryable", "message": "nobody listens at settings.url"}
    return {"kind": "ambiguous", "message": str(error) or type(error).__name__}


try:
    said = answer(json.load(sys.stdin))
except OSError as error:
    said = {"v": 1, "error": failure(error)}
json.dump(said, sys.stdout)
