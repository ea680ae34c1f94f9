import type { ObjectRecord, ReflectorEvent } from '../../kube/reflector.ts'
import { openCollection } from '../../observation/collection.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Random } from '../../ports/random.ts'
import { CONTROL_PLANE_PARTS } from '../events.ts'
import type { LeaseChange } from '../told.ts'

export type UnstampedLease = LeaseChange extends infer One
  ? One extends LeaseChange
    ? Omit<One, 'at' | 'cluster'>
    : never
  : never

export interface LeasePorts {
  client: KubeClient
  clock: Clock
  random: Random
  signal: AbortSignal
  emit(change: UnstampedLease): void
}

interface Lease extends ObjectRecord {
  renewTime: string
}

/** Watches the Leases of nodes and of the leaders of the control plane. A Lease that cannot be read is no finding. */
export async function watchLeases(ports: LeasePorts): Promise<void> {
  await Promise.all([watchNodes(ports), watchParts(ports)])
}

function watchNodes(ports: LeasePorts): Promise<void> {
  const last = new Map<string, number>()
  return watch(ports, 'kube-node-lease', {
    onEvent({ type, record: { uid, name, renewTime } }) {
      const [before, renewedAt] = [last.get(uid), Date.parse(renewTime)]
      if (type === 'deleted') return void last.delete(uid)
      last.set(uid, renewedAt)
      // Both instants are by the clock of one kubelet, so that they can be compared.
      if (before !== undefined && renewedAt > before) ports.emit({ type: 'node-renewed', node: name, gapMs: renewedAt - before })
    },
    // Renewals that a broken watch has missed would look like a gap.
    onCurrent(isCurrent) {
      if (!isCurrent) last.clear()
    },
  })
}

function watchParts(ports: LeasePorts): Promise<void> {
  const last = new Map<string, string>()
  let wasLost = false
  const partOf = (name: string) => CONTROL_PLANE_PARTS.find((part) => part === name)
  return watch(ports, 'kube-system', {
    onEvent({ type, record: { name, renewTime } }) {
      const part = partOf(name)
      if (part === undefined) return
      if (type === 'deleted') {
        last.delete(part)
        return ports.emit({ type: 'part-unknown', part })
      }
      if (last.get(part) === renewTime) return
      last.set(part, renewTime)
      ports.emit({ type: 'part-renewed', part })
    },
    // While Leases cannot be read, their age is unknown. Leases that can be read again count as renewed now.
    onCurrent(isCurrent) {
      if (isCurrent && !wasLost) return
      wasLost = !isCurrent
      for (const part of CONTROL_PLANE_PARTS)
        if (last.has(part)) ports.emit({ type: isCurrent ? 'part-renewed' : 'part-unknown', part })
    },
  })
}

interface Taking {
  onEvent(event: ReflectorEvent<Lease>): void
  onCurrent(isCurrent: boolean): void
}

function watch({ client, clock, random, signal }: LeasePorts, namespace: string, { onEvent, onCurrent }: Taking): Promise<void> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`
  return openCollection({ client, clock, random, path, decode: leaseOf, onEvent, onCurrent, signal }).ended
}

function leaseOf(raw: unknown): Lease {
  const { metadata, spec } = raw as {
    metadata: { uid: string; name: string; namespace: string; resourceVersion: string }
    spec?: { renewTime?: string }
  }
  const { uid, name, namespace, resourceVersion } = metadata
  return { uid, name, namespace, resourceVersion, renewTime: spec?.renewTime ?? '' }
}
