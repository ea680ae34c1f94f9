import type { KubeObject } from '../api-server/server.ts'
import { type ContainerStatus, type Pod, isSidecar } from '../kubelet/pod.ts'
import { since } from './ages.ts'
import { age, type Column, name, NONE } from './column.ts'

const wide = true

export const podColumns: Column[] = [
  name,
  { name: 'Ready', cell: (object) => `${counted(object).filter(({ ready }) => ready).length}/${specsOf(object).length}` },
  { name: 'Status', cell: statusOf },
  { name: 'Restarts', cell: restartsOf },
  age,
  { name: 'IP', wide, cell: (object) => (object as Pod).status?.podIP ?? NONE },
  { name: 'Node', wide, cell: (object) => (object as Pod).spec.nodeName ?? NONE },
]

/** Returns the containers and sidecars of a pod. Init containers that end are not counted. */
function specsOf(object: KubeObject): { name: string }[] {
  const { containers, initContainers = [] } = (object as Pod).spec
  return [...initContainers.filter(isSidecar), ...containers]
}

function counted(object: KubeObject): ContainerStatus[] {
  const names = new Set(specsOf(object).map((spec) => spec.name))
  return all(object).filter((status) => names.has(status.name))
}

function all(object: KubeObject): ContainerStatus[] {
  const { status } = object as Pod
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
}

/** Returns the status word of kubectl: the phase, or a more specific word. */
function statusOf(object: KubeObject): string {
  const { metadata, status } = object as Pod
  if (metadata.deletionTimestamp !== undefined) return 'Terminating'
  const states = all(object).map(({ state }) => state)
  const waits = states.find(({ waiting }) => waiting?.reason !== undefined)?.waiting?.reason
  const ended = states.find(({ terminated }) => terminated !== undefined)?.terminated?.reason
  const runs = states.some(({ running }) => running !== undefined)
  return (
    waits ??
    (ended !== undefined && !(ended === 'Completed' && runs) ? ended : undefined) ??
    status?.reason ??
    status?.phase ??
    'Unknown'
  )
}

function restartsOf(object: KubeObject, wallNow: number): string {
  const statuses = counted(object)
  const restarts = statuses.reduce((sum, { restartCount }) => sum + restartCount, 0)
  const last = statuses
    .flatMap(({ lastState }) => lastState.terminated?.finishedAt ?? [])
    .sort()
    .at(-1)
  return restarts === 0 || last === undefined ? String(restarts) : `${restarts} (${since(last, wallNow)} ago)`
}
