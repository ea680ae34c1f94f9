/** nginx on one host: its file, and the processes that have loaded the file. */
import { isDeepStrictEqual } from 'node:util'
import { formatAddress } from '../address.ts'
import { AdapterError, type AdapterErrorKind, type EffectResult } from '../contract.ts'
import type { ChangeCall, Entry, Former, ListCall } from '../define-adapter.ts'
import { createFileDocument } from '../document/file-document.ts'
import { createHost, type ScriptCall } from '../host/host.ts'
import type { BootTime } from './mark.ts'
import type { NginxOptions } from './options.ts'
import { loadScript, noNewerWorkers, STATUS, workersScript } from './scripts.ts'
import { applyEdits, drainEdits, type Edit, parsePrior, restoreEdits, type Server, serverOf, settleEdits } from './server.ts'
import { serverLinesOf, UpstreamProblem } from './upstream.ts'

export interface Instance {
  scope: string
  list(call: ListCall): Promise<Entry[]>
  /** Drains the entries with these names. Gives the result by name. */
  drain(names: readonly string[], call: ChangeCall): Promise<Map<string, EffectResult>>
  restore(formers: readonly Former[], call: ChangeCall): Promise<Map<string, EffectResult>>
}

export interface InstanceOptions {
  component: string
  /** The host. Absent: this host. */
  host: { name: string; prefix: string[] } | undefined
  options: NginxOptions
}

/** The start times of the workers that accept requests. */
interface Workers {
  oldest: BootTime
  newest: BootTime
}

interface Loaded {
  text: string
  version: string
  workers: Workers
  servers: Map<string, Server>
}

/** The maximum number of attempts to remove the marks. Another process may write the file at the same time. */
const SETTLE_TRIES = 5

/** The edits for one server, or the error that prevents them. */
type Change = Edit[] | AdapterError

