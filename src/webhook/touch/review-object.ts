import type { StoredEndpoints, StoredSlice } from '../../endpoints/stored.ts'
import { conditionsOf } from '../../endpoints/stored-slices.ts'
import type { ClusterView, EndpointsKind, EntryState } from '../cluster/cluster-view.ts'
import { isMarked } from '../admission/applied-mark.ts'
import type { EndpointDecision } from '../decide/decision.ts'
import type { Decide } from '../decide/question.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import { entryKey } from './entry-key.ts'
import { addressStates, type WishedObject } from './wished-objects.ts'

/**
 * - `service`: a change of an annotation of the Service. The controllers then write each object that differs from their wish.
 * - `object`: a change of an annotation of the object itself, which equals the wish. No controller would write the object.
 */
export type TouchWay = 'service' | 'object'

/** What a second look at one object has found. */
export interface Reviewed {
  /** The keys of the endpoints that are stored otherwise than the rules want them now. */
  readonly wrong: readonly string[]
  /** The way to have the object rewritten. */
  readonly way: TouchWay
  /** The endpoints that a rule decides by facts of the request, so that a second look cannot judge them. */
  readonly unjudged: number
  /** The instant at which the decision may become another one without any write, in milliseconds since 1970. */
  readonly againAt?: number
}

export interface ReviewOptions {
  readonly rules: RuleSet
  readonly view: ClusterView
  readonly decide: Decide
  /** In milliseconds since 1970. */
  readonly nowAt: number
}

/**
 * Decides about an object as its controller wishes it, and compares the decision with what is stored. An endpoint about which no rule decides
 * is wrong where rules have altered the object: otherwise another writer has. @throws ObjectError
 */
export function reviewObject({ kind, object, stored, isPartial }: WishedObject, options: ReviewOptions): Reviewed {
  const { rules, view, decide, nowAt } = options
  const answer = decide({ rules, kind, object, old: stored, cluster: view, nowAt })
  const [wished, wanted] = [statesOf(kind, object), statesOf(kind, answer.object)]
  const has = statesOf(kind, stored)
  const isJudged = judgedBy(rules, answer.decision.endpoints)
  const isOurs = isMarked(stored) ? () => true : decidedBy(answer)
  const wrong: string[] = []
  let [unjudged, differsFromWish] = [0, false]
  for (const [key, wish] of wished) {
    const now = has.get(key)
    if (now === undefined && isPartial === true) continue
    if (!isJudged(key)) {
      unjudged += 1
      continue
    }
    if (!isSame(now, wish)) differsFromWish = true
    if (!isSame(now, wanted.get(key)) && isOurs(key)) wrong.push(key)
  }
  const { againAt } = answer.decision
  return {
    wrong,
    unjudged,
    way: differsFromWish ? 'service' : 'object',
    ...(againAt !== undefined && { againAt }),
  }
}

/** The endpoints about which rules in force decide. */
function decidedBy({ decision: { mode, endpoints } }: ReturnType<Decide>): (key: string) => boolean {
  const some = mode === 'audit' ? [] : endpoints.filter(({ rule }) => rule !== undefined)
  const keys = new Set(some.map(decidedKey))
  return (key) => keys.has(key)
}

function decidedKey({ addresses, pod }: Pick<EndpointDecision, 'addresses' | 'pod'>): string {
  return `${pod?.uid ?? ''} ${addresses[0] ?? ''}`
}

/**
 * The endpoints that can be judged without a request. The first rule that applies decides, so that a rule which reads the request, and stands
 * before the one that decides, might have decided otherwise.
 */
function judgedBy({ rules }: RuleSet, decided: ReturnType<Decide>['decision']['endpoints']): (key: string) => boolean {
  const first = rules.findIndex(({ reads }) => reads.has('request'))
  if (first === -1) return () => true
  const order = new Map(rules.map(({ name }, index) => [name, index]))
  const sure = new Set<string>()
  for (const one of decided) if (one.rule !== undefined && (order.get(one.rule) ?? first) < first) sure.add(decidedKey(one))
  return (key) => sure.has(key)
}

function statesOf(kind: EndpointsKind, object: unknown): Map<string, EntryState> {
  if (kind === 'Endpoints') {
    const states = addressStates(object as StoredEndpoints)
    return new Map(Array.from(states, ([key, ready]) => [key, { ready, serving: ready }]))
  }
  return new Map(
    ((object as StoredSlice).endpoints ?? []).map((endpoint) => {
      const { ready, serving } = conditionsOf(endpoint)
      return [entryKey(endpoint), { ready, serving }]
    }),
  )
}

/** Undefined: the endpoint is not there. */
function isSame(one: EntryState | undefined, other: EntryState | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return one.ready === other.ready && one.serving === other.serving
}
