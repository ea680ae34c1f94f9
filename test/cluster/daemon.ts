import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeJson } from './cluster-info.ts'
import type { ClusterInfo } from './cluster-info.ts'
import { enter } from './namespace.ts'
import { childrenOf, isAlive, killRecorded, recordProcess, signalRecorded } from './process-record.ts'
import type { ProcessRecord } from './process-record.ts'

/** A long-lived part of the cluster, kept in DIR/daemons/NAME.json so that other processes can restart it. */
interface DaemonRecord {
  command: string
  args: string[]
  process: ProcessRecord
}

export async function startDaemon(info: ClusterInfo, name: string, command: string, args: string[]): Promise<void> {
  mkdirSync(join(info.dir, 'daemons'), { recursive: true })
  const log = openSync(logFile(info, name), 'a')
  const [program, words] = enter(info, 'all', command, args)
  const child = spawn(program, words, { stdio: ['ignore', log, log], detached: true })
  closeSync(log)
  child.on('error', () => {}) // shows as a missing child below
  child.unref()
  const pid = await childOf(child.pid)
  if (pid === undefined) {
    throw new Error(`${name} did not start:\n${await lastLines(info, name)}`)
  }
  const record: DaemonRecord = { command, args, process: recordProcess(name, pid) }
  await writeJson(recordFile(info, name), record)
}

export async function stopDaemon(info: ClusterInfo, name: string): Promise<void> {
  const { process } = await readDaemon(info, name)
  // A stopped process ends on SIGKILL only, so SIGKILL is always used.
  await killRecorded(process)
}

/** Kills a daemon, and starts it again after `awayMs` with the same arguments. */
export async function restartDaemon(info: ClusterInfo, name: string, awayMs = 0): Promise<void> {
  const { command, args } = await readDaemon(info, name)
  await stopDaemon(info, name)
  await sleep(awayMs)
  await startDaemon(info, name, command, args)
}

export async function signalDaemon(info: ClusterInfo, name: string, signal: NodeJS.Signals): Promise<void> {
  const { process } = await readDaemon(info, name)
  if (!signalRecorded(process, signal)) {
    throw new Error(`${name} does not run:\n${await lastLines(info, name)}`)
  }
}

export async function isRunning(info: ClusterInfo, name: string): Promise<boolean> {
  return isAlive((await readDaemon(info, name)).process)
}

export async function lastLines(info: ClusterInfo, name: string, count = 15): Promise<string> {
  const text = await readFile(logFile(info, name), 'utf8').catch(() => '(no log)')
  return text.trimEnd().split('\n').slice(-count).join('\n')
}

function recordFile(info: ClusterInfo, name: string): string {
  return join(info.dir, 'daemons', `${name}.json`)
}

function logFile(info: ClusterInfo, name: string): string {
  return join(info.dir, 'logs', `${name}.log`)
}

async function readDaemon(info: ClusterInfo, name: string): Promise<DaemonRecord> {
  return JSON.parse(await readFile(recordFile(info, name), 'utf8')) as DaemonRecord
}

/** Returns the child of nsenter. nsenter stays the parent of its command in a process namespace, and signals must go to the child. */
async function childOf(parent: number | undefined): Promise<number | undefined> {
  if (parent === undefined) return undefined
  for (let attempt = 0; attempt < 200; attempt++) {
    const [child] = childrenOf(parent)
    if (child !== undefined) {
      return child.pid
    }
    await sleep(10)
  }
  return undefined
}
