import { expect, test } from 'vitest'
import { hasEnded, statFields } from './process-record.ts'

/** Returns a /proc/PID/stat as Linux writes it. The name of a command may have any characters. */
const stat = (state: string, threads: number): string =>
  `756 (kube) (api) ${state} 755 508 1380 0 -1 4227084 97 0 0 0 0 0 0 0 20 0 ${threads} 0 184661 0 0 18446744073709551615`

test.each([
  ['it runs', 'S', 9, false],
  ['its first thread is a zombie, and others still hold its port', 'Z', 2, false],
  ['it is a zombie whole', 'Z', 1, true],
  ['it is dead', 'X', 1, true],
])('%s', (_what, state, threads, ended) => expect(hasEnded(statFields(stat(state, threads)))).toBe(ended))
