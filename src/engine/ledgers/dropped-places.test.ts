import { KINDS } from '../../workloads/kinds/index.ts'
import { STATEFUL_SET } from '../../workloads/kinds/stateful-set.ts'
import { expect, test } from 'vitest'
import type { Target } from '../../../adapters/contract.ts'
import type { Ledger, LedgerEntry, LedgerHeader } from '../../journal/ledger.ts'
import type { LoadBalancer } from '../request.ts'
import { entryOf } from '../testing/ledgers.ts'
import { droppedPlaces, droppedRefusals } from './dropped-places.ts'

const WEB = { ...STATEFUL_SET, name: 'web' } as const
const WORKLOADS = [{ ...WEB, uid: 'u' }]
const OWNER: NonNullable<LedgerEntry['owner']> = { ...WEB, uid: 'u', apiVersion: 'apps/v1' }

/** The ledger of one run in which each pod had an entry in each of these places, written as NAME or NAME/SCOPE. */
function ledgerOf(run: string, places: readonly string[], header: Partial<LedgerHeader> = {}, owner = OWNER): Ledger {
  const targets = places.map((place) => {
    const [loadBalancer, scope = 'web'] = place.split('/') as [string, string?]
    return { loadBalancer, target: 'web/web-0', scope, prior: 'ready', untouched: false }
  })
  const entries = ['web-0', 'web-1'].map((pod) => entryOf(pod, { targets, owner }))
  return {
    header: { run, workloads: WORKLOADS, images: [], startedAt: run, chunks: 1, ...header },
    entries: new Map(entries.map((entry) => [entry.uid, entry])),
  }
}

function balancerOf(name: string, scopes?: readonly string[]): LoadBalancer {
  const adapter = scopes === undefined ? {} : { reaches: ({ scope }: Target) => scopes.includes(scope) }
  return { name, adapterName: 'memory', port: 80, adapter } as unknown as LoadBalancer
}

function droppedOf(ledgers: Ledger[], loadBalancers: LoadBalancer[]): string[] {
  return droppedPlaces({ kinds: KINDS, ledgers, refs: [WEB], loadBalancers, pods: () => [] }).map(
    ({ place, run, pods }) => `${place.loadBalancer}/${place.scope ?? '*'}, run ${run}, ${pods} pods`,
  )
}

const EDGE = 'edge/*'

test('what the newest run that has it on record says is told, and nothing that the config has', () => {
  const ledgers = [ledgerOf('1', ['edge', 'inner']), ledgerOf('2', ['edge', 'inner']), ledgerOf('3', ['inner'])]
  expect(droppedOf(ledgers, [balancerOf('inner')])).toEqual([`${EDGE}, run 2, 2 pods`])
  expect(droppedOf(ledgers, [balancerOf('edge'), balancerOf('inner')])).toEqual([])
  // An open run whose pods are not drained counts as well.
  expect(droppedOf([ledgerOf('1', ['edge'], { finishedAt: 'then' })], [])).toEqual([`${EDGE}, run 1, 2 pods`])
})

test('one instance of several is told like a whole one', () => {
  const ledgers = [ledgerOf('1', ['edge/a', 'edge/b'])]
  expect(droppedOf(ledgers, [balancerOf('edge', ['a'])])).toEqual(['edge/b, run 1, 2 pods'])
  expect(droppedOf(ledgers, [balancerOf('edge', ['a', 'b'])])).toEqual([])
})

test('what a run has retired is asked for no more, unless a later one has used it', () => {
  const retired = [{ loadBalancer: 'edge', scope: 'web' }]
  const first = ledgerOf('1', ['edge'])
  const second = ledgerOf('2', ['inner'], { retired })
  expect(droppedOf([first, second], [balancerOf('inner')])).toEqual([])
  expect(droppedOf([first, second, ledgerOf('3', ['edge'])], [balancerOf('inner')])).toEqual([`${EDGE}, run 3, 2 pods`])
  // A run that goes on had the place on record before it was retired.
  expect(droppedOf([ledgerOf('1', ['edge'], { retired })], [])).toEqual([])
  // Control: another part of the load balancer was retired.
  const other = ledgerOf('2', ['inner'], { retired: [{ loadBalancer: 'edge', scope: 'api' }] })
  expect(droppedOf([first, other], [balancerOf('inner')])).toEqual([`${EDGE}, run 1, 2 pods`])
})

test('what only pods of another workload had is no concern of this one', () => {
  const both = { workloads: [...WORKLOADS, { ...STATEFUL_SET, name: 'api', uid: 'a' }] }
  const api = { ...OWNER, name: 'api', uid: 'a' }
  expect(droppedOf([ledgerOf('1', ['edge'], both, api)], [])).toEqual([])
  expect(droppedOf([ledgerOf('1', ['edge'], both)], [])).toEqual([`${EDGE}, run 1, 2 pods`])
  expect(droppedOf([ledgerOf('1', ['edge'], { workloads: [both.workloads[1]!] }, api)], [])).toEqual([])
})

test('the refusal names load balancer and run', () => {
  const dropped = droppedPlaces({
    kinds: KINDS,
    ledgers: [ledgerOf('r7', ['edge'])],
    refs: [WEB],
    loadBalancers: [],
    pods: () => [],
  })
  expect(droppedRefusals(dropped, [WEB])).toEqual([
    {
      code: 'load-balancer-dropped',
      loadBalancer: 'edge',
      places: [{ loadBalancer: 'edge' }],
      run: 'r7',
      pods: 2,
      workloads: ['statefulset/web'],
    },
  ])
})
