import { describe, expect, test } from 'vitest'
import type { ContainerImage, Journal } from '../pods/glossary.ts'
import type { PatchOperation } from '../pods/patch-operation.ts'
import { baselineOf } from '../pods/baseline.ts'
import type { Raw, RawPodOptions } from '../pods/testing/raw-pod.ts'
import { rawPod, runningA } from '../pods/testing/raw-pod.ts'
import { JOURNAL_KEY, podView } from '../pods/view.ts'
import { LONGEST_JOURNAL, journalOf, readJournal, writeJournal } from './journal.ts'
import { closePatch, drainIntentPatch, imagesPatch, restatePatch, restoreIntentPatch } from './patches.ts'
import { PatchRefused, applyPatch } from './testing/json-patch.ts'
import { testTarget } from './testing/journals.ts'

const WANTED: ContainerImage[] = [
  { container: 'web', image: 'web:v2' },
  { container: 'app', image: 'app:v2' },
]

/** The spec has another order than the statuses, which the kubelet sorts by name. */
const OPTIONS: RawPodOptions = {
  generation: 4,
  observedGeneration: 4,
  ip: '10.0.0.7',
  annotations: { other: 'kept' },
  labels: { app: 'web' },
  containers: [
    { name: 'web', image: 'web:v1', status: { ...runningA, id: 'containerd://w' } },
    { name: 'sidecar', image: 'proxy:v1', status: { ...runningA, id: 'containerd://s' } },
    { name: 'app', image: 'app:v1', status: { ...runningA, id: 'containerd://a' } },
  ],
}

function nextFor(raw: Raw, step: Journal['step']): Journal {
  return {
    run: 'run-1',
    epoch: 3,
    attempt: 1,
    step,
    baseline: baselineOf(podView(raw), WANTED),
    targets: [testTarget()],
    ...(step === 'patched' ? { generation: 5 } : {}),
  }
}

type Build = (raw: Raw) => PatchOperation[]

const [OLDER, OLD, NEWER] = [1, 2, 4].map((epoch) => writeJournal({ ...nextFor(rawPod(OPTIONS), 'drain'), epoch })) as [
  string,
  string,
  string,
]

const LABEL: PatchOperation[] = [{ op: 'add', path: '/metadata/labels/controller-revision-hash', value: 'web-2' }]
const drain: Build = (raw) => drainIntentPatch(podView(raw), nextFor(raw, 'drain'), WANTED)
const images: Build = (raw) => imagesPatch(podView(raw), nextFor(raw, 'patched'), WANTED, LABEL)
const restore: Build = (raw) => restoreIntentPatch(podView(raw), nextFor(raw, 'restore'))
const close: Build = (raw) => closePatch(podView(raw), nextFor(raw, 'closed'))

const LONGER = WANTED.map(({ container, image }) => ({ container, image: `registry.example/${image}@sha256:${'0'.repeat(64)}` }))

test.each([
  ['short', WANTED],
  ['long', LONGER],
])(
  'what is drained for %s images can be written about to its end: by another run, patched, rolled back, put back',
  (_name, given) => {
    const raw = rawPod(OPTIONS)
    const pod = podView(raw)
    const withPrior = (length: number): Journal => ({
      ...nextFor(raw, 'drain'),
      targets: [{ ...testTarget(), prior: 'x'.repeat(length) }],
    })
    const isTaken = (length: number): boolean => {
      try {
        return drainIntentPatch(pod, withPrior(length), given).length > 0
      } catch {
        return false
      }
    }
    const longest = Array.from({ length: LONGEST_JOURNAL }, (_, index) => LONGEST_JOURNAL - index).find(isTaken)!
    const claimed: Journal = { ...withPrior(longest), run: 'run-2', origin: 'run-1', epoch: 1_000 }
    expect(() => restatePatch(pod, claimed)).not.toThrow()
    const patched: Journal = { ...claimed, step: 'patched', generation: 1_000, baseline: baselineOf(pod, WANTED) }
    expect(() => imagesPatch(pod, patched, given, [])).not.toThrow()
    const rollback = claimed.baseline.map(({ name, image }) => ({ container: name, image }))
    const failed = given.map(({ container: name, image }) => ({
      name,
      image,
      containerId: 'containerd://b',
      imageId: 'sha256:bbb',
    }))
    const back: Journal = { ...patched, rollback, baseline: failed }
    expect(() => imagesPatch(pod, back, rollback, [])).not.toThrow()
    expect(() => restoreIntentPatch(pod, { ...back, step: 'restore' })).not.toThrow()
  },
)

