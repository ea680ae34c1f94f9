import type { Pod } from '../pods.ts'
import type { Target } from '../targets.ts'
import { isHeldOut, isTouched } from '../targets.ts'
import type { Report } from '../violation.ts'
import type { World } from '../world.ts'

/** I2: sluice has just stored other images for this pod. */
export function judgeImages(world: World, pod: Pod, at: number, report: Report): void {
  if (pod.journal?.step !== 'patched' || pod.journal.entry !== pod.patch?.entry)
    report('I2', `${pod.name} got other images in a write that does not say so in its journal`)
  for (const target of pod.address === undefined ? [] : world.targets.at(pod.address)) {
    const { state, key, entry } = target
    if (state!.routable && !isExcused(world, target, at))
      report('I2', `${pod.name} got other images while ${key} sent it requests`, entry)
    // What an operator holds out is his; requests that nobody counts are given the settle time, and no more.
    if (
      isHeldOut(target) ||
      target.level === 'G0' ||
      world.scenario.proceeds ||
      world.scenario.uncounted?.includes(target.balancer)
    )
      continue
    if (!state!.routable && state!.emptyAt !== null && state!.emptyAt > at)
      report('I2', `${pod.name} got other images while requests of ${key} were under way on it`, entry)
  }
}

/**
 * Somebody else, or a call that came too late, has put it back: sluice sees that a while later, and what cannot be read
 * never.
 */
export function isExcused({ scenario, processes }: World, target: Target, at: number): boolean {
  if (target.late !== undefined) return true
  // Nobody was there to see it.
  if (
    isTouched(target) &&
    ![...processes.values()].some(({ isRunning, startedAt }) => isRunning && at - startedAt > scenario.lagMs)
  )
    return true
  return isTouched(target) && (target.level === 'G0' || at - target.changedAt <= scenario.lagMs)
}
