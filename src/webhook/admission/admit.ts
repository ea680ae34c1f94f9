import type { Clock } from '../../ports/clock.ts'
import type { PatchOperation } from '../../pods/patch-operation.ts'
import { field, stringField } from '../../kube/json.ts'
import type { ClusterView } from '../cluster/cluster-view.ts'
import type { Decision } from '../decide/decision.ts'
import { shortDecision } from '../decide/short-decision.ts'
import type { Answer, Decide } from '../decide/question.ts'
import type { RuleSet } from '../rules/rule-set.ts'
import type { Answered, RequestFacts } from './admission-event.ts'
import { annotate, moveOn } from './annotations.ts'
import { markOf } from './applied-mark.ts'
import type { AdmissionRequest } from './review.ts'
import type { PodWaits } from './pod-waits.ts'
import { type Scope, type SkipReason, skippedFor } from './scope.ts'

/** The annotation of a Service that asks for the decisions about its endpoints, as an annotation of each object. */
export const EXPLAIN_ANNOTATION = 'sluice.dev/explain'
export const DECISION_ANNOTATION = 'sluice.dev/decision'

/** A warning for the client of the API server, which its words are made from. */
export type AdmissionWarning =
  | { readonly code: 'decision-cut-off'; readonly afterMs: number }
  | { readonly code: 'decision-failed' }
  | { readonly code: 'decided'; readonly mode: Decision['mode']; readonly short: string }

export interface AdmissionOptions {
  scope: Scope
  cluster: ClusterView
  /** The rules in force. Undefined until some are loaded. */
  rules(): RuleSet | undefined
  /** The objects that rules look at are listed. */
  isListed(): boolean
  /** The objects of the namespace that rules look at have not been current for long. */
  isStale(namespace: string): boolean
  decide: Decide
  warningOf(warning: AdmissionWarning): string
  /** The endpoints controller of the cluster writes an object no more after an update that changes nothing. */
  mayFreeze(): boolean
  clock: Clock
}

/** `response` of an AdmissionReview. */
export interface AdmissionResponse {
  readonly uid: string
  readonly allowed: true
  readonly patchType?: 'JSONPatch'
  /** The patch as JSON in base64. */
  readonly patch?: string
  readonly warnings?: readonly string[]
  readonly auditAnnotations?: Readonly<Record<string, string>>
}

export interface Admitted {
  readonly response: AdmissionResponse
  readonly answered: Omit<Answered, 'tookMs'>
}

/** The decision took longer than its time. */
class OverTime extends Error {}

/** Kubernetes takes warnings of up to this length, in all of them 4,096. */
const LONGEST_WARNING = 256
/** An event of a watch that is late comes within some tens of milliseconds. The write of a controller takes so much longer at most. */
const LONGEST_WAIT_MS = 200
/** These accounts only log a warning, and again at each sync. */
const MACHINES = /^system:/

/**
 * Answers one request. The answer always allows the write: without a patch where the rules do not decide, take too long or fail. Where the
 * request has pods otherwise than this process has seen them, the answer waits for them for some time. `deadlineAt` is on the monotonic clock.
 */
export async function admit(
  request: AdmissionRequest,
  deadlineAt: number,
  options: AdmissionOptions & { waits: Pick<PodWaits, 'settle'> },
): Promise<Admitted> {
  const { clock, waits } = options
  const begunAt = clock.now()
  const known = knownFor(request, options)
  const wait =
    typeof known === 'string' ? undefined : waits.settle(request, known, Math.min(LONGEST_WAIT_MS, (deadlineAt - begunAt) / 2))
  if (wait === undefined) return admitNow(request, deadlineAt, options)
  const waited = { outcome: await wait, ms: Math.round(clock.now() - begunAt) }
  const { response, answered } = admitNow(request, deadlineAt, options)
  return { response, answered: { ...answered, waited } }
}

