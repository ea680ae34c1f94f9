import { idOf } from '../pods/workload-id.ts'
import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { Reason } from '../reasons/reason.ts'
import type { Ledger } from '../journal/ledger.ts'
import type { ContainerImage, Journal, PodView } from '../pods/glossary.ts'
import type { Workload } from '../workloads/workload.ts'
import type { RunEventBody } from './events.ts'
import { mixedAfterAbort, putBackAfterAbort, putBackAfterRollback } from './former-templates.ts'
import { entryOf } from './testing/ledgers.ts'
import type { World } from './world.ts'

const WEB = { ...STATEFUL_SET, name: 'web', uid: 'w' }
const OWNER = { ...WEB, apiVersion: 'apps/v1' }
const image = (tag: string) => [{ container: 'app', image: `app:${tag}` }]

const NO_PODS = { store: { all: () => [] }, beside: { all: () => [] } }

/** A run to `to` on pods that had v1. It found the template at `from`. */
function ledger(run: string, from: string, to: string): Ledger {
  const entry = entryOf('web-0', { owner: OWNER, before: { images: image('v1') } })
  const workloads = [{ ...WEB, templates: [{ of: idOf(WEB), images: image(from) }] }]
  return { header: { run, workloads, images: image(to), startedAt: '', chunks: 1 }, entries: new Map([[entry.uid, entry]]) }
}

