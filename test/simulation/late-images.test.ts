import { expect, test } from 'vitest'
import { prepareRun } from '../../src/engine/run.ts'
import type { KubeClient, PatchOperation } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import type { Level } from '../../sim/load-balancer/write.ts'
import type { TargetState } from './checker/history.ts'
import { imageOf, NAME } from './manifests.ts'
import { plainBalancer, plainScene } from './scene.ts'
import type { Actor, Stage } from './stage.ts'
import { openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

/*
 * Found by simulation (seed 60969043): images were on their way for long, the load balancer forgot the drain, and was asked for it again.
 * They landed a second after that, with requests under way on the pod.
 */

/** Longer than it takes to drain a pod again. */
const LONGEST_REQUEST_MS = 6_000
const POD = `${NAME}-0`

interface Late {
  /** They come to the API server now: what it answers. */
  arrive(): Promise<unknown>
}

/** An upgrade to `tag` where the first write of `image` into the pod has no answer for so long. */
function upgradeWithLate(
  image: string,
  { stage, tag, forMs }: { stage: Stage; tag: string; forMs: number },
): { actor: Actor; held: () => Late | undefined } {
  const request = upgradeTo(tag, { onFailure: 'rollback', restartDeadlineMs: 5_000 })
  let late: Late | undefined
  const actor = stage.start(request, (ports) => {
    const { client, clock } = ports
    const patch: KubeClient['patch'] = async (path, operations, options) => {
      const isOfImages = operations.some((one) => one.op === 'replace' && one.value === image)
      if (late || !isOfImages || !path.includes('/pods/') || options?.dryRun === true)
        return client.patch(path, operations, options)
      late = { arrive: () => stage.client.patch(path, operations as PatchOperation[]) }
      await new Promise<void>((resolve) => clock.setTimeout(resolve, forMs))
      throw new KubeError('no answer', { kind: 'ambiguous', method: 'PATCH', path })
    }
    return prepareRun(request, { ...ports, client: { ...client, patch } })
  })
  return { actor, held: () => late }
}

/** When it was taken out of rotation. */
function drainsOf({ history }: Stage): number[] {
  return history.flatMap((one) => (one.type === 'effect' && one.before.routable && !one.after.routable ? [one.at] : []))
}

const imagesOf = (object: unknown): string =>
  JSON.stringify(
    (object as { spec?: { containers?: { image: string }[] } } | undefined)?.spec?.containers?.map(({ image }) => image),
  )

/** When the pod got other images while it got requests, or while some were under way on it. */
function hitAt({ history }: Stage): number[] {
  let state: TargetState | null = null
  return history.flatMap((one) => {
    if (one.type === 'target' || one.type === 'effect') state = one.after
    const isOfImages = one.type === 'stored' && one.resource === 'pods' && imagesOf(one.before) !== imagesOf(one.after)
    const isHit = state !== null && (state.routable || (state.emptyAt ?? 0) > one.at)
    return isOfImages && isHit ? [one.at] : []
  })
}

const CASES = (['G1', 'G2'] as const).flatMap((level) =>
  [
    { of: 'an upgrade', tag: 'v2', late: imageOf('v2'), outcome: 'upgraded' },
    { of: 'a rollback', tag: 'bad', late: imageOf('v1'), outcome: 'rolledBack' },
  ].flatMap((one) => [
    { ...one, level, how: 'given up a moment ago', forMs: 950 },
    { ...one, level, how: 'still waited for', forMs: 9_000 },
  ]),
)

test.each<(typeof CASES)[number] & { level: Level }>(CASES)(
  'images of $of, $how as a load balancer ($level) forgets the drain: once it has been drained again they land no more',
  async ({ level, tag, late, forMs, outcome }) => {
    const edge = plainBalancer({ level, volatile: true, longestRequestMs: LONGEST_REQUEST_MS })
    const stage = await openStage(plainScene({ balancers: [edge] }))
    const { actor, held } = upgradeWithLate(late, { stage, tag, forMs })
    await stage.until(() => held() !== undefined)
    await stage.pass(1_000)
    stage.world.reload('edge')
    await stage.until(() => drainsOf(stage).length === 2)
    await stage.pass(100)
    expect(stage.world.balancers.get('edge')!.state(POD)!.inFlight).toBeGreaterThan(0)
    await expect(stage.ask(held()!.arrive())).rejects.toMatchObject({ status: 422 })
    const end = await ended(stage, actor)
    expect(end.pods).toMatchObject([{ outcome }])
    expect(imagesOf(stage.world.pods()[0])).toBe(JSON.stringify([late]))
    expect(hitAt(stage)).toEqual([])
    expect(drainsOf(stage)).toHaveLength(2)
    expect(stage.world.balancers.get('edge')!.state(POD)).toMatchObject({ admin: 'ready' })
  },
)
