import { type Check, needing, skippedFor, together } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Gathered } from '../gathered.ts'
import type { Pod, Revisioned } from '../objects.ts'
import { workloadOf } from '../workload-of.ts'
import { balancersByPod } from './readiness-probes.ts'

const IN_PLACE = 'OnDelete'
/** Where a manifest says nothing. */
const DEFAULT = 'RollingUpdate'

/**
 * What is to be upgraded in place does not replace its pods by itself: what was named, what is behind a load balancer of the config, and
 * what sluice has upgraded before.
 */
export const updateStrategies: Check = {
  name: 'update-strategies',
  examine(gathered) {
    const { balancers, records } = gathered
    const find =
      (kind: 'statefulset' | 'daemonset') =>
      (some: readonly Revisioned[], pods: readonly Pod[]): Finding[] =>
        some.flatMap((one) => rolling(gathered, kind, one, pods))
    return together(
      needing(gathered, ['pods', 'statefulSets'], ({ pods, statefulSets }) => find('statefulset')(statefulSets, pods)),
      needing(gathered, ['pods', 'daemonSets'], ({ pods, daemonSets }) => find('daemonset')(daemonSets, pods)),
      balancers === undefined && !records.ok ? skippedFor({ code: 'no-config' }, records.because) : { findings: [], skipped: [] },
    )
  },
}

function rolling(gathered: Gathered, kind: string, { metadata, spec }: Revisioned, pods: readonly Pod[]): Finding[] {
  const { namespace, name } = metadata
  const strategy = spec?.updateStrategy?.type ?? DEFAULT
  if (strategy === IN_PLACE) return []
  const workload = `${kind}/${name}`
  const byPod = balancersByPod(gathered)
  const own = pods.filter((pod) => pod.metadata.namespace === namespace && workloadOf(pod) === workload)
  const behind = [...new Set(own.flatMap((pod) => byPod.get(pod.metadata.uid) ?? []))]
  const hasRuns =
    gathered.records.ok &&
    gathered.records.value.some(({ status }) =>
      status.workloads.some(
        ({ workload: ref, runs }) =>
          runs.length > 0 && ref.namespace === namespace && `${ref.kind.toLowerCase()}/${ref.name}` === workload,
      ),
    )
  const isWanted = behind.length > 0 || hasRuns || gathered.wanted.includes(workload)
  return isWanted ? [{ code: 'rolling-update', namespace, workload, strategy, behind, hasRuns }] : []
}
