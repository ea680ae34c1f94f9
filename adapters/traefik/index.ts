/** Traefik through a file of its file provider: a drain sets `weight: 0` on the server. */
import { dirname } from 'node:path'
import { formatAddress } from '../address.ts'
import { lookBefore, notShown } from '../before-restore.ts'
import { AdapterError, type Json } from '../contract.ts'
import { type ChangeCall, defineAdapter, type Entry } from '../define-adapter.ts'
import type { DocumentText } from '../document/document.ts'
import { changeFields, YamlError } from '../document/edit-yaml.ts'
import { createFileDocument, readCall } from '../document/file-document.ts'
import { createServedText } from '../document/served-text.ts'
import { durationMs } from '../option-fields.ts'
import { waitUntilTaken } from '../wait-until-taken.ts'
import { lookAt, type View } from './api.ts'
import { traefikOptions } from './options.ts'
import { type FileServer, readServers, readWeight, ServiceError } from './service.ts'

/** The maximum number of changes in one write. */
const BATCH_MAX = 50
const THROTTLE_DEFAULT = '2s'
const SETTLE_DEFAULT = '5s'
const NO_POLL = '0s'
/** The time until Traefik has read a file and made its routes, in milliseconds. It adds to the throttle. */
const LOAD_MS = 1_000
/** The routes change a moment after the API shows the change. The time is in milliseconds. */
const SHOWN_BEFORE_MS = 100

/** The file from which a list of entries was made. A change of these entries depends on it. */
interface Reading extends DocumentText {
  servers: ReadonlyMap<string, FileServer>
}

interface Change {
  entry: Entry
  /** The weight in the form in which it is to be written. Null: no weight. */
  written: string | null
}

