import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import { listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import { giveOrder } from '../../src/engine/orders/give-order.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import { leaseName } from '../../src/engine/leases/lease-name.ts'
import { readLease } from '../../src/leases/read-lease.ts'
import type { RunRequest } from '../../src/engine/run.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { isIn, openStage } from './stage.ts'
import { outcomeOf, upgradeTo } from './story.ts'

/* An API server that is away when the last pod has come to its end does not leave the ledger of the run open. */

const REQUEST = upgradeTo('v2')

/** Refuses connections, as at a restart of the API server. A lost request would be read again until there is an answer. */
function refusing(patch: KubeClient['patch']): KubeClient['patch'] {
  return async (path, operations, options) => {
    try {
      return await patch(path, operations, options)
    } catch (error) {
      if (!(error instanceof KubeError) || error.status !== undefined) throw error
      throw new KubeError('connection refused', { kind: 'definite', method: 'PATCH', path, cause: error })
    }
  }
}

interface Away {
  request?: RunRequest
  forMs: number
  /** Sets the wall clock forward at that moment, by enough that the Lease has run out. */
  leapMs?: number
}

/** Starts a process. The API server is away as soon as the journal of the only pod is closed. */
function startUntilAway(stage: Stage, { request = REQUEST, forMs, leapMs = 0 }: Away): Actor {
  const actor: Actor = stage.start(request, (ports) => {
    const { client } = ports
    const patch: KubeClient['patch'] = async (path, operations, options) => {
      const answer = await refusing(client.patch)(path, operations, options)
      if (path.includes('/pods/') && JSON.stringify(operations).includes('"Closed"')) {
        stage.stopApiServer(forMs)
        actor.host.jumpWallClock(leapMs)
      }
      return answer
    }
    return prepareRun(request, { ...ports, client: { ...client, patch } })
  })
  return actor
}

async function abortInTheMiddle({ ask, client, until }: Stage, actor: Actor): Promise<void> {
  await until(() => isIn('emptying')(actor))
  const open = await ask(readOpenRuns(client, { namespace: NAMESPACE, select: REQUEST.select }))
  await ask(giveOrder(open, { order: 'abort', by: 'ann@desk' }, { client, namespace: NAMESPACE }))
}

function templateImage({ world: { server } }: Stage): string | undefined {
  const [found] = server.store.list('statefulsets.apps', NAMESPACE) as unknown as {
    spec: { template: { spec: { containers: { image: string }[] } } }
  }[]
  return found?.spec.template.spec.containers[0]?.image
}

async function recordOf({ ask, client }: Stage) {
  const [found, ...others] = await ask(listLedgers(client, NAMESPACE))
  const lease = await ask(readLease(client, NAMESPACE, leaseName({ ...STATEFUL_SET, name: NAME })))
  expect(others).toEqual([])
  if (found?.kind !== 'read') throw new Error('the ledger cannot be read')
  const { header, entries } = found.ledger
  const told = Array.from(entries.values(), ({ accounts }) => accounts?.length)
  return { isOver: header.finishedAt !== undefined, processes: header.accounts?.length, told, holder: lease?.holder }
}

const warnings = ({ events }: Actor): string[] =>
  events.flatMap((event) => (event.type === 'warning' ? [reasonWords(event.reason)] : []))
const UNCLOSED = expect.stringMatching(/^the ledger could not be closed: /)

test.each([
  [8_000, 0],
  [500, 20_000],
  [6_000, 20_000],
])(
  'an API server that is away for %d ms when the last pod is at its end is waited for: the run is over, told once, and its Lease given back (the wall clock leaps %d ms)',
  async (forMs, leapMs) => {
    const stage = await openStage(plainScene({ pods: 1 }))
    const actor = startUntilAway(stage, { forMs, leapMs })
    expect(await outcomeOf(stage, actor)).toBe('done')
    expect(await recordOf(stage)).toEqual({ isOver: true, processes: 1, told: [1], holder: '' })
    expect(warnings(actor)).not.toContainEqual(UNCLOSED)
  },
)

test.each([0, 20_000])(
  'away for longer, the run stays open, with a warning, and the same command closes it (leap %d ms)',
  async (leapMs) => {
    const stage = await openStage(plainScene({ pods: 1 }))
    const actor = startUntilAway(stage, { forMs: 60_000, leapMs })
    expect(await outcomeOf(stage, actor)).toBe('done')
    expect(warnings(actor)).toContainEqual(UNCLOSED)
    await stage.pass(60_000)
    expect(await recordOf(stage)).toMatchObject({ isOver: false })
    expect(await outcomeOf(stage, stage.start(REQUEST))).toBe('done')
    expect(await recordOf(stage)).toMatchObject({ isOver: true, processes: 1, holder: '' })
  },
)

test.each([
  { forMs: 60_000, image: 'crash', warned: [{ code: 'template-not-put-back', because: { code: 'lease-ran-out' } }] },
  { forMs: 500, image: 'v1', warned: [] },
])(
  'away for $forMs ms when a pod is rolled back, its Lease run out: the template is at $image',
  async ({ forMs, image, warned }) => {
    const stage = await openStage(plainScene({ pods: 1 }))
    const request = upgradeTo('crash', { onFailure: 'rollback', restartDeadlineMs: 20_000, readyDeadlineMs: 20_000 })
    const actor = startUntilAway(stage, { request, forMs, leapMs: 20_000 })
    expect(await outcomeOf(stage, actor)).toBe('rolledBack')
    const reasons = actor.events.flatMap((event) => (event.type === 'warning' ? [event.reason] : []))
    expect(reasons.filter(({ code }) => code === 'template-not-put-back')).toEqual(warned)
    expect(templateImage(stage)).toBe(imageOf(image))
  },
)

test('whoever is interrupted meanwhile waits no more', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const actor = startUntilAway(stage, { forMs: 60_000 })
  await stage.until(() => actor.events.some(({ type }) => type === 'podFinished'))
  await stage.pass(2_000)
  expect(actor.end).toBeUndefined()
  actor.interrupt()
  await stage.pass(6_000)
  expect(actor.end).toBeDefined()
})