test('an images patch is not guarded by what an earlier one has replaced', () => {
  const raw = rawPod(OPTIONS)
  const earlier = { name: 'sidecar', image: 'proxy:v0', containerId: 'containerd://s0' }
  const next = nextFor(raw, 'patched')
  const patch = imagesPatch(podView(raw), { ...next, baseline: [...next.baseline, earlier] }, WANTED, LABEL)
  expect(readJournal(podView(applyPatch(raw, patch) as Raw).journal.annotation)).toMatchObject({
    journal: { baseline: [{ name: 'web' }, { name: 'app' }, earlier] },
  })
})

const PATCHES = [
  { name: 'drain intent', build: drain, step: 'drain' as const, place: 'condition' as const },
  { name: 'images', build: images, step: 'patched' as const, place: 'annotation' as const },
  { name: 'restore intent', build: restore, step: 'restore' as const, place: 'annotation' as const },
  { name: 'closed', build: close, step: 'closed' as const, place: 'condition' as const },
]

/** Returns a pod with the given earlier journals, in the annotation and in the condition. */
function withJournals({ annotation, condition }: { annotation?: string; condition?: string }): Raw {
  return rawPod({
    ...OPTIONS,
    annotations: { other: 'kept', ...(annotation === undefined ? {} : { [JOURNAL_KEY]: annotation }) },
    ...(condition === undefined ? {} : { journalCondition: condition }),
  })
}

