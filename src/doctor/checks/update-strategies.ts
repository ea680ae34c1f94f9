import { displayName } from '../../pods/workload-id.ts'
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
    const isWanted = wantedInPlace(gathered)
    return together(
      needing(gathered, ['pods', 'statefulSets'], ({ pods, statefulSets }) => rolling('statefulset', statefulSets, isWanted(pods))),
      needing(gathered, ['pods', 'daemonSets'], ({ pods, daemonSets }) => rolling('daemonset', daemonSets, isWanted(pods))),
      balancers === undefined && !records.ok ? skippedFor({ code: 'no-config' }, records.because) : skippedFor(),
    )
  },
}

/** Why a workload is to be upgraded in place; undefined where nothing says so. */
type Wanted = (namespace: string, workload: string) => { behind: string[]; hasRuns: boolean } | undefined

function wantedInPlace(gathered: Gathered): (pods: readonly Pod[]) => Wanted {
  const { wanted, records } = gathered
  const byPod = balancersByPod(gathered)
  const statuses = records.ok ? records.value.flatMap(({ status }) => status.workloads) : []
  const withRuns = new Set(
    statuses
      .filter(({ runs }) => runs.length > 0)
      .map(({ workload }) => keyOf(workload.namespace, displayName(workload))),
  )
  return (pods) => {
    const balanced = Map.groupBy(
      pods.filter(({ metadata }) => byPod.has(metadata.uid)),
      (pod) => keyOf(pod.metadata.namespace, workloadOf(pod)),
    )
    return (namespace, workload) => {
      const key = keyOf(namespace, workload)
      const behind = [...new Set((balanced.get(key) ?? []).flatMap(({ metadata }) => byPod.get(metadata.uid) ?? []))]
      const hasRuns = withRuns.has(key)
      return behind.length > 0 || hasRuns || wanted.includes(workload) ? { behind, hasRuns } : undefined
    }
  }
}

function rolling(kind: string, some: readonly Revisioned[], isWanted: Wanted): Finding[] {
  return some.flatMap(({ metadata: { namespace, name }, spec }): Finding[] => {
    const strategy = spec?.updateStrategy?.type ?? DEFAULT
    const workload = `${kind}/${name}`
    const why = strategy === IN_PLACE ? undefined : isWanted(namespace, workload)
    return why === undefined ? [] : [{ code: 'rolling-update', namespace, workload, strategy, ...why }]
  })
}

function keyOf(namespace: string, workload: string): string {
  return `${namespace}/${workload}`
}
