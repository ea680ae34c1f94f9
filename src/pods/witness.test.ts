import { expect, test } from 'vitest'
import { baselineOf, generationAfter } from './baseline.ts'
import type { ContainerImage, ImagePull, PodView } from './glossary.ts'
import type { RawContainer, RawPodOptions } from './testing/raw-pod.ts'
import { testPod } from './testing/raw-pod.ts'
import {
  acceptPulls,
  acceptQuiet,
  beginRestart,
  namesWanted,
  observeRestart,
  restartProof,
  restartTrouble,
  sameContainers,
} from './witness.ts'

/** One reported status: the image of the spec, the observed generation, and the container. */
interface Seen extends NonNullable<RawContainer['status']> {
  spec?: string
  observed: number
}

const V1 = 'registry/app:v1'
const V2 = 'registry/app:v2'
const BEFORE: Seen = { spec: V1, observed: 1, id: 'A', image: V1, imageId: 'sha256:1', running: true, ready: true }
/** The first status that has seen the patch; it still shows the old container. */
const WITNESS: Seen = { ...BEFORE, spec: V2, observed: 2 }
const NEW: Seen = { ...WITNESS, id: 'B', image: V2, imageId: 'sha256:2' }

function podOf({ spec = V2, observed, ...status }: Seen, options: RawPodOptions = {}): PodView {
  return testPod({ generation: 2, observedGeneration: observed, containers: [{ name: 'app', image: spec, status }], ...options })
}

/** The proof after each of these statuses; the answer of the patch comes first. */
function proofs(seen: Seen[], { before = BEFORE, wanted = V2, generation = 2 } = {}): (string | undefined)[] {
  const images = [{ container: 'app', image: wanted }]
  let restart = beginRestart(generation, baselineOf(podOf(before, { generation: before.observed }), images), images)
  return seen.map((one) => {
    restart = observeRestart(restart, podOf(one))
    return restartProof(restart)
  })
}

function afterQuiet(seen: Seen[], { before = BEFORE, wanted = V2, generation = 2 } = {}): string | undefined {
  const images = [{ container: 'app', image: wanted }]
  let restart = beginRestart(generation, baselineOf(podOf(before, { generation: before.observed }), images), images)
  for (const one of seen) restart = observeRestart(restart, podOf(one))
  return restartProof(acceptQuiet(restart, podOf(seen.at(-1)!)))
}

interface Case {
  name: string
  seen: Seen[]
  proof: (string | undefined)[]
  with?: Parameters<typeof proofs>[1]
}

const no = undefined

