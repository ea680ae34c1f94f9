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
  let timer: unknown

  const forgettable = (): Exposed[] => options.exposed().filter(({ record }) => traffic.isVolatile(record.targets))

  async function look(): Promise<void> {
    await Promise.all(
      forgettable().map(async ({ uid, record, reloaded }) => {
        const { state } = await traffic.inspect(uid, record.targets, { wasOut: record.step === 'patched' })
        if (state === 'in' || state === 'mixed') await reloaded()
      }),
    )
  }

  async function lookAndTell(): Promise<void> {
    await look()
    timer = undefined
    options.onLooked()
  }

  return {
    watch() {
      if (timer === undefined && forgettable().length > 0) timer = clock.setTimeout(() => void lookAndTell(), LOOK_EVERY_MS)
    },
    stop: () => clock.clearTimeout(timer),
    look,
  }
}