describe('the template goes back to what it had before all runs that are ended', () => {
  type Images = Record<string, string>
  const listed = (images: Images): ContainerImage[] =>
    Object.entries(images).map(([container, tag]) => ({ container, image: `${container}:${tag}` }))

  /** `before`: the images of the changed containers in the template. `had`: the images of the pods of the run. */
  function runOf(id: string, before: Images | undefined, images: ContainerImage[], had: Images[]): Ledger {
    const pods = had.map((each, index) => ({
      ...entryOf(`web-${index}`, { owner: OWNER, before: { images: listed(each) } }),
      uid: `u${index}`,
    }))
    const workloads = [{ ...WEB, ...(before ? { templates: [{ of: idOf(WEB), images: listed(before) }] } : {}) }]
    return {
      header: { run: id, workloads, images, startedAt: '', chunks: 1 },
      entries: new Map(pods.map((entry) => [entry.uid, entry])),
    }
  }

  function run(id: string, from: string, to: string, had: string[]): Ledger {
    const pods = had.map((app) => ({ app }))
    return runOf(id, { app: from }, image(to), pods)
  }

  /** The images that the template gets from an abort of these runs, the newest first. */
  async function afterAbort(newest: Ledger, ...ended: Ledger[]): Promise<unknown> {
    const given: unknown[] = []
    const workload: Partial<Workload> = {
      uid: WEB.uid,
      async putBack(former) {
        given.push(former)
        return { kind: 'done' }
      },
    }
    const world = { workloads: [{ workload }], ...NO_PODS } as unknown as World
    const { signal } = new AbortController()
    await putBackAfterAbort({ ledger: newest, ended, world, signal, isOwned: async () => true, fence: 'r9/1', tell() {} })
    expect(given).toHaveLength(1)
    return given[0]
  }

  test('where no image is that of all pods', async () => {
    // The first run reached one pod of three, and set the template.
    const first = run('r1', 'v3', 'v1', ['v3', 'v3', 'v2'])
    const second = run('r2', 'v1', 'v2', ['v3', 'v3', 'v1'])
    expect(await afterAbort(second, first)).toEqual(image('v3'))
    expect(await afterAbort(second), 'control: of the newest alone, it is what that has found').toEqual(image('v1'))
  })

  test('where the newest was only about the pods that one before it has come to', async () => {
    const first = run('r1', 'v1', 'v2', ['v1', 'v1'])
    const undo = run('r2', 'v2', 'v1', ['v2'])
    expect(await afterAbort(undo, first)).toEqual(image('v1'))
    expect(await afterAbort(undo), 'control: of the newest alone, it is what its pods had').toEqual(image('v2'))
  })

  test('also where yet another came to no pod in between', async () => {
    const first = run('r1', 'v1', 'v2', ['v1', 'v1'])
    const second = run('r2', 'v2', 'v3', ['v2', 'v1'])
    const third = run('r3', 'v3', 'v1', ['v2'])
    expect(await afterAbort(third, second, first)).toEqual(image('v1'))
    expect(await afterAbort(third, second), 'control: what none of these has set').toEqual(image('v2'))
  })

  test('where an undo before it took its pods to different ones', async () => {
    const undo = runOf('r2', { app: 'v3' }, [...image('v2'), ...image('v1')], [{ app: 'v3' }, { app: 'v3' }])
    const newest = run('r3', 'v1', 'v4', ['v2', 'v3'])
    expect(await afterAbort(newest, undo)).toEqual(image('v3'))
    // The run has changed nothing in the template.
    const again = runOf('r3', undefined, image('v1'), [{ app: 'v2' }, { app: 'v3' }])
    expect(await afterAbort(again, undo)).toEqual(image('v3'))
  })

  describe('also a container that only one before the newest has changed', () => {
    const [old, half] = [
      { app: 'v1', proxy: 'p1' },
      { app: 'v2', proxy: 'p2' },
    ]
    /** The run reached one pod of two. */
    const first = runOf('r1', old, listed(half), [old, old])

    test('where the newest found it as it wants it', async () => {
      const second = runOf('r2', { app: 'v2' }, listed({ app: 'v3', proxy: 'p2' }), [old, half])
      expect(await afterAbort(second, first)).toEqual(listed(old))
      expect(await afterAbort(second), 'control: of the newest alone').toEqual(listed({ app: 'v2' }))
    })

    test('where the newest changed one that the run before did not ask for', async () => {
      const app = run('r1', 'v1', 'v2', ['v1', 'v1'])
      const second = runOf('r2', { proxy: 'p1' }, listed(half), [old, { app: 'v2', proxy: 'p1' }])
      expect(await afterAbort(second, app)).toEqual(expect.arrayContaining(listed(old)))
    })

    test('where yet another came to no pod in between, nor to the template', async () => {
      const second = runOf('r2', half, listed({ app: 'v3', proxy: 'p3' }), [half, old])
      const third = runOf('r3', undefined, listed(half), [half, old])
      expect(await afterAbort(third, second, first)).toEqual(listed(old))
    })

    test.each([
      ['and changed the other', { app: 'v2' }, 'v3'],
      ['and nothing else', undefined, 'v2'],
    ])('where the newest does not ask for it, %s', async (_, before, to) => {
      const second = runOf('r2', before, image(to), [{ app: 'v1' }, { app: 'v2' }])
      expect(await afterAbort(second, first)).toEqual(listed(old))
    })

    test('control: not where somebody has edited it, and the newest found it so', async () => {
      const second = runOf('r2', { app: 'v2' }, listed({ app: 'v3', proxy: 'p9' }), [old, half])
      expect(await afterAbort(second, first)).toEqual(image('v1'))
    })
  })
})

test('what a run has set that is ended with this one is nobody else’s edit', async () => {
  const asked: unknown[] = []
  const workload: Partial<Workload> = {
    uid: WEB.uid,
    async putBack(former, set) {
      asked.push(former, set)
      return { kind: 'done' }
    },
  }
  const world = { workloads: [{ workload }], ...NO_PODS } as unknown as World
  // The second run was killed, or refused, before it wrote the template.
  const [first, second] = [ledger('r1', 'v1', 'v2'), ledger('r2', 'v2', 'v3')]
  const { signal } = new AbortController()
  await putBackAfterAbort({ ledger: second, ended: [first], world, signal, isOwned: async () => true, fence: 'r2/1', tell() {} })
  expect(asked).toEqual([image('v1'), [...image('v3'), ...image('v2')]])
})

