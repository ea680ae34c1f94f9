import type { Kind } from './kinds.ts'
import { type Refusal, refusal } from './refusal.ts'
import type { AccessAttributes, Authorizer } from './server.ts'

const GROUP = 'authorization.k8s.io'

export function attributesOf(
  verb: string,
  {
    kind,
    namespace,
    name,
    subresource,
    query,
  }: {
    kind: Kind
    namespace: string | undefined
    name: string | undefined
    subresource: string | undefined
    query: URLSearchParams
  },
): AccessAttributes {
  return {
    verb,
    group: kind.group,
    resource: kind.plural,
    subresource: subresource ?? '',
    namespace: namespace ?? '',
    name: name ?? nameIn(verb, query) ?? '',
  }
}

/** Returns the name in a list or a watch of a single name: for the authorizer, such a request is about that object. */
function nameIn(verb: string, query: URLSearchParams): string | undefined {
  if (verb !== 'list' && verb !== 'watch') return undefined
  return /^metadata\.name==?([^,!]+)$/.exec(query.get('fieldSelector') ?? '')?.[1]
}

/** Checks the right to ask for rights. Every user has it by the ClusterRole system:basic-user, unless an operator removes it. */
export function permitReview(resource: string, by: string, authorize: Authorizer): void {
  const attributes = { verb: 'create', group: GROUP, resource, subresource: '', namespace: '', name: '' }
  if (!authorize(by, attributes)) throw forbidden(by, attributes)
}

export function forbidden(by: string, { verb, group, resource, subresource, namespace, name }: AccessAttributes): Refusal {
  const what = group === '' ? resource : `${resource}.${group}`
  const path = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const message = `${what}${name === '' ? '' : ` "${name}"`} is forbidden: User "${by}" cannot ${verb} resource "${path}" in API group "${group}" ${where}`
  return refusal(403, 'Forbidden', message, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: resource,
  })
}

/** Returns the answer to a SelfSubjectAccessReview, which is stored nowhere. */
export function reviewed(review: Record<string, unknown>, by: string, authorize: Authorizer): Record<string, unknown> {
  const asked = ((review['spec'] as Record<string, unknown> | undefined)?.['resourceAttributes'] ??
    {}) as Partial<AccessAttributes>
  const { verb = '', group = '', resource = '', subresource = '', namespace = '', name = '' } = asked
  const allowed = authorize(by, { verb, group, resource, subresource, namespace, name })
  return {
    kind: 'SelfSubjectAccessReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: review['spec'],
    status: { allowed },
  }
}

/** Allows every request of every user. */
export const everybody: Authorizer = () => true

/** Returns the answer to a SelfSubjectRulesReview. An authorizer other than `everybody` cannot list rules: it only answers requests. */
export function rulesFor(review: Record<string, unknown>, authorize: Authorizer): Record<string, unknown> {
  const all = authorize === everybody
  return {
    kind: 'SelfSubjectRulesReview',
    apiVersion: 'authorization.k8s.io/v1',
    metadata: {},
    spec: review['spec'],
    status: {
      resourceRules: all ? [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }] : [],
      nonResourceRules: all ? [{ verbs: ['*'], nonResourceURLs: ['*'] }] : [],
      incomplete: !all,
    },
  }
}
