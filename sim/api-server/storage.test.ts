import { expect, test } from 'vitest'
import { kindOf } from './kinds.ts'
import { createStorage } from './storage.ts'
import type { KubeObject } from './server.ts'

const MAPS = kindOf('configmaps')
const map = (name: string, data: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default', uid: name, resourceVersion: '', creationTimestamp: '' },
  data,
})
const namesOf = (versions: { object: KubeObject }[] | undefined) => versions?.map(({ object }) => object.metadata.name)

test('a list of the past has what was there then, in the order of the names', () => {
  const storage = createStorage(10)
  storage.put(MAPS, map('b'), 'x')
  storage.put(MAPS, map('a', { v: '1' }), 'x')
  const then = storage.revision()
  storage.put(MAPS, map('c'), 'x')
  storage.put(MAPS, map('a', { v: '2' }), 'x')
  storage.remove(MAPS, 'default', 'b', 'x')
  expect(namesOf(storage.list(MAPS, 'default'))).toEqual(['a', 'c'])
  const past = storage.list(MAPS, 'default', then)
  expect(namesOf(past)).toEqual(['a', 'b'])
  expect(past![0]!.object['data']).toEqual({ v: '1' })
  expect(storage.list(MAPS, 'other', then)).toEqual([])
})

test('only so much of the past is remembered', () => {
  const storage = createStorage(2)
  const start = storage.revision()
  const versions = ['a', 'b', 'c'].map((name) => storage.put(MAPS, map(name), 'x'))
  expect(storage.eventsAfter(MAPS, start)).toBeUndefined()
  expect(storage.list(MAPS, undefined, start)).toBeUndefined()
  expect(storage.eventsAfter(MAPS, versions[0]!.revision)!.map(({ key }) => key)).toEqual(['default/b', 'default/c'])
  storage.compact()
  expect(storage.eventsAfter(MAPS, versions[1]!.revision)).toBeUndefined()
  expect(storage.eventsAfter(MAPS, storage.revision())).toEqual([])
  // Each kind has a memory of its own. `compact` clears all of them.
  expect(storage.eventsAfter(kindOf('pods'), storage.revision())).toEqual([])
})

test('a write that a listener makes is heard after the one that it heard of, by everybody', () => {
  const storage = createStorage(10)
  const heard: string[] = []
  storage.onEvent(({ key, verb }) => {
    heard.push(`first ${verb} ${key}`)
    if (key === 'default/a' && verb === 'create') storage.put(MAPS, map('b'), 'controller')
  })
  storage.onEvent(({ key, verb }) => heard.push(`second ${verb} ${key}`))
  storage.put(MAPS, map('a'), 'x')
  expect(heard).toEqual([
    'first create default/a',
    'second create default/a',
    'first create default/b',
    'second create default/b',
  ])
})

test('a deletion has a version of its own, and shows the last one', () => {
  const storage = createStorage(10)
  const before = storage.put(MAPS, map('a', { v: '1' }), 'x')
  const last = storage.remove(MAPS, 'default', 'a', 'x')!
  expect(last.revision).toBe(before.revision + 1)
  expect(last.object).toMatchObject({ data: { v: '1' }, metadata: { resourceVersion: String(last.revision) } })
  expect(storage.remove(MAPS, 'default', 'a', 'x')).toBeUndefined()
})
