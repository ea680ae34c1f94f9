import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import type { Store } from '../api-server/server.ts'
import type { BackOff } from './back-off.ts'
import type { Behaviour } from './behaviour.ts'
import type { Delays } from './delays.ts'
import type { Images } from './images.ts'
import type { Process } from './process.ts'
import type { Runtime } from './runtime.ts'

/** The services that the pod workers share during one life of a kubelet. */
export interface NodeServices {
  clock: Clock
  random: Random
  delays: Delays
  behaviour: Behaviour
  images: Images
  store: Store
  runtime: Runtime
  process: Process
  crashes: BackOff
  pulls: BackOff
  nodeAddress: string
  instant: () => string
  /** The start of this life of the kubelet. */
  startedAt: number
  /** Returns the time of the last look at the runtime. */
  lookedAt: () => number
  /** Calls `looked` at the next look, even if nothing has changed. */
  lookNext: (uid: string) => void
  /** Returns the time until statuses are next compared with the API. */
  untilReconcile: () => number
  onEnd: (uid: string) => void
}
