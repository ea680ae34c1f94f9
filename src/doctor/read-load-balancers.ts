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
/**
 * The states of an entry that was read. An adapter that cannot read entries reports one for each
 * pod, even for pods that are not behind it.
 */
const SEEN: ReadonlySet<TargetObservation['admin']> = new Set(['in', 'draining', 'out'])
/** The limit of addresses to search for. The search for each address is a request of its own. */
const MOST_STRAYS = 50

type Family = 'IPv4' | 'IPv6'

/** The addresses of the known pods that have not finished, and of their nodes. */
interface Known {
  addresses: ReadonlySet<string>
  /** The family of the first address of pods, which all pods of a cluster share. */
  family: Family
  /** The pods are those of all namespaces. */
  areAll: boolean
}

/**
 * Reads the entries of the pods from each load balancer, and changes nothing. `namespace` is that of the pods; absent where they are of
 * all namespaces.
 */
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
    // The load balancer must answer, even without pods.
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
  // A run sends no effect to an entry that an operator has taken out.
  const wanted = targets.flatMap((target) => {
    const snapshot = standing.get(target.id)
    return snapshot?.inRotation ? [{ target, prior: snapshot.prior }] : []
  })
  const wrong = wanted.length === 0 ? new Map<string, AdapterError>() : await adapter.rehearse(wanted, call)
  return Array.from(wrong, ([target, error]) => ({ target, because: reasonOf(error) }))
}

/** An adapter that may not read the health checks leaves them unknown. */
async function healthCheckOf({ adapter }: LoadBalancer): Promise<Pick<BalancerState, 'healthCheck'>> {
  try {
    const [quickest] = (await adapter.healthChecks?.(call)) ?? []
    return quickest === undefined ? {} : { healthCheck: quickest }
  } catch (error) {
    if (error instanceof AdapterError) return {}
    throw error
  }
}

/** Finds entries whose address belongs to no pod of the cluster, and to no node of the known pods. */
async function strays(
  { adapter }: LoadBalancer,
  { addresses: known, family, areAll }: Known,
  client: KubeClient,
): Promise<Pick<BalancerState, 'strays' | 'unasked'>> {
  if (adapter.entries === undefined) return {}
  const unknown = (await adapter.entries(call)).filter(({ address }) => !known.has(address))
  // The field selector matches only the first address of a pod.
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

/** A finished pod keeps its address in its status, although another pod may have the address now. */
async function isOfPod(client: KubeClient, address: string): Promise<boolean> {
  const fieldSelector = `status.podIP=${address}`
  const { items } = await listPages({ client, path: '/api/v1/pods', selectors: { fieldSelector } })
  return items.some((raw) => !podView(raw).finished)
}
