import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { WhenAway } from '../../sync/model.ts'
import type { SyncConfigFlags } from '../arguments/flags.ts'
import type { CommandContext } from '../commands/context.ts'
import { table } from '../output/columns.ts'
import { formatElapsed } from '../output/elapsed.ts'
import { inert } from '../output/inert.ts'

/** Prints what a config asks for. Rejects with a ConfigError that has all its mistakes. */
export async function syncCheckAction({ config: file }: SyncConfigFlags, { terminal }: CommandContext): Promise<ExitCode> {
  const { loadSyncConfig } = await import('../../sync/config/load-sync-config.ts')
  const { services } = await loadSyncConfig(file)
  const rows = services.map(({ namespace, name, sources, create, away }) => [
    inert(`${namespace}/${name}`),
    inert(sources.join(', ')),
    create ? 'made where it is missing' : 'must be there',
    awayWords(away),
  ])
  for (const line of table([['SERVICE', 'SOURCES', 'IN THE ACCESS CLUSTER', 'COPIES OF A SOURCE THAT IS AWAY'], ...rows]))
    terminal.out.write(`${line}\n`)
  return EXIT.done
}

function awayWords(away: WhenAway): string {
  return away.is === 'keep' ? 'stay' : `go after ${formatElapsed(away.afterMs)}, above a floor of ${away.floor}`
}
