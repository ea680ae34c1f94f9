import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { before, condition, decided, endpoint, NOW, pod, service, slice } from '../decide/testing/world.ts'

/* A decision that rests on the clock names the instant of its next look. */

const object = slice([endpoint(1, { ready: true, serving: true })])

function decisionAt(when: string, nowAt: number, readyForMs = 90_000) {
  const list = `  - {name: x, when: ${JSON.stringify(when)}, effect: notReady}`
  const conditions = [condition('Ready', 'True', { lastTransitionTime: before(readyForMs) })]
  const { decision, patch } = decided(list, object, { objects: [pod(1, { status: { conditions } }), service], nowAt })
  return { applies: patch.length > 0, againAt: decision.againAt }
}

const AGE = 'ageOf(condition(pod, "Ready"))'

test.each([
  [`${AGE} < duration("2m")`, NOW + 30_001],
  [`${AGE} <= duration("2m")`, NOW + 30_001],
  [`duration("2m") > ${AGE}`, NOW + 30_001],
  [`now - condition(pod, "Ready").lastTransitionTime >= duration("2m")`, NOW + 30_001],
  [`condition(pod, "Ready").lastTransitionTime + duration("2m") > now`, NOW + 30_001],
  [`now + duration("10s") < timestamp("2026-11-30T10:01:00Z")`, NOW + 50_001],
  [`pod.status.conditions.exists(c, c.type == "Ready" && ageOf(c) < duration("2m"))`, NOW + 30_001],
  [`pod.status.conditions.filter(c, ageOf(c) < duration("2m")).size() > 0`, NOW + 30_001],
  [`${AGE} < duration("1m")`, undefined],
  [`${AGE} < duration("2m") && ${AGE} > duration("95s")`, NOW + 5_001],
  // What is not evaluated cannot turn the decision before what is.
  [`exists(node) && ${AGE} < duration("2m")`, undefined],
  ['now - now < duration("1s")', undefined],
  ['exists(pod)', undefined],
  // Any other use of the clock is looked at in the next minute.
  ['now.getHours() == 10', NOW + 60_000],
  [`string(${AGE}.getSeconds()) == "90"`, NOW + 60_000],
  [`${AGE} in [duration("90s")]`, NOW + 60_000],
])('%s', (when, againAt) => {
  expect(decisionAt(when, NOW).againAt).toBe(againAt)
})

test('a comparison turns at the named instant, and not before', () => {
  const side = fc.constantFrom(AGE, `(${AGE} - duration("7s"))`, '(now - pod.status.conditions[0].lastTransitionTime)')
  const comparison = fc.constantFrom('<', '<=', '>', '>=')
  const seconds = fc.integer({ min: 0, max: 300 })
  fc.assert(
    fc.property(side, comparison, seconds, seconds, fc.boolean(), (left, operator, age, limit, isTurned) => {
      const right = `duration("${limit}s")`
      const when = isTurned ? `${right} ${operator} ${left}` : `${left} ${operator} ${right}`
      const first = decisionAt(when, NOW, age * 1_000)
      const end = first.againAt ?? NOW + 1_000_000
      const earlier = [NOW, Math.floor((NOW + end) / 2), end - 2].filter((at) => at >= NOW)
      for (const at of earlier) expect(decisionAt(when, at, age * 1_000).applies, `${when} at ${at - NOW}`).toBe(first.applies)
      // Where both sides are equal now, one more look may find nothing new.
      const turnsAt = first.againAt === undefined || first.againAt === NOW + 1 ? [] : [first.againAt]
      for (const at of turnsAt) expect(decisionAt(when, at, age * 1_000).applies).toBe(!first.applies)
    }),
  )
})
