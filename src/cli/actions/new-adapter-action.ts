import { languages } from '../../../adapters/scaffold/languages.ts'
import { ScaffoldError, writeScaffold } from '../../../adapters/scaffold/write-scaffold.ts'
import { EXIT, type ExitCode } from '../../library/exit-codes.ts'
import type { NewAdapterFlags } from '../arguments/flags.ts'
import { UsageError } from '../arguments/usage-error.ts'
import type { CommandContext } from '../commands/context.ts'
import { scaffoldText, type WrittenScaffold } from '../output/adapter-view.ts'
import { API_VERSION } from '../output/api-version.ts'
import { inertJson } from '../output/inert.ts'

export async function newAction(
  folder: string,
  { language, output }: NewAdapterFlags,
  { terminal, invocation }: CommandContext,
): Promise<ExitCode> {
  const written: WrittenScaffold = { folder, language, plugin: languages[language].plugin, files: await write(folder, language) }
  const document = { apiVersion: API_VERSION, kind: 'AdapterScaffold', ...written }
  terminal.out.write(output === 'json' ? `${inertJson(document)}\n` : scaffoldText(written, invocation.program))
  return EXIT.done
}

async function write(folder: string, language: NewAdapterFlags['language']): Promise<string[]> {
  try {
    return await writeScaffold(folder, language)
  } catch (error) {
    if (error instanceof ScaffoldError) throw new UsageError([`${error.message}: name a new folder`])
    throw error
  }
}
