import { freezeFixedIn } from '../../endpoints/frozen-updates.ts'
import { type Check, needing, skippedFor, together, found } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Server } from '../gathered.ts'
import type { Node } from '../objects.ts'
import { isAskedAbout, webhooksOf } from '../webhooks.ts'

/** The minor versions of Kubernetes that the tests of sluice run on. */
const OLDEST_TESTED = 32
const NEWEST_TESTED = 37
/** The number of minor versions that a kubelet may be behind the API server, by the version skew policy of Kubernetes. */
const KUBELET_BEHIND = 3

/** The webhook of sluice itself moves an annotation where its change would take an update back, so that nothing freezes. */
const OWN = /\.sluice\.dev$/

/** The versions of the API server and the kubelets fit together, and the tests of sluice run on them. */
export const versions: Check = {
  name: 'versions',
  examine(gathered) {
    const { server } = gathered
    if (!server.ok) return skippedFor(server.because)
    return together(
      found(untested(server.value)),
      needing(gathered, ['nodes'], ({ nodes }) => apart(server.value, nodes)),
      freezeFixedIn(server.value) === undefined
        ? found([])
        : needing(gathered, ['mutatingWebhooks', 'namespaces'], ({ mutatingWebhooks, namespaces }) => {
            const asked = webhooksOf(mutatingWebhooks, 'MutatingWebhookConfiguration').filter(
              (one) => !OWN.test(one.id.webhook) && isAskedAbout(one, 'endpoints', namespaces),
            )
            const webhooks = asked.map(({ id }) => id)
            return webhooks.length === 0
              ? []
              : [{ code: 'webhook-freeze', version: server.value.version, fixedIn: freezeFixedIn(server.value)!, webhooks }]
          }),
    )
  },
}

function untested({ version, minor }: Server): Finding[] {
  if (minor !== undefined && minor >= OLDEST_TESTED && minor <= NEWEST_TESTED) return []
  return [{ code: 'version-untested', version, from: `1.${OLDEST_TESTED}`, to: `1.${NEWEST_TESTED}` }]
}

function apart({ version, minor }: Server, nodes: readonly Node[]): Finding[] {
  if (minor === undefined) return []
  const some = nodes.flatMap(({ metadata: { name }, status }) => {
    const of = status?.nodeInfo?.kubeletVersion ?? ''
    const own = minorOf(of)
    return own === undefined || (own <= minor && own >= minor - KUBELET_BEHIND) ? [] : [{ node: name, version: of }]
  })
  return some.length === 0 ? [] : [{ code: 'kubelet-version-apart', version, nodes: some }]
}

function minorOf(version: string): number | undefined {
  const [, minor] = /^v?1\.(\d+)/.exec(version) ?? []
  return minor === undefined ? undefined : Number(minor)
}
