import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createObjectStore } from '../kube/object-store.ts'
import { baselineOf, generationAfter } from './baseline.ts'
import type { PodView } from './glossary.ts'
import { createKubelet } from './testing/kubelet.ts'
import type { Kubelet, KubeletStep } from './testing/kubelet.ts'
import { acceptQuiet, beginRestart, observeRestart, restartProof } from './witness.ts'

/* The witness rule against a model of the kubelet, over random interleavings of patches, syncs, crashes and looks. */

// v1-again is v1's digest under another tag.
const REGISTRY = { 'r/app:v1': 'sha256:1', 'r/app:v2': 'sha256:2', 'r/app:v3': 'sha256:3', 'r/app:v1-again': 'sha256:1' }
const TAGS = Object.keys(REGISTRY)

type Step = KubeletStep | 'look'

const steps = fc.array(
  fc.constantFrom<Step>('deliver', 'sync', 'kill', 'start', 'crash', 'publish', 'publish', 'merge', 'look', 'look'),
  { maxLength: 40 },
)
/** Possibly an earlier patch, which the kubelet may not have seen yet; then the observed patch. */
const story = fc.record({
  before: steps,
  earlier: fc.constantFrom(...TAGS),
  between: steps,
  wanted: fc.constantFrom(...TAGS),
  after: steps,
})

/** After that, another client patches other images and reverts them, possibly before the kubelet has seen either patch. */
const meddling = fc.record({ other: fc.constantFrom(...TAGS), meanwhile: steps, afterwards: steps })

interface Rule {
  /** The view of the pod that reaches the rule; by default the whole pod. */
  sees?(pod: PodView): PodView
  proves(pod: PodView): boolean
}

/** Plays a story. Returns the generations of the containers that the rule took for new, and that of the patch. */
function play(
  { before, earlier, between, wanted, after }: typeof story extends fc.Arbitrary<infer Story> ? Story : never,
  ruleFor: (kubelet: Kubelet) => Rule,
): { proven: number[]; generation: number; rule: Rule; kubelet: Kubelet } {
  const kubelet = createKubelet('r/app:v1', REGISTRY)
  const run = (list: readonly Step[], look: () => void): void => {
    for (const step of list) {
      if (step === 'look') look()
      else kubelet.step(step)
    }
  }
  run(before, () => {})
  kubelet.patch(earlier)
  run(between, () => {})
  const rule = ruleFor(kubelet)
  const generation = kubelet.patch(wanted)
  const proven: number[] = []
  const look = (): void => {
    const stored = kubelet.pod()
    const pod = rule.sees?.(stored) ?? stored
    if (rule.proves(pod)) proven.push(kubelet.startedFrom(pod.containers[0]!.containerId!))
  }
  look()
  run(after, look)
  kubelet.settle()
  look()
  return { proven, generation, rule, kubelet }
}

function witnessRule(image: string): (kubelet: Kubelet) => Rule & { quiet(pod: PodView): boolean } {
  return (kubelet) => {
    const wanted = [{ container: 'app', image }]
    const pod = kubelet.pod()
    let restart = beginRestart(generationAfter(pod, wanted), baselineOf(pod, wanted), wanted)
    return {
      proves(next) {
        restart = observeRestart(restart, next)
        return restartProof(restart) !== undefined
      },
      quiet(next) {
        restart = acceptQuiet(restart, next)
        return restartProof(restart) !== undefined
      },
    }
  }
}

/** At each look one of the last few versions arrives; the rule gets the newest version that has arrived. */
function withLateVersions(rule: Rule, behind: Iterator<number>): Rule {
  const store = createObjectStore<{ uid: string; name: string; namespace: string; resourceVersion: string; pod: PodView }>()
  const versions: PodView[] = []
  return {
    ...rule,
    sees(pod) {
      versions.push(pod)
      const index = Math.max(0, versions.length - 1 - behind.next().value)
      const { uid, name, namespace } = pod
      return store.observe({ uid, name, namespace, resourceVersion: String(index + 1), pod: versions[index]! }).pod
    },
  }
}

/** The simple rule of a first attempt. */
function obviousRule(): (kubelet: Kubelet) => Rule {
  return (kubelet) => {
    const former = kubelet.pod().containers[0]!.containerId
    return {
      proves: ({ containers: [container] }) => container!.running && container!.containerId !== former,
    }
  }
}

