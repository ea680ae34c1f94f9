import { idOf } from '../pods/workload-id.ts'
import { STATEFUL_SET } from '../workloads/kinds/stateful-set.ts'
import { describe, expect, test } from 'vitest'
import type { Journal } from '../pods/glossary.ts'
import { formerPod } from './former-pod.ts'
import { formerTemplate } from './former-template.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'

const wanted = [{ container: 'app', image: 'app:v3' }]
const containers = ['app', 'proxy'].map((name) => ({
  name,
  image: `${name}:v2`,
  ready: true,
  running: true,
  restartCount: 0,
  ports: [],
}))
const pod = { containers, revision: 'web-2' }
const open: Journal = {
  run: 'r1',
  epoch: 1,
  attempt: 1,
  step: 'patched',
  generation: 2,
  baseline: [{ name: 'app', image: 'app:v1' }],
  targets: [],
}
const image = (tag: string) => [{ container: 'app', image: `app:${tag}` }]

describe('what a pod goes back to', () => {
  test('is what it has now, of the containers that change', () => {
    expect(formerPod(pod, wanted)).toEqual({ images: image('v2'), revision: 'web-2' })
  })

  test('is not what an earlier run patched in and never put in rotation', () => {
    expect(formerPod(pod, wanted, open)).toEqual({ images: image('v1') })
    const recorded = { images: image('v0'), revision: 'web-0' }
    expect(formerPod(pod, wanted, open, recorded)).toEqual(recorded)
  })

  test('also of the containers that the earlier run had patched beside', () => {
    const both = { ...open, baseline: [...open.baseline, { name: 'proxy', image: 'proxy:v1' }] }
    const proxy = { container: 'proxy', image: 'proxy:v1' }
    expect(formerPod(pod, wanted, both).images).toEqual([...image('v1'), proxy])
    // The record of the last run has one container alone: that run continued where an earlier one had patched both.
    const recorded = { images: [...image('v0'), proxy] }
    expect(formerPod(pod, wanted, open, recorded).images).toEqual([...image('v0'), proxy])
    expect(formerPod(pod, wanted, undefined, recorded).images, 'control: it came to its end').toEqual(image('v2'))
  })

  test('is what it has now where the earlier run came to its end', () => {
    expect(formerPod(pod, wanted, undefined, { images: image('v0'), revision: 'web-0' }).images).toEqual(image('v2'))
  })

  test('keeps its label where the earlier run had not patched it yet', () => {
    const { generation: _, ...drained } = open
    expect(formerPod(pod, wanted, { ...drained, step: 'drain', baseline: [] }).revision).toBe('web-2')
  })
})

describe('what a template goes back to', () => {
  const entry = (uid: string, tag: string, name = 'web'): LedgerEntry => ({
    uid,
    pod: uid,
    owner: { kind: 'StatefulSet', name, uid: 'w', apiVersion: 'apps/v1' },
    targets: [],
    before: { images: image(tag) },
    state: 'open',
  })
  const ledger = (...entries: LedgerEntry[]): Ledger => ({
    header: { run: 'r', workloads: [], images: wanted, startedAt: '', chunks: 1 },
    entries: new Map(entries.map((one) => [one.uid, one])),
  })
  const web = {
    ...STATEFUL_SET,
    name: 'web',
    uid: 'w',
    templates: [{ of: { ...STATEFUL_SET, name: 'web' }, images: image('v2') }],
  }

  test('is what all of its pods had', () => {
    expect(formerTemplate(ledger(entry('a', 'v1'), entry('b', 'v1'), entry('c', 'v0', 'other')), web)).toEqual(image('v1'))
  })

  test('is what it had itself, where its pods differed or there were none', () => {
    expect(formerTemplate(ledger(entry('a', 'v1'), entry('b', 'v2')), web)).toEqual(image('v2'))
    expect(formerTemplate(ledger(), web)).toEqual(image('v2'))
  })

  test('is what it had itself, where a pod beside them has others', () => {
    const behind = ledger(entry('a', 'v1'))
    expect(formerTemplate(behind, web, [...image('v1'), ...image('v2')])).toEqual(image('v2'))
    expect(formerTemplate(behind, web, image('v1')), 'control: all had the same').toEqual(image('v1'))
    const other = [{ container: 'proxy', image: 'proxy:v2' }]
    expect(formerTemplate(behind, web, other), 'control: of another container').toEqual(image('v1'))
    expect(formerTemplate(ledger(), web, image('v1')), 'it had none itself').toEqual(image('v2'))
  })

  test('is not known where neither says', () => {
    expect(formerTemplate(ledger(entry('a', 'v1'), entry('b', 'v2')), { ...idOf(web), uid: web.uid })).toEqual([])
  })
})
