import { SERVICE_NAME } from '../endpoints/endpoint-labels.ts'
import { parseSlice } from '../endpoints/parse-objects.ts'
import { conditionsOf } from '../endpoints/stored-slices.ts'
import type { KubeClient } from '../kube/client.ts'
import { listPages } from '../kube/list-pages.ts'
import type { Gathered, Read } from './gathered.ts'
import { reading } from './read-problem.ts'
import { allWebhooks, failsClosed, isAskedAbout, lookedNamespaces, serverOf, WATCHED } from './webhooks.ts'

/** Counts the ready endpoints of the Service of each webhook that fails closed, by `NAMESPACE/NAME`. Other webhooks need no request. */
export async function readWebhookServers(
  client: KubeClient,
  gathered: Pick<Gathered, 'listed' | 'namespace'>,
): Promise<Gathered['webhookServers']> {
  const namespaces = lookedNamespaces(gathered)
  const asked = allWebhooks(gathered).filter(
    (one) => failsClosed(one) && WATCHED.some((resource) => isAskedAbout(one, resource, namespaces)),
  )
  const services = [...new Set(asked.flatMap((one) => serverOf(one) ?? []))]
  const counted = services.map(async (key) => [key, await readyIn(client, key)] as const)
  return new Map(await Promise.all(counted))
}

function readyIn(client: KubeClient, key: string): Promise<Read<number>> {
  const [namespace = '', name = ''] = key.split('/')
  const path = `/apis/discovery.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/endpointslices`
  return reading({ resource: 'endpointslices.discovery.k8s.io', namespace }, async () => {
    const { items } = await listPages({ client, path, selectors: { labelSelector: `${SERVICE_NAME}=${name}` } })
    const endpoints = items.flatMap((raw) => parseSlice(raw).endpoints ?? [])
    return endpoints.filter((endpoint) => conditionsOf(endpoint).ready).length
  })
}
