import type { Service } from '../../../endpoints/objects.ts'
import type { StoredEndpoints, StoredPod, StoredSlice } from '../../../endpoints/stored.ts'
import { KubeError } from '../../../kube/errors.ts'
import { isReady } from '../../../endpoints/readiness.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { VirtualClock } from '../../../kube/testing/virtual-clock.ts'
import { applyJsonPatch } from '../../../workloads/testing/json-patch.ts'
import { annotate } from '../../admission/annotations.ts'
import { markOf } from '../../admission/applied-mark.ts'
import { type ClusterChange, createClusterIndex, type ServiceName } from '../../cluster/cluster-index.ts'
import { decide } from '../../decide/decide.ts'
import { parseRuleSet } from '../../rules/parse-rule-set.ts'
import type { RuleSet } from '../../rules/rule-set.ts'
import { wishOf } from '../wished-objects.ts'

// oxlint-disable-next-line no-explicit-any
type Json = any

export const MARKED = `
  - name: marked
    when: '"example.dev/out" in pod.metadata.annotations'
    effect: notReady`

export function rulesOf(rules: string, mode = 'enforce'): RuleSet {
  const list = rules.trim() === '' ? ' []' : rules
  return parseRuleSet(`apiVersion: sluice.dev/v1\nkind: EndpointRules\nmode: ${mode}\nrules:${list}\n`, 'test')
}

/**
 * An API server in memory with the two controllers of endpoints and the webhook. The controllers write what differs from their wish, when
 * a Service or a pod changes. The admission may see older pods than the controllers.
 */
