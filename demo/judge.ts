import type { ActResult } from './acts/result.ts'
import { drainsAndRestores } from './rotation/change.ts'

/** Returns the ways in which an upgrade has broken the promise of sluice. Empty where it has kept the promise. */
export function faults({ pods, requests, failures, changes, complaint }: ActResult): string[] {
  const found: string[] = complaint === undefined ? [] : [complaint]
  if (requests === 0) found.push('no request was sent')
  if (failures.length > 0) found.push(`${failures.length} of ${requests} requests failed`)
  for (const pod of pods) {
    const { drains, restores } = drainsAndRestores(changes, pod)
    if (drains !== 1 || restores !== 1) found.push(`${pod} was drained ${times(drains)} and restored ${times(restores)}`)
  }
  return found
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
