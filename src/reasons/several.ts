import type { Reason } from './reason.ts'

/** One reason of several. */
export function several(...reasons: readonly Reason[]): Reason {
  const all = reasons.flatMap((one) => (one.code === 'several' ? one.reasons : [one]))
  return all.length === 1 ? all[0]! : { code: 'several', reasons: all }
}
