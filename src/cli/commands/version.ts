import { Option, type Command } from 'commander'
import { EXIT } from '../../library/exit-codes.ts'
import { API_VERSION } from '../output/api-version.ts'
import { sluiceVersion } from '../version.ts'
import type { CommandContext } from './context.ts'

export function registerVersion(program: Command, { terminal, onDone }: CommandContext): void {
  program
    .command('version')
    .summary('print the version')
    .description('Prints the version of sluice and of the Node that runs it.')
    .addOption(new Option('-o, --output <format>', 'what goes to stdout').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nExit codes:\n  0 printed    2 wrong arguments\n')
    .action(({ output }: { output: 'text' | 'json' }) => {
      const [version, node] = [sluiceVersion(), process.versions.node]
      const document = { apiVersion: API_VERSION, kind: 'Version', version, node }
      terminal.out.write(output === 'json' ? `${JSON.stringify(document)}\n` : `sluice ${version} (node ${node})\n`)
      onDone(EXIT.done, EXIT.failed)
    })
}
