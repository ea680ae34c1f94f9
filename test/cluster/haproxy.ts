import { openSync, closeSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cluster } from './cluster.ts'
import { haproxyConfig } from './haproxy-config.ts'
import type { HaproxyBackend, HaproxyConfig, HaproxyServer } from './haproxy-config.ts'
import { startRecorder } from './haproxy-recorder.ts'
import type { Recorder } from './haproxy-recorder.ts'
import { askHaproxy, readServerStates } from './haproxy-socket.ts'
import type { ServerState } from './haproxy-socket.ts'
import { waitFor } from './kube-api.ts'
import { childrenOf, isAlive, killRecorded, recordProcess, signalRecorded } from './process-record.ts'
import type { ProcessRecord } from './process-record.ts'

export interface HaproxyOptions {
  /** The servers of one backend, "web". Either these or `backends` are given. */
  servers?: HaproxyServer[]
  backends?: HaproxyBackend[]
  /** The port. It must differ between load balancers that run in one cluster at once; counted up by default. */
  port?: number
  checks?: boolean
  /** Keeps the state of the servers over reload() and restart(), in a file. Otherwise they return as configured. */
  keepState?: boolean
  /** True where HAProxy outlives this process, until the cluster is taken down. The recorder does not. */
  detached?: boolean
}

export interface Haproxy {
  /** The address for traffic from inside the network of the cluster. */
  readonly url: string
  readonly port: number
  /** The work folder: haproxy.cfg, haproxy.log, sockets. */
  readonly dir: string
  /** The recorder. The code under test connects to `recorder.socket` or `recorder.tcpAddress`. */
  readonly recorder: Recorder
  /** The stats socket of HAProxy itself, past the recorder. */
  readonly adminSocket: string
  /** A stats socket at level operator, which can look but change nothing. */
  readonly operatorSocket: string
  /** Sends a command past the recorder. */
  ask(line: string): Promise<string>
  states(): Promise<ServerState[]>
  /** Starts a new worker with the present configuration. The old worker finishes its requests. */
  reload(): Promise<void>
  /** Kills HAProxy and starts it again, also after kill(). Requests in flight fail. The faults of the recorder end. */
  restart(): Promise<void>
  /** Kills HAProxy for good. The recorder then refuses connections, as the socket of HAProxy would. */
  kill(): Promise<void>
  setServers(servers: HaproxyServer[], backend?: string): void
  stop(): Promise<void>
}

/** Test files that run at once share the network of the cluster, so each has ports of its own. */
const firstPort = 8080 + 200 * Number(process.env['VITEST_POOL_ID'] ?? 0)
let started = 0

/** Starts HAProxy in the network of the cluster, in master-worker mode, with a recorder before its stats socket. */
export async function startHaproxy(cluster: Cluster, options: HaproxyOptions): Promise<Haproxy> {
  const number = started++
  const port = options.port ?? firstPort + number
  const dir = join(cluster.info.dir, `haproxy-${process.pid}-${number}`)
  await mkdir(dir, { recursive: true })
  const file = (name: string) => join(dir, name)
  const admin = file('own.sock')
  const config: HaproxyConfig = {
    port,
    backends: options.backends ?? [{ name: 'web', servers: options.servers ?? [] }],
    sockets: [file('recorded.sock'), admin],
    operatorSocket: file('operator.sock'),
    ...(options.checks === undefined ? {} : { checks: options.checks }),
    ...(options.keepState === true ? { stateFile: file('state') } : {}),
  }
  let master: ProcessRecord | undefined

  async function workerPid(): Promise<number> {
    const info = await askHaproxy(admin, 'show info')
    return Number(/^Pid: (\d+)$/m.exec(info)?.[1])
  }

  /** Waits until the master handles signals, which is when it answers. An earlier signal is lost. */
  async function ready(formerWorker?: number): Promise<void> {
    const limits = { timeoutMs: 10_000, intervalMs: 20 }
    await waitFor('a haproxy worker', workerPid, (pid) => pid > 0 && pid !== formerWorker, limits)
    await waitFor(
      'the haproxy master',
      () => askHaproxy(file('master.sock'), 'show proc'),
      (text) => text.includes('master'),
      limits,
    )
  }

  async function start(): Promise<void> {
    await writeFile(file('haproxy.cfg'), haproxyConfig(config))
    if (config.stateFile !== undefined) await writeFile(config.stateFile, '', { flag: 'a' })
    const log = openSync(file('haproxy.log'), 'a')
    const child = await cluster.spawn('haproxy', ['-W', '-S', file('master.sock'), '-f', file('haproxy.cfg')], {
      stdio: ['ignore', log, log],
      detached: options.detached === true,
    })
    closeSync(log)
    child.unref()
    try {
      master = recordProcess('haproxy', child.pid ?? 0)
      await ready()
    } catch (cause) {
      throw new Error(`haproxy did not come up:\n${await readFile(file('haproxy.log'), 'utf8')}`, { cause })
    }
  }

  async function kill(): Promise<void> {
    if (master !== undefined && isAlive(master)) {
      // Workers, also of former configurations, would keep the port for a moment.
      const workers = childrenOf(master.pid)
      await killRecorded(master)
      await Promise.all(workers.map(killRecorded))
    }
    await Promise.all([...config.sockets, file('operator.sock'), file('master.sock')].map((path) => rm(path, { force: true })))
  }

  async function saveState(): Promise<void> {
    if (config.stateFile !== undefined) await writeFile(config.stateFile, await askHaproxy(admin, 'show servers state'))
  }

  await start()
  const recorder = await startRecorder(
    file('admin.sock'),
    () => file('recorded.sock'),
    (line) => askHaproxy(admin, line),
  )

  return {
    url: `http://127.0.0.1:${port}/`,
    port,
    dir,
    recorder,
    adminSocket: admin,
    operatorSocket: file('operator.sock'),
    ask: (line) => askHaproxy(admin, line),
    states: () => readServerStates(admin),
    async reload() {
      const before = await workerPid()
      await writeFile(file('haproxy.cfg'), haproxyConfig(config))
      await saveState()
      if (master === undefined || !signalRecorded(master, 'SIGUSR2')) throw new Error('haproxy does not run')
      await ready(before)
    },
    async restart() {
      await saveState()
      await kill()
      await start()
      await recorder.setFaults({})
    },
    async kill() {
      await recorder.setFaults({ refuse: true })
      await kill()
    },
    setServers(servers, backend = 'web') {
      config.backends = config.backends.map((known) => (known.name === backend ? { ...known, servers } : known))
    },
    async stop() {
      await recorder.close()
      await kill()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