/** Answers one request by what is known at once. */
export function admitNow(request: AdmissionRequest, deadlineAt: number, options: AdmissionOptions): Admitted {
  const { clock, warningOf } = options
  const facts = factsOf(request)
  const { uid } = request
  const begunAt = clock.now()
  const open = (more: Partial<AdmissionResponse> = {}): AdmissionResponse => ({ uid, allowed: true, ...more })
  // One decision rests on one version of the rules.
  const known = knownFor(request, options)
  if (typeof known === 'string')
    return { response: open(), answered: { type: 'answered', result: 'skipped', request: facts, skipped: known } }

  function assertInTime(): void {
    if (clock.now() > deadlineAt) throw new OverTime()
  }
  try {
    assertInTime()
    const answer = answerTo(request, known, options, assertInTime)
    assertInTime()
    return decided(request, facts, answer, options)
  } catch (error) {
    const isLate = error instanceof OverTime
    const warning = isLate
      ? warningOf({ code: 'decision-cut-off', afterMs: Math.round(clock.now() - begunAt) })
      : warningOf({ code: 'decision-failed' })
    return {
      response: open({ warnings: [warning.slice(0, LONGEST_WARNING)] }),
      answered: { type: 'answered', result: isLate ? 'cut-off' : 'failed', request: facts, ...(!isLate && { error }) },
    }
  }
}

/** The rules in force, or the reason why the request is not decided. */
function knownFor(request: AdmissionRequest, { scope, rules, isListed, isStale }: AdmissionOptions): RuleSet | SkipReason {
  const skipped = skippedFor(request, scope)
  if (skipped !== undefined) return skipped
  const inForce = rules()
  if (inForce === undefined || !isListed()) return 'not-ready'
  return isStale(request.namespace) ? 'stale' : inForce
}

function answerTo(
  { kind, object, oldObject, operation, username, groups, isDryRun }: AdmissionRequest,
  rules: RuleSet,
  { decide, cluster, clock }: AdmissionOptions,
  assertInTime: () => void,
): Answer {
  return decide({
    rules,
    kind: kind!,
    object,
    ...(oldObject !== undefined && oldObject !== null && { old: oldObject }),
    cluster,
    nowAt: clock.wallNow(),
    request: { operation: operation as 'CREATE' | 'UPDATE', username, groups, dryRun: isDryRun },
    assertInTime,
  })
}

function decided(
  request: AdmissionRequest,
  facts: RequestFacts,
  answer: Answer,
  { cluster, warningOf, mayFreeze }: AdmissionOptions,
): Admitted {
  const { decision, object, patch, equalsOld } = answer
  const hasSay = decision.endpoints.length > 0
  const short = hasSay ? shortDecision(decision) : undefined
  const told = isAsked(cluster, decision) ? short : undefined
  const annotations = {
    ...markOf(object, answer, cluster),
    ...(decision.mode === 'enforce' && { [DECISION_ANNOTATION]: told }),
  }
  const operations: PatchOperation[] = [...patch, ...annotate(object, annotations)]
  const isMoved =
    patch.length > 0 && operations.length === patch.length && equalsOld && decision.kind === 'Endpoints' && mayFreeze()
  if (isMoved) operations.push(...moveOn(object, request.uid))
  const changes = decision.endpoints.some(
    ({ wished, as }) => as === 'removed' || as.ready !== wished.ready || as.serving !== wished.serving,
  )
  // In mode audit, a patch takes the mark of former rules away.
  const isChanged = operations.length > 0 && decision.mode === 'enforce'
  const result = isChanged ? 'changed' : changes && decision.mode === 'audit' ? 'audited' : 'unchanged'
  const warns = hasSay && !MACHINES.test(request.username)
  return {
    response: {
      uid: request.uid,
      allowed: true,
      ...(operations.length > 0 && {
        patchType: 'JSONPatch' as const,
        patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
      }),
      ...(warns && { warnings: [warningOf({ code: 'decided', mode: decision.mode, short: short! }).slice(0, LONGEST_WARNING)] }),
      ...(short !== undefined && { auditAnnotations: { decision: short } }),
    },
    answered: { type: 'answered', result, request: facts, decision, ...(isMoved && { isMoved }) },
  }
}

function isAsked(cluster: ClusterView, { namespace, service }: Decision): boolean {
  const found = service === undefined ? undefined : cluster.service(namespace, service)
  return found?.metadata.annotations?.[EXPLAIN_ANNOTATION] === 'true'
}

function factsOf({ uid, kind, namespace, name, operation, username, isDryRun, object }: AdmissionRequest): RequestFacts {
  // A create may leave the name to the API server.
  const given = name === '' ? (stringField(field(object, 'metadata'), 'generateName') ?? '') : name
  return { uid, kind, namespace, name: given, operation, username, isDryRun }
}