test.each<Case>([
  {
    name: 'the straight way, without a readiness probe: ready never leaves True',
    seen: [{ ...WITNESS, observed: 1 }, WITNESS, NEW],
    proof: [no, no, 'witness'],
  },
  {
    name: 'the same digest under a new tag: imageID is the same, status.image keeps the old tag for good',
    seen: [{ ...WITNESS, observed: 1 }, WITNESS, { ...WITNESS, id: 'B' }],
    proof: [no, no, 'witness'],
  },
  {
    name: 'an arbitrary tag of the CRI for the new digest',
    seen: [WITNESS, { ...NEW, image: 'other/name:latest' }],
    proof: [no, 'witness'],
  },
  {
    name: 'the old image crashed and was restarted before the kubelet saw the patch; the kubelet kills that one',
    seen: [
      { ...WITNESS, observed: 1 },
      { ...WITNESS, observed: 1, id: 'X' },
      { ...WITNESS, id: 'X' },
      { ...WITNESS, id: 'X', running: false, ready: false },
      NEW,
    ],
    proof: [no, no, no, no, 'witness'],
  },
  {
    name: 'a bad image: ErrImagePull, then CrashLoopBackOff, both with the dead container',
    seen: [
      WITNESS,
      { ...WITNESS, running: false, ready: false, waiting: { reason: 'ErrImagePull' } },
      { ...WITNESS, running: false, ready: false, waiting: { reason: 'CrashLoopBackOff' }, lastId: 'A' },
    ],
    proof: [no, no, no],
  },
  {
    name: 'the new container is not proven before it runs, and stays proven when it dies',
    seen: [WITNESS, { ...NEW, running: false }, NEW, { ...NEW, running: false }, { ...NEW, id: 'C' }],
    proof: [no, no, 'witness', 'witness', 'witness'],
  },
  {
    name: 'it has restarted twice before it was seen',
    seen: [WITNESS, { ...NEW, id: 'C', lastId: 'B', restartCount: 2 }],
    proof: [no, 'witness'],
  },
  {
    name: 'the first status that has seen the patch was missed: the new image is the proof',
    seen: [{ ...WITNESS, observed: 1 }, NEW],
    proof: [no, 'image'],
  },
  {
    name: 'missed, and the CRI shows another tag: no proof but time',
    seen: [{ ...NEW, image: 'other/name:latest' }],
    proof: [no],
  },
  {
    name: 'missed, with the default registry filled in by the CRI',
    seen: [{ ...NEW, spec: 'app', image: 'docker.io/library/app:latest' }],
    proof: ['image'],
    with: { wanted: 'app' },
  },
  {
    name: 'missed, a registry with a port and no tag',
    seen: [{ ...NEW, spec: 'registry:5000/app', image: 'registry:5000/app:latest' }],
    proof: ['image'],
    with: { wanted: 'registry:5000/app' },
  },
  {
    name: 'a rollback v1 → bad → v1: imageID equals the baseline',
    seen: [
      { ...BEFORE, observed: 3, running: false, waiting: { reason: 'ImagePullBackOff' } },
      { ...BEFORE, observed: 3, id: 'B' },
    ],
    proof: [no, 'witness'],
    with: { wanted: V1, generation: 3, before: { ...BEFORE, spec: 'bad', running: false } },
  },
  {
    name: 'a rollback v1 → v2 → v1: v2 is not taken for it, though its ID is new',
    seen: [
      { ...NEW, spec: V1, observed: 2 },
      { ...NEW, spec: V1, observed: 3 },
      { ...BEFORE, observed: 3, id: 'C' },
    ],
    proof: [no, no, 'witness'],
    with: { wanted: V1, generation: 3, before: WITNESS },
  },
  {
    name: 'no status at all when it was patched',
    seen: [
      { spec: V2, observed: 1 },
      { ...NEW, observed: 2 },
    ],
    // The first started container may still come from the former spec, whose image may have the wanted one as another name.
    proof: [no, no],
    with: { before: { spec: V1, observed: 0 } },
  },
  {
    name: 'a later generation than the one waited for',
    seen: [
      { ...WITNESS, observed: 4 },
      { ...NEW, observed: 4 },
    ],
    proof: [no, 'witness'],
  },
  {
    name: 'somebody else patches other images before it is proven',
    seen: [WITNESS, { ...NEW, spec: 'registry/app:v3' }],
    proof: [no, no],
  },
  {
    name: 'a cluster without generations: never the witness, only the image',
    seen: [
      { ...WITNESS, observed: 0 },
      { ...WITNESS, observed: 0, id: 'X' },
      { ...NEW, observed: 0 },
    ],
    proof: [no, no, 'image'],
    with: { generation: 0 },
  },
])('$name', ({ seen, proof, with: circumstances }) => {
  expect(proofs(seen, circumstances)).toEqual(proof)
})

test.each<{ name: string; seen: Seen[]; proof: string | undefined; with?: Parameters<typeof afterQuiet>[1] }>([
  { name: 'the witness was missed, and the new container stands', seen: [{ ...WITNESS, id: 'B' }], proof: 'quiet' },
  { name: 'the kubelet has not seen the patch', seen: [{ ...WITNESS, observed: 1, id: 'B' }], proof: undefined },
  { name: 'the container of the baseline: the kubelet is late', seen: [WITNESS], proof: undefined },
  { name: 'it does not run', seen: [{ ...WITNESS, id: 'B', running: false }], proof: undefined },
  { name: 'its spec is another by now', seen: [{ ...WITNESS, id: 'B', spec: 'registry/app:v3' }], proof: undefined },
  {
    name: 'taken back before the kubelet saw it: the container of the baseline is the right one',
    seen: [{ ...BEFORE, observed: 3 }],
    proof: 'quiet',
    with: { wanted: V1, generation: 3, before: { ...BEFORE, spec: V2 } },
  },
  {
    name: 'somebody else had patched the same image: nothing to replace, and nothing is proven at once',
    seen: [NEW],
    proof: 'quiet',
    with: { before: { ...NEW, observed: 1 } },
  },
  { name: 'without generations', seen: [{ ...WITNESS, observed: 0, id: 'B' }], proof: 'quiet', with: { generation: 0 } },
  { name: 'what is proven better stays so', seen: [WITNESS, NEW], proof: 'witness' },
])('quiet: $name', ({ seen, proof, with: circumstances }) => {
  expect(afterQuiet(seen, circumstances)).toBe(proof)
})

