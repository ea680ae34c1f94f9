import type { Service } from '../endpoints/objects.ts'
import type { Reason, ReasonOf } from '../reasons/reason.ts'
import { explainEntry } from './explain-entry.ts'
import { explainNode } from './explain-node.ts'
import { conditionsByOthers, conditionsOfPod, isFit, unfitBecause } from './explain-pod.ts'
import { explainService, isAbout } from './explain-service.ts'
import type { Explanation, Finding, Place, PodExplanation, Unread } from './explanation.ts'
import { nextOf, type About } from './next.ts'
import type { StoredPod } from '../endpoints/stored.ts'
import type { Observed, ObservedEntry, RunFacts } from './observed.ts'
import { rotationOf } from './rotation.ts'
import { nearestServices } from './nearly-selected.ts'
import { severityOf } from './severity.ts'

/** Decides from the observed state whether the pods are in rotation, and why they are not. */
export function explain(observed: Observed): Explanation {
  const { about, asked, runs, unread } = observed
  const findings: Finding[] = []
  const tell: Tell = (reason, of = {}, severity = severityOf(reason, about.type)) => {
    const { pod, service } = of
    findings.push({
      severity,
      reason,
      ...(pod === undefined ? {} : { pod }),
      ...(service === undefined ? {} : { service }),
      next: nextOf(reason, { namespace: about.namespace, ...of }),
    })
  }
  const isHidden = unread.some(({ decides, what }) => decides && what !== 'pods')
  const pods = observed.pods.filter(({ metadata }) => asked.has(metadata.uid))
  if (observed.hasAllPods && observed.wanted !== undefined && pods.length < observed.wanted)
    tell({ code: 'fewer-pods', workload: about.object, pods: pods.length, wanted: observed.wanted })
  for (const pod of pods) tellRun(pod, runs.get(pod.metadata.uid), tell)
  for (const pod of pods) tellPod(pod, tell)

  const services = observed.services
    .filter((service) => isAbout(service, observed))
    .map((service) => ({ service, explained: explainService(service, observed) }))
  for (const { service, explained } of services)
    for (const { reason, pod } of explained.reasons)
      if (isWorthwhile(reason, service, observed.services))
        tell(reason, { service: service.metadata.name, ...(pod === undefined ? {} : { pod }) })

  const entries = Map.groupBy(observed.entries, ({ pod }) => pod)
  const explainedPods = pods.map((pod) => {
    const { uid } = pod.metadata
    const places = services.flatMap(({ explained }) => explained.places.get(uid) ?? [])
    return explainPod(pod, { places, entries: entries.get(uid) ?? [], run: runs.get(uid), isHidden }, tell)
  })
  tellUnserved(explainedPods, observed, tell)

  const names = new Set(pods.flatMap(({ spec }) => (spec.nodeName ? [spec.nodeName] : [])))
  const nodes = [...names].flatMap((name) => {
    const node = observed.nodes?.find(({ metadata }) => metadata.name === name)
    if (node === undefined) return []
    const { explanation, reasons } = explainNode(node, observed.heartbeats.get(name))
    for (const reason of reasons) tell(reason)
    return [explanation]
  })
  const all = [...unread, ...unreadEntries(explainedPods)]
  return {
    about,
    verdict: verdictOf(findings, all),
    services: services.map(({ explained }) => explained.explanation),
    pods: explainedPods,
    nodes,
    findings: findings.toSorted((a, b) => Number(a.severity === 'note') - Number(b.severity === 'note')),
    unread: all,
  }
}

type Tell = (reason: Reason, of?: Omit<About, 'namespace'>, severity?: Finding['severity']) => void

function tellRun({ metadata: { name: pod } }: StoredPod, run: RunFacts | undefined, tell: Tell): void {
  if (run === undefined) return
  const { run: id, step, out, holder, because, workload, needsOperator } = run
  const of = { pod, ...(workload === undefined ? {} : { workload }) }
  // A journal that cannot be read names no run.
  if (id === '') tell({ code: 'journal-unreadable', problem: because }, of)
  else {
    const by = holder === undefined ? {} : { holder }
    // The pod stays in rotation where its containers change without a drain.
    tell({ code: 'pod-in-run', pod, run: id, step, out, ...by, because }, of, out === false ? 'note' : 'wrong')
  }
  if (needsOperator) tell({ code: 'pod-needs-operator', pod, run: id }, of)
}

