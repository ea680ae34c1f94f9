import { dirname, resolve } from 'node:path'
import { isPlugin, loadPlugin } from '../../../adapters/plugins/load-plugin.ts'
import { PluginError } from '../../../adapters/plugins/plugin-error.ts'
import { adapterNames, loadAdapter } from '../../../adapters/registry.ts'
import type { AdapterDefinition } from '../../../adapters/contract.ts'
import { nearest } from '../../config/nearest.ts'
import type { AdapterFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import { adapterListText, adapterText, describeAdapter } from '../output/adapter-view.ts'
import { API_VERSION } from '../output/api-version.ts'

export async function listAction({ output }: AdapterFlags, { terminal }: CommandContext): Promise<ExitCode> {
  const adapters = await Promise.all(adapterNames.toSorted().map(listed))
  terminal.out.write(output === 'json' ? documentOf('AdapterList', { adapters }) : adapterListText(adapters))
  return EXIT.done
}

export async function describeAction(name: string, flags: AdapterFlags, { terminal }: CommandContext): Promise<ExitCode> {
  const described = await describeAdapter(name, await definitionOf(name, flags))
  terminal.out.write(flags.output === 'json' ? documentOf('Adapter', described) : adapterText(described))
  return EXIT.done
}

function documentOf(kind: string, fields: object): string {
  return `${JSON.stringify({ apiVersion: API_VERSION, kind, ...fields })}\n`
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