describe('a template that the newest run has found as one before it had set it, which is ended with it', () => {
  const api = { ...STATEFUL_SET, name: 'api', uid: 'a' }
  /** A run of both workloads that was killed after it wrote the templates. */
  const first = ledger('r1', 'v1', 'v2')
  first.header.workloads.push({ ...api, templates: [{ of: { ...STATEFUL_SET, name: 'api' }, images: image('v1') }] })

  async function abort(found: Partial<Ledger['header']>, uids: string[]) {
    const asked: unknown[] = []
    const workload = (uid: string): Partial<Workload> => ({
      uid,
      ref: { ...WEB, namespace: 'default' } as Workload['ref'],
      async putBack(former) {
        asked.push([uid, former])
        return { kind: 'done' }
      },
    })
    const second = ledger('r2', 'v2', 'v2')
    Object.assign(second.header, found)
    const world = { workloads: uids.map((uid) => ({ workload: workload(uid) })), ...NO_PODS } as unknown as World
    const { signal } = new AbortController()
    const left = await putBackAfterAbort({
      ledger: second,
      ended: [first],
      world,
      signal,
      isOwned: async () => true,
      fence: 'r2/1',
      tell() {},
    })
    return { asked, left }
  }
  const notPart = { code: 'template-of-another-run', workload: 'statefulset/web' }

  // That run stays open for the other workload, or another run has it, or it is gone.
  test('goes back too, and of one that is not had nothing is said', async () => {
    expect(await abort({ workloads: [WEB] }, ['w'])).toEqual({ asked: [['w', image('v1')]], left: [] })
  })

  test('control: somebody has given it other images in between', async () => {
    expect(await abort({ workloads: [WEB], images: image('v3') }, ['w'])).toEqual({ asked: [], left: [] })
  })

  test('control: it was deleted and made again in between', async () => {
    expect(await abort({ workloads: [{ ...WEB, uid: 'w2' }] }, ['w2'])).toEqual({ asked: [], left: [] })
  })

  test('control: and after both', async () => {
    expect(await abort({ workloads: [WEB] }, ['w2'])).toEqual({ asked: [], left: [notPart] })
  })
})

