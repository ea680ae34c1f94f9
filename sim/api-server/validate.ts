import type { Kind } from './kinds.ts'
import type { FieldError } from './refusal.ts'
import { isSameJson } from './same-json.ts'
import type { KubeObject } from './server.ts'

type Fields = Record<string, unknown>

const DNS_SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'
const SUBDOMAIN = new RegExp(`^${DNS_SUBDOMAIN}$`)
const QUALIFIED = new RegExp(`^(${DNS_SUBDOMAIN}/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/
const ANNOTATIONS_LIMIT = 256 * 1024

const BAD_NAME =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an " +
  `alphanumeric character (e.g. 'example.com', regex used for validation is '${DNS_SUBDOMAIN}')`
const BAD_KEY =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character " +
  "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const BAD_VALUE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
  "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

function wrong(field: string, value: unknown, why: string): FieldError {
  return { type: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field }
}

function forbidden(field: string, why: string): FieldError {
  return { type: 'FieldValueForbidden', message: `Forbidden: ${why}`, field }
}

/** Returns the mistakes in an object, regardless of the version before. */
export function objectErrors(kind: Kind, { metadata, spec, data }: KubeObject): FieldError[] {
  return [
    ...nameErrors(kind, metadata.name),
    ...labelErrors(metadata),
    ...annotationErrors(metadata),
    ...specErrors(kind, spec, data),
  ]
}

function nameErrors({ kind }: Kind, name: string): FieldError[] {
  if (name.length <= 253 && SUBDOMAIN.test(name)) return []
  return kind === 'Event' ? [] : [wrong('metadata.name', name, BAD_NAME)]
}

function labelErrors({ labels = {} }: KubeObject['metadata']): FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...(QUALIFIED.test(key) ? [] : [wrong('metadata.labels', key, BAD_KEY)]),
    ...(LABEL_VALUE.test(value) ? [] : [wrong('metadata.labels', value, BAD_VALUE)]),
  ])
}

function annotationErrors({ annotations = {} }: KubeObject['metadata']): FieldError[] {
  const field = 'metadata.annotations'
  const errors = Object.keys(annotations).flatMap((key) =>
    QUALIFIED.test(key.toLowerCase()) ? [] : [wrong(field, key, BAD_KEY)],
  )
  let size = 0
  for (const [key, value] of Object.entries(annotations)) size += Buffer.byteLength(key) + Buffer.byteLength(value)
  if (size <= ANNOTATIONS_LIMIT) return errors
  return [...errors, { type: 'FieldValueTooLong', message: `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`, field }]
}

function specErrors({ kind }: Kind, spec: unknown, data: unknown): FieldError[] {
  if (kind === 'Pod') return containerErrors('spec.containers', (spec as Fields | undefined)?.['containers'])
  if (kind === 'ConfigMap') {
    return Object.keys((data as Fields | undefined) ?? {}).flatMap((key) =>
      /^[-._a-zA-Z0-9]{1,253}$/.test(key)
        ? []
        : [
            wrong(
              `data[${key}]`,
              key,
              "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
            ),
          ],
    )
  }
  const template = (spec as Fields | undefined)?.['template'] as Fields | undefined
  if (template === undefined) return []
  return [
    ...selectorErrors(spec as Fields, template),
    ...containerErrors('spec.template.spec.containers', (template['spec'] as Fields | undefined)?.['containers']),
  ]
}

function selectorErrors({ selector }: Fields, { metadata }: Fields): FieldError[] {
  const wanted = Object.entries(((selector as Fields | undefined)?.['matchLabels'] ?? {}) as Record<string, string>)
  const labels = ((metadata as Fields | undefined)?.['labels'] ?? {}) as Record<string, string>
  if (wanted.every(([key, value]) => labels[key] === value)) return []
  return [wrong('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]
}

function containerErrors(field: string, containers: unknown): FieldError[] {
  if (!Array.isArray(containers) || containers.length === 0) {
    return [{ type: 'FieldValueRequired', message: 'Required value', field }]
  }
  return containers.flatMap((container: Fields, index) =>
    ['name', 'image']
      .filter((key) => container[key] === undefined || container[key] === '')
      .map((key): FieldError => ({ type: 'FieldValueRequired', message: 'Required value', field: `${field}[${index}].${key}` })),
  )
}

/** Returns the changes from the former version that are not allowed. */
export function changeErrors(kind: Kind, before: KubeObject, after: KubeObject): FieldError[] {
  return [...uidErrors(before, after), ...specChangeErrors(kind, before, after)]
}

function uidErrors({ metadata: { uid } }: KubeObject, { metadata }: KubeObject): FieldError[] {
  return metadata.uid === uid ? [] : [wrong('metadata.uid', metadata.uid, 'field is immutable')]
}

function specChangeErrors({ kind }: Kind, before: KubeObject, after: KubeObject): FieldError[] {
  if (before['spec'] === after['spec']) return []
  const [old, now] = [(before['spec'] ?? {}) as Fields, (after['spec'] ?? {}) as Fields]
  if (kind === 'Pod') return podChangeErrors(old, now)
  if (kind === 'StatefulSet') return statefulSetChangeErrors(old, now)
  if ((kind === 'Deployment' || kind === 'DaemonSet' || kind === 'ReplicaSet') && !isSameJson(old['selector'], now['selector'])) {
    return [wrong('spec.selector', now['selector'], 'field is immutable')]
  }
  return []
}

const POD_FORBIDDEN =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,' +
  '`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),' +
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

function podChangeErrors(old: Fields, now: Fields): FieldError[] {
  for (const field of ['containers', 'initContainers']) {
    if (count(old, field) !== count(now, field)) {
      return [forbidden(`spec.${field}`, `pod updates may not add or remove containers`)]
    }
  }
  return isSameJson(withoutMutable(old), withoutMutable(now)) ? [] : [forbidden('spec', POD_FORBIDDEN)]
}

function count(spec: Fields, field: string): number {
  const list = spec[field]
  return Array.isArray(list) ? list.length : 0
}

/** Removes the mutable fields of a pod's spec. `nodeName` is not among them: the scheduler writes it to the store directly. */
function withoutMutable(spec: Fields): Fields {
  const withoutImages = (list: unknown): unknown =>
    Array.isArray(list) ? list.map((container: Fields) => ({ ...container, image: undefined })) : list
  return {
    ...spec,
    containers: withoutImages(spec['containers']),
    initContainers: withoutImages(spec['initContainers']),
    activeDeadlineSeconds: undefined,
    tolerations: undefined,
  }
}

const STATEFUL_SET_MUTABLE = new Set([
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
])
const STATEFUL_SET_FORBIDDEN =
  "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', " +
  "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"

function statefulSetChangeErrors(old: Fields, now: Fields): FieldError[] {
  const fixed = (spec: Fields): Fields =>
    Object.fromEntries(Object.entries(spec).filter(([field]) => !STATEFUL_SET_MUTABLE.has(field)))
  return isSameJson(fixed(old), fixed(now)) ? [] : [forbidden('spec', STATEFUL_SET_FORBIDDEN)]
}
