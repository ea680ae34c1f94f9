import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { waitUntil } from './haproxy-process.ts'
import { startProduct } from './product-process.ts'

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}/cmdline`)
const sleeper = { name: 'sleep', program: 'sleep', args: ['300'], isReady: () => Promise.resolve(true) }

test('a program is started once more, and ended', async () => {
  const product = await startProduct(sleeper)
  const first = product.pid()
  expect(isAlive(first)).toBe(true)
  await product.restart()
  expect([isAlive(first), isAlive(product.pid())]).toEqual([false, true])
  await product.stop()
  expect(isAlive(product.pid())).toBe(false)
})

test('a program that ends at once is told with its last words', async () => {
  const broken = {
    ...sleeper,
    name: 'Broken',
    program: 'sh',
    args: ['-c', 'echo no config; exit 3'],
    isReady: () => Promise.resolve(false),
  }
  await expect(startProduct(broken)).rejects.toThrow('Broken did not start: no config')
})

test('a program does not outlive the process that has started it, however that ends', async () => {
  const module = new URL('product-process.ts', import.meta.url).href
  const code = `
    const { startProduct } = await import(${JSON.stringify(module)})
    const product = await startProduct({ name: 'sleep', program: 'sleep', args: ['300'], isReady: async () => true })
    console.log(product.pid())
    setInterval(() => {}, 1_000)`
  const starter = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(starter.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  // Before the program itself, setpriv runs, and asks the kernel to end it with its parent.
  await waitUntil(async () => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep'), 'it runs')
  starter.kill('SIGKILL')
  await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false)
})
