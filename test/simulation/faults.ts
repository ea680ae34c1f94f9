import type { TransportRequest, TransportResponse } from '../../src/kube/transport.ts'
import type { SeededRandom } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** The faults of a request, a watch or a call. incidents.ts has the incidents in the world. */
export const WIRE_FAULTS = [
  'api-refused',
  'api-request-lost',
  'api-reply-lost',
  'api-delayed',
  'api-duplicated',
  'api-409',
  'api-422',
  'api-429',
  'api-500',
  'api-504-after',
  'watch-unanswered',
  'watch-cut',
  'watch-closed',
  'watch-gone',
  'watch-lag',
  'watch-old-version',
  'watch-malformed',
  'lb-refused',
  'lb-request-lost',
  'lb-reply-lost',
  'lb-late',
  'lb-duplicated',
] as const
export type WireFault = (typeof WIRE_FAULTS)[number]

/** With `silent`, no answer comes until the caller gives up. Otherwise the connection breaks. */
interface Lost {
  silent: boolean
  delayMs: number
  againAfterMs: number
}
export type RequestFault =
  | ({ kind: 'none' | 'refused' | 'request-lost' | 'reply-lost' | 'delayed' | 'duplicated' } & Lost)
  | ({ kind: 'status' | 'failed-after'; answer: TransportResponse } & Lost)
export type CallFault = { kind: 'none' | 'refused' | 'request-lost' | 'reply-lost' | 'late' | 'duplicated' } & Lost
export type LineFault = 'cut' | 'closed' | 'gone' | 'malformed' | 'old-version'

export interface Faults {
  onRequest(request: TransportRequest): RequestFault
  /** The faults of a watch. `isUnanswered` is called once, at its arrival. */
  onWatch(): { isUnanswered(): boolean; lagMs(): number; onLine(): LineFault | undefined }
  /** Registers a watch. `cut` is called when the API server goes down. */
  onWatchOpen(cut: () => void): void
  onCall(balancer: string, name: string): CallFault
  apiServerIsUp(): boolean
  /** The refusal of all requests for a moment after the start of the API server: it does not know the rights yet (measured). */
  unauthorized(request: TransportRequest): TransportResponse | undefined
  balancerIsUp(balancer: string): boolean
  stopApiServer(forMs: number): void
  stopBalancer(balancer: string, forMs: number): void
  /** Ends all faults. */
  calm(): void
}

export interface FaultOptions {
  scheduler: Scheduler
  random: SeededRandom
  /** The kinds of faults of this seed, with the probability of a fault at each chance. */
  kinds: ReadonlySet<WireFault>
  rate: number
  /** The longest time that a call to a load balancer may be under way, in milliseconds. */
  longestCallMs: number
  hit(fault: string, detail: string): void
}

const NOTHING: Lost = { silent: false, delayMs: 0, againAfterMs: 0 }