describe('pods that the request is not about', () => {
  interface Seen {
    pod: Pick<PodView, 'uid' | 'name' | 'deleting' | 'ready' | 'containers'>
    stored: { kind: 'none' } | { kind: 'read'; journal: Journal }
  }

  const seen = (name: string, tag: string, journal?: Journal): Seen => ({
    pod: {
      uid: `uid of ${name}`,
      name,
      deleting: false,
      ready: true,
      containers: [{ name: 'app', image: `app:${tag}` }] as PodView['containers'],
    },
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

  const brought: Journal = { ...halfDone, step: 'closed' }

  /** A run to v3 about web-0, which had v1. It found the template at v2. */
  const run = ledger('r1', 'v2', 'v3')
  const { signal } = new AbortController()
  const isOwned = async (): Promise<boolean> => true

  function worldOf(own: Seen, others: Seen[], by = 'label') {
    const given: unknown[] = []
    const workload: Partial<Workload> = {
      uid: WEB.uid,
      owns: () => true,
      async putBack(former) {
        given.push(former)
        return { kind: 'done' }
      },
    }
    const world = {
      workloads: [{ workload, assessment: { images: image('v3') } }],
      // In a run by name the store has all pods of the workload.
      store: { all: () => (by === 'label' ? [own] : [own, ...others]) },
      beside: { all: () => others },
    } as unknown as World
    return { world, given }
  }

  describe.each(['label', 'name'])('by %s', (by) => {
    test.each<[string, Seen[], string]>([
      ['run what the template had: it gets that', [seen('web-1', 'v2'), seen('web-2', 'v2')], 'v2'],
      ['differ among themselves: it gets what it had', [seen('web-1', 'v1'), seen('web-2', 'v0')], 'v2'],
      ['control: had the same', [seen('web-1', 'v1')], 'v1'],
      ['control: one was made anew since', [seen('web-1', 'v1'), seen('web-2', 'v3')], 'v1'],
      ['of which one was brought to v3 before: it gets what it had', [seen('web-1', 'v1'), seen('web-2', 'v3', brought)], 'v2'],
      ['control: one is half done, and had the same', [seen('web-1', 'v2', halfDone)], 'v1'],
    ])('%s', async (_, others, expected) => {
      const aborted = worldOf(seen('web-0', 'v3'), others, by)
      await putBackAfterAbort({ ledger: run, ended: [], world: aborted.world, signal, isOwned, fence: 'r1/1', tell() {} })
      expect(aborted.given).toEqual([image(expected)])
      if (others.some(({ pod }) => pod.containers[0]!.image === 'app:v3')) return
      const rolledBack = worldOf(seen('web-0', 'v1'), others, by)
      await putBackAfterRollback({ ledger: run, ended: [], failed: [], world: rolledBack.world, signal, isOwned, tell() {} })
      expect(rolledBack.given).toEqual([image(expected)])
    })

    test('control: one that the run is about is known by what it had, whatever somebody has patched into it since', async () => {
      const { world, given } = worldOf(seen('web-0', 'v0'), [seen('web-1', 'v1')], by)
      await putBackAfterAbort({ ledger: run, ended: [], world, signal, isOwned, fence: 'r1/1', tell() {} })
      expect(given).toEqual([image('v1')])
    })

    test('an abort of this run and of one that has come to them since goes by what they had before that', async () => {
      const { world, given } = worldOf(seen('web-0', 'v3'), [seen('web-1', 'v2')], by)
      const since = entryOf('web-1', { owner: OWNER, before: { images: image('v1') } })
      const workloads = [{ ...WEB, templates: [{ of: idOf(WEB), images: image('v3') }] }]
      const later: Ledger = {
        header: { run: 'r2', workloads, images: image('v2'), startedAt: '', chunks: 1 },
        entries: new Map([[since.uid, since]]),
      }
      await putBackAfterAbort({ ledger: later, ended: [run], world, signal, isOwned, fence: 'r2/1', tell() {} })
      expect(given).toEqual([image('v1')])
    })

    test('one of them is upgraded: the template stays after a rollback', async () => {
      const told: RunEventBody[] = []
      const { world, given } = worldOf(seen('web-0', 'v1'), [seen('web-1', 'v3'), seen('web-2', 'v1')], by)
      await putBackAfterRollback({
        ledger: run,
        ended: [],
        failed: [],
        world,
        signal,
        isOwned,
        tell: (event) => void told.push(event),
      })
      const reason = { code: 'template-kept', workload: 'statefulset/web', upgraded: 1 }
      expect({ told, given }).toEqual({ told: [{ type: 'warning', reason }], given: [] })
    })

    test.each([
      ['none of it', undefined],
      ['one that it has put back', brought],
    ])('one of them is not ready on the new images, with a record of sluice: %s', async (_, journal) => {
      const told: Reason[] = []
      const other = seen('web-1', 'v3', journal)
      const { world, given } = worldOf(seen('web-0', 'v1'), [{ ...other, pod: { ...other.pod, ready: false } }], by)
      const tell = (event: RunEventBody): void => void (event.type === 'warning' && told.push(event.reason))
      await putBackAfterRollback({ ledger: run, ended: [], failed: [], world, signal, isOwned, tell })
      const made = { code: 'made-before-put-back', pods: ['web-1'] }
      const keeps = { code: 'template-kept', workload: 'statefulset/web', upgraded: 1 }
      expect([told, given]).toEqual(journal ? [[keeps], []] : [[made], [image('v1')]])
    })

    test('are among those that an abort leaves on other images', () => {
      const { world } = worldOf(seen('web-0', 'v1'), [seen('web-1', 'v3'), seen('web-2', 'v1')], by)
      expect(mixedAfterAbort({ ledger: run, ended: [], world })).toEqual([{ workload: 'statefulset/web', upgraded: 1, pods: 3 }])
    })
  })
})
