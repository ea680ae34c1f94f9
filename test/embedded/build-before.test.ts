import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test, type TestContext } from 'vitest'
import type { Pod } from '../../sim/kubelet/pod.ts'
import { isReady } from '../../sim/kubelet/pod.ts'
import { type Child, startChild } from '../../src/cli/testing/child.ts'
import { journalOf } from '../../src/journal/journal.ts'
import type { JournalStep } from '../../src/pods/glossary.ts'
import { JOURNAL_KEY, podView } from '../../src/pods/view.ts'
import { buildBefore } from './build-before.ts'
import { type Bed, type Ended, openBed, statefulSet } from './ways-out/bed.ts'

/*
 * Runs this build and the build of the commit before beside each other. This build completes the records of the older one, and refuses the
 * records of a newer one. SLUICE_BEFORE names another commit than HEAD~1.
 */

const before = buildBefore()
if (before.kind === 'none') console.warn(`Skipped, without a build of the commit before: ${before.why}`)

/** The compile cache of Node, shared by the processes. */
const compiled = mkdtempSync(join(tmpdir(), 'sluice-compiled-'))

afterAll(() => {
  rmSync(compiled, { recursive: true })
  if (before.kind === 'built') before.remove()
})

function needsBefore(context: TestContext): void {
  if (before.kind === 'none') context.skip(before.why)
}

type Build = 'before' | 'now'
const NOW = join(import.meta.dirname, '../../src/cli/sluice.ts')
const PODS = ['web-0', 'web-1', 'web-2']
const FIRST = 'web-2'
const UPGRADE = ['upgrade', 'statefulset/web', 'app=app:v2']
const LEDGERS = 'configmaps'
const LEASES = 'leases.coordination.k8s.io'
/** The Lease of a killed process has to run out, which takes 16 s. */
const TIMEOUT = 150_000

interface Ledger {
  v: number
  run: string
  finishedAt?: string
  aborted?: object
}

interface Shop extends Bed {
  sluiceOf(build: Build, ...args: string[]): Promise<Ended>
  /** Begins the upgrade, and kills its process at that moment. */
  killedAt(moment: Moment, build?: Build): Promise<void>
}

async function openShop({ onTestFinished }: Pick<TestContext, 'onTestFinished'>): Promise<Shop> {
  const bed = await openBed()
  const children: Child[] = []
  onTestFinished(async () => {
    for (const child of children) {
      if (!child.isOver()) child.process.kill('SIGKILL')
      await child.end()
    }
    await bed.close()
  })
  bed.cluster.apply(statefulSet({ replicas: PODS.length }))
  await bed.ready(PODS.length)
  // The time in which a pod is out and untouched.
  await bed.balance({ settle: '1s' })
  function begin(build: Build, args: string[]): Child {
    const script = build === 'now' || before.kind === 'none' ? NOW : before.script
    const child = startChild([script, ...bed.wordsOf(...args)], { env: { NODE_COMPILE_CACHE: compiled } })
    children.push(child)
    return child
  }
  return {
    ...bed,
    async sluiceOf(build, ...args) {
      const child = begin(build, args)
      const code = await child.end()
      return { code: code as number, stdout: child.stdout(), stderr: child.stderr() }
    },
    async killedAt({ isNow }, build = 'before') {
      const child = begin(build, UPGRADE)
      const kill = (): void => void (isNow(bed) && child.process.kill('SIGKILL'))
      // A stored write kills the process before its answer. Other moments are found by looking at an interval.
      const unsubscribe = bed.cluster.apiServer.store.subscribe(kill)
      const looks = setInterval(kill, 20)
      try {
        expect(await child.end(), child.stdout() + child.stderr()).toBe('SIGKILL')
      } finally {
        unsubscribe()
        clearInterval(looks)
      }
    },
  }
}

function stepOf(pod: Pod | undefined): JournalStep | 'none' {
  if (pod === undefined) return 'none'
  const read = journalOf(podView(pod))
  if (read.kind === 'unreadable') throw new Error(`the journal of ${pod.metadata.name} cannot be read`)
  return read.kind === 'none' ? 'none' : read.journal.step
}

const stepsOf = (bed: Bed): (JournalStep | 'none')[] => PODS.map((name) => stepOf(bed.pod(name)))
const imagesOf = (bed: Bed): string[] => PODS.map((name) => bed.pod(name).spec.containers[0]!.image)
const isDrained = (bed: Bed, name: string): boolean =>
  bed
    .edge()
    .servers()
    .some((one) => one.name === name && one.state === 'drain')

