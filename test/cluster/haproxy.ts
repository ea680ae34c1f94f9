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
import { isAlive, killRecorded, recordProcess, signalRecorded } from './process-record.ts'
import type { ProcessRecord } from './process-record.ts'

export interface HaproxyOptions {
  /** Short for one backend, "web". Either this or `backends`. */
  servers?: HaproxyServer[]
  backends?: HaproxyBackend[]
  /** Must differ between load balancers of one cluster that run at once; counted up from 8080 by default. */
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
  /** Sends a command past the recorder. */
  ask(line: string): Promise<string>
  states(): Promise<ServerState[]>
  /** New worker with the configuration as it is now; the old one finishes what it has. */
  reload(): Promise<void>
  /** Kills it and starts it anew: what is in flight fails. */
  restart(): Promise<void>
  /** Takes it away without bringing it back. */
  kill(): Promise<void>
  setServers(servers: HaproxyServer[], backend?: string): void
  stop(): Promise<void>
}

let started = 0

/** HAProxy in the cluster's network, in master-worker mode, with a recorder before its stats socket. */
export async function startHaproxy(cluster: Cluster, options: HaproxyOptions): Promise<Haproxy> {
  const number = started++
  const port = options.port ?? 8080 + number
  const dir = join(cluster.info.dir, `haproxy-${process.pid}-${number}`)
  await mkdir(dir, { recursive: true })
  const file = (name: string) => join(dir, name)
  const admin = file('own.sock')
  const config: HaproxyConfig = {
    port,
    backends: options.backends ?? [{ name: 'web', servers: options.servers ?? [] }],
    sockets: [file('recorded.sock'), admin],
    ...(options.checks === undefined ? {} : { checks: options.checks }),
    ...(options.keepState === true ? { stateFile: file('state') } : {}),
  }
  let master: ProcessRecord | undefined

  async function workerPid(): Promise<number> {
    const info = await askHaproxy(admin, 'show info')
    return Number(/^Pid: (\d+)$/m.exec(info)?.[1])
  }

  async function start(): Promise<void> {
    await writeFile(file('haproxy.cfg'), haproxyConfig(config))
    if (config.stateFile !== undefined) await writeFile(config.stateFile, '', { flag: 'a' })
    const log = openSync(file('haproxy.log'), 'a')
    const child = await cluster.spawn('haproxy', ['-W', '-f', file('haproxy.cfg')], {
      stdio: ['ignore', log, log],
      detached: options.detached === true,
    })
    closeSync(log)
    child.unref()
    try {
      master = recordProcess('haproxy', child.pid ?? 0)
      await waitFor('haproxy', workerPid, (pid) => pid > 0, { timeoutMs: 10_000, intervalMs: 20 })
    } catch (cause) {
      throw new Error(`haproxy did not come up:\n${await readFile(file('haproxy.log'), 'utf8')}`, { cause })
    }
  }

  async function kill(): Promise<void> {
    if (master !== undefined && isAlive(master)) {
      // The worker ends when its master does; its process is waited for too, or it keeps the port.
      const worker = await workerPid()
        .then((pid) => recordProcess('haproxy worker', pid))
        .catch(() => undefined)
      await killRecorded(master)
      if (worker !== undefined) await killRecorded(worker)
    }
    await Promise.all(config.sockets.map((path) => rm(path, { force: true })))
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
    ask: (line) => askHaproxy(admin, line),
    states: () => readServerStates(admin),
    async reload() {
      const before = await workerPid()
      await writeFile(file('haproxy.cfg'), haproxyConfig(config))
      await saveState()
      if (master === undefined || !signalRecorded(master, 'SIGUSR2')) throw new Error('haproxy does not run')
      await waitFor('the new haproxy worker', workerPid, (pid) => pid > 0 && pid !== before, {
        timeoutMs: 10_000,
        intervalMs: 20,
      })
    },
    async restart() {
      await saveState()
      await kill()
      await start()
    },
    kill,
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
