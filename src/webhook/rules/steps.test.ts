import { expect, test } from 'vitest'
import { decided, endpoint, pod, service, slice } from '../decide/testing/world.ts'
import { LIMITS } from './limits.ts'
import type { RuleProblemCode } from './rules-error.ts'

const NINE = '[1,2,3,4,5,6,7,8,9]'
const TEN = 'x,x,x,x,x,x,x,x,x,x'

/** Each level takes nine times as long as the level within it. */
function nested(depth: number): string {
  const names = Array.from({ length: depth }, (_, at) => `a${at}`)
  return names.reduceRight((inner, name) => `${NINE}.all(${name}, ${inner})`, names.map((name) => `${name} > 0`).join(' && '))
}

function codesOf(when: string, objects: readonly object[] = [pod(1), service]): RuleProblemCode[] {
  const list = `  - {name: x, when: ${JSON.stringify(when)}, effect: notReady}`
  const { decision } = decided(list, slice([endpoint(1)]), { objects })
  return decision.endpoints.flatMap(({ failed }) => failed.map(({ code }) => code))
}

// Each would take from minutes to longer than anybody waits, or all memory.
test.each([
  ['nested comprehensions', nested(10)],
  ['the same where an operator passes over errors', `${nested(10)} || true`],
  ['the same where each round passes over errors', `${NINE}.exists(z, ${nested(9)} || z > 100)`],
  ['lists that double', `[[1]]${'.map(x, x + x)'.repeat(40)} == []`],
  ['texts that double', `["xx"]${'.map(x, x + x)'.repeat(40)} == []`],
  ['shared lists that are compared', `[["x"]]${`.map(x, [${TEN}])`.repeat(14)} == [["x"]]${`.map(x, [${TEN}])`.repeat(14)}`],
  ['shared lists that are searched', `[["x"]]${`.map(x, [${TEN}])`.repeat(12)} in [[["x"]]${`.map(x, [${TEN}])`.repeat(12)}]`],
])('an expression ends at the limit of its steps: %s', (_name, when) => {
  expect(codesOf(when)).toEqual(['too-costly'])
})

test('a pattern costs as much as it is compared', () => {
  const long = pod(1, { metadata: { annotations: { long: 'a'.repeat(20_000) } } })
  const glob = (pattern: string): string => `glob(pod.metadata.annotations["long"], "${pattern}")`
  expect(codesOf(glob(`*${'a'.repeat(100)}b`), [long, service])).toEqual(['too-costly'])
  expect(codesOf(glob('aaa*'), [long, service])).toEqual([])
})

test('what a rule needs is far below the limit', () => {
  const containers = Array.from({ length: 50 }, (_, at) => ({ name: `c${at}`, image: 'registry.example/app:v1' }))
  expect(codesOf(nested(2))).toEqual([])
  const all = 'pod.spec.containers.all(c, c.image.startsWith("registry.example/") && c.name != "x")'
  expect(codesOf(all, [pod(1, { spec: { containers } }), service])).toEqual([])
})

test('the text of a duration is short: its parser is slow on long ones', () => {
  const annotations = { a: '1'.repeat(200_000), b: '5m' }
  const of = (key: string): string => `duration(pod.metadata.annotations["${key}"]) > duration("1s")`
  const own = pod(1) as { metadata: object }
  const objects = [{ ...own, metadata: { ...own.metadata, annotations } }, service]
  expect(codesOf(of('a'), objects)).toEqual(['too-costly'])
  const shorter = { a: '1'.repeat(1_000), b: '5m' }
  expect(codesOf(of('a'), [{ ...own, metadata: { ...own.metadata, annotations: shorter } }, service])).toEqual(['failed'])
  expect(codesOf(of('b'), objects)).toEqual([])
})

test('the rules of one object share a limit, after which the wish stands', () => {
  const costly = nested(2)
  const list = Array.from(
    { length: 10 },
    (_, at) => `  - {name: r${at}, when: ${JSON.stringify(`!(${costly})`)}, effect: notReady}`,
  )
  const endpoints = Array.from({ length: 400 }, (_, at) => endpoint(at))
  const { decision } = decided(list.join('\n'), slice(endpoints))
  const codes = decision.endpoints.map(({ failed }) => failed.map(({ code }) => code))
  expect(codes.at(-1)).toEqual(Array.from({ length: 10 }, () => 'decision-too-costly'))
  expect(codes.flat()).not.toContain('too-costly')
  // The first endpoints were decided about within the limit.
  expect(decision.endpoints.length).toBeLessThan(400)
  expect(LIMITS.decisionSteps).toBeGreaterThan(LIMITS.expressionSteps)
})