const OLD_KUBELET = { ...WITNESS, observed: 0, id: 'B', startedAt: '2026-01-01T00:00:20Z' }
const pull = (image: string, second: number): ImagePull => ({
  container: 'app',
  image,
  at: `2026-01-01T00:00:${String(second).padStart(2, '0')}Z`,
})

test.each<{ name: string; pulls: ImagePull[]; proof: string | undefined; seen?: Partial<Seen> }>([
  { name: 'the wanted image, for the container that runs', pulls: [pull(V2, 19)], proof: 'event' },
  { name: 'in the second of the start', pulls: [pull(V1, 2), pull(V2, 20)], proof: 'event' },
  { name: 'written in another way', pulls: [pull('docker.io/library/app', 19)], proof: 'event', seen: { spec: 'app:latest' } },
  { name: 'none yet', pulls: [], proof: undefined },
  { name: 'the image before, taken once more: the old container crashed', pulls: [pull(V2, 5), pull(V1, 19)], proof: undefined },
  { name: 'both in one second', pulls: [pull(V1, 19), pull(V2, 19)], proof: undefined },
  { name: 'of a start long before: the Event of this one is not there yet', pulls: [pull(V2, 5)], proof: undefined },
  { name: 'later than the start: the container is about to be replaced', pulls: [pull(V2, 21)], proof: undefined },
  { name: 'of another container', pulls: [{ ...pull(V2, 19), container: 'web' }], proof: undefined },
  { name: 'the container that ran at the patch', pulls: [pull(V2, 19)], proof: undefined, seen: { id: 'A' } },
  { name: 'it does not run', pulls: [pull(V2, 19)], proof: undefined, seen: { running: false } },
  { name: 'nobody knows when it started', pulls: [pull(V2, 19)], proof: undefined, seen: { startedAt: null } },
])('event: $name', ({ pulls, proof, seen = {} }) => {
  const pod = podOf({ ...OLD_KUBELET, ...seen }, { observedGeneration: 0 })
  const wanted = [{ container: 'app', image: pod.containers[0]!.image }]
  const restart = observeRestart(beginRestart(0, baselineOf(podOf(BEFORE), wanted), wanted), pod)
  expect(restartProof(acceptPulls(restart, pod, pulls))).toBe(proof)
})

// The Event of an image that another client patched in and reverted may be lost.
test('event: none is believed where the spec has asked for another image meanwhile', () => {
  const wanted = [{ container: 'app', image: V2 }]
  const pod = podOf(OLD_KUBELET, { observedGeneration: 0 })
  const begun = beginRestart(0, baselineOf(podOf(BEFORE), wanted), wanted)
  const strayed = observeRestart(begun, podOf({ ...OLD_KUBELET, spec: V1, id: 'A' }, { observedGeneration: 0 }))
  expect(restartProof(acceptPulls(observeRestart(strayed, pod), pod, [pull(V2, 19)]))).toBeUndefined()
  expect(restartProof(acceptPulls(observeRestart(begun, pod), pod, [pull(V2, 19)])), 'control').toBe('event')
})

test('event: a proof ends where the spec asks for another image, and is not had again by that Event (seed 95007268)', () => {
  const wanted = [{ container: 'app', image: V2 }]
  const pod = podOf(OLD_KUBELET, { observedGeneration: 0 })
  const begun = beginRestart(0, baselineOf(podOf(BEFORE), wanted), wanted)
  const proven = acceptPulls(observeRestart(begun, pod), pod, [pull(V2, 19)])
  expect(restartProof(observeRestart(proven, pod)), 'control').toBe('event')
  const strayed = observeRestart(proven, podOf({ ...OLD_KUBELET, spec: V1, id: 'A' }, { observedGeneration: 0 }))
  expect(restartProof(strayed)).toBeUndefined()
  expect(restartProof(acceptPulls(observeRestart(strayed, pod), pod, [pull(V2, 19)]))).toBeUndefined()
})

