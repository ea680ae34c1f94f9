import type { KubeObject, NewObject, Store } from '../api-server/server.ts'
import { type Pod, type PodSpec, isFinished } from '../kubelet/pod.ts'

/** The fields of a StatefulSet, DaemonSet, ReplicaSet or Deployment that the controllers read. */
export interface WorkloadObject extends KubeObject {
  spec: {
    replicas?: number
    minReadySeconds?: number | undefined
    selector: { matchLabels?: Record<string, string> }
    template: PodTemplate
    updateStrategy?: { type?: string }
    revisionHistoryLimit?: number
    ordinals?: { start?: number }
    podManagementPolicy?: string
    serviceName?: string
    [field: string]: unknown
  }
  status?: { observedGeneration?: number; [field: string]: unknown }
}

export interface PodTemplate {
  metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }
  spec: PodSpec
}

export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller: true
  blockOwnerDeletion: true
}

export function ownerReference({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}

export function controllerOf(object: KubeObject | undefined): { kind: string; name: string; uid: string } | undefined {
  return object?.metadata.ownerReferences?.find(({ controller }) => controller)
}

/** Returns the pods of the owner, including the pods that are going away. */
export function podsOf(store: Store, owner: KubeObject): Pod[] {
  const pods = store.list('pods', owner.metadata.namespace) as Pod[]
  return pods.filter((pod) => controllerOf(pod)?.uid === owner.metadata.uid)
}

export function isActive(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp === undefined && !isFinished(pod)
}

/** Returns a new pod of the template. */
export function podOf(owner: WorkloadObject, name: string, labels: Record<string, string>): NewObject & { spec: PodSpec } {
  const { metadata = {}, spec } = owner.spec.template
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: owner.metadata.namespace ?? 'default',
      labels: { ...metadata.labels, ...labels },
      ...(metadata.annotations === undefined ? {} : { annotations: metadata.annotations }),
      ownerReferences: [ownerReference(owner)],
    },
    spec,
  }
}

const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

/** Returns random letters and digits, as Kubernetes appends them to names. */
export function nameSuffix(random: () => number): string {
  return Array.from({ length: 5 }, () => LETTERS[Math.floor(random() * LETTERS.length)]).join('')
}

/** Returns a short name for a template. Equal templates have equal names. */
export function templateHash(template: PodTemplate): string {
  // FNV-1a over the JSON. Only its stability matters.
  let hash = 0x811c9dc5
  for (const letter of JSON.stringify(template)) {
    hash = Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193) >>> 0
  }
  let text = ''
  for (let rest = hash; text.length < 10; rest = Math.imul(rest ^ (rest >>> 15), 0x2c1b3c6d) >>> 0) {
    text += LETTERS[rest % LETTERS.length]
  }
  return text
}
