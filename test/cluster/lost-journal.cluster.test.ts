import { expect, it } from 'vitest'
import { journalStep, removeJournal, storedJournal } from './journal.ts'
import { service, statefulSet } from './manifests.ts'
import { onceEach } from './judge.ts'
import { killed, reached, standings, story } from './moments.ts'
import { describeOnCluster } from './shared-cluster.ts'
import { startUpgradeBed } from './upgrade-bed.ts'

const UPGRADE = ['statefulset/web', 'app=localhost/app:v2']

describeOnCluster('records that somebody deletes', (cluster) => {
  it('names a drained pod whose journal is gone: nothing says any more who has it out', async () => {
    const namespace = 'lost-journal'
    const objects = [statefulSet({ name: 'web', namespace, replicas: 2, readyAfter: 1 }), service({ name: 'web', namespace })]
    const bed = await startUpgradeBed(cluster(), { name: namespace, objects, app: 'web', count: 2 })
    try {
      const run = bed.start(['upgrade', ...UPGRADE])
      await reached(run, 'web-1', 'restarting')
      await killed(run, bed)
      await removeJournal(cluster().api, namespace, 'web-1')
      const [, pod] = await bed.pods()
      expect(storedJournal(pod)).toEqual({})

      // One pod is out, and the window allows one only: no other pod may leave.
      const refused = await bed.upgrade(...UPGRADE)
      expect(refused.code, story(refused)).toBe(3)
      expect(refused.stdout, story(refused)).toMatch(
        /"window-full".*"left-open".*"journal-lost".*web\/web-1@.*Put it back by hand.*no journal/s,
      )
      expect(bed.effects()).toEqual({ 'web-1': ['drain'] })

      const next = await bed.upgrade(...UPGRADE, '--max-unavailable', '2')
      const warnings = next.events.flatMap((event) => (event.type === 'warning' && event.pod === 'web-1' ? [event.reason] : []))
      expect(warnings, story(next)).toMatchObject([
        { code: 'journal-lost', message: expect.stringMatching(/no journal.*web\/web-1@.*put it back by hand/) },
      ])
      expect(bed.effects()).toEqual({ 'web-1': ['drain'], 'web-0': ['drain', 'ready'] })
      expect(await standings(bed)).toMatchObject({ 'web-1': { state: 'drain' }, 'web-0': { state: 'ready' } })
    } finally {
      await bed.stop()
    }
  })

  it('goes on where the annotation alone is gone: the condition still says that the pod may be drained', async () => {
    const namespace = 'lost-annotation'
    const objects = [statefulSet({ name: 'web', namespace, replicas: 2, readyAfter: 1 }), service({ name: 'web', namespace })]
    const bed = await startUpgradeBed(cluster(), { name: namespace, objects, app: 'web', count: 2 })
    try {
      const run = bed.start(['upgrade', ...UPGRADE])
      await reached(run, 'web-1', 'restarting')
      await killed(run, bed)
      const [, patched] = await bed.pods()
      expect(journalStep(patched)).toBe('patched')
      const annotations = { 'sluice.dev/journal': null }
      await cluster().api.patch('Pod', 'web-1', namespace, { metadata: { annotations } })
      const [, pod] = await bed.pods()
      expect(journalStep(pod)).toBe('drain')

      const next = await bed.upgrade(...UPGRADE)
      expect(next.code, story(next)).toBe(0)
      expect(bed.effects()).toEqual(onceEach(['web-0', 'web-1']))
      expect((await bed.pods()).map(journalStep)).toEqual(['closed', 'closed'])
    } finally {
      await bed.stop()
    }
  })

  it('goes on where the ledger of the run is deleted, and still settles a pod that is gone', async () => {
    const namespace = 'lost-ledger'
    const objects = [statefulSet({ name: 'web', namespace, replicas: 2, readyAfter: 1 }), service({ name: 'web', namespace })]
    const bed = await startUpgradeBed(cluster(), { name: namespace, objects, app: 'web', count: 2 })
    const { api } = cluster()
    try {
      const run = bed.start(['upgrade', ...UPGRADE])
      await reached(run, 'web-1', 'restarting')
      const [ledger] = await api.list('ConfigMap', namespace, 'sluice.dev/ledger')
      await api.delete('ConfigMap', ledger.metadata.name, namespace)
      await api.delete('Pod', 'web-1', namespace, { gracePeriodSeconds: 0 })

      const exit = await run.exit
      expect(exit.code, story(exit)).toBe(8)
      const [again] = await api.list('ConfigMap', namespace, 'sluice.dev/ledger')
      expect(again.metadata.name).toBe(ledger.metadata.name)
      // The ledger also has the last statements of the process.
      expect(JSON.parse(again.data.header)).toMatchObject(JSON.parse(ledger.data.header))
      expect(Object.values(again.data).join('\n')).toContain('"state":"abandoned"')
    } finally {
      await bed.stop()
    }
  })
})
