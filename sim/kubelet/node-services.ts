import type { Clock } from '../../src/ports/clock.ts'
import type { Random } from '../../src/ports/random.ts'
import type { Store } from '../api-server/server.ts'
import type { BackOff } from './back-off.ts'
import type { Behaviour } from './behaviour.ts'
import type { Delays } from './delays.ts'
import type { Images } from './images.ts'
import type { Process } from './process.ts'
import type { Runtime } from './runtime.ts'

/** What the pod workers of one life of a kubelet share. */
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
  /** When this life of the kubelet began. */
  startedAt: number
  /** When the runtime was looked at last. */
  lookedAt: () => number
  /** Calls `looked` at the next look, even if nothing has changed. */
  lookNext: (uid: string) => void
  /** When statuses are compared with what the API has. */
  untilReconcile: () => number
  onEnd: (uid: string) => void
}
