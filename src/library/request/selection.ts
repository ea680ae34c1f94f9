import { displayType, type WorkloadId } from '../../pods/workload-id.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import type { Kind } from '../../workloads/kinds/kind.ts'
import { type Kinds, namesOf } from '../../workloads/kinds/kinds.ts'
import { nearest } from '../../config/nearest.ts'
import { quote } from './quote.ts'

export type ParsedRef = { ok: true; ref: WorkloadId; kind: Kind } | { ok: false; problem: string }

const CLONE_SET =
  'OpenKruise upgrades the pods of a CloneSet in place by itself: set the image there; this version cannot hook into that'
const REPLICA_SET = 'name the Deployment that owns it, or its pods (pod/NAME, or -l SELECTOR)'
const JOB = 'the pods of a job run to their end: start the next job with the new image'
const SERVICE = 'name the workload behind it, such as statefulset/NAME'

/** Kinds that sluice does not upgrade, with the alternative for each. */
const REFUSED = new Map<string, string>([
  ...['cloneset', 'clonesets', 'clone'].map((name) => [name, CLONE_SET] as const),
  ...['replicaset', 'replicasets', 'rs'].map((name) => [name, REPLICA_SET] as const),
  ...['job', 'jobs', 'cronjob', 'cronjobs', 'cj'].map((name) => [name, JOB] as const),
  ...['service', 'services', 'svc'].map((name) => [name, SERVICE] as const),
])

/** The sign of a tag or a digest. The name of an object contains neither. */
const IMAGE_SIGN = /[:@]/
const OBJECT_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/

/** True for the name of a kind, such as `sts`. */
export function isKindName(text: string, kinds = KINDS): boolean {
  return kinds.kindNamed(text) !== undefined
}

/**
 * Reads `TYPE/NAME` as kubectl does: long, short and plural names, also with the API group, such as `sts.apps/web`. `orImage`: an image is
 * allowed in this place as well.
 */
export function parseRef(text: string, { orImage = false, kinds = KINDS }: { orImage?: boolean; kinds?: Kinds } = {}): ParsedRef {
  const quoted = quote(text)
  const parts = text.split('/')
  const [type = '', name = ''] = parts
  if (parts.length !== 2 || type === '' || name === '') {
    const isKind = parts.length === 1 && isKindName(type, kinds)
    if (!orImage) return { ok: false, problem: `${quoted} is no workload: write ${isKind ? type : 'TYPE'}/NAME` }
    const hint = isKind ? `write ${type}/NAME` : 'write TYPE/NAME for a workload, or CONTAINER=IMAGE for an image'
    return { ok: false, problem: `${quoted} is neither a workload nor an image: ${hint}` }
  }
  const kind = kinds.kindNamed(type)
  if (kind === undefined) {
    const [resource = ''] = type.toLowerCase().split('.')
    const refusal = REFUSED.get(resource)
    if (refusal !== undefined) return { ok: false, problem: `${quoted}: sluice cannot upgrade a ${resource}: ${refusal}` }
    const meant = nearest(resource, kinds.all.flatMap(namesOf))
    const known = `known ${kinds.all.length === 1 ? 'is' : 'are'} ${listed(kinds.all.map(displayType))}`
    const words = orImage && IMAGE_SIGN.test(name) ? `${known}; write CONTAINER=IMAGE for an image` : known
    const hint = meant !== undefined && meant !== resource ? `did you mean ${meant}/${name}?` : words
    return { ok: false, problem: `${quoted}: ${quote(type)} is no kind that sluice can upgrade: ${hint}` }
  }
  if (!OBJECT_NAME.test(name)) return { ok: false, problem: `${quoted}: ${quote(name)} cannot be the name of an object` }
  const { group, version, kind: word, plural } = kind
  return { ok: true, ref: { group, version, kind: word, plural, name }, kind }
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
