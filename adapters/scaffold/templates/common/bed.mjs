// Tells `sluice adapter test --bed ./bed.mjs` how to start the load balancer, and how to look at it and change it without the plugin: the
// test believes no plugin. It stands three HTTP servers behind it, sends requests through it, and breaks connections of the plugin to
// its API.
import { startLoadBalancer } from './load-balancer.mjs'

/** `servers`: `[{ name, address, port }]`, of which `at` below is one. */
export default async function startBed({ servers }) {
  const balancer = await startLoadBalancer({ servers })
  const find = (at) => balancer.servers.find(({ address, port }) => address === at.address && port === at.port)
  return {
    // In the options of sluice.yaml the test has the address of its own proxy in the place of the API's: `options` have one http:// URL.
    apiUrl: balancer.apiUrl,
    requestUrl: balancer.requestUrl,
    // What the load balancer itself has: in, draining or out.
    state: (at) => (find(at).down ? 'draining' : 'in'),
    // What a person does there.
    drain: (at) => void (find(at).down = true),
    ready: (at) => void (find(at).down = false),
    // Whatever makes it forget what it forgets.
    restart: () => balancer.restart(),
    close: () => balancer.close(),
  }
}
