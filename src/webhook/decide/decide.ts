import type { StoredPod } from '../../endpoints/stored.ts'
import type { EntryState } from '../cluster/cluster-view.ts'
import type { Effect, Facts, Rule } from '../rules/rule-set.ts'
import { RuleError } from '../rules/rules-error.ts'
import type { EndpointDecision } from './decision.ts'
import { type EndpointsObject, nameOf, parseEndpointsObject } from './endpoints-object.ts'
import { entriesOf, type Entry, formerStates } from './entries.ts'
import { factsFor, serviceNameOf } from './facts.ts'
import { patchObject } from './patch.ts'
import type { Answer, Question, RuleSaid } from './question.ts'
import { haveSameContent } from './same-content.ts'

const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by'
const SLICE_CONTROLLER = 'endpointslice-controller.k8s.io'

/** Decides about each endpoint of an EndpointSlice or an Endpoints object. @throws ObjectError where the object is none of that kind */
export function decide(question: Question): Answer {
  const { rules, kind, cluster, old, nowAt } = question
  const subject = parseEndpointsObject(kind, question.object)
  const { namespace } = subject.object.metadata
  const name = nameOf(subject)
  const service = serviceNameOf(subject)
  const entries = entriesOf(subject)
  const factsOf = factsFor(question, subject, entries.length)
  const formerIn = formerStates(old === undefined ? [] : entriesOf(parseEndpointsObject(kind, old)))
  /** The state before `sinceAt`: a late decision may have stored another one since then. Without history, the state that is stored. */
  function previousOf(entry: Entry, sinceAt: number): EntryState | undefined {
    const { pod } = entry
    if (pod === undefined || service === undefined) return formerIn(entry)
    const before = cluster.stateBefore(namespace, service, kind, pod.uid, { at: sinceAt, wished: entry.wished })
    if (before === 'absent') return undefined
    return before ?? formerIn(entry) ?? cluster.previousOf(namespace, service, kind, pod.uid)
  }

  let againAt: number | undefined
  let unseenPods = 0
  const states: (EntryState | 'removed' | undefined)[] = []
  const decided: EndpointDecision[] = []
  const told = new Set<string>()
  entries.forEach((entry, index) => {
    question.assertInTime?.()
    const pod = entry.pod === undefined ? undefined : cluster.pod(entry.pod.uid)
    if (entry.pod !== undefined && pod === undefined) unseenPods += 1
    const facts = factsOf(entry, pod)
    const found = firstRule(question, { entry, pod, facts, index, previous: (sinceAt) => previousOf(entry, sinceAt) })
    againAt = earlier(earlier(againAt, found.until), facts.meter.turnsAt)
    const as = found.rule === undefined ? entry.wished : stateOf(found.effect!, subject, found.previous)
    states.push(as === 'removed' || as.ready !== entry.wished.ready || as.serving !== entry.wished.serving ? as : undefined)
    const isTold = found.rule !== undefined || found.failed.length > 0
    if (!isTold && question.onEndpoint === undefined) return
    const one = endpointDecision(entry, as, found)
    question.onEndpoint?.(index, one)
    if (!isTold) return
    // An address may be in several subsets.
    const key = kind === 'Endpoints' ? JSON.stringify(one) : ''
    if (key !== '' && told.has(key)) return
    told.add(key)
    decided.push(one)
  })

  const isAudit = rules.mode === 'audit'
  const patched = isAudit ? { object: question.object, patch: [] } : patchObject(subject, states)
  return {
    decision: {
      kind,
      namespace,
      name,
      ...(service === undefined ? {} : { service }),
      ruleSet: rules.version,
      mode: rules.mode,
      endpoints: decided,
      total: entries.length,
      unseenPods,
      ...(againAt === undefined || againAt <= nowAt ? {} : { againAt }),
    },
    ...patched,
    equalsOld: old !== undefined && haveSameContent(patched.object, old),
  }
}

