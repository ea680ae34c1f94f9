// Tells `sluice adapter test --bed ./bed.mjs` how to start the load balancer, and how to read and change it without the plugin, because
// the test does not trust the plugin. The test starts three HTTP servers behind the load balancer, sends requests through it, and breaks
// connections of the plugin to its API.
import { startLoadBalancer } from './load-balancer.mjs'

/** Starts the load balancer. `servers` is `[{ name, address, port }]`, and `at` below is one of them. */
export default async function startBed({ servers }) {
  const balancer = await startLoadBalancer({ servers })
  const find = (at) => balancer.servers.find(({ address, port }) => address === at.address && port === at.port)
  return {
    // The test replaces this URL in the options of sluice.yaml with the URL of its own proxy. The options must have one http:// URL.
    apiUrl: balancer.apiUrl,
    requestUrl: balancer.requestUrl,
    // The state in the load balancer: in, draining or out.
    state: (at) => (find(at).down ? 'draining' : 'in'),
    // The changes that an operator makes.
    drain: (at) => void (find(at).down = true),
    ready: (at) => void (find(at).down = false),
    // A restart, so that the load balancer loses its changes at run time.
    restart: () => balancer.restart(),
    close: () => balancer.close(),
  }
}
