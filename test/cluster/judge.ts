import { writeFile } from 'node:fs/promises'
import { stringify } from 'yaml'
import type { RecordedCommand, RecordedEffect } from './haproxy-recorder.ts'
import { storedJournal } from './journal.ts'
import type { KubeObject } from './kube-api.ts'
import { appPort } from './manifests.ts'
import type { UpgradeBed } from './upgrade-bed.ts'

/** Returns the allowed effects of one upgrade on these servers, to compare with `bed.effects()`. */
export function onceEach(servers: readonly string[], times = 1): Record<string, string[]> {
  return Object.fromEntries(servers.map((server) => [server, Array.from({ length: times }, () => ['drain', 'ready']).flat()]))
}

/** Returns the most servers that were out of rotation at once, by the states in HAProxy after each command. */
export function mostOut(effects: readonly RecordedEffect[]): number {
  const out = new Set<string>()
  let most = 0
  for (const { backend, server, after } of effects) {
    if (after === undefined) continue
    if (after.adminState === 0) out.delete(`${backend}/${server}`)
    else out.add(`${backend}/${server}`)
    most = Math.max(most, out.size)
  }
  return most
}

/** Returns the lines that should change a server, by connection. */
export function changingLines(commands: readonly RecordedCommand[]): string[][] {
  const changing = commands.filter(({ line }) => line.includes('set server'))
  return Array.from(Map.groupBy(changing, ({ connection }) => connection).values(), (own) => own.map(({ line }) => line))
}

/** Writes the config file of the bed with these options of HAProxy. */
export async function configure(
  { configFile, haproxy }: UpgradeBed,
  options: Record<string, unknown>,
  rest: Record<string, unknown> = {},
): Promise<void> {
  const base = 'sockets' in options ? { backend: 'web' } : { socket: haproxy.recorder.socket, backend: 'web' }
  const edge = { name: 'edge', adapter: 'haproxy', port: appPort, options: { ...base, ...options } }
  await writeFile(configFile, stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge], ...rest }))
}

/** Everything that a run could have changed, for a comparison before and after. */
export interface Trace {
  /** The number of effective changes in HAProxy so far. */
  effects: number
  /** The writes of sluice that the API server has stored, as `patch pods`. */
  writes: string[]
  pods: unknown[]
  owners: unknown[]
}

export async function traceOf(bed: UpgradeBed): Promise<Trace> {
  const { cluster, namespace } = bed
  const audit = await bed.audit({ verb: ['create', 'update', 'patch', 'delete'] })
  const kinds = ['StatefulSet', 'DaemonSet', 'Deployment']
  const owners = (await Promise.all(kinds.map((kind) => cluster.api.list(kind, namespace)))).flat()
  return {
    effects: bed.haproxy.recorder.effects().filter(({ effective }) => effective).length,
    writes: audit
      .filter(({ requestURI, responseStatus }) => !requestURI.includes('dryRun=All') && (responseStatus?.code ?? 0) < 400)
      .filter(({ objectRef }) => !/^selfsubject.*reviews$/.test(objectRef?.resource ?? ''))
      .map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`),
    pods: (await cluster.api.list('Pod', namespace)).map(identityOf),
    owners: owners.map(identityOf),
  }
}

function identityOf(object: KubeObject): unknown {
  const { metadata, spec } = object
  const { uid, labels, annotations } = metadata
  return { uid, labels, annotations, spec, journal: storedJournal(object) }
}
