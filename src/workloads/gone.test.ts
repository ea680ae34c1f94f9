import { expect, test } from 'vitest'
import { goneAssessment } from './gone.ts'

test('a workload that was deleted since it was opened is refused by its name', () => {
  const images = [{ container: 'app', image: 'app:v2' }]
  expect(goneAssessment('statefulset/web', images)).toEqual({
    images,
    refusals: [{ code: 'workload-gone', workload: 'statefulset/web' }],
    warnings: [],
  })
})
