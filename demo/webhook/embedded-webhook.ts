import { systemClock } from '../../src/ports/system.ts'
import { admitNow, type AdmissionOptions } from '../../src/webhook/admission/admit.ts'
import { readReview } from '../../src/webhook/admission/review.ts'
import { type ClusterChange, createClusterIndex } from '../../src/webhook/cluster/cluster-index.ts'
import { keptEndpoints, keptNode, keptPod, keptService, keptSlice } from '../../src/webhook/cluster/kept-fields.ts'
import { decide } from '../../src/webhook/decide/decide.ts'
import { parseRuleSet } from '../../src/webhook/rules/parse-rule-set.ts'
import type { RuleSet } from '../../src/webhook/rules/rule-set.ts'
import { applyJsonPatch } from '../../sim/api-server/json-patch.ts'
import type { ApiServer, KubeObject, MutatingHook, Resource } from '../../sim/api-server/server.ts'

/** The webhook of sluice in the embedded API server, as a mutating webhook configuration would call it. */
export interface EmbeddedWebhook {
  /** Puts rules in force, or none. @throws RulesError */
  setRules(document: string | undefined): void
}

interface Kind {
  kind: ClusterChange['kind']
  kept(raw: unknown): ClusterChange['object']
  /** The group and the version, for kinds that the webhook decides about. */
  decided?: { group: string; version: string; resource: string }
}

const KINDS: Readonly<Record<Resource, Kind>> = {
  pods: { kind: 'Pod', kept: keptPod },
  nodes: { kind: 'Node', kept: keptNode },
  services: { kind: 'Service', kept: keptService },
  'endpointslices.discovery.k8s.io': {
    kind: 'EndpointSlice',
    kept: keptSlice,
    decided: { group: 'discovery.k8s.io', version: 'v1', resource: 'endpointslices' },
  },
  endpoints: { kind: 'Endpoints', kept: keptEndpoints, decided: { group: '', version: 'v1', resource: 'endpoints' } },
}

/**
 * Has the rules decide about each write of endpoints in the namespace, by the objects as they are stored at that moment. A webhook outside of
 * the API server sees them some milliseconds later, and looks again then.
 */
export function embedWebhook(apiServer: ApiServer, namespace: string): EmbeddedWebhook {
  const cluster = createClusterIndex()
  let rules: RuleSet | undefined
  let requests = 0
  const options: AdmissionOptions = {
    scope: { namespaces: new Set([namespace]), own: 'sluice-webhook' },
    cluster,
    rules: () => rules,
    isListed: () => true,
    isStale: () => false,
    decide,
    warningOf: ({ code }) => code,
    mayFreeze: () => false,
    clock: systemClock,
  }

  function see(resource: Resource, is: 'put' | 'gone', object: KubeObject): void {
    const of = KINDS[resource]
    if (of !== undefined) cluster.apply({ kind: of.kind, is, object: of.kept(object) } as ClusterChange, systemClock.wallNow())
  }

  const decideWrite: MutatingHook = ({ resource, operation, object, before, dryRun, by }) => {
    if (rules === undefined) return object
    const { name } = object.metadata
    const request = readReview({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: {
        uid: `embedded-${(requests += 1)}`,
        resource: KINDS[resource]!.decided,
        name,
        namespace: object.metadata.namespace,
        operation,
        userInfo: { username: by },
        object,
        oldObject: before,
        dryRun,
      },
    })!
    const { response, answered } = admitNow(request, Number.POSITIVE_INFINITY, options)
    // A webhook fails open. Here, a decision that fails is a mistake of the demo.
    if (answered.result === 'failed') throw answered.error
    if (response.patch === undefined) return object
    return applyJsonPatch(object, JSON.parse(Buffer.from(response.patch, 'base64').toString('utf8'))) as KubeObject
  }

  const decided = Object.keys(KINDS).filter((resource) => KINDS[resource]!.decided !== undefined)
  const served = new Set(apiServer.kinds.map(({ resource }) => resource))
  for (const resource of Object.keys(KINDS))
    if (served.has(resource)) for (const object of apiServer.store.list(resource)) see(resource, 'put', object)
  apiServer.store.subscribe((resource, { before, after }) =>
    see(resource, after === undefined ? 'gone' : 'put', (after ?? before)!),
  )
  apiServer.mutate(decided, decideWrite)
  return {
    setRules(document) {
      rules = document === undefined ? undefined : parseRuleSet(document, 'the rules of the demo')
    },
  }
}
