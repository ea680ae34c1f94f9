// The load balancer of load-balancer.mjs, as an adapter. Change `list`, `drain` and `restore` to what yours has.
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
  // What `options` in sluice.yaml may have. A secret does not belong there: name a file or a variable that has it.
  options: z.strictObject({ url: z.url() }),
  // inFlight: what `inFlight` of an entry counts. settleMs: from the answer of a drain until no new request arrives.
  // volatileOnReload: a restart of the load balancer forgets what was set.
  capabilities: { inFlight: 'exact', settleMs: 0, volatileOnReload: true },
  open({ url }) {
    async function api(method: string, path: string, signal: AbortSignal): Promise<unknown> {
      const answer = await fetch(`${url}${path}`, { method, signal })
      // An error from drain or restore may have changed something: sluice looks before it does anything. An AdapterError can say more.
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
      // One entry a call, unless capabilities.maxBatch says more.
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