test('image: without a generation it proves nothing where the spec has asked for another image meanwhile (seeds 130037023, 130017655)', () => {
  const wanted = [{ container: 'app', image: V2 }]
  const pod = podOf({ ...OLD_KUBELET, image: V2, imageId: 'sha256:2' }, { observedGeneration: 0 })
  const begun = beginRestart(0, baselineOf(podOf(BEFORE, { generation: 1 }), wanted), wanted)
  expect(restartProof(observeRestart(begun, pod)), 'control').toBe('image')
  const strayed = observeRestart(begun, podOf({ ...OLD_KUBELET, spec: V1, id: 'A' }, { observedGeneration: 0 }))
  const back = observeRestart(strayed, pod)
  expect(restartProof(back)).toBeUndefined()
  expect(restartProof(acceptQuiet(back, pod))).toBe('quiet')
})

test('event: a kubelet that reports generations needs none', () => {
  const wanted = [{ container: 'app', image: V2 }]
  const pod = podOf({ ...OLD_KUBELET, observed: 2 })
  const restart = observeRestart(beginRestart(2, baselineOf(podOf(BEFORE), wanted), wanted), pod)
  expect(restartProof(acceptPulls(restart, pod, [pull(V2, 19)]))).toBeUndefined()
})

test('somebody else had patched the same image a moment ago: its stale container is no proof', () => {
  const before = { ...BEFORE, spec: V2 }
  expect(proofs([before, WITNESS, NEW], { before })).toEqual([undefined, undefined, 'witness'])
})

const TWO: ContainerImage[] = [
  { container: 'web', image: 'web:v2' },
  { container: 'app', image: V2 },
]

function twoOf(web: Seen, app: Seen): PodView {
  const container = (name: string, { spec, ...status }: Seen): RawContainer => ({ name, image: spec!, status })
  return testPod({
    generation: 2,
    observedGeneration: Math.max(web.observed, app.observed),
    // The spec has another order than the statuses, which are sorted.
    containers: [container('web', web), container('app', app)],
  })
}

test('two containers: both have to be proven, and the weakest proof counts', () => {
  const web: Seen = { ...BEFORE, spec: 'web:v1', id: 'W', image: 'web:v1', imageId: 'sha256:w1' }
  const webNew: Seen = { ...web, spec: 'web:v2', observed: 2, id: 'W2' }
  const baseline = baselineOf({ ...twoOf(web, BEFORE), generation: 1 }, TWO)
  let restart = beginRestart(2, baseline, TWO)
  restart = observeRestart(restart, twoOf({ ...web, spec: 'web:v2', observed: 2 }, WITNESS))
  restart = observeRestart(restart, twoOf(webNew, WITNESS))
  expect(restartProof(restart)).toBeUndefined()
  expect(restartProof(observeRestart(restart, twoOf(webNew, NEW)))).toBe('witness')

  let resumed = observeRestart(beginRestart(2, baseline, TWO), twoOf(webNew, NEW))
  expect(resumed.containers.map(({ proof }) => proof)).toEqual([undefined, 'image'])
  resumed = acceptQuiet(resumed, twoOf(webNew, NEW))
  expect(restartProof(resumed)).toBe('quiet')
})

test('a sidecar that is not patched restarts instead: it proves nothing', () => {
  const sidecar: Seen = { ...BEFORE, spec: 'proxy:v1', id: 'S', image: 'proxy:v1', imageId: 'sha256:s' }
  const wanted = [
    { container: 'app', image: V2 },
    { container: 'web', image: 'proxy:v1' },
  ]
  const baseline = baselineOf(twoOf(sidecar, BEFORE), wanted)
  let restart = beginRestart(2, baseline, wanted)
  expect(restart.containers.map(({ name }) => name)).toEqual(['app'])
  restart = observeRestart(restart, twoOf(sidecar, WITNESS))
  restart = observeRestart(restart, twoOf({ ...sidecar, id: 'S2', restartCount: 1 }, WITNESS))
  expect(restartProof(restart)).toBeUndefined()
  expect(restartProof(observeRestart(restart, twoOf(sidecar, NEW)))).toBe('witness')
})

test('the quiet time starts anew with each other container, and when the kubelet sees the patch', () => {
  const images = [{ container: 'app', image: V2 }]
  const begun = beginRestart(2, baselineOf(podOf(BEFORE), images), images)
  const unseen = observeRestart(begun, podOf({ ...WITNESS, observed: 1 }))
  const seen = observeRestart(unseen, podOf(WITNESS))
  const replaced = observeRestart(seen, podOf(NEW))
  expect(sameContainers(begun, unseen)).toBe(true)
  expect(sameContainers(unseen, seen)).toBe(false)
  expect(sameContainers(seen, replaced)).toBe(false)
  expect(sameContainers(replaced, observeRestart(replaced, podOf(NEW)))).toBe(true)
})

