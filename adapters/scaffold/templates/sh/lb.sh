#!/bin/sh
# The load balancer of load-balancer.mjs, as a plugin: a JSON document on stdin, and one on stdout. It needs curl and jq.
# Change `api`, `list`, `drain` and `restore` for your load balancer.
set -u

for program in curl jq; do
  command -v "$program" >/dev/null && continue
  printf '{"v": 1, "error": {"kind": "fatal", "message": "%s is not installed"}}' "$program"
  exit 0
done

request=$(cat)
url=$(printf '%s' "$request" | jq --raw-output .settings.url)

# Ends with an error. KIND is `retryable` only if nothing can have changed. After any other error, sluice reads the list first.
fail() { # KIND MESSAGE
  jq --null-input --arg kind "$1" --arg message "$2" '{v: 1, error: {kind: $kind, message: $message}}'
  exit 0
}

# Puts the answer into $answer.
api() { # METHOD PATH
  answer=$(curl --silent --show-error --fail --request "$1" "$url$2" 2>&1) && return
  case $? in
    7) fail retryable "nobody listens at $url" ;;
    *) fail ambiguous "$1 $2: $answer" ;;
  esac
}

list() {
  api GET /servers
  printf '%s' "$answer" |
    jq '{v: 1, entries: [.[] | {name, address, port, state: (if .down then "draining" else "in" end), inFlight: .requests}]}'
}

drain() { # NAME
  api PUT "/servers/$1/down"
}

restore() { # NAME STATE
  if [ "$2" = in ]; then api DELETE "/servers/$1/down"; else api PUT "/servers/$1/down"; fi
}

case $(printf '%s' "$request" | jq --raw-output .call) in
  list)
    list
    exit 0
    ;;
esac

# One line for each entry: the call, the name encoded for a URL, and the former state.
changes=$(printf '%s' "$request" | jq --raw-output '.call as $call | .entries[] | "\($call) \(.name | @uri) \(.former.state // "")"')
while read -r change name state; do
  "$change" "$name" "$state"
done <<CHANGES
$changes
CHANGES
printf '{"v": 1}'
