import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Cluster } from './cluster.ts'
import type { KubeObject } from './kube-api.ts'

/** A webhook in the network of the cluster. */
export interface Webhook {
  client: WebhookClient
  /** Returns the next line that the webhook prints. */
  said(): Promise<string>
  tell(line: string): void
  stop(): Promise<void>
}

/** The address of a webhook for the API server. */
interface WebhookClient {
  url: string
  /** The certificate in PEM, encoded as Base64. */
  caBundle?: string
}

/** Starts a webhook, and resolves once it listens. `program` is a file of this folder. */
export async function startWebhook(cluster: Cluster, program: string): Promise<Webhook> {
  const certs = join(cluster.info.dir, 'certs')
  const file = fileURLToPath(new URL(program, import.meta.url))
  const args = [file, join(certs, 'apiserver.crt'), join(certs, 'apiserver.key')]
  const server = await cluster.spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(server.stdout!)[Symbol.asyncIterator]()
  const said = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${program} has ended`)
    return value
  }
  const port = await said()
  return {
    client: { url: `https://127.0.0.1:${port}/`, caBundle: (await readFile(join(certs, 'ca.crt'))).toString('base64') },
    said,
    tell: (line) => void server.stdin!.write(`${line}\n`),
    async stop() {
      if (!server.kill()) return
      await once(server, 'exit')
    },
  }
}

/** Returns a configuration that sends every update of a pod in the namespace to a webhook, which must answer. */
export function webhookConfiguration(
  kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration',
  namespace: string,
  client: WebhookClient,
): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name: namespace },
    webhooks: [
      {
        name: 'images.sluice.example',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        timeoutSeconds: 30,
        clientConfig: client,
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods'] }],
      },
    ],
  }
}
