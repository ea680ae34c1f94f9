import { z } from 'zod'
import type { CallOptions, KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import { field, stringField } from './json.ts'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const RULES = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'

/** A list that a rule leaves out is empty. */
const Names = z.array(z.string()).default([])
const AccessRule = z.object({ verbs: Names, apiGroups: Names, resources: Names, resourceNames: Names })
const RulesReview = z.object({ status: z.object({ resourceRules: z.array(AccessRule), incomplete: z.boolean() }) })
type AccessRule = z.infer<typeof AccessRule>

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

export interface AccessDenied {
  check: AccessCheck
  /** What the authorizer says, where it says something. */
  reason?: string
}

/**
 * Which of `checks` the API server would refuse, in their order. It asks; it does not try: once for all that the caller may
 * do, and once more for each check that this does not answer.
 */
export async function checkAccess(client: KubeClient, checks: AccessCheck[], options: CallOptions = {}): Promise<AccessDenied[]> {
  const namespaces = [...new Set(checks.map(({ namespace }) => namespace))]
  const rules = new Map(
    await Promise.all(namespaces.map(async (namespace) => [namespace, await rulesIn(client, namespace, options)] as const)),
  )
  const open = checks.filter((check) => !rules.get(check.namespace)!.some((rule) => allows(rule, check)))
  const answers = await Promise.all(open.map((check) => review(client, check, options)))
  return answers.filter((answer) => answer !== undefined)
}

/** The caller's rules; none where the server cannot tell all: what it leaves out may be an authorizer that says no. */
async function rulesIn(client: KubeClient, namespace: string, options: CallOptions): Promise<AccessRule[]> {
  const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview', spec: { namespace } }
  try {
    const { data } = RulesReview.safeParse(await client.create(RULES, body, options))
    return data === undefined || data.status.incomplete ? [] : data.status.resourceRules
  } catch (error) {
    if (error instanceof KubeError && error.kind === 'definite') return []
    throw error
  }
}

/** As RBAC reads a rule. */
function allows(
  { verbs, apiGroups, resources, resourceNames }: AccessRule,
  { verb, group = '', resource, subresource, name }: AccessCheck,
): boolean {
  const names = subresource === undefined ? [resource] : [`${resource}/${subresource}`, `*/${subresource}`]
  return (
    isAmong(verbs, verb) &&
    isAmong(apiGroups, group) &&
    isAmong(resources, ...names) &&
    (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)))
  )
}

function isAmong(given: readonly string[], ...wanted: string[]): boolean {
  return given.some((one) => one === '*' || wanted.includes(one))
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
