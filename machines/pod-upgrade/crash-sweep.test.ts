import { describe, expect, test } from 'vitest'
import type { Observation, PodEvent } from './context.ts'
import { isRecorded } from './facts.ts'
import type { PodPorts } from './ports.ts'
import { startOwner } from './testing/owner.ts'
import type { Owner, OwnerOptions } from './testing/owner.ts'
import { createSchedule } from './testing/schedule.ts'
import type { Fault, World } from './testing/world.ts'
import { BAD, V1, V2, createWorld } from './testing/world.ts'

/*
 * The owner is killed before delivery k, for every k, and another owner begins by the record and the observation. The calls of the dead
 * owner still arrive. The tests judge by the state and the calls of the world.
 */

interface Story {
  /** The delivery of the first owner before which it is interrupted or killed. */
  interruptAt?: number
  killAt?: number
  killAgainAt?: number
  fault?: (call: number, port: keyof PodPorts) => Fault
  first?: OwnerOptions
  second?: OwnerOptions
  /** The delivery whose observation the next owner begins with. The present reaches it HEARS_MS later. */
  staleFrom?: number
  events?: { at: number; happen: (world: World) => void }[]
}

interface Ending {
  world: World
  deliveries: number
  outcome: string | undefined
  value: unknown
  isInterrupted: boolean
}

const MOST_DELIVERIES = 5_000
/** The time from the death of an owner until another one may begin. */
const TAKEOVER_MS = 200

const HEARS_MS = 30

async function play({ interruptAt, killAt, killAgainAt, fault, first, second, staleFrom, events = [] }: Story): Promise<Ending> {
  const schedule = createSchedule()
  const world = createWorld(schedule)
  if (fault) world.fault = fault
  const interrupt: PodEvent = { type: 'interrupt' }
  let owner: Owner = startOwner(world, first)
  let takeover: ReturnType<typeof schedule.at> | undefined
  let interrupted = false
  let epoch = 1
  let deliveries = 0
  let stale: Observation | undefined
  for (;;) {
    if (deliveries === staleFrom) stale = world.observation()
    if (deliveries === interruptAt) {
      interrupted = true
      owner.send(interrupt)
    }
    for (const { at, happen } of events) if (at === deliveries) happen(world)
    if (deliveries === killAt || deliveries === killAgainAt) {
      owner.kill()
      epoch += 1
      const options = { epoch, ...stale, ...second, first: interrupted ? [interrupt] : (second?.first ?? []) }
      takeover?.cancel()
      takeover = schedule.at(TAKEOVER_MS, () => {
        owner = startOwner(world, options)
        if (stale) schedule.at(HEARS_MS, () => world.onChange())
      })
    }
    if (deliveries > MOST_DELIVERIES) throw new Error(`no end: ${JSON.stringify(owner.actor.getSnapshot().value)}`)
    deliveries += 1
    if (!(await schedule.next())) break
  }
  const { context, value } = owner.actor.getSnapshot()
  return { world, deliveries, outcome: context.outcome, value, isInterrupted: interrupted }
}

/** The facts that hold in every story. */
function judge({ world, value, isInterrupted }: Ending): void {
  expect(value).toBe('done')
  expect(world.violations).toEqual([])
  expect(world.lb).toBe('in')
  // No effect is sent again that a read-back shows as done. Only a re-admission is called in any case.
  expect(world.redundant).toBeLessThanOrEqual(isInterrupted ? 1 : 0)
  expect(world.stored.kind === 'none' || (world.stored.kind === 'read' && world.stored.journal.step === 'closed')).toBe(true)
  for (const attempt of new Set(world.effects.map((one) => one.attempt))) {
    const own = world.effects.filter((one) => one.attempt === attempt).map(({ effect }) => effect)
    expect(own).toEqual(['drain', 'restore'])
  }
  for (const { effect, intents } of world.effects) {
    // Every effect has its durable intent before it. The intent of a restore was written for a pod that served.
    expect(intents.at(-1)?.kind).toBe(effect)
    expect(effect === 'drain' || intents.at(-1)?.serves).toBe(true)
  }
}

