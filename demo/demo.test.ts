import { afterEach, expect, test, vi } from 'vitest'
import { createDemo } from './demo.ts'
import { DemoError } from './demo-error.ts'
import type { Show } from './view/show.ts'

afterEach(() => vi.unstubAllEnvs())

test('a temporary folder that cannot be written to is named', () => {
  vi.stubEnv('TMPDIR', '/dev/null')
  const create = () => createDemo({ balancer: 'embedded', pods: 3, report: undefined, program: '', show: {} as Show })
  expect(create).toThrow(DemoError)
  expect(create).toThrow('the temporary folder /dev/null cannot be written to (ENOTDIR): name another one with TMPDIR')
})
