import { badRequest } from './refusal.ts'
import type { KubeObject } from './server.ts'

export type Selects = (object: KubeObject) => boolean

type Labels = Record<string, string>
type Requirement = (labels: Labels) => boolean

const KEY = '(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?'
const VALUE = '(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?'
const EXISTS = new RegExp(`^(!?)\\s*(${KEY})$`)
const EQUALS = new RegExp(`^(${KEY})\\s*(==|=|!=)\\s*(${VALUE})$`)
const SET = new RegExp(`^(${KEY})\\s+(in|notin)\\s*\\(\\s*(${VALUE}(?:\\s*,\\s*${VALUE})*)\\s*\\)$`)

/** Reads a label selector. @throws Refusal 400 for an invalid selector */
export function labelSelector(text: string): Selects | undefined {
  const requirements = splitOutsideParentheses(text).map((part) => requirement(part, text))
  if (requirements.length === 0) return undefined
  return ({ metadata: { labels = {} } }) => requirements.every((holds) => holds(labels))
}

function splitOutsideParentheses(text: string): string[] {
  if (text.trim() === '') return []
  return text.split(/,(?![^(]*\))/).map((part) => part.trim())
}

function requirement(part: string, whole: string): Requirement {
  const [, not, existing = ''] = EXISTS.exec(part) ?? []
  if (not !== undefined) return (labels) => existing in labels === (not === '')
  const [, key = '', operator, value = ''] = EQUALS.exec(part) ?? []
  // A missing label is not equal, so `!=` selects objects without the label.
  if (operator !== undefined) return (labels) => (labels[key] === value) === (operator !== '!=')
  const [, name = '', relation, list = ''] = SET.exec(part) ?? []
  if (relation === undefined) throw badRequest(`unable to parse requirement: found '${part}' in '${whole}'`)
  const values = new Set(list.split(',').map((one) => one.trim()))
  return (labels) => (name in labels && values.has(labels[name]!)) === (relation === 'in')
}

const FIELDS: Record<string, (object: KubeObject) => unknown> = {
  'metadata.name': ({ metadata }) => metadata.name,
  'metadata.namespace': ({ metadata }) => metadata.namespace,
}

const FIELDS_OF: Record<string, Record<string, (object: KubeObject) => unknown>> = {
  pods: {
    'spec.nodeName': (object) => within(object, 'spec', 'nodeName'),
    'spec.restartPolicy': (object) => within(object, 'spec', 'restartPolicy'),
    'spec.schedulerName': (object) => within(object, 'spec', 'schedulerName'),
    'status.phase': (object) => within(object, 'status', 'phase'),
    'status.podIP': (object) => within(object, 'status', 'podIP'),
  },
  events: {
    'involvedObject.name': (object) => within(object, 'involvedObject', 'name'),
    'involvedObject.namespace': (object) => within(object, 'involvedObject', 'namespace'),
    'involvedObject.kind': (object) => within(object, 'involvedObject', 'kind'),
    'involvedObject.uid': (object) => within(object, 'involvedObject', 'uid'),
    reason: (object) => object['reason'],
    type: (object) => object['type'],
  },
}

function within(object: KubeObject, field: string, key: string): unknown {
  return (object[field] as Record<string, unknown> | undefined)?.[key]
}

/** Returns the message about an unknown field. Kinds with selectable fields of their own have another message. */
function unknownField(resource: string, name: string): string {
  if (resource in FIELDS_OF) return `field label not supported: ${name}`
  return `"${name}" is not a known field selector: only ${Object.keys(FIELDS)
    .map((field) => `"${field}"`)
    .join(', ')}`
}

/** Reads a field selector. @throws Refusal 400 for an invalid selector, or for a field that the kind cannot be selected by */
export function fieldSelector(resource: string, text: string): Selects | undefined {
  const terms = text
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '')
    .map((term) => {
      const [, name, operator, value] = /^([^=!]*?)\s*(==|=|!=)\s*(.*)$/.exec(term) ?? []
      if (name === undefined) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
      const read = FIELDS[name] ?? FIELDS_OF[resource]?.[name]
      if (read === undefined) throw badRequest(unknownField(resource, name))
      return { read, value: value ?? '', equal: operator !== '!=' }
    })
  if (terms.length === 0) return undefined
  return (object) => terms.every(({ read, value, equal }) => ((read(object) ?? '') === value) === equal)
}
