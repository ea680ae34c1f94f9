import { idOf } from '../pods/workload-id.ts'
import { KINDS } from '../workloads/kinds/index.ts'
import { DEPLOYMENT, deployment } from '../workloads/kinds/deployment.ts'
import { POD } from '../workloads/kinds/pod.ts'
import { STATEFUL_SET, statefulSet } from '../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { Observation } from '../../machines/pod-upgrade/context.ts'
import type { Ledger, LedgerEntry, LedgerHeader, ReadLedger } from '../journal/ledger.ts'
import type { Journal, PodView } from '../pods/glossary.ts'
import { testPod } from '../pods/testing/raw-pod.ts'
import type { Workload } from '../workloads/workload.ts'
import { assertWholeWorkload, undoing } from './undoing.ts'

const WEB_ID = { ...STATEFUL_SET, name: 'web' }

const image = (tag: string) => [{ container: 'app', image: `app:${tag}` }]
const WEB = { ...STATEFUL_SET, name: 'web', uid: 'w' }
const owner = { ...WEB, apiVersion: 'apps/v1' }
const web = {
  kind: statefulSet,
  ref: { ...STATEFUL_SET, name: 'web', namespace: 'shop' },
  uid: 'w',
  owns: (one) => one.owner?.uid === 'w',
} as Workload

function entry(pod: string, tag: string, fields: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    uid: `uid-${pod}`,
    pod,
    owner,
    targets: [],
    before: { images: image(tag), revision: `web-${tag}` },
    state: 'closed',
    ...fields,
  }
}

function ledger(run: string, at: number, entries: LedgerEntry[], header: Partial<LedgerHeader> = {}): ReadLedger {
  const read: Ledger = {
    header: {
      run,
      workloads: [{ ...WEB_ID, uid: 'w', templates: [{ of: WEB_ID, images: image('v1') }] }],
      images: image('v2'),
      startedAt: `2026-01-0${at}T00:00:00.000Z`,
      chunks: 1,
      ...header,
    },
    entries: new Map(entries.map((one) => [one.uid, one])),
  }
  return { kind: 'read', ledger: read, places: { chunkOf: new Map(), parts: [] } }
}

const pod = (name: string, uid = `uid-${name}`) => testPod({ name, uid, owner: { ...STATEFUL_SET, name: 'web', uid: 'w' } })
const containers = (tag: string) => testPod({ containers: [{ name: 'app', image: `app:${tag}` }] }).containers
const first = ledger('r1', 1, [entry('web-0', 'v0')])
const second = ledger('r2', 2, [entry('web-0', 'v1'), entry('web-1', 'v1')])