export function createFaults({ scheduler, random, kinds, rate, longestCallMs, hit }: FaultOptions): Faults {
  let isCalm = false
  let apiDownUntil = -1
  let unauthorizedUntil = -1
  const balancerDownUntil = new Map<string, number>()
  let cuts: (() => void)[] = []
  const present = (prefix: string): WireFault[] => [...kinds].filter((kind) => kind.startsWith(prefix))
  const api = present('api-')
  const watch = present('watch-').filter((kind) => kind !== 'watch-lag' && kind !== 'watch-unanswered')
  const unanswered = present('watch-unanswered')
  const lb = present('lb-')
  const lags = kinds.has('watch-lag')

  function draw(from: readonly WireFault[]): WireFault | undefined {
    return !isCalm && from.length > 0 && random.chance(rate) ? random.pick(from) : undefined
  }

  return {
    onRequest({ method, path }) {
      const kind = draw(api)
      if (kind === undefined) return { kind: 'none', ...NOTHING }
      // A repeated read has no effect, and the API does not refuse reads this way.
      const writes = method !== 'GET'
      if (!writes && (kind === 'api-duplicated' || kind === 'api-409' || kind === 'api-422')) return { kind: 'none', ...NOTHING }
      hit(kind, `${method} ${path}`)
      const lost: Lost = { silent: random.chance(0.3), delayMs: 0, againAfterMs: random.between(0, 5_000) }
      switch (kind) {
        case 'api-refused':
          return { ...lost, kind: 'refused' }
        case 'api-request-lost':
          return { ...lost, kind: 'request-lost' }
        case 'api-reply-lost':
          return { ...lost, kind: 'reply-lost' }
        case 'api-delayed':
          return { ...lost, kind: 'delayed', delayMs: random.between(50, 25_000) }
        case 'api-duplicated':
          return { ...lost, kind: 'duplicated' }
        case 'api-409':
          return { ...lost, kind: 'status', answer: status(409, 'Conflict', 'the object has been modified') }
        case 'api-422':
          return {
            ...lost,
            kind: 'status',
            answer: status(422, 'Invalid', 'the server rejected our request due to an error in our request'),
          }
        case 'api-429':
          return { ...lost, kind: 'status', answer: status(429, 'TooManyRequests', 'too many requests', { 'retry-after': '1' }) }
        case 'api-500':
          return { ...lost, kind: 'status', answer: status(500, 'InternalError', 'etcdserver: request timed out') }
        default:
          return {
            ...lost,
            kind: 'failed-after',
            answer: status(504, 'Timeout', 'request did not complete within requested timeout'),
          }
      }
    },

    onWatch: () => ({
      isUnanswered() {
        const kind = draw(unanswered)
        if (kind !== undefined) hit(kind, '')
        return kind !== undefined
      },
      lagMs() {
        if (!lags || isCalm || !random.chance(0.2)) return 0
        hit('watch-lag', '')
        return random.between(10, 4_000)
      },
      onLine() {
        const kind = draw(watch)
        if (kind === undefined) return undefined
        hit(kind, '')
        return kind.slice('watch-'.length) as LineFault
      },
    }),
    onWatchOpen: (cut) => void cuts.push(cut),

    onCall(balancer, name) {
      const kind = draw(lb)
      if (kind === undefined) return { kind: 'none', ...NOTHING }
      hit(kind, `${balancer} ${name}`)
      const lost: Lost = { silent: random.chance(0.5), delayMs: 0, againAfterMs: random.between(0, 3_000) }
      if (kind === 'lb-late') return { ...lost, kind: 'late', delayMs: random.between(100, longestCallMs) }
      return { ...lost, kind: kind.slice('lb-'.length) as CallFault['kind'] }
    },

    apiServerIsUp: () => scheduler.now() >= apiDownUntil,
    unauthorized({ method, path }) {
      if (scheduler.now() >= unauthorizedUntil) return undefined
      const [, plural] = /\/namespaces\/[^/]+\/([^/?]+)/.exec(path) ?? [undefined, 'selfsubjectaccessreviews']
      const verb = method === 'GET' ? 'get' : method.toLowerCase()
      return status(403, 'Forbidden', `${plural} is forbidden: User "sluice" cannot ${verb} resource "${plural}"`)
    },
    balancerIsUp: (balancer) => scheduler.now() >= (balancerDownUntil.get(balancer) ?? -1),
    stopApiServer(forMs) {
      apiDownUntil = scheduler.now() + forMs
      unauthorizedUntil = forMs > 0 ? apiDownUntil + random.between(0, 600) : apiDownUntil
      const broken = cuts
      cuts = []
      for (const cut of broken) cut()
    },
    stopBalancer: (balancer, forMs) => void balancerDownUntil.set(balancer, scheduler.now() + forMs),
    calm() {
      isCalm = true
    },
  }
}

function status(code: number, reason: string, message: string, headers: Record<string, string> = {}): TransportResponse {
  const text = JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code })
  return { status: code, headers: { 'content-type': 'application/json', ...headers }, text }
}
