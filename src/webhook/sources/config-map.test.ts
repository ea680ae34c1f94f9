import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type KubernetesProcess, startKubernetes } from '../../../adapters/conformance/beds/kubernetes-process.ts'
import { chosenVersion } from '../../../test/cluster/kubernetes-versions.ts'
import { findKubernetes } from '../../../test/products/kubernetes.ts'
import { describeOn } from '../../../test/products/program.ts'
import { connect, type Connection } from '../../kube/connect.ts'
import { makeTemporaryFolder, type TemporaryFolder } from '../../kube/testing/temporary-folder.ts'
import { until } from '../../kube/testing/until.ts'
import { systemClock, systemRandom } from '../../ports/system.ts'
import { parseRulesFrom } from './rules-from.ts'
import { ruleDocument } from './testing/document.ts'
import { open, type OpenedRules } from './testing/open.ts'

const PATH = '/api/v1/namespaces/default/configmaps'
const from = parseRulesFrom('configmap:default/rules/rules.yaml')

describeOn(await findKubernetes(chosenVersion()), (programs) => {
  let kubernetes: KubernetesProcess
  let connection: Connection
  let folder: TemporaryFolder
  let opened: OpenedRules | undefined

  beforeAll(async () => {
    folder = makeTemporaryFolder()
    // The rights of the docs, which name the object, and what the bed asks after a restart.
    const services = { apiGroups: [''], resources: ['services'], verbs: ['get'] }
    const rules = [
      services,
      { apiGroups: [''], resources: ['configmaps'], resourceNames: ['rules'], verbs: ['get', 'list', 'watch'] },
    ]
    kubernetes = await startKubernetes({ programs, rules })
    connection = await connectAs('sluice')
  }, 90_000)
  afterEach(async () => {
    await opened?.close()
    await kubernetes.ask('DELETE', `${PATH}/rules`).catch(() => {})
  })
  afterAll(async () => {
    await connection?.close()
    await kubernetes?.stop()
    folder.remove()
  })

  function connectAs(user: 'sluice' | 'stranger'): Promise<Connection> {
    const kubeconfig = join(folder.path, `${user}.kubeconfig`)
    writeFileSync(kubeconfig, kubernetes.kubeconfig(user))
    return connect({ kubeconfig, clock: systemClock, random: systemRandom })
  }

  function openConfigMap({ client } = connection): OpenedRules {
    return (opened = open({ from, client }))
  }

  const create = (content: object): Promise<unknown> => kubernetes.ask('POST', PATH, { metadata: { name: 'rules' }, ...content })
  async function replace(content: object): Promise<void> {
    await kubernetes.ask('PUT', `${PATH}/rules`, { metadata: { name: 'rules' }, ...content })
  }
  const document = (version: number): object => ({ data: { 'rules.yaml': ruleDocument(version) } })

  test('a ConfigMap is read, changed, without its key, invalid, deleted, and made again', async () => {
    await create(document(1))
    const rules = openConfigMap()
    await rules.source.settled
    expect(rules.version()).toBe('1')
    await replace(document(2))
    await rules.untilVersion('2')
    await replace({ data: { other: ruleDocument(3) } })
    await rules.untilProblem('document-missing')
    expect(rules.source.problem()).toMatchObject({ lacks: 'key' })
    await replace({ data: { 'rules.yaml': 'no rules' } })
    await rules.untilProblem('document-refused')
    await kubernetes.ask('DELETE', `${PATH}/rules`)
    await until(() => {
      const problem = rules.source.problem()
      return problem?.code === 'document-missing' && problem.lacks === 'config-map'
    })
    expect(rules.version()).toBe('2')
    await create({ binaryData: { 'rules.yaml': Buffer.from(ruleDocument(4)).toString('base64') } })
    await rules.untilVersion('4')
    expect(rules.problemCode()).toBeUndefined()
  })

  test('another ConfigMap is never read', async () => {
    await kubernetes.ask('POST', PATH, { metadata: { name: 'aaa' }, data: { 'rules.yaml': ruleDocument(9) } })
    const rules = openConfigMap()
    await rules.untilProblem('document-missing')
    await create(document(1))
    await rules.untilVersion('1')
    expect(rules.changes.filter(({ code }) => code === 'rules-accepted')).toHaveLength(1)
  })

  test('without the right to read it, the source is away, and says what the API server says', async () => {
    await create(document(1))
    const stranger = await connectAs('stranger')
    const rules = openConfigMap(stranger)
    await rules.untilProblem('source-away')
    expect(rules.source.problem()).toMatchObject({ fault: { code: 'api-refused', said: expect.stringContaining('stranger') } })
    expect(rules.version()).toBeUndefined()
    await rules.close()
    await stranger.close()
  })

  test('rules stay in force while the API server is away, and changes meanwhile come when it is back', async () => {
    await create(document(1))
    const rules = openConfigMap()
    await rules.untilVersion('1')
    const restarted = kubernetes.restart()
    await until(() => rules.source.state().unconfirmedMs > 300)
    expect(rules.version()).toBe('1')
    await restarted
    await replace(document(2))
    await rules.untilVersion('2')
    await until(() => rules.source.state().unconfirmedMs < 300)
  }, 90_000)
})
