import { Environment } from '@marcbachmann/cel-js'
import { celTypeOf, type MessageType, typesWithin } from './message-type.ts'
import { LIMITS } from './limits.ts'
import { RULE_FUNCTIONS } from './rule-functions.ts'
import { CONDITION, ENDPOINT, NODE, OBJECT, POD, REQUEST, SERVICE } from './variable-types.ts'
import type { Read } from './rule-set.ts'

export interface Variable {
  readonly type: MessageType | 'timestamp'
  readonly reads: Read
  /** What the variable holds, for the docs. */
  readonly says: string
}

export const VARIABLES: Readonly<Record<string, Variable>> = {
  endpoint: {
    type: ENDPOINT,
    reads: 'endpoint',
    says: 'the endpoint that is decided about: one address of Endpoints, or one endpoint of an EndpointSlice',
  },
  address: { type: ENDPOINT, reads: 'endpoint', says: 'another name of `endpoint`' },
  pod: { type: POD, reads: 'pod', says: 'the pod of the endpoint; `exists(pod)` is false where there is none' },
  node: { type: NODE, reads: 'node', says: 'the node of the endpoint; `exists(node)` is false where it is not known' },
  service: {
    type: SERVICE,
    reads: 'service',
    says: 'the Service of the object; `exists(service)` is false where it is not known',
  },
  object: { type: OBJECT, reads: 'object', says: 'the EndpointSlice or Endpoints object' },
  request: {
    type: REQUEST,
    reads: 'request',
    says: 'the write; `exists(request)` is false for a second look, which no write causes',
  },
  now: { type: 'timestamp', reads: 'clock', says: 'the time of the decision' },
}

export const TYPES: readonly MessageType[] = [
  ...new Set([CONDITION, ...Object.values(VARIABLES).flatMap(({ type }) => (type === 'timestamp' ? [] : typesWithin(type)))]),
]

function makeEnvironment(): Environment {
  const made = new Environment({
    enableOptionalTypes: true,
    limits: { maxAstNodes: LIMITS.expressionNodes, maxDepth: LIMITS.expressionDepth },
  })
  for (const { name, fields, make } of TYPES) {
    const types = Object.entries(fields).map(([field, { type }]) => [field, celTypeOf(type)])
    made.registerType(name, { ctor: make, fields: Object.fromEntries(types) as Record<string, string> })
  }
  for (const [name, { type }] of Object.entries(VARIABLES)) made.registerVariable(name, celTypeOf(type))
  for (const { signature, handler } of RULE_FUNCTIONS) made.registerFunction(signature, handler, { async: false })
  return made
}

export const environment = makeEnvironment()