const order = ({ world }: Ending): string => world.effects.map(({ effect }) => effect).join(' ')

test('the straight way', async () => {
  const ending = await play({})
  judge(ending)
  expect(ending.outcome).toBe('upgraded')
  expect(order(ending)).toBe('drain restore')
  expect(ending.world.calls.map(({ port }) => port)).toEqual([
    'snapshot',
    'rehearse',
    'enroll',
    'store',
    'effect',
    ...ending.world.calls.filter(({ port }) => port === 'inspect').map(() => 'inspect'),
    'store',
    'store',
    'effect',
    'compare',
    'store',
  ])
})

test('killed at every delivery: one drain, one restore, in order, and home', async () => {
  const { deliveries } = await play({})
  expect(deliveries).toBeGreaterThan(30)
  for (let killAt = 0; killAt < deliveries; killAt++) {
    const ending = await play({ killAt })
    judge(ending)
    expect([killAt, order(ending)]).toEqual([killAt, 'drain restore'])
    expect(ending.world.pod?.containers[0]?.image).toBe(V2)
    expect(['upgraded', 'skipped']).toContain(ending.outcome)
  }
})

test('a takeover of an open record claims it once, one of nothing open claims nothing', async () => {
  const { world, deliveries } = await play({})
  expect(world.claims).toBe(0)
  const claims = new Set<number>()
  for (let killAt = 0; killAt < deliveries; killAt++) claims.add((await play({ killAt })).world.claims)
  expect([...claims].toSorted()).toEqual([0, 1])
})

/** The takeovers at every delivery, by the observation at every earlier delivery. */
async function staleStories(): Promise<Story[]> {
  const { deliveries } = await play({})
  const stories: Story[] = []
  for (let staleFrom = 0; staleFrom < deliveries; staleFrom++) {
    for (let killAt = staleFrom; killAt < deliveries; killAt += 7) stories.push({ staleFrom, killAt })
    stories.push({ staleFrom, killAt: deliveries - 1 })
  }
  return stories
}

test('killed, and taken over by an old observation: one drain, one restore, in order, and home', async () => {
  for (const story of await staleStories()) {
    const ending = await play(story)
    judge(ending)
    expect([story, order(ending)]).toEqual([story, 'drain restore'])
  }
})

test('killed twice', async () => {
  const { deliveries } = await play({})
  for (let killAt = 0; killAt < deliveries; killAt += 5) {
    for (let killAgainAt = killAt + 1; killAgainAt < deliveries + 20; killAgainAt += 7) {
      const ending = await play({ killAt, killAgainAt })
      judge(ending)
      expect(order(ending)).toBe('drain restore')
    }
  }
})

test('interrupted at every delivery: untouched, put back, or brought home', async () => {
  const { deliveries } = await play({})
  const outcomes = new Set<string | undefined>()
  for (let interruptAt = 0; interruptAt < deliveries - 1; interruptAt++) {
    const ending = await play({ interruptAt })
    judge(ending)
    expect(['', 'drain restore']).toContain(order(ending))
    const isNew = ending.world.pod?.containers[0]?.image === V2
    expect(ending.outcome).toBe(isNew ? 'upgraded' : 'unchanged')
    outcomes.add(`${ending.outcome} ${order(ending)}`)
  }
  expect([...outcomes].toSorted()).toEqual(['unchanged ', 'unchanged drain restore', 'upgraded drain restore'])
})

test('interrupted, and killed at every delivery after that', async () => {
  const { deliveries } = await play({})
  for (let interruptAt = 0; interruptAt < deliveries - 1; interruptAt += 5) {
    const { deliveries: all } = await play({ interruptAt })
    for (let killAt = interruptAt + 1; killAt < all; killAt++) {
      const ending = await play({ interruptAt, killAt })
      judge(ending)
      expect(['', 'drain restore']).toContain(order(ending))
    }
  }
})

