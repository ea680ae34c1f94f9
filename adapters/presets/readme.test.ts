/** Tests that the examples of the README load, and that its own preset works. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { createLoadBalancer } from '../../demo/load-balancer/load-balancer.ts'
import { createLoadBalancers } from '../../src/config/create-load-balancers.ts'
import { loadConfig } from '../../src/config/load-config.ts'
import { drainOne, restoreOne, snapshotOne } from '../conformance/steps.ts'
import { presetNames } from '../registry.ts'

const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const examples = [...readme.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text]) => text!)
const configs = examples.filter((text) => text.includes('kind: Config\n'))
const preset = examples.find((text) => text.includes('kind: Preset\n'))!
const folder = mkdtempSync(join(tmpdir(), 'sluice-presets-readme-'))
const file = join(folder, 'sluice.yaml')
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => {
  vi.unstubAllEnvs()
})

test('each preset has a config, and each config loads', async () => {
  writeFileSync(join(folder, 'my-lb.yaml'), preset)
  const names: string[] = []
  for (const text of configs) {
    writeFileSync(file, text)
    const { loadBalancers } = await loadConfig(file)
    names.push(...loadBalancers.map(({ adapter }) => adapter))
  }
  expect(names).toEqual([...presetNames, 'my-lb'])
})

test('each preset has a line in the table, and a section', () => {
  const rows = [...readme.matchAll(/^\| `([\w-]+)` \| [^|]+ \| G\d/gm)].map(([, name]) => name)
  const sections = [...readme.matchAll(/^## ([\w-]+)$/gm)].map(([, name]) => name!)
  expect([rows, sections.filter((name) => presetNames.includes(name))]).toEqual([presetNames, presetNames])
})

test('the two ways to name a preset are the same', async () => {
  const head = 'apiVersion: sluice.dev/v1\nkind: Config\nloadBalancers:\n'
  const both = examples[0]!.split('\n').filter((line) => line !== '')
  expect(both).toHaveLength(2)
  const [byName, byOption] = await Promise.all(
    both.map(async (line, index) => {
      const own = join(folder, `way-${index}.yaml`)
      writeFileSync(own, `${head}${line}\n`)
      const [one] = (await loadConfig(own)).loadBalancers
      return { adapter: one!.adapter, options: one!.options }
    }),
  )
  expect(byOption).toEqual(byName)
})

test('the preset of one’s own drains and restores', async () => {
  const balancer = await createLoadBalancer({ servers: [{ name: 'web-0', address: '10.0.0.1:8080', weight: 7 }], token: 'open' })
  vi.stubEnv('EDGE_TOKEN', 'open')
  writeFileSync(
    join(folder, 'my-lb.yaml'),
    preset.replace('/servers?pool=$(pool)', '/servers').replace('$(weight)', 'size($(pool))+int($(weight))'),
  )
  writeFileSync(file, configs.at(-1)!.replace('http://127.0.0.1:9000', balancer.adminUrl))
  const { adapter } = createLoadBalancers(await loadConfig(file))[0]!
  try {
    const target = { id: 'web-0@10.0.0.1:8080', scope: 'all' }
    const { prior } = await snapshotOne(adapter, target)
    expect(await drainOne(adapter, target)).toEqual({ outcome: 'applied' })
    expect(balancer.servers()[0]).toMatchObject({ state: 'drain', weight: 7 })
    expect(await restoreOne(adapter, target, prior)).toEqual({ outcome: 'applied' })
    expect(balancer.servers()[0]).toMatchObject({ state: 'ready', weight: 7 })
  } finally {
    await adapter.close()
    await balancer.close()
  }
})
