/** Finds the preset that `preset:` of the adapter http names: a preset that comes with sluice, or a file beside the config. */
import { isAbsolute, join } from 'node:path'
import type { AdapterDefinition } from '../../adapters/contract.ts'
import { loadPresetFile, presetNames } from '../../adapters/registry.ts'
import type { AdapterSource } from './adapter-source.ts'
import type { Finding } from './check.ts'
import { ConfigError } from './config-error.ts'
import { nearest } from './nearest.ts'
import { show } from './show.ts'

interface Where {
  adapters: AdapterSource
  /** The folder of the config. */
  folder: string
  path: PropertyKey[]
}

/** The preset as an adapter, or the problems of its name or its file. */
export async function findPreset(reference: unknown, { adapters, folder, path }: Where): Promise<AdapterDefinition | Finding[]> {
  const wrong = (message: string, hint?: string): Finding[] => [
    { path, at: 'value', message, ...(hint === undefined ? {} : { hint }) },
  ]
  const choice = `presets: ${presetNames.join(', ')}; or a file, such as ./my-lb.yaml`
  if (typeof reference !== 'string' || reference === '') return wrong(`${show(reference)} is no preset`, choice)
  const isFile = reference.includes('/') || /\.ya?ml$/.test(reference)
  if (!isFile && !presetNames.includes(reference)) {
    const meant = nearest(reference, presetNames)
    return wrong(`${show(reference)} is no preset`, meant === undefined ? choice : `did you mean "${meant}"?`)
  }
  const file = isAbsolute(reference) ? reference : join(folder, reference)
  try {
    return await (isFile ? loadPresetFile(file) : adapters.loadAdapter(reference))
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.issues.map(({ path: field, message, hint, line, column }): Finding => {
      const place = line === 0 ? error.file : `${error.file}:${line}:${column}`
      const text = [place, ...(field === '' ? [] : [field]), message].join(': ')
      return { path, at: 'value', message: text, ...(hint === undefined ? {} : { hint }) }
    })
  }
}
