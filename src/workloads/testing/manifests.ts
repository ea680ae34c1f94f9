import type { PodView } from '../../pods/glossary.ts'
import { podView } from '../../pods/view.ts'
import type { FakeApi, Raw } from './fake-api.ts'

export const NAMESPACE = 'shop'
export const APPS = `/apis/apps/v1/namespaces/${NAMESPACE}`
const LABELS = { app: 'web' }

export interface TemplateOptions {
  app?: string
  sidecar?: string
  env?: Record<string, string>
}

export function template({
  app = 'registry/app:v1',
  sidecar = 'registry/sidecar:v1',
  env = { FOO: 'a' },
}: TemplateOptions = {}): Raw {
  return {
    metadata: { creationTimestamp: null, labels: LABELS },
    spec: {
      initContainers: [{ name: 'proxy', image: 'registry/proxy:v1', restartPolicy: 'Always' }],
      containers: [
        { name: 'app', image: app, env: Object.entries(env).map(([name, value]) => ({ name, value })), resources: {} },
        { name: 'sidecar', image: sidecar, resources: {} },
      ],
    },
  }
}

export interface WorkloadOptions {
  name?: string
  template?: Raw
  updateStrategy?: Raw
  replicas?: number
}

/** A StatefulSet or a DaemonSet without a status. */
export function workload({
  name = 'web',
  template: own = template(),
  updateStrategy = { type: 'OnDelete' },
  replicas = 3,
}: WorkloadOptions = {}): Raw {
  return {
    metadata: { name, namespace: NAMESPACE },
    spec: { replicas, selector: { matchLabels: LABELS }, template: own, updateStrategy },
    status: { replicas, desiredNumberScheduled: replicas },
  }
}

export function deployment(replicas = 3): Raw {
  return {
    metadata: { name: 'web', namespace: NAMESPACE, generation: 1 },
    spec: { replicas, selector: { matchLabels: LABELS }, template: template() },
    status: { replicas, updatedReplicas: replicas, observedGeneration: 1 },
  }
}

export function replicaSet(name: string, owner: Raw | undefined, replicas = 3): Raw {
  return {
    metadata: { name, namespace: NAMESPACE, labels: LABELS, ...(owner ? { ownerReferences: [owner] } : {}) },
    spec: { replicas },
    status: { replicas },
  }
}

export function ownerOf(
  apiVersion: string,
  kind: string,
  name: string,
  uid = `uid-of-${APPS}/${kind.toLowerCase()}s/${name}`,
): Raw {
  return { apiVersion, kind, name, uid, controller: true }
}

export interface PodOptions {
  name?: string
  uid?: string
  revision?: string
  template?: Raw
  owner?: Raw
  deleting?: boolean
}

export function rawPod({
  name = 'web-0',
  uid = `uid-${name}`,
  revision,
  template: own = template(),
  owner,
  deleting,
}: PodOptions = {}): Raw {
  return {
    metadata: {
      name,
      namespace: NAMESPACE,
      uid,
      resourceVersion: '1',
      labels: { ...LABELS, ...(revision === undefined ? {} : { 'controller-revision-hash': revision }) },
      ...(owner ? { ownerReferences: [owner] } : {}),
      ...(deleting ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}),
    },
    spec: own.spec,
    status: { phase: 'Running' },
  }
}

export function pod(options: PodOptions = {}): PodView {
  return podView(rawPod(options))
}

/**
 * A controller of the revisions of StatefulSets and DaemonSets: one revision for each template, with a raised number if the workload
 * returns to it. `held` delays it until `release`.
 */
export function startRevisionController(api: FakeApi, options: { held?: boolean } = {}): { release(): void } {
  let { held = false } = options
  const waiting = new Set<string>()

  function reconcile(path: string): void {
    const object = api.get(path)
    if (!object || object.status?.observedGeneration === object.metadata.generation) return
    const isDaemonSet = path.includes('/daemonsets/')
    const { name, uid } = object.metadata
    const prefix = `${APPS}/controllerrevisions/${name}-`
    const data = { spec: { template: { ...object.spec.template, $patch: 'replace' } } }
    const known = api.list(prefix)
    const same = known.find(([, revision]) => JSON.stringify(revision.data) === JSON.stringify(data))
    const number = Math.max(0, ...known.map(([, revision]) => revision.revision)) + 1
    const hash = same ? same[1].metadata.name.slice(name.length + 1) : `hash${number}`
    if (!same || same[1].revision !== number - 1) {
      api.put(`${prefix}${hash}`, {
        metadata: {
          name: `${name}-${hash}`,
          namespace: NAMESPACE,
          labels: { ...LABELS, ...(isDaemonSet ? { 'controller-revision-hash': hash } : {}) },
          ownerReferences: [{ ...ownerOf('apps/v1', isDaemonSet ? 'DaemonSet' : 'StatefulSet', name), uid }],
        },
        revision: number,
        data,
      })
    }
    api.edit(path, (stored) => {
      stored.status = { ...stored.status, observedGeneration: stored.metadata.generation }
      if (!isDaemonSet) stored.status.updateRevision = `${name}-${hash}`
    })
  }

  api.onStored = (path) => {
    if (!/\/(statefulsets|daemonsets)\//.test(path)) return
    if (held) waiting.add(path)
    else setImmediate(() => reconcile(path))
  }
  return {
    release() {
      held = false
      for (const path of waiting) reconcile(path)
    },
  }
}
