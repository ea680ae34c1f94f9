import { readNamedFile } from '../../kube/read-named-file.ts'
import type { ObserveFlags } from '../arguments/flags.ts'

/** A comment begins at the start of the line or after a space, since a name may contain `#`. */
const COMMENT = /(^|\s)#.*/

/**
 * Returns the contexts of the flags and of the file, each once. An empty list stands for the current context. Mistakes are added to
 * `problems`.
 */
export function contextsOf({ context = [], contexts: file }: ObserveFlags, problems: string[]): string[] {
  if (new Set(context).size < context.length) problems.push('--context is given twice with the same name')
  return [...new Set([...context, ...(file === undefined ? [] : readContexts(file, problems))])]
}

function readContexts(file: string, problems: string[]): string[] {
  const contexts = linesOf(file, problems)
  if (contexts?.length === 0) problems.push(`--contexts: ${file} names no context: write one a line`)
  return contexts ?? []
}

function linesOf(file: string, problems: string[]): string[] | undefined {
  try {
    const text = readNamedFile(file === '-' ? '/dev/stdin' : file).toString('utf8')
    const lines = text.split('\n').map((line) => line.replace(COMMENT, '').trim())
    return lines.filter((line) => line !== '')
  } catch (error) {
    problems.push(`--contexts: ${(error as Error).message}`)
    return undefined
  }
}
