import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { type Children, createChildren } from './children.ts'

let children: Children | undefined
let parent: ChildProcess | undefined
afterEach(async () => {
  await children?.end()
  parent?.kill('SIGKILL')
})

function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)('none outlives a parent that a %s ends', async (signal) => {
  parent = spawn(process.execPath, [join(import.meta.dirname, 'testing/parent.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(parent.stdout!, 'data')) as [Buffer]
  const pids = JSON.parse(line.toString()) as number[]
  expect(pids).toHaveLength(5)
  expect(pids.filter(runs)).toEqual(pids)
  parent.kill(signal)
  await expect.poll(() => pids.filter(runs), { timeout: 20_000 }).toEqual([])
})

test('the end of all is awaited, and none is started after it', async () => {
  children = createChildren()
  const pod = children.run('pod', { PORT: '0' })
  expect(runs(pod.process.pid!)).toBe(true)
  await children.end()
  expect(runs(pod.process.pid!)).toBe(false)
  expect(await pod.exit).toBe('SIGKILL')
  expect(() => children!.run('pod', {})).toThrow('the demo is ending')
})

test('a command on a leash ends as it ends, and is not there where it is not', async () => {
  children = createChildren()
  expect(await children.runOnLeash([process.execPath, '-e', 'process.exit(7)']).exit).toBe(7)
  expect(await children.runOnLeash(['/no/such/command']).exit).toBe(127)
})

test('a command does not outlive its leash', async () => {
  children = createChildren()
  const leashed = children.runOnLeash([process.execPath, '-e', 'console.log(process.pid); setInterval(() => {}, 1_000)'])
  const [line] = (await once(leashed.process.stdout!, 'data')) as [Buffer]
  leashed.process.kill('SIGKILL')
  await expect.poll(() => runs(Number(line)), { timeout: 20_000 }).toBe(false)
})

test('a pod listens once it has warmed up, and dies of SIGTERM', async () => {
  children = createChildren()
  const pod = children.run('pod', { PORT: '0' })
  expect(String((await once(pod.process.stdout!, 'data'))[0])).toBe('listening\n')
  pod.kill('SIGTERM')
  expect(await pod.exit).toBe('SIGTERM')
})
