import { stringify } from 'yaml'
import { shellQuote } from '../../src/report/words/shell-quote.ts'
import { appPort } from './manifests.ts'

/** Returns a config for the HAProxy of `npm run cluster`. */
export function trialConfig(socket: string): string {
  const edge = { name: 'edge', adapter: 'haproxy', port: appPort, options: { socket, backend: 'web' } }
  return stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge] })
}

interface Contexts {
  contexts: { context: { namespace?: string } }[]
}

/** Returns the kubeconfig with the namespace of its workload. Without that, a command without `-n` would look in another namespace. */
export function trialKubeconfig(text: string, namespace: string): string {
  const { contexts, ...rest } = JSON.parse(text) as Contexts
  const own = contexts.map((one) => ({ ...one, context: { ...one.context, namespace } }))
  return `${JSON.stringify({ ...rest, contexts: own }, null, 2)}\n`
}

/** Returns the commands to type, for any shell. This Node runs this checkout. */
export function trialCommands(files: { kubeconfig: string; config: string; node: string; program: string }): string[] {
  return [
    `export KUBECONFIG=${shellQuote([files.kubeconfig])}`,
    `export SLUICE_CONFIG=${shellQuote([files.config])}`,
    `sluice() { ${shellQuote([files.node, files.program])} "$@"; }`,
    'sluice plan -n demo statefulset/web app=localhost/app:v2',
    'sluice upgrade -n demo statefulset/web app=localhost/app:v2',
    'sluice undo -n demo statefulset/web',
  ]
}