describe('which run', () => {
  test('the newest, whatever the order of the records', () => {
    expect(undoing({}, [web], [second, first], { kinds: KINDS, pods: [] }).run).toBe('r2')
    expect(undoing({}, [web], [first, second], { kinds: KINDS, pods: [] }).run).toBe('r2')
  })

  test('but no undo, and none that had nothing to do', () => {
    const undo = ledger('r3', 3, [entry('web-0', 'v2')], { undoes: 'r2' })
    const idle = ledger('r4', 4, [], { workloads: [{ ...STATEFUL_SET, name: 'web', uid: 'w' }] })
    expect(undoing({}, [web], [first, second, undo, idle], { kinds: KINDS, pods: [] }).run).toBe('r2')
    // An undo can be undone by its name.
    expect(undoing({ run: 'r3' }, [web], [first, second, undo], { kinds: KINDS, pods: [] }).imagesOf(pod('web-0'))).toEqual(
      image('v2'),
    )
  })

  test('the one that is named', () => {
    const { run, images } = undoing({ run: 'r1' }, [web], [first, second], { kinds: KINDS, pods: [] })
    expect({ run, images }).toEqual({ run: 'r1', images: image('v2') })
  })

  test.each([
    ['nothing on record', {}, [], { code: 'nothing-to-undo', workloads: ['statefulset/web'], recorded: false }],
    [
      'none that has changed anything',
      {},
      [ledger('r4', 4, [], { workloads: [{ ...STATEFUL_SET, name: 'web', uid: 'w' }] })],
      { code: 'nothing-to-undo', workloads: ['statefulset/web'], recorded: true },
    ],
    [
      'of another workload',
      {},
      [ledger('r9', 9, [], { workloads: [{ ...STATEFUL_SET, name: 'db', uid: 'd' }] })],
      { code: 'nothing-to-undo', workloads: ['statefulset/web'], recorded: false },
    ],
    [
      'a name that is not on record',
      { run: 'r7' },
      [first, second],
      { code: 'no-such-run', run: 'r7', workloads: ['statefulset/web'], known: ['r2', 'r1'] },
    ],
    [
      'one that cannot be read',
      { run: 'rx' },
      [first, { kind: 'unreadable', run: 'rx', problem: { code: 'record-not-json' }, workloads: [] } as const],
      { code: 'run-unreadable', run: 'rx', problem: { code: 'record-not-json' } },
    ],
    [
      'one that may be the newest',
      {},
      [first, { kind: 'unreadable', run: 'rx', problem: { code: 'record-not-json' }, workloads: [] } as const],
      { code: 'newest-run-unknown', workloads: ['statefulset/web'], unreadable: ['rx'] },
    ],
  ])('refused: %s', (_, request, found, reason) => {
    expect(() => undoing(request, [web], found, { kinds: KINDS, pods: [] })).toThrow(
      expect.objectContaining({ kind: 'preflight', reason }),
    )
  })

  test('refused: a record of an older sluice, which cannot say what was before', () => {
    const { before: _, ...old } = entry('web-0', 'v1', { state: 'open' })
    expect(() => undoing({}, [web], [ledger('r2', 2, [old])], { kinds: KINDS, pods: [] })).toThrow(
      expect.objectContaining({ reason: { code: 'no-images-before', run: 'r2' } }),
    )
  })

  test('control: of a pod that was gone, for which it has settled what was drained, it need not say that', () => {
    const { before: _, ...settled } = entry('web-0', 'v1')
    const undo = undoing({}, [web], [ledger('r2', 2, [settled, entry('web-1', 'v1')])], { kinds: KINDS, pods: [] })
    const inItsPlace = (tag: string) => undo.imagesOf({ ...pod('web-0', 'made-anew'), containers: containers(tag) })
    // One pod from the new template, and one that the run did not change.
    expect([undo.run, inItsPlace('v2'), inItsPlace('v0')]).toEqual(['r2', image('v1'), []])
  })
})

