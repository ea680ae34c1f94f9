import { afterEach, expect, it } from 'vitest'
import type { EndpointChange } from '../../../src/observer/told.ts'
import { namespace } from '../manifests.ts'
import { describeOnCluster } from '../shared-cluster.ts'
import { removeNamespace } from '../workloads.ts'
import { type Access, doctor, doctorFindings, explain, reasonCodes, startObserve } from './commands.ts'

/*
 * The database is outside of the cluster. Its Service has a selector that no pod matches, and its address was written into the Endpoints
 * by hand. The next sync of the Service removes the address.
 */

const NAME = 'incident-selector'
const DATABASE = '192.0.2.10'

describeOnCluster('Endpoints by hand of a Service with a selector', (cluster) => {
  afterEach(() => removeNamespace(cluster().api, NAME))

  it('are told while they work, with their writer; explain says what becomes of them, and observe that they are reset', async () => {
    const { api, kubeconfig } = cluster()
    const access: Access = { kubeconfig: kubeconfig.host, namespace: NAME }
    await api.apply(namespace(NAME), {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'database', namespace: NAME },
      spec: { selector: { app: 'database' }, ports: [{ port: 5432 }] },
    })
    const addresses = async (): Promise<string[]> =>
      ((await api.get('Endpoints', 'database', NAME)).subsets ?? []).flatMap((subset: { addresses?: { ip: string }[] }) =>
        (subset.addresses ?? []).map(({ ip }) => ip),
      )
    await api.waitForObject('Endpoints', 'database', NAME, () => true)
    let touches = 0
    async function touch(): Promise<void> {
      await api.patch('Service', 'database', NAME, { metadata: { labels: { touched: String((touches += 1)) } } })
      await api.waitFor('the reset', addresses, (all) => all.length === 0)
    }
    function writeByHand(): Promise<unknown> {
      const subsets = [{ addresses: [{ ip: DATABASE }], ports: [{ port: 5432, protocol: 'TCP' }] }]
      const path = `/api/v1/namespaces/${NAME}/endpoints/database?fieldManager=kubectl-edit`
      return api.request('PATCH', path, { subsets }, 'application/merge-patch+json')
    }

    const observation = await startObserve(access)
    // A touch of the Service alone causes no finding.
    await touch()
    expect(doctorFindings(await doctor(access)).map(({ code }) => code)).toEqual([])
    expect(reasonCodes(await explain(access, 'service/database'))).toEqual(['selects-nothing'])
    expect(observation.codes()).toEqual([])
    expect(await observation.alerts()).toEqual([])

    await writeByHand()
    expect(await observation.found('endpoints-by-hand')).toMatchObject({
      service: 'database',
      by: { manager: 'kubectl-edit', is: 'person' },
      addresses: [DATABASE],
    })
    expect(await observation.alerts()).toEqual(['SluiceEndpointsByHand'])
    const report = await doctor(access)
    expect([report.exit, doctorFindings(report)]).toMatchObject([
      3,
      [{ code: 'endpoints-by-hand', service: 'database', namespace: NAME }],
    ])
    const byHand = await explain(access, 'service/database')
    expect(byHand.exit).toBe(1)
    expect(byHand.findings.map(({ reason }) => reason)).toMatchObject([
      { code: 'selects-nothing' },
      { code: 'stale-address', object: { kind: 'Endpoints', name: 'database' }, address: DATABASE, because: 'no-pod-named' },
      { code: 'written-by-other', object: { kind: 'Endpoints' }, writer: { manager: 'kubectl-edit', is: 'person' } },
    ])
    expect(byHand.findings.at(-1)!.reason).toMatchObject({ message: expect.stringContaining('overwrites it when') })

    await touch()
    const gone = await observation.sees('the address go', (change) => change.type === 'endpoint' && change.change === 'gone')
    expect(gone as EndpointChange).toMatchObject({ object: 'Endpoints', service: 'database', address: DATABASE })
    const reset = await explain(access, 'service/database')
    expect(reasonCodes(reset)).toEqual(['selects-nothing'])
    expect(reset.services).toMatchObject([{ endpoints: { ready: 0, writtenBy: { is: 'controller-manager' } } }])

    // An operator that wants the address back writes it again and again.
    await writeByHand()
    expect(await observation.found('writers-undo-each-other')).toMatchObject({
      object: 'Endpoints',
      service: 'database',
      writers: [{ is: 'controller-manager' }, { manager: 'kubectl-edit' }],
    })
    expect(await observation.alerts()).toEqual(['SluiceEndpointsByHand', 'SluiceWritersUndoEachOther'])
    const { findings } = await observation.end()
    expect(findings.map(({ code }) => code)).toEqual(['writers-undo-each-other', 'endpoints-by-hand'])
  })
})
