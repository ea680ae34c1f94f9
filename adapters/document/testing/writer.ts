/** A process that adds a line to a file on command. `hold` stops it between read and write until `go on`. */
import { once } from 'node:events'
import { AdapterError } from '../../contract.ts'
import type { ScriptCall } from '../../host/host.ts'
import { createFileDocument } from '../file-document.ts'

const [path = '', line = ''] = process.argv.slice(2)
const document = createFileDocument({ component: 'writer', path })
const call: ScriptCall = { deadlineMs: 20_000, signal: new AbortController().signal, assertLive: () => {} }

function say(message: string): void {
  process.send!(message)
}

async function add(isHeld: boolean): Promise<void> {
  const { text, version } = await document.read(call)
  if (isHeld) {
    const goOn = once(process, 'message')
    say('holds')
    await goOn
  }
  try {
    await document.write(`${text}${line}\n`, version, call)
  } catch (error) {
    if (!(error instanceof AdapterError) || error.kind !== 'conflict') throw error
    say('conflict')
    await add(false)
  }
}

const told = once(process, 'message')
say('ready')
const [order] = (await told) as [string]
try {
  await add(order === 'hold')
  say('done')
} catch (error) {
  say(`failed: ${String(error)}`)
}
process.disconnect()
