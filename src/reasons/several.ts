import type { Reason } from './reason.ts'

/** Combines several reasons into one. */
export function several(...reasons: readonly Reason[]): Reason {
  const all = reasons.flatMap((one) => (one.code === 'several' ? one.reasons : [one]))
  return all.length === 1 ? all[0]! : { code: 'several', reasons: all }
}
