import { z } from 'zod'
import type { ObjectRecord } from '../kube/reflector.ts'
import { REVISION_LABEL } from '../pods/view.ts'
import { LabelSelector } from './label-selector.ts'
import { templateContainers } from './pod-template.ts'

const Metadata = z.object({
  uid: z.string(),
  name: z.string(),
  namespace: z.string(),
  resourceVersion: z.string(),
  generation: z.number().default(0),
  deletionTimestamp: z.string().nullish(),
  labels: z.record(z.string(), z.string()).nullish(),
  annotations: z.record(z.string(), z.string()).nullish(),
  ownerReferences: z
    .array(
      z.object({
        apiVersion: z.string(),
        kind: z.string(),
        name: z.string(),
        uid: z.string(),
        controller: z.boolean().nullish(),
      }),
    )
    .nullish(),
})
type Metadata = z.infer<typeof Metadata>

function identity(metadata: Metadata): ObjectRecord {
  const { uid, name, namespace, resourceVersion } = metadata
  return { uid, name, namespace, resourceVersion }
}

function controllerOf(metadata: Metadata): Owner | undefined {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller)
  return owner && { apiVersion: owner.apiVersion, kind: owner.kind, name: owner.name, uid: owner.uid }
}

/** The controlling owner of an object. */
export interface Owner {
  apiVersion: string
  kind: string
  name: string
  uid: string
}

const RawWorkload = z.object({
  metadata: Metadata,
  spec: z.object({
    selector: LabelSelector,
    template: z.unknown(),
    updateStrategy: z.object({ type: z.string().default('') }).nullish(),
    paused: z.boolean().nullish(),
    replicas: z.number().nullish(),
    minReadySeconds: z.number().nullish(),
    ordinals: z.object({ start: z.number().nullish() }).nullish(),
  }),
  status: z
    .object({
      observedGeneration: z.number().nullish(),
      replicas: z.number().nullish(),
      desiredNumberScheduled: z.number().nullish(),
      updatedReplicas: z.number().nullish(),
      readyReplicas: z.number().nullish(),
      numberReady: z.number().nullish(),
      availableReplicas: z.number().nullish(),
      numberAvailable: z.number().nullish(),
      updateRevision: z.string().nullish(),
    })
    .default({}),
})

/** The pods that are Ready, and those that have been Ready for `minReadySeconds`, as their controller counted them last. */
export interface CountedPods {
  ready: number
  available: number
}

/** The fields that are kept of a StatefulSet, DaemonSet or Deployment. */
export interface WorkloadRecord extends ObjectRecord {
  generation: number
  observedGeneration: number
  deleting: boolean
  /** `spec.updateStrategy.type`; empty for a Deployment, which has none. */
  updateStrategy: string
  paused: boolean
  selector: LabelSelector
  /** `spec.template`, as the API returned it. */
  template: unknown
  /** The pods that the controller counts as its own; for a DaemonSet the pods that it should have. */
  replicas: number
  updatedReplicas: number
  /** The pods that the controller counts as Ready, and those of them that it counts as available. */
  counted: CountedPods
  /** `spec.replicas`, by default 1; without a meaning for a DaemonSet. */
  wantedReplicas: number
  /** `spec.minReadySeconds`: the time for which a pod has to be Ready before its owner counts it as available. */
  minReadyMs: number
  /** The ordinal of the first pod; for a StatefulSet only. */
  firstOrdinal: number
  /** For a StatefulSet only. */
  updateRevision?: string
  annotations: Readonly<Record<string, string>>
}

/** @throws z.ZodError if the object is no workload with a pod template */
export function workloadRecord(raw: unknown): WorkloadRecord {
  const { metadata, spec, status } = RawWorkload.parse(raw)
  templateContainers(spec.template)
  return {
    ...identity(metadata),
    generation: metadata.generation,
    observedGeneration: status.observedGeneration ?? 0,
    deleting: metadata.deletionTimestamp != null,
    updateStrategy: spec.updateStrategy?.type ?? '',
    paused: spec.paused ?? false,
    selector: spec.selector,
    template: spec.template,
    wantedReplicas: spec.replicas ?? 1,
    minReadyMs: (spec.minReadySeconds ?? 0) * 1000,
    firstOrdinal: spec.ordinals?.start ?? 0,
    replicas: status.replicas ?? status.desiredNumberScheduled ?? 0,
    updatedReplicas: status.updatedReplicas ?? 0,
    counted: {
      ready: status.readyReplicas ?? status.numberReady ?? 0,
      available: status.availableReplicas ?? status.numberAvailable ?? 0,
    },
    annotations: metadata.annotations ?? {},
    ...(status.updateRevision ? { updateRevision: status.updateRevision } : {}),
  }
}

const RawRevision = z.object({
  metadata: Metadata,
  revision: z.number(),
  data: z.object({ spec: z.object({ template: z.record(z.string(), z.unknown()) }) }),
})

/** The fields that are kept of a ControllerRevision: a current or former template of the workload. */
export interface RevisionRecord extends ObjectRecord {
  ownerUid?: string
  /** The number of the revision. A return to this template raises it above all others. */
  revision: number
  /** The label `controller-revision-hash` of the revision itself (DaemonSet only). */
  hash?: string
  template: unknown
}

/** @throws z.ZodError if the object is no ControllerRevision of a workload */
export function revisionRecord(raw: unknown): RevisionRecord {
  const { metadata, revision, data } = RawRevision.parse(raw)
  // The controllers store the template as a strategic merge patch that replaces the whole template.
  const { $patch: _directive, ...template } = data.spec.template
  const ownerUid = controllerOf(metadata)?.uid
  const hash = metadata.labels?.[REVISION_LABEL]
  return {
    ...identity(metadata),
    revision,
    template,
    ...(ownerUid === undefined ? {} : { ownerUid }),
    ...(hash === undefined ? {} : { hash }),
  }
}

const RawMade = z.object({
  metadata: Metadata,
  spec: z.object({ replicas: z.number().nullish(), minReadySeconds: z.number().nullish() }).default({}),
  status: z
    .object({
      replicas: z.number().nullish(),
      readyReplicas: z.number().nullish(),
      availableReplicas: z.number().nullish(),
    })
    .default({}),
})

/** The fields that are kept of an object between a workload and its pods, such as a ReplicaSet. */
export interface MadeRecord extends ObjectRecord {
  owner?: Owner
  /** The object has pods, or wants some. */
  active: boolean
  minReadyMs: number
  counted: CountedPods
}

/** @throws z.ZodError if the object has another structure */
export function madeRecord(raw: unknown): MadeRecord {
  const { metadata, spec, status } = RawMade.parse(raw)
  const owner = controllerOf(metadata)
  return {
    ...identity(metadata),
    ...(owner ? { owner } : {}),
    active: (spec.replicas ?? 1) > 0 || (status.replicas ?? 0) > 0,
    minReadyMs: (spec.minReadySeconds ?? 0) * 1000,
    counted: { ready: status.readyReplicas ?? 0, available: status.availableReplicas ?? 0 },
  }
}
