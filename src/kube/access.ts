import type { CallOptions, KubeClient } from './client.ts'
import { isMissingRight, KubeError } from './errors.ts'
import { field, stringField } from './json.ts'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const RULES = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'

/** One action that sluice intends to perform. */
export interface AccessCheck {
  /** The verb, such as get, list, watch, create, update, patch, delete. */
  verb: string
  /** The API group; empty or absent for the core group. */
  group?: string
  /** The plural name of the resource, such as pods. */
  resource: string
  subresource?: string
  namespace: string
  name?: string
}

export interface Access {
  denied: AccessDenied[]
  /** The error if some checks could not be made because the user may not ask for its rights. */
  unasked?: KubeError
}

export interface AccessDenied {
  check: AccessCheck
  /** The reason of the authorizer, if it gives one. */
  reason?: string
}

/**
 * Returns those of `checks` that the API server would refuse, in their order. It asks the server and does not try the actions: once for all
 * rights of the user, and once more for each check that the first answer leaves open.
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

/** The rules of the user. Empty if the answer of the server is incomplete, because an authorizer that is missing in it may refuse. */
async function rulesIn(client: KubeClient, namespace: string, options: CallOptions): Promise<unknown[]> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }
  try {
    const status = field(await client.create(RULES, body, options), 'status')
    const rules = field(status, 'resourceRules')
    return field(status, 'incomplete') === false && Array.isArray(rules) ? rules : []
  } catch (error) {
    // The server refuses or does not support the request. For an unreachable server the error is thrown, because further requests would
    // fail too.
    if (error instanceof KubeError && error.kind === 'definite' && error.status !== undefined) return []
    throw error
  }
}

/** Evaluates a rule as RBAC does. A missing or unreadable field allows nothing. */
function allows(rule: unknown, { verb, group = '', resource, subresource, name }: AccessCheck): boolean {
  const has = (list: string, ...wanted: string[]): boolean => {
    const given = field(rule, list)
    return Array.isArray(given) && given.some((one) => one === '*' || wanted.includes(one))
  }
  const resources = subresource === undefined ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`]
  return has('verbs', verb) && has('apiGroups', group) && has('resources', ...resources) && isFor(rule, name)
}

/** A rule without names applies to every object, a rule with names to these objects only. */
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
