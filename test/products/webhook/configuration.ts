import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { ControlPlane, Json } from '../endpoints/control-plane.ts'

const FILE = new URL('../../../deploy/webhook/base/webhook.yaml', import.meta.url).pathname
const PATH = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations'

/** Applies the configuration of deploy/webhook, with a URL in the place of the Service. `caBundle` stays as it is where it is not given. */
export async function applyConfiguration(
  { ask }: Pick<ControlPlane, 'ask'>,
  { url, caBundle, change }: { url: string; caBundle?: string; change?: (webhook: Json) => void },
): Promise<void> {
  const configuration = parse(readFileSync(FILE, 'utf8')) as Json
  const found = (await ask('GET', `${PATH}/${configuration.metadata.name}`).catch(() => undefined)) as Json
  for (const [index, webhook] of configuration.webhooks.entries()) {
    const kept = caBundle ?? found?.webhooks[index]?.clientConfig.caBundle
    webhook.clientConfig = { url, ...(kept !== undefined && { caBundle: kept }) }
    change?.(webhook)
  }
  if (found === undefined) await ask('POST', PATH, configuration)
  else await ask('PUT', `${PATH}/${configuration.metadata.name}`, { ...configuration, metadata: found.metadata })
}

/** The label by which an administrator allows a namespace. */
export const ALLOWED = { 'sluice.dev/webhook': 'enabled' }
