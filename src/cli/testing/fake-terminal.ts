import { EventEmitter } from 'node:events'
import type { Sink } from '../output/sink.ts'
import type { Terminal } from '../terminal.ts'
import { createFakeClock } from './fake-clock.ts'

export interface FakeTerminal extends Terminal {
  /** Emits the events of a process: a signal, an uncaught exception. */
  events: EventEmitter
  /** The text that was written so far. */
  written: { out: string; err: string }
}

/** Creates a terminal with a pipe at either end, and an environment without influence on the output. */
export function createFakeTerminal(): FakeTerminal {
  const written = { out: '', err: '' }
  const sink = (name: 'out' | 'err'): Sink => ({
    isTerminal: false,
    columns: 80,
    rows: 24,
    isLost: false,
    backlog: 0,
    write: (text) => void (written[name] += text),
    flush: async () => {},
  })
  return {
    written,
    out: sink('out'),
    err: sink('err'),
    hasStdin: false,
    env: {},
    events: new EventEmitter(),
    clock: createFakeClock(),
    isOutputLost: () => false,
    exit() {},
  }
}
