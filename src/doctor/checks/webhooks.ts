import { type Check, needing, skippedFor, together } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Gathered } from '../gathered.ts'
import type { Namespace } from '../objects.ts'
import { allWebhooks, failsClosed, isAskedAbout, lookedNamespaces, type NamedWebhook, serverOf, WATCHED } from '../webhooks.ts'

const DEFAULT_TIMEOUT_SECONDS = 10

/** No webhook blocks writes of pods and endpoints while its server is away. */
export const webhooks: Check = {
  name: 'webhooks',
  examine(gathered) {
    const unread = [...gathered.webhookServers.values()].flatMap((one) => (one.ok ? [] : [one.because]))
    return together(
      needing(gathered, ['validatingWebhooks', 'mutatingWebhooks', 'namespaces'], ({ namespaces }) => {
        const looked = lookedNamespaces(gathered)
        return allWebhooks(gathered).flatMap((one) => [
          ...withoutServer(one, looked, gathered),
          ...aboutLooked(one, looked),
          ...aboutItself(one, namespaces),
        ])
      }),
      skippedFor(...unread),
    )
  },
}

/** Finds webhooks whose server has no ready endpoint now. */
function withoutServer(one: NamedWebhook, namespaces: readonly Namespace[], { webhookServers }: Gathered): Finding[] {
  const service = serverOf(one)
  const ready = webhookServers.get(service ?? '')
  const resources = WATCHED.filter((resource) => isAskedAbout(one, resource, namespaces))
  if (service === undefined || !failsClosed(one) || resources.length === 0 || !ready?.ok || ready.value > 0) return []
  return [{ code: 'webhook-without-server', ...one.id, resources, service }]
}

function aboutLooked(one: NamedWebhook, namespaces: readonly Namespace[]): Finding[] {
  const resources = WATCHED.filter((resource) => isAskedAbout(one, resource, namespaces))
  if (!failsClosed(one) || resources.length === 0) return []
  return [{ code: 'webhook-fails-closed', ...one.id, resources, timeoutMs: timeoutOf(one) }]
}

/**
 * Finds webhooks for the namespace of their own server. Once the server is down, the webhook blocks the pods that would start it again.
 */
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
