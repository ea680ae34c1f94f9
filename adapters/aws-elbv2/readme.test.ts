/** Tests the examples of the README: the config drains and restores a pod, and the policy allows all requests of the adapter. */
import * as sdk from '@aws-sdk/client-elastic-load-balancing-v2'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createPool } from '../../demo/load-balancer/pool.ts'
import { createLoadBalancers } from '../../src/config/create-load-balancers.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { assertTimeEnough } from '../../src/engine/time-enough.ts'
import { serveApi } from '../conformance/documented/api.ts'
import { createElbv2, OWNER_KEY } from '../conformance/documented/elbv2.ts'
import { assertApplied, drainOne, inspectOne, resolveAll, restoreOne, snapshotOne } from '../conformance/steps.ts'
import { elbv2Options } from './options.ts'
import { writeProfiles } from './testing/credentials.ts'

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const [config] = /(?<=^```yaml\n).*?(?=^```)/ms.exec(readme)!
const [policy] = /(?<=^```json\n).*?(?=^```)/ms.exec(readme)!
const folder = mkdtempSync(join(tmpdir(), 'sluice-aws-readme-'))
const profiles = writeProfiles({ default: OWNER_KEY })
afterAll(() => {
  profiles.remove()
  rmSync(folder, { recursive: true })
})

test('drain and restore a pod, with the actions of the policy', async () => {
  const elbv2 = createElbv2(createPool([{ name: 'web-0', address: '10.0.0.1:8080' }]), sdk, { delaySeconds: 60 })
  const { url, server } = await serveApi(elbv2)
  const file = join(folder, 'sluice.yaml')
  writeFileSync(file, config.replace('    options:\n', `    options:\n      endpoint: ${url}\n`))
  const loaded = await loadConfig(file)
  const [edge] = createLoadBalancers(loaded)
  const { adapter } = edge!
  try {
    // The deadlines of the example are long enough. The default deadlines are not.
    assertTimeEnough([edge!], loaded.settings)
    expect(() => assertTimeEnough([edge!], { ...loaded.settings, drainDeadlineMs: 60_000 })).toThrow(
      expect.objectContaining({
        reason: expect.objectContaining({ code: 'deadline-shorter-than-job', longestMs: 180_000 }) as unknown,
      }),
    )
    const [target] = await resolveAll(adapter, [{ uid: 'u', pod: 'web-0', address: '10.0.0.1', port: 8080 }])
    const { prior } = await snapshotOne(adapter, target!)
    assertApplied(await drainOne(adapter, target!))
    expect((await inspectOne(adapter, target!)).admin).toBe('draining')
    assertApplied(await restoreOne(adapter, target!, prior))
    expect(await inspectOne(adapter, target!)).toMatchObject({ admin: 'in', routable: true })
  } finally {
    await adapter.close()
    server.close()
    server.closeAllConnections()
  }
  const { Statement } = JSON.parse(policy) as { Statement: { Action: string[] }[] }
  const asked = new Set(elbv2.requests().map(({ action }) => `elasticloadbalancing:${action}`))
  expect(new Set(Statement.flatMap(({ Action }) => Action))).toEqual(asked)
})

test('the table has every option', () => {
  const rows = [...readme.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| [A-Z]/gm)].flatMap(([, names]) => names!.match(/\w+/g)!)
  expect(rows.toSorted()).toEqual(Object.keys(elbv2Options.shape).toSorted())
})
