import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type ControlPlane, type Json, startControlPlane } from '../endpoints/control-plane.ts'
import { type ClockProxy, startClockProxy } from './clock-proxy.ts'
import { type CutProxy, startCutProxy } from './cut-proxy.ts'
import type { Evidence, Outage, Turn } from './judge.ts'
import { type ReadyAddresses, watchReadyAddresses } from './ready-addresses.ts'
import { type SyncProcess, startSyncProcess } from './sync-process.ts'
import { createWorkload, NAMESPACE, type Workload } from './workload.ts'

const ROOT = join(import.meta.dirname, '../../..')
export const SLUICE = join(ROOT, 'src/cli/sluice.ts')

export interface Member {
  name: string
  plane: ControlPlane
  /** The network between sync and the API server. */
  network: CutProxy
  /** What a client sees that the network does not cut off. */
  addresses: ReadyAddresses
  /** The kubeconfig with the way through `network`. */
  kubeconfig: string
}

export interface Source extends Member {
  workload: Workload
}

/** Source clusters and an access cluster with real control planes, and what a client sees of each by one clock. */
export interface SyncBed {
  sources: readonly Source[]
  access: Member
  folder: string
  /** Writes a config of sync with all sources, and returns its path. */
  writeConfig(services: readonly object[]): string
  /** Starts the program that only watches and writes, for one source. */
  startBare(source: Source, services: readonly string[]): SyncProcess
  /** Starts `sluice` with these arguments. */
  startSluice(args: readonly string[]): SyncProcess
  /** Ends all processes but this one. */
  killAllBut(one: SyncProcess): Promise<void>
  /** All that was seen since the start, or since an instant. */
  evidence(outages: readonly Outage[], since?: number): Evidence
  now(): number
  stop(): Promise<void>
}

/** The access cluster also has the controllers that could interfere with copies. */
const ACCESS_CONTROLLERS = [
  'endpoints-controller',
  'endpointslice-controller',
  'endpointslice-mirroring-controller',
  'garbage-collector-controller',
  'namespace-controller',
].join(',')

export interface SyncBedOptions {
  /** The names of the sources. */
  names?: readonly string[]
  /** By the name of a source, how far its clock is off, in ms. */
  clocks?: Readonly<Record<string, number>>
}

export async function startSyncBed(
  programs: string,
  { names = ['east', 'west'], clocks = {} }: SyncBedOptions = {},
): Promise<SyncBed> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sync-'))
  const proxies: ClockProxy[] = []
  const now = (): number => performance.now()

  async function startMember(name: string, flags: Record<string, string> = {}): Promise<Member> {
    const plane = await startControlPlane(programs, flags)
    const offsetMs = clocks[name]
    const clock = offsetMs === undefined ? undefined : await startClockProxy(plane, offsetMs)
    if (clock !== undefined) proxies.push(clock)
    const network = await startCutProxy(clock?.port ?? Number(new URL(plane.url).port))
    const document = JSON.parse(readFileSync(plane.kubeconfig, 'utf8')) as Json
    const { cluster } = document.clusters[0]
    cluster.server = `${clock === undefined ? 'https' : 'http'}://127.0.0.1:${network.port}`
    if (clock !== undefined) delete cluster['certificate-authority-data']
    const kubeconfig = join(folder, `${name}.kubeconfig`)
    writeFileSync(kubeconfig, JSON.stringify(document))
    return { name, plane, network, kubeconfig, addresses: await watchReadyAddresses(plane, now) }
  }

  const [access, ...members] = await Promise.all([
    startMember('access', { controllers: ACCESS_CONTROLLERS }),
    ...names.map((name) => startMember(name)),
  ])
  const sources = members.map((member, index) => ({ ...member, workload: createWorkload(member.plane, 100 + index) }))
  const processes: SyncProcess[] = []
  const started = (args: readonly string[]): SyncProcess => {
    const own = startSyncProcess(args)
    processes.push(own)
    return own
  }

  return {
    sources,
    access,
    folder,
    writeConfig(services) {
      const file = join(folder, 'sluice-sync.yaml')
      writeFileSync(file, stringify(configOf(access, sources, services)))
      return file
    },
    startBare: ({ name, kubeconfig }, services) =>
      started([join(ROOT, 'bench/bare-sync.ts'), name, kubeconfig, access.kubeconfig, NAMESPACE, ...services]),
    startSluice: (args) => started([SLUICE, ...args]),
    async killAllBut(one) {
      await Promise.all(processes.filter((other) => other !== one).map((other) => other.kill()))
    },
    evidence(outages, since = 0) {
      const truth = sources.flatMap(({ addresses }) => addresses.turns)
      return { ...stateSince(since, truth, access.addresses.turns), outages, endedAt: now() }
    },
    now,
    async stop() {
      await Promise.all(processes.map((one) => one.kill()))
      for (const { addresses, network, plane } of [access, ...sources]) {
        await addresses.stop()
        await network.close()
        await plane.stop()
      }
      await Promise.all(proxies.map((one) => one.close()))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Leaves out what was before an instant: the state at the instant begins there. */
function stateSince(since: number, ...both: readonly [readonly Turn[], readonly Turn[]]): Pick<Evidence, 'truth' | 'seen'> {
  const [truth, seen] = both.map((turns) => {
    const before = new Map<string, Turn>()
    for (const turn of turns) if (turn.at < since) before.set(turn.key, turn)
    const begun = [...before.values()].filter(({ isReady }) => isReady).map((turn) => ({ ...turn, at: since }))
    return [...begun, ...turns.filter(({ at }) => at >= since)].toSorted((a, b) => a.at - b.at)
  }) as [Turn[], Turn[]]
  return { truth, seen }
}

function configOf(access: Member, sources: readonly Source[], services: readonly object[]): object {
  return {
    apiVersion: 'sluice.dev/v1',
    kind: 'SyncConfig',
    access: { kubeconfig: access.kubeconfig },
    sources: sources.map(({ name, kubeconfig }) => ({ name, kubeconfig })),
    defaults: { create: true },
    services,
  }
}
