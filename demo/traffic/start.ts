import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { DemoError } from '../demo-error.ts'
import type { Children } from '../processes/children.ts'
import type { GeneratorOptions } from './generator.ts'
import type { TrafficLine } from './lines.ts'
import { type Tally, addLine, emptyTally } from './tally.ts'

export interface Traffic {
  /** The result so far, which grows. */
  readonly tally: Tally
  /** Resolves once the first request has been answered or has failed. */
  begun: Promise<void>
  /** Waits for requests in flight. */
  stop(): Promise<Tally>
}

/** Sends requests from a process of its own until it is stopped. */
export function startTraffic(children: Children, options: GeneratorOptions): Traffic {
  const child = children.run('traffic', { OPTIONS: JSON.stringify(options) })
  const tally = emptyTally()
  let hasEnded = false
  const lines = createInterface({ input: child.process.stdout! })
  const closed = once(lines, 'close')
  const tooEarly = async (): Promise<Error> =>
    new DemoError(`the traffic generator of the demo ended too early (${await child.exit}) ${child.complaints()}`.trim())
  lines.on('line', (text) => {
    const line = JSON.parse(text) as TrafficLine
    addLine(tally, line)
    if (line.type === 'end') hasEnded = true
  })

  async function begin(): Promise<void> {
    await Promise.race([once(lines, 'line'), closed])
    if (tally.requests === 0) throw await tooEarly()
  }

  return {
    tally,
    begun: begin(),
    async stop() {
      child.process.stdin!.write('stop\n')
      await closed
      if (!hasEnded) throw await tooEarly()
      return tally
    },
  }
}
