/** A deliberate break of one protection, as changes of single places in the code. */
export interface Mutation {
  name: string
  /** The break in words, for the table in docs/simulation.md. */
  breaks: string
  /** True where the mutation is searched among the harsh seeds, since the usual seeds hardly ever show it. */
  harsh?: boolean
  changes: Change[]
}

export interface Change {
  /** The path from the root of the repository. */
  file: string
  /** The text to replace. It occurs exactly once in the file. */
  find: string
  replace: string
}

/** Applies the changes to a source. @throws Error where a text does not occur exactly once: the code has changed */
export function mutate(name: string, changes: readonly Change[], source: string): string {
  let text = source
  for (const { file, find, replace } of changes) {
    const parts = text.split(find)
    if (parts.length !== 2) throw new Error(`mutation ${name}: its text stands ${parts.length - 1} times in ${file}`)
    text = parts.join(replace)
  }
  return text
}
