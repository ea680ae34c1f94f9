import { resolve } from 'node:path'
import type { AdapterDefinition } from '../../adapters/contract.ts'
import type { ConfiguredLock } from './config.ts'
import { loadBalancerSchema } from './schema.ts'

interface Locked {
  definition: AdapterDefinition
  options: unknown
  /** Of the config. */
  folder: string
}

interface LockProblem {
  problem: string
  path: PropertyKey[]
  hint: string
}

const lockSchema = loadBalancerSchema.shape.lock

/** The lock of a load balancer with what it leaves out; nothing where none is given, and none is needed. */
export function lockOf(given: unknown, { definition, options, folder }: Locked): { lock?: ConfiguredLock } | LockProblem {
  const document = definition.document?.(options)
  if (given === undefined) {
    if (document === undefined) return {}
    const { identity } = document
    const problem =
      'is missing: a change replaces a whole document that has no version, so that of two writers at once one is lost'
    const key = identity === undefined ? ', key: NAME' : ''
    return { path: ['lock'], problem, hint: `write lock: {namespace: NAMESPACE${key}}: the Lease that all its writers take` }
  }
  const parsed = lockSchema.safeParse(given)
  // What is wrong with it, the schema of the file says.
  if (!parsed.success || parsed.data === undefined) return {}
  const { namespace, key = document?.identity, kubeconfig, context } = parsed.data
  if (key === undefined) {
    const hint = 'name the document, the same for all that write it, such as its URL or path'
    return {
      path: ['lock', 'key'],
      problem: `is missing: adapter ${definition.name} does not know which document it writes`,
      hint,
    }
  }
  const file = kubeconfig === undefined ? {} : { kubeconfig: resolve(folder, kubeconfig) }
  return { lock: { namespace, document: key, ...file, ...(context === undefined ? {} : { context }) } }
}