function templateOf({ cluster }: Bed): string {
  const { spec } = cluster.apiServer.store.get('statefulsets.apps', 'default', 'web') as unknown as {
    spec: { template: Pod }
  }
  return spec.template.spec.containers[0]!.image
}

function ledgersOf({ cluster }: Bed): Ledger[] {
  return cluster.apiServer.store.list(LEDGERS, 'default').flatMap(({ data }) => {
    const { header } = (data ?? {}) as { header?: string }
    return header === undefined ? [] : [JSON.parse(header) as Ledger]
  })
}

/** Returns the effects on the load balancer for a pod. A call without a change is allowed. */
function effectsOf(bed: Bed, name: string): string[] {
  return bed
    .edge()
    .calls.flatMap(({ path, body, changed }) =>
      changed && path === `/servers/${name}` ? [(body as { state: string }).state] : [],
    )
}

interface Moment {
  name: string
  isNow(bed: Bed): boolean
  /** The state of the first pod at that moment: the step in its journal, the effects on the load balancer, and its image. */
  left: { step: JournalStep; effects: string[]; image: string }
  /** The outcome in the report of the finished run; `upgraded` if absent. */
  told?: string
}

const isAt = (step: JournalStep, drained: boolean) => (bed: Bed) =>
  stepOf(bed.pod(FIRST)) === step && isDrained(bed, FIRST) === drained

const INTENT: Moment = {
  name: 'after the drain intent',
  isNow: isAt('drain', false),
  left: { step: 'drain', effects: [], image: 'app:v1' },
}
const DRAINED: Moment = {
  name: 'drained',
  isNow: isAt('drain', true),
  left: { step: 'drain', effects: ['drain'], image: 'app:v1' },
}
const PATCHED: Moment = {
  name: 'patched',
  isNow: isAt('patched', true),
  left: { step: 'patched', effects: ['drain'], image: 'app:v2' },
}
const RESTORING: Moment = {
  name: 'restoring',
  isNow: isAt('restore', true),
  left: { step: 'restore', effects: ['drain'], image: 'app:v2' },
}
const BETWEEN: Moment = {
  name: 'between two pods',
  isNow: isAt('closed', false),
  left: { step: 'closed', effects: ['drain', 'ready'], image: 'app:v2' },
  // A killed process reports nothing, and its successor finds the pod at its images.
  told: 'skipped',
}

function assertLeft(bed: Bed, { left: { step, effects, image } }: Moment): string {
  expect(stepsOf(bed)).toEqual(['none', 'none', step])
  expect(imagesOf(bed)).toEqual(['app:v1', 'app:v1', image])
  expect(PODS.map((name) => effectsOf(bed, name))).toEqual([[], [], effects])
  const [{ run, finishedAt }] = ledgersOf(bed) as [Ledger]
  expect(finishedAt).toBe(undefined)
  return run
}

/** Expects all pods home on an image, with these effects for each. Returns the recorded runs. */
function assertHome(bed: Bed, image: string, effects: string[][]): string[] {
  expect(imagesOf(bed)).toEqual(PODS.map(() => image))
  expect(templateOf(bed)).toBe(image)
  expect(bed.pods().map(isReady)).toEqual(PODS.map(() => true))
  expect(
    bed
      .edge()
      .servers()
      .map(({ state }) => state),
  ).toEqual(PODS.map(() => 'ready'))
  expect(PODS.map((name) => effectsOf(bed, name))).toEqual(effects)
  expect(stepsOf(bed).filter((step) => step !== 'closed' && step !== 'none')).toEqual([])
  expect(ledgersOf(bed).filter(({ finishedAt }) => finishedAt === undefined)).toEqual([])
  return ledgersOf(bed).map(({ run }) => run)
}

const ONCE = ['drain', 'ready']
const ONCE_EACH = PODS.map(() => ONCE)

interface StatusJson {
  workloads: { runs: { id: string; finished: boolean }[]; pods: { name: string; state: string }[] }[]
  unreadable: unknown[]
}

async function statusOf(shop: Shop): Promise<{ code: number; status: StatusJson }> {
  const { code, stdout } = await shop.sluiceOf('now', 'status', '-o', 'json')
  return { code, status: JSON.parse(stdout) as StatusJson }
}

async function reportOf(shop: Shop): Promise<{ run: string; outcome: string; pods: { pod: string; outcome: string }[] }> {
  const { code, stdout, stderr } = await shop.sluiceOf('now', 'report', 'statefulset/web', '-o', 'json')
  expect([code, stderr]).toEqual([0, ''])
  return JSON.parse(stdout) as Awaited<ReturnType<typeof reportOf>>
}

