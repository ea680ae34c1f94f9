import { expect, test } from 'vitest'
import type { Right } from '../../engine/rights.ts'
import { createScopeQueues } from '../../engine/traffic/scope-queues.ts'
import { service } from '../../endpoints/testing/objects.ts'
import { writeJournal } from '../../journal/journal.ts'
import { realisticJournal } from '../../journal/testing/journals.ts'
import { createVirtualClock } from '../../kube/testing/virtual-clock.ts'
import { JOURNAL_KEY } from '../../pods/view.ts'
import { parseSubject } from '../../library/request/subject.ts'
import { KINDS } from '../../workloads/kinds/index.ts'
import { createFakeApi } from '../../workloads/testing/fake-api.ts'
import { APPS, deployment, workload } from '../../workloads/testing/manifests.ts'
import { pod } from '../testing/observed.ts'
import { readExplanation } from './read-explanation.ts'
import { rightsOfExplain } from './rights.ts'

/* The rights that `sluice rbac --for explain` prints are exactly those that explain uses. */

/** The rights as texts, such as `list apps/statefulsets in shop`. */
function rightsIn(namespace: string, rights: readonly Right[]): string[] {
  return rights.flatMap(({ group, resource, verbs }) => verbs.map((verb) => `${verb} ${group}/${resource} in ${namespace}`))
}

function rightFor({ method, path }: { method: string; path: string }): string[] {
  const found = /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+))?\/([^/]+)/.exec(path)
  // Every client may read the version.
  if (found === null) return []
  const [, group = '', namespace = '', resource] = found
  return [`${method.toLowerCase()} ${group}/${resource} in ${namespace}`]
}

test('each right is asked for, and each call is covered by one', async () => {
  const { inNamespace, ofCluster, ofHeartbeats } = rightsOfExplain([], KINDS)
  const granted = [...rightsIn('shop', inNamespace), ...rightsIn('', ofCluster), ...rightsIn('kube-node-lease', ofHeartbeats)]

  const api = createFakeApi()
  const owner = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5f7d', uid: 'r', controller: true }]
  for (let index = 0; index < 21; index += 1) {
    const annotations = { [JOURNAL_KEY]: writeJournal({ ...realisticJournal, run: 'gone' }, `uid-of-web-${index}`) }
    const name = `web-${index}`
    const own = pod({ name, metadata: { ownerReferences: owner, annotations }, spec: { nodeName: `node-${index}` } })
    api.put(`/api/v1/namespaces/shop/pods/${name}`, own)
  }
  api.put('/api/v1/namespaces/shop/services/web', service())
  api.put(`${APPS}/deployments/web`, deployment())
  api.put(`${APPS}/statefulsets/web`, workload())
  api.put(`${APPS}/daemonsets/web`, workload())
  for (const object of ['pod/web-0', 'svc/web', 'deploy/web', 'sts/web', 'ds/web']) {
    const subject = parseSubject(object)
    if (!subject.ok) throw new Error(subject.problem)
    const { ok: _ok, ref, ...about } = subject
    const clock = createVirtualClock()
    let isOver = false
    void readExplanation(
      { namespace: 'shop', about: { ...about, namespace: 'shop' }, ...(ref === undefined ? {} : { ref }) },
      {
        client: api.client,
        kinds: KINDS,
        clock,
        loadBalancers: [],
        queues: createScopeQueues(clock),
        signal: new AbortController().signal,
      },
    ).finally(() => (isOver = true))
    await clock.runUntil(() => isOver)
  }
  const asked = new Set(api.calls.flatMap(rightFor))
  expect([...asked].toSorted()).toEqual(granted.toSorted())
})