export function createWorld(clock: VirtualClock, { hasEndpoints = true } = {}) {
  const truth = createClusterIndex()
  /** The objects as the webhook sees them. */
  const seen = createClusterIndex()
  let rules: RuleSet | undefined = rulesOf('')
  let version = 0
  let replaced = 1
  let listener: (services: readonly ServiceName[], change: ClusterChange) => void = () => {}
  let isStale = false
  const unseen: ClusterChange[] = []
  /** The writes of the controllers that changed an object, and the touches. */
  const writes: string[] = []
  const touches: string[] = []
  const world = {
    areControllersUp: true,
    isWebhookUp: true,
    isCurrent: true,
    /** Another webhook, after this one. */
    undo: undefined as ((object: Json) => Json) | undefined,
    /** Called before each PATCH. */
    onPatch: undefined as (() => void) | undefined,
    /** Called after each PATCH of a slice. */
    onTouched: undefined as (() => void) | undefined,
  }

  function show(change: ClusterChange): void {
    truth.apply(change)
    if (isStale && change.kind === 'Pod') unseen.push(change)
    else listener(seen.apply(change), change)
  }

  function admit(kind: 'EndpointSlice' | 'Endpoints', object: Json, old: Json): Json {
    if (!world.isWebhookUp || rules === undefined) return object
    const answer = decide({
      rules,
      kind,
      object,
      old,
      cluster: seen,
      nowAt: clock.wallNow(),
      request: { operation: 'UPDATE', username: 'system:controller', groups: [], dryRun: false },
    })
    const marked = applyJsonPatch(answer.object as Json, annotate(answer.object, markOf(answer.object, answer, seen)) as Json)
    return world.undo === undefined ? marked : world.undo(marked)
  }

  function store(kind: 'EndpointSlice' | 'Endpoints', object: Json, old: Json | undefined): boolean {
    const admitted = structuredClone(admit(kind, object, old))
    const text = (one: Json): string => JSON.stringify({ ...one, metadata: { ...one?.metadata, resourceVersion: undefined } })
    if (old !== undefined && text(admitted) === text(old)) return false
    admitted.metadata.resourceVersion = String((version += 1))
    show({ kind, is: 'put', object: admitted } as ClusterChange)
    return true
  }

  /** Both controllers look at a Service. */
  function sync(service: Service): void {
    if (!world.areControllersUp) return
    const { namespace, name } = service.metadata
    const wish = wishOf(service, truth, false)
    if (wish === undefined) return
    const slice = truth.slicesOf(namespace, name)[0]
    const endpoints = wish.slices.groups.flatMap((group) => group.endpoints)
    const { addressType, ports } = wish.slices.groups[0]!
    const metadata = { name: `${name}-1`, namespace, labels: wish.slices.labels }
    if (slice === undefined || bare(slice) !== bare({ endpoints }))
      if (store('EndpointSlice', { ...(slice ?? { metadata }), addressType, ports, endpoints }, slice))
        writes.push(`slice ${name}`)
    if (!hasEndpoints) return
    const old = truth.endpointsOf(namespace, name)
    const subsets = wish.endpoints.subsets.map((one) =>
      Object.fromEntries(Object.entries(one).filter(([, some]) => some.length > 0)),
    )
    if (old === undefined || JSON.stringify(old.subsets ?? []) !== JSON.stringify(subsets))
      if (store('Endpoints', { ...(old ?? { metadata: { name, namespace } }), subsets }, old)) writes.push(`endpoints ${name}`)
  }

  /** The endpoints of a slice in any order. */
  function bare({ endpoints = [] }: Pick<StoredSlice, 'endpoints'>): string {
    return endpoints
      .map((one) => JSON.stringify(one))
      .toSorted()
      .join()
  }

  async function patch(path: string, operations: Json, { beforeSend }: Json = {}): Promise<unknown> {
    beforeSend?.()
    world.onPatch?.()
    await Promise.resolve()
    const [of, plural, name] = path.split('/').slice(-3)
    const kind = plural === 'services' ? 'Service' : plural === 'endpoints' ? 'Endpoints' : 'EndpointSlice'
    const stored: Json =
      kind === 'Service'
        ? truth.service(of!, name!)
        : kind === 'Endpoints'
          ? truth.endpointsOf(of!, name!)
          : [...truth.services()]
              .flatMap(({ metadata }) => truth.slicesOf(of!, metadata.name))
              .find(({ metadata }) => metadata.name === name)
    let patched: Json
    try {
      patched = applyJsonPatch(stored, operations)
    } catch (error) {
      throw new KubeError('the server rejected our request due to an error in our request', {
        kind: 'definite',
        method: 'PATCH',
        path,
        status: 422,
        cause: error,
      })
    }
    touches.push(`${kind} ${name} ${clock.now()}`)
    if (kind === 'Service') {
      show({ kind, is: 'put', object: patched })
      sync(patched)
    } else {
      const before = JSON.stringify(stored.endpoints)
      store(kind, patched, stored)
      // The controller of slices looks again at a slice whose content another writer has changed.
      const [slice] = kind === 'EndpointSlice' ? truth.slicesOf(of!, name!.replace(/(-\d+)?-1$/, '')) : []
      if (slice !== undefined && JSON.stringify(slice.endpoints) !== before)
        sync(truth.service(of!, name!.replace(/(-\d+)?-1$/, ''))!)
      world.onTouched?.()
    }
    return patched
  }

  const client = { patch } as unknown as KubeClient
  return {
    world,
    client,
    writes,
    touches,
    view: {
      ...seen,
      states: () => [],
      isListed: () => true,
      isCurrent: () => world.isCurrent,
      stale: () => [],
    },
    rules: () => rules,
    setRules(next: RuleSet) {
      rules = next
    },
    listen(to: typeof listener) {
      listener = to
    },
    /** From now on the webhook does not see changes of pods, until `catchUp`. */
    fallBehind() {
      isStale = true
    },
    catchUp() {
      isStale = false
      for (const change of unseen.splice(0)) listener(seen.apply(change), change)
    },
    putService(name: string, selector: Record<string, string> = { app: name }) {
      const object = {
        metadata: { name, namespace: 'shop', uid: name },
        spec: { selector, clusterIP: '10.96.0.1', ports: [{ port: 80 }] },
      }
      show({ kind: 'Service', is: 'put', object })
      sync(object)
    },
    putPod(
      name: string,
      app: string,
      fields: { ready?: boolean; reason?: string; sinceAt?: number; annotations?: Record<string, string> } = {},
    ) {
      const { ready = true, reason, sinceAt = clock.wallNow(), annotations = {} } = fields
      const number = Number(/\d+$/.exec(name)?.[0] ?? 0)
      const ip = `10.0.${number >> 8}.${(number & 255) + 1}`
      const object: StoredPod = {
        metadata: { name, namespace: 'shop', uid: `uid-${name}`, labels: { app }, annotations },
        spec: { nodeName: 'n1', containers: [{ name: 'app' }] },
        status: {
          phase: 'Running',
          podIP: ip,
          podIPs: [{ ip }],
          conditions: [
            {
              type: 'Ready',
              status: ready ? 'True' : 'False',
              lastTransitionTime: new Date(sinceAt).toISOString(),
              ...(reason && { reason }),
            },
          ],
        },
      }
      const before = truth.pod(object.metadata.uid)
      show({ kind: 'Pod', is: 'put', object })
      // A change of an annotation is none for the controllers.
      if (before !== undefined && isReady(before) === ready) return
      for (const service of truth.services())
        if (truth.selectedPods(service).some(({ metadata }) => metadata.name === name)) sync(service)
    },
    /** The controller manager starts anew: all Services are looked at. */
    resync() {
      for (const service of truth.services()) sync(service)
    },
    /** The controller makes another slice in the place of the one that there is, and the webhook does not answer. */
    replaceSlice(service: string) {
      const [slice] = truth.slicesOf('shop', service)
      show({ kind: 'EndpointSlice', is: 'gone', object: slice! })
      replaced += 1
      const metadata = { name: `${service}-${replaced}-1`, namespace: 'shop', labels: slice!.metadata.labels }
      const wish = wishOf(truth.service('shop', service)!, truth, false)!
      const { addressType, ports, endpoints } = wish.slices.groups[0]!
      world.isWebhookUp = false
      store('EndpointSlice', { metadata, addressType, ports, endpoints }, undefined)
      world.isWebhookUp = true
    },
    /** What is stored of a pod: in the slice, and in Endpoints. */
    stored(service: string, pod: string): string {
      const slice = truth.slicesOf('shop', service)[0]?.endpoints?.find(({ targetRef }) => targetRef?.uid === `uid-${pod}`)
      const { subsets = [] } = truth.endpointsOf('shop', service) ?? ({} as StoredEndpoints)
      const has = (some: readonly { targetRef?: { uid?: string } }[] = []): boolean =>
        some.some(({ targetRef }) => targetRef?.uid === `uid-${pod}`)
      const word = (isThere: boolean, ready: boolean): string => (!isThere ? 'out' : ready ? 'ready' : 'not')
      const inSlice = word(slice !== undefined, slice?.conditions?.ready === true)
      const hasReady = subsets.some(({ addresses }) => has(addresses))
      const inEndpoints = word(hasReady || subsets.some(({ notReadyAddresses }) => has(notReadyAddresses)), hasReady)
      return hasEndpoints ? `${inSlice} ${inEndpoints}` : inSlice
    },
  }
}
