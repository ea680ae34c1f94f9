/** Options of the adapter http for the admin API of demo/load-balancer. */
export function serversApi(url: string): Record<string, unknown> {
  const path = '/servers/${target.id}'
  return {
    url,
    targets: { request: { path: '/servers' }, each: 'body.servers', id: 'entry.name', address: 'entry.address' },
    inspect: {
      admin: 'entry.state == "ready" ? "in" : entry.state == "drain" ? "draining" : "out"',
      routable: 'entry.healthy',
      weight: 'entry.weight',
      inFlight: 'entry.inFlight',
      prior: '{"state": entry.state, "weight": entry.weight}',
    },
    drain: { method: 'PUT', path, body: { state: 'drain' }, expect: [200] },
    restore: { method: 'PUT', path, body: { state: '${prior.state}', weight: '${prior.weight}' }, expect: [200] },
    capabilities: { volatileOnReload: true },
  }
}
