import { AdapterError, type Call, type Target, type TargetObservation } from '../../adapters/contract.ts'
import { reasonOf } from '../engine/errors.ts'
import type { LoadBalancer } from '../engine/request.ts'
import { findTargets } from '../engine/traffic/find-targets.ts'
import { CALL_LIFE_MS } from '../engine/traffic/scope-queues.ts'
import type { KubeClient } from '../kube/client.ts'
import { listPages } from '../kube/list-pages.ts'
import type { PodView } from '../pods/glossary.ts'
import { podView } from '../pods/view.ts'
import type { BalancedPod, BalancerState, Listed, StrayEntry } from './gathered.ts'
import type { Pod } from './objects.ts'
import { reading } from './read-problem.ts'
import { readLock } from './read-rights.ts'

const call: Call = { deadlineMs: CALL_LIFE_MS, assertLive: () => {} }
/** An entry that was read. Where none can be, each pod has one, whether it is behind the load balancer or not. */
const SEEN: ReadonlySet<TargetObservation['admin']> = new Set(['in', 'draining', 'out'])
/** Each address that no known pod has is asked for by itself. */
const MOST_STRAYS = 50

type Family = 'IPv4' | 'IPv6'

/** Where pods are, but for those that are finished. */
interface Known {
  addresses: ReadonlySet<string>
  /** The family of the first address of each pod. */
  family: Family
  /** Those are the pods of all namespaces. */
  areAll: boolean
}

/** What each load balancer says of the pods. It is only read. `namespace`: the one that these are of; absent of all. */
export function readLoadBalancers(
  loadBalancers: readonly LoadBalancer[],
  { pods, namespace }: { pods: Listed<Pod>; namespace?: string },
  client: KubeClient,
): Promise<BalancerState[]> {
  const here = (pods.ok ? pods.value : []).map((pod) => podView(pod)).filter(({ ip, finished }) => ip !== undefined && !finished)
  const known = {
    addresses: new Set(here.flatMap(({ ip = '', otherIps = [], hostIps = [] }) => [ip, ...otherIps, ...hostIps])),
    family: familyOf(here[0]?.ip ?? ''),
    areAll: pods.ok && namespace === undefined,
  }
  const views = here.filter(({ deleting }) => !deleting)
  return Promise.all(loadBalancers.map((one) => readOne(one, views, known, client)))
}

async function readOne(
  loadBalancer: LoadBalancer,
  pods: readonly PodView[],
  known: Known,
  client: KubeClient,
): Promise<BalancerState> {
  const { name, lock } = loadBalancer
  const own = { name, ...(lock === undefined ? {} : { lock: await readLock(lock) }) }
  try {
    const balanced = await readPods(loadBalancer, pods)
    return {
      ...own,
      pods: balanced.map(({ pod }) => pod),
      impossible: await rehearse(
        loadBalancer,
        balanced.flatMap(({ targets }) => targets),
      ),
      ...(await healthCheckOf(loadBalancer)),
      ...(await strays(loadBalancer, known, client)),
    }
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error
    return { ...own, pods: [], impossible: [], unread: { because: reasonOf(error), refuses: error.kind === 'fatal' } }
  }
}

async function readPods(
  loadBalancer: LoadBalancer,
  pods: readonly PodView[],
): Promise<{ pod: BalancedPod; targets: readonly Target[] }[]> {
  if (pods.length === 0) {
    // It is to answer all the same.
    await loadBalancer.adapter.resolve([], call)
    return []
  }
  const found = await findTargets({ loadBalancers: [loadBalancer], allowUnbalanced: false }, pods)
  const targets = found.flatMap((one) => (one.found ? one.targets.map(({ target }) => target) : []))
  const observed: Map<string, TargetObservation> =
    targets.length === 0 ? new Map() : await loadBalancer.adapter.inspect(targets, call)
  return pods.map(({ uid }, index) => {
    const one = found[index]!
    if (!one.found) return { pod: { uid, because: one.reason }, targets: [] }
    const entries = one.targets.flatMap(({ target: { id } }) => {
      const observation = observed.get(id)
      return observation !== undefined && SEEN.has(observation.admin) ? [{ target: id, observation }] : []
    })
    return { pod: { uid, ...(entries.length === 0 ? {} : { entries }) }, targets: one.targets.map(({ target }) => target) }
  })
}

async function rehearse({ adapter }: LoadBalancer, targets: readonly Target[]): Promise<BalancerState['impossible']> {
  if (adapter.rehearse === undefined || targets.length === 0) return []
  const standing = await adapter.snapshot(targets, call)
  // What an operator has out gets no effect.
  const wanted = targets.flatMap((target) => {
    const snapshot = standing.get(target.id)
    return snapshot?.inRotation ? [{ target, prior: snapshot.prior }] : []
  })
  const wrong = wanted.length === 0 ? new Map<string, AdapterError>() : await adapter.rehearse(wanted, call)
  return Array.from(wrong, ([target, error]) => ({ target, because: reasonOf(error) }))
}

/** Not to be allowed to ask is not to know. */
async function healthCheckOf({ adapter }: LoadBalancer): Promise<Pick<BalancerState, 'healthCheck'>> {
  try {
    const [quickest] = (await adapter.healthChecks?.(call)) ?? []
    return quickest === undefined ? {} : { healthCheck: quickest }
  } catch (error) {
    if (error instanceof AdapterError) return {}
    throw error
  }
}

/** Entries at an address that no pod of the cluster has, and no node of one. */
async function strays(
  { adapter }: LoadBalancer,
  { addresses: known, family, areAll }: Known,
  client: KubeClient,
): Promise<Pick<BalancerState, 'strays' | 'unasked'>> {
  if (adapter.entries === undefined) return {}
  const unknown = (await adapter.entries(call)).filter(({ address }) => !known.has(address))
  // The field has the first address of a pod alone.
  const askable = unknown.filter(({ address }) => familyOf(address) === family).map(({ address }) => address)
  const asked = new Set([...new Set(askable)].slice(0, MOST_STRAYS))
  const read = await reading({ resource: 'pods' }, async () => {
    const owned = await Promise.all([...asked].map(async (address) => ((await isOfPod(client, address)) ? [address] : [])))
    const others = new Set(owned.flat())
    return unknown
      .filter(({ address }) => !others.has(address) && (areAll || asked.has(address)))
      .map(({ id, address, port, admin }): StrayEntry => ({
        target: id,
        address: address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`,
        ...(admin === undefined ? {} : { inRotation: admin === 'in' }),
      }))
  })
  const unasked = areAll ? 0 : unknown.filter(({ address }) => !asked.has(address)).length
  return { strays: read, ...(unasked === 0 ? {} : { unasked }) }
}

function familyOf(address: string): Family {
  return address.includes(':') ? 'IPv6' : 'IPv4'
}

/** A pod that is finished keeps its address in its status, when another may have it. */
async function isOfPod(client: KubeClient, address: string): Promise<boolean> {
  const fieldSelector = `status.podIP=${address}`
  const { items } = await listPages({ client, path: '/api/v1/pods', selectors: { fieldSelector } })
  return items.some((raw) => !podView(raw).finished)
}
