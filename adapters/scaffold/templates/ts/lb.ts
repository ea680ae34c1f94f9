// The load balancer of load-balancer.mjs, as an adapter. Change `list`, `drain` and `restore` for your load balancer.
import { defineAdapter } from 'sluice/adapter'
import { z } from 'zod'

interface Server {
  name: string
  address: string
  port: number
  down: boolean
  requests: number
}

export default defineAdapter({
  name: 'lb',
  summary: 'My load balancer.',
  // The `options` in sluice.yaml. Do not put a secret there: name a file or an environment variable with the secret.
  options: z.strictObject({ url: z.url() }),
  // inFlight: the content of `inFlight` of an entry. settleMs: the time from the answer to a drain until the last new request.
  // volatileOnReload: a restart of the load balancer loses the changes.
  capabilities: { inFlight: 'exact', settleMs: 0, volatileOnReload: true },
  open({ url }) {
    async function api(method: string, path: string, signal: AbortSignal): Promise<unknown> {
      const answer = await fetch(`${url}${path}`, { method, signal })
      // A drain or restore with an error may have changed something, so sluice reads the list first. An AdapterError can be more exact.
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
      return answer.json()
    }
    const down = (name: string): string => `/servers/${encodeURIComponent(name)}/down`
    return {
      async list({ signal }) {
        const servers = (await api('GET', '/servers', signal)) as Server[]
        return servers.map(({ name, address, port, down: isDown, requests }) => ({
          name,
          address,
          port,
          state: isDown ? 'draining' : 'in',
          inFlight: requests,
        }))
      },
      // A call has one entry, unless capabilities.maxBatch is higher.
      async drain([entry], call) {
        call.assertLive()
        await api('PUT', down(entry!.name), call.signal)
      },
      async restore([former], call) {
        call.assertLive()
        await api(former!.state === 'in' ? 'DELETE' : 'PUT', down(former!.entry.name), call.signal)
      },
    }
  },
})