export const traefik = defineAdapter({
  name: 'traefik',
  summary: 'Traefik, through a file of its file provider, or of its http provider by sluice adapter serve.',
  options: traefikOptions,
  example: { file: '/etc/traefik/dynamic/web.yaml', service: 'web', api: ['http://127.0.0.1:8080'] },
  capabilities: ({ api, throttle = THROTTLE_DEFAULT, pollInterval = NO_POLL, settle = SETTLE_DEFAULT }) => ({
    guarantee: 'G3',
    maxBatch: BATCH_MAX,
    inFlight: 'none',
    volatileOnReload: false,
    ...(api === undefined
      ? { inspect: 'eventual', settleMs: durationMs(pollInterval) + durationMs(throttle) + LOAD_MS + durationMs(settle) }
      : { inspect: 'strong', settleMs: SHOWN_BEFORE_MS + durationMs(settle) }),
  }),
  open(options, { component }) {
    const { file: path, service, api = [], throttle = THROTTLE_DEFAULT, pollInterval, prefix = [], temporaryFolder } = options
    const provider = pollInterval === undefined ? 'file' : 'http'
    const document = createFileDocument({ component, path, prefix, temporaryFolder: temporaryFolder ?? dirname(dirname(path)) })
    const file = [...prefix, path].join(' ')
    const scope = `${document.identity}#${service}`
    const readings = new WeakMap<Entry, Reading>()

    /** Runs work on the content of the file. A failure is retryable, because another writer may be halfway through the file. */
    function parse<Value>(work: () => Value): Value {
      try {
        return work()
      } catch (cause) {
        if (!(cause instanceof YamlError || cause instanceof ServiceError)) throw cause
        throw new AdapterError(component, 'retryable', `${file} cannot be used: ${cause.message}`, { cause })
      }
    }

    const looks = (signal: AbortSignal): Promise<View[]> => Promise.all(api.map((url) => lookAt(url, service, provider, signal)))

    function entryOf(server: FileServer, views: readonly View[]): Entry {
      const { address, port, weight, written } = server
      const name = formatAddress(server)
      const seen = views.map((view) => ({ at: view.url, of: view.servers.get(name) }))
      const late = seen.find(({ of }) => of === undefined || isOut(of.weight) !== isOut(weight))
      const effective = isOut(weight) && late !== undefined ? late.of?.weight : (weight ?? 1)
      const words = [
        `${name}: weight ${weight ?? 'not set'} in the file`,
        late === undefined ? undefined : `${late.at} ${late.of === undefined ? 'does not show it' : 'has not taken that'}`,
        ...seen.map(({ at, of }) => (of?.isUp === false ? `down by the health checks of ${at}` : undefined)),
      ]
      return {
        name,
        address,
        port,
        scope,
        state: isOut(weight) && late === undefined ? 'draining' : 'in',
        ...(effective === undefined ? {} : { weight: Math.max(0, effective) }),
        prior: written,
        routable: seen.every(({ of }) => of !== undefined && of.isUp && !isOut(of.weight)),
        detail: words.filter((word) => word !== undefined).join('; '),
      }
    }

    /** The reason why a Traefik has not loaded the changes. Traefik may refuse the file, and then keeps the former one. */
    function whyNotTaken(changes: readonly Change[], views: readonly View[]): string | undefined {
      for (const { url: at, servers: seen } of views) {
        const late = changes.find(({ entry, written }) => {
          const shown = seen.get(entry.name)
          return shown === undefined || isOut(shown.weight) !== isOut(readWeight(written))
        })
        if (late === undefined) continue
        return (
          `the Traefik at ${at} has not taken ${file}, by what it says of ${late.entry.name}: it may have refused the file (see its log), ` +
          `have a longer providersThrottleDuration than ${throttle}, or have another file`
        )
      }
      return undefined
    }

    /** Makes all changes in one write. */
    async function change(changes: readonly Change[], call: ChangeCall): Promise<void> {
      const { text, version, servers } = readings.get(changes[0]!.entry)!
      const fields = changes.map(({ entry, written }) => {
        const { path: map, weightField } = servers.get(entry.name)!
        return { map, field: weightField, to: written === null ? undefined : { written } }
      })
      const changed = parse(() => changeFields(text, fields))
      await document.write(changed, version, call)
      const taking = {
        component,
        withinMs: durationMs(pollInterval ?? NO_POLL) + durationMs(throttle) + 2 * LOAD_MS,
        signal: call.signal,
      }
      await waitUntilTaken(async () => whyNotTaken(changes, await looks(call.signal)), taking)
    }

    return {
      scopes: [scope],
      async list(call) {
        const { text, version } = await document.read(call)
        const reading: Reading = { text, version, servers: parse(() => readServers(text, service)) }
        const views = await lookBefore(looks, call)
        return [...reading.servers.values()].map((server) => {
          const entry = views === undefined ? notShown(entryOf(server, [])) : entryOf(server, views)
          readings.set(entry, reading)
          return entry
        })
      },
      drain: (entries, call) =>
        change(
          entries.map((entry) => ({ entry, written: '0' })),
          call,
        ),
      restore: (formers, call) =>
        change(
          formers.map(({ entry, prior }) => ({ entry, written: writtenFrom(prior) })),
          call,
        ),
    }
  },
  /** Serves the file when it is complete. Traefik replaces the content of the provider with any answer, even with half of a file. */
  serve({ file: path, service, prefix, pollInterval }, { component }) {
    if (prefix !== undefined) throw new Error('its options have a prefix: serve the file on its own host')
    if (pollInterval === undefined)
      throw new Error('its options have no pollInterval: without it, Traefik is taken to read the file')
    const document = createFileDocument({ component, path })
    const read = createServedText(
      () => document.read(readCall()),
      (text) => void readServers(text, service),
    )
    return {
      async answer({ method }) {
        if (method !== 'GET') return { status: 405, body: 'ask with GET' }
        return { status: 200, contentType: 'application/yaml', body: await read() }
      },
    }
  },
})

/** True if the weight takes the server out. Traefik treats a negative weight as 0, and a missing weight as 1. */
function isOut(weight: number | null): boolean {
  return weight !== null && weight <= 0
}

function writtenFrom(prior: Json): string | null {
  return typeof prior === 'string' ? prior : null
}
