/** A real Caddy with a folder of its own: its admin API, and a front on a port of 127.0.0.1. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '../../contract.ts'
import { waitUntil } from './haproxy-process.ts'

/** Its handler has this name in `/id/NAME`. */
export const HANDLER = 'web_proxy'

export interface Upstream {
  dial: string
  [more: string]: unknown
}

export interface CaddyProcess {
  adminUrl: string
  /** `127.0.0.1:2019`: the only Host that the admin API answers to. */
  adminHost: string
  front: { host: string; port: number }
  /** The upstreams as they are configured now. */
  upstreams(): Promise<Upstream[]>
  setUpstreams(upstreams: readonly Upstream[]): Promise<void>
  /** With the config of the beginning: what was changed is forgotten. */
  restart(): Promise<void>
  stop(): Promise<void>
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

/** On a connection of its own. Not by `fetch`, whose Sec-Fetch headers make Caddy take it for a browser. */
function ask(url: string, method: string, body?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false, headers: { 'content-type': 'application/json' } }, (answer) => {
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

export async function startCaddy(program: string, endpoints: readonly Endpoint[]): Promise<CaddyProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-caddy-'))
  const [adminPort, frontPort] = [await freePort(), await freePort()]
  const adminHost = `127.0.0.1:${adminPort}`
  const adminUrl = `http://${adminHost}`
  const configFile = join(folder, 'caddy.json')
  writeFileSync(configFile, JSON.stringify(configuration(adminHost, frontPort, endpoints)))
  const upstreamsUrl = `${adminUrl}/id/${HANDLER}/upstreams`
  let running = start()

  function start() {
    const env = { ...process.env, HOME: folder, XDG_DATA_HOME: join(folder, 'data'), XDG_CONFIG_HOME: join(folder, 'config') }
    const child = spawn(program, ['run', '--config', configFile], { env, stdio: ['ignore', 'ignore', 'pipe'] })
    let output = ''
    child.stderr.on('data', (chunk: Buffer) => {
      output += chunk.toString()
    })
    const exited = new Promise((resolve) => child.once('exit', resolve))
    return { child, exited, said: () => output }
  }
  async function untilServing(): Promise<void> {
    await waitUntil(async () => {
      if (running.child.exitCode !== null) throw new Error(`Caddy ended: ${running.said()}`)
      return (await listens(adminPort)) && listens(frontPort)
    }, 'Caddy serves')
  }
  async function end(): Promise<void> {
    running.child.kill('SIGKILL')
    await running.exited
  }
  const killAtExit = (): void => void running.child.kill('SIGKILL')
  process.once('exit', killAtExit)
  async function stop(): Promise<void> {
    await end()
    process.off('exit', killAtExit)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await untilServing()
  } catch (error) {
    await stop()
    throw error
  }

  return {
    adminUrl,
    adminHost,
    front: { host: '127.0.0.1', port: frontPort },
    upstreams: async () => JSON.parse(await ask(upstreamsUrl, 'GET')) as Upstream[],
    async setUpstreams(upstreams) {
      await ask(upstreamsUrl, 'PATCH', JSON.stringify(upstreams))
      // Its admin API begins to listen anew.
      await untilServing()
    },
    async restart() {
      await end()
      running = start()
      await untilServing()
    },
    stop,
  }
}
