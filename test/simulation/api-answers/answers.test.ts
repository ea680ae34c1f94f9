import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { embeddedAnswers } from './embedded.ts'
import { askAll } from './questions.ts'
import { type Answers, createRecorder } from './record.ts'

// The recording is made by test/cluster/api-answers.cluster.test.ts.
const real = JSON.parse(readFileSync(join(import.meta.dirname, '../../golden/api-answers.json'), 'utf8')) as Answers

test('the embedded API server answers as the real one did', async () => {
  expect(Object.keys(real).length).toBeGreaterThan(200)
  expect(await embeddedAnswers()).toEqual(real)
})

test('control: a server that agrees to everything gives other answers', async () => {
  const yes = {
    status: 200,
    text: JSON.stringify({
      kind: 'Pod',
      metadata: { name: 'x' },
      items: [],
      spec: { containers: [], template: { spec: { containers: [] } } },
      status: { conditions: [] },
    }),
  }
  const { ask, answers } = createRecorder((question) =>
    Promise.resolve(question.path.includes('watch=') ? { status: 200, text: '' } : yes),
  )
  await askAll(ask, () => Promise.resolve())
  const same = Object.keys(real).filter((name) => JSON.stringify(answers[name]) === JSON.stringify(real[name]))
  expect(same.length).toBeLessThan(10)
})
