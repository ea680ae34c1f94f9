/** Finds the processes that keep the output of a program open, on systems with /proc. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The standard output and error of a process, by their names in /proc. */
export function outputsOf(pid: number): ReadonlySet<string> {
  const links = [1, 2].map((fd) => linkOf(pid, String(fd)))
  return new Set(links.filter((link) => link?.startsWith('socket:') || link?.startsWith('pipe:')) as string[])
}

/** The processes that hold the outputs, such as `process 4711 (sleep)`. */
export function holdersOf(outputs: ReadonlySet<string>): string[] {
  if (outputs.size === 0) return []
  const pids = list('/proc').filter((name) => /^\d+$/.test(name))
  const holders = pids.filter((pid) => list(`/proc/${pid}/fd`).some((fd) => outputs.has(linkOf(Number(pid), fd) ?? '')))
  return holders.map((pid) => `process ${pid} (${commandOf(pid)})`)
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return 'it has ended'
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The process has ended, or belongs to another user.
    return []
  }
}

function linkOf(pid: number, fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/fd/${fd}`)
  } catch {
    return undefined
  }
}