describe.each(['request-lost', 'reply-lost'] as const)('%s', (kind) => {
  test('each call in turn, once', async () => {
    const { world } = await play({})
    for (let lost = 0; lost < world.calls.length; lost++) {
      const ending = await play({ fault: (call) => (call === lost ? kind : undefined) })
      judge(ending)
      expect([lost, order(ending), ending.outcome]).toEqual([lost, 'drain restore', 'upgraded'])
    }
  })

  test('each call of the dead owner, killed while it waits for it', async () => {
    const { world, deliveries } = await play({})
    for (let lost = 0; lost < world.calls.length; lost++) {
      const fault = (call: number): Fault => (call === lost ? kind : undefined)
      for (let killAt = 0; killAt < deliveries; killAt += 5) {
        const ending = await play({ fault, killAt })
        judge(ending)
        expect(order(ending)).toBe('drain restore')
      }
    }
  })
})

test('a guarded write that arrives late, when another owner is at work, changes nothing that matters', async () => {
  const { world, deliveries } = await play({})
  const stores = world.calls.flatMap(({ port }, call) => (port === 'store' ? [call] : []))
  expect(stores).toHaveLength(4)
  for (const lost of stores) {
    const fault = (call: number, port: keyof PodPorts): Fault => (call === lost && port === 'store' ? 'late' : undefined)
    for (let killAt = 0; killAt < deliveries; killAt += 2) judge(await play({ fault, killAt }))
  }
})

test('interrupted while a write is in doubt that lands a moment later: it says what has become of the pod', async () => {
  const { world, deliveries } = await play({})
  const outcomes = new Set<string | undefined>()
  for (const lost of world.calls.flatMap(({ port }, call) => (port === 'store' ? [call] : []))) {
    const fault = (call: number): Fault => (call === lost ? 'delayed' : undefined)
    for (let interruptAt = 0; interruptAt < deliveries + 10; interruptAt++) {
      const ending = await play({ fault, interruptAt })
      judge(ending)
      expect(ending.outcome).toBe(ending.world.pod?.containers[0]?.image === V2 ? 'upgraded' : 'unchanged')
      outcomes.add(ending.outcome)
    }
  }
  expect(outcomes.size).toBe(2)
})

test('a later run for other images adopts it at every delivery: what was drained is not drained again', async () => {
  const { deliveries } = await play({})
  const wanted = [{ container: 'app', image: 'registry/app:v3' }]
  for (let killAt = 0; killAt < deliveries; killAt++) {
    const ending = await play({ killAt, second: { run: 'run-2', wanted } })
    judge(ending)
    expect(ending.world.pod?.containers[0]?.image).toBe('registry/app:v3')
    expect(['drain restore', 'drain restore drain restore']).toContain(order(ending))
  }
})

test('the container crashes at every delivery', async () => {
  const { deliveries } = await play({})
  for (let at = 0; at < deliveries; at++) {
    const ending = await play({ events: [{ at, happen: (world) => world.crash() }] })
    judge(ending)
    expect([at, order(ending), ending.outcome]).toEqual([at, 'drain restore', 'upgraded'])
  }
})

test('the container crashes at every delivery, and the owner a while later', async () => {
  const { deliveries } = await play({})
  for (let at = 0; at < deliveries; at += 4) {
    for (let killAt = at + 1; killAt < at + 12; killAt += 3) {
      const ending = await play({ killAt, events: [{ at, happen: (world) => world.crash() }] })
      judge(ending)
      expect(order(ending)).toBe('drain restore')
    }
  }
})

test('the pod is replaced at every delivery: put back once, and only for a ready pod in its place', async () => {
  const { deliveries } = await play({})
  const outcomes = new Set<string | undefined>()
  for (let at = 0; at < deliveries - 1; at++) {
    const ending = await play({ events: [{ at, happen: (world) => world.replace() }] })
    judge(ending)
    expect(['', 'drain restore']).toContain(order(ending))
    outcomes.add(ending.outcome)
  }
  expect([...outcomes].toSorted()).toEqual(['settled', 'upgraded'])
})

