/** Writes credentials into a file, as the AWS SDK reads them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Writes a profile for each access key. The SDK finds them through variables of this process, which `remove` deletes. */
export function writeProfiles(keys: Readonly<Record<string, string>>): { remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-aws-'))
  const sections = Object.entries(keys).map(
    ([name, key]) => `[${name}]\naws_access_key_id = ${key}\naws_secret_access_key = of-${name}\n`,
  )
  writeFileSync(join(folder, 'credentials'), sections.join('\n'))
  writeFileSync(join(folder, 'config'), '')
  const set = {
    AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
    AWS_CONFIG_FILE: join(folder, 'config'),
    AWS_EC2_METADATA_DISABLED: 'true',
  }
  const before = Object.keys(set).map((name) => [name, process.env[name]] as const)
  Object.assign(process.env, set)
  return {
    remove() {
      for (const [name, value] of before)
        if (value === undefined) delete process.env[name]
        else process.env[name] = value
      rmSync(folder, { recursive: true })
    },
  }
}