export function createInstance({ component, host, options }: InstanceOptions): Instance {
  const { file, upstream, pidFile, test, reload, word } = options
  const prefix = host?.prefix ?? []
  const shell = createHost({ component, prefix })
  // In latin1 each byte is one character, so a comment in another encoding stays unchanged.
  const document = createFileDocument({ component, path: file, prefix, encoding: 'latin1' })
  const place = host === undefined ? file : `${file} on ${host.name}`
  // The scope has no command, because another command may lead to the same host later.
  const scope = host === undefined ? file : `${host.name}:${file}`

  function failed(kind: AdapterErrorKind, message: string, cause?: unknown): AdapterError {
    return new AdapterError(component, kind, message, { cause })
  }

  async function readWorkers(call: ScriptCall): Promise<Workers> {
    const { status, output } = await shell.run(workersScript(pidFile), call)
    if (status === 0) {
      const [boot = '', ...ticks] = output.toString().split(' ')
      const [oldest, newest] = ticks.map((text): BootTime => ({ boot, ticks: Number(text) }))
      return { oldest: oldest!, newest: newest! }
    }
    throw noWorkers(status, output)
  }

  function noWorkers(status: number, output: Buffer, kind: AdapterErrorKind = 'retryable'): AdapterError {
    const where = `${pidFile} on ${shell.name}`
    if (status === STATUS.noMaster)
      return failed(kind, `there is no file ${where}: nginx does not run, or pidFile is another one`)
    if (status === STATUS.noWorkers)
      return failed(kind, `no process is a worker of the nginx of ${where}: it does not run, or /proc hides it (hidepid)`)
    if (status === STATUS.upgrade)
      return failed(
        kind,
        `nginx is being replaced by another binary: ${pidFile}.oldbin on ${shell.name}; end the upgrade, by QUIT to the old master`,
      )
    return failed(kind, `cannot tell the workers of nginx: exit code ${status}: ${wordsOf(output)}`)
  }

  async function look(call: ScriptCall): Promise<Loaded> {
    const [{ text, version }, workers] = await Promise.all([document.read(call), readWorkers(call)])
    return { text, version, workers, servers: serversIn(text, workers.oldest) }
  }

  function serversIn(text: string, oldestWorker: BootTime): Map<string, Server> {
    try {
      return named(serverLinesOf(text, upstream).map((line) => serverOf(line, oldestWorker)))
    } catch (error) {
      // A tool may be in the middle of a write.
      if (error instanceof UpstreamProblem) throw failed('retryable', `${place}: ${error.message}`, error)
      throw error
    }
  }

  /** The servers by name. The name is the address; a second line with the same address is a separate server. */
  function named(servers: readonly Server[]): Map<string, Server> {
    const found = new Map<string, Server>()
    for (const server of servers) {
      const address = formatAddress(server.at)
      const name = host === undefined ? address : `${host.name}/${address}`
      let same = 1
      while (found.has(same === 1 ? name : `${name}#${same}`)) same += 1
      found.set(same === 1 ? name : `${name}#${same}`, server)
    }
    return found
  }

  /** Makes all possible changes with one write and one reload. */
  async function change(
    wanted: readonly { name: string; editsOf(server: Server, since: BootTime): Change }[],
    call: ChangeCall,
  ): Promise<Map<string, EffectResult>> {
    const endsAt = performance.now() + call.deadlineMs
    const step = (): ScriptCall => ({ ...call, deadlineMs: Math.max(0, endsAt - performance.now()) })
    const { text, version, workers, servers } = await look(step())
    const results = new Map<string, EffectResult>()
    const edits: Edit[] = []
    for (const { name, editsOf } of wanted) {
      const server = servers.get(name)
      const own =
        server === undefined ? failed('not-found', `${place} has no server ${name} any more`) : editsOf(server, workers.newest)
      if (own instanceof AdapterError) results.set(name, { outcome: 'failed', error: own })
      else {
        results.set(name, { outcome: 'applied' })
        edits.push(...own)
      }
    }
    if ([...results.values()].every(({ outcome }) => outcome === 'failed')) return results
    const changed = applyEdits(text, edits)
    const guard = noNewerWorkers(pidFile, workers.newest.ticks)
    const written = changed === text ? undefined : await document.write(changed, version, step(), guard)
    await load(written === undefined ? undefined : () => document.write(text, written, step()), step())
    await settle({ text: changed, version: written ?? version, workers }, step()).catch(() => {})
    return results
  }

  async function load(putBack: (() => Promise<unknown>) | undefined, call: ScriptCall): Promise<void> {
    const { status, output } = await shell.run(loadScript({ pidFile, test, reload }), call, { hasEffect: true })
    if (status === 0) return
    if (status === STATUS.refused) throw await refused(output, putBack)
    if (status === STATUS.notReloaded)
      throw failed('ambiguous', `${reload.join(' ')} has failed on ${shell.name}: ${wordsOf(output)}`)
    // The written change takes effect at the next reload, or when nginx starts.
    throw noWorkers(status, output, 'ambiguous')
  }

  async function refused(output: Buffer, putBack: (() => Promise<unknown>) | undefined): Promise<AdapterError> {
    const message = `${test.join(' ')} refuses the configuration on ${shell.name}, exit code ${wordsOf(output)}`
    if (putBack === undefined) return failed('fatal', message)
    try {
      await putBack()
      return failed('fatal', `${message}; ${place} is as it was, and nothing was reloaded`)
    } catch (error) {
      return failed(
        'fatal',
        `${message}; nothing was reloaded, and ${place} could not be put back: ${(error as Error).message}`,
        error,
      )
    }
  }

  /**
   * Removes the mark of a restored line once nginx has loaded it. The line without the mark means the same to nginx, so after a failure the
   * next write can remove it.
   */
  async function settle({ text, version, workers }: Omit<Loaded, 'servers'>, call: ScriptCall): Promise<void> {
    const servers = serversIn(text, { ...workers.newest, ticks: Infinity })
    let isSettled = await removeMarks({ text, version, servers }, call)
    for (let tries = 1; tries < SETTLE_TRIES && !isSettled; tries += 1) isSettled = await removeMarks(await look(call), call)
  }

  /** Removes the marks. False if the file has changed since the read. */
  async function removeMarks({ text, version, servers }: Omit<Loaded, 'workers'>, call: ScriptCall): Promise<boolean> {
    const settled = applyEdits(text, [...servers.values()].flatMap(settleEdits))
    if (settled === text) return true
    try {
      await document.write(settled, version, call)
      return true
    } catch (error) {
      if (error instanceof AdapterError && error.kind === 'conflict') return false
      throw error
    }
  }

  function restoreOf(server: Server, { state, prior }: Former, since: BootTime): Change {
    const words = parsePrior(prior)
    if (words === undefined) return failed('fatal', `the prior state of ${formatAddress(server.at)} is none of nginx`)
    const isHome = server.becomes === state && isDeepStrictEqual(server.prior, words)
    return server.state === 'out' && !isHome ? maintained(server) : restoreEdits(server, { state, prior: words }, word, since)
  }

  function maintained({ at }: Server): AdapterError {
    return failed('conflict', `${formatAddress(at)} is out by somebody else's doing, which neither a drain nor a restore ends`)
  }

  return {
    scope,

    async list(call) {
      const { servers } = await look(call)
      return [...servers].map(([name, { at, state, becomes, prior, weight, line }]) => {
        const words = line.words.map(({ text }) => text).join(' ')
        const detail = `${name}: ${words === '' ? 'in' : words}${state === becomes ? '' : ', not loaded yet'}`
        return { name, ...at, scope, state, becomes, prior, weight, detail }
      })
    },

    drain(names, call) {
      const editsOf = (server: Server, since: BootTime): Change =>
        server.state === 'out' ? maintained(server) : drainEdits(server, word, since)
      return change(
        names.map((name) => ({ name, editsOf })),
        call,
      )
    },

    restore: (formers, call) =>
      change(
        formers.map((former) => ({
          name: former.entry.name,
          editsOf: (server, since) => restoreOf(server, former, since),
        })),
        call,
      ),
  }
}

/** The last lines of the output of a command. nginx names the fault in the first of its two last lines. */
function wordsOf(output: Buffer): string {
  return output.toString('utf8').trim().split('\n').slice(-3).join('; ')
}
