import type { Cluster } from '../cluster.ts'
import { service, statefulSet } from '../manifests.ts'
import type { UpgradeBed } from '../upgrade-bed.ts'
import { startUpgradeBed } from '../upgrade-bed.ts'
import type { WatchedUpgrade, WatchOptions } from './watched-upgrade.ts'
import { watchUpgrade } from './watched-upgrade.ts'

/** The pods in the order of their upgrade. */
export const WEB_PODS = ['web-2', 'web-1', 'web-0']
const WORKLOAD = 'statefulset/web'
const IMAGES = ['localhost/app:v1', 'localhost/app:v2', 'localhost/app:v3']
/** A container with an image that it had within ten minutes waits ever longer before its start (CrashLoopBackOff). */
export const RUNS_PER_WEB_BED = IMAGES.length

export interface WebBedOptions {
  readyAfter?: number
  config?: Record<string, unknown>
}

/** Opens a bed with three pods of a StatefulSet, which most scenarios upgrade. */
export function openWebBed(
  cluster: Cluster,
  name: string,
  { readyAfter = 0.5, config = {} }: WebBedOptions = {},
): Promise<UpgradeBed> {
  const objects = [statefulSet({ name: 'web', namespace: name, readyAfter }), service({ name: 'web', namespace: name })]
  return startUpgradeBed(cluster, { name, objects, app: 'web', count: WEB_PODS.length, config })
}

/** Starts an upgrade to the next image. */
export async function watchWebUpgrade(bed: UpgradeBed, traffic: WatchOptions['traffic'] = {}): Promise<WatchedUpgrade> {
  const { spec } = await bed.cluster.api.get('StatefulSet', 'web', bed.namespace)
  const image = IMAGES[(IMAGES.indexOf(spec.template.spec.containers[0].image) + 1) % IMAGES.length]!
  return watchUpgrade(bed, { workload: WORKLOAD, pods: WEB_PODS, image, traffic })
}