describe.each(PATCHES)('$name', ({ build, step, place }) => {
  test('changes its journal, and the images where it is their patch, and nothing else', () => {
    const raw = rawPod(OPTIONS)
    const patched = applyPatch(raw, build(raw)) as Raw
    expect(journalOf(podView(patched))).toEqual(readJournal(writeJournal(nextFor(raw, step))))
    const expected = structuredClone(raw) as Raw
    if (place === 'annotation') expected.metadata.annotations[JOURNAL_KEY] = patched.metadata.annotations[JOURNAL_KEY]
    else expected.status.conditions.unshift(patched.status.conditions[0])
    if (step === 'patched') {
      expected.spec.containers[0].image = 'web:v2'
      expected.spec.containers[2].image = 'app:v2'
      expected.metadata.labels['controller-revision-hash'] = 'web-2'
    }
    expect(patched).toEqual(expected)
  })

  // Only the subresource changes the status of a pod, and it does not change the spec.
  test('changes only what the resource that it is sent to can change', () => {
    const raw = withJournals({ annotation: OLDER, condition: OLD })
    const changed = build(raw).flatMap(({ op, path }) => (op === 'test' ? [] : [path]))
    for (const path of changed) expect(path).toMatch(place === 'annotation' ? /^\/(metadata|spec)\// : /^\/(metadata|status)\//)
  })

  test('without annotations; where another has added the journal meanwhile, it fails', () => {
    const raw = rawPod({ ...OPTIONS, annotations: undefined as never })
    expect(raw.metadata).not.toHaveProperty('annotations')
    const operations = build(raw)
    const patched = applyPatch(raw, operations) as Raw
    expect(Object.keys(patched.metadata.annotations ?? {})).toEqual(place === 'annotation' ? [JOURNAL_KEY] : [])
    const other = rawPod({ ...OPTIONS, annotations: { [JOURNAL_KEY]: OLD } })
    expect(() => applyPatch(other, operations)).toThrow('test failed: /metadata/annotations')
  })

  test.each([{ annotation: OLD }, { condition: OLD }, { annotation: OLD, condition: OLDER }])(
    'journals of before are guarded, and its own counts from then on: %j',
    (before) => {
      const raw = withJournals(before)
      const operations = build(raw)
      const patched = applyPatch(raw, operations) as Raw
      expect(journalOf(podView(patched))).toEqual(readJournal(writeJournal(nextFor(raw, step))))
      expect(patched.status.conditions.filter(({ type }: Raw) => type === JOURNAL_KEY).length).toBeLessThanOrEqual(1)

      const others = [
        { ...before, annotation: NEWER },
        { ...before, condition: NEWER },
        ...Object.keys(before).map((gone) => ({ ...before, [gone]: undefined })),
      ]
      for (const other of others) expect(isRefused(withJournals(other), operations), JSON.stringify(other)).toBe(true)
    },
  )

  test('a condition that has moved is not taken for the one that was seen', () => {
    const raw = withJournals({ condition: OLD })
    const operations = build(raw)
    raw.status.conditions.unshift({ type: 'example.com/gate', status: 'True', message: OLD })
    expect(isRefused(raw, operations)).toBe(true)
    expect(isRefused(raw, build(raw))).toBe(false)
  })

  test('without conditions; where another has added the journal meanwhile, it fails', () => {
    const raw = rawPod(OPTIONS)
    delete raw.status.conditions
    const operations = build(raw)
    expect(journalOf(podView(applyPatch(raw, operations)))).toEqual(readJournal(writeJournal(nextFor(raw, step))))
    raw.status.conditions = [{ type: JOURNAL_KEY, status: 'True', message: OLD }]
    expect(isRefused(raw, operations)).toBe(true)
  })

  test('the same write a second time fails on its own journal', () => {
    const raw = rawPod(OPTIONS)
    expect(() => applyPatch(applyPatch(raw, build(raw)), build(raw))).toThrow('test failed')
  })
})

interface Violation {
  name: string
  change(raw: Raw): void
  /** The patches that are refused because of the violation. */
  noticed: ('drain intent' | 'images' | 'restore intent' | 'closed')[]
}

const ALL_OPEN: Violation['noticed'] = ['drain intent', 'images', 'restore intent']

const VIOLATIONS: Violation[] = [
  { name: 'another pod of the same name', change: (raw) => (raw.metadata.uid = 'uid-1'), noticed: [...ALL_OPEN, 'closed'] },
  { name: 'it is being deleted', change: (raw) => (raw.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'), noticed: ALL_OPEN },
  { name: 'another address', change: (raw) => (raw.status.podIP = '10.0.0.8'), noticed: ALL_OPEN },
  { name: 'no address', change: (raw) => delete raw.status.podIP, noticed: ALL_OPEN },
  { name: 'a changed spec', change: (raw) => (raw.metadata.generation = 5), noticed: ['images'] },
  { name: 'another image of one that is patched', change: (raw) => (raw.spec.containers[2].image = 'app:v9'), noticed: ALL_OPEN },
  {
    name: 'a restart of one that is patched',
    change: (raw) => (raw.status.containerStatuses[0].containerID = 'containerd://x'),
    noticed: ALL_OPEN,
  },
  { name: 'a container ID that is gone', change: (raw) => delete raw.status.containerStatuses[2].containerID, noticed: ALL_OPEN },
  {
    name: 'containers in another order',
    change: (raw) => (raw.spec.containers = raw.spec.containers.toReversed()),
    noticed: ALL_OPEN,
  },
  {
    name: 'statuses in another order',
    change: (raw) => (raw.status.containerStatuses = raw.status.containerStatuses.toReversed()),
    noticed: ALL_OPEN,
  },
  { name: 'statuses that are gone', change: (raw) => delete raw.status.containerStatuses, noticed: ALL_OPEN },
  {
    name: 'a journal of another in the annotation',
    change: (raw) => (raw.metadata.annotations[JOURNAL_KEY] = '{"v":1}'),
    noticed: [...ALL_OPEN, 'closed'],
  },
  {
    name: 'a journal of another in the condition',
    change: (raw) => raw.status.conditions.unshift({ type: JOURNAL_KEY, status: 'True', message: '{"v":1}' }),
    noticed: [...ALL_OPEN, 'closed'],
  },
]

function isRefused(raw: Raw, operations: PatchOperation[]): boolean {
  try {
    applyPatch(raw, operations)
    return false
  } catch (error) {
    if (error instanceof PatchRefused) return true
    throw error
  }
}

describe.each(VIOLATIONS)('$name', ({ change, noticed }) => {
  test.each(PATCHES)('$name', ({ name, build }) => {
    const raw = rawPod(OPTIONS)
    const operations = build(raw)
    const changed = structuredClone(raw) as Raw
    change(changed)
    const before = structuredClone(changed) as Raw
    expect(isRefused(changed, operations)).toBe(noticed.includes(name as never))
    expect(changed).toEqual(before)
  })
})

test.each(PATCHES)(
  '$name: what the kubelet writes all the time, and a restart of another container, is no hindrance',
  ({ build }) => {
    const raw = rawPod(OPTIONS)
    const operations = build(raw)
    raw.metadata.resourceVersion = '999'
    raw.status.conditions[1].status = 'False'
    raw.status.containerStatuses[1].containerID = 'containerd://s2'
    raw.metadata.annotations.third = 'x'
    expect(() => applyPatch(raw, operations)).not.toThrow()
  },
)

describe('claim', () => {
  const STEPS = [
    { step: 'drain', place: 'condition' },
    { step: 'patched', place: 'annotation' },
    { step: 'restore', place: 'annotation' },
  ] as const

  /** An open record of an earlier owner in its place, and the patch that takes it over. */
  function openAt({ step, place }: (typeof STEPS)[number]): { raw: Raw; operations: PatchOperation[]; next: Journal } {
    const next = nextFor(rawPod(OPTIONS), step)
    const former = writeJournal({ ...next, run: 'run-0', epoch: 2 })
    // The record from before the images stays in the condition.
    const raw = withJournals(place === 'condition' ? { condition: former } : { annotation: former, condition: OLDER })
    return { raw, operations: restatePatch(podView(raw), next), next }
  }

  describe.each(STEPS)('$step', ({ step, place }) => {
    test('changes the record in the place where it stands, and nothing else', () => {
      const { raw, operations, next } = openAt({ step, place } as never)
      const patched = applyPatch(raw, operations) as Raw
      expect(journalOf(podView(patched))).toEqual(readJournal(writeJournal(next)))
      const expected = structuredClone(raw) as Raw
      if (place === 'annotation') expected.metadata.annotations[JOURNAL_KEY] = writeJournal(next, raw.metadata.uid)
      else expected.status.conditions[0] = patched.status.conditions[0]
      expect(patched).toEqual(expected)
      expect(patched.status.conditions[0]).toMatchObject({ type: JOURNAL_KEY, status: 'True' })
    })

    test('is refused where either place was written since, or is empty now, and by itself a second time', () => {
      const { raw, operations } = openAt({ step, place } as never)
      const written = structuredClone(raw) as Raw
      written.metadata.annotations[JOURNAL_KEY] = NEWER
      expect(isRefused(written, operations)).toBe(true)
      const other = structuredClone(raw) as Raw
      other.status.conditions[0].message = NEWER
      expect(isRefused(other, operations)).toBe(true)
      const removed = structuredClone(raw) as Raw
      if (place === 'condition') removed.status.conditions.shift()
      else delete removed.metadata.annotations[JOURNAL_KEY]
      expect(isRefused(removed, operations)).toBe(true)
      expect(isRefused(applyPatch(raw, operations) as Raw, operations)).toBe(true)
    })

    test('is refused where the earlier owner has closed it', () => {
      const { raw, operations, next } = openAt({ step, place } as never)
      const closing = closePatch(podView(raw), { ...next, run: 'run-0', epoch: 2, step: 'closed' })
      expect(isRefused(applyPatch(raw, closing) as Raw, operations)).toBe(true)
    })

    test('and whatever the earlier owner has under way is refused by it', () => {
      const { raw, operations } = openAt({ step, place } as never)
      const claimed = applyPatch(raw, operations) as Raw
      for (const { name, build } of PATCHES) expect(isRefused(claimed, build(raw)), name).toBe(true)
    })

    test('takes a pod that is deleted, moved or restarted, and no other pod of its name', () => {
      const { raw, operations } = openAt({ step, place } as never)
      for (const { name, change } of VIOLATIONS.slice(1, 6)) {
        const changed = structuredClone(raw) as Raw
        change(changed)
        expect(isRefused(changed, operations), name).toBe(false)
      }
      raw.metadata.uid = 'uid-1'
      expect(isRefused(raw, operations)).toBe(true)
    })
  })
})

test.each([
  { step: 'drain', place: 'condition' },
  { step: 'patched', place: 'annotation' },
] as const)(
  'a fence over a record of $step keeps images out that were sent over that, and they keep it out',
  ({ step, place }) => {
    const former = nextFor(rawPod(OPTIONS), step)
    const raw = withJournals(place === 'condition' ? { condition: writeJournal(former) } : { annotation: writeJournal(former) })
    const late = images(raw)
    const fence = restatePatch(podView(raw), { ...former, fence: 1 })
    const fenced = applyPatch(raw, fence) as Raw
    expect(journalOf(podView(fenced))).toEqual({ kind: 'read', journal: { ...former, fence: 1 } })
    expect(isRefused(fenced, late)).toBe(true)
    expect(isRefused(applyPatch(raw, late) as Raw, fence)).toBe(true)
    // Patches over the fenced record land, and a second fence keeps them out in turn.
    const again = images(fenced)
    expect(isRefused(fenced, again)).toBe(false)
    const twice = applyPatch(fenced, restatePatch(podView(fenced), { ...former, fence: 2 })) as Raw
    expect(isRefused(twice, again)).toBe(true)
    expect(isRefused(twice, late)).toBe(true)
  },
)

test('only containers whose image differs are replaced', () => {
  const raw = rawPod(OPTIONS)
  const wanted = [{ container: 'web', image: 'web:v1' }, WANTED[1]!]
  const replaced = imagesPatch(podView(raw), nextFor(raw, 'patched'), wanted, []).filter(({ op }) => op === 'replace')
  expect(replaced).toEqual([{ op: 'replace', path: '/spec/containers/2/image', value: 'app:v2' }])
})

test('a pod that has no status yet is guarded by its spec alone', () => {
  const raw = rawPod({ generation: 1, labels: {}, containers: [{ name: 'app', image: 'app:v1' }] })
  for (const { build } of PATCHES) expect(() => applyPatch(raw, build(raw))).not.toThrow()
})

test('a cluster without generations is not asked for one', () => {
  const raw = rawPod({ ...OPTIONS, generation: undefined as never })
  expect(JSON.stringify(images(raw))).not.toContain('/metadata/generation')
  expect(() => applyPatch(raw, images(raw))).not.toThrow()
})

test('a failed guard behind the changes changes nothing', () => {
  const raw = rawPod(OPTIONS)
  const operations = images(raw)
  const position = operations.findIndex(({ path }) => path.includes('sluice.dev'))
  expect(operations.slice(0, position).some(({ op }) => op === 'replace')).toBe(true)
  raw.metadata.annotations[JOURNAL_KEY] = '{}'
  const before = structuredClone(raw) as Raw
  expect(() => applyPatch(raw, operations)).toThrow('test failed')
  expect(raw).toEqual(before)
})
