import type { CallOptions, KubeClient } from './client.ts'
import { isMissingRight, KubeError } from './errors.ts'
import { field, stringField } from './json.ts'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const RULES = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'

/** One thing that sluice will want to do. */
export interface AccessCheck {
  /** Such as get, list, watch, create, update, patch, delete. */
  verb: string
  /** Empty, or left out, for the core group. */
  group?: string
  /** Plural, such as pods. */
  resource: string
  subresource?: string
  namespace: string
  name?: string
}

export interface Access {
  denied: AccessDenied[]
  /** Why some of them could not be asked for: the caller may not even ask. */
  unasked?: KubeError
}

export interface AccessDenied {
  check: AccessCheck
  /** What the authorizer says, where it says something. */
  reason?: string
}

/**
 * Which of `checks` the API server would refuse, in their order. It asks; it does not try: once for all that the caller may
 * do, and once more for each check that this does not answer.
 */
export async function checkAccess(client: KubeClient, checks: AccessCheck[], options: CallOptions = {}): Promise<Access> {
  const namespaces = [...new Set(checks.map(({ namespace }) => namespace))]
  const rules = new Map(
    await Promise.all(namespaces.map(async (namespace) => [namespace, await rulesIn(client, namespace, options)] as const)),
  )
  const open = checks.filter((check) => !rules.get(check.namespace)!.some((rule) => allows(rule, check)))
  try {
    const answers = await Promise.all(open.map((check) => review(client, check, options)))
    return { denied: answers.filter((answer) => answer !== undefined) }
  } catch (error) {
    if (!(error instanceof KubeError) || !isMissingRight(error.status, error.message)) throw error
    return { denied: [], unasked: error }
  }
}

/** The caller's rules; none where the server cannot tell all: what it leaves out may be an authorizer that says no. */
async function rulesIn(client: KubeClient, namespace: string, options: CallOptions): Promise<unknown[]> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }
  try {
    const status = field(await client.create(RULES, body, options), 'status')
    const rules = field(status, 'resourceRules')
    return field(status, 'incomplete') === false && Array.isArray(rules) ? rules : []
  } catch (error) {
    // Refused, or not known to this server; one that cannot be reached would say no more to the next request.
    if (error instanceof KubeError && error.kind === 'definite' && error.status !== undefined) return []
    throw error
  }
}

/** As RBAC reads a rule. What a rule leaves out, or cannot be read, gives nothing. */
function allows(rule: unknown, { verb, group = '', resource, subresource, name }: AccessCheck): boolean {
  const has = (list: string, ...wanted: string[]): boolean => {
    const given = field(rule, list)
    return Array.isArray(given) && given.some((one) => one === '*' || wanted.includes(one))
  }
  const resources = subresource === undefined ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`]
  return has('verbs', verb) && has('apiGroups', group) && has('resources', ...resources) && isFor(rule, name)
}

/** A rule without names is for every object; one with names for these alone. */
function isFor(rule: unknown, name: string | undefined): boolean {
  const names = field(rule, 'resourceNames')
  if (names === undefined || names === null) return true
  return Array.isArray(names) && (names.length === 0 || (name !== undefined && names.includes(name)))
}

async function review(client: KubeClient, check: AccessCheck, options: CallOptions): Promise<AccessDenied | undefined> {
  const answer = await client.create(
    REVIEWS,
    { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: check } },
    options,
  )
  const status = field(answer, 'status')
  const allowed = field(status, 'allowed')
  if (typeof allowed !== 'boolean') {
    throw new KubeError(`POST ${REVIEWS}: the answer has no status.allowed`, { kind: 'ambiguous', method: 'POST', path: REVIEWS })
  }
  if (allowed) return undefined
  const reason = stringField(status, 'reason')
  return { check, ...(reason === undefined || reason === '' ? {} : { reason }) }
}