describe.concurrent('a run of the build before', { timeout: TIMEOUT }, () => {
  beforeEach(needsBefore)

  test.for([INTENT, DRAINED, PATCHED, RESTORING, BETWEEN])('killed $name is read, and finished once', async (moment, context) => {
    const shop = await openShop(context)
    await shop.killedAt(moment)
    const run = assertLeft(shop, moment)

    const [open, report] = await Promise.all([statusOf(shop), reportOf(shop)])
    expect(open.code).toBe(4)
    expect(open.status).toMatchObject({ workloads: [{ runs: [{ id: run, finished: false }] }], unreadable: [] })
    expect(open.status.workloads[0]!.pods).toMatchObject([{ name: FIRST, state: moment.left.step }])
    expect(report).toMatchObject({ run, outcome: 'open' })

    const { code, stdout, stderr } = await shop.sluiceOf('now', ...UPGRADE)
    expect(code, stdout + stderr).toBe(0)
    expect(assertHome(shop, 'app:v2', ONCE_EACH)).toEqual([run])
    const [{ code: closed }, ended] = await Promise.all([statusOf(shop), reportOf(shop)])
    expect([closed, ended]).toMatchObject([0, { run, outcome: 'done' }])
    const told = Object.fromEntries(ended.pods.map(({ pod, outcome }) => [pod, outcome]))
    expect(told).toEqual({ 'web-0': 'upgraded', 'web-1': 'upgraded', [FIRST]: moment.told ?? 'upgraded' })
  })

  test('that is done is read, and undone', async (context) => {
    const shop = await openShop(context)
    expect((await shop.sluiceOf('before', ...UPGRADE)).code).toBe(0)
    const [run] = assertHome(shop, 'app:v2', ONCE_EACH)
    const [{ code, status }, report] = await Promise.all([statusOf(shop), reportOf(shop)])
    expect([code, status.workloads[0]!.runs]).toMatchObject([0, [{ id: run, finished: true }]])
    expect(report).toMatchObject({ run, outcome: 'done' })
    expect(report.pods.map(({ outcome }) => outcome)).toEqual(PODS.map(() => 'upgraded'))

    const undone = await shop.sluiceOf('now', 'undo', 'statefulset/web')
    expect(undone.code, undone.stdout + undone.stderr).toBe(0)
    const twice = PODS.map(() => [...ONCE, ...ONCE])
    expect(assertHome(shop, 'app:v1', twice)).toHaveLength(2)
  })

  test('killed with a patched pod is undone', async (context) => {
    const shop = await openShop(context)
    await shop.killedAt(PATCHED)
    assertLeft(shop, PATCHED)
    const { code, stdout, stderr } = await shop.sluiceOf('now', 'undo', 'statefulset/web')
    expect(code, stdout + stderr).toBe(0)
    // A drained pod goes back untouched.
    assertHome(shop, 'app:v1', [[], [], ONCE])
  })

  test('killed with a drained pod is aborted', async (context) => {
    const shop = await openShop(context)
    await shop.killedAt(DRAINED)
    assertLeft(shop, DRAINED)
    const { code, stdout, stderr } = await shop.sluiceOf('now', 'abort', 'statefulset/web')
    expect(code, stdout + stderr).toBe(0)
    assertHome(shop, 'app:v1', [[], [], ONCE])
    expect(ledgersOf(shop)).toMatchObject([{ aborted: {} }])
  })

  test('killed with a drained pod takes the word of a person, and is finished', async (context) => {
    const shop = await openShop(context)
    await shop.killedAt(DRAINED)
    const run = assertLeft(shop, DRAINED)
    const resolved = await shop.sluiceOf('now', 'resolve', `pod/${FIRST}`, '--traffic', 'out')
    expect(resolved.code, resolved.stdout + resolved.stderr).toBe(0)
    const { code, stdout, stderr } = await shop.sluiceOf('now', ...UPGRADE)
    expect(code, stdout + stderr).toBe(0)
    expect(assertHome(shop, 'app:v2', ONCE_EACH)).toEqual([run])
  })
})

/** Writes the record in an unknown version and form, as a newer sluice would. Returns the function that restores it. */
type Raise = (bed: Bed) => () => void

const NEWER = 'version 99, written by a newer sluice'
const raised = (text: string): string =>
  JSON.stringify({ ...(JSON.parse(text) as object), v: 99, lbs: undefined, chunks: undefined })

