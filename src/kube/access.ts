import type { CallOptions, KubeClient } from './client.ts'
import { KubeError } from './errors.ts'
import { field, stringField } from './json.ts'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'

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

/** Which of `checks` the API server would refuse, in their order. It asks; it does not try. */
export async function checkAccess(client: KubeClient, checks: AccessCheck[], options: CallOptions = {}): Promise<AccessDenied[]> {
  const answers = await Promise.all(checks.map((check) => review(client, check, options)))
  return answers.filter((answer) => answer !== undefined)
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