test('the pod is replaced, and the owner killed after that: the next one goes by the ledger', async () => {
  const { deliveries } = await play({})
  for (let at = 0; at < deliveries - 1; at += 4) {
    for (let killAt = at + 1; killAt < at + 25; killAt += 5) {
      const ending = await play({ killAt, events: [{ at, happen: (world) => world.replace() }] })
      judge(ending)
      expect(['', 'drain restore']).toContain(order(ending))
    }
  }
})

test('a later run for other images, interrupted at once: put back untouched, or home on what it was patched to', async () => {
  const { deliveries } = await play({})
  const wanted = [{ container: 'app', image: 'registry/app:v3' }]
  const outcomes = new Set<string>()
  for (let killAt = 0; killAt < deliveries; killAt++) {
    const ending = await play({ killAt, second: { run: 'run-2', wanted, first: [{ type: 'interrupt' }] } })
    judge({ ...ending, isInterrupted: true })
    const { image, imageId } = ending.world.pod!.containers[0]!
    // The container runs the image of the spec: the pod was not put back during its restart.
    expect(imageId).toBe(`sha256:${image}`)
    outcomes.add(`${ending.outcome} on ${image}`)
  }
  expect([...outcomes].toSorted()).toEqual([`unchanged on ${V1}`, `unchanged on ${V2}`])
})

test('a later run for the images that it had before, as an undo is, adopts it at every delivery', async () => {
  const { deliveries } = await play({})
  const ways = new Set<string>()
  for (let killAt = 0; killAt < deliveries; killAt++) {
    const ending = await play({ killAt, second: { run: 'run-2', wanted: [{ container: 'app', image: V1 }] } })
    judge(ending)
    expect(ending.world.pod?.containers[0]).toMatchObject({ image: V1, ready: true })
    ways.add(`${ending.outcome}: ${order(ending)}`)
  }
  // The takeover comes before the drain, after the drain or the patch, or once the pod is home.
  expect([...ways].toSorted()).toEqual(['skipped: ', 'upgraded: drain restore', 'upgraded: drain restore drain restore'])
})

describe('an image that does not run, and a run that rolls back', () => {
  const wanted = [{ container: 'app', image: BAD }]
  const rollback: OwnerOptions = { wanted, guards: { rollsBack: () => true } }
  const failing = (story: Story = {}): Promise<Ending> =>
    play({ ...story, first: { ...rollback, ...story.first }, second: { ...rollback, ...story.second } })

  /** The pod is home on its old image. */
  function judgeBack(ending: Ending): void {
    judge(ending)
    expect(ending.world.pod?.containers[0]).toMatchObject({ image: V1, running: true, ready: true })
    expect(ending.world.lb).toBe('in')
  }

  test('one drain, two patches, one restore', async () => {
    const ending = await failing()
    judgeBack(ending)
    expect([ending.outcome, order(ending)]).toEqual(['rolledBack', 'drain restore'])
    expect(ending.world.patches).toEqual([BAD, V1])
  })

  test('killed at every delivery: whoever resumes goes on with the rollback, and patches nothing twice', async () => {
    const { deliveries } = await failing()
    for (let killAt = 0; killAt < deliveries; killAt++) {
      const ending = await failing({ killAt })
      judgeBack(ending)
      // An owner that takes over after the end finds the pod at home, and makes an attempt of its own.
      const anew = ending.world.effects.length === 4
      expect([killAt, ending.outcome, ending.world.patches]).toEqual([
        killAt,
        'rolledBack',
        anew ? [BAD, V1, BAD, V1] : [BAD, V1],
      ])
      expect(anew).toBe(anew && killAt > deliveries - 6)
    }
  })

  test.each(['request-lost', 'reply-lost', 'late', 'delayed'] as const)(
    'each write in turn: %s, and killed after it',
    async (kind) => {
      const { world, deliveries } = await failing()
      const stores = world.calls.flatMap(({ port }, call) => (port === 'store' ? [call] : []))
      expect(stores).toHaveLength(5)
      for (const lost of stores) {
        const fault = (call: number, port: keyof PodPorts): Fault => (call === lost && port === 'store' ? kind : undefined)
        judgeBack(await failing({ fault }))
        for (let killAt = 0; killAt < deliveries; killAt += 2) judgeBack(await failing({ fault, killAt }))
      }
    },
  )

  test('interrupted at every delivery: untouched, put back, or rolled back', async () => {
    const { deliveries } = await failing()
    const outcomes = new Set<string | undefined>()
    for (let interruptAt = 0; interruptAt < deliveries - 1; interruptAt++) {
      const ending = await failing({ interruptAt })
      judgeBack(ending)
      outcomes.add(ending.outcome)
    }
    expect([...outcomes].toSorted()).toEqual(['rolledBack', 'unchanged'])
  })

  test('a later run for an image that runs goes there at once', async () => {
    const { deliveries } = await failing()
    const second = { run: 'run-2', wanted: [{ container: 'app', image: V2 }] }
    for (let killAt = 0; killAt < deliveries; killAt += 2) {
      const ending = await failing({ killAt, second })
      judge(ending)
      expect([ending.outcome, ending.world.pod?.containers[0]?.image]).toEqual(['upgraded', V2])
    }
  })

  test('the pod is replaced at every delivery', async () => {
    const { deliveries } = await failing()
    for (let at = 0; at < deliveries - 1; at++) {
      const ending = await failing({ events: [{ at, happen: (world) => world.replace() }] })
      judge(ending)
      expect(['', 'drain restore']).toContain(order(ending))
    }
  })

  test('negative control: a resume that does not know of the rollback patches the bad image anew', async () => {
    const { deliveries } = await failing()
    const patches = new Set<number>()
    for (let killAt = 0; killAt < deliveries; killAt++) {
      const { world } = await failing({ killAt, second: { run: 'run-2' } })
      if (world.effects.length === 2) patches.add(world.patches.length)
    }
    expect([...patches].some((count) => count > 2)).toBe(true)
  })
})

