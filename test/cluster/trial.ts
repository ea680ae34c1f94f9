import { stringify } from 'yaml'
import { shellQuote } from '../../src/report/words/shell-quote.ts'
import { appPort } from './manifests.ts'

/** A config for the HAProxy of `npm run cluster`. */
export function trialConfig(socket: string): string {
  const edge = { name: 'edge', adapter: 'haproxy', port: appPort, options: { socket, backend: 'web' } }
  return stringify({ apiVersion: 'sluice.dev/v1', kind: 'Config', loadBalancers: [edge] })
}

interface Contexts {
  contexts: { context: { namespace?: string } }[]
}

/** The same kubeconfig, with the namespace that its workload is in: without `-n` a command would look at another, and find nothing. */
export function trialKubeconfig(text: string, namespace: string): string {
  const { contexts, ...rest } = JSON.parse(text) as Contexts
  const own = contexts.map((one) => ({ ...one, context: { ...one.context, namespace } }))
  return `${JSON.stringify({ ...rest, contexts: own }, null, 2)}\n`
}

/** What to type there, for any shell: this Node runs this checkout. */
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
