import { isDeepStrictEqual } from 'node:util'
import type { KubeClient, PatchOperation } from '../../kube/client.ts'
import { field, stringField } from '../../kube/json.ts'
import { splitPem } from './stored-certificates.ts'

/** The authorities that the API server trusts, for each webhook of a configuration. */
export interface TrustedAuthorities {
  readonly resourceVersion: string
  readonly webhooks: readonly { readonly name: string; readonly authorities: readonly string[] }[]
}

function configurationPath(name: string): string {
  return `/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/${encodeURIComponent(name)}`
}

/** Rejects with a KubeError. */
export async function readTrusted(client: KubeClient, configuration: string): Promise<TrustedAuthorities> {
  const read = await client.get(configurationPath(configuration))
  const webhooks = field(read, 'webhooks')
  return {
    resourceVersion: stringField(field(read, 'metadata'), 'resourceVersion') ?? '',
    webhooks: (Array.isArray(webhooks) ? webhooks : []).map((one: unknown) => ({
      name: stringField(one, 'name') ?? '',
      authorities: splitPem(Buffer.from(stringField(field(one, 'clientConfig'), 'caBundle') ?? '', 'base64').toString('utf8')),
    })),
  }
}

/** Whether each webhook of the configuration trusts the authority. */
export function trusts({ webhooks }: TrustedAuthorities, authority: string): boolean {
  return webhooks.every(({ authorities }) => authorities.includes(authority))
}

/** Writes the authorities into each webhook that has others. Returns whether it has written. Rejects with a KubeError. */
export async function writeTrusted(
  client: KubeClient,
  configuration: string,
  found: TrustedAuthorities,
  authorities: readonly string[],
  beforeSend: () => void,
): Promise<boolean> {
  const value = Buffer.from(authorities.join('')).toString('base64')
  const changes = found.webhooks.flatMap((one, index): PatchOperation[] =>
    isDeepStrictEqual(one.authorities, authorities)
      ? []
      : [{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value }],
  )
  if (changes.length === 0) return false
  const guard: PatchOperation = { op: 'test', path: '/metadata/resourceVersion', value: found.resourceVersion }
  await client.patch(configurationPath(configuration), [guard, ...changes], { beforeSend })
  return true
}
