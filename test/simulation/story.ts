import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { AdapterError } from '../../adapters/contract.ts'
import type { RunPorts, RunRequest } from '../../src/engine/run.ts'
import { prepareRun } from '../../src/engine/run.ts'
import type { PodStatus } from '../../src/engine/status/status.ts'
import { readStatus } from '../../src/engine/status/read-status.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { imageOf, NAME, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS } from './scene.ts'
import type { Actor, Stage } from './stage.ts'

/* Helpers of the tests about several processes. */

/** Returns a request to upgrade these StatefulSets. */
export function upgradeTo(
  tag: string,
  { names = [NAME], ...settings }: Partial<RunRequest['settings']> & { names?: readonly string[] } = {},
): RunRequest & Pick<Required<RunRequest>, 'images'> {
  return {
    namespace: NAMESPACE,
    select: { refs: names.map((name) => ({ ...STATEFUL_SET, name }) as const) },
    images: [{ container: 'app', image: imageOf(tag) }],
    settings: { ...PLAIN_SETTINGS, ...settings },
    acceptTemplateDrift: false,
    allowUnbalanced: false,
  }
}

export async function ended(stage: Stage, actor: Actor): Promise<NonNullable<Actor['end']>> {
  await stage.until(() => actor.end !== undefined)
  return actor.end!
}

export async function outcomeOf(stage: Stage, actor: Actor): Promise<string> {
  return (await ended(stage, actor)).outcome
}

/** Returns the clock of a process without work. */
export function clockOf(stage: Stage): Clock {
  return stage.start({ select: { refs: [{ ...STATEFUL_SET, name: 'none' }] } }).host.clock
}

/** Returns the pods in the output of `sluice status`, for all workloads. */
export async function statusOf(stage: Stage): Promise<PodStatus[]> {
  const ports = { client: stage.client, clock: clockOf(stage) }
  const { workloads } = await stage.ask(readStatus({ namespace: NAMESPACE, refs: [] }, ports))
  return workloads.flatMap(({ pods }) => pods)
}

/** Prepares a run whose restores get no answer. */
export const withoutRestore = (request: RunRequest) => (ports: RunPorts) =>
  prepareRun(request, {
    ...ports,
    loadBalancers: ports.loadBalancers.map((one) => {
      const adapter = Object.create(one.adapter) as typeof one.adapter
      adapter.restore = async () => {
        throw new AdapterError('simulated', 'ambiguous', 'no answer')
      }
      return { ...one, adapter }
    }),
  })
