import { expect, test } from 'vitest'
import { parseOldWorkers } from './old-workers.ts'

/** As HAProxy 2.6 answers `show proc`. */
const ANSWER = `#<PID>          <type>          <reloads>       <uptime>        <version>
10              master          2 [failed: 0]   0d00h02m43s     2.6.12-1+deb12u4
# workers
30              worker          0               0d00h00m07s     2.6.12-1+deb12u4
# old workers
20              worker          1               0d00h02m43s     2.6.12-1+deb12u4
12              worker          2               0d00h02m50s     2.6.12-1+deb12u4
# programs
40              dataplaneapi    0               0d00h02m50s     -

`

test('finds the old workers, and neither the new one nor programs', () => {
  expect(parseOldWorkers(ANSWER)).toEqual(['20', '12'])
  expect(parseOldWorkers(ANSWER.replace(/# old workers\n.*\n.*\n/, '# old workers\n'))).toEqual([])
  expect(parseOldWorkers('Unknown command')).toEqual([])
})
