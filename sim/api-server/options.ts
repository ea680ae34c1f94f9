import { type Refusal, invalid } from './refusal.ts'
import type { Route } from './route.ts'

/** The options of a DELETE, from its body or its query. */
export interface DeleteOptions {
  gracePeriodSeconds?: number | undefined
  preconditions?: { uid?: string; resourceVersion?: string }
  dryRun: boolean
}

/** Reports whether a request stores nothing. `kind` names the wrong options in the refusal. @throws Refusal 422 */
export function isDryRun({ query }: Route, kind: string): boolean {
  return dryRunOf(query.getAll('dryRun'), kind)
}

function dryRunOf(values: readonly string[], kind: string): boolean {
  if (values.length === 0) return false
  if (values.every((value) => value === 'All')) return true
  throw unsupported(values, kind)
}

function unsupported(values: readonly string[], kind: string): Refusal {
  const message = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`
  return invalid({ kind, group: 'meta.k8s.io' }, '', [{ type: 'FieldValueNotSupported', message, field: 'dryRun' }])
}

export function deleteOptions(at: Route, body: Record<string, unknown> | undefined): DeleteOptions {
  const given = (body ?? {}) as Partial<Omit<DeleteOptions, 'dryRun'>> & { dryRun?: string[] }
  const grace = at.query.get('gracePeriodSeconds')
  return {
    gracePeriodSeconds: given.gracePeriodSeconds ?? (grace === null ? undefined : Number(grace)),
    dryRun: dryRunOf(given.dryRun ?? [], 'DeleteOptions') || isDryRun(at, 'DeleteOptions'),
    ...(given.preconditions === undefined ? {} : { preconditions: given.preconditions }),
  }
}
