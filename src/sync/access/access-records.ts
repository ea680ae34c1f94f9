import { parseService } from '../../endpoints/parse-objects.ts'
import type { ObjectRecord } from '../../kube/reflector.ts'
import type { AccessService } from '../decide/decide-service.ts'
import type { SourceService } from '../model.ts'
import { SYNC_MANAGER } from '../own-slice.ts'

export interface AccessServiceRecord extends ObjectRecord {
  readonly service: AccessService
}

interface Meta extends ObjectRecord {
  readonly deletionTimestamp?: string
}

/** @throws z.ZodError where `raw` is no Service */
export function accessService(raw: unknown): AccessServiceRecord {
  const { metadata, spec } = parseService(raw)
  const { uid, name, namespace, resourceVersion, deletionTimestamp } = metadata as unknown as Meta
  const { type, selector, ports = [], ipFamilies } = spec
  const service: AccessService = {
    uid,
    ...(type === undefined ? {} : { type }),
    ...(selector === undefined ? {} : { selector }),
    ports: ports.map(({ name: port }) => (port === undefined ? {} : { name: port })),
    ...(ipFamilies === undefined ? {} : { families: ipFamilies }),
    isBeingDeleted: deletionTimestamp !== undefined,
  }
  return { uid, name, namespace, resourceVersion, service }
}

/** The label of a Service that sync has made. */
export const MADE_BY = 'app.kubernetes.io/managed-by'

/** A Service without a selector, with the ports of the one in the source. Its slices are those of sync. */
export function serviceBody(namespace: string, name: string, { ports, isHeadless, families }: SourceService): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { [MADE_BY]: SYNC_MANAGER } },
    spec: {
      ...(isHeadless ? { clusterIP: 'None' } : {}),
      ...familyFields(families),
      // Nothing but the names of ports leads from the Service to its slices. The target port is for people.
      ports: ports.map(({ name: port, port: number, protocol, appProtocol }) => ({
        ...(port === undefined ? {} : { name: port }),
        port: number,
        targetPort: number,
        ...(protocol === undefined ? {} : { protocol }),
        ...(appProtocol === undefined ? {} : { appProtocol }),
      })),
    },
  }
}

/** One family is asked for by its name. Of two, the access cluster may have one alone, and the order is its own. */
function familyFields(families: SourceService['families'] = []): object {
  if (families.length === 0) return {}
  return families.length === 1 ? { ipFamilies: families, ipFamilyPolicy: 'SingleStack' } : { ipFamilyPolicy: 'PreferDualStack' }
}
