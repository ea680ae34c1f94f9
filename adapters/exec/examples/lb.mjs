#!/usr/bin/env node
// The load balancer of the demo as a plugin for `adapter: exec`: a document on stdin, and one on stdout.
import { text } from 'node:stream/consumers'

const STATES = { ready: 'in', drain: 'draining', maint: 'out' }
const NAMES = { in: 'ready', draining: 'drain', out: 'maint' }

async function call(method, url, body) {
  const token = process.env.LB_TOKEN === undefined ? {} : { authorization: `Bearer ${process.env.LB_TOKEN}` }
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...token },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (response.status === 403) throw Object.assign(new Error('LB_TOKEN has no right to change this'), { kind: 'fatal' })
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status}`)
  return response.json()
}

function entryOf({ name, address, state, weight, inFlight, healthy }) {
  const at = address.lastIndexOf(':')
  const host = address.slice(0, at).replace(/^\[|\]$/g, '')
  return { name, address: host, port: Number(address.slice(at + 1)), state: STATES[state], weight, inFlight, routable: healthy }
}

async function answer(request) {
  const servers = `${request.settings.url}/servers`
  if (request.call === 'list') return { v: 1, entries: (await call('GET', servers)).servers.map(entryOf) }
  for (const { name, former } of request.entries) {
    const change = request.call === 'drain' ? { state: 'drain' } : { state: NAMES[former.state], weight: former.prior }
    await call('PUT', `${servers}/${encodeURIComponent(name)}`, change)
  }
  return { v: 1 }
}

function failure({ kind, message, cause }) {
  if (kind !== undefined) return { kind, message }
  if (cause?.code === 'ECONNREFUSED') return { kind: 'retryable', message: 'nobody listens at settings.url' }
  // The change may have been made.
  return { kind: 'ambiguous', message: cause?.message ?? message }
}

const said = await answer(JSON.parse(await text(process.stdin))).catch((error) => ({ v: 1, error: failure(error) }))
process.stdout.write(JSON.stringify(said))