describe('negative controls: with a protection off, the sweep finds it', () => {
  async function faults(stories: Story[]): Promise<number> {
    let found = 0
    for (const story of stories) {
      const ending = await play(story)
      try {
        judge(ending)
      } catch {
        found += 1
      }
    }
    return found
  }
  const everywhere = Array.from({ length: 12 }, (_, index) => 5 * index)

  test('the obvious rule in place of the witness', async () => {
    const guards: OwnerOptions['guards'] = {
      isProven: ({ context }) => context.pod.containers[0]!.containerId !== context.record?.baseline[0]?.containerId,
      isReady: ({ context }) => context.pod.ready,
      isNotReady: ({ context }) => !context.pod.ready,
    }
    const stories = everywhere.map((at): Story => ({ first: { guards }, events: [{ at, happen: (world) => world.crash() }] }))
    expect(await faults(stories)).toBeGreaterThan(0)
  })

  test('an open record of an earlier owner is not claimed', async () => {
    // The machine's own record must not count before an answer has come.
    const guards: OwnerOptions['guards'] = {
      isRecorded: ({ context }) => context.answer === undefined || isRecorded(context),
    }
    expect(await faults((await staleStories()).map((story): Story => ({ ...story, second: { guards } })))).toBeGreaterThan(0)
  })

  test('resume does not go by what it reads', async () => {
    const guards: OwnerOptions['guards'] = { isOut: () => false, isIn: () => false }
    expect(await faults(everywhere.map((killAt): Story => ({ killAt, second: { guards } })))).toBeGreaterThan(0)
  })

  test('the patch does not wait until it is empty', async () => {
    expect(await faults([{ first: { guards: { isEmpty: ({ context }) => context.traffic?.state === 'out' } } }])).toBe(1)
  })

  test('what is ready is put back without a new look at the pod in its place', async () => {
    const guards: OwnerOptions['guards'] = { heirIsReady: ({ context }) => context.heir !== undefined && context.heir !== null }
    const stories = everywhere.map((at): Story => ({ first: { guards }, events: [{ at, happen: (world) => world.replace() }] }))
    expect(await faults(stories)).toBeGreaterThan(0)
  })
})
