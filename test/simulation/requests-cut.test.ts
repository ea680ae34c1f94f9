import { reasonWords } from '../../src/report/words/words.ts'
import { expect, test } from 'vitest'
import { plainBalancer, plainScene } from './scene.ts'
import { openStage } from './stage.ts'
import { ended, upgradeTo } from './story.ts'

// Requests that are given up are allowed by the config, and have to be reported.
test.each([
  {
    longestRequestMs: 30_000,
    says: [expect.stringMatching(/^web-0 was patched with [1-9]\d* requests? under way: deadlines.drain/)],
  },
  { longestRequestMs: 1_000, says: [] },
])('a run that proceeds at the drain deadline tells of the requests that it cuts ($longestRequestMs)', async (given) => {
  const stage = await openStage(plainScene({ pods: 1, balancers: [plainBalancer({ longestRequestMs: given.longestRequestMs })] }))
  const actor = stage.start(upgradeTo('v2', { onDrainDeadline: 'proceed', drainDeadlineMs: 5_000 }))
  expect((await ended(stage, actor)).outcome).toBe('done')
  const warnings = actor.events.flatMap((event) => (event.type === 'warning' ? [reasonWords(event.reason)] : []))
  expect(warnings).toEqual(given.says)
})
