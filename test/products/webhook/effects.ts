/** The effects of rules, for the tests of each. */
export const EFFECTS = ['ready', 'notReady', 'serving', 'remove', 'keepPrevious'] as const
export type Effect = (typeof EFFECTS)[number]

/** A document of these rules. */
export function rulesOf(version: string, rules: readonly object[], mode = 'enforce'): string {
  return JSON.stringify({ apiVersion: 'sluice.dev/v1', kind: 'EndpointRules', metadata: { version }, mode, rules })
}

/** A rule for each effect, for pods whose label `effect` names it. */
export const BY_LABEL = EFFECTS.map((effect) => ({
  name: `by-label-${effect.toLowerCase()}`,
  when: `'effect' in pod.metadata.labels && pod.metadata.labels['effect'] == '${effect}'`,
  effect,
  ...(effect === 'keepPrevious' && { since: "condition(pod, 'Ready').lastTransitionTime", for: '1h' }),
}))

/**
 * What the conditions `ready` and `serving` of an endpoint in a slice of the EndpointSlice controller are in the end. `isReady` is the state of
 * the pod, which was ready before.
 */
export function seenWith(effect: Effect, isLabelled: boolean, isReady: boolean): string {
  if (!isLabelled) return isReady ? 'true true' : 'false false'
  return { ready: 'true true', notReady: 'false false', serving: 'false true', remove: 'false false', keepPrevious: 'true true' }[
    effect
  ]
}
