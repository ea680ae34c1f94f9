import { giveOrder, liftPause } from '../../src/engine/orders/give-order.ts'
import { readOpenRuns } from '../../src/engine/orders/open-runs.ts'
import type { RunRequest } from '../../src/engine/request.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { KubeError } from '../../src/kube/errors.ts'
import { pause } from '../../src/kube/pause.ts'
import type { Host } from './host.ts'

/** The delay before a command without an answer of the API server is tried again. */
const AGAIN_MS = 2_000
const MOST_TRIES = 5

/** An operator that gives short commands on a machine of its own. */
export interface Person {
  pause(): void
  resume(): void
}

export interface PersonOptions {
  host: Host
  client: KubeClient
  request: Pick<RunRequest, 'namespace' | 'select'>
}

export function createPerson({ host, client, request }: PersonOptions): Person {
  const { namespace } = request

  async function order(what: 'pause' | 'resume'): Promise<void> {
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      try {
        const open = await readOpenRuns(client, request)
        if (open.runs.length === 0) return
        if (what === 'pause') await giveOrder(open, { order: 'pause', by: host.name }, { client, namespace })
        else await liftPause(open, { client, namespace })
        return
      } catch (error) {
        // A refusal is final: an abort is under way, or the workload does not exist.
        if (!(error instanceof KubeError)) return
        await pause(host.clock, AGAIN_MS)
      }
    }
  }

  return {
    pause: () => host.deliver(() => void order('pause')),
    resume: () => host.deliver(() => void order('resume')),
  }
}
