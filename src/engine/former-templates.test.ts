import { expect, test } from 'vitest'
import type { Ledger } from '../journal/ledger.ts'
import type { Workload } from '../workloads/workload.ts'
import { putBackAfterAbort } from './former-templates.ts'
import { entryOf } from './testing/ledgers.ts'
import type { World } from './world.ts'

const WEB = { kind: 'StatefulSet', name: 'web', uid: 'w' }
const OWNER = { ...WEB, apiVersion: 'apps/v1' }
const image = (tag: string) => [{ container: 'app', image: `app:${tag}` }]

/** A run to `to` on pods that had v1, which has found the template at `from`. */
function ledger(run: string, from: string, to: string): Ledger {
  const entry = entryOf('web-0', { owner: OWNER, before: { images: image('v1') } })
  const workloads = [{ ...WEB, before: image(from) }]
  return { header: { run, workloads, images: image(to), startedAt: '', chunks: 1 }, entries: new Map([[entry.uid, entry]]) }
}

test('what a run has set that is ended with this one is nobody else’s edit', async () => {
  const asked: unknown[] = []
  const workload: Partial<Workload> = {
    uid: WEB.uid,
    async putBack(former, set) {
      asked.push(former, set)
      return { kind: 'done' }
    },
  }
  const world = { workloads: [{ workload }] } as unknown as World
  // The second was killed, or refused, before it had written the template.
  const [first, second] = [ledger('r1', 'v1', 'v2'), ledger('r2', 'v2', 'v3')]
  const { signal } = new AbortController()
  await putBackAfterAbort({ ledger: second, ended: [first], world, signal, isOwned: async () => true, tell() {} })
  expect(asked).toEqual([image('v1'), [...image('v3'), ...image('v2')]])
})
