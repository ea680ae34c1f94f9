import type { KubeObject } from '../cluster/kube-api.ts'

/** What was seen, by object: a line for each state that differs from the one before. Instants and names are left out. */
export type Trace = Record<string, string[]>

/** Makes lines of objects as they are written. IDs, digests and addresses become numbers, in the order that they were seen. */
export interface TraceRecorder {
  pod(type: 'ADDED' | 'MODIFIED' | 'DELETED', pod: KubeObject): void
  endpointSlice(slice: KubeObject | undefined): void
  workload(workload: KubeObject): void
  node(node: KubeObject): void
  /** Forgets the lines but for the last of each object; numbers stay. */
  begin(): void
  trace(): Trace
}

/** Generations are in the lines where kubelets observe them. */
export function createTraceRecorder({ observesGenerations }: { observesGenerations: boolean }): TraceRecorder {
  const lines = new Map<string, string[]>()
  const numbers = new Map<string, Map<string, number>>()
  const incarnations = new Map<string, string[]>()
  const podNames = new Map<string, string>()

  function add(key: string, line: string): void {
    const known = lines.get(key)
    if (known === undefined) lines.set(key, [line])
    else if (known.at(-1) !== line) known.push(line)
  }

  function number(space: string, value: string | undefined): number {
    if (value === undefined || value === '') return 0
    const known = numbers.get(space) ?? new Map<string, number>()
    numbers.set(space, known)
    if (!known.has(value)) known.set(value, known.size + 1)
    return known.get(value)!
  }

  /** The same name for pods whose names are random, and a mark for those that were made again. */
  function keyOf({ metadata }: KubeObject): string {
    const owner = metadata.ownerReferences?.find((one: KubeObject) => one.controller)
    const name = owner === undefined || owner.kind === 'StatefulSet' ? metadata.name : `${owner.kind}'s pod`
    const uids = incarnations.get(name) ?? []
    incarnations.set(name, uids)
    if (!uids.includes(metadata.uid)) uids.push(metadata.uid)
    const key = `${name}${"'".repeat(uids.indexOf(metadata.uid))}`
    podNames.set(metadata.uid, key)
    return key
  }

  function podLine(pod: KubeObject): string {
    const { metadata, spec, status } = pod
    const { uid } = metadata
    const specs = [...(spec.initContainers ?? []), ...spec.containers].map((one: KubeObject) => shortImage(one.image))
    const marks = [
      metadata.deletionTimestamp === undefined ? '' : 'deleting',
      status.phase,
      conditionMark(status, 'Ready'),
      conditionMark(status, 'ContainersReady'),
      `address ${number(`${uid} address`, status.podIP)}`,
    ]
    const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])]
    const containers = statuses.map((one: KubeObject) => containerText(uid, one))
    const generation = observesGenerations ? `${metadata.generation}/${status.observedGeneration ?? 0}` : ''
    return [[...specs, generation, ...marks].filter(Boolean).join(' '), ...containers].join(' | ')
  }

  function containerText(uid: string, one: KubeObject): string {
    const space = `${uid} ${one.name}`
    const id = number(space, one.containerID)
    const last = one.lastState?.terminated
    return [
      `${one.name} #${id}`,
      `${shortImage(one.image)} digest ${number('digests', one.imageID)}`,
      stateText(one.state),
      one.ready ? 'ready' : 'unready',
      `restarts ${one.restartCount}`,
      ...(last === undefined ? [] : [`last #${number(space, last.containerID)} ${last.exitCode}`]),
    ].join(' ')
  }

  return {
    pod(type, pod) {
      const key = keyOf(pod)
      add(key, type === 'DELETED' ? 'gone' : podLine(pod))
    },
    endpointSlice(slice) {
      const here = new Map<string, string>()
      for (const { targetRef, conditions } of slice?.endpoints ?? []) {
        const { ready, serving, terminating } = conditions
        here.set(targetRef.uid, ready ? 'ready' : `not ready${serving ? ' serving' : ''}${terminating ? ' terminating' : ''}`)
      }
      for (const [uid, name] of podNames) {
        const key = `endpoint of ${name}`
        if (here.has(uid) || lines.has(key)) add(key, here.get(uid) ?? 'none')
      }
    },
    workload(workload) {
      const { metadata, status = {} } = workload
      const updated = status.updatedReplicas ?? status.updatedNumberScheduled ?? 0
      const ready = status.readyReplicas ?? status.numberReady ?? 0
      const count = status.replicas ?? status.currentNumberScheduled ?? 0
      const revision = status.updateRevision === undefined ? '' : ` revision ${number('revisions', status.updateRevision)}`
      const current = status.currentRevision === undefined ? '' : ` current ${number('revisions', status.currentRevision)}`
      add(
        workload.kind,
        `${metadata.generation}/${status.observedGeneration ?? 0} pods ${count} ready ${ready} updated ${updated}${revision}${current}`,
      )
    },
    node({ status }) {
      add('node', conditionMark(status, 'Ready') || 'Ready Unknown')
    },
    begin() {
      for (const [key, all] of lines) lines.set(key, all.slice(-1))
      for (const [key, [line]] of lines) if (line === 'gone' || line === 'none') lines.delete(key)
    },
    trace: () => Object.fromEntries([...lines].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

function conditionMark(status: KubeObject, type: string): string {
  const found = (status?.conditions ?? []).find((one: KubeObject) => one.type === type)
  return found?.status === 'True' ? type : found?.status === 'Unknown' ? `${type}?` : found === undefined ? '' : `not${type}`
}

function stateText(state: KubeObject): string {
  if (state?.running) return 'running'
  if (state?.terminated) return `terminated ${state.terminated.reason} ${state.terminated.exitCode}`
  return `waiting ${state?.waiting?.reason ?? ''}`
}

function shortImage(image: string): string {
  return image.replace('localhost/', '')
}
