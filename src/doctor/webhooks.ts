import { matchesSelector } from '../pods/label-selector.ts'
import type { Gathered } from './gathered.ts'
import type { Namespace, Webhook, WebhookConfiguration } from './objects.ts'

/** A webhook with its identity. */
export interface NamedWebhook {
  id: {
    kind: 'ValidatingWebhookConfiguration' | 'MutatingWebhookConfiguration'
    configuration: string
    webhook: string
    conditions?: string[]
  }
  webhook: Webhook
}

/** The resources that endpoints are made from, and the endpoints themselves. */
export const WATCHED = ['pods', 'pods/status', 'endpoints', 'endpointslices'] as const
export type Watched = (typeof WATCHED)[number]

const GROUPS: Readonly<Record<Watched, string>> = {
  pods: '',
  'pods/status': '',
  endpoints: '',
  endpointslices: 'discovery.k8s.io',
}
const NAME_LABEL = 'kubernetes.io/metadata.name'

export function webhooksOf(configurations: readonly WebhookConfiguration[], kind: NamedWebhook['id']['kind']): NamedWebhook[] {
  return configurations.flatMap(({ metadata: { name }, webhooks = [] }) =>
    webhooks.map((webhook) => {
      const conditions = (webhook.matchConditions ?? []).map((one) => one.name)
      const given = conditions.length === 0 ? {} : { conditions }
      return { id: { kind, configuration: name, webhook: webhook.name, ...given }, webhook }
    }),
  )
}

/** The webhooks of both kinds; none of a kind that could not be read. */
export function allWebhooks({ listed }: Pick<Gathered, 'listed'>): NamedWebhook[] {
  const { validatingWebhooks: validating, mutatingWebhooks: mutating } = listed
  return [
    ...(validating.ok ? webhooksOf(validating.value, 'ValidatingWebhookConfiguration') : []),
    ...(mutating.ok ? webhooksOf(mutating.value, 'MutatingWebhookConfiguration') : []),
  ]
}

export function lookedNamespaces({ listed, namespace }: Pick<Gathered, 'listed' | 'namespace'>): readonly Namespace[] {
  const all = listed.namespaces.ok ? listed.namespaces.value : []
  return all.filter(({ metadata }) => namespace === undefined || metadata.name === namespace)
}

/** The Service of the server of the webhook, as `NAMESPACE/NAME`. */
export function serverOf({ webhook }: NamedWebhook): string | undefined {
  const service = webhook.clientConfig?.service
  return service === undefined ? undefined : `${service.namespace}/${service.name}`
}

/**
 * The API server calls the webhook when an object of that kind is created or updated in one of these namespaces. The labels of the
 * object are not known, so a webhook that selects by label does not count.
 */
export function isAskedAbout({ webhook }: NamedWebhook, resource: Watched, namespaces: readonly Namespace[]): boolean {
  return (
    (webhook.rules ?? []).some((rule) => isFor(rule, resource)) &&
    matchesSelector(webhook.objectSelector ?? {}, {}) &&
    namespaces.some((one) => isInNamespace(webhook, one))
  )
}

export function isInNamespace({ namespaceSelector }: Webhook, { metadata: { name, labels = {} } }: Namespace): boolean {
  return matchesSelector(namespaceSelector ?? {}, { ...labels, [NAME_LABEL]: name })
}

function isFor(rule: NonNullable<Webhook['rules']>[number], resource: Watched): boolean {
  const { apiGroups = [], resources = [], operations = [], scope = '*' } = rule
  const has = (some: readonly string[], ...wanted: string[]): boolean => some.some((one) => wanted.includes(one))
  const [, subresource] = resource.split('/')
  const names =
    subresource === undefined ? [resource, '*', '*/*'] : [resource, `${resource.split('/')[0]}/*`, `*/${subresource}`, '*/*']
  return (
    scope !== 'Cluster' &&
    has(apiGroups, '*', GROUPS[resource]) &&
    has(operations, '*', 'CREATE', 'UPDATE') &&
    has(resources, ...names)
  )
}

export function failsClosed({ webhook }: NamedWebhook): boolean {
  return webhook.failurePolicy !== 'Ignore'
}
