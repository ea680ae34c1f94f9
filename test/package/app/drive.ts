/*
 * A program outside of the repository that uses the package: orders, undo, two runs at once. It is compiled against the packed types, and
 * says on stdout, as JSON, what it has seen.
 */
import {
  type AdapterDefinition,
  checkConfig,
  connect,
  createSluice,
  exitCodeOf,
  loadConfig,
  PlanChangedError,
  type PlanChange,
  podUpgradeMachine,
  reasonWords,
  reportPage,
  type Run,
  type RunEvent,
  type RunOutcome,
  RunOverError,
  RequestError,
  type Sluice,
} from 'sluice'
import { AdapterError } from 'sluice/adapter'

const seen: Record<string, unknown> = {}
const warnings: string[] = []
const cluster = await connect({ kubeconfig: process.env['KUBECONFIG'], namespace: 'shop' })
const sluice: Sluice = createSluice({
  cluster,
  config: await loadConfig('sluice.yaml'),
  by: 'ann@desk',
  onWarning: ({ message }) => void warnings.push(message),
})
const images = (version: number) => ({ app: `registry.example/app:v${version}` })

/** Resolves with the first event that it is. */
async function once(run: Run, isIt: (event: RunEvent) => boolean): Promise<RunEvent> {
  for await (const event of run.events) if (isIt(event)) return event
  throw new Error('the run has ended before')
}

// A request that cannot be understood names its fields.
seen['fields'] = await sluice.plan({ workload: 'web', images: { app: '' } }).catch((error: unknown) => {
  if (!(error instanceof RequestError)) throw error
  return error.issues.map(({ field }) => field)
})

// A plan that is not of now.
const outdated = await sluice.plan({ workload: 'statefulset/web', images: images(3) })
outdated.pods.pop()
seen['changed'] = await sluice.upgrade(outdated).result.catch((error: unknown) => {
  if (!(error instanceof PlanChangedError)) throw error
  return error.changes.map((change: PlanChange) => (change.what === 'pod' ? `pod/${change.pod}` : change.what))
})

// Pause and resume of a handle.
const run = sluice.upgrade({
  workload: { kind: 'StatefulSet', name: 'web' },
  images: images(3),
  settings: { maxUnavailable: '50%' },
})
await run.pause()
await once(run, ({ type }) => type === 'paused')
const { workloads } = await sluice.status({ workload: 'statefulset/web' })
seen['paused'] = workloads[0]?.lease?.order
await run.resume()
seen['resumed'] = (await run.result).outcome satisfies RunOutcome
seen['over'] = await run.pause().catch((error: unknown) => error instanceof RunOverError)

// Abort of a handle, after its first pod.
const aborted = sluice.upgrade({ workload: 'sts/web', images: images(4) })
await once(aborted, (event) => event.type === 'podState' && event.to === 'done')
await aborted.abort()
seen['aborted'] = (await aborted.result).outcome

// Two runs at once.
const both = ['statefulset/web', 'statefulset/api'].map((workload) => sluice.upgrade({ workload, images: images(5) }))
seen['both'] = (await Promise.all(both.map(({ result }) => result))).map(({ outcome }) => outcome)

// One run is interrupted by a signal, and taken back by an undo.
const controller = new AbortController()
const interrupted = sluice.upgrade({ workload: 'sts/api', images: images(6) }, { signal: controller.signal, graceMs: 0 })
await once(interrupted, (event) => event.type === 'podState' && event.to === 'restarting')
controller.abort()
seen['interrupted'] = (await interrupted.result).outcome
const left = await sluice.abort({ workload: 'sts/api' })
seen['left'] = left.outcome === 'abandoned' ? (await left.end().result).outcome : left.outcome
seen['undone'] = (await sluice.undo({ workload: 'sts/web' }).result).outcome
const { report } = await sluice.report({ workload: 'sts/web' })
seen['report'] = report.outcome
seen['page'] = reportPage(report).slice(0, 15)
seen['exitCode'] = exitCodeOf(await run.result)
seen['english'] = [report.reason].map(reasonWords)

// An adapter of its own, and the state machine to look at.
const broken: AdapterDefinition<unknown> = {
  name: 'broken',
  summary: 'Answers nothing.',
  options: { safeParse: (data: unknown) => ({ success: true, data }) } as AdapterDefinition<unknown>['options'],
  create() {
    throw new AdapterError('broken', 'fatal', 'it cannot be made')
  },
}
const own = await checkConfig(
  { apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [{ name: 'edge', adapter: 'broken', port: 80 }] },
  { adapters: [broken] },
)
const second = createSluice({ cluster: await connect({ namespace: 'shop' }), config: own })
seen['broken'] = await second.plan({ workload: 'sts/web' }).catch((error: unknown) => error instanceof AdapterError && error.kind)
await second.close()
seen['states'] = Object.keys(podUpgradeMachine.states)
seen['warnings'] = warnings
await sluice.close()
process.stdout.write(JSON.stringify(seen))
