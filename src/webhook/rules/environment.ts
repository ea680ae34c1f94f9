import { Environment } from '@marcbachmann/cel-js'
import { celTypeOf, type MessageType, typesWithin } from './message-type.ts'
import { LIMITS } from './limits.ts'
import { RULE_FUNCTIONS } from './rule-functions.ts'
import { CONDITION, ENDPOINT, NODE, OBJECT, POD, REQUEST, SERVICE } from './variable-types.ts'
import type { Read } from './rule-set.ts'

export interface Variable {
  readonly type: MessageType | 'timestamp'
  readonly reads: Read
}

export const VARIABLES: Readonly<Record<string, Variable>> = {
  endpoint: { type: ENDPOINT, reads: 'endpoint' },
  address: { type: ENDPOINT, reads: 'endpoint' },
  pod: { type: POD, reads: 'pod' },
  node: { type: NODE, reads: 'node' },
  service: { type: SERVICE, reads: 'service' },
  object: { type: OBJECT, reads: 'object' },
  request: { type: REQUEST, reads: 'request' },
  now: { type: 'timestamp', reads: 'clock' },
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
    const types = Object.entries(fields).map(([field, type]) => [field, celTypeOf(type)])
    made.registerType(name, { ctor: make, fields: Object.fromEntries(types) as Record<string, string> })
  }
  for (const [name, { type }] of Object.entries(VARIABLES)) made.registerVariable(name, celTypeOf(type))
  for (const { signature, handler } of RULE_FUNCTIONS) made.registerFunction(signature, handler, { async: false })
  return made
}

export const environment = makeEnvironment()