function tellPod(pod: StoredPod, tell: Tell): void {
  const { name } = pod.metadata
  for (const reason of [...unfitBecause(pod), ...conditionsByOthers(pod)]) tell(reason, { pod: name })
}

/**
 * A hostname that is left out is reported only where the subdomain names no Service. Otherwise, the pod has its DNS name below that
 * headless Service, and the others leave it out as they should.
 */
function isWorthwhile(reason: Reason, { spec }: Service, services: readonly Service[]): boolean {
  if (reason.code !== 'hostname-left-out') return true
  return spec.clusterIP === 'None' && !services.some(({ metadata }) => metadata.name === reason.subdomain)
}

interface OfPod {
  /** The places in Services. */
  places: readonly Place[]
  entries: readonly ObservedEntry[]
  run: RunFacts | undefined
  /** The pod may have places that could not be read. */
  isHidden: boolean
}

function explainPod(pod: StoredPod, { places, entries, run, isHidden }: OfPod, tell: Tell): PodExplanation {
  const { uid, name } = pod.metadata
  const explained = entries.map((entry) => explainEntry(entry, { isFit: isFit(pod), run }))
  const workload = run?.workload === undefined ? {} : { workload: run.workload }
  for (const { reasons } of explained) for (const reason of reasons) tell(reason, { pod: name, ...workload })
  const all = [...places, ...explained.map(({ place }) => place)]
  const { podIP } = pod.status ?? {}
  const { nodeName } = pod.spec
  return {
    name,
    uid,
    ...(podIP ? { address: podIP } : {}),
    ...(nodeName ? { node: nodeName } : {}),
    rotation: rotationOf(all, isHidden),
    conditions: conditionsOfPod(pod),
    places: all,
    ...(run === undefined ? {} : { run: runOf(run) }),
  }
}

function runOf({ targets: _targets, ...run }: RunFacts): Omit<RunFacts, 'targets'> {
  return run
}

/** Reports pods that no Service has. Pods in a load balancer need no Service. */
function tellUnserved(pods: readonly PodExplanation[], observed: Observed, tell: Tell): void {
  const { about, services, unread } = observed
  if (about.type === 'service' || unread.some(({ what }) => what === 'services')) return
  const unserved = pods.filter(({ places }) => !places.some((place) => 'service' in place))
  const [first] = unserved
  if (first === undefined) return
  const isBalanced = unserved.every(({ places }) => places.some((place) => place.in === 'load-balancer'))
  tell({ code: 'in-no-service', pods: unserved.map(({ name }) => name) }, {}, isBalanced ? 'note' : 'wrong')
  const raw = observed.pods.find(({ metadata }) => metadata.uid === first.uid)
  const near = raw === undefined ? [] : nearestServices(raw, services)
  for (const { service, labels } of near.slice(0, 2))
    tell({ code: 'selector-nearly', pods: [first.name], labels }, { service, pod: first.name })
}

function unreadEntries(pods: readonly PodExplanation[]): Unread[] {
  const unread = new Map<string, Unread>()
  for (const place of pods.flatMap(({ places }) => places)) {
    if (place.in !== 'load-balancer' || place.admin !== 'unknown') continue
    const because: Reason = place.by ?? ({ code: 'cannot-read-back' } satisfies ReasonOf<'cannot-read-back'>)
    const { loadBalancer: name } = place
    unread.set(`${name} ${JSON.stringify(because)}`, { what: 'load-balancer', name, decides: true, because })
  }
  return [...unread.values()]
}

export function verdictOf(findings: readonly Finding[], unread: readonly Unread[]): Explanation['verdict'] {
  if (findings.some(({ severity }) => severity === 'wrong')) return 'wrong'
  return unread.some(({ decides }) => decides) ? 'unknown' : 'right'
}
