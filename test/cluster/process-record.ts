import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process. The start time tells it apart from a later process with the same number. */
export interface ProcessRecord {
  name: string
  pid: number
  /** The start time in clock ticks since boot, from /proc/PID/stat. */
  startTime: string
}

export function recordProcess(name: string, pid: number): ProcessRecord {
  const startTime = startTimeOf(pid)
  if (startTime === undefined) {
    throw new Error(`${name} (process ${pid}) ended at once`)
  }
  return { name, pid, startTime }
}

/** Reports whether this very process runs. A zombie does not. */
export function isAlive(record: ProcessRecord): boolean {
  return startTimeOf(record.pid) === record.startTime
}

/** Sends a signal to the recorded process only. */
export function signalRecorded(record: ProcessRecord, signal: NodeJS.Signals): boolean {
  if (!isAlive(record)) {
    return false
  }
  try {
    process.kill(record.pid, signal)
    return true
  } catch {
    return false
  }
}

export async function waitForEnd(record: ProcessRecord, timeoutMs = 10_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (isAlive(record)) {
    if (performance.now() > deadline) {
      throw new Error(`${record.name} (process ${record.pid}) did not end within ${timeoutMs} ms`)
    }
    await sleep(10)
  }
}

export async function killRecorded(record: ProcessRecord): Promise<void> {
  signalRecorded(record, 'SIGKILL')
  await waitForEnd(record)
}

/** Returns the children of a process that still run. */
export function childrenOf(pid: number): ProcessRecord[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    const pids = text.trim().split(' ').filter(Boolean).map(Number)
    return pids.map((child) => ({ name: `child of ${pid}`, pid: child, startTime: startTimeOf(child) ?? '' })).filter(isAlive)
  } catch {
    return []
  }
}

function startTimeOf(pid: number): string | undefined {
  const text = statOf(pid)
  const fields = text === undefined ? undefined : statFields(text)
  return fields === undefined || hasEnded(fields) ? undefined : fields[19]
}

/** Reports whether a process has ended. Its first thread may be a zombie while other threads hold its files and ports. */
export function hasEnded(fields: readonly string[]): boolean {
  const [state] = fields
  const threads = Number(fields[17])
  return state === 'X' || (state === 'Z' && threads <= 1)
}

/** Returns the fields after the name of the command, which may have spaces and parentheses. */
export function statFields(text: string): string[] {
  return text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function statOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
}