describe('where to', () => {
  const undo = undoing({}, [web], [second], { kinds: KINDS, pods: [] })

  test('each pod to what it had, one in the place of another to what that had, and others stay', () => {
    expect(undo.imagesOf(pod('web-0'))).toEqual(image('v1'))
    expect(undo.imagesOf(pod('web-1', 'made-anew'))).toEqual(image('v1'))
    expect(undo.imagesOf(pod('web-5'))).toEqual([])
  })

  test('and so those of a workload that was deleted and made again, whose template goes back', () => {
    const again = { ...web, uid: 'w2' }
    const { templateOf, imagesOf } = undoing({}, [again], [second], { kinds: KINDS, pods: [] })
    const made = (name: string) => testPod({ name, uid: 'made-anew', owner: { ...owner, uid: 'w2' } })
    expect(templateOf(again)).toEqual(image('v1'))
    expect([imagesOf(made('web-1')), imagesOf(made('web-5'))]).toEqual([image('v1'), []])
  })

  test('the template to what its pods had', () => {
    expect(undo.templateOf(web)).toEqual(image('v1'))
  })

  describe('the template of a run about web-0, which had v1, that has found it at v2 and set v3', () => {
    const header = { images: image('v3'), workloads: [{ ...WEB, templates: [{ of: idOf(WEB), images: image('v2') }] }] }
    const about = (entries: LedgerEntry[], workloads: LedgerHeader['workloads'] = header.workloads) =>
      ledger('r1', 1, entries, { ...header, workloads })
    const own = about([entry('web-0', 'v1')])
    const seen = (name: string, tag: string, fields: Partial<PodView> = {}, journal?: Journal): Observation => ({
      pod: { ...pod(name), containers: containers(tag), ...fields },
      stored: journal ? { kind: 'read', journal } : { kind: 'none' },
    })
    const halfDone: Journal = {
      run: 'r0',
      epoch: 1,
      attempt: 1,
      step: 'patched',
      baseline: [{ name: 'app', image: 'app:v1' }],
      targets: [],
    }
    const anew = { uid: 'made-anew' }
    const { before: _, ...settled } = entry('web-0', 'v1')

    test.each<[string, Observation[], string, ReadLedger?]>([
      ['web-1 had that, too: to that', [seen('web-1', 'v2')], 'v2'],
      ['others differ: to what it had', [seen('web-1', 'v1'), seen('web-2', 'v0')], 'v2'],
      [
        'it was gone before the run, and what came is on others than the other',
        [seen('web-0', 'v0', anew)],
        'v2',
        about([settled, entry('web-1', 'v1')]),
      ],
      ['control: others had the same', [seen('web-1', 'v1'), seen('web-2', 'v1')], 'v1'],
      ['control: it is on whatever images', [seen('web-0', 'v4')], 'v1'],
      ['control: and so what has come in its place', [seen('web-0', 'v4', anew), seen('web-1', 'v1')], 'v1'],
      ['control: web-1 has come on the new template', [seen('web-1', 'v3')], 'v1'],
      ['control: web-1 is half done, and had the same', [seen('web-1', 'v4', {}, halfDone)], 'v1'],
      ['control: web-1 is about to be made anew', [seen('web-1', 'v2', { deleting: true })], 'v1'],
      ['control: of another workload', [seen('db-0', 'v2', { owner: { ...owner, name: 'db', uid: 'd' } })], 'v1'],
    ])('%s', (_name, pods, expected, run = own) => {
      expect(undoing({}, [web], [run], { kinds: KINDS, pods: pods }).templateOf(web)).toEqual(image(expected))
    })

    test('goes back also where the run has found it at the new images: a pod on those may have been made since', () => {
      const templateWith = (...pods: Observation[]) =>
        undoing({}, [web], [about([entry('web-0', 'v1')], [WEB])], {
          kinds: KINDS,
          pods: [seen('web-0', 'v3'), ...pods],
        }).templateOf(web)
      expect([templateWith(seen('web-1', 'v3')), templateWith(seen('web-1', 'v1'))]).toEqual([image('v1'), image('v1')])
    })

    test('control: of a Deployment, whose template sluice does not write, what its pods had is all that counts', () => {
      const ref = { ...DEPLOYMENT, name: 'web', namespace: 'shop' } as const
      const other = { ...web, kind: deployment, ref } as Workload
      const run = about([entry('web-0', 'v1', { owner: { ...owner, kind: 'Deployment' } })], [{ ...WEB, ...DEPLOYMENT }])
      expect(undoing({}, [other], [run], { kinds: KINDS, pods: [seen('web-1', 'v2')] }).templateOf(other)).toEqual(image('v1'))
    })
  })

  test('a pod keeps a label of its own where it goes back to other images than the template', () => {
    expect(undo.labelOf(pod('web-0'), image('v1'))).toBeUndefined()
    expect(undo.labelOf(pod('web-0'), image('v2'))).toBe('web-v1')
    expect(undo.labelOf(pod('web-1', 'made-anew'), image('v2'))).toBe('web-v1')
  })
})

test('a pod goes back with its workload, unless it is alone', () => {
  expect(() => assertWholeWorkload([{ ...POD, name: 'web-0' }], [web])).toThrow(
    expect.objectContaining({ reason: { code: 'undo-the-workload', pod: 'web-0', workloads: ['statefulset/web'] } }),
  )
  const lone = { ref: { ...POD, name: 'lone', namespace: 'shop' }, uid: 'p' } as Workload
  expect(() => assertWholeWorkload([{ ...POD, name: 'lone' }], [lone])).not.toThrow()
})