const raiseLedger: Raise = ({ cluster: { apiServer } }) => {
  const [{ metadata, data }] = apiServer.store.list(LEDGERS, 'default') as unknown as [
    { metadata: { name: string }; data: { header: string } },
  ]
  const write = (header: string): void => {
    apiServer.store.update(LEDGERS, 'default', metadata.name, (now) => ({ ...now, data: { ...data, header } }), 'somebody')
  }
  write(raised(data.header))
  return () => write(data.header)
}

const raiseJournal: Raise = ({ cluster: { apiServer }, pod }) => {
  const { message = '' } = pod(FIRST).status!.conditions!.find(({ type }) => type === JOURNAL_KEY) as { message?: string }
  const write = (text: string): void => {
    const changed = (now: Pod): Pod => ({
      ...now,
      status: {
        ...now.status,
        conditions: now.status!.conditions!.map((one) => (one.type === JOURNAL_KEY ? { ...one, message: text } : one)),
      } as NonNullable<Pod['status']>,
    })
    apiServer.store.update('pods', 'default', FIRST, (now) => changed(now as Pod), 'somebody')
  }
  write(raised(message))
  return () => write(message)
}

/** Returns everything that a run writes, without the writes of kubelets. */
function written(bed: Bed): unknown {
  const { store } = bed.cluster.apiServer
  const versions = [LEDGERS, LEASES, 'statefulsets.apps'].map((resource) =>
    store.list(resource, 'default').map(({ metadata: { name, resourceVersion } }) => [name, resourceVersion]),
  )
  const pods = bed.pods().map((pod) => [pod.metadata.annotations, pod.metadata.labels, pod.spec, podView(pod).journal])
  return structuredClone([versions, pods, bed.edge().calls.filter(({ method }) => method !== 'GET')])
}

describe.concurrent('a record of a newer sluice', { timeout: TIMEOUT }, () => {
  test.for<Build>(['now', 'before'])(
    'is refused by its name, by the build %s, before anything is touched',
    async (build, context) => {
      if (build === 'before') needsBefore(context)
      const shop = await openShop(context)
      await shop.killedAt(DRAINED, build)
      const run = assertLeft(shop, DRAINED)
      const rows = [
        {
          raise: raiseLedger,
          verbs: ['undo', 'abort', 'pause'],
          refused: new RegExp(`ledger of run ${run} \\(ConfigMap sluice-run-${run}\\).*${NEWER}`),
          shown: new RegExp(`${run}.*${NEWER}`),
        },
        {
          raise: raiseJournal,
          verbs: ['undo'],
          refused: new RegExp(`${FIRST}: its journal cannot be read:.*${NEWER}`),
          shown: new RegExp(`${FIRST}.*${NEWER}`),
        },
      ]
      for (const { raise, verbs, refused, shown } of rows) {
        const lower = raise(shop)
        const world = written(shop)
        const refusals = [UPGRADE, ...verbs.map((verb) => [verb, 'statefulset/web'])].map(async (args) => {
          const { code, stdout, stderr } = await shop.sluiceOf(build, ...args)
          expect({ args, code, said: stdout + stderr }).toEqual({ args, code: 3, said: expect.stringMatching(refused) })
        })
        const [{ code, stdout }] = await Promise.all([shop.sluiceOf(build, 'status'), ...refusals])
        expect([code, stdout]).toEqual([8, expect.stringMatching(shown)])
        expect(written(shop)).toEqual(world)
        lower()
      }
      // Control: the present version is accepted.
      const { code, stdout } = await shop.sluiceOf(build, 'plan', ...UPGRADE.slice(1), '-o', 'json')
      expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 1, refusals: [] })
    },
  )

  // A record whose meaning has changed therefore needs another version.
  test('is refused by the build before, or taken for what it is', async (context) => {
    needsBefore(context)
    const shop = await openShop(context)
    await shop.killedAt(DRAINED, 'now')
    assertLeft(shop, DRAINED)
    const world = written(shop)
    const { code, stdout, stderr } = await shop.sluiceOf('before', 'abort', 'statefulset/web')
    const said = stdout + stderr
    const isRefused = said.includes('written by a newer sluice')
    expect({ code, said }).toEqual({ code: isRefused ? 3 : 0, said })
    if (!isRefused) return void assertHome(shop, 'app:v1', [[], [], ONCE])
    expect(written(shop)).toEqual(world)
  })
})
