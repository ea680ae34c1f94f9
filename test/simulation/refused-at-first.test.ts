import { expect, test } from 'vitest'
import { type Adapter, AdapterError } from '../../adapters/contract.ts'
import { RunError } from '../../src/engine/errors.ts'
import { listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import type { RunPorts } from '../../src/engine/run.ts'
import { prepareRun } from '../../src/engine/run.ts'
import { imageOf, NAMESPACE } from './manifests.ts'
import { plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/* Reasons that keep a run from its beginning. Nothing is touched then. */

const REQUEST = upgradeTo('v2')

async function touched(stage: Stage): Promise<{ records: number; effects: number; image: string }> {
  const { server } = stage.world
  const [found] = server.store.list('statefulsets.apps', NAMESPACE) as unknown as [
    { spec: { template: { spec: { containers: { image: string }[] } } } },
  ]
  return {
    records: (await stage.ask(listLedgers(stage.client, NAMESPACE))).length,
    effects: stage.history.filter(({ type }) => type === 'effect').length,
    image: found.spec.template.spec.containers[0]!.image,
  }
}

const NOTHING = { records: 0, effects: 0, image: imageOf('v1') }

const endReason = ({ events }: Actor): unknown =>
  events.flatMap((event) => (event.type === 'finished' ? [event.result.reason] : []))[0]

/** Makes an admission webhook refuse the dry run of the pods' patch. */
function refuseDryRuns({ world }: Stage): void {
  const { arrive } = world
  const message = 'admission webhook "images.example.dev" denied the request: not signed'
  world.arrive = (request, by, leftAt) => {
    if (request.method !== 'PATCH' || !request.path.includes('dryRun=All')) return arrive(request, by, leftAt)
    const text = JSON.stringify({ kind: 'Status', status: 'Failure', reason: 'Forbidden', code: 403, message })
    return { status: 403, headers: {}, text }
  }
}

test('admission that refuses the image of a pod refuses the run', async () => {
  const stage = await openStage(plainScene({ pods: 2 }))
  refuseDryRuns(stage)
  const run = stage.start(REQUEST)
  expect((await ended(stage, run)).outcome).toBe('refused')
  expect(endReason(run)).toMatchObject({
    code: 'patch-of-pod-refused',
    pod: 'web-1',
    because: { code: 'api-error', status: 403 },
  })
  expect(await touched(stage)).toEqual(NOTHING)
})

/** Makes a call of the load balancer fail for good. */
const failing =
  (call: 'resolve' | 'snapshot' | 'rehearse') =>
  (ports: RunPorts): RunPorts => ({
    ...ports,
    loadBalancers: ports.loadBalancers.map((one) => {
      const adapter = Object.create(one.adapter) as Adapter
      adapter[call] = async () => {
        throw new AdapterError('simulated', 'fatal', 'no such pool')
      }
      return { ...one, adapter }
    }),
  })

test.each(['resolve', 'snapshot', 'rehearse'] as const)(
  'a load balancer that cannot be asked (%s) refuses the run',
  async (call) => {
    const stage = await openStage(plainScene({ pods: 2 }))
    let error: unknown
    const run = stage.start(REQUEST, async (ports) => {
      try {
        return await prepareRun(REQUEST, failing(call)(ports))
      } catch (one) {
        error = one
        throw one
      }
    })
    await ended(stage, run)
    expect(error).toBeInstanceOf(RunError)
    expect(error).toMatchObject({
      kind: 'preflight',
      reason: { code: 'load-balancer-not-asked', because: { code: 'load-balancer-error', kind: 'fatal' } },
    })
    expect(await touched(stage)).toEqual(NOTHING)
  },
)

test('control: a load balancer that can be asked, and admission that says nothing, let it begin', async () => {
  const stage = await openStage(plainScene({ pods: 2 }))
  const run = stage.start(REQUEST)
  expect((await ended(stage, run)).outcome).toBe('done')
  expect(await touched(stage)).toEqual({ records: 1, effects: 4, image: imageOf('v2') })
})
