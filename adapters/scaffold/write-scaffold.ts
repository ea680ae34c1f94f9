/** Writes the files of a new plugin in one language, and a small load balancer to test it. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Language, type LanguageName, languages } from './languages.ts'

/** The folder of the templates. The path works from the source and from the bundle of the command line. */
const TEMPLATES = join(import.meta.dirname, '../../adapters/scaffold/templates')

/** The error for a folder that cannot be used. */
export class ScaffoldError extends Error {
  override readonly name = 'ScaffoldError'
  readonly component = 'scaffold'
}

/**
 * Writes the files into the folder, and creates the folder if it is missing. Gives the names of the files.
 * @throws ScaffoldError
 */
export async function writeScaffold(folder: string, language: LanguageName): Promise<string[]> {
  await assertFree(folder)
  const files = new Map([...(await filesOf('common')), ...(await filesOf(language))])
  try {
    await mkdir(folder, { recursive: true })
    for (const [name, text] of files) {
      const mode = text.startsWith('#!') ? 0o755 : 0o644
      await writeFile(join(folder, name), filled(text, languages[language]), { mode, flag: 'wx' })
    }
  } catch (error) {
    throw new ScaffoldError(`${folder} cannot be written: ${(error as Error).message}`, { cause: error })
  }
  return [...files.keys()].toSorted()
}

async function assertFree(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw new ScaffoldError(error.code === 'ENOTDIR' ? `${folder} is no folder` : error.message, { cause: error })
  })
  if (names.length > 0) throw new ScaffoldError(`${folder} is not empty: it has ${names[0]}`)
}

async function filesOf(part: string): Promise<[string, string][]> {
  const folder = join(TEMPLATES, part)
  const names = await readdir(folder)
  return Promise.all(names.map(async (name): Promise<[string, string]> => [name, await readFile(join(folder, name), 'utf8')]))
}

function filled(text: string, language: Language): string {
  return text.replaceAll(/\{\{(\w+)\}\}/g, (_, field: string) => language[field as keyof Language])
}
