import type { Journal, JournalTarget } from '../../pods/glossary.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Traffic } from '../traffic/traffic.ts'

/** The interval between looks at a load balancer that can forget a drain by itself. */
const LOOK_EVERY_MS = 500

/** A pod that must get no request now. */
export interface Exposed {
  uid: string
  record: Journal
  /** Called when the pod gets requests through these targets. Resolves once all immediate steps are done. */
  reloaded(targets: readonly JournalTarget[]): Promise<void>
}

/** Looks whether a load balancer that can forget a drain sends requests to a restarting pod. */
export interface ReloadGuard {
  /** Looks once, after a while, at the exposed pods. Does nothing where no drain of the present ones can be forgotten. */
  watch(): void
  stop(): void
  /** Looks at once. */
  look(): Promise<void>
}

export function createReloadGuard(options: {
  clock: Clock
  traffic: Pick<Traffic, 'inspect' | 'isVolatile'>
  exposed(): readonly Exposed[]
  /** Called after a look. The exposed pods may have changed. */
  onLooked(): void
}): ReloadGuard {
  const { clock, traffic } = options
  /** The timers by load balancer and scope. Each one is asked alone: a slow or failed instance must not delay the look at another. */
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

/** The instance that answers for the target. It can fail while others of the same load balancer work. */
function instanceOf({ loadBalancer, scope }: JournalTarget): string {
  return JSON.stringify([loadBalancer, scope])
}