const RUNS = { numRuns: 5_000 }

test('sound: no container that was started from an older spec is ever taken for the new one', () => {
  fc.assert(
    fc.property(story, (told) => {
      const { proven, generation } = play(told, witnessRule(told.wanted))
      expect(proven.every((from) => from >= generation)).toBe(true)
    }),
    RUNS,
  )
})

test('sound: also where versions come late, more than once and in the wrong order, as a store lets them through', () => {
  const arrivals = fc.infiniteStream(fc.nat({ max: 6 }))
  fc.assert(
    fc.property(story, arrivals, (told, behind) => {
      const { proven, generation } = play(told, (kubelet) => withLateVersions(witnessRule(told.wanted)(kubelet), behind))
      expect(proven.every((from) => from >= generation)).toBe(true)
    }),
    RUNS,
  )
})

test('sound: also where somebody else patches other images in, and takes that back', () => {
  fc.assert(
    fc.property(story, meddling, (told, meddled) => {
      const { proven, generation, rule, kubelet } = play(told, witnessRule(told.wanted))
      const patched = new Map([[generation, told.wanted]])
      proven.length = 0
      const patch = (image: string): void => void patched.set(kubelet.patch(image), image)
      const run = (list: readonly Step[]): void => {
        for (const step of list) {
          if (step !== 'look') kubelet.step(step)
          else if (rule.proves(kubelet.pod())) proven.push(kubelet.startedFrom(kubelet.pod().containers[0]!.containerId!))
        }
      }
      patch(meddled.other)
      run(meddled.meanwhile)
      patch(told.wanted)
      run(meddled.afterwards)
      expect(proven.map((from) => patched.get(from))).toEqual(proven.map(() => told.wanted))
    }),
    RUNS,
  )
})

/** The kubelet is in the middle of a sync when the pod is patched, or has not reported that sync. */
test.each<{ name: string; between: KubeletStep[] }>([
  { name: 'it has told so', between: ['deliver', 'sync', 'publish'] },
  { name: 'it has not', between: ['deliver', 'sync'] },
])('somebody took an image back right before the patch, to another name of the same one: no proof, $name', ({ between }) => {
  const kubelet = createKubelet('r/app:v1', REGISTRY)
  const run = (list: readonly KubeletStep[]): void => list.forEach((step) => kubelet.step(step))
  kubelet.patch('r/app:v3')
  kubelet.settle()
  kubelet.patch('r/app:v1-again')
  run(between)
  const { proves } = witnessRule('r/app:v1')(kubelet)
  kubelet.patch('r/app:v1')
  run(['kill', 'start', 'deliver', 'sync'])
  for (let status = 0; status < 4; status++) {
    kubelet.step('publish')
    expect(proves(kubelet.pod())).toBe(false)
  }
  kubelet.settle()
  expect(proves(kubelet.pod())).toBe(true)
})

test('live: once the kubelet is done, the quiet time at the latest proves the restart', () => {
  fc.assert(
    fc.property(story, (told) => {
      let quiet: (pod: PodView) => boolean = () => false
      const { kubelet } = play(told, (one) => {
        const rule = witnessRule(told.wanted)(one)
        quiet = rule.quiet
        return rule
      })
      expect(quiet(kubelet.pod())).toBe(true)
    }),
    RUNS,
  )
})

test('quiet is sound too, while the kubelet has only told that it saw the patch and does nothing', () => {
  fc.assert(
    fc.property(fc.constantFrom(...TAGS.slice(1)), fc.boolean(), (wanted, isKilled) => {
      const kubelet = createKubelet('r/app:v1', REGISTRY)
      const rule = witnessRule(wanted)(kubelet)
      kubelet.patch(wanted)
      for (const step of ['deliver', 'sync', 'publish', ...(isKilled ? ['kill', 'publish'] : [])] as KubeletStep[]) {
        kubelet.step(step)
      }
      expect(rule.proves(kubelet.pod())).toBe(false)
      expect(rule.quiet(kubelet.pod())).toBe(false)
    }),
  )
})

test('negative control: the obvious rule takes crash-restarts of the old image for the new container', () => {
  const check = fc.check(
    fc.property(story, (told) => {
      const { proven, generation } = play(told, obviousRule())
      expect(proven.every((from) => from >= generation)).toBe(true)
    }),
    RUNS,
  )
  expect(check.failed).toBe(true)
})
