/** Ends upgrades with SIGKILL at random moments of their work. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { seededRandom } from '../cluster/scenarios/random.ts'
import type { ProductBed, Upgrade } from './product-bed.ts'

/** The number of kills. `SLUICE_KILLS=10` takes too long for the daily tests. */
export const KILLS = Number(process.env['SLUICE_KILLS'] ?? 3)
/** The number of pods. No life of a process is long enough to upgrade two of them. */
export const PODS_FOR_KILLS: number = 2 * KILLS

/** About half of the changes of a pod in the API during its upgrade, by the upgrade or by the kubelet. */
const MOST_CHANGES = 10
const MOST_MS = 400
/** Each process waits until the Lease of the one before has run out. */
export const KILL_TIMEOUT_MS: number = 60_000 + KILLS * 40_000

/**
 * Kills the upgrade at each of `KILLS` moments: after it has the Lease, a random number of pod changes and then a random time pass. No
 * upgrade is done before that. Returns the moments, which `SLUICE_SEED` repeats.
 */
export async function killAtRandomMoments(bed: ProductBed, upgrade: () => Upgrade): Promise<string[]> {
  const seed = Number(process.env['SLUICE_SEED'] ?? Date.now() % 1_000_000)
  const random = seededRandom(seed)
  const moments: string[] = []
  for (let kill = 0; kill < KILLS; kill += 1) {
    const changes = random.between(0, MOST_CHANGES)
    const ms = random.between(0, MOST_MS)
    const { child, ended } = upgrade()
    const isOver = ended.then(({ code, said }) => expect.unreachable(`it has ended by itself with ${code}: ${said}`))
    await Promise.race([isAtWork(bed, changes), isOver])
    await sleep(ms)
    child.kill('SIGKILL')
    moments.push(`${changes}+${ms}ms ${stepsOf(bed)}`)
    await isOver.catch(() => undefined)
    expect((await ended).code).toBe(null)
  }
  console.log(
    `SLUICE_SEED=${seed} SLUICE_KILLS=${KILLS}: killed after changes of pods + time, and what was on record then: ${moments.join(', ')}`,
  )
  return moments
}

/** Returns the steps in the records of the pods that are under way. */
function stepsOf(bed: ProductBed): string {
  const steps = bed.pods().map((pod) => /\\"step\\":\\"(?!closed)(\w+)/.exec(JSON.stringify(pod))?.[1] ?? '')
  return steps.filter((step) => step !== '').join(' and ') || 'between pods'
}

/** Waits until a new process has a Lease, and `changes` changes of pods have happened since. */
function isAtWork(bed: ProductBed, changes: number): Promise<void> {
  return new Promise((resolve) => {
    let left: number | undefined
    const end = bed.cluster.apiServer.store.subscribe((resource, { before, after }) => {
      if (resource === 'leases.coordination.k8s.io' && after !== undefined) {
        const [was, is] = [before, after].map((lease) => (lease as Lease | undefined)?.spec.holderIdentity)
        if (is !== undefined && is !== '' && is !== was) left ??= changes
      } else if (resource === 'pods' && left !== undefined) left -= 1
      if (left === undefined || left > 0) return
      end()
      resolve()
    })
  })
}

interface Lease {
  spec: { holderIdentity?: string }
}
