import type { Model } from './difference.ts'

/** Errors that a model of the controllers may have. */
export const planted: Readonly<Record<string, (model: Model) => Model>> = {
  'a pod that terminates is in no slice': (model) => (service, snapshot) => {
    const { made, ...rest } = model(service, snapshot)
    const groups = made?.slices.groups.map((group) => ({
      ...group,
      endpoints: group.endpoints.filter(({ conditions }) => !conditions.terminating),
    }))
    return made === undefined ? rest : { ...rest, made: { ...made, slices: { ...made.slices, groups: groups! } } }
  },
  'what is published counts as serving': (model) => (service, snapshot) => {
    const { made, ...rest } = model(service, snapshot)
    const groups = made?.slices.groups.map((group) => ({
      ...group,
      endpoints: group.endpoints.map((one) => ({ ...one, conditions: { ...one.conditions, serving: one.conditions.ready } })),
    }))
    return made === undefined ? rest : { ...rest, made: { ...made, slices: { ...made.slices, groups: groups! } } }
  },
  'a named port is found under any protocol': (model) => (service, snapshot) => {
    const wanted = (service.spec.ports ?? []).find(({ targetPort }) => targetPort === 'dns')?.protocol
    const pods = snapshot.pods.map((pod) => ({
      ...pod,
      spec: {
        ...pod.spec,
        containers: pod.spec.containers.map((container) => ({
          ...container,
          ports: (container.ports ?? []).map((port) => (port.name === 'dns' && wanted ? { ...port, protocol: wanted } : port)),
        })),
      },
    }))
    return model(service, { ...snapshot, pods })
  },
  'Endpoints keep a pod that terminates': (model) => (service, snapshot) => {
    const pods = snapshot.pods.map(({ metadata, ...pod }) => {
      const { deletionTimestamp: _deletionTimestamp, ...rest } = metadata
      return { ...pod, metadata: rest }
    })
    const [right, wrong] = [model(service, snapshot), model(service, { ...snapshot, pods })]
    if (right.made === undefined || wrong.made === undefined) return right
    return { ...right, made: { ...right.made, endpoints: wrong.made.endpoints } }
  },
}
