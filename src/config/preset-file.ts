/** Reads the file of a preset, and checks it as the config is checked, with the position of each problem. */
import { httpOptions } from '../../adapters/http/options.ts'
import { type Preset, presetFields, presetProblems, sampleOptions } from '../../adapters/http/preset.ts'
import { check, formatPath, type Finding } from './check.ts'
import { ConfigError } from './config-error.ts'
import { parseDocument } from './document.ts'
import { readConfigFile } from './read-config-file.ts'

const READING = { what: 'a preset', choice: 'write preset: NAME, or the path of a file, from the folder of the config' }

/** Throws a ConfigError that lists every problem. */
export async function loadPreset(file: string): Promise<Preset> {
  const document = parseDocument(
    file,
    await readConfigFile(file, READING),
    'it needs at least apiVersion, kind, name, summary and options',
  )
  const shape = check(presetFields, document.value)
  const findings = shape.ok ? findingsOf(shape.value) : shape.findings
  if (shape.ok && findings.length === 0) return shape.value
  throw new ConfigError(
    file,
    findings.map(({ path, at, message, hint }) => ({
      path: formatPath(path),
      message,
      ...(hint === undefined ? {} : { hint }),
      ...(at === 'key' ? document.keyPosition(path) : document.valuePosition(path)),
    })),
  )
}

function findingsOf(preset: Preset): Finding[] {
  const problems = presetProblems(preset)
  if (problems.length > 0) return problems.map(findingOf)
  for (const sample of sampleOptions(preset)) {
    const checked = check(httpOptions, sample, { prefix: ['options'] })
    if (!checked.ok) return checked.findings
  }
  return []
}

function findingOf({ path, message }: { path: PropertyKey[]; message: string }): Finding {
  const [text = '', hint] = message.split('\n')
  return { path, at: 'value', message: text, ...(hint === undefined ? {} : { hint }) }
}