test.each<{ waiting: { reason: string; message?: string }; hopeless: boolean }>([
  {
    waiting: { reason: 'ErrImagePull', message: 'no such tag' },
    hopeless: false,
  },
  { waiting: { reason: 'CrashLoopBackOff' }, hopeless: false },
  { waiting: { reason: 'InvalidImageName' }, hopeless: true },
  { waiting: { reason: 'ErrImageNeverPull' }, hopeless: true },
  {
    waiting: { reason: 'ErrImageNeverPull', message: `Container image "${V2}" is not present with pull policy of Never` },
    hopeless: true,
  },
  {
    waiting: { reason: 'ErrImageNeverPull', message: `Container image "${V2}-wrong" is not present with pull policy of Never` },
    hopeless: false,
  },
])('trouble: $waiting', ({ waiting: { reason: waiting, message }, hopeless }) => {
  const images = [{ container: 'app', image: V2 }]
  const restart = beginRestart(2, baselineOf(podOf(BEFORE), images), images)
  const pod = podOf({ ...WITNESS, running: false, waiting: { reason: waiting, ...(message && { message }) } })
  const reason = { code: 'container-waiting', container: 'app', waiting, ...(message && { said: message }) }
  expect(restartTrouble(restart, pod)).toEqual({ reason, hopeless })
})

test('a container that is being created is in no trouble', () => {
  const images = [{ container: 'app', image: V2 }]
  const restart = beginRestart(2, baselineOf(podOf(BEFORE), images), images)
  expect(restartTrouble(restart, podOf({ ...WITNESS, waiting: { reason: 'ContainerCreating' }, running: false }))).toBeUndefined()
})

test.each([
  { name: 'a changed spec raises it by one', pod: podOf({ ...BEFORE, observed: 2 }), generation: 3 },
  { name: 'nothing to change', pod: podOf({ ...NEW, observed: 2 }), generation: 2 },
  { name: 'no generations', pod: testPod({ observedGeneration: 0 }), generation: 0 },
  { name: 'a kubelet that does not report what it has seen', pod: podOf({ ...BEFORE, observed: 0 }), generation: 0 },
  {
    name: 'a pod that no kubelet has seen yet',
    pod: testPod({ generation: 1, containers: [{ name: 'app', image: V1 }] }),
    generation: 2,
  },
])('generation after the patch: $name', ({ pod, generation }) => {
  expect(generationAfter(pod, [{ container: 'app', image: V2 }])).toBe(generation)
})

test('a back-off does not hide that the image cannot be had', () => {
  const baseline = [{ name: 'app', image: 'registry/app:v1', containerId: 'A' }]
  const wanted = [{ container: 'app', image: 'registry/app:bad' }]
  const waiting = (waitingReason: string): PodView =>
    ({
      generation: 2,
      observedGeneration: 2,
      containers: [
        {
          name: 'app',
          image: 'registry/app:bad',
          containerId: 'A',
          running: false,
          ready: false,
          restartCount: 0,
          ports: [],
          waitingReason,
        },
      ],
    }) as unknown as PodView
  const failed = observeRestart(beginRestart(2, baseline, wanted), waiting('ErrImagePull'))
  const hidden = observeRestart(failed, waiting('CrashLoopBackOff'))
  expect(restartTrouble(hidden, waiting('CrashLoopBackOff'))?.reason).toMatchObject({ waiting: 'ErrImagePull' })
  const crashed = observeRestart(beginRestart(2, baseline, wanted), waiting('CrashLoopBackOff'))
  expect(restartTrouble(crashed, waiting('CrashLoopBackOff'))?.reason).toMatchObject({ waiting: 'CrashLoopBackOff' })
})

// A status may have any name of an image, so the name of the container that ran at the patch proves nothing.
test.each([
  { name: 'the new one', id: 'B', image: V2, names: true },
  { name: 'the new one, by another name of its image', id: 'B', image: V1, names: false },
  { name: 'the one that ran at the patch, whatever its name', id: 'A', image: V2, names: false },
])('what a status says of $name', ({ id, image, names }) => {
  const images = [{ container: 'app', image: V2 }]
  const pod = podOf({ ...WITNESS, id, image })
  expect(namesWanted(observeRestart(beginRestart(2, baselineOf(podOf(BEFORE), images), images), pod), pod)).toBe(names)
})
