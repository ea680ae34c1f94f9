/** A real Caddy in its own folder, with its admin API and a front on a port of 127.0.0.1. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '../../contract.ts'
import { waitUntil } from './haproxy-process.ts'
import { findPort, type Reach, reachDirectly, startProduct } from './product-process.ts'

/** The name of the handler in `/id/NAME`. */
export const HANDLER = 'web_proxy'

export interface Upstream {
  dial: string
  [more: string]: unknown
}

export interface CaddyProcess {
  adminUrl: string
  /** The only Host header that the admin API accepts, such as `127.0.0.1:2019`. */
  adminHost: string
  /** The address for clients, in the network of the program. */
  front: { host: string; port: number }
  /** The current upstreams. */
  upstreams(): Promise<Upstream[]>
  setUpstreams(upstreams: readonly Upstream[]): Promise<void>
  /** Restarts with the original config, so all changes are lost. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** True for any answer, because Caddy refuses a request with another Host header. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = get({ host: '127.0.0.1', port, agent: false }, (answer) => {
      answer.resume()
      resolve(true)
    })
    sent.once('error', () => resolve(false))
  })
}

/** Sends a request on its own connection. It does not use `fetch`, because Caddy rejects its Sec-Fetch headers as those of a browser. */
function ask(url: string, host: string, method: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false, headers: { host, 'content-type': 'application/json' } }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      answer.once('error', reject)
      answer.once('end', () =>
        answer.statusCode === 200 ? resolve(text) : reject(new Error(`Caddy answered ${answer.statusCode}: ${text}`)),
      )
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

function configuration(adminHost: string, frontPort: number, endpoints: readonly Endpoint[]): unknown {
  const proxy = {
    '@id': HANDLER,
    handler: 'reverse_proxy',
    load_balancing: { selection_policy: { policy: 'round_robin' } },
    upstreams: endpoints.map(({ address, port }) => ({ dial: `${address}:${port}` })),
  }
  const server = { listen: [`127.0.0.1:${frontPort}`], automatic_https: { disable: true }, routes: [{ handle: [proxy] }] }
  return {
    admin: { listen: adminHost },
    logging: { logs: { default: { level: 'ERROR' } } },
    apps: { http: { servers: { web: server } } },
  }
}

export async function startCaddy(
  program: string,
  endpoints: readonly Endpoint[],
  reach: Reach = reachDirectly,
): Promise<CaddyProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-caddy-'))
  const [adminPort, frontPort] = [await findPort(), await findPort()]
  const adminHost = `127.0.0.1:${adminPort}`
  const [reachedAdmin, reachedFront] = [await reach(adminPort), await reach(frontPort)]
  const adminUrl = `http://127.0.0.1:${reachedAdmin}`
  const configFile = join(folder, 'caddy.json')
  writeFileSync(configFile, JSON.stringify(configuration(adminHost, frontPort, endpoints)))
  const upstreamsUrl = `${adminUrl}/id/${HANDLER}/upstreams`
  const isServing = async (): Promise<boolean> => (await answers(reachedAdmin)) && answers(reachedFront)
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: join(folder, 'data'), XDG_CONFIG_HOME: join(folder, 'config') }
  const args = ['run', '--config', configFile]
  const running = await startProduct({ name: 'Caddy', program, args, env, isReady: isServing })

  return {
    adminUrl,
    adminHost,
    front: { host: '127.0.0.1', port: frontPort },
    upstreams: async () => JSON.parse(await ask(upstreamsUrl, adminHost, 'GET')) as Upstream[],
    async setUpstreams(upstreams) {
      await ask(upstreamsUrl, adminHost, 'PATCH', JSON.stringify(upstreams))
      // The admin API restarts its listener after a change.
      await waitUntil(isServing, 'Caddy serves')
    },
    restart: () => running.restart(),
    async stop() {
      await running.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
