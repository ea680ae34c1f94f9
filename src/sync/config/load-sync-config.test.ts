import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ConfigError } from '../../config/config-error.ts'
import { loadSyncConfig } from './load-sync-config.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-sync-config-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const HEAD = 'apiVersion: sluice.dev/v1\nkind: SyncConfig\n'

function load(text: string) {
  const file = join(folder, 'sync.yaml')
  writeFileSync(file, text)
  return loadSyncConfig(file)
}

async function mistakes(text: string): Promise<string[]> {
  try {
    await load(text)
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.issues.map(({ path, message, hint, line }) => [line, path, message, hint].filter(Boolean).join(' | '))
  }
}

test('a Service has all sources, is not made, and keeps the copies of a source that is away', async () => {
  const text = `${HEAD}access: in-cluster
sources: [{name: east, kubeconfig: clusters/east}, {name: west, context: west}]
services: [{namespace: shop, name: web}]`
  expect(await load(text)).toEqual({
    access: { is: 'in-cluster' },
    sources: [
      { name: 'east', way: { is: 'kubeconfig', kubeconfig: join(folder, 'clusters/east') } },
      { name: 'west', way: { is: 'kubeconfig', context: 'west' } },
    ],
    services: [
      {
        namespace: 'shop',
        name: 'web',
        sources: ['east', 'west'],
        create: false,
        away: { is: 'keep' },
        replacedAfterMs: 600_000,
      },
    ],
  })
})

test('a setting of a Service comes before the default', async () => {
  const text = `${HEAD}access: {context: access}
sources: [{name: east}, {name: west}]
defaults: {create: true, whenAway: {expireAfter: 5m, floor: 3}, replacedAfter: 1h}
services:
  - {namespace: shop, name: web}
  - {namespace: shop, name: api, sources: [west], create: false, whenAway: keep, replacedAfter: 1m}
  - {namespace: shop, name: jobs, whenAway: {expireAfter: 30s}}`
  expect((await load(text)).services).toMatchObject([
    { name: 'web', create: true, away: { is: 'expire', afterMs: 300_000, floor: 3 }, replacedAfterMs: 3_600_000 },
    { name: 'api', sources: ['west'], create: false, away: { is: 'keep' }, replacedAfterMs: 60_000 },
    { name: 'jobs', away: { is: 'expire', afterMs: 30_000, floor: 1 } },
  ])
})

test('all mistakes in the form are named at once, with their lines and the way out', async () => {
  const text = `${HEAD}acces: in-cluster
sources:
  - {name: East_1}
services:
  - {namespace: shop, nam: web}
  - {namespace: shop, name: web, whenAway: {expireAfter: 5}}
  - {namespace: shop, name: web, replacedAfter: 0s, sources: []}`
  expect(await mistakes(text)).toEqual([
    '3 | acces | unknown key | did you mean "access"?',
    '5 | sources[0].name | is no name of a source | write at most 63 lower case letters, digits and -, such as east: it becomes the value of a label',
    '7 | services[0].nam | unknown key | did you mean "name"?',
    '8 | services[1].whenAway.expireAfter | 5 has no unit | write "5s" for seconds or "5ms" for milliseconds',
    '9 | services[2].replacedAfter | 0s is too short | write a duration above 0, such as 5m',
    '9 | services[2].sources | is empty | name at least one source, or remove it for all of them',
  ])
})

test('names that are given twice, and sources that nothing defines, are named', async () => {
  const text = `${HEAD}access: in-cluster
sources: [{name: east}, {name: east}]
services:
  - {namespace: shop, name: web, sources: [eats, north, east, east]}
  - {namespace: shop, name: web}`
  expect(await mistakes(text)).toEqual([
    '4 | sources[1].name | "east" stands here a second time | give each source a name of its own',
    '6 | services[0].sources[0] | "eats" is none of the sources | did you mean "east"?',
    '6 | services[0].sources[1] | "north" is none of the sources | the sources are east, east',
    '6 | services[0].sources[3] | "east" stands here a second time | name each source once',
    '7 | services[1].name | "shop/web" stands here a second time | name each Service once, with all its sources',
  ])
})

test('a file that is not there is named, with the way to name another one', async () => {
  await expect(loadSyncConfig(join(folder, 'none.yaml'))).rejects.toThrow(/there is no such file[^]*--config FILE/)
})
