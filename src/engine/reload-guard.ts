import type { Journal } from '../pods/glossary.ts'
import type { Clock } from '../ports/clock.ts'
import type { Traffic } from './traffic.ts'

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
  /** Looks at those of them that can be forgotten once, after a while; nothing else is taken while it does. */
  watch(exposed: readonly Exposed[]): void
  stop(): void
  /** Looks at once. */
  look(exposed: readonly Exposed[]): Promise<void>
}

export function createReloadGuard(options: {
  clock: Clock
  traffic: Pick<Traffic, 'inspect' | 'isVolatile'>
  /** Time to say again who is exposed. */
  onLooked(): void
}): ReloadGuard {
  const { clock, traffic } = options
  let timer: unknown

  async function look(exposed: readonly Exposed[]): Promise<void> {
    await Promise.all(
      exposed.map(async ({ uid, record, reloaded }) => {
        const { state } = await traffic.inspect(uid, record.targets, { wasOut: record.step === 'patched' })
        if (state === 'in' || state === 'mixed') await reloaded()
      }),
    )
  }

  async function lookAndTell(exposed: readonly Exposed[]): Promise<void> {
    await look(exposed)
    timer = undefined
    options.onLooked()
  }

  const forgettable = (exposed: readonly Exposed[]): Exposed[] =>
    exposed.filter(({ record }) => traffic.isVolatile(record.targets))

  return {
    watch(exposed) {
      if (timer !== undefined) return
      const watched = forgettable(exposed)
      if (watched.length > 0) timer = clock.setTimeout(() => void lookAndTell(watched), LOOK_EVERY_MS)
    },
    stop: () => clock.clearTimeout(timer),
    look: (exposed) => look(forgettable(exposed)),
  }
}
