import { withSignal } from '../kube/with-signal.ts'
import type { RunPorts } from './request.ts'

/** The ports of a run during its preparation. The signal ends every call and every look. */
export interface PreparingPorts {
  ports: RunPorts
  /** Ends the effect of the signal, once the run is prepared. */
  release(): void
}

export function untilPrepared(ports: RunPorts, signal: AbortSignal): PreparingPorts {
  let isPrepared = false
  const { client, observation } = ports
  return {
    ports: {
      ...ports,
      client: withSignal(client, () => (isPrepared ? undefined : signal)),
      observation: {
        scope: observation.scope,
        ports: observation.ports,
        get size() {
          return observation.size
        },
        open: (request, user, own) => observation.open(request, user, isPrepared ? own : signal),
      },
    },
    release() {
      isPrepared = true
    },
  }
}
