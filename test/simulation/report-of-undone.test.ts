import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import { listLedgers } from '../../src/engine/ledgers/list-ledgers.ts'
import { reportOf } from '../../src/report/from-ledgers.ts'
import { imageOf, NAMESPACE } from './manifests.ts'
import { PLAIN_SETTINGS, plainScene } from './scene.ts'
import { openStage } from './stage.ts'

/* The report of a run after another run has taken it back. */

// The report of pods that the run has not begun does not claim that they have its images.
test('pods that a failed run had not begun with are told as unchanged, also when it is undone', async () => {
  const stage = await openStage(plainScene({ pods: 3, readyAfterMs: 1_000 }))
  const settings = { ...PLAIN_SETTINGS, restartDeadlineMs: 20_000 }
  const bad = stage.start({ images: [{ container: 'app', image: imageOf('bad') }], settings })
  await stage.until(() => bad.end !== undefined)
  expect(bad.end).toMatchObject({ outcome: 'failed' })
  const { run } = bad.events.find((event) => event.type === 'started')!
  const endings = async () => {
    const found = await stage.ask(listLedgers(stage.client, NAMESPACE))
    const answer = reportOf(found, { wanted: { run }, namespace: NAMESPACE, failures: [] })
    if (answer.kind === 'none') throw new Error(reasonWords(answer.reason))
    return answer.report.pods.map(({ pod, outcome, reason, out }) => ({
      pod,
      outcome,
      reason: reason && reasonWords(reason),
      out,
    }))
  }
  const before = await endings()
  expect(before.map(({ outcome }) => outcome)).toEqual(['failed', 'unchanged', 'unchanged'])
  const undo = stage.start({ undo: { run }, settings })
  await stage.until(() => undo.end !== undefined)
  expect(undo.end).toMatchObject({ outcome: 'done' })
  const [failed, ...others] = await endings()
  expect(others).toEqual(before.slice(1))
  expect(failed).toMatchObject({ outcome: 'failed', out: false })
})
