/** A deliberate break of one protection, as changes of single places in the code. */
export interface Mutation {
  name: string
  /** What is broken, in words for the table in docs/simulation.md. */
  breaks: string
  /** Looked for among the harsh seeds: the usual ones hardly ever show it. */
  harsh?: boolean
  changes: Change[]
}

export interface Change {
  /** From the root of the repository. */
  file: string
  /** Stands exactly once in the file. */
  find: string
  replace: string
}

/** @throws where a text does not stand exactly once: the code has changed, and the mutation would break nothing */
export function mutate(name: string, changes: readonly Change[], source: string): string {
  let text = source
  for (const { file, find, replace } of changes) {
    const parts = text.split(find)
    if (parts.length !== 2) throw new Error(`mutation ${name}: its text stands ${parts.length - 1} times in ${file}`)
    text = parts.join(replace)
  }
  return text
}
