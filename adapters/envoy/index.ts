/** Envoy through its EDS file: a drain sets `health_status: DRAINING` on the endpoint. */
import { formatAddress } from '../address.ts'
import { lookBefore, notShown } from '../before-restore.ts'
import { AdapterError, type Json } from '../contract.ts'
import { type ChangeCall, defineAdapter, type Entry } from '../define-adapter.ts'
import type { DocumentText } from '../document/document.ts'
import { changeFields, type FieldChange, YamlError } from '../document/edit-yaml.ts'
import { createFileDocument, readCall } from '../document/file-document.ts'
import { createServedText } from '../document/served-text.ts'
import { durationMs } from '../option-fields.ts'
import { waitUntilTaken } from '../wait-until-taken.ts'
import { createAdmin, type View } from './admin.ts'
import { type Assignment, AssignmentError, type FileEndpoint, readAssignment, stateOf, strangeStatus } from './assignment.ts'
import { createDiscovery } from './discovery.ts'
import { lookAtNodes } from './nodes.ts'
import { envoyOptions } from './options.ts'

/** The maximum number of changes in one write. */
const BATCH_MAX = 50
const SETTLE_DEFAULT = '5s'
/** The time, in milliseconds, in which Envoy loads a written file. It adds to the refresh_delay if Envoy fetches the file from a server. */
const TAKEN_WITHIN_MS = 3_000

/** A health status in the file. Null if the file has none. */
type Status = FileEndpoint['status']

/** The file and the views from which a list of entries was made. A change of these entries depends on it. */
interface Reading extends DocumentText {
  assignment: Assignment
  views: readonly View[]
}

interface Change {
  entry: Entry
  to: Status
}

