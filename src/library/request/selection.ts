import type { WorkloadKind, WorkloadRef } from '../../plan/plan.ts'
import { nearest } from '../../config/nearest.ts'
import { quote } from './quote.ts'

export type SelectedRef = Pick<WorkloadRef, 'kind' | 'name'>

export type ParsedRef = { ok: true; ref: SelectedRef } | { ok: false; problem: string }

/** kubectl's own names for the kinds; kubectl does not care about upper and lower case either. */
const KINDS = new Map<string, WorkloadKind>([
  ['pod', 'Pod'],
  ['pods', 'Pod'],
  ['po', 'Pod'],
  ['statefulset', 'StatefulSet'],
  ['statefulsets', 'StatefulSet'],
  ['sts', 'StatefulSet'],
  ['daemonset', 'DaemonSet'],
  ['daemonsets', 'DaemonSet'],
  ['ds', 'DaemonSet'],
  ['deployment', 'Deployment'],
  ['deployments', 'Deployment'],
  ['deploy', 'Deployment'],
])

const CLONE_SET =
  'OpenKruise upgrades the pods of a CloneSet in place by itself: set the image there; this version cannot hook into that'
const REPLICA_SET = 'name the Deployment that owns it, or its pods (pod/NAME, or -l SELECTOR)'
const JOB = 'the pods of a job run to their end: start the next job with the new image'
const SERVICE = 'name the workload behind it, such as statefulset/NAME'

/** Kinds that people try, with what to do instead. */
const REFUSED = new Map<string, string>([
  ...['cloneset', 'clonesets', 'clone'].map((name) => [name, CLONE_SET] as const),
  ...['replicaset', 'replicasets', 'rs'].map((name) => [name, REPLICA_SET] as const),
  ...['job', 'jobs', 'cronjob', 'cronjobs', 'cj'].map((name) => [name, JOB] as const),
  ...['service', 'services', 'svc'].map((name) => [name, SERVICE] as const),
])

const KNOWN = 'known are pod, statefulset, daemonset and deployment'
/** A tag or a digest: the name of an object has neither. */
const IMAGE_SIGN = /[:@]/
const OBJECT_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/

/** The kind of a name alone, such as `sts`. */
export function kindNamed(text: string): WorkloadKind | undefined {
  return KINDS.get(text.toLowerCase())
}

export function isKindName(text: string): boolean {
  return kindNamed(text) !== undefined
}

/**
 * Reads `TYPE/NAME` as kubectl does: long, short and plural names, also with the API group, such as `sts.apps/web`.
 * `orImage`: an image could stand there as well.
 */
export function parseRef(text: string, { orImage = false } = {}): ParsedRef {
  const quoted = quote(text)
  const parts = text.split('/')
  const [type = '', name = ''] = parts
  if (parts.length !== 2 || type === '' || name === '') {
    const isKind = parts.length === 1 && isKindName(type)
    if (!orImage) return { ok: false, problem: `${quoted} is no workload: write ${isKind ? type : 'TYPE'}/NAME` }
    const hint = isKind ? `write ${type}/NAME` : 'write TYPE/NAME for a workload, or CONTAINER=IMAGE for an image'
    return { ok: false, problem: `${quoted} is neither a workload nor an image: ${hint}` }
  }
  const [resource = '', ...group] = type.toLowerCase().split('.')
  const refusal = REFUSED.get(resource)
  if (refusal !== undefined) return { ok: false, problem: `${quoted}: sluice cannot upgrade a ${resource}: ${refusal}` }
  const kind = KINDS.get(resource)
  const expectedGroups = kind === 'Pod' ? ['', 'v1'] : ['', 'apps', 'v1.apps']
  if (kind === undefined || !expectedGroups.includes(group.join('.'))) {
    const meant = nearest(resource, KINDS.keys())
    const known = orImage && IMAGE_SIGN.test(name) ? `${KNOWN}; write CONTAINER=IMAGE for an image` : KNOWN
    const hint = meant !== undefined && meant !== resource ? `did you mean ${meant}/${name}?` : known
    return { ok: false, problem: `${quoted}: ${quote(type)} is no kind that sluice can upgrade: ${hint}` }
  }
  if (!OBJECT_NAME.test(name)) return { ok: false, problem: `${quoted}: ${quote(name)} cannot be the name of an object` }
  return { ok: true, ref: { kind, name } }
}
