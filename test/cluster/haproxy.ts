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
  /** Short for one backend, "web". Either this or `backends`. */
  servers?: HaproxyServer[]
  backends?: HaproxyBackend[]
  /** Must differ between load balancers of one cluster that run at once; counted up by default. */
  port?: number
  checks?: boolean
  /** reload() and restart() keep the servers' state through a file; without it they come back as configured. */
  keepState?: boolean
  /** It outlives this process, until the cluster is taken down; the recorder does not. */
  detached?: boolean
}

export interface Haproxy {
  /** Where traffic goes, from inside the cluster's network. */
  readonly url: string
  readonly port: number
  /** Work folder: haproxy.cfg, haproxy.log, sockets. */
  readonly dir: string
  /** What the code under test connects to, by `recorder.socket` or `recorder.tcpAddress`. */
  readonly recorder: Recorder
  /** HAProxy's own stats socket, past the recorder. */
  readonly adminSocket: string
  /** Another one of it, at level operator: it may look, and not change anything. */
  readonly operatorSocket: string
  /** Sends a command past the recorder. */
  ask(line: string): Promise<string>
  states(): Promise<ServerState[]>
  /** New worker with the configuration as it is now; the old one finishes what it has. */
  reload(): Promise<void>
  /** Kills it and starts it anew, also after kill(): what is in flight fails. Ends the recorder's faults. */
  restart(): Promise<void>
  /** Takes it away without bringing it back; the recorder refuses connections then, as HAProxy's socket would. */
  kill(): Promise<void>
  setServers(servers: HaproxyServer[], backend?: string): void
  stop(): Promise<void>
}

/** Test files that run at the same time share the cluster's network. */
const firstPort = 8080 + 200 * Number(process.env['VITEST_POOL_ID'] ?? 0)
let started = 0

/** HAProxy in the cluster's network, in master-worker mode, with a recorder before its stats socket. */
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

  /** The master answers once it listens to signals; one that comes earlier is lost. */
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
      // Workers, of former configurations too, would keep the port for a moment.
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
