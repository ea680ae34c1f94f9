import type { Journal, JournalTarget } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Traffic } from '../traffic/traffic.ts'

/** Between two looks at what a load balancer that forgets by itself still has out. */
const LOOK_EVERY_MS = 500

/** A pod that must get no request now. */
export interface Exposed {
  uid: string
  record: Journal
  /** It does get some, by these of its targets. Resolves where all is done about it that can be done at once. */
  reloaded(targets: readonly JournalTarget[]): Promise<void>
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
  /**
   * By what answers for itself, each alone. Found by simulation: one load balancer took 10 s to answer, and what another had
   * forgotten came late. Found by reading: of two instances of one load balancer one was down, and what the other had forgotten
   * was never seen.
   */
  const timers = new Map<string, unknown>()
  let isStopped = false

  function forgetful(): Set<string> {
    const targets = options.exposed().flatMap(({ record }) => record.targets)
    return new Set(targets.filter((target) => traffic.isVolatile([target])).map(instanceOf))
  }

  async function lookAt(instance: string): Promise<void> {
    await Promise.all(
      options.exposed().map(async ({ uid, record, reloaded }) => {
        const targets = record.targets.filter((target) => instanceOf(target) === instance)
        const { state } = await traffic.inspect(uid, targets, { wasOut: record.step === 'patched' })
        if (state === 'in' || state === 'mixed') await reloaded(targets)
      }),
    )
  }

  async function lookAndTell(instance: string): Promise<void> {
    await lookAt(instance)
    timers.delete(instance)
    options.onLooked()
  }

  return {
    watch() {
      if (isStopped) return
      for (const instance of forgetful()) {
        if (timers.has(instance)) continue
        timers.set(
          instance,
          clock.setTimeout(() => void lookAndTell(instance), LOOK_EVERY_MS),
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

/** What can be down while others of the same load balancer are not. */
function instanceOf({ loadBalancer, scope }: JournalTarget): string {
  return JSON.stringify([loadBalancer, scope])
}