interface Looked {
  readonly entry: Entry
  readonly pod: StoredPod | undefined
  readonly facts: Facts
  readonly index: number
  readonly previous: (sinceAt: number) => EntryState | undefined
}

interface Found {
  rule?: string
  effect?: Effect
  previous?: EntryState
  until?: number
  readonly failed: EndpointDecision['failed'][number][]
}

/** The first rule that applies decides. A rule that fails, or that has nothing to keep, is passed over. */
function firstRule({ rules, trace }: Question, looked: Looked): Found {
  const found: Found = { failed: [] }
  for (const rule of rules.rules) {
    const isDecided = found.rule !== undefined
    if (isDecided && trace === undefined) break
    const { meter } = looked.facts
    const { turnsAt } = meter
    const { said, keeps, failure } = sayingOf(rule, looked)
    // The rules after the one that decides change nothing, whenever they turn.
    if (isDecided) meter.turnsAt = turnsAt
    trace?.({ entry: looked.index, rule, facts: looked.facts, says: said, ...(failure === undefined ? {} : { failure }) })
    if (isDecided) continue
    if (failure !== undefined) found.failed.push({ rule: rule.name, code: failure.code, problem: failure.message })
    if (said === 'yes') Object.assign(found, { rule: rule.name, effect: rule.effect, ...keeps })
  }
  return found
}

interface Saying {
  readonly said: RuleSaid['says']
  readonly keeps?: { readonly previous: EntryState; readonly until: number }
  readonly failure?: RuleError
}

function sayingOf(rule: Rule, looked: Looked): Saying {
  try {
    if (!rule.applies(looked.facts)) return { said: 'no' }
    if (rule.effect !== 'keepPrevious') return { said: 'yes' }
    const keeps = keptBy(rule, looked)
    return keeps === undefined ? { said: 'keeps-nothing' } : { said: 'yes', keeps }
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    return { said: 'failed', failure: error }
  }
}

/** A pod that is being deleted keeps nothing. A pod that this process does not see may be one. */
function keptBy(rule: Rule, { entry, pod, facts, previous }: Looked): Saying['keeps'] {
  const isLeaving = entry.terminating || pod?.metadata.deletionTimestamp !== undefined
  if (isLeaving || (entry.pod !== undefined && pod === undefined)) return undefined
  const keeps = rule.keeps?.(facts)
  if (keeps === undefined || keeps.until <= facts.nowAt) return undefined
  const former = previous(keeps.sinceAt)
  return former === undefined ? undefined : { previous: former, until: keeps.until }
}

function stateOf(effect: Effect, subject: EndpointsObject, previous: EntryState | undefined): EntryState | 'removed' {
  switch (effect) {
    case 'ready':
      return { ready: true, serving: true }
    case 'notReady':
      return { ready: false, serving: false }
    case 'serving':
      return { ready: false, serving: subject.kind === 'EndpointSlice' }
    case 'remove':
      return isOfController(subject) ? { ready: false, serving: false } : 'removed'
    case 'keepPrevious':
      return previous!
  }
}

/**
 * The EndpointSlice controller makes a new slice for endpoints that it misses, at each sync, and deletes no slice that a rule has emptied.
 * An endpoint that is neither ready nor serving gets no requests either.
 */
function isOfController({ kind, object }: EndpointsObject): boolean {
  return kind === 'EndpointSlice' && object.metadata.labels?.[MANAGED_BY] === SLICE_CONTROLLER
}

function endpointDecision({ addresses, pod, wished }: Entry, as: EntryState | 'removed', found: Found): EndpointDecision {
  const { rule, effect, until, failed } = found
  return {
    addresses,
    ...(pod === undefined ? {} : { pod }),
    wished,
    as,
    ...(rule === undefined ? {} : { rule }),
    ...(effect === undefined ? {} : { effect }),
    ...(until === undefined ? {} : { until }),
    failed,
  }
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Math.min(a, b)
}
