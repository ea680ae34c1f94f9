import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Children } from '../processes/children.ts'
import { freePort } from '../processes/free-port.ts'
import { hasAddressPerPod } from '../cluster/start.ts'
import { DemoError } from '../demo-error.ts'
import type { Balancer, BalancerOptions } from './balancer.ts'

const BACKEND = 'web'
/** HAProxy starts within some hundredths of a second. A longer start means that HAProxy does not work. */
const START_LIMIT_MS = 5_000

const WITHOUT = 'leave --load-balancer away: the demo brings a load balancer of its own'

/** Returns `HAProxy 2.6.12`, or undefined where HAProxy is not installed. */
export function haproxyTitle(): string | undefined {
  const { status, stdout } = spawnSync('haproxy', ['-v'], { encoding: 'utf8' })
  return status === 0 ? (/HAProxy version ([\d.]+)/.exec(stdout)?.[1]?.replace(/^/, 'HAProxy ') ?? 'HAProxy') : undefined
}

/**
 * Starts the real HAProxy as an unprivileged process on loopback, with its runtime API. Sluice uses the API through the adapter
 * `haproxy`.
 */
export async function startHaproxy(children: Children, { pods, port: podPort, folder }: BalancerOptions): Promise<Balancer> {
  if (!hasAddressPerPod) {
    throw new DemoError(`--load-balancer haproxy needs an address for each pod, which loopback has on Linux alone; ${WITHOUT}`)
  }
  const title = haproxyTitle()
  if (title === undefined) {
    throw new DemoError(`haproxy is not installed. Install it (Debian: apt-get install haproxy), or ${WITHOUT}`)
  }
  const socket = join(folder, 'haproxy.sock')
  const [configFile, port] = [join(folder, 'haproxy.cfg'), await freePort()]
  writeFileSync(configFile, configuration({ socket, port, pods }))
  // -db: one process, in the foreground.
  const child = children.runOnLeash(['haproxy', '-db', '-f', configFile])
  let isOver = false
  void child.exit.then(() => (isOver = true))

  const giveUpAt = performance.now() + START_LIMIT_MS
  while (!(await ask(socket, 'show info').then(Boolean, () => false))) {
    if (isOver || performance.now() > giveUpAt) throw new DemoError(`${title} did not start: ${child.complaints()}`)
    await sleep(20)
  }

  async function set(pod: string, state: 'drain' | 'ready'): Promise<void> {
    const answer = await ask(socket, `set server ${BACKEND}/${pod} state ${state}`)
    if (answer !== '') throw new Error(`demo: HAProxy answered to ${state} of ${pod}: ${answer}`)
  }

  return {
    title,
    url: `http://127.0.0.1:${port}`,
    config: { name: 'edge', adapter: 'haproxy', port: podPort, options: { socket, backend: BACKEND } },
    async look() {
      const [, , ...rows] = (await ask(socket, `show servers state ${BACKEND}`)).split('\n')
      // be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state …
      return new Map(rows.map((row) => row.split(' ')).map((cells) => [cells[3]!, cells[6] === '0']))
    },
    drain: (pod) => set(pod, 'drain'),
    restore: (pod) => set(pod, 'ready'),
  }
}

export function configuration({ socket, port, pods }: { socket: string; port: number; pods: BalancerOptions['pods'] }): string {
  const lines = [
    'global',
    `  stats socket ${socket} mode 600 level admin`,
    '  maxconn 1000',
    'defaults',
    '  mode http',
    // A failed request must be visible.
    '  retries 0',
    '  timeout connect 1s',
    '  timeout client 60s',
    '  timeout server 30s',
    'frontend front',
    `  bind 127.0.0.1:${port}`,
    `  default_backend ${BACKEND}`,
    '  http-after-response set-header x-server %[srv_name]',
    `backend ${BACKEND}`,
    '  balance roundrobin',
    ...pods.map(({ name, address }) => `  server ${name} ${address}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Sends one line on a connection of its own. HAProxy closes the connection after the answer. */
function ask(path: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path).setEncoding('utf8')
    let answer = ''
    socket.on('data', (chunk) => (answer += String(chunk)))
    socket.once('connect', () => socket.write(`${line}\n`))
    socket.once('error', reject)
    socket.once('close', () => resolve(answer.trim()))
  })
}