export const envoy = defineAdapter({
  name: 'envoy',
  summary: 'Envoy, through the file of its endpoints (EDS), which it reads or asks sluice adapter serve for.',
  options: envoyOptions,
  example: { file: '/etc/envoy/eds.yaml', cluster: 'web', admin: ['http://127.0.0.1:9901'] },
  capabilities: ({ admin, server, settle = SETTLE_DEFAULT }) => ({
    guarantee: 'G3',
    maxBatch: BATCH_MAX,
    volatileOnReload: false,
    ...(admin === undefined
      ? { inspect: server === undefined ? 'eventual' : 'strong', inFlight: 'none', settleMs: durationMs(settle) }
      : { inspect: 'strong', inFlight: 'exact', settleMs: 0 }),
  }),
  open({ file: path, prefix = [], cluster, admin = [], server, refreshDelay = '0s', temporaryFolder }, { component }) {
    const document = createFileDocument({
      component,
      path,
      prefix,
      ...(temporaryFolder === undefined ? {} : { temporaryFolder }),
    })
    const file = [...prefix, path].join(' ')
    const scope = `${document.identity}#${cluster}`
    const readings = new WeakMap<Entry, Reading>()
    const admins = admin.map((url) => createAdmin(url, cluster))

    /** Runs work on the content of the file. A failure is retryable, because another writer may be halfway through the file. */
    function parse<Value>(work: () => Value): Value {
      try {
        return work()
      } catch (cause) {
        if (!(cause instanceof YamlError || cause instanceof AssignmentError)) throw cause
        throw new AdapterError(component, 'retryable', `${file} cannot be used: ${cause.message}`, { cause })
      }
    }

    function entryOf(endpoint: FileEndpoint, views: readonly View[]): Entry {
      const { address, port, state, status, weight } = endpoint
      const name = formatAddress(endpoint)
      const seen = views.map(({ url, isInPanic, hosts }) => ({ url, isInPanic, hosts: hosts.get(name) ?? [] }))
      const late = state === 'in' ? seen.find(({ hosts }) => hosts.some((host) => host.state !== 'in')) : undefined
      const notOut = seen.find(({ isInPanic, hosts }) => isInPanic || hosts.some((host) => host.state === 'in'))
      const counts = seen.flatMap(({ hosts }) => (hosts.length === 0 ? [null] : hosts.map((host) => host.inFlight)))
      const words = [
        `${name}: health_status ${status ?? 'not set'} in the file`,
        strangeStatus(endpoint),
        state === 'draining' && notOut !== undefined ? `${notOut.url} ${whyIn(notOut)}` : undefined,
        late === undefined ? undefined : `${late.url} ${NOT_TAKEN}`,
      ]
      return {
        name,
        address,
        port,
        scope,
        state: state === 'draining' && notOut !== undefined ? 'in' : state,
        prior: status,
        routable: seen.every(({ hosts }) => hosts.length > 0 && hosts.every(({ isHealthy }) => isHealthy)),
        inFlight: sumOf(counts),
        ...(weight === undefined ? {} : { weight }),
        detail: words.filter((word) => word !== undefined).join('; '),
      }
    }

    async function looks(signal: AbortSignal): Promise<View[]> {
      if (server !== undefined) return lookAtNodes(new URL(server.url).origin, server.nodes, signal)
      return Promise.all(admins.map((one) => one.look(signal)))
    }

    function whyNotTaken(views: readonly View[], wanted: ReadonlyMap<string, Status>): string | undefined {
      for (const { url, hosts } of views) {
        const late = [...wanted].find(([address, status]) => hosts.get(address)?.some(({ state }) => state !== stateOf(status)))
        if (late === undefined) continue
        return (
          `the Envoy at ${url} has not taken ${file}, by what it says of ${late[0]}: it may have refused the file ` +
          `(update_rejected in /stats, and its log), or it has its endpoints from somewhere else`
        )
      }
      return undefined
    }

    /** Makes all changes in one write. */
    async function change(changes: readonly Change[], call: ChangeCall): Promise<void> {
      const reading = readings.get(changes[0]!.entry)!
      const { endpoints, versionField } = reading.assignment
      const fields = changes.map(({ entry: { name }, to }): FieldChange => {
        const { path: map, statusField: field } = endpoints.get(name)!
        return { map, field, to: to ?? undefined }
      })
      // Envoy shows the version of the loaded file as `version_text` of the cluster.
      const version: FieldChange = { map: [], field: versionField, to: `sluice-${call.operationOf(changes[0]!.entry)}` }
      const text = parse(() => changeFields(reading.text, [...fields, version]))
      const drained = changes.flatMap(({ entry, to }) => (stateOf(to) === 'draining' ? [entry.name] : []))
      const full = drained.length === 0 ? undefined : reading.views.find((view) => view.wouldPanic(drained))
      if (full !== undefined) throw new AdapterError(component, 'retryable', whyPanic(full, drained))
      await document.write(text, reading.version, call)
      const wanted = new Map(changes.map(({ entry, to }) => [entry.name, to]))
      const taking = { component, withinMs: durationMs(refreshDelay) + TAKEN_WITHIN_MS, signal: call.signal }
      // Envoy may refuse the file. It then keeps the former one.
      await waitUntilTaken(async () => whyNotTaken(await looks(call.signal), wanted), taking)
    }

    return {
      scopes: [scope],
      async list(call) {
        const { text, version } = await document.read(call)
        const assignment = parse(() => readAssignment(text, cluster))
        const views = await lookBefore(looks, call)
        const reading: Reading = { text, version, views: views ?? [], assignment }
        return [...assignment.endpoints.values()].map((endpoint) => {
          const entry = views === undefined ? notShown(entryOf(endpoint, [])) : entryOf(endpoint, views)
          readings.set(entry, reading)
          return entry
        })
      },
      drain: (entries, call) =>
        change(
          entries.map((entry) => ({ entry, to: 'DRAINING' })),
          call,
        ),
      restore: (formers, call) =>
        change(
          formers.map(({ entry, prior }) => ({ entry, to: statusFrom(prior) })),
          call,
        ),
    }
  },
  serve({ file: path, prefix, cluster, admin, server }, { component }) {
    if (prefix !== undefined) throw new Error('its options have a prefix: serve the file on its own host')
    if (admin === undefined && server === undefined)
      throw new Error('its options have neither server nor admin: a drain has to be waited for')
    const document = createFileDocument({ component, path })
    const read = createServedText(
      () => document.read(readCall()),
      (text) => void readAssignment(text, cluster),
    )
    return createDiscovery({ cluster, read })
  },
})

const NOT_TAKEN = 'has not taken that'

function whyIn({ isInPanic }: { isInPanic: boolean }): string {
  return isInPanic ? 'has too few healthy hosts, and sends requests to all (panic threshold)' : NOT_TAKEN
}

function whyPanic({ url }: View, drained: readonly string[]): string {
  return (
    `without ${drained.join(', ')} the Envoy at ${url} would have too few healthy hosts, and send requests to all of them, ` +
    `drained or not: wait until more are healthy, or set healthy_panic_threshold to 0`
  )
}

/** The sum of the counts. Null if one of them is unknown, or if there is none. */
function sumOf(counts: readonly (number | null)[]): number | null {
  const known = counts.filter((count) => count !== null)
  return counts.length === 0 || known.length < counts.length ? null : known.reduce((sum, count) => sum + count, 0)
}

function statusFrom(prior: Json): Status {
  return typeof prior === 'string' || typeof prior === 'number' ? prior : null
}
