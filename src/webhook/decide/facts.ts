import { SERVICE_NAME } from '../../endpoints/endpoint-labels.ts'
import { LIMITS } from '../rules/limits.ts'
import type { Facts, Meter } from '../rules/rule-set.ts'
import { countedService, missing, valueFor } from '../rules/values.ts'
import { valueOf } from '../rules/message-type.ts'
import { ENDPOINT, NODE, OBJECT, POD, REQUEST, SERVICE } from '../rules/variable-types.ts'
import type { StoredPod } from '../../endpoints/stored.ts'
import type { Question } from './question.ts'
import { type EndpointsObject, nameOf } from './endpoints-object.ts'
import type { Entry } from './entries.ts'

/** The name of the Service of an object. Endpoints have the name of their Service. */
export function serviceNameOf(subject: EndpointsObject): string | undefined {
  return subject.kind === 'Endpoints' ? nameOf(subject) : (subject.object.metadata.labels?.[SERVICE_NAME] ?? undefined)
}

/** The facts of an object, and those of each of its entries. */
export function factsFor(question: Question, subject: EndpointsObject, size: number): (entry: Entry, pod?: StoredPod) => Facts {
  const { cluster, nowAt, request } = question
  const { namespace } = subject.object.metadata
  const name = serviceNameOf(subject)
  const service = name === undefined ? undefined : cluster.service(namespace, name)
  const meter: Meter = { left: LIMITS.decisionSteps, turnsAt: undefined }
  const shared = {
    service: service === undefined ? missing(SERVICE) : countedService(SERVICE, service, () => cluster.podsOf(service)),
    object: valueOf(OBJECT, { ...subject.object, kind: subject.kind, size }),
    request: request === undefined ? missing(REQUEST) : valueOf(REQUEST, requestFields(request)),
    now: new Date(nowAt),
  }
  return (entry, pod) => {
    const node = entry.nodeName ?? pod?.spec.nodeName
    const endpoint = valueOf(ENDPOINT, {
      ...entry.raw,
      address: entry.addresses[0],
      addresses: entry.addresses,
      ...entry.wished,
      terminating: entry.terminating,
    })
    const values = {
      ...shared,
      endpoint,
      address: endpoint,
      pod: valueFor(POD, pod),
      node: valueFor(NODE, node === undefined ? undefined : cluster.node(node)),
    }
    return { nowAt, values, meter }
  }
}

function requestFields({ operation, dryRun, username, groups }: NonNullable<Question['request']>): object {
  return { operation, dryRun, userInfo: { username, groups } }
}
