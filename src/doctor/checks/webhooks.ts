import { type Check, needing } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Namespace } from '../objects.ts'
import { failsClosed, isAskedAbout, type NamedWebhook, WATCHED, webhooksOf } from '../webhooks.ts'

const DEFAULT_TIMEOUT_SECONDS = 10

/** No webhook can keep pods and endpoints from being written where its server is away. */
export const webhooks: Check = {
  name: 'webhooks',
  examine(gathered) {
    const { namespace } = gathered
    return needing(
      gathered,
      ['validatingWebhooks', 'mutatingWebhooks', 'namespaces'],
      ({ validatingWebhooks, mutatingWebhooks, namespaces }) => {
        const looked = namespaces.filter(({ metadata }) => namespace === undefined || metadata.name === namespace)
        return [
          ...webhooksOf(validatingWebhooks, 'ValidatingWebhookConfiguration'),
          ...webhooksOf(mutatingWebhooks, 'MutatingWebhookConfiguration'),
        ].flatMap((one) => [...aboutLooked(one, looked), ...aboutItself(one, namespaces)])
      },
    )
  },
}

function aboutLooked(one: NamedWebhook, namespaces: readonly Namespace[]): Finding[] {
  const resources = WATCHED.filter((resource) => isAskedAbout(one, resource, namespaces))
  if (!failsClosed(one) || resources.length === 0) return []
  return [{ code: 'webhook-fails-closed', ...one.id, resources, timeoutMs: timeoutOf(one) }]
}

/** Of the namespace that its server runs in: once that is down, what would start it again waits for it. */
function aboutItself(one: NamedWebhook, namespaces: readonly Namespace[]): Finding[] {
  const home = one.webhook.clientConfig?.service?.namespace
  const own = namespaces.filter(({ metadata }) => metadata.name === home)
  const resources = WATCHED.filter((resource) => isAskedAbout(one, resource, own))
  if (home === undefined || resources.length === 0) return []
  if (failsClosed(one)) return [{ code: 'webhook-locks-itself-out', ...one.id, resources, namespace: home }]
  return [{ code: 'webhook-on-own-namespace', ...one.id, resources, namespace: home, timeoutMs: timeoutOf(one) }]
}

function timeoutOf({ webhook: { timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } }: NamedWebhook): number {
  return timeoutSeconds * 1_000
}
