import type { Transport, TransportRequest } from '../../src/kube/transport.ts'
import { TransportError } from '../../src/kube/transport.ts'
import type { Host } from './host.ts'
import type { Scheduler } from './scheduler.ts'

/**
 * A path to the API server that can be silent for a while: the requests arrive after the silence, without an error. Or only the open
 * watches are silent: their server is dead, and another server answers new requests.
 */
export interface QuietWay {
  transport: Transport
  silence(forMs: number, what: Silenced): void
}

export type Silenced = 'everything' | 'open watches'

export function quietWay(transport: Transport, { scheduler, host }: { scheduler: Scheduler; host: Host }): QuietWay {
  let silentUntil = 0
  const openWatches = new Set<{ silentUntil: number }>()

  function through(run: () => void, until = silentUntil): void {
    const leftMs = until - scheduler.now()
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
    const own = { silentUntil: 0 }
    const come = (run: () => void): void => through(run, Math.max(silentUntil, own.silentUntil))
    const comeIfWanted = (run: () => void): void => come(() => request.signal?.aborted !== true && run())
    openWatches.add(own)
    return new Promise<Awaited<ReturnType<Transport['stream']>>>((resolve, reject) => {
      request.signal?.addEventListener('abort', () => reject(new TransportError('given up', { bytesLeft: true })))
      comeIfWanted(() =>
        transport
          .stream(
            request,
            (line) => comeIfWanted(() => onLine(line)),
            () => comeIfWanted(() => onOpen?.()),
          )
          .then(
            (answer) => come(() => resolve(answer)),
            (error: unknown) => come(() => reject(error as Error)),
          ),
      )
    }).finally(() => openWatches.delete(own))
  }

  return {
    transport: { send, stream, close: () => transport.close() },
    silence(forMs, what) {
      const until = scheduler.now() + forMs
      if (what === 'everything') silentUntil = until
      else for (const watch of openWatches) watch.silentUntil = until
    },
  }
}
