import { dirname, resolve } from 'node:path'
import { isPlugin, loadPlugin, PluginError } from '../../../adapters/plugins/load-plugin.ts'
import { adapterNames, loadAdapter } from '../../../adapters/registry.ts'
import type { AdapterDefinition } from '../../../adapters/contract.ts'
import { nearest } from '../../config/nearest.ts'
import type { AdapterFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { adapterListText, adapterText, describeAdapter } from '../output/adapter-view.ts'
import { API_VERSION } from '../output/api-version.ts'

export async function adapterAction(
  what: string,
  name: string | undefined,
  flags: AdapterFlags,
  { terminal }: CommandContext,
): Promise<ExitCode> {
  const isJson = flags.output === 'json'
  const print = (kind: string, fields: object): void =>
    void terminal.out.write(`${JSON.stringify({ apiVersion: API_VERSION, kind, ...fields })}\n`)
  if (what === 'list') {
    if (name !== undefined) throw new UsageError([`list takes no name: adapter describe ${name}`])
    const adapters = await Promise.all(adapterNames.toSorted().map(listed))
    if (isJson) print('AdapterList', { adapters })
    else terminal.out.write(adapterListText(adapters))
    return EXIT.done
  }
  if (what !== 'describe') throw new UsageError([`${JSON.stringify(what)} is neither list nor describe`])
  if (name === undefined) throw new UsageError(['the adapter to describe is missing: adapter list shows their names'])
  const described = describeAdapter(name, await definitionOf(name, flags))
  if (isJson) print('Adapter', described)
  else terminal.out.write(adapterText(described))
  return EXIT.done
}

async function listed(name: string): Promise<{ name: string; summary: string }> {
  const { summary } = await loadAdapter(name)
  return { name, summary }
}

async function definitionOf(name: string, { config }: AdapterFlags): Promise<AdapterDefinition> {
  if (!isPlugin(name)) {
    if (adapterNames.includes(name)) return loadAdapter(name)
    const meant = nearest(name, adapterNames)
    throw new UsageError([
      `there is no adapter ${JSON.stringify(name)}: ${meant === undefined ? 'adapter list shows their names' : `did you mean "${meant}"?`}`,
    ])
  }
  try {
    return await loadPlugin(name, config === undefined ? process.cwd() : dirname(resolve(config)))
  } catch (error) {
    if (!(error instanceof PluginError)) throw error
    const way = error.way === undefined ? '' : `: ${error.way}`
    throw new UsageError([`adapter ${name} cannot be loaded: ${error.message}${way}`])
  }
}
