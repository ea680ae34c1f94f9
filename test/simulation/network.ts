import { type Transport, TransportError, type TransportRequest, type TransportResponse } from '../../src/kube/transport.ts'
import type { Faults } from './faults.ts'
import type { Host } from './host.ts'
import type { SeededRandom } from './random.ts'
import type { Scheduler } from './scheduler.ts'
import type { World } from './world.ts'

export interface NetworkOptions {
  scheduler: Scheduler
  random: SeededRandom
  host: Host
  world: Pick<World, 'server' | 'arrive'>
  faults: Faults
}

/** The network between a process and the API server, with its faults. A request that has left arrives, even from a dead process. */
export function createNetwork({ scheduler, random, host, world, faults }: NetworkOptions): Transport {
  const { server } = world
  const tripMs = (): number => random.between(0.3, 3)

  function arrive({ method, path, headers, body }: TransportRequest, leftAt: number): TransportResponse {
    return world.arrive({ method, path, headers, ...(body === undefined ? {} : { body }) }, host.name, leftAt)
  }

  function send(request: TransportRequest): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      const fault = faults.onRequest(request)
      let left = false
      request.signal?.addEventListener('abort', () => reject(new TransportError('given up', { bytesLeft: left })))
      const lose = (afterMs: number, bytesLeft: boolean): void =>
        void scheduler.after(afterMs, () => host.deliver(() => reject(new TransportError('connection reset', { bytesLeft }))))
      const answer = (response: TransportResponse): void =>
        void scheduler.after(tripMs(), () => host.deliver(() => resolve(response)))

      // While the API server is down, the connection is refused, or a gateway before it answers.
      const isRefused = !faults.apiServerIsUp() && random.chance(0.7)
      if (fault.kind === 'refused' || isRefused) return lose(tripMs(), false)
      left = true
      const leftAt = scheduler.now()
      if (fault.kind === 'request-lost') return fault.silent ? undefined : lose(tripMs(), true)
      if (fault.kind === 'status') return answer(fault.answer)
      scheduler.after(tripMs() + fault.delayMs, () => {
        if (!faults.apiServerIsUp()) return lose(tripMs(), true)
        const unauthorized = faults.unauthorized(request)
        if (unauthorized !== undefined) return answer(unauthorized)
        const response = arrive(request, leftAt)
        if (fault.kind === 'duplicated') scheduler.after(tripMs() + fault.againAfterMs, () => arrive(request, leftAt))
        if (fault.kind === 'reply-lost') return fault.silent ? undefined : lose(tripMs(), true)
        answer(fault.kind === 'failed-after' ? fault.answer : response)
      })
      return undefined
    })
  }

  function stream(
    request: TransportRequest,
    onLine: (line: string) => void,
    onOpen: () => void = () => {},
  ): Promise<TransportResponse> {
    return new Promise((resolve, reject) => {
      const plan = faults.onWatch()
      let ended = false
      let close = (): void => {}
      /** The time of the last line. Lines keep their order, regardless of their delays. */
      let lastAt = 0

      function end(finish: () => void): void {
        if (ended) return
        ended = true
        close()
        finish()
      }
      const cut = (why: string): void => end(() => reject(new TransportError(why, { bytesLeft: true })))
      request.signal?.addEventListener('abort', () => cut('given up'))

      function deliver(line: string): void {
        deliverInOrder(() => onLine(line), plan.lagMs())
      }

      function deliverInOrder(take: () => void, lagMs = 0): void {
        const at = Math.max(lastAt, scheduler.now() + tripMs() + lagMs)
        lastAt = at
        scheduler.after(at - scheduler.now(), () => {
          if (!host.isAlive()) return close()
          host.deliver(() => {
            if (!ended) take()
          })
        })
      }

      const seen: string[] = []
      /** True after a lost line: the lines after it are lost too. */
      let isBroken = false
      scheduler.after(tripMs(), () => {
        if (!host.isAlive() || ended || plan.isUnanswered()) return
        if (!faults.apiServerIsUp()) return void scheduler.after(tripMs(), () => host.deliver(() => cut('connection reset')))
        const unauthorized = faults.unauthorized(request)
        if (unauthorized !== undefined)
          return void scheduler.after(tripMs(), () => host.deliver(() => end(() => resolve(unauthorized))))
        const watching = server.watch(
          { method: 'GET', path: request.path, headers: request.headers },
          {
            line(text) {
              if (isBroken) return
              const fault = plan.onLine()
              isBroken = fault === 'cut' || fault === 'gone' || fault === 'closed'
              switch (fault) {
                case 'cut':
                  scheduler.after(tripMs(), () => host.deliver(() => cut('connection reset')))
                  return
                case 'gone':
                  server.compact()
                  scheduler.after(tripMs(), () => host.deliver(() => cut('connection reset')))
                  return
                case 'closed':
                  this.end()
                  return
                case 'malformed':
                  deliver(`${text.slice(0, Math.floor(text.length / 2))}`)
                  return
                case 'old-version': {
                  deliver(text)
                  const old = seen[Math.floor(random.next() * seen.length)]
                  if (old !== undefined) deliver(old)
                  return
                }
                case undefined:
                  seen.push(text)
                  deliver(text)
              }
            },
            end() {
              const at = Math.max(lastAt, scheduler.now() + tripMs())
              scheduler.after(at - scheduler.now(), () =>
                host.deliver(() => end(() => resolve({ status: 200, headers: {}, text: '' }))),
              )
            },
          },
          host.name,
        )
        if (watching.kind === 'refused') {
          const { answer } = watching
          scheduler.after(tripMs(), () => host.deliver(() => end(() => resolve(answer))))
          return
        }
        close = watching.close
        faults.onWatchOpen(cutLater)
        deliverInOrder(onOpen)
      })
      /** Breaks the stream, as all streams break when the API server goes down. */
      function cutLater(): void {
        scheduler.after(tripMs(), () => host.deliver(() => cut('connection reset')))
      }
      return undefined
    })
  }

  return { send, stream, close: () => Promise.resolve() }
}
