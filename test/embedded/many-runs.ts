import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createMemoryAdapter,
  createMemoryBalancer,
  type MemoryBalancer,
  type MemoryServerOptions,
} from '../../adapters/conformance/memory-adapter.ts'
import { writeKubeconfig } from '../../sim/http/kubeconfig.ts'
import { createScopeQueues } from '../../src/engine/traffic/scope-queues.ts'
import type { RunEvent, RunResult } from '../../src/engine/events.ts'
import { prepareRun, type RunSettings } from '../../src/engine/run.ts'
import { connect } from '../../src/kube/connect.ts'
import { createObservation, type FeedScope, type SharedObservation } from '../../src/observation/observation.ts'
import { systemClock, systemRandom } from '../../src/ports/system.ts'
import { STATEFUL_SET } from '../../src/workloads/kinds/stateful-set.ts'
import { PORT } from './many-sets.ts'

/** One process that upgrades many workloads at once, each by a run of its own, behind one load balancer. */
export interface ManyRuns {
  readonly balancer: MemoryBalancer
  /** Upgrades the workloads. Resolves when all runs are over. */
  upgrade(names: readonly string[], image: string): Promise<EndedRun[]>
  close(): Promise<void>
}

export interface EndedRun {
  name: string
  result: RunResult
  /** The time since the common start of all runs. */
  wallMs: number
  warnings: string[]
}

export interface ManyRunsOptions {
  /** The URL of the API server. */
  url: string
  servers: readonly Omit<MemoryServerOptions, 'port'>[]
  maxUnavailable: number
  scope: FeedScope
  /** False where each run has an observation of its own, as separate processes have. */
  sharesObservation: boolean
}

const SETTINGS: Omit<RunSettings, 'maxUnavailable'> = {
  readyForMs: 0,
  onFailure: 'hold',
  drainDeadlineMs: 60_000,
  onDrainDeadline: 'fail',
  restartDeadlineMs: 300_000,
  rollbackDeadlineMs: 600_000,
  readyDeadlineMs: 600_000,
  restoreDeadlineMs: 60_000,
}

export async function connectManyRuns(options: ManyRunsOptions): Promise<ManyRuns> {
  const { url, servers, maxUnavailable, scope, sharesObservation } = options
  const folder = await mkdtemp(join(tmpdir(), 'sluice-many-'))
  const kubeconfig = join(folder, 'kubeconfig')
  await writeKubeconfig(kubeconfig, url)
  const [clock, random] = [systemClock, systemRandom]
  const { client, close } = await connect({ kubeconfig, clock, random })
  const balancer = createMemoryBalancer(servers.map((server) => ({ ...server, port: PORT })))
  const adapter = createMemoryAdapter(balancer)
  const loadBalancers = [{ name: 'edge', adapterName: 'memory', adapter, port: PORT }]
  const queues = createScopeQueues(clock)
  const observe = (): SharedObservation => createObservation({ client, clock, random, scope })
  const shared = observe()

  async function run(name: string, image: string, startedAt: number): Promise<EndedRun> {
    const warnings: string[] = []
    const onEvent = (event: RunEvent): void => void (event.type === 'warning' && warnings.push(event.reason.code))
    const observation = sharesObservation ? shared : observe()
    const prepared = await prepareRun(
      {
        namespace: 'default',
        select: { refs: [{ ...STATEFUL_SET, name }] },
        images: [{ container: 'app', image }],
        settings: { ...SETTINGS, maxUnavailable: { count: maxUnavailable } },
        acceptTemplateDrift: false,
        allowUnbalanced: false,
      },
      { client, observation, loadBalancers, queues, clock, random, identity: `many_${name}`, onEvent },
    )
    try {
      const result = await prepared.execute()
      return { name, result, wallMs: performance.now() - startedAt, warnings }
    } finally {
      await prepared.close()
    }
  }

  return {
    balancer,
    async upgrade(names, image) {
      const startedAt = performance.now()
      return Promise.all(names.map((name) => run(name, image, startedAt)))
    },
    async close() {
      await close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
