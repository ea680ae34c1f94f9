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

/**
 * The first patch version of each minor version whose endpoints controller tells an update without a change from an update that it has
 * not seen yet (kubernetes#126578, #127417). Later minor versions have the fix from the start; earlier ones never had the fault.
 */
const FREEZE_FIXED: Readonly<Record<number, number>> = { 28: 15, 29: 10, 30: 6, 31: 2 }

/** The versions of the API server and the kubelets fit together, and the tests of sluice run on them. */
export const versions: Check = {
  name: 'versions',
  examine(gathered) {
    const { server } = gathered
    if (!server.ok) return skippedFor(server.because)
    return together(
      found(untested(server.value)),
      needing(gathered, ['nodes'], ({ nodes }) => apart(server.value, nodes)),
      mayFreeze(server.value) === undefined
        ? found([])
        : needing(gathered, ['mutatingWebhooks', 'namespaces'], ({ mutatingWebhooks, namespaces }) => {
            const asked = webhooksOf(mutatingWebhooks, 'MutatingWebhookConfiguration').filter((one) =>
              isAskedAbout(one, 'endpoints', namespaces),
            )
            const webhooks = asked.map(({ id }) => id)
            return webhooks.length === 0
              ? []
              : [{ code: 'webhook-freeze', version: server.value.version, fixedIn: mayFreeze(server.value)!, webhooks }]
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

/** The version that fixes the fault; undefined where this version does not have the fault. */
function mayFreeze({ minor, patch }: Server): string | undefined {
  const fixed = FREEZE_FIXED[minor ?? -1]
  return fixed !== undefined && (patch ?? 0) < fixed ? `1.${minor}.${fixed}` : undefined
}

function minorOf(version: string): number | undefined {
  const [, minor] = /^v?1\.(\d+)/.exec(version) ?? []
  return minor === undefined ? undefined : Number(minor)
}
