import { drainIntentPatch, closePatch } from '../../../src/journal/patches.ts'
import { podView } from '../../../src/pods/view.ts'
import type { Journal } from '../../../src/pods/glossary.ts'
import type { ControlPlane } from '../endpoints/control-plane.ts'
import { at } from './workload.ts'

type Plane = Pick<ControlPlane, 'ask' | 'patch'>

/** Writes the first record of an upgrade onto a pod, as `sluice upgrade` does before it drains it. */
export async function openJournal(plane: Plane, name: string): Promise<void> {
  const pod = podView(await plane.ask('GET', at('pods', name)))
  const baseline = pod.containers.map(({ name: container, image, containerId, imageId }) => ({
    name: container,
    image,
    ...(containerId && { containerId }),
    ...(imageId && { imageId }),
  }))
  const target = { loadBalancer: 'edge', target: `${pod.ip}:8080`, scope: 'web', prior: 'in', untouched: false }
  const journal: Journal = { run: 'run-1', epoch: 1, attempt: 1, step: 'drain', baseline, targets: [target] }
  await plane.patch(`${at('pods', name)}/status`, drainIntentPatch(pod, journal, [{ container: 'app', image: 'app:v2' }]))
}

/** Writes the last record of the upgrade. */
export async function closeJournal(plane: Plane, name: string): Promise<void> {
  const pod = podView(await plane.ask('GET', at('pods', name)))
  const journal: Journal = { run: 'run-1', epoch: 1, attempt: 1, step: 'closed', baseline: [], targets: [] }
  await plane.patch(`${at('pods', name)}/status`, closePatch(pod, journal))
}
