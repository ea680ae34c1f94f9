/** Names the processes that hold the output of a program open, where /proc has them. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The standard output and error of a process, as /proc names them. */
export function outputsOf(pid: number): ReadonlySet<string> {
  const links = [1, 2].map((fd) => linkOf(pid, String(fd)))
  return new Set(links.filter((link) => link?.startsWith('socket:') || link?.startsWith('pipe:')) as string[])
}

/** Such as `process 4711 (sleep)`. */
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
    // It has ended, or it is another user's.
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