test('an abort that does not reach the API server in the end is not called one', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const actor = startUntilAway(stage, { forMs: 60_000, leapMs: 20_000 })
  await abortInTheMiddle(stage, actor)
  await stage.until(() => actor.end !== undefined)
  const reason = expect.stringMatching(/^this process has not ended the run: .* the Lease could not be renewed, and has run out/)
  expect(actor.end).toMatchObject({ outcome: 'failed', reason })
})

// A Lease that has run out during the absence is not taken for the Lease of another owner: the abort still puts the template back.
test.each([10_000, 17_000, 22_000])('an abort whose API server is away for %d ms puts the template back', async (forMs) => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const actor = startUntilAway(stage, { forMs })
  await abortInTheMiddle(stage, actor)
  await stage.until(() => actor.end !== undefined)
  expect(actor.end).toMatchObject({ outcome: 'aborted' })
  expect(templateImage(stage)).toBe(imageOf('v1'))
})

// A rollback puts the template back under the same conditions.
test.each([10_000, 17_000, 22_000])('a rollback whose API server is away for %d ms puts the template back', async (forMs) => {
  const stage = await openStage(plainScene({ pods: 1 }))
  const request = upgradeTo('bad', { onFailure: 'rollback', restartDeadlineMs: 20_000 })
  const actor = startUntilAway(stage, { request, forMs })
  expect(await outcomeOf(stage, actor)).toBe('rolledBack')
  expect(templateImage(stage)).toBe(imageOf('v1'))
})

test('a run whose API server is away as it patches the template goes on with it', async () => {
  const stage = await openStage(plainScene({ pods: 1 }))
  let isFirst = true
  const actor = stage.start(REQUEST, (ports) => {
    const { client } = ports
    const patch: KubeClient['patch'] = (path, operations, options) => {
      if (isFirst && path.includes('/statefulsets/')) stage.stopApiServer(20_000)
      isFirst &&= !path.includes('/statefulsets/')
      return refusing(client.patch)(path, operations, options)
    }
    return prepareRun(REQUEST, { ...ports, client: { ...client, patch } })
  })
  expect(await outcomeOf(stage, actor)).toBe('done')
})
