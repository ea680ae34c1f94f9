/** An example of an adapter with `defineAdapter`, for the load balancer of `demo/load-balancer`. */
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { AdapterError } from '../../contract.ts'
import { defineAdapter } from '../../define-adapter.ts'

interface Server {
  name: string
  address: string
  state: 'ready' | 'drain' | 'maint'
  weight: number
  inFlight: number
  healthy: boolean
}

const STATES = { ready: 'in', drain: 'draining', maint: 'out' } as const
const NAMES = { in: 'ready', draining: 'drain', out: 'maint' } as const

export const servers = defineAdapter({
  name: 'servers',
  summary: 'The load balancer of the demo, by its REST API.',
  options: z.strictObject({ url: z.url(), tokenFile: z.string().optional() }),
  capabilities: { inFlight: 'exact', settleMs: 0, volatileOnReload: true },
  open({ url, tokenFile }, { component }) {
    async function set(name: string, change: object, signal: AbortSignal): Promise<void> {
      const token = tokenFile === undefined ? {} : { authorization: `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}` }
      const answer = await fetch(`${url}/servers/${encodeURIComponent(name)}`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json', ...token },
        body: JSON.stringify(change),
        signal,
      })
      const said = await answer.text()
      if (answer.status === 403) throw new AdapterError(component, 'fatal', `tokenFile has no right to change ${name}: ${said}`)
      if (!answer.ok) throw new Error(`${name}: ${answer.status} ${said}`)
    }
    return {
      async list({ signal }) {
        const answer = await fetch(`${url}/servers`, { signal })
        if (!answer.ok) throw new Error(`the list of servers: ${answer.status}`)
        const body = (await answer.json()) as { servers: Server[] }
        return body.servers.map(({ name, address, state, weight, inFlight, healthy }) => {
          const { hostname, port } = new URL(`http://${address}`)
          const at = { address: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80) }
          return { name, ...at, state: STATES[state], weight, inFlight, routable: healthy }
        })
      },
      async drain([entry], call) {
        call.assertLive()
        await set(entry!.name, { state: 'drain' }, call.signal)
      },
      async restore([former], call) {
        call.assertLive()
        const { entry, state, prior } = former!
        await set(entry.name, { state: NAMES[state], weight: prior }, call.signal)
      },
    }
  },
})
