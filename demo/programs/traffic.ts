/**
 * The clients of the demo, in a process of their own, so that no other part of the demo delays a request. `OPTIONS` in the environment
 * has the GeneratorOptions; each result is a JSON line on standard output (TrafficLine). A line on standard input ends the process in
 * order, the end of standard input ends it at once.
 */
import { type GeneratorOptions, startGenerator } from '../traffic/generator.ts'
import type { TrafficLine } from '../traffic/lines.ts'

const options = JSON.parse(process.env['OPTIONS'] ?? '') as GeneratorOptions
const tell = (line: TrafficLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const generator = startGenerator(options, tell)

process.stdin.on('close', () => process.exit(1))
process.stdin.once('data', async () => {
  await generator.stop()
  process.exit(0)
})
