import { resolve } from 'node:path'
import { z } from 'zod'
import type { AdapterDefinition, UnversionedDocument } from '../../adapters/contract.ts'
import type { ConfiguredLock } from './config.ts'
import { loadBalancerSchema } from './schema.ts'
import { isPromise } from './wording.ts'

interface Locked {
  definition: AdapterDefinition
  options: unknown
  /** The folder of the config. */
  folder: string
}

interface LockProblem {
  problem: string
  path: PropertyKey[]
  hint: string
}

const documentSchema = z.strictObject({ identity: z.string().min(1).optional() }).optional()

/** The document of an adapter's options. The type is checked at run time, because a plugin may be untyped. */
function documentOf({ name, document }: AdapterDefinition, options: unknown): { document?: UnversionedDocument } | LockProblem {
  const path: PropertyKey[] = ['adapter']
  const hint = 'mend the adapter: document gives { identity } with a text, {}, or undefined, and does not wait'
  let said: unknown
  try {
    said = document?.(options)
  } catch (error) {
    return {
      path,
      problem: `adapter ${name} cannot be used: document fails: ${error instanceof Error ? error.message : String(error)}`,
      hint,
    }
  }
  if (isPromise(said)) {
    // An unhandled rejection would end the process.
    Promise.resolve(said).catch(() => {})
    return { path, problem: `adapter ${name} cannot be used: document gives a promise`, hint }
  }
  const checked = documentSchema.safeParse(said)
  if (!checked.success) return { path, problem: `adapter ${name} cannot be used: document gives ${JSON.stringify(said)}`, hint }
  return checked.data === undefined ? {} : { document: checked.data as UnversionedDocument }
}

const lockSchema = loadBalancerSchema.shape.lock

/** The lock of a load balancer, with defaults filled in; absent if none is configured and none is needed. */
export function lockOf(given: unknown, { definition, options, folder }: Locked): { lock?: ConfiguredLock } | LockProblem {
  const asked = documentOf(definition, options)
  if ('problem' in asked) return asked
  const { document } = asked
  if (given === undefined) {
    if (document === undefined) return {}
    const { identity } = document
    const problem =
      'is missing: a change replaces a whole document that has no version, so that of two writers at once one is lost'
    const key = identity === undefined ? ', key: NAME' : ''
    return { path: ['lock'], problem, hint: `write lock: {namespace: NAMESPACE${key}}: the Lease that all its writers take` }
  }
  const parsed = lockSchema.safeParse(given)
  // The schema of the file reports the problems of the lock.
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
