import type { Journal, JournalTarget } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Traffic } from '../traffic/traffic.ts'

/** Between two looks at what a load balancer that forgets by itself still has out. */
const LOOK_EVERY_MS = 500

/** A pod that must get no request now. */
export interface Exposed {
  uid: string
  record: Journal
  /** It does get some. Resolves where all is done about it that can be done at once. */
  reloaded(): Promise<void>
}

/** A load balancer that forgets by itself would send traffic to a restarting pod: looks whether it has. */
export interface ReloadGuard {
  /** Looks once at those that are exposed then, after a while; nothing where none of those that are now can be forgotten. */
  watch(): void
  stop(): void
  /** Looks at once. */
  look(): Promise<void>
}

export function createReloadGuard(options: {
  clock: Clock
  traffic: Pick<Traffic, 'inspect' | 'isVolatile'>
  exposed(): readonly Exposed[]
  /** Time to say again who is exposed. */
  onLooked(): void
}): ReloadGuard {
  const { clock, traffic } = options
  /** By load balancer, each for itself: found by simulation, one took 10 s to answer, and what another had forgotten came late. */
  const timers = new Map<string, unknown>()
  let isStopped = false

  const targetsAt = (loadBalancer: string, { record }: Exposed): JournalTarget[] =>
    record.targets.filter((target) => target.loadBalancer === loadBalancer)

  function forgetful(): Set<string> {
    const targets = options.exposed().flatMap(({ record }) => record.targets)
    return new Set(targets.filter((target) => traffic.isVolatile([target])).map(({ loadBalancer }) => loadBalancer))
  }

  async function lookAt(loadBalancer: string): Promise<void> {
    await Promise.all(
      options.exposed().map(async (exposed) => {
        const { uid, record, reloaded } = exposed
        const { state } = await traffic.inspect(uid, targetsAt(loadBalancer, exposed), { wasOut: record.step === 'patched' })
        if (state === 'in' || state === 'mixed') await reloaded()
      }),
    )
  }

  async function lookAndTell(loadBalancer: string): Promise<void> {
    await lookAt(loadBalancer)
    timers.delete(loadBalancer)
    options.onLooked()
  }

  return {
    watch() {
      if (isStopped) return
      for (const loadBalancer of forgetful()) {
        if (timers.has(loadBalancer)) continue
        timers.set(
          loadBalancer,
          clock.setTimeout(() => void lookAndTell(loadBalancer), LOOK_EVERY_MS),
        )
      }
    },
    stop() {
      isStopped = true
      for (const timer of timers.values()) clock.clearTimeout(timer)
    },
    async look() {
      await Promise.all(Array.from(forgetful(), lookAt))
    },
  }
}
