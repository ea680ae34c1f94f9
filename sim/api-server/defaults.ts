import type { KubeObject } from './server.ts'

type Fields = Record<string, unknown>

/*
 * The defaults of the API server, as far as kubelet, controllers and sluice use them. An object without a missing field is returned
 * unchanged, as the same object.
 */

const CONTAINER = {
  imagePullPolicy: 'IfNotPresent',
  resources: {},
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
}
const POD_SPEC = {
  restartPolicy: 'Always',
  dnsPolicy: 'ClusterFirst',
  schedulerName: 'default-scheduler',
  securityContext: {},
  terminationGracePeriodSeconds: 30,
}
const WORKLOAD_SPEC: Record<string, Fields> = {
  StatefulSet: {
    replicas: 1,
    podManagementPolicy: 'OrderedReady',
    revisionHistoryLimit: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
  },
  DaemonSet: {
    revisionHistoryLimit: 10,
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
  },
  Deployment: {
    replicas: 1,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } },
  },
  ReplicaSet: { replicas: 1 },
}

export function withDefaults(object: KubeObject): KubeObject {
  if (object.kind === 'Pod') return withPart(object, 'spec', podSpec)
  const defaults = WORKLOAD_SPEC[object.kind]
  if (defaults === undefined) return object
  return withPart(object, 'spec', (spec) =>
    withPart(filled(spec, defaults), 'template', (template) => withPart(template, 'spec', podSpec)),
  )
}

function podSpec(spec: Fields): Fields {
  return withContainers(withContainers(filled(spec, POD_SPEC), 'containers'), 'initContainers')
}

function withContainers(spec: Fields, field: string): Fields {
  const containers = spec[field]
  if (!Array.isArray(containers)) return spec
  const complete = containers.map((container: Fields) => filled(container, CONTAINER))
  return complete.every((container, index) => container === containers[index]) ? spec : { ...spec, [field]: complete }
}

function withPart<F extends Fields>(object: F, field: string, change: (part: Fields) => Fields): F {
  const part = object[field]
  if (typeof part !== 'object' || part === null) return object
  const changed = change(part as Fields)
  return changed === part ? object : { ...object, [field]: changed }
}

function filled(fields: Fields, defaults: Fields): Fields {
  return Object.keys(defaults).every((key) => fields[key] !== undefined) ? fields : { ...defaults, ...fields }
}
