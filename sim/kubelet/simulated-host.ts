import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import type { ContainerHost, ContainerNews, HostedContainer } from './container-host.ts'
import { type Delays, draw } from './delays.ts'
import type { Images } from './images.ts'
import { secondsOf } from './pod.ts'

export interface SimulatedHostOptions {
  clock: Clock
  random: Random
  delays: Delays
  images: Images
}

/** Runs no real containers: each container behaves over time as its image describes. */
export function createSimulatedHost({ clock, random, delays, images }: SimulatedHostOptions): ContainerHost {
  const running = new Map<string, { reference: string; tell: ContainerNews }>()

  function exit(id: string, code: number): void {
    const one = running.get(id)
    running.delete(id)
    one?.tell.exited(code)
  }

  return {
    start({ id, spec }: HostedContainer, tell) {
      running.set(id, { reference: spec.image, tell })
      const { crashAfterMs, readyAfterMs = 0 } = images.get(spec.image) ?? {}
      if (crashAfterMs !== undefined) {
        clock.setTimeout(() => exit(id, 1), crashAfterMs)
        return
      }
      const listensAfterMs = (secondsOf(spec, 'READY_AFTER') ?? readyAfterMs / 1_000) * 1_000
      clock.setTimeout(() => tell.answers(true), listensAfterMs + draw(random, delays.listen))
    },
    stop(id, graceMs, done) {
      const drainMs = images.get(running.get(id)?.reference ?? '')?.drainMs
      const untilExit = Math.min(graceMs, (drainMs ?? 0) + draw(random, delays.stop))
      const code = drainMs === undefined ? 143 : drainMs <= graceMs ? 0 : 137
      clock.setTimeout(() => {
        exit(id, code)
        done()
      }, untilExit)
    },
    kill: exit,
  }
}
