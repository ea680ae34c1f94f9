import type { RunEvent } from '../../engine/events.ts'
import type { PreparedRun } from '../../engine/run.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Sluice } from '../../library/create-sluice.ts'
import { startRun } from '../../library/run.ts'

/** A run that a test makes up. */
export type FakeRun = Pick<PreparedRun, 'plan' | 'execute'> & Partial<Pick<PreparedRun, 'holders' | 'interrupt' | 'close'>>

export interface FakeSluiceOptions {
  prepare(emit: (event: RunEvent) => void): Promise<FakeRun>
  client?: KubeClient
  close?(): Promise<void>
}

/** Returns the library with a made-up engine. The handles of the library are real. */
export function createFakeSluice({ prepare, client = {} as KubeClient, close }: FakeSluiceOptions): Sluice {
  const closing: Promise<void>[] = []

  async function prepared(emit: (event: RunEvent) => void): Promise<PreparedRun> {
    const made = await prepare(emit)
    return { holders: [], interrupt() {}, close: async () => {}, order: async () => {}, hear: async () => {}, ...made }
  }

  const fake: Pick<Sluice, 'cluster' | 'plan' | 'upgrade' | 'close'> = {
    cluster: { client, namespace: 'shop', close: async () => {} },
    async plan(request, { onEvent = () => {} } = {}) {
      const { plan, holders } = await prepared(onEvent)
      return { ...plan, holders, request }
    },
    upgrade: (request, options) =>
      startRun(
        {
          request: request as object,
          prepare: ({ onEvent }) => prepared(onEvent),
          accept: () => {},
          by: 'ann@desk',
          onEvent: () => {},
          onEnd: (one) => void closing.push(one),
        },
        options,
      ),
    async close() {
      await Promise.all(closing)
      await close?.()
    },
  }
  return fake as Sluice
}
