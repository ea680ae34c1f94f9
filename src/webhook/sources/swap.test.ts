import { afterEach, expect, test } from 'vitest'
import { systemClock } from '../../ports/system.ts'
import { serve, type Served } from '../../server/serve.ts'
import type { Answered } from '../admission/admission-event.ts'
import { admissionRoutes } from '../admission/routes.ts'
import { review } from '../admission/testing/review.ts'
import type { ClusterView } from '../cluster/cluster-view.ts'
import { decide } from '../decide/decide.ts'
import type { Decision } from '../decide/decision.ts'
import { type DocumentServer, startDocumentServer } from './testing/document-server.ts'
import { open, type OpenedRules } from './testing/open.ts'

const VERSIONS = 200
const ENDPOINTS = 40
const ASKERS = 8

let documents: DocumentServer
let served: Served
let opened: OpenedRules
afterEach(async () => {
  await opened.close()
  await served.close({ graceMs: 0 })
  await documents.close()
})

const address = (index: number): string => `10.0.0.${index}`

/** A rule for each endpoint. Odd versions take all out, and even ones leave all in. */
function rulesOf(version: number): string {
  const effect = version % 2 === 1 ? 'notReady' : 'ready'
  const rules = Array.from(
    { length: ENDPOINTS },
    (_, index) => `  - {name: r${index}-v${version}, when: 'endpoint.address == "${address(index)}"', effect: ${effect}}`,
  )
  return ['apiVersion: sluice.dev/v1', 'kind: EndpointRules', `metadata: {version: v${version}}`, 'rules:', ...rules, ''].join(
    '\n',
  )
}

const slice = {
  metadata: { name: 'web-abc', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
  addressType: 'IPv4',
  ports: [],
  endpoints: Array.from({ length: ENDPOINTS }, (_, index) => ({
    addresses: [address(index)],
    conditions: { ready: index % 2 === 0, serving: index % 2 === 0 },
  })),
}

/** The decision rests on each rule of its version, and on no other. */
function isWhole({ ruleSet, endpoints }: Decision): boolean {
  const isReady = Number(ruleSet.slice(1)) % 2 === 0
  return (
    endpoints.length === ENDPOINTS &&
    endpoints.every(({ rule, as }, index) => rule === `r${index}-${ruleSet}` && as !== 'removed' && as.ready === isReady)
  )
}

/** The answer of the webhook has a patch that makes all endpoints alike. */
function isUniform({ patch = '' }: { patch?: string }): boolean {
  const operations = JSON.parse(Buffer.from(patch, 'base64').toString() || '[]') as { path: string; value?: unknown }[]
  const values = operations.filter(({ path }) => path.endsWith('/ready')).map(({ value }) => value)
  return values.length === ENDPOINTS / 2 && new Set(values).size === 1
}

test('rules that change 200 times under load decide each write by one version as a whole', async () => {
  documents = await startDocumentServer()
  documents.publish(rulesOf(0))
  opened = open({ from: { is: 'url', url: documents.url }, everyMs: 1 })
  await opened.untilVersion('v0')
  const answered: Answered[] = []
  const routes = admissionRoutes({
    scope: { namespaces: new Set(['shop']), own: 'sluice-system' },
    waits: { settle: () => undefined },
    cluster: { service: () => undefined, previousOf: () => undefined } as unknown as ClusterView,
    rules: () => opened.source.current(),
    isListed: () => true,
    isStale: () => false,
    decide,
    warningOf: ({ code }) => code,
    mayFreeze: () => false,
    clock: systemClock,
    // The askers share this process, which is busy all the time.
    busyMs: Number.MAX_VALUE,
    budgetMs: 60_000,
    onAnswered: (one) => answered.push(one),
  })
  served = await serve({ listen: '127.0.0.1:0', notReady: () => [], routes })
  const body = JSON.stringify(review({ object: slice, oldObject: slice }))

  const over = new AbortController()
  let uneven = 0
  async function askOnAndOn(): Promise<void> {
    while (!over.signal.aborted) {
      const answer = await fetch(`${served.url}/admit?timeout=120s`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      const { response } = (await answer.json()) as { response: { patch?: string } }
      if (!isUniform(response)) uneven += 1
    }
  }
  const asking = Array.from({ length: ASKERS }, askOnAndOn)
  for (let version = 1; version <= VERSIONS; version += 1) {
    documents.publish(rulesOf(version))
    await opened.untilVersion(`v${version}`)
  }
  over.abort()
  await Promise.all(asking)

  const decisions = answered.map(({ decision }) => decision!)
  expect(decisions.every(isWhole)).toBe(true)
  expect(uneven).toBe(0)
  expect(answered.every(({ result }) => result === 'changed')).toBe(true)
  expect(opened.changes.map(({ code }) => code)).toEqual(Array(VERSIONS + 1).fill('rules-accepted'))
  // Decisions fell between nearly all changes.
  expect(new Set(decisions.map(({ ruleSet }) => ruleSet)).size).toBeGreaterThan(VERSIONS / 2)

  // Control: a decision of two versions is none of one.
  const [first, last] = [decisions[0]!, decisions.at(-1)!]
  expect(isWhole({ ...first, endpoints: [...first.endpoints.slice(1), ...last.endpoints.slice(0, 1)] })).toBe(false)
  expect(isWhole({ ...last, endpoints: first.endpoints })).toBe(false)
}, 60_000)
