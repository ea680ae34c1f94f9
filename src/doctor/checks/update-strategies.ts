import { displayName } from '../../pods/workload-id.ts'
import { type Check, needing, skippedFor, together } from '../check.ts'
import type { Finding } from '../findings.ts'
import type { Gathered, Template } from '../gathered.ts'
import type { Pod } from '../objects.ts'
import { ON_DELETE } from '../../workloads/update-strategy.ts'
import { balancersByPod } from './readiness-probes.ts'

/** The strategy of a workload whose manifest sets none. */
const DEFAULT = 'RollingUpdate'

/**
 * A workload that sluice upgrades in place does not replace its pods by itself. Such workloads are those named in the request, those
 * behind a load balancer of the config, and those that sluice has upgraded before.
 */
export const updateStrategies: Check = {
  name: 'update-strategies',
  examine(gathered) {
    const { balancers, records } = gathered
    const isWanted = wantedInPlace(gathered)
    return together(
      ...gathered.templates.map((listed) =>
        listed.ok ? needing(gathered, ['pods'], ({ pods }) => rolling(listed.value, isWanted(pods))) : skippedFor(listed.because),
      ),
      balancers === undefined && !records.ok ? skippedFor({ code: 'no-config' }, records.because) : skippedFor(),
    )
  },
}

/** The reasons to upgrade a workload in place; undefined where there are none. */
type Wanted = (namespace: string, workload: string) => { behind: string[]; hasRuns: boolean } | undefined

function wantedInPlace(gathered: Gathered): (pods: readonly Pod[]) => Wanted {
  const { wanted, records, workloads } = gathered
  const byPod = balancersByPod(gathered)
  const statuses = records.ok ? records.value.flatMap(({ status }) => status.workloads) : []
  const withRuns = new Set(
    statuses.filter(({ runs }) => runs.length > 0).map(({ workload }) => keyOf(workload.namespace, displayName(workload))),
  )
  return (pods) => {
    const balanced = Map.groupBy(
      pods.filter(({ metadata }) => byPod.has(metadata.uid)),
      (pod) => keyOf(pod.metadata.namespace, workloads.get(pod.metadata.uid) ?? ''),
    )
    return (namespace, workload) => {
      const key = keyOf(namespace, workload)
      const behind = [...new Set((balanced.get(key) ?? []).flatMap(({ metadata }) => byPod.get(metadata.uid) ?? []))]
      const hasRuns = withRuns.has(key)
      return behind.length > 0 || hasRuns || wanted.includes(workload) ? { behind, hasRuns } : undefined
    }
  }
}

function rolling(some: readonly Template[], isWanted: Wanted): Finding[] {
  return some.flatMap(({ namespace, workload, strategy = DEFAULT }): Finding[] => {
    const why = strategy === ON_DELETE ? undefined : isWanted(namespace, workload)
    return why === undefined ? [] : [{ code: 'rolling-update', namespace, workload, strategy, ...why }]
  })
}

function keyOf(namespace: string, workload: string): string {
  return `${namespace}/${workload}`
}
