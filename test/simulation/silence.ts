import type { Transport, TransportRequest } from '../../src/kube/transport.ts'
import { TransportError } from '../../src/kube/transport.ts'
import type { Host } from './host.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * A way to the API server on which for a while nothing comes through; nobody is told, and what was sent arrives after it. Or nothing of
 * the watches alone: their server is dead, and who asks anew is answered by another.
 */
export interface QuietWay {
  transport: Transport
  silence(forMs: number, what: Silenced): void
}

export type Silenced = 'everything' | 'watches'

export function quietWay(transport: Transport, { scheduler, host }: { scheduler: Scheduler; host: Host }): QuietWay {
  const silentUntil = { everything: 0, watches: 0 }

  function through(run: () => void, what: Silenced = 'everything'): void {
    const leftMs = silentUntil[what] - scheduler.now()
    if (leftMs <= 0) run()
    else scheduler.after(leftMs, () => host.deliver(run))
  }

  function send(request: TransportRequest): ReturnType<Transport['send']> {
    return new Promise((resolve, reject) => {
      request.signal?.addEventListener('abort', () => reject(new TransportError('given up', { bytesLeft: true })))
      through(() =>
        transport.send(request).then(
          (answer) => through(() => resolve(answer)),
          (error: unknown) => through(() => reject(error as Error)),
        ),
      )
    })
  }

  function stream(...[request, onLine, onOpen]: Parameters<Transport['stream']>): ReturnType<Transport['stream']> {
    return new Promise((resolve, reject) => {
      request.signal?.addEventListener('abort', () => reject(new TransportError('given up', { bytesLeft: true })))
      const isWanted = (): boolean => request.signal?.aborted !== true
      through(() => {
        if (!isWanted()) return
        transport
          .stream(
            request,
            (line) => through(() => isWanted() && onLine(line), 'watches'),
            () => through(() => isWanted() && onOpen?.(), 'watches'),
          )
          .then(
            (answer) => through(() => resolve(answer)),
            (error: unknown) => through(() => reject(error as Error)),
          )
      })
    })
  }

  return {
    transport: { send, stream, close: () => transport.close() },
    silence(forMs, what) {
      silentUntil.watches = scheduler.now() + forMs
      if (what === 'everything') silentUntil.everything = scheduler.now() + forMs
    },
  }
}
